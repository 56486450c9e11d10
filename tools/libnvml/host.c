// SPDX-License-Identifier: GPL-2.0
/* GPUs of a host, of which vGPUs are made: /dev/vgpu. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

static nvmlReturn_t host_version(void)
{
	struct vgpu_ctl_version version = { .size = sizeof(version) };
	nvmlReturn_t ret = nv_node_call(VGPU_IOC_VERSION, &version);

	if (ret)
		return ret;
	if (version.abi_major != VGPU_ABI_MAJOR)
		return NVML_ERROR_LIB_RM_VERSION_MISMATCH;
	nv_text(nv.driver_version, version.driver_version, sizeof(version.driver_version));
	return NVML_SUCCESS;
}

static nvmlReturn_t host_init(void)
{
	nvmlReturn_t ret = nv_node_open(O_NONBLOCK, &nv.fd);

	if (!ret)
		ret = host_version();
	return ret ? ret : nv_table_init();
}

static void host_exit(void)
{
	nv_events_exit();
	nv_table_exit();
	if (nv.fd >= 0)
		close(nv.fd);
}

/* What vGPUs own is used, whether or not they have touched it. */
static nvmlReturn_t host_memory(const struct nvmlDevice_st *device, nvmlMemory_t *memory)
{
	struct vgpu_ctl_gpu gpu;
	nvmlReturn_t ret = nv_node_gpu(device->info.gpu, &gpu);

	if (ret)
		return ret;
	memory->total = gpu.fb_bytes;
	memory->used = gpu.fb_used_bytes;
	memory->free = gpu.fb_bytes - gpu.fb_used_bytes;
	return NVML_SUCCESS;
}

/* A GPU that is divided has no engines whose time could be told: each partition has its own. */
static nvmlReturn_t host_load(struct nvmlDevice_st *device, unsigned int percent[NV_ENGINES])
{
	nvmlReturn_t ret = nv_node_whole(device->info.gpu);

	return ret ? ret : nv_load(device, percent);
}

static nvmlReturn_t host_samples(struct nvmlDevice_st *device, uint64_t since_us,
				 struct nv_samples *samples)
{
	nvmlReturn_t ret = nv_node_whole(device->info.gpu);

	return ret ? ret : nv_samples_read(device, since_us, true, samples);
}

static bool host_computes(const struct vgpu_ctl_instance *inst)
{
	const struct nvmlDevice_st *device = nv_device_of(inst->gpu);
	const struct vgpu_ctl_type *type;

	if (!device || inst->type_index >= device->types)
		return false;
	type = &device->type[inst->type_index]->info;
	return !strncmp((const char *)type->edition, "vCS", sizeof(type->edition));
}

/* The processes that have vGPUs open, one for each. */
static nvmlReturn_t host_processes(struct nvmlDevice_st *device, struct nv_processes *processes)
{
	const struct nv_vgpus *vgpus;
	nvmlReturn_t ret = nv_vgpus(device, true, &vgpus);
	unsigned int i;

	if (ret)
		return ret;
	processes->nr = 0;
	processes->process = calloc(vgpus->nr + 1, sizeof(*processes->process));
	if (!processes->process)
		return NVML_ERROR_MEMORY;
	for (i = 0; i < vgpus->nr; i++) {
		const struct vgpu_ctl_instance *inst = &vgpus->inst[i];

		if (inst->owner_pid)
			processes->process[processes->nr++] = (struct nv_process) {
				.pid = (unsigned int)inst->owner_pid,
				.computes = host_computes(inst),
				.fb_bytes = inst->fb_backed_bytes,
				.partition = inst->partition,
			};
	}
	return NVML_SUCCESS;
}

/* The samples of vGPUs, without those in which nobody had them open. */
static nvmlReturn_t host_process_samples(struct nvmlDevice_st *device, uint64_t since_us,
					 struct nv_samples *samples)
{
	nvmlReturn_t ret = nv_samples_read(device, since_us, false, samples);
	unsigned int i, nr = 0;

	if (ret)
		return ret;
	for (i = 0; i < samples->nr; i++)
		if (samples->sample[i].pid)
			samples->sample[nr++] = samples->sample[i];
	samples->nr = nr;
	return NVML_SUCCESS;
}

const struct nv_source nv_source_host = {
	.mode = NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU,
	.is_host = true,
	.init = host_init,
	.exit = host_exit,
	.memory = host_memory,
	.load = host_load,
	.samples = host_samples,
	.processes = host_processes,
	.process_samples = host_process_samples,
};
