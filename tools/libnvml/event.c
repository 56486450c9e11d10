// SPDX-License-Identifier: GPL-2.0
/*
 * Events: faults of guests, engines that had to be reset, and GPUs that are gone, as the numbers
 * (Xid) that managers of clusters know. A set has a /dev/vgpu of its own, from its creation on; a
 * wait reads there without the library's lock.
 *
 * In a guest there are sets, but no events: the driver tells a fault to who has the queue. Health
 * checks of clusters take a GPU without sets for a broken one, but ask which types it has.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

/* Numbers of the field: what an application can cause, but for the last one. */
#define XID_ENGINE_EXCEPTION	13
#define XID_PAGE_FAULT		31
#define XID_SWITCH_TIMEOUT	109
#define XID_GPU_LOST		79

#define SLICE_MS		100	/* how soon a wait sees that its set is freed */

/*
 * @users: waits under way; who makes it 0 after the set was @freed frees it
 * @fd:    -1 in a guest
 * @pid:   whose @fd it is: a child of fork() opens its own
 * @types: for each GPU, by its index, what is registered
 */
struct nvmlEventSet_st {
	struct nvmlEventSet_st *next;
	int fd;
	pid_t pid;
	unsigned int users;
	bool freed;
	unsigned int devices;
	unsigned long long types[];
};

static nvmlReturn_t event_open(int *fd)
{
	struct vgpu_ctl_events events = {
		.size = sizeof(events),
		.event_size = sizeof(struct vgpu_ctl_event),
	};
	nvmlReturn_t ret;

	*fd = -1;
	if (!nv.source->is_host)
		return NVML_SUCCESS;
	ret = nv_node_open(O_NONBLOCK, fd);
	if (ret)
		return ret;
	if (ioctl(*fd, VGPU_IOC_EVENTS, &events) < 0) {
		ret = nv_node_error(errno);
		close(*fd);
	}
	return ret;
}

static void event_close(const struct nvmlEventSet_st *set)
{
	if (set->fd >= 0)
		close(set->fd);
}

static void event_free(struct nvmlEventSet_st *set)
{
	event_close(set);
	free(set);
}

static unsigned long long event_types(void)
{
	return nv.source->is_host ? nvmlEventTypeXidCriticalError : nvmlEventTypeNone;
}

/* A set that is waited on is freed by the wait; a child of fork() has no waits of its parent. */
static void event_drop(struct nvmlEventSet_st *set)
{
	set->freed = true;
	if (!set->users || set->pid != getpid())
		event_free(set);
}

void nv_events_exit(void)
{
	struct nvmlEventSet_st *set;

	while (nv.sets) {
		set = nv.sets;
		nv.sets = set->next;
		event_drop(set);
	}
}

/* Takes the lock if there is such a set. */
static nvmlReturn_t event_enter(nvmlEventSet_t wanted)
{
	nvmlReturn_t ret = nv_enter();
	struct nvmlEventSet_st *set;

	if (ret)
		return ret;
	for (set = nv.sets; set; set = set->next)
		if (set == wanted)
			return NVML_SUCCESS;
	return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *out)
{
	nvmlReturn_t ret = nv_enter();
	struct nvmlEventSet_st *set;

	if (ret)
		return ret;
	if (!out)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	set = calloc(1, sizeof(*set) + nv.devices * sizeof(set->types[0]));
	if (!set)
		return nv_leave(NVML_ERROR_MEMORY);
	ret = event_open(&set->fd);
	if (ret) {
		free(set);
		return nv_leave(ret);
	}
	set->pid = getpid();
	set->devices = nv.devices;
	set->next = nv.sets;
	nv.sets = set;
	*out = set;
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)
{
	nvmlReturn_t ret = event_enter(set);
	struct nvmlEventSet_st **link = &nv.sets;

	if (ret)
		return ret;
	while (*link != set)
		link = &(*link)->next;
	*link = set->next;
	event_drop(set);
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *types)
{
	nvmlReturn_t ret = nv_enter_device(device, types);

	if (ret)
		return ret;
	*types = event_types();
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types,
				      nvmlEventSet_t set)
{
	nvmlReturn_t ret = event_enter(set);

	if (ret)
		return ret;
	if (!nv_device_at(device)) {
		ret = nv_mig_device(device);
		return nv_leave(ret ? ret : NVML_ERROR_NOT_SUPPORTED);
	}
	if (types & ~event_types())
		return nv_leave(NVML_ERROR_NOT_SUPPORTED);
	set->types[device->index] |= types;
	return nv_leave(NVML_SUCCESS);
}

static unsigned int event_xid(const struct vgpu_ctl_event *event)
{
	switch (event->type) {
	case VGPU_EVENT_FAULT:
		if (event->b == VGPU_HW_FAULT_RESET)	/* has an event of its own */
			return 0;
		if (event->b == VGPU_HW_FAULT_ADDRESS || event->b == VGPU_HW_FAULT_DMA ||
		    event->b == VGPU_HW_FAULT_PAGE)
			return XID_PAGE_FAULT;
		return XID_ENGINE_EXCEPTION;
	case VGPU_EVENT_ENGINE_RESET:
		return XID_SWITCH_TIMEOUT;
	case VGPU_EVENT_GPU_REMOVED:
		return XID_GPU_LOST;
	default:
		return 0;
	}
}

/* Of a vGPU that is still there the instances that it is in. */
static void event_instance(const struct vgpu_ctl_event *event, nvmlEventData_t *data)
{
	struct vgpu_ctl_instance inst;

	data->gpuInstanceId = NVML_NO_INSTANCE;
	data->computeInstanceId = NVML_NO_INSTANCE;
	if (nv_node_instance(event->uuid, &inst) || inst.gpu != event->gpu || !inst.partition)
		return;
	data->gpuInstanceId = inst.partition;
	data->computeInstanceId = NV_CI_ID;
}

/* Reads until there is an event that is registered for; TIMEOUT: there was none. */
static nvmlReturn_t event_read(struct nvmlEventSet_st *set, nvmlEventData_t *data)
{
	struct vgpu_ctl_event event;
	struct nvmlDevice_st *device;
	unsigned int xid;

	while (set->fd >= 0 &&
	       read(set->fd, &event, sizeof(event)) == (ssize_t)sizeof(event)) {
		xid = event_xid(&event);
		device = nv_device_of(event.gpu);
		if (!xid || !device || !(set->types[device->index] & nvmlEventTypeXidCriticalError))
			continue;
		memset(data, 0, sizeof(*data));
		data->device = device;
		data->eventType = nvmlEventTypeXidCriticalError;
		data->eventData = xid;
		event_instance(&event, data);
		return NVML_SUCCESS;
	}
	return NVML_ERROR_TIMEOUT;
}

static uint64_t event_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* The file that a process has from its parent is the parent's, who would miss what it reads. */
static nvmlReturn_t event_own(struct nvmlEventSet_st *set)
{
	nvmlReturn_t ret;
	int fd;

	if (set->pid == getpid())
		return NVML_SUCCESS;
	ret = event_open(&fd);
	if (ret)
		return ret;
	event_close(set);
	set->fd = fd;
	set->pid = getpid();
	set->users = 1;
	return NVML_SUCCESS;
}

/* A wait is over. */
static void event_put(struct nvmlEventSet_st *set)
{
	if (!--set->users && set->freed)
		event_free(set);
}

static void event_cancelled(void *set)
{
	nv_lock();
	event_put(set);
	nv_unlock();
}

/* Waits without the lock. Here, and nowhere else in the library, a thread can be cancelled. */
static void event_poll(struct nvmlEventSet_st *set, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = set->fd, .events = POLLIN };

	nv_unlock();
	pthread_cleanup_push(event_cancelled, set);
	poll(&poll_fd, 1, timeout_ms);
	pthread_cleanup_pop(0);
	nv_lock();
}

/* With the lock, which is not held while nothing happens. */
static nvmlReturn_t event_wait(struct nvmlEventSet_st *set, nvmlEventData_t *data,
			       unsigned int timeout_ms)
{
	uint64_t end_ms = event_now_ms() + timeout_ms, now_ms;
	nvmlReturn_t ret;
	int left_ms;

	for (;;) {
		ret = event_read(set, data);
		now_ms = event_now_ms();
		if (ret != NVML_ERROR_TIMEOUT || now_ms >= end_ms)
			return ret;
		left_ms = end_ms - now_ms < SLICE_MS ? (int)(end_ms - now_ms) : SLICE_MS;
		event_poll(set, left_ms);
		if (set->freed)
			return nv.refs ? NVML_ERROR_INVALID_ARGUMENT :
					 NVML_ERROR_UNINITIALIZED;
	}
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeout_ms)
{
	nvmlReturn_t ret = event_enter(set);

	if (ret)
		return ret;
	if (!data)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	set->users++;
	ret = event_own(set);
	if (!ret)
		ret = event_wait(set, data, timeout_ms);
	event_put(set);
	return nv_leave(ret);
}

/* The first version's structure ends before the numbers of MIG instances. */
nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_v1_t *old, unsigned int timeout_ms)
{
	nvmlEventData_t data;
	nvmlReturn_t ret = nvmlEventSetWait_v2(set, old ? &data : NULL, timeout_ms);

	if (!ret)
		memcpy(old, &data, sizeof(*old));
	return ret;
}
