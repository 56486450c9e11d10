# SPDX-License-Identifier: GPL-2.0
"""How libvirt and mdevctl read types: one that they cannot read hides those of the whole host.

Written after libvirt's src/util/virmdev.c and mdevctl's src/mdev.rs; both also run themselves, in
tests/e2e and, for Nova, in this directory.
"""
import os
import re

from harness import MDEVS, PARENTS, Failed, Fault, check, control, expect, fails, is_equal, says


def vir_mediated_device_type_read_attrs(sysfs, path):
    """name may be missing; the others must be there, the number an unsigned one."""
    attributes = {}
    for attribute in 'name', 'device_api', 'available_instances':
        try:
            attributes[attribute] = sysfs.read(f'{path}/{attribute}').split('\n')[0]
        except FileNotFoundError as error:
            if attribute != 'name':
                raise Failed(f'no file {path}/{attribute}') from error
        except OSError as error:
            raise Failed(f'{path}/{attribute}: {error.strerror}') from error
    number = attributes['available_instances']
    expect(re.fullmatch(r'[0-9]+', number) and int(number) < 2**32,
           f"Invalid unsigned integer value '{number}' in file '{path}/available_instances'")
    return attributes


def mdev_type_list(sysfs):
    """All types of all parents, as mdevctl types has them, or an error."""
    types = {}
    for parent in sysfs.names(PARENTS):
        for type_id in sysfs.names(f'{PARENTS}/{parent}/mdev_supported_types'):
            path = f'{PARENTS}/{parent}/mdev_supported_types/{type_id}'
            try:
                number = sysfs.read(f'{path}/available_instances').strip()
                api = sysfs.read(f'{path}/device_api').strip()
            except OSError as error:
                raise Failed(f'{error.filename}: {error.strerror}') from error
            expect(re.fullmatch(r'[+-]?[0-9]+', number) and -2**31 <= int(number) < 2**31,
                   f'{path}: cannot parse {number!r} as i32')
            types[parent, type_id] = int(number), api
    return types


def wait_for_mdev(sysfs, name):
    """What virMediatedDeviceNew() and nodeDeviceCreateXML() look up of a new vGPU."""
    kind = os.path.basename(sysfs.link(f'{MDEVS}/{name}/mdev_type'))
    api = sysfs.read(f'{MDEVS}/{name}/mdev_type/device_api').split('\n')[0]
    group = int(os.path.basename(sysfs.link(f'{MDEVS}/{name}/iommu_group')))
    return kind, api, group


@check('libvirt', 'virMediatedDeviceTypeReadAttrs', 'every type of every GPU can be read')
def libvirt_types(host):
    for parent in host.parents:
        for type_id, name in host.types(parent).items():
            read = vir_mediated_device_type_read_attrs(
                host.sysfs, f'{PARENTS}/{parent}/mdev_supported_types/{type_id}')
            is_equal(read['device_api'], 'vfio-pci', f'{type_id}: device_api')
            is_equal(read['name'], name, f'{type_id}: name')
            is_equal(int(read['available_instances']), host.available(parent, type_id),
                     f'{type_id}: available')


control(libvirt_types, 'one type cannot be read', 'available_instances: Input/output error',
        fails('read', r'2B/available_instances$'))
control(libvirt_types, 'one type has no device_api', 'no file', fails('read', r'1C?Q?/device_api$', 2))
control(libvirt_types, 'a number is negative', 'Invalid unsigned',
        says(r'4Q/available_instances$', '-1\n'))


@check('libvirt', 'virMediatedDeviceNew', 'a vGPU has type, interface and group when it is there')
def libvirt_device(host):
    for size in '1Q', '4Q':
        name = host.create(host.parents[0], size)
        is_equal(wait_for_mdev(host.sysfs, name),
                 (host.type_id(size), 'vfio-pci', int(host.group_of(name))), 'type, api, group')


control(libvirt_device, 'the interface is another one', 'type, api, group',
        says(r'/mdev_type/device_api$', 'vfio-ccw\n'))
control(libvirt_device, 'there is no group', 'No such file', fails('link', r'/iommu_group$', 2))


@check('mdevctl', 'Environment.mdev_types', 'all types of all GPUs are listed, or none would be')
def mdevctl_types(host):
    found = mdev_type_list(host.sysfs)
    for parent in host.parents:
        for type_id in host.types(parent):
            is_equal(found.get((parent, type_id)), (host.available(parent, type_id), 'vfio-pci'),
                     f'{parent} {type_id}')


control(mdevctl_types, 'a number is one of 32 bits without a sign', 'as i32',
        says(r'4Q/available_instances$', f'{2**32 - 1}\n'))
control(mdevctl_types, 'one type cannot be read', 'Input/output error',
        fails('read', r'2B/device_api$'))
control(mdevctl_types, 'a GPU is not in the class', 'None, not',
        Fault('names', PARENTS + '$', lambda names: names[:-1]))
