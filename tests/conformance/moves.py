# SPDX-License-Identifier: GPL-2.0
"""What managers do when a VM with a vGPU moves to another host.

Written after KubeVirt's pkg/virt-launcher/premigration-hook-server/vgpuhook/vgpu_hook.go,
pkg/virt-launcher/virtwrap/device/hostdevice/{addresspool.go,gpu/hostdev.go} and
pkg/virt-handler/vm.go as of 2026-08-22; Proxmox VE's pve-guest-common src/PVE/Mapping/PCI.pm and
qemu-server src/PVE/{QemuMigrate/Helpers,QemuServer/PCI}.pm as of 2026-08; Nova's
nova/virt/libvirt/{driver,migration}.py of 31.0.0. Functions have the names that they have there.

Here the two hosts are the two GPUs of one. What a manager takes for the right vGPU at the other
end must be one that takes the state: the checks move it.
"""
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from harness import PATIENCE, PCI, Failed, Fault, check, control, expect, is_equal, says
from kubevirt import (allocate, construct_dpi_devices_from_mdev,
                      discover_permitted_host_mediated_devices)
from nova import LibvirtDriver, Libvirt, forget, node_name, start_libvirtd, wait_until
from proxmox import (file_read_first_line, generate_mdev_uuid, pci_create_mdev_device,
                     pci_device_info, print_hostpci_devices)

MOVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'mover.py')


def move(source, target):
    """The state of one vGPU goes to another one, as two QEMUs move it."""
    try:
        done = subprocess.run([sys.executable, '-B', MOVER, source, target], check=False,
                              capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired as error:
        raise Failed(f'a move takes more than {PATIENCE} s') from error
    is_equal(done.stdout.strip() or done.stderr, 'moved', 'the vGPU that was chosen')


def domain_xml(*uuids):
    """The part of a domain that is about its vGPUs, as libvirt prints it."""
    return ElementTree.fromstring('<domain><devices>' + ''.join(
        "<hostdev mode='subsystem' type='mdev' managed='no' model='vfio-pci' display='off'>"
        f"<source><address uuid='{uuid}'/></source><alias name='hostdev0'/></hostdev>"
        for uuid in uuids) + '</devices></domain>')


def uuids_of(domain):
    return [address.get('uuid') for address in domain.iterfind('devices/hostdev/source/address')]


# ---- KubeVirt ----

def vmi_contains_non_migratable_pci_host_devices(gpus, host_devices, gates, mediated):
    """Why the VM cannot move, or None; mediated are the resources of mediatedDevices."""
    if host_devices:
        return 'VMI specifies non-migratable generic PCI host device'
    if len(gpus) > 1:
        return 'VMI specifies too many GPUs'
    if len(gpus) == 1 and 'VGPULiveMigration' not in gates:
        return 'VMI specifies a GPU but feature gate VGPULiveMigration is not enabled'
    if len(gpus) == 1 and gpus[0] not in mediated:
        return 'VMI specifies non-migratable GPU device'
    return None


def create_host_devices(gpus, environment):
    """The UUIDs of a VM's GPUs, from the environment of its pod."""
    pool = {}
    for resource in gpus:
        variable = 'MDEV_PCI_RESOURCE_' + resource.upper().replace('/', '_').replace('.', '_')
        if variable in environment:
            pool[resource] = environment[variable].removesuffix(',').split(',')
    devices = [pool[resource].pop(0) for resource in gpus if pool.get(resource)]
    is_equal(len(devices), len(gpus), 'the number of device plugin GPU/s do not match')
    return devices


def vgpu_live_migration(devices, domain):
    hostdevs = domain.findall('devices/hostdev')
    if not devices or not hostdevs:
        return
    expect(len(hostdevs) == 1 and len(devices) == 1,
           'the migrating vmi should only have one vGPU')
    expect(hostdevs[0].get('type') == 'mdev', 'failed to retrieve mdev vGPU from domain')
    hostdevs[0].find('source/address').set('uuid', devices[0])


@check('kubevirt', 'vgpuhook.VGPULiveMigration',
       'the vGPU of the other node\'s pod comes into the domain, and takes the state')
def kubevirt_moves(host):
    resource = 'vgpu.example.com/SG16-4Q'
    gpus = [resource] * host.options.get('gpus', 1)
    kind = host.type_name('4Q')
    why = vmi_contains_non_migratable_pci_host_devices(
        gpus, [], host.options.get('gates', ['VGPULiveMigration']), [resource])
    expect(why is None, f'IsMigratable is False: {why}')
    pods, made = [], []
    for parent, size in zip(host.parents, ('4Q', host.options.get('there', '4Q'))):
        made.append(host.create(parent, size))
        found = discover_permitted_host_mediated_devices(host.sysfs, {kind}).get(kind, [])
        mdevs = [mdev for mdev in found if mdev.parent == parent]
        expect(mdevs, f'{parent}: no vGPU of {resource}')
        _, uuids = construct_dpi_devices_from_mdev(mdevs)
        environment, _ = allocate(host.sysfs, resource, uuids, [mdevs[0].group])
        pods.append(create_host_devices(gpus, environment))
    domain = domain_xml(*pods[0])
    vgpu_live_migration(pods[1], domain)
    is_equal(uuids_of(domain), [made[1]], 'vGPU of the domain there')
    move(pods[0][0], pods[1][0])


control(kubevirt_moves, 'the gate is closed', 'IsMigratable is False: .*feature gate', gates=[])
control(kubevirt_moves, 'the VM has two vGPUs', 'IsMigratable is False: .*too many', gpus=2)
control(kubevirt_moves, 'another type has the name there', 'the destination refuses',
        says(r'/mdev_type/name$', 'SG16-4Q\n'), there='2Q')
control(kubevirt_moves, 'the type has another name there', 'no vGPU of',
        Fault('read', r'/mdev_type/name$', lambda text: text.replace('2Q', '4q')), there='2Q')


# ---- Proxmox VE ----

def assert_valid(sysfs, name, mapping, mdev):
    """Dies if the GPU at the mapping's path is not as the mapping says."""
    path = f'{PCI}/{mapping["path"]}'
    pci_device_info(sysfs, mapping['path'])
    shown = {one: (file_read_first_line(sysfs, f'{path}/{one}') or '').removeprefix('0x')
             for one in ('vendor', 'device', 'subsystem_vendor', 'subsystem_device')}
    expected = {
        'id': f'{shown["vendor"]}:{shown["device"]}',
        'iommugroup': None,
        'mdev': str(int(sysfs.is_dir(f'{path}/mdev_supported_types'))),
        'subsystem-id': f'{shown["subsystem_vendor"]}:{shown["subsystem_device"]}',
    }
    if sysfs.exists(f'{path}/iommu_group'):
        expected['iommugroup'] = re.search(r'/(\d+)$', sysfs.link(f'{path}/iommu_group'))[1]
    configured = {'mdev': str(int(mdev)),
                  **{one: mapping.get(one) for one in ('id', 'iommugroup', 'subsystem-id')}}
    for one, value in sorted(expected.items()):
        expect(value is None or configured[one] is not None,
               f"missing expected property '{one}' for device '{mapping['path']}'")
        expect(value is not None or configured[one] is None,
               f"unexpected property '{one}' configured for device '{mapping['path']}'")
        expect(value == configured[one],
               f"'{one}' does not match for '{name}' ({value} != {configured[one]})")


def check_local_resources(config, mappings, nodes, running):
    """What keeps a VM where it is, and by node the devices whose mapping it has not."""
    local, missing = [], {node: [] for node in nodes}
    for key, value in config.items():
        if not key.startswith('hostpci'):
            continue
        name = dict(part.split('=', 1) for part in value.split(',')).get('mapping')
        if name:
            for node in nodes:
                if not any(one['node'] == node for one in mappings[name]['map']):
                    missing[node].append(key)
            if mappings[name].get('live-migration-capable') or not running:
                continue
        local.append(key)
    return local, missing


@check('proxmox', 'QemuMigrate::Helpers::check_local_resources',
       'a mapping of a GPU on each node lets a VM move, and its vGPU there takes the state')
def proxmox_moves(host):
    capable = host.options.get('capable', True)
    nodes = ['here', 'there']
    sub = ':'.join(host.real.read(f'{PCI}/{host.parents[0]}/subsystem_{one}').strip()[2:]
                   for one in ('vendor', 'device'))
    mapping = {'mdev': True, 'live-migration-capable': capable, 'map': [
        {'node': node, 'path': parent, 'id': '1af4:10f0', 'subsystem-id': sub}
        for node, parent in zip(nodes, host.parents)][:host.options.get('mapped', 2)]}
    for one in mapping['map']:
        assert_valid(host.sysfs, 'vgpu', one, mapping['mdev'])
    local, missing = check_local_resources({'hostpci0': 'mapping=vgpu,mdev=' + host.type_id('4Q')},
                                           {'vgpu': mapping}, nodes, True)
    is_equal(local, [], 'resources that cannot move')
    is_equal(missing, {node: [] for node in nodes}, 'devices without a mapping')
    # On two nodes both would have the VM's number, and so one UUID.
    made = []
    for vmid, parent, size in ((100, host.parents[0], '4Q'),
                               (101, host.parents[1], host.options.get('there', '4Q'))):
        pci_create_mdev_device(host.sysfs, parent, generate_mdev_uuid(vmid, 0), host.type_id(size))
        argument = print_hostpci_devices(vmid, 0, capable)
        expect('enable-migration=on' in argument.split(','), f'QEMU gets {argument}')
        made.append(os.path.basename(re.search(r'sysfsdev=([^,]*)', argument)[1]))
    move(*made)


control(proxmox_moves, 'the mapping does not say that it can', 'resources that cannot move',
        capable=False)
control(proxmox_moves, 'the other node has no mapping', 'devices without a mapping', mapped=1)
control(proxmox_moves, 'the vGPU there is of another type', 'the destination refuses', there='2Q')
control(proxmox_moves, 'the GPU has a group', "missing expected property 'iommugroup'",
        Fault('exists', r'/iommu_group$', lambda _: True),
        Fault('link', r'/iommu_group$', lambda _: '../../kernel/iommu_groups/7', invents=True))
control(proxmox_moves, 'the GPU has no types', "'mdev' does not match",
        Fault('is_dir', r'/mdev_supported_types$', lambda _: False))
control(proxmox_moves, 'the GPU is another vendor\'s', "'id' does not match",
        says(r'[0-9]/vendor$', '0x10de\n'))


# ---- Nova ----

def allocate_mdevs(driver, parent, number):
    """UUIDs of that many vGPUs of a GPU: first those that no domain has, here all of them."""
    free = [mdev['uuid'] for mdev in driver.get_mediated_devices() if mdev['parent'] == parent]
    chosen = []
    for _ in range(number):
        chosen.append(free.pop() if free else driver.create_new_mediated_device(parent))
        expect(chosen[-1], 'mdev-capable resource is not available')
    return chosen


def check_source_migrate_data_at_dest(driver, parent, source_types):
    """The UUID there by the UUID here; source_types are the types here, by UUID."""
    for kind in source_types.values():
        expect(kind in driver.enabled,
               f'Source mdev types {kind} are not supported by this compute: {driver.enabled}')
    chosen = allocate_mdevs(driver, parent, len(source_types))
    types = {mdev['uuid']: mdev['type'] for mdev in driver.get_mediated_devices()
             if mdev['uuid'] in chosen}
    targets = {}
    for source, kind in source_types.items():
        for target, its in types.items():
            # Nova compares the type, not the UUID, with those that have one: the last one wins.
            if kind == its and kind not in targets and target not in targets.values():
                targets[source] = target
    expect(len(targets) == len(source_types),
           f'Source mdevs {list(source_types)} are not fully mapped for this compute: {targets}')
    return targets


def update_mdev_xml(domain, targets):
    for device in domain.iterfind('devices/hostdev'):
        address = device.find('source/address')
        if device.get('type') == 'mdev' and address is not None:
            target = targets.get(address.get('uuid'))
            expect(target, f'Unable to find the destination mediated device UUID to use for this '
                   f'source mdev UUID : {address.get("uuid")}')
            address.set('uuid', target)


@check('nova', 'check_source_migrate_data_at_dest, _update_mdev_xml',
       'vGPUs of the type, there or new, come into the domain, and take the state')
def nova_moves(host):
    start_libvirtd()
    kind, (here, there) = host.type_id('8Q'), [node_name(parent) for parent in host.parents]
    driver = LibvirtDriver(host.sysfs, kind)
    try:
        made = [driver.create_new_mediated_device(here) for _ in range(2)]
        old = host.create(host.parents[1], host.options.get('there', '8Q'))
        wait_until(lambda: len(Libvirt(host.real).active()) > len(made), 'a vGPU was made')
        there_driver = LibvirtDriver(host.sysfs, host.type_id(host.options.get('enabled', '8Q')))
        targets = check_source_migrate_data_at_dest(there_driver, there, dict.fromkeys(made, kind))
        expect(old in targets.values(), 'the vGPU that was there is not used')
        domain = domain_xml(*made, *host.options.get('others', ()))
        update_mdev_xml(domain, targets)
        is_equal(uuids_of(domain), [targets[one] for one in made], 'vGPUs of the domain there')
        is_equal({host.parent_of(one) for one in targets.values()}, {host.parents[1]}, 'GPU there')
        for source, target in targets.items():
            move(source, target)
    finally:
        forget(host)


control(nova_moves, 'the type is not enabled there', 'not supported by this compute', enabled='4Q')
control(nova_moves, 'the type has another id there', 'not fully mapped|not used|not available',
        Fault('read', r'^libvirt/mdev_.*01_0$', lambda text: text.replace('8Q', '8q')))
control(nova_moves, 'another type has the id there', 'the destination refuses',
        Fault('read', r'^libvirt/mdev_.*01_0$', lambda text: text.replace('4Q', '8Q')), there='4Q')
control(nova_moves, 'the domain has a vGPU that Nova does not know', 'Unable to find',
        others=['00000000-0000-0000-0000-000000000001'])
