// SPDX-License-Identifier: GPL-2.0
/* Types: those of a GPU, and their properties. */
#include <string.h>

#include "mig.h"

nvmlReturn_t nvmlDeviceGetSupportedVgpus(nvmlDevice_t device, unsigned int *count,
					 nvmlVgpuTypeId_t *types)
{
	nvmlReturn_t ret = nv_enter_host_device(device, count);
	unsigned int i;

	if (ret)
		return ret;
	ret = nv_put_count(types, count, device->types);
	for (i = 0; !ret && i < device->types; i++)
		types[i] = device->type[i]->id;
	return nv_leave(ret);
}

static nvmlReturn_t type_creatable(const struct nvmlDevice_st *device, unsigned int *count,
				   nvmlVgpuTypeId_t *types)
{
	struct vgpu_ctl_type info;
	unsigned int i, nr = 0;
	nvmlReturn_t ret;

	for (i = 0; i < device->types; i++) {
		ret = nv_node_type(device->info.gpu, i, &info);
		if (ret)
			return ret;
		if (!info.available)
			continue;
		if (types && nr < *count)
			types[nr] = device->type[i]->id;
		nr++;
	}
	return nv_put_count(types, count, nr);
}

nvmlReturn_t nvmlDeviceGetCreatableVgpus(nvmlDevice_t device, unsigned int *count,
					 nvmlVgpuTypeId_t *types)
{
	nvmlReturn_t ret = nv_enter_host_device(device, count);

	return ret ? ret : nv_leave(type_creatable(device, count, types));
}

nvmlReturn_t nvmlVgpuTypeGetClass(nvmlVgpuTypeId_t id, char *name, unsigned int *size)
{
	static const char * const classes[][2] = {
		{ "vWS", "Workstation" }, { "vPC", "Desktop" }, { "vApps", "Applications" },
		{ "vCS", "Compute" },
	};
	char edition[VGPU_NAME_LEN + 1];
	const char *text = edition;
	struct nv_type *type;
	unsigned int i;
	nvmlReturn_t ret = nv_enter_type(id, size, &type);

	if (ret)
		return ret;
	nv_text(edition, type->info.edition, sizeof(type->info.edition));
	for (i = 0; i < NV_ARRAY_SIZE(classes); i++)
		if (!strcmp(edition, classes[i][0]))
			text = classes[i][1];
	return nv_leave(nv_put_text_size(name, size, text));
}

nvmlReturn_t nvmlVgpuTypeGetName(nvmlVgpuTypeId_t id, char *name, unsigned int *size)
{
	char text[VGPU_NAME_LEN + 1];
	struct nv_type *type;
	nvmlReturn_t ret = nv_enter_type(id, size, &type);

	if (ret)
		return ret;
	nv_text(text, type->info.name, sizeof(type->info.name));
	return nv_leave(nv_put_text_size(name, size, text));
}

/* None is asked for; the text is the edition whose licence vendors would ask for. */
nvmlReturn_t nvmlVgpuTypeGetLicense(nvmlVgpuTypeId_t id, char *license, unsigned int size)
{
	char text[VGPU_NAME_LEN + 1];
	struct nv_type *type;
	nvmlReturn_t ret = nv_enter_type(id, license, &type);

	if (ret)
		return ret;
	nv_text(text, type->info.edition, sizeof(type->info.edition));
	return nv_leave(nv_put_text(license, size, text));
}

static nvmlReturn_t type_get_zero(nvmlVgpuTypeId_t id, unsigned long long *out)
{
	struct nv_type *type;
	nvmlReturn_t ret = nv_enter_type(id, out, &type);

	if (ret)
		return ret;
	*out = 0;
	return nv_leave(NVML_SUCCESS);
}

/* There is no firmware that needs memory, and a vGPU's framebuffer is all its own. */
nvmlReturn_t nvmlVgpuTypeGetGspHeapSize(nvmlVgpuTypeId_t id, unsigned long long *bytes)
{
	return type_get_zero(id, bytes);
}

nvmlReturn_t nvmlVgpuTypeGetFbReservation(nvmlVgpuTypeId_t id, unsigned long long *bytes)
{
	return type_get_zero(id, bytes);
}

nvmlReturn_t nvmlVgpuTypeGetFramebufferSize(nvmlVgpuTypeId_t id, unsigned long long *bytes)
{
	struct nv_type *type;
	nvmlReturn_t ret = nv_enter_type(id, bytes, &type);

	if (ret)
		return ret;
	*bytes = type->info.fb_bytes;
	return nv_leave(NVML_SUCCESS);
}

/* Of the function that a VM sees, unless the vGPU is set to be a VGA card. */
nvmlReturn_t nvmlVgpuTypeGetDeviceID(nvmlVgpuTypeId_t id, unsigned long long *device_id,
				     unsigned long long *subsystem_id)
{
	struct nv_type *type;
	nvmlReturn_t ret = nv_enter_type(id, device_id, &type);

	if (ret)
		return ret;
	if (!subsystem_id)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	*device_id = VGPU_HW_DEVICE_ID << 16 | VGPU_HW_VENDOR_ID;
	*subsystem_id = *device_id;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlVgpuTypeGetNumDisplayHeads(nvmlVgpuTypeId_t id, unsigned int *heads)
{
	struct nv_type *type;
	nvmlReturn_t ret = nv_enter_type(id, heads, &type);

	if (ret)
		return ret;
	*heads = type->info.num_heads;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlVgpuTypeGetResolution(nvmlVgpuTypeId_t id, unsigned int display, unsigned int *x,
				       unsigned int *y)
{
	struct nv_type *type;
	nvmlReturn_t ret = nv_enter_type(id, x, &type);

	if (ret)
		return ret;
	if (!y || display >= type->info.num_heads)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	*x = type->info.max_width;
	*y = type->info.max_height;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlVgpuTypeGetFrameRateLimit(nvmlVgpuTypeId_t id, unsigned int *fps)
{
	struct nv_type *type;
	nvmlReturn_t ret = nv_enter_type(id, fps, &type);

	if (ret)
		return ret;
	if (!type->info.frl_fps)
		return nv_leave(NVML_ERROR_NOT_SUPPORTED);
	*fps = type->info.frl_fps;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlVgpuTypeGetMaxInstances(nvmlDevice_t device, nvmlVgpuTypeId_t id,
					 unsigned int *max_instances)
{
	nvmlReturn_t ret = nv_enter_host_device(device, max_instances);
	struct vgpu_ctl_type info;

	if (ret)
		return ret;
	ret = nv_device_type(device, id, &info);
	if (!ret)
		*max_instances = info.max_instances;
	return nv_leave(ret);
}

/* A VM can have as many as the host: they are devices of their own. */
nvmlReturn_t nvmlVgpuTypeGetMaxInstancesPerVm(nvmlVgpuTypeId_t id, unsigned int *max_instances)
{
	struct nv_type *type;
	nvmlReturn_t ret = nv_enter_type(id, max_instances, &type);

	if (ret)
		return ret;
	*max_instances = type->info.max_instances;
	return nv_leave(NVML_SUCCESS);
}

/* The window that the framebuffer is mapped by: its size, up to a power of two. */
nvmlReturn_t nvmlVgpuTypeGetBAR1Info(nvmlVgpuTypeId_t id, nvmlVgpuTypeBar1Info_t *info)
{
	unsigned long long mib = 1;
	struct nv_type *type;
	nvmlReturn_t ret = nv_enter_type(id, info, &type);

	if (ret)
		return ret;
	if (info->version != NVML_STRUCT_VERSION(VgpuTypeBar1Info, 1))
		return nv_leave(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	while (mib << 20 < type->info.fb_bytes)
		mib <<= 1;
	info->bar1Size = mib;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlVgpuTypeGetCapabilities(nvmlVgpuTypeId_t id, nvmlVgpuCapability_t capability,
					 unsigned int *result)
{
	struct nv_type *type;
	nvmlReturn_t ret = nv_enter_type(id, result, &type);
	unsigned int i, k;

	if (ret)
		return ret;
	if ((unsigned int)capability >= NVML_VGPU_CAP_COUNT)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	*result = 0;
	/* Where a GPU is set to vGPUs of one size, a vGPU keeps those of others away. */
	for (i = 0; capability == NVML_VGPU_CAP_EXCLUSIVE_SIZE && i < nv.devices; i++)
		for (k = 0; k < nv.device[i].types; k++)
			if (nv.device[i].type[k] == type &&
			    nv.device[i].info.placement == VGPU_PLACEMENT_HOMOGENEOUS)
				*result = 1;
	return nv_leave(NVML_SUCCESS);
}

/* A type is of the whole GPU, or of GPU instances of one profile. */
nvmlReturn_t nvmlVgpuTypeGetGpuInstanceProfileId(nvmlVgpuTypeId_t id, unsigned int *profile)
{
	struct nv_type *type;
	nvmlReturn_t ret = nv_enter_type(id, profile, &type);

	if (ret)
		return ret;
	*profile = nv_profile_number(type->info.slices);
	return nv_leave(NVML_SUCCESS);
}
