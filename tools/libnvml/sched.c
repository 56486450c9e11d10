// SPDX-License-Identifier: GPL-2.0
/*
 * The scheduler. NVML knows three policies; "qos" has no number there and reads as UNKNOWN. A
 * policy holds for all engines of a GPU. There is no averaging factor: slices are never shortened
 * for overruns, the vGPU repays them by skipping turns.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define SLICE_MIN_NS	1000000
#define SLICE_MAX_NS	30000000
#define SLICE_FEW_NS	2000000		/* default; of a GPU with */
#define SLICE_FEW	8		/* so many vGPUs at most */
#define SLICE_MANY_NS	1000000		/* of any other */
#define WINDOW_SLICES	10
#define FREQUENCY_MIN	63
#define FREQUENCY_MAX	960
#define SEC_NS		1000000000ull

static const struct {
	const char *name;
	unsigned int number;
} policies[] = {
	{ "best_effort", NVML_VGPU_SCHEDULER_POLICY_BEST_EFFORT },
	{ "equal_share", NVML_VGPU_SCHEDULER_POLICY_EQUAL_SHARE },
	{ "fixed_share", NVML_VGPU_SCHEDULER_POLICY_FIXED_SHARE },
};

/*
 * Of a GPU that is divided each partition has a scheduler, which the GPU's handle does not name.
 * That of the whole GPU has no vGPUs then: to tell it, or to set it, would be of no use.
 */
static nvmlReturn_t sched_read(const struct nvmlDevice_st *device, struct vgpu_ctl_sched *sched,
			       unsigned int *policy)
{
	char name[VGPU_ADDR_LEN + 1];
	unsigned int i;
	nvmlReturn_t ret;

	ret = nv_node_whole(device->info.gpu);
	if (ret)
		return ret;
	memset(sched, 0, sizeof(*sched));
	sched->size = sizeof(*sched);
	sched->gpu = device->info.gpu;
	ret = nv_node_call(VGPU_IOC_SCHED, sched);
	if (ret)
		return ret;
	nv_text(name, sched->policy, sizeof(sched->policy));
	*policy = NVML_VGPU_SCHEDULER_POLICY_UNKNOWN;
	for (i = 0; i < NV_ARRAY_SIZE(policies); i++)
		if (!strcmp(policies[i].name, name))
			*policy = policies[i].number;
	return NVML_SUCCESS;
}

/* The index of an engine by NVML's number; clients that know of one engine only leave it 0. */
static nvmlReturn_t sched_engine(const struct nvmlDevice_st *device, unsigned int *number,
				 uint32_t *index)
{
	const struct vgpu_ctl_gpu *gpu = &device->info;
	uint32_t class = VGPU_HW_ENGINE_ENC, instance = 0, i;

	if (!*number)
		*number = NVML_VGPU_SCHEDULER_ENGINE_TYPE_GRAPHICS;
	if (*number == NVML_VGPU_SCHEDULER_ENGINE_TYPE_GRAPHICS)
		class = VGPU_HW_ENGINE_GR;
	else if (*number == NVML_VGPU_SCHEDULER_ENGINE_TYPE_NVENC1)
		instance = 1;
	else if (*number != NVML_VGPU_SCHEDULER_ENGINE_TYPE_NVENC0)
		return NVML_ERROR_INVALID_ARGUMENT;
	for (i = 0; i < gpu->engines && i < VGPU_MAX_ENGINES; i++)
		if (gpu->engine[i].engine_class == class && gpu->engine[i].instance == instance) {
			*index = i;
			return NVML_SUCCESS;
		}
	return NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetVgpuSchedulerCapabilities(nvmlDevice_t device,
						    nvmlVgpuSchedulerCapabilities_t *caps)
{
	nvmlReturn_t ret = nv_enter_host_device(device, caps);
	unsigned int i;

	if (ret)
		return ret;
	memset(caps, 0, sizeof(*caps));
	for (i = 0; i < NV_ARRAY_SIZE(policies); i++)
		caps->supportedSchedulers[i] = policies[i].number;
	caps->minTimeslice = SLICE_MIN_NS;
	caps->maxTimeslice = SLICE_MAX_NS;
	caps->minFrequencyForARR = FREQUENCY_MIN;
	caps->maxFrequencyForARR = FREQUENCY_MAX;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetVgpuSchedulerState(nvmlDevice_t device,
					     nvmlVgpuSchedulerGetState_t *state)
{
	nvmlReturn_t ret = nv_enter_host_device(device, state);
	struct vgpu_ctl_sched sched;
	unsigned int policy;

	if (ret)
		return ret;
	ret = sched_read(device, &sched, &policy);
	if (ret)
		return nv_leave(ret);
	memset(state, 0, sizeof(*state));
	state->schedulerPolicy = policy;
	state->arrMode = NVML_VGPU_SCHEDULER_ARR_DISABLE;
	state->schedulerParams.vgpuSchedData.timeslice = (unsigned int)sched.slice_ns;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetVgpuSchedulerState_v2(nvmlDevice_t device,
						nvmlVgpuSchedulerStateInfo_v2_t *state)
{
	nvmlReturn_t ret = nv_enter_host_device(device, state);
	struct vgpu_ctl_sched sched;
	unsigned int policy;
	uint32_t engine;

	if (ret)
		return ret;
	ret = sched_engine(device, &state->engineId, &engine);
	if (!ret)
		ret = sched_read(device, &sched, &policy);
	if (ret)
		return nv_leave(ret);
	state->schedulerPolicy = policy;
	state->avgFactor = 0;
	state->timeslice = (unsigned int)sched.slice_ns;
	return nv_leave(NVML_SUCCESS);
}

/* What the driver takes by default: by how many of the smallest vGPUs the GPU has room for. */
static uint64_t sched_default_ns(const struct nvmlDevice_st *device)
{
	unsigned int most = 0, i;

	for (i = 0; i < device->types; i++)
		if (device->type[i]->info.max_instances > most)
			most = device->type[i]->info.max_instances;
	return most > SLICE_FEW ? SLICE_MANY_NS : SLICE_FEW_NS;
}

/* The window of statistics, which must not be shorter than 10 slices, grows with the slice. */
static nvmlReturn_t sched_set(const struct nvmlDevice_st *device, unsigned int policy,
			      uint64_t slice_ns)
{
	struct vgpu_ctl_sched sched;
	unsigned int i, now;
	nvmlReturn_t ret;

	for (i = 0; i < NV_ARRAY_SIZE(policies); i++)
		if (policies[i].number == policy)
			break;
	if (i == NV_ARRAY_SIZE(policies))
		return NVML_ERROR_INVALID_ARGUMENT;
	if (!slice_ns)
		slice_ns = sched_default_ns(device);
	if (slice_ns < SLICE_MIN_NS || slice_ns > SLICE_MAX_NS)
		return NVML_ERROR_INVALID_ARGUMENT;
	ret = sched_read(device, &sched, &now);
	if (ret)
		return ret;
	sched.valid = VGPU_SCHED_POLICY | VGPU_SCHED_SLICE;
	sched.slice_ns = slice_ns;
	if (sched.window_ns < WINDOW_SLICES * slice_ns) {
		sched.valid |= VGPU_SCHED_WINDOW;
		sched.window_ns = WINDOW_SLICES * slice_ns;
	}
	memset(sched.policy, 0, sizeof(sched.policy));
	strcpy((char *)sched.policy, policies[i].name);
	return nv_node_call(VGPU_IOC_SCHED_SET, &sched);
}

nvmlReturn_t nvmlDeviceSetVgpuSchedulerState(nvmlDevice_t device,
					     nvmlVgpuSchedulerSetState_t *state)
{
	nvmlReturn_t ret = nv_enter_host_device(device, state);

	if (ret)
		return ret;
	if (state->enableARRMode > NVML_VGPU_SCHEDULER_ARR_ENABLE)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	if (state->enableARRMode == NVML_VGPU_SCHEDULER_ARR_ENABLE)
		return nv_leave(NVML_ERROR_NOT_SUPPORTED);
	return nv_leave(sched_set(device, state->schedulerPolicy,
				  state->schedulerParams.vgpuSchedData.timeslice));
}

nvmlReturn_t nvmlDeviceSetVgpuSchedulerState_v2(nvmlDevice_t device,
						nvmlVgpuSchedulerState_v2_t *state)
{
	nvmlReturn_t ret = nv_enter_host_device(device, state);
	unsigned int hz, number;
	uint32_t engine;

	if (ret)
		return ret;
	number = state->engineId;
	ret = sched_engine(device, &number, &engine);
	if (ret)
		return nv_leave(ret);
	/* A policy is that of the whole GPU, and there is no averaging factor but the default. */
	if (number != NVML_VGPU_SCHEDULER_ENGINE_TYPE_GRAPHICS || state->avgFactor)
		return nv_leave(NVML_ERROR_NOT_SUPPORTED);
	hz = state->frequency;
	if (hz && (hz < FREQUENCY_MIN || hz > FREQUENCY_MAX))
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	return nv_leave(sched_set(device, state->schedulerPolicy, hz ? SEC_NS / hz : 0));
}

/*
 * The runs that the driver's log has, and what they add up to: the log has no sums.
 * @run_ns: service of the vGPU up to the end of the run, @preempt_ns: in the log
 */
struct sched_log {
	struct vgpu_ctl_switch entry[VGPU_SCHED_LOG];
	uint64_t run_ns[VGPU_SCHED_LOG];
	uint64_t preempt_ns[VGPU_SCHED_LOG];
	const struct vgpu_ctl_instance *inst[VGPU_SCHED_LOG];
	const struct nv_vgpus *vgpus;
	unsigned int nr;
};

/* The vGPU that a run was of, if it is there; an earlier one may have had its UUID. */
static const struct vgpu_ctl_instance *sched_log_inst(const struct sched_log *log,
						      const struct vgpu_ctl_switch *entry)
{
	unsigned int i;

	for (i = 0; i < log->vgpus->nr; i++)
		if (!memcmp(log->vgpus->inst[i].uuid, entry->uuid, VGPU_UUID_LEN) &&
		    entry->time_ns >= log->vgpus->inst[i].created_ns)
			return &log->vgpus->inst[i];
	return NULL;
}

static void sched_log_sums(struct sched_log *log, uint32_t engine)
{
	unsigned int i, k;

	for (i = 0; i < log->nr; i++)
		log->inst[i] = sched_log_inst(log, &log->entry[i]);
	for (i = 0; i < log->nr; i++) {
		uint64_t later_ns = 0, so_far_ns = 0;

		for (k = 0; k < log->nr; k++) {
			if (log->inst[k] != log->inst[i] ||
			    memcmp(log->entry[k].uuid, log->entry[i].uuid, VGPU_UUID_LEN))
				continue;
			if (k > i) {
				later_ns += log->entry[k].ran_ns;
			} else {
				so_far_ns += log->entry[k].ran_ns;
				log->preempt_ns[i] += log->entry[k].preempt_ns;
			}
		}
		log->run_ns[i] = so_far_ns;
		if (log->inst[i] && log->inst[i]->engine[engine].busy_ns > later_ns + so_far_ns)
			log->run_ns[i] = log->inst[i]->engine[engine].busy_ns - later_ns;
	}
}

static nvmlReturn_t sched_log_read(struct nvmlDevice_st *device, uint32_t engine,
				   struct sched_log **out)
{
	struct sched_log *log = calloc(1, sizeof(*log));
	struct vgpu_ctl_sched_log call = {
		.size = sizeof(call),
		.gpu = device->info.gpu,
		.engine = engine,
		.count = VGPU_SCHED_LOG,
		.entry_size = sizeof(log->entry[0]),
	};
	nvmlReturn_t ret;

	if (!log)
		return NVML_ERROR_MEMORY;
	call.entries = (uintptr_t)log->entry;
	ret = nv_node_call(VGPU_IOC_SCHED_LOG, &call);
	if (!ret)
		ret = nv_vgpus(device, true, &log->vgpus);
	if (ret) {
		free(log);
		return ret;
	}
	log->nr = call.count < VGPU_SCHED_LOG ? call.count : VGPU_SCHED_LOG;
	sched_log_sums(log, engine);
	*out = log;
	return NVML_SUCCESS;
}

/* The entries of the second version are those of the first with one member more. */
static void sched_log_entry(const struct sched_log *log, unsigned int i,
			    nvmlVgpuSchedulerLogEntry_v2_t *to)
{
	const struct vgpu_ctl_switch *entry = &log->entry[i];

	memset(to, 0, sizeof(*to));
	to->timestamp = entry->time_ns + nv.epoch_ns + entry->ran_ns;
	to->timeRunTotal = log->run_ns[i];
	to->timeRun = entry->ran_ns;
	to->swRunlistId = log->inst[i] ? nv_vgpu_id(log->inst[i]) : 0;
	to->targetTimeSlice = entry->slice_ns;
	to->cumulativePreemptionTime = log->preempt_ns[i];
	to->weight = log->inst[i] ? log->inst[i]->weight : 0;
}

static nvmlReturn_t sched_log(struct nvmlDevice_st *device, nvmlVgpuSchedulerLogInfo_v2_t *info)
{
	struct vgpu_ctl_sched sched;
	unsigned int policy, i;
	struct sched_log *log = NULL;
	uint32_t engine;
	nvmlReturn_t ret;

	ret = sched_engine(device, &info->engineId, &engine);
	if (!ret)
		ret = sched_read(device, &sched, &policy);
	if (!ret)
		ret = sched_log_read(device, engine, &log);
	if (ret)
		return ret;
	info->schedulerPolicy = policy;
	info->avgFactor = 0;
	info->timeslice = (unsigned int)sched.slice_ns;
	info->entriesCount = log->nr;
	memset(info->logEntries, 0, sizeof(info->logEntries));
	for (i = 0; i < log->nr; i++)
		sched_log_entry(log, i, &info->logEntries[i]);
	free(log);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetVgpuSchedulerLog_v2(nvmlDevice_t device,
					      nvmlVgpuSchedulerLogInfo_v2_t *info)
{
	nvmlReturn_t ret = nv_enter_host_device(device, info);

	return ret ? ret : nv_leave(sched_log(device, info));
}

nvmlReturn_t nvmlDeviceGetVgpuSchedulerLog(nvmlDevice_t device, nvmlVgpuSchedulerLog_t *old)
{
	nvmlReturn_t ret = nv_enter_host_device(device, old);
	nvmlVgpuSchedulerLogInfo_v2_t info;
	unsigned int i;

	if (ret)
		return ret;
	info.engineId = old->engineId;
	ret = sched_log(device, &info);
	if (ret)
		return nv_leave(ret);
	memset(old, 0, sizeof(*old));
	old->engineId = info.engineId;
	old->schedulerPolicy = info.schedulerPolicy;
	old->arrMode = NVML_VGPU_SCHEDULER_ARR_DISABLE;
	old->schedulerParams.vgpuSchedData.timeslice = info.timeslice;
	old->entriesCount = info.entriesCount;
	for (i = 0; i < info.entriesCount; i++)
		memcpy(&old->logEntries[i], &info.logEntries[i], sizeof(old->logEntries[i]));
	return nv_leave(NVML_SUCCESS);
}
