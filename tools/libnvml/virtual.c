// SPDX-License-Identifier: GPL-2.0
/* Virtualization: modes, capabilities, versions of the guest's interface, licences. */
#include <string.h>

#include "internal.h"

nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t device, nvmlGpuVirtualizationMode_t *mode)
{
	nvmlReturn_t ret = nv_enter_device(device, mode);

	if (ret)
		return ret;
	*mode = nv.source->mode;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceSetVirtualizationMode(nvmlDevice_t device, nvmlGpuVirtualizationMode_t mode)
{
	nvmlReturn_t ret = nv_enter_device(device, &mode);

	if (ret)
		return ret;
	if ((unsigned int)mode > NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	return nv_leave(mode == nv.source->mode ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED);
}

nvmlReturn_t nvmlDeviceGetHostVgpuMode(nvmlDevice_t device, nvmlHostVgpuMode_t *mode)
{
	nvmlReturn_t ret = nv_enter_host_device(device, mode);

	if (ret)
		return ret;
	*mode = NVML_HOST_VGPU_MODE_NON_SRIOV;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlGetVgpuDriverCapabilities(nvmlVgpuDriverCapability_t capability,
					   unsigned int *result)
{
	nvmlReturn_t ret = nv_enter_host();

	if (ret)
		return ret;
	if (!result || (unsigned int)capability >= NVML_VGPU_DRIVER_CAP_COUNT)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	*result = capability == NVML_VGPU_DRIVER_CAP_HETEROGENEOUS_MULTI_VGPU;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetVgpuCapabilities(nvmlDevice_t device,
					   nvmlDeviceVgpuCapability_t capability,
					   unsigned int *result)
{
	nvmlReturn_t ret = nv_enter_host_device(device, result);

	if (ret)
		return ret;
	if ((unsigned int)capability >= NVML_DEVICE_VGPU_CAP_COUNT)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	switch (capability) {
	case NVML_DEVICE_VGPU_CAP_READ_DEVICE_BUFFER_BW:
	case NVML_DEVICE_VGPU_CAP_WRITE_DEVICE_BUFFER_BW:
		return nv_leave(NVML_ERROR_NOT_SUPPORTED);
	case NVML_DEVICE_VGPU_CAP_FRACTIONAL_MULTI_VGPU:
	case NVML_DEVICE_VGPU_CAP_HETEROGENEOUS_TIMESLICE_PROFILES:
		*result = 1;
		break;
	case NVML_DEVICE_VGPU_CAP_HETEROGENEOUS_TIMESLICE_SIZES:
		*result = device->info.placement == VGPU_PLACEMENT_MIXED;
		break;
	case NVML_DEVICE_VGPU_CAP_HOMOGENEOUS_PLACEMENTS:
		*result = device->info.placement == VGPU_PLACEMENT_HOMOGENEOUS;
		break;
	/* vGPUs of a partition are always on its engines in turns. */
	case NVML_DEVICE_VGPU_CAP_MIG_TIMESLICING_SUPPORTED:
	case NVML_DEVICE_VGPU_CAP_MIG_TIMESLICING_ENABLED:
		*result = !!device->info.profiles;
		break;
	default:
		*result = 0;
	}
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceSetVgpuCapabilities(nvmlDevice_t device,
					   nvmlDeviceVgpuCapability_t capability,
					   nvmlEnableState_t state)
{
	nvmlReturn_t ret = nv_enter_host_device(device, &capability);

	if (ret)
		return ret;
	if ((unsigned int)capability >= NVML_DEVICE_VGPU_CAP_COUNT ||
	    (unsigned int)state > NVML_FEATURE_ENABLED)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	return nv_leave(NVML_ERROR_NOT_SUPPORTED);
}

/* There is one version of what a guest sees, vgpu_hw.h, whose major number counts. */
nvmlReturn_t nvmlGetVgpuVersion(nvmlVgpuVersion_t *supported, nvmlVgpuVersion_t *current)
{
	nvmlReturn_t ret = nv_enter_host();

	if (ret)
		return ret;
	if (!supported || !current)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	supported->minVersion = VGPU_HW_VERSION_CURRENT >> 16;
	supported->maxVersion = VGPU_HW_VERSION_CURRENT >> 16;
	*current = *supported;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlSetVgpuVersion(nvmlVgpuVersion_t *version)
{
	nvmlReturn_t ret = nv_enter_host();

	if (ret)
		return ret;
	if (!version || version->minVersion != VGPU_HW_VERSION_CURRENT >> 16 ||
	    version->maxVersion != VGPU_HW_VERSION_CURRENT >> 16)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	return nv_leave(NVML_SUCCESS);
}

/* Nothing here needs a licence. */
nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v4(nvmlDevice_t device,
						    nvmlGridLicensableFeatures_t *features)
{
	nvmlReturn_t ret = nv_enter_device(device, features);

	if (ret)
		return ret;
	memset(features, 0, sizeof(*features));
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlVgpuInstanceGetLicenseStatus(nvmlVgpuInstance_t vgpu, unsigned int *licensed)
{
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, licensed, &inst);

	if (ret)
		return ret;
	*licensed = 0;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlVgpuInstanceGetLicenseInfo_v2(nvmlVgpuInstance_t vgpu, nvmlVgpuLicenseInfo_t *info)
{
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, info, &inst);

	if (ret)
		return ret;
	memset(info, 0, sizeof(*info));
	info->licenseExpiry.status = NVML_GRID_LICENSE_EXPIRY_NOT_APPLICABLE;
	info->currentState = NVML_GRID_LICENSE_STATE_UNLICENSED_UNRESTRICTED;
	return nv_leave(NVML_SUCCESS);
}
