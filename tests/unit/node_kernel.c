// SPDX-License-Identifier: GPL-2.0
/* A kernel with a render node: see node_kernel.h. */
#include "vgpu_test.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_packet.h"
#include "node_kernel.h"
#include "node_kernel_file.h"

#define BOS		32
#define VMS		8
#define PAGES		1024
#define SYNCS		8
#define POINTS		256
#define PACKETS		512
#define FILE_BYTES	(1ull << 30)
#define VA_BITS		38

/**
 * struct bo - a buffer, whose handle is its index + 1
 * @refs:      handle and mappings
 * @open:      it has a handle
 * @bytes:     its size
 * @placement: enum drm_vgpu_placement
 * @offset:    in the file of the node
 */
static struct bo {
	unsigned int refs;
	bool open;
	uint64_t bytes;
	uint32_t placement;
	uint64_t offset;
} bos[BOS];

/**
 * struct page - a page of a VM
 * @vm:     the VM; 0: not used
 * @va:     address
 * @flags:  VGPU_HW_PTE_*
 * @bo:     index of the buffer
 * @offset: in the buffer
 */
static struct page {
	uint32_t vm;
	uint64_t va;
	uint32_t flags;
	uint32_t bo;
	uint64_t offset;
} pages[PAGES];

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

static bool vms[VMS];
static uint64_t file_end;	/* of what buffers have had of the file */
static uint8_t *file;		/* of the node, mapped: memory of all buffers */

struct node_kernel node_kernel;
struct vgpu_fault node_next_fault;

void node_file_opened(int fd)
{
	memset(bos, 0, sizeof(bos));
	memset(pages, 0, sizeof(pages));
	memset(queues, 0, sizeof(queues));
	memset(syncs, 0, sizeof(syncs));
	memset(vms, 0, sizeof(vms));
	file_end = PAGE;
	assert_int_equal(ftruncate(fd, FILE_BYTES), 0);
	file = node_file_map(fd, FILE_BYTES);
	node_kernel.bos = 0;
	node_kernel.vms = 0;
	node_kernel.queues = 0;
	node_kernel.syncobjs = 0;
	node_kernel.fb_used = 0;
}

void node_file_closed(void)
{
	munmap(file, FILE_BYTES);
}

/* ---- buffers ---- */

static struct bo *bo_of(uint32_t handle)
{
	return handle && handle <= BOS && bos[handle - 1].open ? &bos[handle - 1] : NULL;
}

static void bo_put(struct bo *bo)
{
	assert_true(bo->refs);
	if (--bo->refs)
		return;
	if (bo->placement == DRM_VGPU_PLACEMENT_FRAMEBUFFER)
		node_kernel.fb_used -= bo->bytes;
}

static int bo_create(struct drm_vgpu_bo_create *args)
{
	bool is_fb = args->placement == DRM_VGPU_PLACEMENT_FRAMEBUFFER;
	struct bo *bo = bos;

	assert_true(!args->pad && !args->handle && args->placement <= DRM_VGPU_PLACEMENT_SYSTEM);
	assert_true(args->size && args->size % PAGE == 0);
	assert_int_equal(args->vm_id, 0);
	if (is_fb && args->size > NODE_FB_BYTES - node_kernel.fb_used - node_kernel.fb_others)
		return -ENOSPC;
	while (bo->refs)
		assert_true(++bo < bos + BOS);
	if (args->size > FILE_BYTES - file_end)
		return -ENOMEM;
	*bo = (struct bo) {
		.refs = 1, .open = true, .bytes = args->size, .placement = args->placement,
		.offset = file_end,
	};
	file_end += args->size;
	if (is_fb)
		node_kernel.fb_used += args->size;
	args->handle = bo - bos + 1;
	node_kernel.bos++;
	return 0;
}

static int bo_mmap_offset(struct drm_vgpu_bo_mmap_offset *args)
{
	const struct bo *bo = bo_of(args->handle);

	assert_true(bo && !args->pad && !args->offset);
	args->offset = bo->offset;
	return 0;
}

static int bo_close(struct drm_gem_close *args)
{
	struct bo *bo = bo_of(args->handle);

	assert_int_equal(args->pad, 0);
	if (!bo)
		return -EINVAL;
	bo->open = false;
	node_kernel.bos--;
	bo_put(bo);
	return 0;
}

int node_file_may_map(uint64_t bytes, int prot, int flags, uint64_t offset)
{
	unsigned int i;

	assert_int_equal(prot, PROT_READ | PROT_WRITE);
	assert_int_equal(flags & MAP_SHARED, MAP_SHARED);
	for (i = 0; i < BOS; i++)
		if (bos[i].open && bos[i].offset == offset && bytes <= bos[i].bytes)
			return 0;
	return -EINVAL;
}

/* ---- VMs ---- */

static bool vm_exists(uint32_t id)
{
	return id && id <= VMS && vms[id - 1];
}

static int vm_create(struct drm_vgpu_vm_create *args)
{
	uint32_t i = 0;

	assert_true(!args->flags && !args->id);
	while (vms[i])
		assert_true(++i < VMS);
	vms[i] = true;
	args->id = i + 1;
	node_kernel.vms++;
	return 0;
}

static void page_drop(struct page *page)
{
	page->vm = 0;
	bo_put(&bos[page->bo]);
}

static int vm_destroy(struct drm_vgpu_vm_destroy *args)
{
	unsigned int i;

	assert_true(!args->pad && vm_exists(args->id));
	vms[args->id - 1] = false;
	for (i = 0; i < PAGES; i++)
		if (pages[i].vm == args->id)
			page_drop(&pages[i]);
	node_kernel.vms--;
	return 0;
}

static struct page *page_of(uint32_t vm, uint64_t va)
{
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		if (pages[i].vm == vm && (!vm || pages[i].va == va))
			return &pages[i];
	return NULL;
}

static int bind_check(const struct drm_vgpu_bind_op *op)
{
	const struct bo *bo = bo_of(op->handle);

	assert_true(!op->pad && op->size);
	assert_int_equal((op->offset | op->va | op->size) % PAGE, 0);
	assert_true(op->va <= 1ull << VA_BITS && op->size <= (1ull << VA_BITS) - op->va);
	if (op->type == DRM_VGPU_BIND_UNMAP) {
		assert_true(!op->flags && !op->handle && !op->offset);
		return 0;
	}
	assert_int_equal(op->type, DRM_VGPU_BIND_MAP);
	assert_non_null(bo);
	assert_int_equal(op->flags & ~(DRM_VGPU_BIND_WRITE | DRM_VGPU_BIND_EXEC), 0);
	assert_true(op->offset <= bo->bytes && op->size <= bo->bytes - op->offset);
	return op->flags & DRM_VGPU_BIND_EXEC && bo->placement == DRM_VGPU_PLACEMENT_SYSTEM ?
		-EINVAL : 0;
}

static void bind_do(uint32_t vm, const struct drm_vgpu_bind_op *op)
{
	struct page *page;
	uint64_t at;

	for (at = 0; at < op->size; at += PAGE) {
		page = page_of(vm, op->va + at);
		if (page)
			page_drop(page);
		if (op->type == DRM_VGPU_BIND_UNMAP)
			continue;
		page = page_of(0, 0);
		assert_non_null(page);
		*page = (struct page) {
			.vm = vm, .va = op->va + at, .bo = op->handle - 1,
			.offset = op->offset + at,
			.flags = VGPU_HW_PTE_R |
				 (op->flags & DRM_VGPU_BIND_WRITE ? VGPU_HW_PTE_W : 0) |
				 (op->flags & DRM_VGPU_BIND_EXEC ? VGPU_HW_PTE_X : 0),
		};
		bos[page->bo].refs++;
	}
	node_kernel.binds++;
}

static int vm_bind(const struct drm_vgpu_vm_bind *args)
{
	const struct drm_vgpu_bind_op *op = (void *)(uintptr_t)args->ops.pointer;
	uint32_t i;
	int ret;

	assert_true(vm_exists(args->vm_id) && !args->flags && !args->syncs.count);
	assert_int_equal(args->ops.stride, sizeof(*op));
	assert_true(args->ops.count && args->ops.count <= DRM_VGPU_BIND_OPS_MAX);
	for (i = 0; i < args->ops.count; i++) {
		ret = bind_check(&op[i]);
		if (ret)
			return ret;
	}
	for (i = 0; i < args->ops.count; i++)
		bind_do(args->vm_id, &op[i]);
	return 0;
}

/* ---- queues ---- */

static struct queue *queue_of(uint32_t id)
{
	assert_true(id && id <= NODE_CHANNELS && queues[id - 1].vm);
	return &queues[id - 1];
}

static int queue_create(struct drm_vgpu_queue_create *args)
{
	uint32_t i = 0;

	assert_true(!args->flags && !args->pad && !args->id && args->engine < 2);
	assert_true(vm_exists(args->vm_id));
	assert_true(args->ring_order >= VGPU_HW_RING_ORDER_MIN &&
		    args->ring_order <= VGPU_HW_RING_ORDER_MAX);
	while (i < NODE_CHANNELS && queues[i].vm)
		i++;
	if (i == NODE_CHANNELS)
		return -EBUSY;
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
	const struct page *page = page_of(queue->vm, addr / PAGE * PAGE);

	if (!page || access & ~page->flags)
		return NULL;
	return file + bos[page->bo].offset + page->offset + addr % PAGE;
}

/* Whether an address is sign extended. */
static bool is_virtual(uint64_t addr)
{
	return addr >> VA_BITS == 0 || addr >> VA_BITS == ~0ull >> VA_BITS;
}

static void queue_run(struct queue *queue)
{
	unsigned int left = node_kernel.step ? node_kernel.step : PACKETS;

	if (node_kernel.hangs || queue->state != DRM_VGPU_QUEUE_OK)
		return;
	for (; queue->get < queue->put && left; left--, queue->get++) {
		queue->fault = node_next_fault;
		memset(&node_next_fault, 0, sizeof(node_next_fault));
		if (!queue->fault.code)
			fake_packet(&queue->packet[queue->get], node_kernel.elf, reach, queue,
				    &queue->fault);
		if (queue->fault.code) {
			/* As the device tells them apart. */
			if (queue->fault.code == VGPU_HW_FAULT_PAGE && !is_virtual(queue->fault.addr))
				queue->fault.code = VGPU_HW_FAULT_ADDRESS;
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

/* ---- calls ---- */

static int dev_query(struct drm_vgpu_dev_query *args)
{
	struct drm_vgpu_dev_info info = {
		.hw_version = VGPU_HW_VERSION_CURRENT,
		.page_size = PAGE,
		.va_bits = VA_BITS,
		.channels = NODE_CHANNELS,
		.nr_engines = 2,
		.fb_bytes = NODE_FB_BYTES,
		.fb_free = NODE_FB_BYTES - node_kernel.fb_used - node_kernel.fb_others,
		.engine = { VGPU_HW_ENGINE_CE << 8, VGPU_HW_ENGINE_GR << 8 },
	};

	assert_int_equal(args->pad, 0);
	memcpy((void *)(uintptr_t)args->pointer, &info, min_t(size_t, args->size, sizeof(info)));
	args->size = sizeof(info);
	return 0;
}

static int version(struct drm_version *args)
{
	const char *name = node_file_driver();

	memcpy(args->name, name, min_t(size_t, args->name_len, strlen(name)));
	args->name_len = strlen(name);
	args->version_major = 1;
	return 0;
}

static int answer(unsigned long request, void *arg)
{
	switch (request) {
	case DRM_IOCTL_VERSION: return version(arg);
	case DRM_IOCTL_GEM_CLOSE: return bo_close(arg);
	case DRM_IOCTL_SYNCOBJ_CREATE: return sync_create(arg);
	case DRM_IOCTL_SYNCOBJ_DESTROY: return sync_destroy(arg);
	case DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT: return sync_wait(arg);
	case DRM_IOCTL_VGPU_DEV_QUERY: return dev_query(arg);
	case DRM_IOCTL_VGPU_VM_CREATE: return vm_create(arg);
	case DRM_IOCTL_VGPU_VM_DESTROY: return vm_destroy(arg);
	case DRM_IOCTL_VGPU_VM_BIND: return vm_bind(arg);
	case DRM_IOCTL_VGPU_BO_CREATE: return bo_create(arg);
	case DRM_IOCTL_VGPU_BO_MMAP_OFFSET: return bo_mmap_offset(arg);
	case DRM_IOCTL_VGPU_QUEUE_CREATE: return queue_create(arg);
	case DRM_IOCTL_VGPU_QUEUE_DESTROY: return queue_destroy(arg);
	case DRM_IOCTL_VGPU_QUEUE_QUERY: return queue_query(arg);
	case DRM_IOCTL_VGPU_EXEC: return exec(arg);
	}
	check_that(false, "request %#lx", request);
	return -ENOTTY;
}

int node_file_fails(unsigned long request)
{
	if (!node_kernel.error || node_kernel.fail != request)
		return 0;
	if (node_kernel.after) {
		node_kernel.after--;
		return 0;
	}
	return node_kernel.error;
}

int node_file_ioctl(unsigned long request, void *arg)
{
	int ret = node_file_fails(request);

	if (node_kernel.signals) {
		node_kernel.signals--;
		return -EINTR;
	}
	if (ret)
		return ret;
	if (node_kernel.gone && request != DRM_IOCTL_VERSION)
		return -ENODEV;
	ret = answer(request, arg);
	if (!ret && node_kernel.lie)
		node_kernel.lie(request, arg);
	return ret;
}
