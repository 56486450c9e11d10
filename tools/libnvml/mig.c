// SPDX-License-Identifier: GPL-2.0
/*
 * MIG: the mode, and MIG devices. The driver changes the mode at once, or refuses, so none is ever
 * pending.
 */
#include <stdio.h>
#include <string.h>

#include "mig.h"

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *current, unsigned int *pending)
{
	nvmlReturn_t ret = nv_enter_host_device(device, current);
	bool divided;

	if (ret)
		return ret;
	if (!pending)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	ret = nv_node_divided(device->info.gpu, &divided);
	if (ret)
		return nv_leave(ret);
	if (!device->info.profiles)
		return nv_leave(NVML_ERROR_NOT_SUPPORTED);
	*current = divided ? NVML_DEVICE_MIG_ENABLE : NVML_DEVICE_MIG_DISABLE;
	*pending = *current;
	return nv_leave(NVML_SUCCESS);
}

/*
 * Some clients look at what is returned, and some at the activation. Nothing is pending after a
 * refusal, so both tell it.
 */
nvmlReturn_t nvmlDeviceSetMigMode(nvmlDevice_t device, unsigned int mode, nvmlReturn_t *activation)
{
	nvmlReturn_t ret = nv_enter_host_device(device, activation);
	struct vgpu_ctl_partition_set_mode call = { .size = sizeof(call) };

	if (ret)
		return ret;
	if (mode > NVML_DEVICE_MIG_ENABLE)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	call.gpu = device->info.gpu;
	call.mode = mode == NVML_DEVICE_MIG_ENABLE ? VGPU_PARTITION_MODE_ON :
						     VGPU_PARTITION_MODE_OFF;
	*activation = nv_node_call(VGPU_IOC_PARTITION_MODE, &call);
	return nv_leave(*activation);
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t handle, unsigned int *is_mig)
{
	struct nvmlDevice_st *device;
	const struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_any(handle, is_mig, &device, &mig);

	if (ret)
		return ret;
	*is_mig = !!mig;
	return nv_leave(NVML_SUCCESS);
}

/* As many as there are instances of the profile that there can be most of. */
static nvmlReturn_t mig_most(const struct nvmlDevice_st *device, unsigned int *count)
{
	struct vgpu_ctl_profile profile;
	nvmlReturn_t ret;
	uint32_t i;

	*count = 0;
	for (i = 0; i < device->info.profiles; i++) {
		ret = nv_node_profile(device->info.gpu, i, &profile);
		if (ret)
			return ret;
		if (profile.fb_bytes && nv_profile_most(&profile) > *count)
			*count = nv_profile_most(&profile);
	}
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int *count)
{
	nvmlReturn_t ret = nv_enter_device(device, count);
	bool divided;

	if (ret)
		return ret;
	*count = 0;
	if (!device->info.profiles)
		return nv_leave(NVML_SUCCESS);
	ret = nv_node_divided(device->info.gpu, &divided);
	if (divided)
		ret = mig_most(device, count);
	return nv_leave(ret);
}

/* Of the MIG devices that there are, in the order of their places. */
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index,
						 nvmlDevice_t *mig_device)
{
	nvmlReturn_t ret = nv_enter_divided(device, mig_device);
	unsigned int i;

	if (ret)
		return ret;
	ret = nv_migs_read(device);
	if (ret)
		return nv_leave(ret);
	for (i = 0; i < device->migs.nr; i++) {
		const struct nv_mig *mig = &device->migs.mig[i];

		if (mig->state == NV_CI_DESTROYED || index--)
			continue;
		*mig_device = nv_mig_handle(mig);
		return nv_leave(NVML_SUCCESS);
	}
	return nv_leave(NVML_ERROR_NOT_FOUND);
}

nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t mig_device,
							  nvmlDevice_t *device)
{
	const struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_mig(mig_device, device, NVML_ERROR_INVALID_ARGUMENT, &mig);

	if (ret)
		return ret;
	*device = mig->device;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t mig_device, unsigned int *id)
{
	const struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_mig(mig_device, id, NVML_ERROR_NOT_SUPPORTED, &mig);

	if (ret)
		return ret;
	*id = mig->partition;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t mig_device, unsigned int *id)
{
	const struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_mig(mig_device, id, NVML_ERROR_NOT_SUPPORTED, &mig);

	if (ret)
		return ret;
	*id = NV_CI_ID;
	return nv_leave(NVML_SUCCESS);
}

/* Fills the first @room bytes: the first version of the structure ends before later members. */
static nvmlReturn_t mig_attributes(nvmlDevice_t mig_device, nvmlDeviceAttributes_t *attrs,
				   size_t room)
{
	const struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_mig(mig_device, attrs, NVML_ERROR_NOT_SUPPORTED, &mig);
	nvmlDeviceAttributes_t all;

	if (ret)
		return ret;
	all = (nvmlDeviceAttributes_t) {
		.multiprocessorCount = nv_slices_units(mig->device, mig->info.slices),
		.sharedCopyEngineCount = nv_engine_count(mig->device, VGPU_HW_ENGINE_CE),
		.sharedDecoderCount = nv_engine_count(mig->device, VGPU_HW_ENGINE_DEC),
		.sharedEncoderCount = nv_engine_count(mig->device, VGPU_HW_ENGINE_ENC),
		.gpuInstanceSliceCount = mig->info.slices,
		.computeInstanceSliceCount = mig->info.slices,
		.memorySizeMB = mig->info.fb_bytes >> 20,
	};
	memcpy(attrs, &all, room);
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t mig_device, nvmlDeviceAttributes_t *attrs)
{
	return mig_attributes(mig_device, attrs, sizeof(*attrs));
}

nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t mig_device, nvmlDeviceAttributes_t *attrs)
{
	return mig_attributes(mig_device, attrs,
			      offsetof(nvmlDeviceAttributes_t, gpuInstanceSliceCount));
}

void nv_mig_name(const struct nv_mig *mig, char text[NV_NAME])
{
	char board[VGPU_ADDR_LEN + 1], profile[NV_NAME];

	nv_text(board, mig->device->info.board, sizeof(mig->device->info.board));
	nv_profile_name(mig->info.profile, mig->info.fb_bytes, profile);
	snprintf(text, NV_NAME, "%s %.*s", board, NV_NAME - VGPU_ADDR_LEN - 2, profile);
}

/* Of the place and not of the number, so that it is the same after a reboot. */
void nv_mig_uuid(const struct nv_mig *mig, char text[NV_MIG_UUID])
{
	uint8_t uuid[VGPU_UUID_LEN];
	char place[64];

	snprintf(place, sizeof(place), "%.*s %.*s at %u", VGPU_ADDR_LEN,
		 (const char *)mig->device->info.address, VGPU_PROFILE_NAME_LEN,
		 (const char *)mig->info.profile, mig->info.start);
	nv_uuid_of(place, uuid);
	strcpy(text, "MIG-");
	nv_uuid_text(uuid, text + 4);
}

static const struct nv_mig *mig_by_uuid(const struct nv_migs *migs, const char *uuid)
{
	char text[NV_MIG_UUID];
	unsigned int i;

	for (i = 0; i < migs->nr; i++) {
		nv_mig_uuid(&migs->mig[i], text);
		if (migs->mig[i].state != NV_CI_DESTROYED && !strcmp(text, uuid))
			return &migs->mig[i];
	}
	return NULL;
}

/* A GPU that is gone is not asked for what it had. */
nvmlReturn_t nv_mig_by_uuid(const char *uuid, nvmlDevice_t *mig_device)
{
	const struct nv_mig *mig;
	unsigned int i;
	nvmlReturn_t ret;

	for (i = 0; i < nv.devices; i++) {
		if (!nv.device[i].info.profiles)
			continue;
		ret = nv_migs_read(&nv.device[i]);
		if (ret == NVML_ERROR_GPU_IS_LOST)
			continue;
		if (ret)
			return ret;
		mig = mig_by_uuid(&nv.device[i].migs, uuid);
		if (mig) {
			*mig_device = nv_mig_handle(mig);
			return NVML_SUCCESS;
		}
	}
	return NVML_ERROR_NOT_FOUND;
}
