// SPDX-License-Identifier: GPL-2.0
/* How calls about a GPU begin: with the lock, and a handle that is one. */
#include "mig.h"

nvmlReturn_t nv_enter_device(nvmlDevice_t device, const void *out)
{
	nvmlReturn_t ret = nv_enter();

	if (ret)
		return ret;
	if (!out)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	if (nv_device_at(device))
		return NVML_SUCCESS;
	ret = nv_mig_device(device);
	return nv_leave(ret ? ret : NVML_ERROR_NOT_SUPPORTED);
}

nvmlReturn_t nv_enter_host_device(nvmlDevice_t device, const void *out)
{
	nvmlReturn_t ret = nv_enter_device(device, out);

	return ret || nv.source->is_host ? ret : nv_leave(NVML_ERROR_NOT_SUPPORTED);
}

nvmlReturn_t nv_enter_divided(nvmlDevice_t device, const void *out)
{
	nvmlReturn_t ret = nv_enter_host_device(device, out);
	bool divided;

	if (ret)
		return ret;
	ret = nv_node_divided(device->info.gpu, &divided);
	if (!ret && !divided)
		ret = NVML_ERROR_NOT_SUPPORTED;
	return ret ? nv_leave(ret) : ret;
}
