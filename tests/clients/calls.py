# SPDX-License-Identifier: GPL-2.0
"""All that Debian's python3-pynvml knows of vGPUs, called once, with what each call is to return."""
import ctypes

import pynvml

Error = pynvml.NVMLError

# Names of functions about vGPUs in the module.
ABOUT = ('Vgpu', 'Grid', 'Virtualization')


def begin():
    pynvml.nvmlInit()


def end():
    pynvml.nvmlShutdown()


def is_text(value):
    return isinstance(value, (str, bytes)) and bool(value)


def is_number(value):
    return isinstance(value, int)


def is_list(value):
    return len(value) > 0


def is_there(value):
    return value is not None


def is_done(value):
    return value in (None, pynvml.NVML_SUCCESS)


def no(error):
    """The call is to fail by that error."""
    return error


UNSUPPORTED = no(pynvml.NVML_ERROR_NOT_SUPPORTED)


def of_gpu(gpu, kind):
    """(function, arguments, what is right) for a GPU and one of its types."""
    capability = pynvml.NVML_DEVICE_VGPU_CAP_FRACTIONAL_MULTI_VGPU
    host = pynvml.NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU
    return [
        ('nvmlDeviceGetActiveVgpus', (gpu,), lambda got: len(got) == 2),
        ('nvmlDeviceGetCreatableVgpus', (gpu,), is_list),
        ('nvmlDeviceGetSupportedVgpus', (gpu,), is_list),
        ('nvmlDeviceGetGridLicensableFeatures', (gpu,), is_there),
        ('nvmlDeviceGetGridLicensableFeatures_v4', (gpu,), is_there),
        ('nvmlDeviceGetHostVgpuMode', (gpu,),
         lambda got: got == pynvml.NVML_HOST_VGPU_MODE_NON_SRIOV),
        ('nvmlDeviceGetVirtualizationMode', (gpu,), lambda got: got == host),
        ('nvmlDeviceSetVirtualizationMode', (gpu, host), is_done),
        ('nvmlDeviceGetVgpuCapabilities', (gpu, capability), lambda got: got == 1),
        ('nvmlDeviceSetVgpuCapabilities', (gpu, capability, 1), UNSUPPORTED),
        ('nvmlDeviceGetVgpuHeterogeneousMode', (gpu,), lambda got: got == 1),
        ('nvmlDeviceSetVgpuHeterogeneousMode', (gpu, 0), UNSUPPORTED),
        ('nvmlDeviceGetVgpuInstancesUtilizationInfo', (gpu, 0), is_list),
        ('nvmlDeviceGetVgpuUtilization', (gpu, 0), is_list),
        ('nvmlDeviceGetVgpuProcessUtilization', (gpu, 0), is_list),
        ('nvmlDeviceGetVgpuProcessesUtilizationInfo', (gpu, 0), is_list),
        ('nvmlDeviceGetVgpuMetadata', (gpu,), is_there),
        ('nvmlDeviceGetVgpuSchedulerCapabilities', (gpu,),
         lambda got: got.minTimeslice < got.maxTimeslice),
        ('nvmlDeviceGetVgpuSchedulerLog', (gpu,), lambda got: got.entriesCount > 0),
        # qos has no number there.
        ('nvmlDeviceGetVgpuSchedulerState', (gpu,), lambda got: got.schedulerPolicy == 0),
        ('nvmlDeviceSetVgpuSchedulerState',
         (gpu, pynvml.c_nvmlVgpuSchedulerSetState_t(schedulerPolicy=99)),
         no(pynvml.NVML_ERROR_INVALID_ARGUMENT)),
        ('nvmlDeviceGetVgpuTypeCreatablePlacements', (gpu, kind), is_there),
        ('nvmlDeviceGetVgpuTypeSupportedPlacements', (gpu, kind), lambda got: got.count > 0),
    ]


def of_driver(gpu, vgpu):
    """The same for the driver, and for what a vGPU and a GPU say of themselves."""
    supported, current = pynvml.c_nvmlVgpuVersion_t(), pynvml.c_nvmlVgpuVersion_t()
    return [
        ('nvmlGetVgpuCompatibility', (pynvml.nvmlVgpuInstanceGetMetadata(vgpu),
                                      pynvml.nvmlDeviceGetVgpuMetadata(gpu)), is_there),
        ('nvmlGetVgpuDriverCapabilities',
         (pynvml.NVML_VGPU_DRIVER_CAP_HETEROGENEOUS_MULTI_VGPU,), lambda got: got == 1),
        ('nvmlGetVgpuVersion', (supported, current), is_done),
        # Filled in by the call before.
        ('nvmlSetVgpuVersion', (current,), is_done),
    ]


def of_vgpu(vgpu):
    """The same for a vGPU."""
    return [
        ('nvmlVgpuInstanceGetAccountingMode', (vgpu,), lambda got: got == 1),
        ('nvmlVgpuInstanceGetAccountingPids', (vgpu,), lambda got: got[0].value == 1),
        ('nvmlVgpuInstanceGetAccountingStats',
         (vgpu, pynvml.nvmlVgpuInstanceGetAccountingPids(vgpu)[1][0]), lambda got: got.isRunning),
        ('nvmlVgpuInstanceClearAccountingPids', (vgpu,), UNSUPPORTED),
        ('nvmlVgpuInstanceGetEccMode', (vgpu,), lambda got: got == 0),
        ('nvmlVgpuInstanceGetEncoderCapacity', (vgpu,), UNSUPPORTED),
        ('nvmlVgpuInstanceSetEncoderCapacity', (ctypes.c_uint(vgpu), 100), UNSUPPORTED),
        ('nvmlVgpuInstanceGetEncoderSessions', (vgpu,), UNSUPPORTED),
        ('nvmlVgpuInstanceGetEncoderStats', (vgpu,), UNSUPPORTED),
        ('nvmlVgpuInstanceGetFBCSessions', (vgpu,), lambda got: len(got) == 0),
        ('nvmlVgpuInstanceGetFBCStats', (vgpu,), lambda got: got.sessionsCount == 0),
        ('nvmlVgpuInstanceGetFbUsage', (vgpu,), lambda got: got > 0),
        # Under qos frames are not limited.
        ('nvmlVgpuInstanceGetFrameRateLimit', (vgpu,), UNSUPPORTED),
        ('nvmlVgpuInstanceGetGpuInstanceId', (vgpu,), is_number),
        ('nvmlVgpuInstanceGetGpuPciId', (vgpu,), is_text),
        ('nvmlVgpuInstanceGetLicenseInfo', (vgpu,), lambda got: not got.isLicensed),
        ('nvmlVgpuInstanceGetLicenseInfo_v2', (vgpu,), lambda got: not got.isLicensed),
        ('nvmlVgpuInstanceGetLicenseStatus', (vgpu,), lambda got: got == 0),
        ('nvmlVgpuInstanceGetMdevUUID', (vgpu,), is_text),
        ('nvmlVgpuInstanceGetMetadata', (vgpu,), is_there),
        ('nvmlVgpuInstanceGetPlacementId', (vgpu,), is_number),
        ('nvmlVgpuInstanceGetType', (vgpu,), is_number),
        ('nvmlVgpuInstanceGetUUID', (vgpu,), is_text),
        ('nvmlVgpuInstanceGetVmDriverVersion', (vgpu,), is_text),
        ('nvmlVgpuInstanceGetVmID', (vgpu,), is_there),
    ]


def of_type(gpu, kind):
    """The same for a type."""
    return [
        ('nvmlVgpuTypeGetCapabilities', (kind, 0), is_number),
        ('nvmlVgpuTypeGetClass', (kind,), is_text),
        ('nvmlVgpuTypeGetDeviceID', (kind,), is_there),
        ('nvmlVgpuTypeGetFbReservation', (kind,), is_number),
        ('nvmlVgpuTypeGetFrameRateLimit', (kind,), is_number),
        ('nvmlVgpuTypeGetFramebufferSize', (kind,), lambda got: got > 0),
        ('nvmlVgpuTypeGetGpuInstanceProfileId', (kind,), is_number),
        ('nvmlVgpuTypeGetGspHeapSize', (kind,), is_number),
        ('nvmlVgpuTypeGetLicense', (kind,), is_there),
        ('nvmlVgpuTypeGetMaxInstances', (gpu, kind), lambda got: got > 0),
        ('nvmlVgpuTypeGetMaxInstancesPerVm', (kind,), lambda got: got > 0),
        ('nvmlVgpuTypeGetName', (kind,), is_text),
        ('nvmlVgpuTypeGetNumDisplayHeads', (kind,), is_number),
        ('nvmlVgpuTypeGetResolution', (kind,), is_there),
    ]


def judge(name, arguments, right):
    """What is wrong with what the call returns, or None."""
    try:
        got = getattr(pynvml, name)(*arguments)
    except Error as error:
        if not callable(right) and error.value == right:
            return None
        return f'{name}: {error}'
    # One setter hands on the error instead of raising it.
    if not callable(right):
        return None if got == right else f'{name}: {got!r}, not error {right}'
    return None if right(got) else f'{name}: {got!r}'


def samples(begin_us, end_us):
    """By vGPU's UUID, the samples that end in the interval of the clock's microseconds."""
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
    names = {vgpu: pynvml.nvmlVgpuInstanceGetUUID(vgpu)
             for vgpu in pynvml.nvmlDeviceGetActiveVgpus(gpu)}
    found = {uuid: [] for uuid in names.values()}
    for sample in pynvml.nvmlDeviceGetVgpuUtilization(gpu, 0):
        if begin_us <= sample.timeStamp <= end_us:
            found[names[sample.vgpuInstance]].append(sample)
    return found


def run():
    """Calls everything; what is wrong, a line each."""
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
    kind = pynvml.nvmlDeviceGetSupportedVgpus(gpu)[0]
    vgpu = pynvml.nvmlDeviceGetActiveVgpus(gpu)[0]
    table = [*of_gpu(gpu, kind), *of_driver(gpu, vgpu), *of_vgpu(vgpu), *of_type(gpu, kind)]
    wrong = [text for text in (judge(*row) for row in table) if text]
    known = {name for name in dir(pynvml)
             if name.startswith('nvml') and any(word in name for word in ABOUT)}
    called = {name for name, _, _ in table}
    wrong += [f'{name} is not called' for name in sorted(known - called)]
    print(f'# {len(called)} functions called', flush=True)
    return wrong
