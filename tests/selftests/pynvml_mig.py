#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""pynvml_mig.py: divides the GPU, which has no vGPU, by pynvml, and makes it whole again.

By its structures pynvml sees our layouts from outside.
"""
import ctypes

import pynvml

GPU_INSTANCES = pynvml.NVML_GPU_INSTANCE_PROFILE_COUNT
COMPUTE_INSTANCES = pynvml.NVML_COMPUTE_INSTANCE_PROFILE_COUNT


def supported(function, *arguments):
    """The function's result, or None if it is NOT_SUPPORTED."""
    try:
        return function(*arguments)
    except pynvml.NVMLError as error:
        if error.value != pynvml.NVML_ERROR_NOT_SUPPORTED:
            raise
        return None


def fails(error, function, *arguments):
    """Whether the function fails with that error."""
    try:
        function(*arguments)
    except pynvml.NVMLError as caught:
        return caught.value == error
    return False


def profiles(gpu, version):
    """Profiles of GPU instances, by their slices."""
    infos = (supported(pynvml.nvmlDeviceGetGpuInstanceProfileInfo, gpu, i, version)
             for i in range(GPU_INSTANCES))
    return {info.sliceCount: info for info in infos if info}


def places(gpu, info):
    """Where GPU instances of a profile can start."""
    array = (pynvml.c_nvmlGpuInstancePlacement_t * info.instanceCount)()
    count = ctypes.c_uint()
    pynvml.nvmlDeviceGetGpuInstancePossiblePlacements(gpu, info.id, array, ctypes.byref(count))
    assert count.value == info.instanceCount
    return [place.start for place in array]


def only_compute_instance(instance):
    """Creates it; returns it and its profile."""
    infos = [supported(pynvml.nvmlGpuInstanceGetComputeInstanceProfileInfo, instance, i, 0)
             for i in range(COMPUTE_INSTANCES)]
    infos = [info for info in infos if info]
    assert len(infos) == 1 and infos[0].instanceCount == 1
    return pynvml.nvmlGpuInstanceCreateComputeInstance(instance, infos[0].id), infos[0]


def main():
    pynvml.nvmlInit()
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
    if supported(pynvml.nvmlDeviceGetMigMode, gpu) is None:
        print('# the GPU cannot be divided')
        return
    assert pynvml.nvmlDeviceSetMigMode(gpu, pynvml.NVML_DEVICE_MIG_ENABLE) == 0
    assert pynvml.nvmlDeviceGetMigMode(gpu) == [1, 1]
    old, new = profiles(gpu, 1), profiles(gpu, 2)
    assert sorted(old) == sorted(new) == [1, 2, 3, 4, 7]
    total = pynvml.nvmlDeviceGetMemoryInfo(gpu).total
    for slices, eighths in ((1, 1), (2, 2), (3, 4), (4, 4), (7, 8)):
        assert old[slices].id == new[slices].id
        assert old[slices].memorySizeMB == new[slices].memorySizeMB == total * eighths >> 23
        assert f'{slices}g' in str(new[slices].name)
    assert places(gpu, new[3]) == [0, 4] and places(gpu, new[2]) == [0, 2, 4]

    place = pynvml.c_nvmlGpuInstancePlacement_t(start=4, size=4)
    instance = pynvml.nvmlDeviceCreateGpuInstanceWithPlacement(gpu, new[3].id,
                                                               ctypes.byref(place))
    info = pynvml.nvmlGpuInstanceGetInfo(instance)
    assert (info.profileId, info.placement.start, info.placement.size) == (new[3].id, 4, 4)
    compute, profile = only_compute_instance(instance)
    assert '3g' in str(profile.name)
    compute_info = pynvml.nvmlComputeInstanceGetInfo(compute)
    assert (compute_info.id, compute_info.placement.size) == (0, 3)

    mig = pynvml.nvmlDeviceGetMigDeviceHandleByIndex(gpu, 0)
    uuid = pynvml.nvmlDeviceGetUUID(mig)
    assert pynvml.nvmlDeviceGetUUID(pynvml.nvmlDeviceGetHandleByUUID(uuid)) == uuid
    assert pynvml.nvmlDeviceIsMigDeviceHandle(mig).value == 1
    assert pynvml.nvmlDeviceGetGpuInstanceId(mig) == info.id
    assert pynvml.nvmlDeviceGetComputeInstanceId(mig) == 0
    assert pynvml.nvmlDeviceGetMemoryInfo(mig).total == total // 2
    attributes = pynvml.nvmlDeviceGetAttributes(mig)
    assert (attributes.gpuInstanceSliceCount, attributes.memorySizeMB) == (3, total >> 21)
    assert (attributes.multiprocessorCount == profile.multiprocessorCount ==
            new[3].multiprocessorCount >= 1)
    assert 'MIG 3g' in pynvml.nvmlDeviceGetName(mig)
    assert fails(pynvml.NVML_ERROR_IN_USE, pynvml.nvmlDeviceSetMigMode, gpu, 0)

    pynvml.nvmlComputeInstanceDestroy(compute)
    pynvml.nvmlGpuInstanceDestroy(instance)
    assert fails(pynvml.NVML_ERROR_INVALID_ARGUMENT, pynvml.nvmlDeviceGetName, mig)
    assert pynvml.nvmlDeviceSetMigMode(gpu, pynvml.NVML_DEVICE_MIG_DISABLE) == 0
    pynvml.nvmlShutdown()


main()
