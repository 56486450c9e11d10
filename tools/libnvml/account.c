// SPDX-License-Identifier: GPL-2.0
/*
 * Accounting: who had vGPUs open, of the driver's list of sessions. It is always on. Of a process
 * with several sessions the last one is told. Of a vGPU whose guest names processes these are told
 * in their place, as far as this library has seen them (record.c).
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define ACCOUNT_ROOM	256	/* the most that a call gives */

/* What is told of a session. */
struct account_session {
	uint64_t id;
	unsigned int pid;
	uint8_t comm[VGPU_COMM_LEN];
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
	memcpy(session->comm, from->comm, sizeof(session->comm));
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
	nvmlReturn_t ret = account_read(&account);
	unsigned int i;

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
	nvmlReturn_t ret = account_read(&account);

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

/* Is there no later record of the same process? */
static bool account_is_last(const struct nv_records *records, unsigned int i)
{
	unsigned int k;

	for (k = i + 1; k < records->nr; k++)
		if (records->record[k].vgpu == records->record[i].vgpu &&
		    records->record[k].pid == records->record[i].pid)
			return false;
	return true;
}

/* Sets @nr to how many processes there are in the guest; their pids, as far as there is room. */
static void account_guest_pids(const struct nv_records *records, nvmlVgpuInstance_t vgpu,
			       unsigned int *nr, unsigned int *pids, unsigned int room)
{
	unsigned int i;

	*nr = 0;
	for (i = 0; i < records->nr; i++) {
		if (records->record[i].vgpu != vgpu || !account_is_last(records, i))
			continue;
		if (pids && *nr < room)
			pids[*nr] = records->record[i].pid;
		(*nr)++;
	}
}

/*
 * A program of the host that uses the vGPU itself labels its channels, too, and the driver knows
 * all about it. Sets @is_owner, and the stats if it is.
 */
static nvmlReturn_t account_owner(const struct nvmlDevice_st *device,
				  const struct vgpu_ctl_instance *inst,
				  const struct nv_record *record, bool *is_owner,
				  nvmlAccountingStats_t *stats)
{
	struct account account = { .device = device, .inst = inst, .pid = &record->pid };
	nvmlReturn_t ret = account_read(&account);

	*is_owner = !ret && account.nr && account.session->id == record->session &&
		    !memcmp(account.session->comm, record->comm, sizeof(record->comm));
	if (*is_owner)
		account_put(account.session, stats);
	free(account.session);
	return ret;
}

static nvmlReturn_t account_guest_stats(const struct nvmlDevice_st *device,
					const struct vgpu_ctl_instance *inst,
					nvmlVgpuInstance_t vgpu, unsigned int pid,
					nvmlAccountingStats_t *stats)
{
	const struct nv_record *record = NULL;
	unsigned int percent[NV_ENGINES], i;
	uint64_t lasted_ns;
	nvmlReturn_t ret;
	bool is_owner;

	for (i = 0; i < device->records.nr; i++)
		if (device->records.record[i].vgpu == vgpu && device->records.record[i].pid == pid)
			record = &device->records.record[i];
	if (!record)
		return NVML_ERROR_NOT_FOUND;
	ret = account_owner(device, inst, record, &is_owner, stats);
	if (ret || is_owner)
		return ret;
	lasted_ns = record->last_ns > record->start_ns ? record->last_ns - record->start_ns : 0;
	nv_percent(&device->info, record->busy, lasted_ns, percent);
	memset(stats, 0, sizeof(*stats));
	stats->gpuUtilization = percent[NV_SM];
	stats->memoryUtilization = percent[NV_MEM];
	stats->maxMemoryUsage = NVML_VALUE_NOT_AVAILABLE;
	stats->time = record->runs ? 0 : lasted_ns / 1000000;
	stats->startTime = nv_time_us(record->start_ns);
	stats->isRunning = record->runs;
	return NVML_SUCCESS;
}

/* As nv_enter_vgpu(), and looks at the guest. @nr: processes that it has named */
static nvmlReturn_t account_enter(nvmlVgpuInstance_t vgpu, const void *out,
				  struct vgpu_ctl_instance *inst, struct nvmlDevice_st **device,
				  unsigned int *nr)
{
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, out, inst);

	if (ret)
		return ret;
	*device = nv_device_of(inst->gpu);
	ret = *device ? nv_guests_look(*device) : NVML_ERROR_UNKNOWN;
	if (ret)
		return nv_leave(ret);
	account_guest_pids(&(*device)->records, vgpu, nr, NULL, 0);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlVgpuInstanceGetAccountingPids(nvmlVgpuInstance_t vgpu, unsigned int *count,
					       unsigned int *pids)
{
	struct vgpu_ctl_instance inst;
	struct nvmlDevice_st *device;
	unsigned int nr, room;
	nvmlReturn_t ret = account_enter(vgpu, count, &inst, &device, &nr);

	if (ret)
		return ret;
	if (!nr)
		return nv_leave(account_pids(device, &inst, count, pids));
	room = *count;
	ret = nv_put_count(pids, count, nr);
	if (!ret)
		account_guest_pids(&device->records, vgpu, &nr, pids, room);
	return nv_leave(ret);
}

nvmlReturn_t nvmlVgpuInstanceGetAccountingStats(nvmlVgpuInstance_t vgpu, unsigned int pid,
						nvmlAccountingStats_t *stats)
{
	struct vgpu_ctl_instance inst;
	struct nvmlDevice_st *device;
	unsigned int nr;
	nvmlReturn_t ret = account_enter(vgpu, stats, &inst, &device, &nr);

	if (ret)
		return ret;
	return nv_leave(nr ? account_guest_stats(device, &inst, vgpu, pid, stats) :
			account_stats(device, &inst, pid, stats));
}
