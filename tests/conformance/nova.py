# SPDX-License-Identifier: GPL-2.0
"""What Nova's libvirt driver does with mediated devices: all of it through libvirt.

Written after nova/virt/libvirt/{driver,host,config,utils}.py, nova/pci/utils.py and
nova/conf/devices.py as of 2026-08-21. Functions have the names that they have there. Like Nova,
this file calls libvirt's library.
"""
import ctypes
import re
import subprocess
import time
import uuid
import xml.etree.ElementTree as ElementTree

from harness import PATIENCE, Failed, Fault, check, control, expect, is_equal

PCI_ADDRESS = r'^([\da-fA-F]{4}):([\da-fA-F]{2}):([\da-fA-F]{2}).([0-7])$'


class Library:
    """What is used of libvirt.so.0: functions that return NULL or -1 where they fail."""

    CAP_MDEV, INACTIVE, ACTIVE = 1 << 14, 1 << 30, 1 << 31  # virConnectListAllNodeDeviceFlags

    def __init__(self):
        self.so = ctypes.CDLL('libvirt.so.0')
        self.silence = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: None)
        self.so.virSetErrorFunc(None, self.silence)
        self.connection = self.pointer('virConnectOpen', b'nodedev:///system')

    def fail(self, name):
        self.so.virGetLastErrorMessage.restype = ctypes.c_char_p
        expect(False, f'{name}: {self.so.virGetLastErrorMessage().decode()}')

    def pointer(self, name, *args, of=ctypes.c_void_p):
        function = getattr(self.so, name)
        function.restype = of
        result = function(*args)
        if result is None:
            self.fail(name)
        return result if of is ctypes.c_char_p else ctypes.c_void_p(result)

    def number(self, name, *args):
        result = getattr(self.so, name)(*args)
        if result < 0:
            self.fail(name)
        return result

    def names(self, capability):
        names = (ctypes.c_char_p * 256)()
        number = self.number('virNodeListDevices', self.connection, capability.encode(), names,
                             len(names), 0)
        return [name.decode() for name in names[:number]]

    def mdevs(self, which):
        devices = ctypes.POINTER(ctypes.c_void_p)()
        number = self.number('virConnectListAllNodeDevices', self.connection,
                             ctypes.byref(devices), ctypes.c_uint(self.CAP_MDEV | which))
        return [ctypes.c_void_p(device) for device in devices[:number]]

    def xml(self, name):
        device = self.pointer('virNodeDeviceLookupByName', self.connection, name.encode())
        return self.pointer('virNodeDeviceGetXMLDesc', device, 0, of=ctypes.c_char_p).decode()


class Libvirt:
    """libvirt's node devices. Faults are put into 'names' of lists and 'read' of XML."""

    library = None

    def __init__(self, sysfs):
        self.sysfs = sysfs
        if not Libvirt.library:
            Libvirt.library = Library()

    def list_devices(self, capability):
        return self.sysfs.through('names', f'libvirt/{capability}',
                                  lambda: self.library.names(capability))

    def xml(self, name):
        return ElementTree.fromstring(self.sysfs.through(
            'read', f'libvirt/{name}', lambda: self.library.xml(name)))

    def create(self, document):
        self.library.pointer('virNodeDeviceCreateXML', self.library.connection,
                             document.encode(), 0)

    def define(self, document):
        return self.library.pointer('virNodeDeviceDefineXML', self.library.connection,
                                    document.encode(), 0)

    def set_autostart(self, device):
        """A libvirt that reads mdevctl's list while a vGPU is defined may take the vGPU for a
        transient one until it reads the list again. Nova would fail there, by no fault of ours.
        """
        def is_set():
            try:
                self.library.number('virNodeDeviceSetAutostart', device, 1)
            except Failed as error:
                if 'transient device' in str(error):
                    return False
                raise
            return True
        wait_until(is_set, 'a vGPU is defined')

    def active(self):
        return self.library.mdevs(self.library.ACTIVE)

    def inactive(self):
        return self.library.mdevs(self.library.INACTIVE)

    def start(self, device):
        self.library.number('virNodeDeviceCreate', device, 0)

    def undefine(self, device):
        self.library.number('virNodeDeviceUndefine', device, 0)


def parse_address(address):
    return re.match(PCI_ADDRESS, address)


class LibvirtDriver:
    def __init__(self, sysfs, enabled, addresses=None):
        self.libvirt = Libvirt(sysfs)
        # [devices] enabled_mdev_types is a list with commas; each has a group of its own.
        self.enabled = [one.strip() for one in enabled.split(',')]
        self.default = None if addresses else self.enabled[0]
        self.mapping = {}
        for address, type_id in (addresses or {}).items():
            expect(parse_address(address), f'incorrect device address: {address}')
            self.mapping[address] = type_id

    @staticmethod
    def get_device_address(name):
        """The PCI address of a device such as pci_0000_84_00_0."""
        parts = name[4:].split('_')
        expect(len(parts) >= 4, f'The PCI address {name} was invalid')
        address = '{}:{}:{}.{}'.format(*parts)
        expect(parse_address(address), f'The PCI address {name} was invalid')
        return address

    def get_vgpu_type_per_pgpu(self, name):
        return self.mapping.get(self.get_device_address(name)) or self.default

    def get_mdev_capabilities_for_dev(self, name):
        """Number available by type id, of the types that are enabled."""
        types = {}
        capability = self.libvirt.xml(name).find("capability[@type='pci']")
        expect(capability is not None, f'{name}: is not a PCI device')
        int(capability.find('vendor').get('id'), 16)
        for one in capability.findall("capability[@type='mdev_types']/type"):
            if one.get('id') in self.enabled:
                is_equal(one.findtext('deviceAPI'), 'vfio-pci', f'{one.get("id")}: deviceAPI')
                types[one.get('id')] = int(one.findtext('availableInstances'))
        return types

    def get_mdev_capable_devices(self):
        found = {name: self.get_mdev_capabilities_for_dev(name)
                 for name in self.libvirt.list_devices('mdev_types')}
        return {name: types for name, types in found.items() if types}

    def get_mediated_device_information(self, name):
        """name may lack the parent's address, which libvirt has put behind the UUID since 7.7."""
        names = [one for one in self.libvirt.list_devices('mdev') if one.startswith(name)]
        expect(len(names) == 1, f'The mediated device name {name} refers to a UUID that is '
               f'present in multiple libvirt mediated devices: {names}')
        device = self.libvirt.xml(names[0])
        information = device.find("capability[@type='mdev']")
        return {
            'uuid': information.findtext('uuid') or mdev_name2uuid(names[0]),
            'parent': device.findtext('parent'),
            'type': information.find('type').get('id'),
            'iommu_group': int(information.find('iommuGroup').get('number')),
        }

    def get_mediated_devices(self):
        found = [self.get_mediated_device_information(name)
                 for name in self.libvirt.list_devices('mdev')]
        return [one for one in found if one['type'] in self.enabled]

    def get_gpu_inventories(self):
        """Number of vGPUs that there are or that fit, by GPU."""
        total = {}
        for mdev in self.get_mediated_devices():
            if mdev['type'] == self.get_vgpu_type_per_pgpu(mdev['parent']):
                total[mdev['parent']] = total.get(mdev['parent'], 0) + 1
        for name, types in self.get_mdev_capable_devices().items():
            wanted = self.get_vgpu_type_per_pgpu(name)
            if wanted in types:
                total[name] = total.get(name, 0) + types[wanted]
        return total

    def create_mdev(self, parent, type_id):
        name = str(uuid.uuid4())
        document = (f'<device><parent>{parent}</parent><capability type="mdev">'
                    f'<type id="{type_id}"/><uuid>{name}</uuid></capability></device>')
        self.libvirt.create(document)
        self.libvirt.set_autostart(self.libvirt.define(document))
        return name

    def create_new_mediated_device(self, parent):
        """None if the GPU has no room for one more."""
        for name, types in self.get_mdev_capable_devices().items():
            wanted = self.get_vgpu_type_per_pgpu(name)
            if name == parent and types.get(wanted, 0) > 0:
                return self.create_mdev(name, wanted)
        return None

    def init_host(self):
        """Starts what is defined and not active."""
        for device in self.libvirt.inactive():
            self.libvirt.start(device)


def mdev_name2uuid(name):
    return str(uuid.UUID(name[5:].replace('_', '-')[:36]))


# ---- the checks ----

def node_name(parent):
    return 'pci_' + parent.replace(':', '_').replace('.', '_')


def start_libvirtd():
    """libvirt 11.3 may list a vGPU for ever that was removed right after it was made ("Active: no,
    Persistent: no"), and after a reload of the driver it misses GPUs for a while: each check has a
    libvirtd that knows nothing of the checks before.
    """
    Libvirt.library = None
    done = subprocess.run(['lab-libvirtd', '--fresh'], check=False, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f'no libvirtd: {done.stderr.strip()}')


def wait_until(condition, what):
    """libvirt learns from udev, some time later, what was done without it."""
    end = time.monotonic() + PATIENCE
    while not condition():
        expect(time.monotonic() < end, f'libvirt does not learn that {what}')
        time.sleep(0.05)


def forget(host):
    """Removes the vGPUs, and undefines those that are defined, which outlives them."""
    host.clean()
    libvirt = Libvirt(host.real)
    wait_until(lambda: not libvirt.active(), 'the vGPUs are removed')
    for device in libvirt.inactive():
        libvirt.undefine(device)


@check('nova', '_get_mdev_capable_devices',
       'each GPU is a PCI device of libvirt, with the numbers of its types')
def capable(host):
    start_libvirtd()
    enabled = host.type_id('4Q'), host.type_id('8Q')
    driver = LibvirtDriver(host.sysfs, ', '.join(enabled))
    host.create(host.parents[0], '8Q')
    is_equal(driver.get_mdev_capable_devices(),
             {node_name(parent): {id_: host.available(parent, id_) for id_ in enabled}
              for parent in host.parents}, 'available by GPU and type')


control(capable, 'libvirt lists no GPU', 'available by GPU',
        Fault('names', r'^libvirt/mdev_types$', lambda _: []))
control(capable, 'a GPU is not on PCI', 'is not a PCI device',
        Fault('read', r'^libvirt/pci_', lambda text: text.replace("type='pci'", "type='css'")))
control(capable, 'the VFIO interface is not PCI\'s', 'deviceAPI',
        Fault('read', r'^libvirt/pci_', lambda text: text.replace('vfio-pci<', 'vfio-ccw<')))


@check('nova', '_validate_device_address',
       'the GPU\'s address has the form that the configuration takes')
def addresses(host):
    for parent in host.parents:
        shown = host.options.get('address', parent)
        driver = LibvirtDriver(host.sysfs, host.type_id('4Q'), {shown: host.type_id('4Q')})
        is_equal(driver.get_device_address(node_name(parent)), parent, 'address of the device')
        is_equal(driver.get_vgpu_type_per_pgpu(node_name(parent)), host.type_id('4Q'), 'type')


control(addresses, 'a PCI domain has five digits', 'incorrect device address',
        address='10000:00:00.0')


@check('nova', 'conf.devices.register_dynamic_opts',
       'each type\'s id can be one of a list, and the name of a group')
def groups(host):
    for type_id in host.types(host.parents[0]):
        shown = host.options.get('type', type_id)
        is_equal(LibvirtDriver(host.sysfs, shown).enabled, [type_id], 'enabled_mdev_types')
        header = re.fullmatch(r'\[([^\]]*)\]', f'[mdev_{shown}]')
        expect(header and not re.search(r'\s', header[1]), f'[mdev_{shown}]: is not a group')


control(groups, 'an id has a comma', 'enabled_mdev_types', type='vgpu_soft-SG16,4Q')


@check('nova', '_get_gpu_inventories',
       'the total stays as vGPUs come; a full GPU gets none; what is defined starts again')
def inventories(host):
    start_libvirtd()
    type_id, parent = host.type_id('8Q'), node_name(host.parents[0])
    driver = LibvirtDriver(host.sysfs, type_id)
    total = {node_name(one): 2 for one in host.parents}
    try:
        is_equal(driver.get_gpu_inventories(), total, 'total of an empty GPU')
        made = []
        for number in 1, 2:
            made.append(driver.create_new_mediated_device(parent))
            expect(made[-1], f'vGPU {number} of 2 is not created')
            is_equal(driver.get_gpu_inventories(), total, f'total with {number} vGPUs')
        is_equal(host.mdevs(), dict.fromkeys(made, type_id), 'vGPUs')
        expect(driver.create_new_mediated_device(parent) is None, 'a full GPU gets one more')
        for one in made:
            driver.get_mediated_device_information('mdev_' + one.replace('-', '_'))
        for one in driver.get_mediated_devices():
            is_equal((one['parent'], one['iommu_group']), (parent, int(host.group_of(one['uuid']))),
                     'parent and group')
        host.clean()        # as a reboot does
        wait_until(lambda: not driver.libvirt.active(), 'the vGPUs are gone')
        driver.init_host()
        is_equal(host.mdevs(), dict.fromkeys(made, type_id), 'vGPUs that init_host started')
    finally:
        forget(host)


control(inventories, 'the number does not go down', 'total with 1 vGPUs',
        Fault('read', r'^libvirt/pci_', lambda text: re.sub(
            r'<availableInstances>\d+', '<availableInstances>2', text)))
control(inventories, 'a UUID is listed with two GPUs', 'multiple libvirt mediated devices',
        Fault('names', r'^libvirt/mdev$', lambda names: names + [f'{name}x' for name in names]))
