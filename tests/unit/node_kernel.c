// SPDX-License-Identifier: GPL-2.0
/* A kernel with a render node: see node_kernel.h. */
#include "vgpu_test.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "node_kernel.h"
#include "node_kernel_file.h"

#define BOS		32
#define VMS		8
#define PAGES		1024
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

static bool vms[VMS];
static uint64_t file_end;	/* of what buffers have had of the file */
static uint8_t *file;		/* of the node, mapped: memory of all buffers */

struct node_kernel node_kernel;

void node_file_opened(int fd)
{
	memset(bos, 0, sizeof(bos));
	memset(pages, 0, sizeof(pages));
	node_jobs_reset();
	memset(vms, 0, sizeof(vms));
	file_end = PAGE;
	assert_int_equal(ftruncate(fd, FILE_BYTES), 0);
	file = node_file_map(fd, FILE_BYTES);
	node_kernel.bos = 0;
	node_kernel.vms = 0;
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

	assert_true(!args->handle && args->placement <= DRM_VGPU_PLACEMENT_SYSTEM);
	if (args->flags & ~node_kernel.bo_flags || (args->flags && !is_fb))
		return -EINVAL;
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

bool node_vm_exists(uint32_t id)
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

	assert_true(!args->pad && node_vm_exists(args->id));
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

	assert_true(node_vm_exists(args->vm_id) && !args->flags && !args->syncs.count);
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

uint8_t *node_vm_reach(uint32_t vm, uint64_t addr, uint32_t access)
{
	const struct page *page = page_of(vm, addr / PAGE * PAGE);

	if (!page || access & ~page->flags)
		return NULL;
	return file + bos[page->bo].offset + page->offset + addr % PAGE;
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
		.system_free = FILE_BYTES - file_end,
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
	case DRM_IOCTL_VGPU_DEV_QUERY: return dev_query(arg);
	case DRM_IOCTL_VGPU_VM_CREATE: return vm_create(arg);
	case DRM_IOCTL_VGPU_VM_DESTROY: return vm_destroy(arg);
	case DRM_IOCTL_VGPU_VM_BIND: return vm_bind(arg);
	case DRM_IOCTL_VGPU_BO_CREATE: return bo_create(arg);
	case DRM_IOCTL_VGPU_BO_MMAP_OFFSET: return bo_mmap_offset(arg);
	}
	return node_jobs_ioctl(request, arg);
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
