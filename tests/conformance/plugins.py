# SPDX-License-Identifier: GPL-2.0
"""What a vendor's open device plugin for KubeVirt does, where vGPUs are made by others.

Written after NVIDIA/kubevirt-gpu-device-plugin, pkg/device_plugin/{device_plugin,
generic_vgpu_device_plugin}.go, as of 2026-08-19. Functions have the names that they have there.
"""
import os
import re

from harness import MDEVS, PCI, Fault, check, control, expect, fails, is_equal, says

VENDOR = '10de'
VFIO_DRIVERS = 'vfio-pci', 'nvgrace_gpu_vfio_pci'


def read_vgpu_id_from_file(sysfs, name):
    return re.sub(r'\s+', '_', sysfs.read(f'{MDEVS}/{name}/mdev_type/name').strip('\n'))


def read_gpu_id_for_vgpu(sysfs, name):
    return sysfs.link(f'{MDEVS}/{name}').split('/')[-2]


def read_numa_node(sysfs, address):
    """No node, and none that can be read, is node 0."""
    try:
        return max(int(sysfs.read(f'{PCI}/{address}/numa_node').strip()), 0)
    except (OSError, ValueError):
        return 0


def create_vgpu_id_map(sysfs):
    """(UUID, NUMA node) of the vGPUs by type, and UUIDs by GPU."""
    vgpus, gpus = {}, {}
    for name in sysfs.names(MDEVS):
        try:
            type_name = read_vgpu_id_from_file(sysfs, name)
            gpu = read_gpu_id_for_vgpu(sysfs, name)
        except OSError:
            continue
        gpus.setdefault(gpu, []).append(name)
        vgpus.setdefault(type_name, []).append((name, read_numa_node(sysfs, gpu)))
    return vgpus, gpus


def create_iommu_device_map(sysfs):
    """The GPUs that are passed through whole."""
    found = []
    for address in sysfs.names(PCI):
        try:
            if sysfs.read(f'{PCI}/{address}/vendor')[2:].strip('\n') == VENDOR and \
                    os.path.basename(sysfs.link(f'{PCI}/{address}/driver')) in VFIO_DRIVERS:
                sysfs.link(f'{PCI}/{address}/iommu_group')
                found.append(address)
        except OSError:
            continue
    return found


def register(type_name):
    """The resource that kubelet is told of, which takes only qualified names."""
    expect(re.fullmatch(r'([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]', type_name),
           f'{type_name!r}: kubelet takes no such resource name')
    return f'nvidia.com/{type_name}'


def allocate(sysfs, type_name, names):
    found = []
    for name in names:
        try:
            if read_vgpu_id_from_file(sysfs, name) == type_name:
                found.append(name)
        except OSError:
            pass
    expect(found, 'the pod gets an empty environment')
    return {f'MDEV_PCI_RESOURCE_NVIDIA_COM_{type_name.upper()}': ','.join(found)}


# ---- the checks ----

@check('kubevirt-gpu-device-plugin', 'createVgpuIDMap',
       'vGPUs by type and GPU; a GPU without a NUMA node is on node 0', shows_nodes=True)
def vgpu_map(host):
    by_type, by_gpu = {}, {}
    for size, parent in ('4Q', 0), ('8Q', 0), ('4Q', 1):
        name = host.create(host.parents[parent], size)
        node = host.nodes[parent][0] if host.nodes[parent] else 0
        by_type.setdefault(host.type_name(size), set()).add((name, node))
        by_gpu.setdefault(host.parents[parent], set()).add(name)
    vgpus, gpus = create_vgpu_id_map(host.sysfs)
    is_equal({name: set(found) for name, found in vgpus.items()}, by_type, 'vGPUs by type')
    is_equal({gpu: set(found) for gpu, found in gpus.items()}, by_gpu, 'vGPUs by GPU')


control(vgpu_map, 'two types have one name', 'vGPUs by type',
        says(r'/mdev_type/name$', 'SG16-4Q\n'))
control(vgpu_map, 'a name cannot be read', 'vGPUs by type', fails('read', r'/mdev_type/name$'))
control(vgpu_map, 'the GPU shows another node', 'vGPUs by type',
        Fault('read', r'/numa_node$', lambda _: '7\n', invents=True))


@check('kubevirt-gpu-device-plugin', 'GenericVGpuDevicePlugin.Register',
       'the name of each type is one that kubelet takes')
def resource_names(host):
    for parent in host.parents:
        for type_id in host.types(parent):
            raw = host.sysfs.read(f'{PCI}/{parent}/mdev_supported_types/{type_id}/name')
            register(re.sub(r'\s+', '_', raw.strip('\n')))


control(resource_names, 'a name ends in a blank', 'no such resource name',
        says(r'4Q/name$', 'SG16-4Q \n'))
control(resource_names, 'a name has a slash', 'no such resource name',
        says(r'4Q/name$', 'SG16/4Q\n'))


@check('kubevirt-gpu-device-plugin', 'GenericVGpuDevicePlugin.Allocate',
       'a pod gets the vGPUs that it was promised')
def allocation(host):
    names = [host.create(host.parents[0], '4Q') for _ in range(2)]
    type_name = host.type_name('4Q')
    environment = allocate(host.sysfs, type_name, names)
    is_equal(environment, {'MDEV_PCI_RESOURCE_NVIDIA_COM_SG16-4Q': ','.join(names)}, 'environment')


control(allocation, 'the name is another one by then', 'empty environment',
        says(r'/mdev_type/name$', 'SG16-8Q\n'))


@check('kubevirt-gpu-device-plugin', 'createIommuDeviceMap', 'our GPU is not taken for its own')
def gpu_map(host):
    found = create_iommu_device_map(host.sysfs)
    is_equal([parent for parent in host.parents if parent in found], [],
             'GPUs to pass through whole')


control(gpu_map, 'the GPU has the vendor\'s ID and is bound to vfio-pci', 'pass through whole',
        says(r'/vendor$', '0x10de\n'),
        Fault('link', r'/driver$', lambda _: '../../../bus/pci/drivers/vfio-pci'),
        Fault('link', r'/iommu_group$', lambda _: '../../kernel/iommu_groups/1', invents=True))
