// SPDX-License-Identifier: GPL-2.0
/* Of node_kernel.h: queues, jobs and syncobjs. */
#include "vgpu_test.h"

#include <errno.h>

#include "fake_packet.h"
#include "node_kernel.h"
#include "node_kernel_file.h"

#define SYNCS		8
#define POINTS		256
#define PACKETS		512

/**
 * struct queue - a queue, whose id is its index + 1
 * @vm:     the VM; 0: the queue is not used
 * @engine: index of its engine
 * @order:  of its ring
 * @packet: what was submitted
 * @put:    how many
 * @get:    how many are executed
 * @state:  enum drm_vgpu_queue_state
 * @fault:  why it is lost
 */
static struct queue {
	uint32_t vm;
	uint32_t engine;
	uint32_t order;
	struct vgpu_hw_packet packet[PACKETS];
	uint64_t put;
	uint64_t get;
	uint32_t state;
	struct vgpu_fault fault;
} queues[NODE_CHANNELS];

/**
 * struct sync - a syncobj, whose handle is its index + 1
 * @used:  it exists
 * @nr:    points that have a fence
 * @point: these
 * @queue: of each the queue's index
 * @put:   of each, packets of the queue up to it
 */
static struct sync {
	bool used;
	unsigned int nr;
	uint64_t point[POINTS];
	uint32_t queue[POINTS];
	uint64_t put[POINTS];
} syncs[SYNCS];

struct vgpu_fault node_next_fault;

void node_jobs_reset(void)
{
	memset(queues, 0, sizeof(queues));
	memset(syncs, 0, sizeof(syncs));
	node_kernel.queues = 0;
	node_kernel.syncobjs = 0;
}

static struct queue *queue_of(uint32_t id)
{
	assert_true(id && id <= NODE_CHANNELS && queues[id - 1].vm);
	return &queues[id - 1];
}

static int queue_create(struct drm_vgpu_queue_create *args)
{
	uint32_t i = 0;

	assert_true(!args->flags && !args->priority && !args->id && args->engine < 2);
	assert_true(node_vm_exists(args->vm_id));
	assert_true(args->ring_order >= VGPU_HW_RING_ORDER_MIN &&
		    args->ring_order <= VGPU_HW_RING_ORDER_MAX);
	while (i < NODE_CHANNELS && queues[i].vm)
		i++;
	if (i == NODE_CHANNELS)
		return -ENOSPC;
	memset(&queues[i], 0, sizeof(queues[i]));
	queues[i].vm = args->vm_id;
	queues[i].engine = args->engine;
	queues[i].order = args->ring_order;
	args->id = i + 1;
	node_kernel.queues++;
	return 0;
}

static int queue_destroy(struct drm_vgpu_queue_destroy *args)
{
	assert_int_equal(args->pad, 0);
	queue_of(args->id)->vm = 0;
	node_kernel.queues--;
	return 0;
}

static int queue_query(struct drm_vgpu_queue_query *args)
{
	const struct queue *queue = queue_of(args->id);

	*args = (struct drm_vgpu_queue_query) {
		.id = args->id,
		.state = queue->state,
		.submitted = queue->put,
		.completed = queue->get,
		.fault_code = queue->fault.code,
		.fault_packet = queue->fault.pos,
		.fault_addr = queue->fault.addr,
		.fault_pc = queue->fault.pc,
	};
	memcpy(args->fault_id, queue->fault.id, sizeof(args->fault_id));
	return 0;
}

void node_lose(enum drm_vgpu_queue_state state)
{
	unsigned int i;

	for (i = 0; i < NODE_CHANNELS; i++)
		queues[i].state = state;
}

static uint8_t *reach(void *data, uint64_t addr, uint32_t access)
{
	const struct queue *queue = data;

	return node_vm_reach(queue->vm, addr, access);
}

static void queue_execute(struct queue *queue, const struct vgpu_hw_packet *packet)
{
	struct vgpu_fault *fault = &queue->fault;
	uint64_t high;

	*fault = node_next_fault;
	memset(&node_next_fault, 0, sizeof(node_next_fault));
	if (!fault->code)
		fake_packet(packet, node_kernel.elf, reach, queue, fault);
	/* What is not sign extended is no virtual address, and the device tells these apart. */
	high = fault->addr >> (VGPU_HW_VA_BITS - 1);
	if (fault->code == VGPU_HW_FAULT_PAGE && high && high != ~0ull >> (VGPU_HW_VA_BITS - 1))
		fault->code = VGPU_HW_FAULT_ADDRESS;
}

static void queue_run(struct queue *queue)
{
	unsigned int left = node_kernel.step ? node_kernel.step : PACKETS;

	if (node_kernel.hangs || queue->state != DRM_VGPU_QUEUE_OK)
		return;
	for (; queue->get < queue->put && left; left--, queue->get++) {
		queue_execute(queue, &queue->packet[queue->get]);
		if (queue->fault.code) {
			queue->fault.pos = queue->get;
			queue->state = DRM_VGPU_QUEUE_FAULT;
			return;
		}
	}
}

static int exec_check(const struct queue *queue, const struct vgpu_hw_packet *packet)
{
	bool is_gr = queue->engine == 1;

	if (packet->vector || packet->op_flags ||
	    packet->flags & ~(VGPU_HW_PKT_BARRIER | VGPU_HW_PKT_SIGNAL))
		return -EINVAL;
	switch (packet->type) {
	case VGPU_HW_PKT_NOP:
	case VGPU_HW_PKT_FILL:
	case VGPU_HW_PKT_COPY:
		return 0;
	case VGPU_HW_PKT_FENCE:
		return packet->flags & VGPU_HW_PKT_SIGNAL ? 0 : -EINVAL;
	case VGPU_HW_PKT_DISPATCH:
		return is_gr ? 0 : -EINVAL;
	case VGPU_HW_PKT_PRESENT:
		if (!is_gr)
			return -EINVAL;
		return node_kernel.admin ? 0 : -EPERM;
	}
	return -EINVAL;
}

/* All is signalled, on one timeline whose points grow. */
static void exec_signal(const struct queue *queue, const struct drm_vgpu_sync *signal)
{
	struct sync *sync;

	assert_true(signal->handle && signal->handle <= SYNCS);
	sync = &syncs[signal->handle - 1];
	assert_true(sync->used && sync->nr < POINTS && signal->point);
	assert_int_equal(signal->flags, DRM_VGPU_SYNC_SIGNAL | DRM_VGPU_SYNC_TIMELINE);
	assert_true(!sync->nr || signal->point > sync->point[sync->nr - 1]);
	sync->point[sync->nr] = signal->point;
	sync->queue[sync->nr] = queue - queues;
	sync->put[sync->nr++] = queue->put;
}

static int exec(const struct drm_vgpu_exec *args)
{
	const struct vgpu_hw_packet *packet = (void *)(uintptr_t)args->packets;
	struct queue *queue = queue_of(args->queue_id);
	uint32_t i;
	int ret;

	assert_true(!args->flags && !args->pad && args->count);
	assert_int_equal(args->syncs.count, 1);
	assert_int_equal(args->syncs.stride, sizeof(struct drm_vgpu_sync));
	assert_true(args->count <= 1u << queue->order);
	for (i = 0; i < args->count; i++) {
		ret = exec_check(queue, &packet[i]);
		if (ret)
			return ret;
	}
	if (queue->state != DRM_VGPU_QUEUE_OK)
		return -EIO;
	assert_true(queue->put + args->count <= PACKETS);
	memcpy(&queue->packet[queue->put], packet, args->count * sizeof(*packet));
	queue->put += args->count;
	exec_signal(queue, (void *)(uintptr_t)args->syncs.pointer);
	node_kernel.execs++;
	return 0;
}

/* ---- syncobjs ---- */

static int sync_create(struct drm_syncobj_create *args)
{
	unsigned int i = 0;

	assert_true(!args->handle && !args->flags);
	while (syncs[i].used)
		assert_true(++i < SYNCS);
	memset(&syncs[i], 0, sizeof(syncs[i]));
	syncs[i].used = true;
	args->handle = i + 1;
	node_kernel.syncobjs++;
	return 0;
}

static int sync_destroy(struct drm_syncobj_destroy *args)
{
	assert_true(args->handle && args->handle <= SYNCS && syncs[args->handle - 1].used);
	assert_int_equal(args->pad, 0);
	syncs[args->handle - 1].used = false;
	node_kernel.syncobjs--;
	return 0;
}

static int sync_wait(struct drm_syncobj_timeline_wait *args)
{
	uint32_t handle = *(uint32_t *)(uintptr_t)args->handles;
	uint64_t point = *(uint64_t *)(uintptr_t)args->points;
	const struct sync *sync = &syncs[handle - 1];
	struct queue *queue;
	unsigned int i = 0;

	assert_true(args->count_handles == 1 && !args->pad && args->timeout_nsec >= 0);
	assert_int_equal(args->flags, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT);
	assert_true(handle && handle <= SYNCS && sync->used);
	node_kernel.waits++;
	while (i < sync->nr && sync->point[i] < point)
		i++;
	if (i == sync->nr)
		return -ETIME;
	queue = &queues[sync->queue[i]];
	queue_run(queue);
	return queue->state != DRM_VGPU_QUEUE_OK || queue->get >= sync->put[i] ? 0 : -ETIME;
}

int node_jobs_ioctl(unsigned long request, void *arg)
{
	switch (request) {
	case DRM_IOCTL_SYNCOBJ_CREATE: return sync_create(arg);
	case DRM_IOCTL_SYNCOBJ_DESTROY: return sync_destroy(arg);
	case DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT: return sync_wait(arg);
	case DRM_IOCTL_VGPU_QUEUE_CREATE: return queue_create(arg);
	case DRM_IOCTL_VGPU_QUEUE_DESTROY: return queue_destroy(arg);
	case DRM_IOCTL_VGPU_QUEUE_QUERY: return queue_query(arg);
	case DRM_IOCTL_VGPU_EXEC: return exec(arg);
	}
	check_that(false, "request %#lx", request);
	return -ENOTTY;
}
