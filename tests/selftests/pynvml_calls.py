#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""pynvml_calls.py UUID PID: looks by pynvml at the only vGPU, which is busy in that process.

Calls every function of pynvml that needs no more than a GPU, a type or a vGPU. Each must give a
result or be NOT_SUPPORTED, and those that are listed here must have a result: by their structures
pynvml sees our layouts from outside.
"""
import inspect
import sys
import time

import pynvml

# What changes something, or takes a handle that is made from other arguments.
LEFT_OUT = ('Set', 'Init', 'Shutdown', 'Reset', 'Remove', 'Clear', 'Destroy', 'Create', 'Freeze',
            'Discover', 'Modify', 'HandleBy', 'Exception')
MUST = '''
    DeviceGetAccountingBufferSize DeviceGetAccountingMode DeviceGetAccountingPids
    DeviceGetAccountingStats DeviceGetActiveVgpus DeviceGetComputeRunningProcesses
    DeviceGetCreatableVgpus DeviceGetFBCSessions DeviceGetFBCStats
    DeviceGetGraphicsRunningProcesses DeviceGetGridLicensableFeatures DeviceGetHostVgpuMode
    DeviceGetIndex DeviceGetMaxMigDeviceCount DeviceGetMinorNumber DeviceGetName
    DeviceGetPciInfo DeviceIsMigDeviceHandle
    DeviceGetProcessUtilization DeviceGetSupportedVgpus DeviceGetUUID DeviceGetUtilizationRates
    DeviceGetVgpuCapabilities DeviceGetVgpuHeterogeneousMode
    DeviceGetVgpuInstancesUtilizationInfo DeviceGetVgpuMetadata DeviceGetVgpuProcessUtilization
    DeviceGetVgpuProcessesUtilizationInfo DeviceGetVgpuSchedulerCapabilities
    DeviceGetVgpuSchedulerLog DeviceGetVgpuSchedulerState DeviceGetVgpuTypeCreatablePlacements
    DeviceGetVgpuTypeSupportedPlacements DeviceGetVgpuUtilization DeviceGetVirtualizationMode
    GetVgpuDriverCapabilities SystemGetDriverVersion SystemGetNVMLVersion SystemGetProcessName
    VgpuInstanceGetAccountingMode VgpuInstanceGetAccountingPids VgpuInstanceGetAccountingStats
    VgpuInstanceGetEccMode VgpuInstanceGetFBCSessions VgpuInstanceGetFBCStats
    VgpuInstanceGetFbUsage VgpuInstanceGetFrameRateLimit VgpuInstanceGetGpuInstanceId
    VgpuInstanceGetGpuPciId VgpuInstanceGetLicenseInfo VgpuInstanceGetLicenseStatus
    VgpuInstanceGetMdevUUID VgpuInstanceGetMetadata VgpuInstanceGetPlacementId
    VgpuInstanceGetType VgpuInstanceGetUUID VgpuInstanceGetVmDriverVersion VgpuInstanceGetVmID
    VgpuTypeGetCapabilities VgpuTypeGetClass VgpuTypeGetDeviceID VgpuTypeGetFbReservation
    VgpuTypeGetFrameRateLimit VgpuTypeGetFramebufferSize VgpuTypeGetGspHeapSize
    VgpuTypeGetLicense VgpuTypeGetMaxInstances VgpuTypeGetMaxInstancesPerVm VgpuTypeGetName
    VgpuTypeGetNumDisplayHeads VgpuTypeGetResolution'''.split()


def call_all(known):
    """Calls all functions whose arguments are known; returns their results by name."""
    results = {}
    for name, function in sorted(vars(pynvml).items()):
        if not (name.startswith('nvml') and inspect.isfunction(function)):
            continue
        arguments = list(inspect.signature(function).parameters)
        if any(word in name for word in LEFT_OUT) or not set(arguments) <= known.keys():
            continue
        if not arguments and not name.startswith('nvmlSystem'):
            continue
        try:
            results[name[4:]] = function(*(known[argument] for argument in arguments))
        except pynvml.NVMLError as error:
            if error.value != pynvml.NVML_ERROR_NOT_SUPPORTED:
                sys.exit(f'{name}: {error}')
    return results


def has_worked(gpu):
    """Whether there are more runs than the log keeps, and a sample in which the vGPU was busy."""
    try:
        return (pynvml.nvmlDeviceGetVgpuSchedulerLog(gpu).entriesCount == 200 and
                any(s.smUtil.uiVal for s in pynvml.nvmlDeviceGetVgpuUtilization(gpu, 0)))
    except pynvml.NVMLError:
        return False


def main():
    uuid, pid = sys.argv[1], int(sys.argv[2])
    pynvml.nvmlInit()
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
    vgpus = pynvml.nvmlDeviceGetActiveVgpus(gpu)
    assert len(vgpus) == 1, vgpus
    kind = pynvml.nvmlVgpuInstanceGetType(vgpus[0])
    end = time.monotonic() + 60
    while not has_worked(gpu) and time.monotonic() < end:
        time.sleep(0.1)
    results = call_all({
        'handle': gpu, 'device': gpu, 'vgpuInstance': vgpus[0], 'vgpuTypeId': kind, 'pid': pid,
        'timeStamp': 0, 'capability': 0, 'displayIndex': 0, 'display_index': 0})
    missing = [name for name in MUST if name not in results]
    assert not missing, missing
    print(f'# {len(results)} functions have a result')

    for version in (None, pynvml.nvmlMemory_v2):
        memory = pynvml.nvmlDeviceGetMemoryInfo(gpu, version)
        assert memory.used == 4 << 30 and memory.free + memory.used == memory.total, memory
    assert results['VgpuInstanceGetUUID'] == uuid
    assert kind in results['DeviceGetSupportedVgpus']
    assert results['VgpuInstanceGetVmID'][0] == str(pid).encode()
    assert results['DeviceGetVirtualizationMode'] == 3
    assert [p.pid for p in results['DeviceGetGraphicsRunningProcesses']] == [pid]
    assert results['VgpuInstanceGetFbUsage'] > 0
    samples = results['DeviceGetVgpuUtilization']
    assert {s.vgpuInstance for s in samples} == {vgpus[0]}
    assert max(s.smUtil.uiVal for s in samples) > 0
    assert all(a.timeStamp < b.timeStamp for a, b in zip(samples, samples[1:]))
    of_process = results['DeviceGetVgpuProcessUtilization']
    assert {(s.pid, s.processName) for s in of_process} == {(pid, 'busy')}
    assert results['VgpuInstanceGetVmDriverVersion'] == '0.1.0'
    log = results['DeviceGetVgpuSchedulerLog']
    assert log.entriesCount == 200 and log.logEntries[0].swRunlistId == vgpus[0]
    fit = pynvml.nvmlGetVgpuCompatibility(results['VgpuInstanceGetMetadata'],
                                          results['DeviceGetVgpuMetadata'])
    # COLD, HIBERNATE, SLEEP and LIVE
    assert (fit.vgpuVmCompatibility, fit.compatibilityLimitCode) == (15, 0), fit
    state = pynvml.c_nvmlVgpuSchedulerSetState_t(schedulerPolicy=2, enableARRMode=1)
    state.schedulerParams.vgpuSchedData.timeslice = 3000000
    pynvml.nvmlDeviceSetVgpuSchedulerState(gpu, state)
    assert pynvml.nvmlDeviceGetVgpuSchedulerState(gpu).schedulerPolicy == 2
    pynvml.nvmlShutdown()


main()
