// SPDX-License-Identifier: GPL-2.0
/*
 * Metadata of vGPUs and GPUs, and whether they go together. There is no migration: a VM can be
 * stopped and started on another GPU, if that one has the type. What is opaque to clients is the
 * GPU's driver and board, of which names of types are made, and the amount of its framebuffer.
 */
#include <stdio.h>
#include <string.h>

#include "internal.h"

#define META_VERSION	1
#define META_REVISION	1

struct meta_opaque {
	char driver[VGPU_ADDR_LEN + 1];
	char board[VGPU_ADDR_LEN + 1];
	char type[VGPU_NAME_LEN + 1];	/* of a vGPU */
	unsigned long long fb_bytes;	/* of the GPU */
};

#define META_VGPU_SIZE	(offsetof(nvmlVgpuMetadata_t, opaqueData) + sizeof(struct meta_opaque))
#define META_PGPU_SIZE	(offsetof(nvmlVgpuPgpuMetadata_t, opaqueData) + sizeof(struct meta_opaque))

static void meta_fill(const struct nvmlDevice_st *device, const struct vgpu_ctl_instance *inst,
		      struct meta_opaque *opaque)
{
	memset(opaque, 0, sizeof(*opaque));
	nv_text(opaque->driver, device->info.driver, sizeof(device->info.driver));
	nv_text(opaque->board, device->info.board, sizeof(device->info.board));
	if (inst)
		nv_text(opaque->type, inst->type_name, sizeof(inst->type_name));
	opaque->fb_bytes = device->info.fb_bytes;
}

/* Is there room for @need bytes? If not, @room tells. */
static nvmlReturn_t meta_room(const void *to, unsigned int *room, size_t need)
{
	bool fits = to && *room >= need;

	*room = (unsigned int)need;
	return fits ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

nvmlReturn_t nvmlVgpuInstanceGetMetadata(nvmlVgpuInstance_t vgpu, nvmlVgpuMetadata_t *meta,
					 unsigned int *size)
{
	char version[VGPU_GUEST_NAME_LEN + 1];
	const struct nvmlDevice_st *device;
	struct vgpu_ctl_instance inst;
	struct meta_opaque opaque;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, size, &inst);

	if (ret)
		return ret;
	device = nv_device_of(inst.gpu);
	if (!device)
		return nv_leave(NVML_ERROR_UNKNOWN);
	ret = meta_room(meta, size, META_VGPU_SIZE);
	if (!ret)
		ret = nv_guest_driver(&inst, version);
	if (ret)
		return nv_leave(ret);
	memset(meta, 0, offsetof(nvmlVgpuMetadata_t, opaqueData));
	meta->version = META_VERSION;
	meta->revision = META_REVISION;
	meta->guestInfoState = *version ? NVML_VGPU_INSTANCE_GUEST_INFO_STATE_INITIALIZED :
					  NVML_VGPU_INSTANCE_GUEST_INFO_STATE_UNINITIALIZED;
	strcpy(meta->guestDriverVersion, version);
	strcpy(meta->hostDriverVersion, nv.driver_version);
	meta->guestVgpuVersion = VGPU_HW_VERSION_CURRENT >> 16;
	meta->opaqueDataSize = sizeof(opaque);
	meta_fill(device, &inst, &opaque);
	memcpy((char *)meta + offsetof(nvmlVgpuMetadata_t, opaqueData), &opaque, sizeof(opaque));
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetVgpuMetadata(nvmlDevice_t device, nvmlVgpuPgpuMetadata_t *meta,
				       unsigned int *size)
{
	nvmlReturn_t ret = nv_enter_host_device(device, size);
	struct meta_opaque opaque;

	if (ret)
		return ret;
	ret = meta_room(meta, size, META_PGPU_SIZE);
	if (ret)
		return nv_leave(ret);
	memset(meta, 0, offsetof(nvmlVgpuPgpuMetadata_t, opaqueData));
	meta->version = META_VERSION;
	meta->revision = META_REVISION;
	strcpy(meta->hostDriverVersion, nv.driver_version);
	meta->hostSupportedVgpuRange.minVersion = VGPU_HW_VERSION_CURRENT >> 16;
	meta->hostSupportedVgpuRange.maxVersion = VGPU_HW_VERSION_CURRENT >> 16;
	meta->opaqueDataSize = sizeof(opaque);
	meta_fill(device, NULL, &opaque);
	memcpy((char *)meta + offsetof(nvmlVgpuPgpuMetadata_t, opaqueData), &opaque,
	       sizeof(opaque));
	return nv_leave(NVML_SUCCESS);
}

static bool meta_same_gpu(const struct meta_opaque *vgpu, const struct meta_opaque *pgpu)
{
	return !memcmp(vgpu->driver, pgpu->driver, sizeof(vgpu->driver)) &&
	       !memcmp(vgpu->board, pgpu->board, sizeof(vgpu->board)) &&
	       vgpu->fb_bytes == pgpu->fb_bytes;
}

nvmlReturn_t nvmlGetVgpuCompatibility(nvmlVgpuMetadata_t *vgpu, nvmlVgpuPgpuMetadata_t *pgpu,
				      nvmlVgpuPgpuCompatibility_t *compatibility)
{
	struct meta_opaque of_vgpu, of_pgpu;
	unsigned int limit = 0;
	nvmlReturn_t ret = nv_enter_host();

	if (ret)
		return ret;
	if (!vgpu || !pgpu || !compatibility || vgpu->version != META_VERSION ||
	    pgpu->version != META_VERSION || vgpu->opaqueDataSize != sizeof(of_vgpu) ||
	    pgpu->opaqueDataSize != sizeof(of_pgpu))
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	memcpy(&of_vgpu, (char *)vgpu + offsetof(nvmlVgpuMetadata_t, opaqueData),
	       sizeof(of_vgpu));
	memcpy(&of_pgpu, (char *)pgpu + offsetof(nvmlVgpuPgpuMetadata_t, opaqueData),
	       sizeof(of_pgpu));
	if (!meta_same_gpu(&of_vgpu, &of_pgpu))
		limit |= NVML_VGPU_COMPATIBILITY_LIMIT_GPU;
	if (vgpu->guestVgpuVersion < pgpu->hostSupportedVgpuRange.minVersion ||
	    vgpu->guestVgpuVersion > pgpu->hostSupportedVgpuRange.maxVersion)
		limit |= NVML_VGPU_COMPATIBILITY_LIMIT_HOST_DRIVER;
	compatibility->vgpuVmCompatibility = limit ? NVML_VGPU_VM_COMPATIBILITY_NONE :
					     NVML_VGPU_VM_COMPATIBILITY_COLD;
	compatibility->compatibilityLimitCode = (nvmlVgpuPgpuCompatibilityLimitCode_t)limit;
	return nv_leave(NVML_SUCCESS);
}

/* Two GPUs with the same text take each other's vGPUs. */
nvmlReturn_t nvmlDeviceGetPgpuMetadataString(nvmlDevice_t device, char *text, unsigned int *size)
{
	nvmlReturn_t ret = nv_enter_host_device(device, size);
	struct meta_opaque opaque;
	char buf[128];

	if (ret)
		return ret;
	meta_fill(device, NULL, &opaque);
	snprintf(buf, sizeof(buf), "%s:%s:%llu:%u", opaque.driver, opaque.board, opaque.fb_bytes,
		 VGPU_HW_VERSION_CURRENT >> 16);
	return nv_leave(nv_put_text_size(text, size, buf));
}
