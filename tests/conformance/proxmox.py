# SPDX-License-Identifier: GPL-2.0
"""What Proxmox VE does with mediated devices, when it lists them and for a VM that has one.

Written after pve-common's src/PVE/SysFSTools.pm and qemu-server's src/PVE/QemuServer/{PCI,
PCI/Mdev}.pm and src/PVE/QemuServer.pm as of 2026-08. Functions have the names that they have there.
"""
import os
import re

from harness import (MDEVS, PCI, Failed, Fault, Holder, Skipped, check, control, expect, fails,
                     ignores, is_equal, says)

IOMMUS = '/sys/class/iommu'
PCI_REGEX = r'([a-f0-9]{4,}):([a-f0-9]{2}):([a-f0-9]{2}).([a-f0-9])'
PCIRE = r'(?:[a-f0-9]{4,}:)?[a-f0-9]{2}:[a-f0-9]{2}(?:\.[a-f0-9])?'


def file_read_first_line(sysfs, path):
    """undef if there is no file; dies if it cannot be read."""
    try:
        return sysfs.read(path).split('\n')[0]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Failed(f"file '{path}' exists but open for reading failed") from error


def file_get_contents(sysfs, path):
    try:
        return sysfs.read(path)
    except OSError as error:
        raise Failed(f"can't open '{path}' - {error.strerror}") from error


def lspci(sysfs, wanted=None):
    devices = []
    for address in sysfs.names(PCI):
        if not re.fullmatch(PCI_REGEX, address):
            continue
        if wanted and not re.match(f'(0000:)?{re.escape(wanted)}', address):
            continue
        path = f'{PCI}/{address}'
        device = {'id': address, 'iommugroup': -1}
        for name in 'vendor', 'device', 'class':
            device[name] = file_read_first_line(sysfs, f'{path}/{name}')
        if sysfs.exists(f'{path}/iommu_group'):
            device['iommugroup'] = int(re.search(r'/(\d+)$', sysfs.link(f'{path}/iommu_group'))[1])
        device['mdev'] = sysfs.is_dir(f'{path}/mdev_supported_types')
        device['nvidia'] = not device['mdev'] and sysfs.is_dir(f'{path}/nvidia')
        devices.append(device)
    return devices


def get_mdev_types(sysfs, address):
    types = []
    for name in sysfs.names(f'{PCI}/{address}/mdev_supported_types'):
        path = f'{PCI}/{address}/mdev_supported_types/{name}'
        available = file_read_first_line(sysfs, f'{path}/available_instances') or ''
        types.append({
            'type': name,
            # Perl's int() takes what there is of digits at the start, else 0.
            'available': int(re.match(r'\s*(\d*)', available)[1] or 0),
            'description': file_get_contents(sysfs, f'{path}/description'),
            'name': file_read_first_line(sysfs, f'{path}/name'),
        })
    return types


def parse_hostpci(sysfs, value):
    """The one device that is meant, and its type; value is as in a VM's configuration."""
    properties = dict(part.split('=', 1) for part in value.split(','))
    expect(re.fullmatch(f'{PCIRE}(;{PCIRE})*', properties['host']),
           f'host: {properties["host"]} does not match the pattern')
    expect(re.fullmatch(r'[^/\.:]+', properties['mdev']),
           f'mdev: {properties["mdev"]} does not match the pattern')
    devices = lspci(sysfs, properties['host'])
    expect(devices, f"no PCI device found for '{properties['host']}'")
    expect(len(devices) == 1, 'cannot use mediated device with multifunction device')
    expect(not devices[0]['nvidia'], 'taken for a GPU with the interface of another vendor')
    return devices[0], properties['mdev']


def generate_mdev_uuid(vmid, index):
    return f'{index:08d}-0000-0000-0000-{vmid:012d}'


def pci_device_info(sysfs, address):
    expect(re.fullmatch(PCI_REGEX, address), f"no pci device info for device '{address}'")
    for name, pattern in ('irq', r'\d+'), ('vendor', '0x.*'), ('device', '0x.*'):
        line = file_read_first_line(sysfs, f'{PCI}/{address}/{name}')
        expect(line and re.fullmatch(pattern, line),
               f"no pci device info for device '{address}': {name} {line}")


def check_iommu_support(sysfs):
    return sysfs.is_dir(IOMMUS) and any(not name.startswith('.') for name in sysfs.names(IOMMUS))


def pci_create_mdev_device(sysfs, address, uuid, type_id):
    path = f'{PCI}/{address}'
    types = f'{path}/mdev_supported_types'
    expect(sysfs.is_dir(types), f"pci device '{address}' does not support mediated devices")
    expect(sysfs.is_dir(f'{types}/{type_id}'), f"pci device '{address}' has no type '{type_id}'")
    if sysfs.is_dir(f'{path}/{uuid}'):
        existing = re.search(r'/([^/]+)$', sysfs.link(f'{path}/{uuid}/mdev_type'))[1]
        expect(existing == type_id, f"mdev instance '{uuid}' exists, but type is not '{type_id}'")
        return
    line = file_read_first_line(sysfs, f'{types}/{type_id}/available_instances')
    expect(re.fullmatch(r'\d+', line or ''), f'available_instances of {type_id}: {line!r}')
    expect(int(line) >= 1, f"pci device '{address}' has no available instances of '{type_id}'")
    try:
        sysfs.write(f'{types}/{type_id}/create', uuid)
    except OSError as error:
        raise Failed(f"could not create '{type_id}' for pci devices '{address}'") from error


def prepare_pci_device(sysfs, vmid, address, index, type_id):
    expect(check_iommu_support(sysfs), 'cannot prepare PCI pass-through, IOMMU not present')
    pci_device_info(sysfs, address)
    pci_create_mdev_device(sysfs, address, generate_mdev_uuid(vmid, index), type_id)


def print_hostpci_devices(vmid, index, live_migration_capable=False):
    """What QEMU is given of a vGPU, but for its place in the VM."""
    moves = ',enable-migration=on' if live_migration_capable else ''
    return f'vfio-pci,sysfsdev={MDEVS}/{generate_mdev_uuid(vmid, index)}{moves},id=hostpci{index}'


def cleanup_pci_devices(sysfs, vmid, index):
    path = f'{MDEVS}/{generate_mdev_uuid(vmid, index)}'
    if sysfs.exists(path):
        sysfs.write(f'{path}/remove', '1')


# ---- the checks ----

@check('proxmox', 'SysFSTools::lspci', 'the GPU is listed, by its own ID, with mediated devices')
def listing(host):
    listed = {device['id']: device for device in lspci(host.sysfs)}
    for parent in host.parents:
        expect(parent in listed, f'{parent}: not listed')
        device = listed[parent]
        is_equal((device['vendor'], device['device'], device['class']),
                 ('0x1af4', '0x10f0', '0x030200'), f'{parent}: vendor, device, class')
        is_equal((device['mdev'], device['nvidia']), (True, False), f'{parent}: mdev, nvidia')
        is_equal(len(lspci(host.sysfs, parent)), 1, f'{parent}: devices of this address')


control(listing, 'the address is not one of PCI', 'not listed',
        Fault('names', PCI, lambda names: [name.replace('.', '') for name in names]))
control(listing, 'the ID is another vendor\'s', 'vendor, device',
        says(r'/vendor$', '0x10de\n'))
control(listing, 'there are no types', 'mdev, nvidia',
        Fault('is_dir', r'/mdev_supported_types$', lambda _: False))


@check('proxmox', 'PCI::Mdev::get_mdev_types', 'each type has a name, a description and a number')
def types(host):
    for parent in host.parents:
        listed = get_mdev_types(host.sysfs, parent)
        is_equal({one['type']: one['name'] for one in listed}, host.types(parent), 'types')
        for one in listed:
            is_equal(one['available'], host.available(parent, one['type']),
                     f'{one["type"]}: available')
            expect((one['available'] > 0) != host.of_partition(one['name']),
                   f'{one["type"]}: {one["available"]} are available')
            expect(one['description'].strip(), f'{one["type"]}: the description is empty')
    host.create(host.parents[0], '8Q')
    numbers = {one['name']: one['available'] for one in get_mdev_types(host.sysfs, host.parents[0])}
    is_equal((numbers[host.type_name('8Q')], numbers[host.type_name('4Q')]), (1, 2),
             'available of 8Q and 4Q beside an 8Q')


control(types, 'a type has no description', "can't open",
        fails('read', r'4Q/description$', 2))
control(types, 'a description is empty', 'is empty', says(r'4Q/description$', '\n'))
control(types, 'a number cannot be read', 'open for reading failed',
        fails('read', r'4Q/available_instances$'))
control(types, 'a number is in hexadecimal', 'available',
        says(r'4Q/available_instances$', '0x4\n'))


@check('proxmox', 'QemuServer::PCI::parse_hostpci',
       'a VM\'s configuration can name each GPU and type')
def configuration(host):
    for parent in host.parents:
        for type_id in host.types(parent):
            shown = host.options.get('type', type_id)
            # With and without the number of the function.
            for address in parent, parent.removesuffix('.0'):
                device, chosen = parse_hostpci(host.sysfs, f'host={address},mdev={shown}')
                is_equal((device['id'], chosen), (parent, type_id), 'GPU and type')


control(configuration, 'a type\'s id has a dot', 'does not match', type='vgpu_soft-SG1.5-4Q')
control(configuration, 'a GPU is one of several functions', 'multifunction',
        Fault('names', PCI, lambda names: names + [f'{name[:-1]}1' for name in names]))


@check('proxmox', 'QemuServer::PCI::Mdev::pci_create_mdev_device',
       'VMs get vGPUs until the GPU is full, and again after one has stopped')
def creation(host):
    parent, type_id = host.parents[0], host.type_id('4Q')
    for vmid in range(100, 104):
        name = generate_mdev_uuid(vmid, 0)
        pci_create_mdev_device(host.sysfs, parent, name, type_id)
        is_equal(host.mdevs().get(name), type_id, f'type of the vGPU of VM {vmid}')
    # A VM that is started once more uses what is left of its last run.
    pci_create_mdev_device(host.sysfs, parent, generate_mdev_uuid(100, 0), type_id)
    for type_, vmid, reason in (type_id, 104, 'no available instances'), \
            (host.type_id('2Q'), 100, 'type is not'):
        try:
            pci_create_mdev_device(host.sysfs, parent, generate_mdev_uuid(vmid, 0), type_)
        except Failed as failure:
            expect(reason in str(failure), f'refused by another reason: {failure}')
        else:
            raise Failed(f'VM {vmid} gets a {type_} on a full GPU')
    path = re.search(r'sysfsdev=([^,]*)', print_hostpci_devices(101, 0))[1]
    with Holder(os.path.basename(path)):
        pass
    cleanup_pci_devices(host.sysfs, 101, 0)
    expect(generate_mdev_uuid(101, 0) not in host.mdevs(), 'the vGPU of a VM that stopped is there')
    pci_create_mdev_device(host.sysfs, parent, generate_mdev_uuid(104, 0), type_id)


control(creation, 'a number has a blank behind it', 'available_instances of',
        says(r'/available_instances$', lambda text: text.replace('\n', ' \n')))
control(creation, 'a full GPU says that there is room', 'another reason: could not create',
        says(r'/available_instances$', '1\n'))
control(creation, 'a vGPU is not in its GPU\'s directory', 'no available instances|could not',
        Fault('is_dir', r'/0{8}-0000', lambda _: False))
control(creation, 'clean-up removes nothing', 'that stopped is there', ignores(r'/remove$'))


@check('proxmox', 'QemuServer::PCI::prepare_pci_device',
       'with an IOMMU on the host, a VM\'s vGPU is made')
def preparation(host):
    if not check_iommu_support(host.real):
        raise Skipped('no IOMMU in /sys/class/iommu: lab run --iommu')
    parent, type_id = host.parents[1], host.type_id('2Q')
    prepare_pci_device(host.sysfs, 100, parent, 0, type_id)
    is_equal(host.mdevs(), {generate_mdev_uuid(100, 0): type_id}, 'vGPUs')
    # A GPU on a bus of its own is behind no IOMMU: it has no group, and needs none for vGPUs.
    is_equal(lspci(host.sysfs, parent)[0]['iommugroup'], -1, 'iommugroup')
    expect(any(device['iommugroup'] >= 0 for device in lspci(host.sysfs)),
           'no device of the host has a group')


control(preparation, 'the host has no IOMMU', 'IOMMU not present',
        Fault('names', IOMMUS, lambda _: []))
control(preparation, 'the GPU has no irq', 'no pci device info',
        fails('read', r'/irq$', 2))
