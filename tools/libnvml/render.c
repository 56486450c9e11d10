// SPDX-License-Identifier: GPL-2.0
/*
 * GPUs of a guest: each is the vGPU behind a render node of the guest's driver. All that is needed
 * is the node; sysfs and /proc tell PCI's address and ids, where they are.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../libvgpu/node_find.h"
#include "render.h"

/* What the driver says decides on loops, so it is not believed unseen. */
static nvmlReturn_t render_query(const struct nvmlDevice_st *device,
				 struct drm_vgpu_dev_info *info)
{
	struct drm_vgpu_dev_query query = { .size = sizeof(*info), .pointer = (uintptr_t)info };
	nvmlReturn_t ret;

	memset(info, 0, sizeof(*info));
	ret = nv_render_call(device, DRM_IOCTL_VGPU_DEV_QUERY, &query);
	if (ret)
		return ret;
	if (query.size < offsetof(struct drm_vgpu_dev_info, uuid) ||
	    info->nr_engines > VGPU_MAX_ENGINES || info->fb_free > info->fb_bytes)
		return NVML_ERROR_UNKNOWN;
	return NVML_SUCCESS;
}

/* Sets the address, which the open file's own fdinfo tells. */
static void render_address(struct nvmlDevice_st *device)
{
	struct nv_fdinfo fdinfo;
	char path[48];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", device->fd);
	if (!nv_fdinfo_read(AT_FDCWD, path, &fdinfo))
		return;
	memcpy(device->info.address, fdinfo.pdev, sizeof(device->info.address));
	nv_table_pci(device);
}

/* Without a UUID of the host's it is one that is the same each time. */
static void render_uuid(struct nvmlDevice_st *device, const uint8_t *uuid, const char *name)
{
	static const uint8_t none[VGPU_UUID_LEN];

	if (memcmp(uuid, none, sizeof(none)))
		memcpy(device->uuid, uuid, sizeof(device->uuid));
	else
		nv_uuid_of(device->info.address[0] ? (char *)device->info.address : name,
			   device->uuid);
}

static nvmlReturn_t render_describe(struct nvmlDevice_st *device, const char *name)
{
	char type[sizeof(((struct drm_vgpu_dev_info *)0)->type) + 1];
	struct drm_vgpu_dev_info info;
	nvmlReturn_t ret = render_query(device, &info);
	uint32_t i;

	if (ret)
		return ret;
	nv_shown_text(type, info.type, sizeof(info.type));
	snprintf((char *)device->info.board, sizeof(device->info.board), "%.31s",
		 *type ? type : "vGPU");
	device->info.engines = info.nr_engines;
	for (i = 0; i < info.nr_engines; i++)
		device->info.engine[i].engine_class = info.engine[i] >> 8;
	render_address(device);
	/* The driver is for no other function. */
	device->pci_device_id = VGPU_HW_DEVICE_ID << 16 | VGPU_HW_VENDOR_ID;
	render_uuid(device, info.uuid, name);
	device->minor = (unsigned int)strtoul(name + strcspn(name, "0123456789"), NULL, 10);
	return nv_render_load_init(device);
}

/* DRIVER_NOT_LOADED: it is another driver's node. */
static nvmlReturn_t render_check(const struct nvmlDevice_st *device)
{
	struct drm_version version;
	int ret = vgpu_node_version(device->fd, &version);

	if (ret == -ENXIO || ret == -ENOTTY)
		return NVML_ERROR_DRIVER_NOT_LOADED;
	if (ret)
		return nv_node_error(-ret);
	if (version.version_major != VGPU_NODE_MAJOR)
		return NVML_ERROR_LIB_RM_VERSION_MISMATCH;
	snprintf(nv.driver_version, sizeof(nv.driver_version), "%d.%d.%d",
		 version.version_major, version.version_minor, version.version_patchlevel);
	return NVML_SUCCESS;
}

/* Opens the node of that name as the next GPU. */
static nvmlReturn_t render_add(const char *name)
{
	struct nvmlDevice_st *device = &nv.device[nv.devices];
	char path[300];
	nvmlReturn_t ret;

	snprintf(path, sizeof(path), VGPU_NODES "/%.256s", name);
	device->fd = open(path, O_RDWR | O_CLOEXEC);
	if (device->fd < 0)
		return nv_open_error(errno);
	ret = render_check(device);
	if (!ret)
		ret = render_describe(device, name);
	if (ret) {
		close(device->fd);
		memset(device, 0, sizeof(*device));
		return ret;
	}
	device->index = nv.devices++;
	return NVML_SUCCESS;
}

/* Of all nodes, the first one that is a vGPU's and cannot be used tells why there is no GPU. */
static nvmlReturn_t render_init(void)
{
	nvmlReturn_t ret = NVML_SUCCESS, why = NVML_ERROR_DRIVER_NOT_LOADED;
	struct dirent **names;
	int i, n = vgpu_node_scan(VGPU_NODES, &names);

	if (n < 0 && errno == ENOMEM)
		return NVML_ERROR_MEMORY;
	nv.device = calloc(n > 0 ? (size_t)n : 1, sizeof(*nv.device));
	if (!nv.device)
		ret = NVML_ERROR_MEMORY;
	for (i = 0; i < n && ret != NVML_ERROR_MEMORY; i++) {
		if (!vgpu_node_may_be_ours(names[i]->d_name))
			continue;
		ret = render_add(names[i]->d_name);
		if (ret && why == NVML_ERROR_DRIVER_NOT_LOADED)
			why = ret;
	}
	vgpu_node_scan_end(names, n);
	if (ret == NVML_ERROR_MEMORY)
		return ret;
	return nv.devices ? NVML_SUCCESS : why;
}

static void render_exit(void)
{
	unsigned int i;

	nv_events_exit();
	for (i = 0; i < nv.devices; i++)
		close(nv.device[i].fd);
	nv_table_exit();
}

/* Framebuffer that nobody has is free, whoever has the rest. */
static nvmlReturn_t render_memory(const struct nvmlDevice_st *device, nvmlMemory_t *memory)
{
	struct drm_vgpu_dev_info info;
	nvmlReturn_t ret = render_query(device, &info);

	if (ret)
		return ret;
	memory->total = info.fb_bytes;
	memory->free = info.fb_free;
	memory->used = info.fb_bytes - info.fb_free;
	return NVML_SUCCESS;
}

/* CUDA cannot run here, and NVML says the same of each vGPU. */
static const nvmlComputeMode_t prohibited = NVML_COMPUTEMODE_PROHIBITED;

const struct nv_source nv_source_render = {
	.mode = NVML_GPU_VIRTUALIZATION_MODE_VGPU,
	.vbios_version = "00.00.00.00.00",
	.compute_mode = &prohibited,
	.init = render_init,
	.exit = render_exit,
	.memory = render_memory,
	.load = nv_render_load,
	.load_of_due = nv_render_load_of_due,
	.samples = nv_render_samples,
	.processes = nv_render_processes,
	.process_samples = nv_render_process_samples,
};
