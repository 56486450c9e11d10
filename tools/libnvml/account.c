// SPDX-License-Identifier: GPL-2.0
/*
 * Accounting: who had vGPUs open, of the driver's list of sessions. It is always on. Of a process
 * with several sessions the last one is told.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define ACCOUNT_ROOM	256	/* the most that a call gives */

/* What is told of a session. */
struct account_session {
	uint64_t id;
	unsigned int pid;
	uint64_t start_ns;
	uint64_t end_ns;		/* 0: it has not ended */
	uint64_t lasted_ns;
	uint64_t max_fb_bytes;
	unsigned int percent[NV_ENGINES];
};

/*
 * Sessions that are wanted: those of @device, or of the vGPU @inst, or of the process @pid; NULL:
 * of all.
 */
struct account {
	const struct nvmlDevice_st *device;
	const struct vgpu_ctl_instance *inst;
	const unsigned int *pid;
	unsigned int nr;
	struct account_session *session;
};

static bool account_wants(const struct account *account, const struct vgpu_ctl_session *session)
{
	const struct vgpu_ctl_instance *inst = account->inst;

	if (inst && (memcmp(inst->uuid, session->uuid, sizeof(inst->uuid)) ||
		     session->start_ns < inst->created_ns))
		return false;
	return !account->pid || *account->pid == (unsigned int)session->pid;
}

static void account_add(struct account *account, const struct vgpu_ctl_session *from,
			uint64_t now_ns)
{
	struct account_session *session = &account->session[account->nr++];

	session->id = from->id;
	session->pid = (unsigned int)from->pid;
	session->start_ns = from->start_ns;
	session->end_ns = from->end_ns;
	session->lasted_ns = (from->end_ns ? from->end_ns : now_ns) - from->start_ns;
	session->max_fb_bytes = from->max_fb_bytes;
	nv_percent(&account->device->info, from->engine, session->lasted_ns, session->percent);
}

/* @page: memory for what a call gives, of which each element has @entry_size bytes. */
static nvmlReturn_t account_more(struct account *account, uint8_t *page, size_t entry_size,
				 uint64_t *first_id, bool *end)
{
	struct vgpu_ctl_sessions call = {
		.size = sizeof(call),
		.gpu = account->device->info.gpu,
		.count = ACCOUNT_ROOM,
		.entry_size = (uint32_t)entry_size,
		.entries = (uintptr_t)page,
		.first_id = *first_id,
	};
	const struct vgpu_ctl_session *from;
	struct account_session *session;
	nvmlReturn_t ret;
	unsigned int i;

	session = realloc(account->session, (account->nr + ACCOUNT_ROOM) * sizeof(*session));
	if (!session)
		return NVML_ERROR_MEMORY;
	account->session = session;
	ret = nv_node_call(VGPU_IOC_SESSIONS, &call);
	if (ret)
		return ret;
	for (i = 0; i < call.count && i < ACCOUNT_ROOM; i++) {
		from = (const void *)(page + i * entry_size);
		if (account_wants(account, from))
			account_add(account, from, call.now_ns);
	}
	*end = !call.count || call.next_id <= *first_id;
	*first_id = call.next_id;
	return NVML_SUCCESS;
}

static int account_order(const void *a, const void *b)
{
	const struct account_session *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/*
 * Reads the sessions that are wanted, by pid, and of each pid the last one. Who opens vGPUs again
 * and again chooses how many pids there are. The caller frees account->session, also on failure.
 */
static nvmlReturn_t account_read(struct account *account)
{
	size_t entry_size = nv_entry_size(struct vgpu_ctl_session, account->device->info.engines);
	uint8_t *page = malloc(ACCOUNT_ROOM * entry_size);
	nvmlReturn_t ret = page ? NVML_SUCCESS : NVML_ERROR_MEMORY;
	uint64_t first_id = 0;
	unsigned int i, nr = 0;
	bool end = false;

	while (!ret && !end)
		ret = account_more(account, page, entry_size, &first_id, &end);
	free(page);
	if (ret)
		return ret;
	qsort(account->session, account->nr, sizeof(*account->session), account_order);
	for (i = 0; i < account->nr; i++)
		if (i + 1 == account->nr || account->session[i].pid != account->session[i + 1].pid)
			account->session[nr++] = account->session[i];
	account->nr = nr;
	return NVML_SUCCESS;
}

static nvmlReturn_t account_pids(const struct nvmlDevice_st *device,
				 const struct vgpu_ctl_instance *inst, unsigned int *count,
				 unsigned int *pids)
{
	struct account account = { .device = device, .inst = inst };
	unsigned int i;
	nvmlReturn_t ret;

	if (!device)
		return NVML_ERROR_UNKNOWN;
	ret = account_read(&account);
	if (!ret)
		ret = nv_put_count(pids, count, account.nr);
	for (i = 0; !ret && i < account.nr; i++)
		pids[i] = account.session[i].pid;
	free(account.session);
	return ret;
}

static void account_put(const struct account_session *session, nvmlAccountingStats_t *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats->gpuUtilization = session->percent[NV_SM];
	stats->memoryUtilization = session->percent[NV_MEM];
	stats->maxMemoryUsage = session->max_fb_bytes;
	stats->time = session->end_ns ? session->lasted_ns / 1000000 : 0;
	stats->startTime = nv_time_us(session->start_ns);
	stats->isRunning = !session->end_ns;
}

static nvmlReturn_t account_stats(const struct nvmlDevice_st *device,
				  const struct vgpu_ctl_instance *inst, unsigned int pid,
				  nvmlAccountingStats_t *stats)
{
	struct account account = { .device = device, .inst = inst, .pid = &pid };
	nvmlReturn_t ret;

	if (!device)
		return NVML_ERROR_UNKNOWN;
	ret = account_read(&account);
	if (!ret && !account.nr)
		ret = NVML_ERROR_NOT_FOUND;
	if (!ret)
		account_put(account.session, stats);
	free(account.session);
	return ret;
}

/* The driver keeps sessions of all GPUs; this asks whether the GPU is there. */
static nvmlReturn_t account_kept(uint32_t gpu)
{
	struct vgpu_ctl_sessions call = {
		.size = sizeof(call),
		.gpu = gpu,
		.entry_size = sizeof(struct vgpu_ctl_session),
	};

	return nv_node_call(VGPU_IOC_SESSIONS, &call);
}

nvmlReturn_t nvmlDeviceGetAccountingMode(nvmlDevice_t device, nvmlEnableState_t *mode)
{
	nvmlReturn_t ret = nv_enter_host_device(device, mode);

	if (ret)
		return ret;
	ret = account_kept(device->info.gpu);
	if (!ret)
		*mode = NVML_FEATURE_ENABLED;
	return nv_leave(ret);
}

nvmlReturn_t nvmlDeviceGetAccountingBufferSize(nvmlDevice_t device, unsigned int *size)
{
	nvmlReturn_t ret = nv_enter_host_device(device, size);

	if (ret)
		return ret;
	ret = account_kept(device->info.gpu);
	if (!ret)
		*size = VGPU_SESSIONS_KEPT;
	return nv_leave(ret);
}

nvmlReturn_t nvmlDeviceGetAccountingPids(nvmlDevice_t device, unsigned int *count,
					 unsigned int *pids)
{
	nvmlReturn_t ret = nv_enter_host_device(device, count);

	return ret ? ret : nv_leave(account_pids(device, NULL, count, pids));
}

nvmlReturn_t nvmlDeviceGetAccountingStats(nvmlDevice_t device, unsigned int pid,
					  nvmlAccountingStats_t *stats)
{
	nvmlReturn_t ret = nv_enter_host_device(device, stats);

	return ret ? ret : nv_leave(account_stats(device, NULL, pid, stats));
}

nvmlReturn_t nvmlVgpuInstanceGetAccountingMode(nvmlVgpuInstance_t vgpu, nvmlEnableState_t *mode)
{
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, mode, &inst);

	if (ret)
		return ret;
	ret = account_kept(inst.gpu);
	if (!ret)
		*mode = NVML_FEATURE_ENABLED;
	return nv_leave(ret);
}

nvmlReturn_t nvmlVgpuInstanceGetAccountingPids(nvmlVgpuInstance_t vgpu, unsigned int *count,
					       unsigned int *pids)
{
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, count, &inst);

	return ret ? ret : nv_leave(account_pids(nv_device_of(inst.gpu), &inst, count, pids));
}

nvmlReturn_t nvmlVgpuInstanceGetAccountingStats(nvmlVgpuInstance_t vgpu, unsigned int pid,
						nvmlAccountingStats_t *stats)
{
	struct vgpu_ctl_instance inst;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, stats, &inst);

	return ret ? ret : nv_leave(account_stats(nv_device_of(inst.gpu), &inst, pid, stats));
}
