// SPDX-License-Identifier: GPL-2.0
/* GPUs: handles, names, addresses, memory. */
#include <stdio.h>
#include <string.h>

#include "mig.h"

struct device_pci {
	unsigned int domain;
	unsigned int bus;
	unsigned int device;
	unsigned int function;
};

/* "f000:00:00.0", and also without the domain, which then is 0. */
static bool device_parse_pci(const char *text, struct device_pci *pci)
{
	int used;

	if (sscanf(text, "%8x:%2x:%2x.%1x%n", &pci->domain, &pci->bus, &pci->device,
		   &pci->function, &used) == 4)
		return !text[used];
	pci->domain = 0;
	return sscanf(text, "%2x:%2x.%1x%n", &pci->bus, &pci->device, &pci->function,
		      &used) == 3 && !text[used];
}

/* All 0 if it is not known, which a guest without /proc does not. */
static bool device_pci(const struct nvmlDevice_st *device, struct device_pci *pci)
{
	char address[VGPU_ADDR_LEN + 1];

	nv_text(address, device->info.address, sizeof(device->info.address));
	if (device_parse_pci(address, pci))
		return true;
	memset(pci, 0, sizeof(*pci));
	return false;
}

static void device_uuid(const struct nvmlDevice_st *device, char *text)
{
	strcpy(text, "GPU-");
	nv_uuid_text(device->uuid, text + 4);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count)
{
	nvmlReturn_t ret = nv_enter();

	if (ret)
		return ret;
	if (!count)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	*count = nv.devices;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device)
{
	nvmlReturn_t ret = nv_enter();

	if (ret)
		return ret;
	if (!device || index >= nv.devices)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	*device = &nv.device[index];
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *address, nvmlDevice_t *device)
{
	nvmlReturn_t ret = nv_enter();
	struct device_pci wanted, pci;
	unsigned int i;

	if (ret)
		return ret;
	if (!address || !device || !device_parse_pci(address, &wanted))
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	for (i = 0; i < nv.devices; i++) {
		if (device_pci(&nv.device[i], &pci) && !memcmp(&pci, &wanted, sizeof(pci))) {
			*device = &nv.device[i];
			return nv_leave(NVML_SUCCESS);
		}
	}
	return nv_leave(NVML_ERROR_NOT_FOUND);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
	nvmlReturn_t ret = nv_enter();
	char text[4 + NV_UUID_TEXT];
	unsigned int i;

	if (ret)
		return ret;
	if (!uuid || !device)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	if (!strncmp(uuid, "MIG-", 4))
		return nv_leave(nv_mig_by_uuid(uuid, device));
	for (i = 0; i < nv.devices; i++) {
		device_uuid(&nv.device[i], text);
		if (!strcmp(text, uuid)) {
			*device = &nv.device[i];
			return nv_leave(NVML_SUCCESS);
		}
	}
	return nv_leave(NVML_ERROR_NOT_FOUND);
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index)
{
	nvmlReturn_t ret = nv_enter_device(device, index);

	if (ret)
		return ret;
	*index = device->index;
	return nv_leave(NVML_SUCCESS);
}

/* On a host the number of the GPU for /dev/vgpu: there is no node for each. */
nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *number)
{
	nvmlReturn_t ret = nv_enter_device(device, number);

	if (ret)
		return ret;
	*number = device->minor;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char *name, unsigned int length)
{
	struct nvmlDevice_st *device;
	const struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_any(handle, name, &device, &mig);
	char text[NV_NAME];

	if (ret)
		return ret;
	if (mig)
		nv_mig_name(mig, text);
	else
		nv_text(text, device->info.board, sizeof(device->info.board));
	return nv_leave(nv_put_text(name, length, text));
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char *uuid, unsigned int length)
{
	struct nvmlDevice_st *device;
	const struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_any(handle, uuid, &device, &mig);
	char text[NV_MIG_UUID];

	if (ret)
		return ret;
	if (mig)
		nv_mig_uuid(mig, text);
	else
		device_uuid(device, text);
	return nv_leave(nv_put_text(uuid, length, text));
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t *type)
{
	nvmlReturn_t ret = nv_enter_device(device, type);

	if (ret)
		return ret;
	*type = NVML_BRAND_UNKNOWN;
	return nv_leave(NVML_SUCCESS);
}

/* Fills the first @room bytes: earlier versions of the structure end before later members. */
static nvmlReturn_t device_get_pci(nvmlDevice_t device, nvmlPciInfo_t *out, size_t room)
{
	nvmlReturn_t ret = nv_enter_device(device, out);
	struct device_pci pci;
	nvmlPciInfo_t info;

	if (ret)
		return ret;
	device_pci(device, &pci);
	memset(&info, 0, sizeof(info));
	info.domain = pci.domain;
	info.bus = pci.bus;
	info.device = pci.device;
	info.pciDeviceId = device->pci_device_id;
	info.pciSubSystemId = device->pci_subsystem_id;
	snprintf(info.busIdLegacy, sizeof(info.busIdLegacy), "%04X:%02X:%02X.%X", pci.domain,
		 pci.bus, pci.device, pci.function);
	snprintf(info.busId, sizeof(info.busId), "%08X:%02X:%02X.%X", pci.domain, pci.bus,
		 pci.device, pci.function);
	memcpy(out, &info, room);
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
	return device_get_pci(device, pci, sizeof(*pci));
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
	return device_get_pci(device, pci, offsetof(nvmlPciInfo_t, busId));
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
	return device_get_pci(device, pci, offsetof(nvmlPciInfo_t, pciSubSystemId));
}

static nvmlReturn_t device_get_memory(nvmlDevice_t handle, const void *out, nvmlMemory_t *memory)
{
	struct nvmlDevice_st *device;
	const struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_any(handle, out, &device, &mig);

	if (ret)
		return ret;
	if (!mig)
		return nv_leave(nv.source->memory(device, memory));
	memory->total = mig->info.fb_bytes;
	memory->used = mig->info.fb_used_bytes;
	memory->free = mig->info.fb_bytes - mig->info.fb_used_bytes;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
	return device_get_memory(device, memory, memory);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
	nvmlMemory_t old;
	nvmlReturn_t ret = device_get_memory(device, memory, &old);

	if (ret)
		return ret;
	if (memory->version != NVML_STRUCT_VERSION(Memory, 2))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	memory->total = old.total;
	memory->reserved = 0;
	memory->free = old.free;
	memory->used = old.used;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char *version, unsigned int length)
{
	nvmlReturn_t ret = nv_enter_device(device, version);

	if (ret)
		return ret;
	if (!nv.source->vbios_version)
		return nv_leave(NVML_ERROR_NOT_SUPPORTED);
	return nv_leave(nv_put_text(version, length, nv.source->vbios_version));
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t *mode)
{
	nvmlReturn_t ret = nv_enter_device(device, mode);

	if (ret)
		return ret;
	if (!nv.source->compute_mode)
		return nv_leave(NVML_ERROR_NOT_SUPPORTED);
	*mode = *nv.source->compute_mode;
	return nv_leave(NVML_SUCCESS);
}
