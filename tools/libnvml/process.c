// SPDX-License-Identifier: GPL-2.0
/*
 * Processes. Of a host's GPU these are the processes that have vGPUs open, one for each (host.c),
 * in a guest those that use the node (render_process.c); each is listed once, by what its vGPU is
 * made for. Of vGPUs they are the processes in the guest, if it names them (guest.c), else the one
 * that has the vGPU open.
 */
#include <stdlib.h>
#include <string.h>

#include "mig.h"

/*
 * @mig:  of a MIG device, or NULL
 * @size: of an element: the first version of the structure lacks the numbers of MIG instances
 */
static nvmlReturn_t process_put(const struct nv_processes *processes, const struct nv_mig *mig,
				bool compute, unsigned int *count, void *array, size_t size)
{
	unsigned int i, nr = 0;

	for (i = 0; i < processes->nr; i++) {
		const struct nv_process *from = &processes->process[i];
		nvmlProcessInfo_v2_t info;

		if (from->computes != compute || (mig && from->partition != mig->partition))
			continue;
		memset(&info, 0, sizeof(info));
		info.pid = from->pid;
		info.usedGpuMemory = from->fb_bytes;
		info.gpuInstanceId = from->partition ? from->partition : NVML_NO_INSTANCE;
		info.computeInstanceId = from->partition ? NV_CI_ID : NVML_NO_INSTANCE;
		if (array && nr < *count)
			memcpy((char *)array + nr * size, &info, size);
		nr++;
	}
	return nv_put_count(array, count, nr);
}

static nvmlReturn_t process_list(nvmlDevice_t handle, bool compute, unsigned int *count,
				 void *array, size_t size)
{
	struct nvmlDevice_st *device;
	const struct nv_mig *mig;
	nvmlReturn_t ret = nv_enter_any(handle, count, &device, &mig);
	struct nv_processes processes;

	if (ret)
		return ret;
	ret = nv.source->processes(device, &processes);
	if (ret)
		return nv_leave(ret);
	ret = process_put(&processes, mig, compute, count, array, size);
	free(processes.process);
	return nv_leave(ret);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
						      nvmlProcessInfo_t *infos)
{
	return process_list(device, false, count, infos, sizeof(*infos));
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned int *count,
						   nvmlProcessInfo_v1_t *infos)
{
	return process_list(device, false, count, infos, sizeof(*infos));
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
						     nvmlProcessInfo_t *infos)
{
	return process_list(device, true, count, infos, sizeof(*infos));
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int *count,
						  nvmlProcessInfo_v1_t *infos)
{
	return process_list(device, true, count, infos, sizeof(*infos));
}

/* There is no MPS server, and so none of its clients. */
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
							nvmlProcessInfo_t *infos)
{
	nvmlReturn_t ret = nv_enter_device(device, count);

	return ret ? ret : nv_leave(nv_put_count(infos, count, 0));
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t device, unsigned int *count,
						     nvmlProcessInfo_v1_t *infos)
{
	nvmlReturn_t ret = nv_enter_device(device, count);

	return ret ? ret : nv_leave(nv_put_count(infos, count, 0));
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device,
					     nvmlProcessUtilizationSample_t *samples,
					     unsigned int *count, unsigned long long last_us)
{
	nvmlReturn_t ret = nv_enter_device(device, count);
	struct nv_samples read;
	unsigned int i;

	if (ret)
		return ret;
	ret = nv.source->process_samples(device, last_us, &read);
	if (ret)
		return nv_leave(ret);
	ret = nv_put_samples(&read, samples, count);
	for (i = 0; !ret && i < read.nr; i++) {
		const struct nv_sample *from = &read.sample[i];

		memset(&samples[i], 0, sizeof(samples[i]));
		samples[i].pid = from->pid;
		samples[i].timeStamp = from->time_us;
		samples[i].smUtil = from->percent[NV_SM];
		samples[i].memUtil = from->percent[NV_MEM];
		samples[i].encUtil = from->percent[NV_ENC];
		samples[i].decUtil = from->percent[NV_DEC];
	}
	nv_samples_free(&read);
	return nv_leave(ret);
}

static nvmlReturn_t process_samples_of_vgpus(struct nvmlDevice_st *device, uint64_t last_us,
					     struct nv_samples *samples)
{
	nvmlReturn_t ret = nv.source->process_samples(device, last_us, samples);

	if (ret)
		return ret;
	ret = nv_guests_read(device, last_us, samples);
	if (ret)
		nv_samples_free(samples);
	return ret;
}

/*
 * The name when it opened the vGPU, or by /proc where the driver does not say. In a guest, where
 * /proc is another one, it is what the guest says.
 */
static void process_name(const struct nv_sample *sample, char *name, size_t room)
{
	if (sample->of_guest && sample->comm)
		nv_shown_text(name, sample->comm, VGPU_COMM_LEN);
	else if (sample->of_guest)
		name[0] = 0;
	else if (sample->comm[0])
		nv_shown_text(name, sample->comm, VGPU_COMM_LEN);
	else
		nv_process_name(sample->pid, name, room);
}

nvmlReturn_t nvmlDeviceGetVgpuProcessUtilization(nvmlDevice_t device, unsigned long long last_us,
						 unsigned int *count,
						 nvmlVgpuProcessUtilizationSample_t *samples)
{
	nvmlReturn_t ret = nv_enter_host_device(device, count);
	struct nv_samples read;
	unsigned int i;

	if (ret)
		return ret;
	ret = process_samples_of_vgpus(device, last_us, &read);
	if (ret)
		return nv_leave(ret);
	ret = nv_put_samples(&read, samples, count);
	for (i = 0; !ret && i < read.nr; i++) {
		const struct nv_sample *from = &read.sample[i];

		memset(&samples[i], 0, sizeof(samples[i]));
		samples[i].vgpuInstance = from->vgpu;
		samples[i].pid = from->pid;
		process_name(from, samples[i].processName, sizeof(samples[i].processName));
		samples[i].timeStamp = from->time_us;
		samples[i].smUtil = from->percent[NV_SM];
		samples[i].memUtil = from->percent[NV_MEM];
		samples[i].encUtil = from->percent[NV_ENC];
		samples[i].decUtil = from->percent[NV_DEC];
	}
	nv_samples_free(&read);
	return nv_leave(ret);
}

nvmlReturn_t nvmlDeviceGetVgpuProcessesUtilizationInfo(nvmlDevice_t device,
						       nvmlVgpuProcessesUtilizationInfo_t *info)
{
	nvmlReturn_t ret = nv_enter_host_device(device, info);
	struct nv_samples read;
	unsigned int i;

	if (ret)
		return ret;
	if (info->version != NVML_STRUCT_VERSION(VgpuProcessesUtilizationInfo, 1))
		return nv_leave(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	ret = process_samples_of_vgpus(device, info->lastSeenTimeStamp, &read);
	if (ret)
		return nv_leave(ret);
	ret = nv_put_samples(&read, info->vgpuProcUtilArray, &info->vgpuProcessCount);
	for (i = 0; !ret && i < read.nr; i++) {
		nvmlVgpuProcessUtilizationInfo_v1_t *to = &info->vgpuProcUtilArray[i];
		const struct nv_sample *from = &read.sample[i];

		memset(to, 0, sizeof(*to));
		process_name(from, to->processName, sizeof(to->processName));
		to->timeStamp = from->time_us;
		to->vgpuInstance = from->vgpu;
		to->pid = from->pid;
		to->smUtil = from->percent[NV_SM];
		to->memUtil = from->percent[NV_MEM];
		to->encUtil = from->percent[NV_ENC];
		to->decUtil = from->percent[NV_DEC];
	}
	nv_samples_free(&read);
	return nv_leave(ret);
}
