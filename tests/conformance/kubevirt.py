# SPDX-License-Identifier: GPL-2.0
"""What KubeVirt does with mediated devices: virt-handler's device manager, and its virt-chroot.

Written after pkg/virt-handler/device-manager/{common,mediated_device,mediated_devices_types,
pci_device}.go and cmd/virt-chroot/mdev-handler.go as of 2026-08-22. Functions have the names that
they have there.
"""
import errno
import os
import re
import threading
import uuid
from dataclasses import dataclass

from harness import (MDEVS, PARENTS, PATIENCE, PCI, Failed, Fault, Holder, check, control, expect,
                     fails, ignores, is_equal, says)


def underscored(raw):
    """strings.ReplaceAll(raw, " ", "_"), then strings.TrimSpace(): in this order."""
    return raw.replace(' ', '_').strip()


def atoi(text):
    """strconv.Atoi: a sign and digits, nothing else, not even blanks."""
    expect(re.fullmatch(r'[+-]?[0-9]+', text) and -2**63 <= int(text) < 2**63,
           f'strconv.Atoi: parsing {text!r}: invalid syntax')
    return int(text)


@dataclass
class MDEV:
    uuid: str
    type_name: str
    parent: str
    group: str
    numa_node: int


class DeviceUtilsHandler:
    def __init__(self, sysfs):
        self.sysfs = sysfs

    def get_device_numa_node(self, address):
        """-1 if there is no file, or what it says."""
        try:
            text = self.sysfs.read(f'{PCI}/{address}/numa_node').strip()
        except OSError:
            return -1
        return atoi(text)

    def get_device_pci_id(self, address):
        for line in self.sysfs.read(f'{PCI}/{address}/uevent').splitlines():
            if line.startswith('PCI_ID'):
                return line.split('=', 1)[1].strip().lower()
        raise Failed(f'{address}: no pci_id is found')

    def get_device_driver(self, address):
        return os.path.basename(self.sysfs.link(f'{PCI}/{address}/driver'))

    def get_mdev_parent_pci_addr(self, name):
        return self.sysfs.link(f'{MDEVS}/{name}').split('/')[-2]

    def get_device_iommu_group(self, name):
        return os.path.basename(self.sysfs.link(f'{MDEVS}/{name}/iommu_group'))

    def read_mdev_available_instances(self, type_id, parent):
        lines = self.sysfs.read(
            f'{PARENTS}/{parent}/mdev_supported_types/{type_id}/available_instances').splitlines()
        expect(lines, f'{type_id}: available_instances is empty: virt-handler panics')
        return atoi(lines[0])

    # virt-chroot: waits up to 5 s for the file, which must be there at once here.

    def create_mdev_type(self, type_id, parent):
        path = f'{PARENTS}/{parent}/mdev_supported_types/{type_id}/create'
        expect(self.sysfs.exists(path), f'interface is not available {path}')
        name = str(uuid.uuid4())
        self.sysfs.write(path, name)
        return name

    def remove_mdev_type(self, name):
        path = f'{MDEVS}/{name}/remove'
        expect(self.sysfs.exists(path), f'interface is not available {path}')
        self.sysfs.write(path, '1')


def get_mdev_type_name(sysfs, name):
    try:
        raw = sysfs.read(f'{MDEVS}/{name}/mdev_type/name')
    except OSError as error:
        if error.errno != errno.ENOENT:
            raise
        raw = os.path.basename(sysfs.link(f'{MDEVS}/{name}/mdev_type'))
    return underscored(raw)


def discover_permitted_host_mediated_devices(sysfs, selectors):
    """The MDEVs by type name; one that cannot be read is logged and left out."""
    handler = DeviceUtilsHandler(sysfs)
    found = {}
    for name in sysfs.names(MDEVS):
        try:
            type_name = get_mdev_type_name(sysfs, name)
            if type_name not in selectors:
                continue
            parent = handler.get_mdev_parent_pci_addr(name)
            node = handler.get_device_numa_node(parent)
            group = handler.get_device_iommu_group(name)
        except OSError:
            continue
        found.setdefault(type_name, []).append(MDEV(name, type_name, parent, group, node))
    return found


def construct_dpi_devices_from_mdev(mdevs):
    """The devices that kubelet is told of (NUMA nodes by ID), and the UUID by ID."""
    devices, uuids = [], {}
    for mdev in mdevs:
        uuids[mdev.group] = mdev.uuid
        devices.append((mdev.group, [mdev.numa_node] if mdev.numa_node >= 0 else None))
    return devices, uuids


def allocate(sysfs, resource, uuids, ids):
    """What a pod gets: its environment and device nodes."""
    variable = 'MDEV_PCI_RESOURCE_' + resource.upper().replace('/', '_').replace('.', '_')
    nodes, names = [], []
    for id_ in ids:
        if id_ not in uuids:
            continue
        names.append(uuids[id_])
        expect(sysfs.exists(f'/dev/vfio/{id_}'), f'Failed to allocate resource {resource}')
        nodes += ['/dev/vfio/vfio', f'/dev/vfio/{id_}']
    expect(nodes, f'failed to allocate resource for resourceName: {resource}')
    return {variable: ','.join(names)}, nodes


class MDEVTypesManager:
    """One type per parent ("card"), all instances of it at once."""

    # Go's maps have no order: the ring of types begins anywhere. The tests give the order.
    def __init__(self, sysfs, order=sorted):
        self.sysfs = sysfs
        self.handler = DeviceUtilsHandler(sysfs)
        self.order = order
        self.available_types = {}
        self.unconfigured = set()

    def get_already_configured_mdev_parents(self):
        parents = set()
        for name in self.sysfs.names(MDEVS):
            parts = self.sysfs.link(f'{MDEVS}/{name}').split('/')
            expect(len(parts) >= 5, f'invalid device path: {"/".join(parts)}')
            parents.add(parts[-2])
        return parents

    def update_mdev_types_configuration(self, desired, external=()):
        self.remove_undesired_mdevs(set(desired) | set(external))
        self.discover_configurable_mdev_types(set(desired))
        if desired:
            self.configure_desired_mdev_types()

    def should_remove_mdev(self, name, keep):
        try:
            if underscored(self.sysfs.read(f'{MDEVS}/{name}/mdev_type/name')) in keep:
                return False
        except OSError:
            pass
        try:
            target = self.sysfs.link(f'{MDEVS}/{name}/mdev_type')
        except OSError:
            return False
        return underscored(os.path.basename(target)) not in keep

    def remove_undesired_mdevs(self, keep):
        for name in self.sysfs.names(MDEVS):
            if self.should_remove_mdev(name, keep):
                try:
                    self.handler.remove_mdev_type(name)
                except OSError:
                    pass    # logged

    def discover_configurable_mdev_types(self, desired):
        self.unconfigured = set()
        configured = self.get_already_configured_mdev_parents()
        for parent in self.sysfs.names(PARENTS):
            types = f'{PARENTS}/{parent}/mdev_supported_types'
            for type_id in self.sysfs.names(types):
                try:
                    raw = self.sysfs.read(f'{types}/{type_id}/name')
                except OSError as error:
                    expect(error.errno == errno.ENOENT,
                           f'failed to discover which mdev types are available: {error.filename}')
                    raw = ''
                if not {underscored(raw), type_id} & desired:
                    continue
                parents = self.available_types.setdefault(type_id, [])
                if parent not in configured:
                    parents.append(parent)
                    self.unconfigured.add(parent)

    def configure_desired_mdev_types(self):
        ring = list(self.order(self.available_types))
        turn = 0
        while ring:
            # A parent whose creation fails is tried for ever, without a pause.
            expect(turn < 100, 'configureDesiredMDEVTypes: loops for ever')
            type_id = ring[turn % len(ring)]
            parents = self.available_types.get(type_id)
            if parents is not None:
                rest = []
                for i, parent in enumerate(parents):
                    if parent in self.unconfigured:
                        rest = parents[i + 1:]
                        if self.create_mdev_types(type_id, parent):
                            self.available_types[type_id] = rest
                            self.unconfigured.discard(parent)
                        break
                if not rest:
                    del self.available_types[type_id]
            if not self.available_types or not self.unconfigured:
                break
            turn += 1

    def create_mdev_types(self, type_id, parent):
        try:
            for _ in range(self.handler.read_mdev_available_instances(type_id, parent)):
                self.handler.create_mdev_type(type_id, parent)
        except (OSError, Failed):
            return False    # logged
        return True


def discover_permitted_host_pci_devices(sysfs, selectors):
    """Addresses of what is passed through whole: of a wanted ID, and bound to vfio-pci."""
    handler = DeviceUtilsHandler(sysfs)
    found = []
    for address in sysfs.names(PCI):
        try:
            if handler.get_device_pci_id(address) in selectors and \
                    handler.get_device_driver(address) == 'vfio-pci':
                found.append(address)
        except (OSError, Failed):
            continue
    return found


# ---- the checks ----

def manage(host, desired, external=(), order=sorted):
    MDEVTypesManager(host.sysfs, order).update_mdev_types_configuration(desired, external)


@check('kubevirt', 'discoverPermittedHostMediatedDevices',
       'each vGPU is found under its type\'s name, with its GPU, group and node')
def discovery(host):
    truth = {}
    for size, parent in ('4Q', 0), ('2Q', 0), ('2Q', 1), ('2B', 1):
        name = host.create(host.parents[parent], size)
        truth.setdefault(host.type_name(size), set()).add(name)
    selectors = {underscored(name): f'example.com/{name}' for name in truth}
    found = discover_permitted_host_mediated_devices(host.sysfs, selectors)
    is_equal({name: {mdev.uuid for mdev in mdevs} for name, mdevs in found.items()}, truth,
             'vGPUs by the names that users write')
    mdevs = [mdev for mdevs in found.values() for mdev in mdevs]
    for mdev in mdevs:
        is_equal(mdev.parent, host.parent_of(mdev.uuid), 'GPU of a vGPU')
        is_equal(mdev.group, host.group_of(mdev.uuid), 'group of a vGPU')
    is_equal(len({mdev.group for mdev in mdevs}), 4, 'number of groups of 4 vGPUs')


control(discovery, 'a type is named with blanks at the end', 'vGPUs by the names',
        says(r'/mdev_type/name$', lambda text: text.strip() + '  \n'))
control(discovery, 'two types have one name', 'vGPUs by the names',
        says(r'/mdev_type/name$', 'SG16-2Q\n'))
control(discovery, 'all vGPUs are in one group', 'group of a vGPU',
        Fault('link', r'/iommu_group$', lambda _: '../../kernel/iommu_groups/0'))
control(discovery, 'a name cannot be read', 'vGPUs by the names',
        fails('read', r'/mdev_type/name$'))
control(discovery, 'a GPU is not where its vGPUs are', 'GPU of a vGPU',
        Fault('link', MDEVS + '/[^/]*$', lambda path: path.replace('/', '//')))


@check('kubevirt', 'getMdevTypeName', 'a name needs no underscores, and is unique on the node')
def names(host):
    for parent in host.parents:
        types = f'{PARENTS}/{parent}/mdev_supported_types'
        seen = {}
        for type_id in host.sysfs.names(types):
            raw = host.sysfs.read(f'{types}/{type_id}/name')
            is_equal(underscored(raw), raw.removesuffix('\n'), f'{type_id}: name, underscored')
            other = seen.setdefault(underscored(raw), type_id)
            expect(other == type_id, f'{type_id}: has the name of {other}, {raw!r}')


control(names, 'a name has a blank in it', 'name, underscored',
        says(r'4Q/name$', lambda text: text.replace('-', ' ')))
control(names, 'two types have one name', 'has the name of', says(r'[24]Q/name$', 'SG16-2Q\n'))


@check('kubevirt', 'constructDPIdevicesFromMdev',
       'the device plugin has one device per vGPU, and a NUMA node only if there is one',
       shows_nodes=True)
def device_plugin(host):
    wanted = {host.create(host.parents[0], '4Q') for _ in range(3)}
    name = host.type_name('4Q')
    mdevs = discover_permitted_host_mediated_devices(host.sysfs, {name})[name]
    devices, uuids = construct_dpi_devices_from_mdev(mdevs)
    is_equal(set(uuids.values()), wanted, 'vGPUs by device')
    is_equal(len(devices), 3, 'devices of 3 vGPUs')
    is_equal({nodes and tuple(nodes) for _, nodes in devices}, {host.nodes[0]}, 'NUMA nodes')


control(device_plugin, 'all vGPUs are in one group', 'vGPUs by device',
        Fault('link', r'/iommu_group$', lambda _: '../../kernel/iommu_groups/0'))
control(device_plugin, 'the GPU shows another NUMA node', 'NUMA nodes',
        Fault('read', r'/numa_node$', lambda _: '7\n', invents=True))


@check('kubevirt', 'MediatedDevicePlugin.Allocate', 'a pod gets the UUID and the group\'s node')
def allocation(host):
    name, resource = host.create(host.parents[0], '4Q'), 'vgpu.example.com/SG16-4Q'
    kind = host.type_name('4Q')
    mdevs = discover_permitted_host_mediated_devices(host.sysfs, {kind})[kind]
    _, uuids = construct_dpi_devices_from_mdev(mdevs)
    environment, nodes = allocate(host.sysfs, resource, uuids, [mdevs[0].group])
    is_equal(environment, {'MDEV_PCI_RESOURCE_VGPU_EXAMPLE_COM_SG16-4Q': name}, 'environment')
    is_equal(nodes, ['/dev/vfio/vfio', f'/dev/vfio/{host.group_of(name)}'], 'device nodes')
    with Holder(name):      # the node is the vGPU's
        is_equal(host.mdevs()[name], host.type_id('4Q'), 'type of the vGPU that is open')


control(allocation, 'a group has no device node', 'Failed to allocate',
        Fault('exists', r'^/dev/vfio/', lambda _: False))


@check('kubevirt', 'DeviceUtilsHandler.CreateMDEVType',
       'of each type as many are created as are available, and no more')
def capacity(host):
    handler = DeviceUtilsHandler(host.sysfs)
    parent = host.parents[0]
    for type_id, name in host.types(parent).items():
        number = handler.read_mdev_available_instances(type_id, parent)
        expect((number > 0) != host.of_partition(name),
               f'{name}: {number} are available on an empty GPU that is not divided')
        for i in range(number):
            try:
                handler.create_mdev_type(type_id, parent)
            except OSError as error:
                raise Failed(f'{name}: creation {i + 1} of {number}: {error.strerror}') from error
        is_equal(len(host.of_type(type_id)), number, f'{name}: vGPUs there are')
        left = handler.read_mdev_available_instances(type_id, parent)
        is_equal(left, 0, f'{name}: available on a full GPU')
        try:
            handler.create_mdev_type(type_id, parent)
        except OSError:
            pass
        else:
            raise Failed(f'{name}: one more than available is created')
        host.clean()


control(capacity, 'one too many is available', 'creation 17 of 17',
        says(r'1Q/available_instances$', lambda text: f'{int(text) + 1}\n'))
control(capacity, 'one too few is available', 'one more than available|available on a full',
        says(r'1Q/available_instances$', lambda text: f'{max(int(text) - 1, 0)}\n'))
control(capacity, 'the number has a blank before it', 'invalid syntax',
        says(r'/available_instances$', lambda text: ' ' + text))
control(capacity, 'the number is in hexadecimal', 'invalid syntax',
        says(r'/available_instances$', lambda text: f'{int(text):#x}\n'))
control(capacity, 'there is no number', 'is empty', says(r'/available_instances$', ''))
control(capacity, 'creation creates nothing', 'vGPUs there are', ignores(r'1Q/create$'))


def type_counts(host):
    counts = {}
    for type_id in host.mdevs().values():
        counts[type_id] = counts.get(type_id, 0) + 1
    return counts


@check('kubevirt', 'MDEVTypesManager.configureDesiredMDEVTypes',
       'a wanted type, by name or id, fills every GPU at once')
def fills(host):
    for wanted in host.type_name('4Q'), host.type_id('4Q'):
        manage(host, [wanted])
        is_equal(type_counts(host), {host.type_id('4Q'): 8}, f'vGPUs after {wanted}')
        before = host.mdevs()
        manage(host, [wanted])
        is_equal(host.mdevs(), before, f'vGPUs after {wanted} once more')
        host.clean()


control(fills, 'one too many is available', 'loops for ever',
        says(r'4Q/available_instances$', '5\n'))
control(fills, 'a type cannot be read', 'failed to discover',
        fails('read', r'1B/name$'))
control(fills, 'a type is lost from a GPU', 'vGPUs after',
        Fault('names', r'1\.0/mdev_supported_types$',
              lambda ids: [id_ for id_ in ids if not id_.endswith('4Q')]))


@check('kubevirt', 'MDEVTypesManager.updateMDEVTypesConfiguration',
       'the vGPUs of one type give way to those of another, and to none')
def changes(host):
    for size, number in ('4Q', 8), ('8Q', 4), ('2Q', 16), ('1B', 32):
        manage(host, [host.type_name(size)])
        is_equal(type_counts(host), {host.type_id(size): number}, f'vGPUs after {size}')
    manage(host, [])
    is_equal(type_counts(host), {}, 'vGPUs after an empty list')
    for parent in host.parents:
        is_equal(host.available(parent, host.type_id('16Q')), 1, f'{parent}: available of 16Q')


control(changes, 'removal removes nothing', 'vGPUs after 8Q', ignores(r'/remove$'))
control(changes, 'removal fails', 'vGPUs after 8Q', fails('write', r'/remove$', errno.EBUSY))


@check('kubevirt', 'MDEVTypesManager.initMDEVTypesRing',
       'of two wanted types each GPU gets one, whichever comes first')
def two_types(host):
    wanted = {host.type_id('4Q'): 4, host.type_id('8Q'): 2}
    for order in sorted, lambda ids: sorted(ids, reverse=True):
        manage(host, list(wanted), order=order)
        for parent in host.parents:
            kinds = [its for name, its in host.mdevs().items() if host.parent_of(name) == parent]
            is_equal(len(set(kinds)), 1, f'{parent}: types')
            is_equal(len(kinds), wanted[kinds[0]], f'{parent}: vGPUs of {kinds[0]}')
        is_equal(set(host.mdevs().values()), set(wanted), 'types on the node')
        host.clean()


control(two_types, 'one GPU takes no more', 'types',
        says(r'1\.0/mdev_supported_types/[^/]*/available_instances$', '0\n'))


@check('kubevirt', 'MDEVTypesManager.removeUndesiredMDEVs',
       'what others provide stays, what nobody wants goes')
def external(host):
    kept = host.create(host.parents[0], '2Q')
    undesired = host.create(host.parents[1], '1Q')
    manage(host, [host.type_name('4Q')], external=[host.type_name('2Q')])
    mdevs = host.mdevs()
    expect(kept in mdevs, 'a vGPU of an external provider is gone')
    expect(undesired not in mdevs, 'a vGPU of a type that nobody wants is still there')
    # The GPU with the external vGPU has been configured, for KubeVirt; so only the other is.
    is_equal(type_counts(host), {host.type_id('2Q'): 1, host.type_id('4Q'): 4}, 'vGPUs')
    is_equal({host.parent_of(name) for name in host.of_type(host.type_id('4Q'))},
             {host.parents[1]}, 'GPU of the new vGPUs')


control(external, 'a name is not the one that the provider is listed by', 'is gone',
        says(r'/mdev_type/name$', lambda text: text.replace('2Q', '2q')))


@check('kubevirt', 'virt-chroot removeMDEVType',
       'of a vGPU in use waits, the VM is asked, and it ends when the VM lets go')
def removal_in_use(host):
    busy, free = host.create(host.parents[0], '4Q'), host.create(host.parents[0], '4Q')
    patience = host.options.get('patience', PATIENCE)
    manager = threading.Thread(target=manage, args=(host, [host.type_name('8Q')]), daemon=True)
    try:
        with Holder(busy, host.options.get('hears', True)) as holder:
            manager.start()
            holder.wait_for('asked', patience)
            # The kernel asks while the removal waits. Meanwhile the vGPU is no longer in the
            # list of all vGPUs, but still in its GPU's directory, and its place is taken.
            expect(manager.is_alive(), 'the removal does not wait')
            expect(host.real.exists(f'{PARENTS}/{host.parents[0]}/{busy}'),
                   'it is removed under its VM')
            expect(host.available(host.parents[0], host.type_id('4Q')) < 4,
                   'its place is free while its VM has it')
            holder.let_go()
            manager.join(patience)
            expect(not manager.is_alive(), 'the removal does not end although the VM let go')
    finally:
        # It began, unless the user of the vGPU did not. Without that user it ends.
        if manager.ident:
            manager.join(PATIENCE)
    expect(not manager.is_alive(), 'the removal does not end although the VM is gone')
    expect(busy not in host.mdevs() and free not in host.mdevs(), 'the vGPUs are still there')
    is_equal(type_counts(host), {host.type_id('8Q'): 4}, 'vGPUs after the removal')


control(removal_in_use, 'the VM cannot hear', "says nothing, not 'asked'", hears=False, patience=3)
control(removal_in_use, 'removal removes nothing', "says nothing, not 'asked'",
        ignores(r'/remove$'), patience=3)


@check('kubevirt', 'discoverPermittedHostPCIDevices',
       'the GPU has an ID to select by, and is not passed through whole')
def pass_through(host):
    handler = DeviceUtilsHandler(host.sysfs)
    for parent in host.parents:
        is_equal(handler.get_device_pci_id(parent), '1af4:10f0', f'{parent}: PCI_ID')
    is_equal(discover_permitted_host_pci_devices(host.sysfs, {'1af4:10f0'}), [],
             'devices passed through')


control(pass_through, 'the GPU is called by a vendor\'s ID', 'PCI_ID',
        says(r'/uevent$', lambda text: text.replace('1AF4', '10DE')))
control(pass_through, 'the GPU is bound to vfio-pci', 'devices passed through',
        Fault('link', r'/driver$', lambda _: '../../../bus/pci/drivers/vfio-pci'))


@check('kubevirt', 'MDEVTypesManager.createMdevTypes',
       'where the host\'s memory is the limit, what is available can be created')
def host_memory(host):
    limit = '/sys/module/vgpu_soft/parameters/fb_overcommit'
    before = host.real.read(limit)
    host.real.write(limit, '400')
    try:
        handler = DeviceUtilsHandler(host.sysfs)
        for type_id in host.type_id('1Q'), host.type_id('2Q'):
            for parent in host.parents:
                for _ in range(handler.read_mdev_available_instances(type_id, parent)):
                    handler.create_mdev_type(type_id, parent)
            expect(all(handler.read_mdev_available_instances(type_id, parent) == 0
                       for parent in host.parents), f'{type_id}: still available')
            host.clean()
    finally:
        host.real.write(limit, before)


control(host_memory, 'the limit is not seen in what is available', 'create: ',
        says(r'/available_instances$', '16\n'))
