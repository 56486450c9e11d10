// SPDX-License-Identifier: GPL-2.0
/*
 * Utilization of GPUs and of vGPUs. "sm" is the gr engine, "mem" the copy engines, "enc" and "dec"
 * the encoder and the decoder, each in per cent of the GPU's.
 */
#include <string.h>

#include "internal.h"

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates)
{
	nvmlReturn_t ret = nv_enter_device(device, rates);
	unsigned int percent[NV_ENGINES];

	if (ret)
		return ret;
	ret = nv.source->load(device, percent);
	if (!ret) {
		rates->gpu = percent[NV_SM];
		rates->memory = percent[NV_MEM];
	}
	return nv_leave(ret);
}

static nvmlReturn_t load_engine(nvmlDevice_t device, enum nv_engine engine,
				unsigned int *utilization, unsigned int *period_us)
{
	nvmlReturn_t ret = nv_enter_device(device, utilization);
	unsigned int percent[NV_ENGINES];

	if (ret)
		return ret;
	if (!period_us)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	if (!nv_has_engine(device, engine))
		return nv_leave(NVML_ERROR_NOT_SUPPORTED);
	ret = nv.source->load(device, percent);
	if (!ret) {
		*utilization = percent[engine];
		*period_us = 1000000;
	}
	return nv_leave(ret);
}

nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned int *utilization,
					     unsigned int *period_us)
{
	return load_engine(device, NV_ENC, utilization, period_us);
}

nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned int *utilization,
					     unsigned int *period_us)
{
	return load_engine(device, NV_DEC, utilization, period_us);
}

static nvmlReturn_t load_engine_of(nvmlSamplingType_t type, enum nv_engine *engine)
{
	switch (type) {
	case NVML_GPU_UTILIZATION_SAMPLES:
		*engine = NV_SM;
		return NVML_SUCCESS;
	case NVML_MEMORY_UTILIZATION_SAMPLES:
		*engine = NV_MEM;
		return NVML_SUCCESS;
	case NVML_ENC_UTILIZATION_SAMPLES:
		*engine = NV_ENC;
		return NVML_SUCCESS;
	case NVML_DEC_UTILIZATION_SAMPLES:
		*engine = NV_DEC;
		return NVML_SUCCESS;
	default:
		return NVML_ERROR_NOT_SUPPORTED;
	}
}

nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type,
				  unsigned long long last_us, nvmlValueType_t *value_type,
				  unsigned int *count, nvmlSample_t *samples)
{
	nvmlReturn_t ret = nv_enter_device(device, count);
	struct nv_samples read;
	enum nv_engine engine;
	unsigned int i;

	if (ret)
		return ret;
	if (!value_type)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	ret = load_engine_of(type, &engine);
	if (!ret && !nv_has_engine(device, engine))
		ret = NVML_ERROR_NOT_SUPPORTED;
	if (!ret)
		ret = nv.source->samples(device, last_us, &read);
	if (ret)
		return nv_leave(ret);
	*value_type = NVML_VALUE_TYPE_UNSIGNED_INT;
	ret = nv_put_samples(&read, samples, count);
	for (i = 0; !ret && i < read.nr; i++) {
		memset(&samples[i], 0, sizeof(samples[i]));
		samples[i].timeStamp = read.sample[i].time_us;
		samples[i].sampleValue.uiVal = read.sample[i].percent[engine];
	}
	nv_samples_free(&read);
	return nv_leave(ret);
}

nvmlReturn_t nvmlDeviceGetVgpuUtilization(nvmlDevice_t device, unsigned long long last_us,
					  nvmlValueType_t *value_type, unsigned int *count,
					  nvmlVgpuInstanceUtilizationSample_t *samples)
{
	nvmlReturn_t ret = nv_enter_host_device(device, count);
	struct nv_samples read;
	unsigned int i;

	if (ret)
		return ret;
	if (!value_type)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	ret = nv_samples_read(device, last_us, false, &read);
	if (ret)
		return nv_leave(ret);
	*value_type = NVML_VALUE_TYPE_UNSIGNED_INT;
	ret = nv_put_samples(&read, samples, count);
	for (i = 0; !ret && i < read.nr; i++) {
		const struct nv_sample *from = &read.sample[i];

		memset(&samples[i], 0, sizeof(samples[i]));
		samples[i].vgpuInstance = from->vgpu;
		samples[i].timeStamp = from->time_us;
		samples[i].smUtil.uiVal = from->percent[NV_SM];
		samples[i].memUtil.uiVal = from->percent[NV_MEM];
		samples[i].encUtil.uiVal = from->percent[NV_ENC];
		samples[i].decUtil.uiVal = from->percent[NV_DEC];
	}
	nv_samples_free(&read);
	return nv_leave(ret);
}

nvmlReturn_t nvmlDeviceGetVgpuInstancesUtilizationInfo(nvmlDevice_t device,
						       nvmlVgpuInstancesUtilizationInfo_t *info)
{
	nvmlReturn_t ret = nv_enter_host_device(device, info);
	struct nv_samples read;
	unsigned int i;

	if (ret)
		return ret;
	if (info->version != NVML_STRUCT_VERSION(VgpuInstancesUtilizationInfo, 1))
		return nv_leave(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	ret = nv_samples_read(device, info->lastSeenTimeStamp, false, &read);
	if (ret)
		return nv_leave(ret);
	info->sampleValType = NVML_VALUE_TYPE_UNSIGNED_INT;
	ret = nv_put_samples(&read, info->vgpuUtilArray, &info->vgpuInstanceCount);
	for (i = 0; !ret && i < read.nr; i++) {
		nvmlVgpuInstanceUtilizationInfo_v1_t *to = &info->vgpuUtilArray[i];
		const struct nv_sample *from = &read.sample[i];

		memset(to, 0, sizeof(*to));
		to->timeStamp = from->time_us;
		to->vgpuInstance = from->vgpu;
		to->smUtil.uiVal = from->percent[NV_SM];
		to->memUtil.uiVal = from->percent[NV_MEM];
		to->encUtil.uiVal = from->percent[NV_ENC];
		to->decUtil.uiVal = from->percent[NV_DEC];
	}
	nv_samples_free(&read);
	return nv_leave(ret);
}

/*
 * NVML has this for a GPU whose clocks are lower than they could be: per cent of what it has to
 * give as things are. In a guest that is what the vGPU could have under the host's policy, beside
 * the other vGPUs.
 */
nvmlReturn_t nvmlDeviceGetDynamicPstatesInfo(nvmlDevice_t device, nvmlGpuDynamicPstatesInfo_t *info)
{
	static const unsigned int domains[NV_ENGINES] = {
		[NV_SM] = NVML_GPU_UTILIZATION_DOMAIN_GPU,
		[NV_MEM] = NVML_GPU_UTILIZATION_DOMAIN_FB,
		[NV_ENC] = NVML_GPU_UTILIZATION_DOMAIN_VID,
		[NV_DEC] = NVML_GPU_UTILIZATION_DOMAIN_VID,
	};
	nvmlReturn_t ret = nv_enter_device(device, info);
	unsigned int percent[NV_ENGINES], e;

	if (ret)
		return ret;
	if (!nv.source->load_of_due)
		return nv_leave(NVML_ERROR_NOT_SUPPORTED);
	ret = nv.source->load_of_due(device, percent);
	if (ret)
		return nv_leave(ret);
	memset(info, 0, sizeof(*info));
	for (e = 0; e < NV_ENGINES; e++) {
		if (!nv_has_engine(device, e))
			continue;
		info->utilization[domains[e]].bIsPresent = 1;
		if (percent[e] > info->utilization[domains[e]].percentage)
			info->utilization[domains[e]].percentage = percent[e];
	}
	return nv_leave(NVML_SUCCESS);
}
