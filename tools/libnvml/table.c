// SPDX-License-Identifier: GPL-2.0
/*
 * The GPUs, their types, and the vGPUs that clients have numbers of.
 *
 * The number of a type is made from its name in sysfs ("vgpu_soft-SG16-4Q"), so that it is the same
 * on every host and after every reboot: FNV-1a of 32 bits, its halves exclusively ored. Should two
 * types of a host have one number, or one have 0, the later one in the order of GPUs and their
 * types gets the next number that is free.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

static unsigned int table_hash(const char *text)
{
	uint32_t hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 16777619u;
	return (hash >> 16) ^ (hash & 0xffff);
}

struct nv_type *nv_type_of(unsigned int id)
{
	unsigned int i;

	for (i = 0; i < nv.types; i++)
		if (nv.type[i].id == id)
			return &nv.type[i];
	return NULL;
}

struct nvmlDevice_st *nv_device_of(uint32_t gpu)
{
	unsigned int i;

	for (i = 0; i < nv.devices; i++)
		if (nv.device[i].info.gpu == gpu)
			return &nv.device[i];
	return NULL;
}

/* The type of that name, a new one if there is none yet. There is room for it. */
static struct nv_type *table_type(const struct vgpu_ctl_type *info)
{
	char name[VGPU_NAME_LEN + 1];
	struct nv_type *type;
	unsigned int i, id;

	for (i = 0; i < nv.types; i++)
		if (!memcmp(nv.type[i].info.id, info->id, sizeof(info->id)))
			return &nv.type[i];
	nv_text(name, info->id, sizeof(info->id));
	id = table_hash(name);
	while (!id || nv_type_of(id))
		id = (id + 1) & 0xffff;
	type = &nv.type[nv.types++];
	type->id = id;
	type->info = *info;
	return type;
}

nvmlReturn_t nv_device_type(const struct nvmlDevice_st *device, unsigned int id,
			    struct vgpu_ctl_type *info)
{
	unsigned int i;

	for (i = 0; i < device->types; i++)
		if (device->type[i]->id == id)
			return nv_node_type(device->info.gpu, i, info);
	return NVML_ERROR_INVALID_ARGUMENT;
}

static nvmlReturn_t table_add_types(struct nvmlDevice_st *device)
{
	struct vgpu_ctl_type info;
	unsigned int i;
	nvmlReturn_t ret;

	for (i = 0; i < device->info.types; i++) {
		ret = nv_node_type(device->info.gpu, i, &info);
		if (ret)
			return ret;
		device->type[i] = table_type(&info);
	}
	device->types = i;
	return NVML_SUCCESS;
}

/* A number that sysfs has of the GPU: the ABI has none of PCI's ids. 0 if there is none. */
static unsigned int table_pci(const char *address, const char *name)
{
	char path[128], text[16] = "";
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.*s/%s", VGPU_ADDR_LEN, address, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	return length > 0 ? (unsigned int)strtoul(text, NULL, 16) : 0;
}

void nv_table_pci(struct nvmlDevice_st *device)
{
	const char *address = (const char *)device->info.address;

	device->pci_device_id = table_pci(address, "device") << 16 | table_pci(address, "vendor");
	device->pci_subsystem_id = table_pci(address, "subsystem_device") << 16 |
				   table_pci(address, "subsystem_vendor");
}

/* Reads the GPUs into nv.device; one that goes away meanwhile is left out. */
static nvmlReturn_t table_read_gpus(const uint32_t *ids, unsigned int nr, unsigned int *types)
{
	char address[VGPU_ADDR_LEN + 1];
	unsigned int i;
	nvmlReturn_t ret;

	*types = 0;
	for (i = 0; i < nr; i++) {
		struct nvmlDevice_st *device = &nv.device[nv.devices];

		ret = nv_node_gpu(ids[i], &device->info);
		if (ret == NVML_ERROR_GPU_IS_LOST)
			continue;
		if (ret)
			return ret;
		device->index = nv.devices++;
		device->minor = device->info.gpu;
		device->fd = -1;
		nv_text(address, device->info.address, sizeof(device->info.address));
		nv_uuid_of(address, device->uuid);
		device->type = calloc(device->info.types + 1, sizeof(*device->type));
		if (!device->type)
			return NVML_ERROR_MEMORY;
		*types += device->info.types;
	}
	return NVML_SUCCESS;
}

nvmlReturn_t nv_table_init(void)
{
	unsigned int nr, types, i;
	nvmlReturn_t ret;
	uint32_t *ids;

	ret = nv_node_gpus(&ids, &nr);
	if (ret)
		return ret;
	nv.device = calloc(nr ? nr : 1, sizeof(*nv.device));
	ret = nv.device ? table_read_gpus(ids, nr, &types) : NVML_ERROR_MEMORY;
	free(ids);
	if (ret)
		return ret;
	nv.type = calloc(types + 1, sizeof(*nv.type));
	if (!nv.type)
		return NVML_ERROR_MEMORY;
	for (i = 0; !ret && i < nv.devices; i++) {
		nv_table_pci(&nv.device[i]);
		ret = table_add_types(&nv.device[i]);
		/* Gone meanwhile: it stays in the list, without types, and every call says so. */
		if (ret == NVML_ERROR_GPU_IS_LOST)
			ret = NVML_SUCCESS;
	}
	return ret;
}

void nv_table_exit(void)
{
	unsigned int i;

	for (i = 0; i < nv.devices; i++) {
		nv_looks_forget(&nv.device[i].looks);
		nv_looks_forget(&nv.device[i].processes);
		nv_records_free(&nv.device[i].records);
		free(nv.device[i].type);
	}
	free(nv.device);
	free(nv.type);
	free(nv.vgpu);
}

static const struct vgpu_ctl_instance *table_find(const struct nv_vgpus *vgpus,
						  const struct nv_vgpu *vgpu)
{
	unsigned int i;

	for (i = 0; i < vgpus->nr; i++)
		if (nv_vgpu_is(vgpu, &vgpus->inst[i]))
			return &vgpus->inst[i];
	return NULL;
}

/* Forgets those vGPUs of the GPU that are gone. */
static void table_sweep(const struct nvmlDevice_st *device)
{
	unsigned int i, kept = 0;

	for (i = 0; i < nv.vgpus; i++)
		if (nv.vgpu[i].gpu != device->info.gpu || table_find(&device->vgpus, &nv.vgpu[i]))
			nv.vgpu[kept++] = nv.vgpu[i];
	nv.vgpus = kept;
}

/* If something has happened, nothing is known any more. */
static void table_look(void)
{
	unsigned int i;

	if (nv_node_quiet())
		return;
	for (i = 0; i < nv.devices; i++)
		nv.device[i].vgpus.known = false;
}

nvmlReturn_t nv_vgpus(struct nvmlDevice_st *device, bool now, const struct nv_vgpus **vgpus)
{
	nvmlReturn_t ret = NVML_SUCCESS;

	/* First: what happens while they are read is found by the next call. */
	table_look();
	if (now || !device->vgpus.known) {
		ret = nv_node_vgpus(device->info.gpu, &device->vgpus);
		if (!ret)
			table_sweep(device);
	}
	*vgpus = &device->vgpus;
	return ret;
}

nvmlReturn_t nv_enter_type(nvmlVgpuTypeId_t id, const void *out, struct nv_type **type)
{
	nvmlReturn_t ret = nv_enter_host();

	if (ret)
		return ret;
	*type = nv_type_of(id);
	return out && *type ? NVML_SUCCESS : nv_leave(NVML_ERROR_INVALID_ARGUMENT);
}

static nvmlReturn_t table_enter(nvmlVgpuInstance_t id, const void *out,
				const struct nv_vgpu **vgpu)
{
	nvmlReturn_t ret = nv_enter_host();
	unsigned int i;

	if (ret)
		return ret;
	if (!out || !id)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	for (i = 0; i < nv.vgpus; i++)
		if (nv.vgpu[i].id == id) {
			*vgpu = &nv.vgpu[i];
			return NVML_SUCCESS;
		}
	return nv_leave(NVML_ERROR_NOT_FOUND);
}

/* Drops the lock unless the vGPU is there. */
static nvmlReturn_t table_read_vgpu(const struct nv_vgpu *vgpu, struct vgpu_ctl_instance *inst)
{
	nvmlReturn_t ret = nv_node_instance(vgpu->uuid, inst);

	if (ret == NVML_ERROR_GPU_IS_LOST || (!ret && !nv_vgpu_is(vgpu, inst)))
		ret = NVML_ERROR_NOT_FOUND;
	return ret ? nv_leave(ret) : ret;
}

nvmlReturn_t nv_enter_vgpu_now(nvmlVgpuInstance_t id, const void *out,
			       struct vgpu_ctl_instance *inst)
{
	const struct nv_vgpu *vgpu;
	nvmlReturn_t ret = table_enter(id, out, &vgpu);

	return ret ? ret : table_read_vgpu(vgpu, inst);
}

nvmlReturn_t nv_enter_vgpu(nvmlVgpuInstance_t id, const void *out, struct vgpu_ctl_instance *inst)
{
	const struct vgpu_ctl_instance *known = NULL;
	const struct nvmlDevice_st *device;
	const struct nv_vgpu *vgpu;
	nvmlReturn_t ret = table_enter(id, out, &vgpu);

	if (ret)
		return ret;
	table_look();
	device = nv_device_of(vgpu->gpu);
	if (device && device->vgpus.known)
		known = table_find(&device->vgpus, vgpu);
	if (!known)
		return table_read_vgpu(vgpu, inst);
	*inst = *known;
	return NVML_SUCCESS;
}
