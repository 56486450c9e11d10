# SPDX-License-Identifier: GPL-2.0
"""What managers see of a GPU that is divided: they take its types as they take others.

The functions are those of readers.py and nova.py.
"""
import os
import subprocess

from harness import PARENTS, Failed, Fault, check, control, expect, is_equal, says
from nova import LibvirtDriver, forget, node_name, start_libvirtd
from readers import mdev_type_list, vir_mediated_device_type_read_attrs

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VGPUCTL = f'{TOP}/build/lab-tools/vgpuctl/vgpuctl'

# How many fit on a GPU with a partition of 1g and one of 2g: of other types, none.
FIT = {'SG16-1-2C': 1, 'SG16-2-4C': 1}


class Divided:
    """The first GPU, while it is divided; the vGPUs on it are removed before the partitions."""

    def __init__(self, host, *profiles):
        self.host = host
        self.profiles = profiles

    def partition(self, *args):
        done = subprocess.run([VGPUCTL, 'partition', *args, '--gpu', self.host.parents[0]],
                              check=False, capture_output=True, text=True)
        if done.returncode:
            raise Failed(f'partition {" ".join(args)}: {done.stderr.strip()}')
        return done.stdout.split()

    def __enter__(self):
        try:
            self.partition('mode', 'on')
            for profile in self.profiles:
                self.partition('create', profile)
        except Failed:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.host.clean()
        for number in self.partition('list', '--noheadings', '-o', 'number'):
            self.partition('remove', number)
        self.partition('mode', 'off')


def id_of(host, name):
    return next(id_ for id_, its in host.types(host.parents[0]).items() if its == name)


@check('mdevctl', 'Environment.mdev_types', 'types of partitions are available while these are')
def mdevctl_types(host):
    with Divided(host, '1g', '2g'):
        found = mdev_type_list(host.sysfs)
        types = host.types(host.parents[0])
        expect(FIT.keys() <= set(types.values()), 'a type is missing')
        for type_id, name in types.items():
            is_equal(found[host.parents[0], type_id], (FIT.get(name, 0), 'vfio-pci'), name)
            is_equal(found[host.parents[1], type_id][0] > 0, name.count('-') == 1,
                     f'{name} is available on the GPU that is whole')
    found = mdev_type_list(host.sysfs)
    is_equal(found[host.parents[0], id_of(host, 'SG16-1-2C')][0], 0, 'SG16-1-2C after them')
    expect(found[host.parents[0], id_of(host, 'SG16-4Q')][0] == 4, 'the GPU is not whole again')


control(mdevctl_types, 'a type of a partition is full', 'SG16-1-2C: ',
        says(r'1-2C/available_instances$', '0\n'))
control(mdevctl_types, 'a type has room without its partition', 'SG16-7-4C: ',
        says(r'7-4C/available_instances$', '4\n'))


@check('libvirt', 'virMediatedDeviceTypeReadAttrs', 'every type of a divided GPU can be read')
def libvirt_types(host):
    with Divided(host, '1g', '2g'):
        for type_id, name in host.types(host.parents[0]).items():
            read = vir_mediated_device_type_read_attrs(
                host.sysfs, f'{PARENTS}/{host.parents[0]}/mdev_supported_types/{type_id}')
            is_equal((read['name'], read['device_api']), (name, 'vfio-pci'), type_id)
            is_equal(int(read['available_instances']), FIT.get(name, 0), f'{name}: available')


control(libvirt_types, 'a type of the whole GPU is available', '4Q: available',
        says(r'SG16-4Q/available_instances$', '4\n'))
control(libvirt_types, 'a type has room without its partition', '7-4C: available',
        says(r'7-4C/available_instances$', '4\n'))


@check('nova', '_get_gpu_inventories', 'types of partitions are counted and made like others')
def inventories(host):
    start_libvirtd()
    type_id = id_of(host, 'SG16-1-2C')
    first, second = (node_name(one) for one in host.parents)
    driver = LibvirtDriver(host.sysfs, type_id)
    is_equal(driver.get_gpu_inventories(), {first: 0, second: 0}, 'total without partitions')
    try:
        with Divided(host, '1g', '2g'):
            is_equal(driver.get_gpu_inventories(), {first: 1, second: 0}, 'total')
            made = driver.create_new_mediated_device(first)
            expect(made, 'no vGPU is created')
            is_equal(host.mdevs(), {made: type_id}, 'vGPUs')
            is_equal(driver.get_gpu_inventories(), {first: 1, second: 0}, 'total with a vGPU')
            expect(driver.create_new_mediated_device(first) is None, 'a full partition gets one')
            is_equal([one['parent'] for one in driver.get_mediated_devices()], [first], 'parent')
    finally:
        forget(host)


control(inventories, 'there is room without a partition', 'total without partitions',
        Fault('read', r'^libvirt/pci_', lambda text: text.replace(
            '<availableInstances>0<', '<availableInstances>1<')))
control(inventories, 'the vGPU of a partition is not listed', 'total with a vGPU',
        Fault('names', r'^libvirt/mdev$', lambda _: []))
