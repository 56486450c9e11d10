// SPDX-License-Identifier: GPL-2.0
/*
 * The transport over a render node: address spaces are VMs, and one more is that of the channels
 * without an address space. There the framebuffer is where programs look for it, and buffers are at
 * addresses of their own.
 */
#include <errno.h>

#include "node.h"

#define OPS		64	/* in one call */
#define PTE_FLAGS	(VGPU_HW_PTE_R | VGPU_HW_PTE_W | VGPU_HW_PTE_X)

/*
 * A bit that no virtual address has: set in that of a packet which names no memory, so that this is
 * an address fault, as it is without a VM, and does not reach what the VM happens to have there.
 */
#define NOWHERE		(1ull << 62)

/**
 * struct binds - changes of a VM
 * @dev: the device
 * @vm:  the VM
 * @nr:  elements of @op
 * @op:  what is not done yet
 */
struct binds {
	struct vgpu_dev *dev;
	uint32_t vm;
	uint32_t nr;
	struct drm_vgpu_bind_op op[OPS];
};

/* Returns when the device uses nothing any more of what was there before. */
static int binds_do(struct binds *binds)
{
	struct drm_vgpu_vm_bind bind = {
		.vm_id = binds->vm,
		.ops = {
			.stride = sizeof(binds->op[0]), .count = binds->nr,
			.pointer = (uintptr_t)binds->op,
		},
	};

	if (!binds->nr)
		return 0;
	binds->nr = 0;
	return vgpu_node_call(binds->dev, DRM_IOCTL_VGPU_VM_BIND, &bind, "VM_BIND");
}

static int binds_add(struct binds *binds, const struct drm_vgpu_bind_op *op)
{
	int ret = binds->nr == OPS ? binds_do(binds) : 0;

	if (!ret)
		binds->op[binds->nr++] = *op;
	return ret;
}

static int unmap(struct vgpu_dev *dev, uint32_t vm, uint64_t va, uint64_t bytes)
{
	struct binds binds = { .dev = dev, .vm = vm };
	const struct drm_vgpu_bind_op op = {
		.type = DRM_VGPU_BIND_UNMAP, .va = va, .size = bytes,
	};

	binds_add(&binds, &op);
	return binds_do(&binds);
}

static uint64_t flat_va(uint64_t at, bool is_fb)
{
	return is_fb ? VGPU_HW_VA_GLOBAL + at : at;
}

/* A program may be anywhere in the framebuffer, and write anywhere. */
static struct drm_vgpu_bind_op flat_op(const struct vgpu_node_bo *bo, bool is_fb)
{
	return (struct drm_vgpu_bind_op) {
		.type = DRM_VGPU_BIND_MAP,
		.flags = DRM_VGPU_BIND_WRITE | (is_fb ? DRM_VGPU_BIND_EXEC : 0),
		.handle = bo->handle,
		.va = flat_va(bo->at, is_fb),
		.size = bo->bytes,
	};
}

int vgpu_node_flat_map(struct vgpu_dev *dev, const struct vgpu_node_bo *bo, bool is_fb)
{
	struct binds binds = { .dev = dev, .vm = dev->node->vm };
	const struct drm_vgpu_bind_op op = flat_op(bo, is_fb);

	if (!binds.vm)
		return 0;
	binds_add(&binds, &op);
	return binds_do(&binds);
}

void vgpu_node_flat_unmap(struct vgpu_dev *dev, uint64_t at, uint64_t bytes, bool is_fb)
{
	if (dev->node->vm && bytes)
		unmap(dev, dev->node->vm, flat_va(at, is_fb), bytes);
}

static int vm_create(struct vgpu_dev *dev, uint32_t *id)
{
	struct drm_vgpu_vm_create create = {};
	int ret;

	ret = vgpu_node_call(dev, DRM_IOCTL_VGPU_VM_CREATE, &create, "VM_CREATE");
	if (!ret)
		ret = vgpu_node_check_id(dev, create.id, "VM_CREATE");
	*id = create.id;
	return ret;
}

static void vm_destroy(struct vgpu_dev *dev, uint32_t id)
{
	struct drm_vgpu_vm_destroy destroy = { .id = id };

	vgpu_node_ioctl(dev, DRM_IOCTL_VGPU_VM_DESTROY, &destroy);
}

static int flat_add_all(struct binds *binds, const struct vgpu_node_list *list, bool is_fb)
{
	struct drm_vgpu_bind_op op;
	int ret = 0;
	size_t i;

	for (i = 0; i < list->nr && !ret; i++) {
		op = flat_op(&list->bo[i], is_fb);
		ret = binds_add(binds, &op);
	}
	return ret;
}

int vgpu_node_flat_vm(struct vgpu_dev *dev)
{
	struct binds binds = { .dev = dev };
	int ret;

	if (dev->node->vm)
		return 0;
	ret = vm_create(dev, &binds.vm);
	if (ret)
		return ret;
	ret = flat_add_all(&binds, &dev->node->fb, true);
	if (!ret)
		ret = flat_add_all(&binds, &dev->node->buf, false);
	if (!ret)
		ret = binds_do(&binds);
	if (ret)
		vm_destroy(dev, binds.vm);
	else
		dev->node->vm = binds.vm;
	return ret;
}

uint64_t vgpu_node_flat_address(const struct vgpu_dev *dev, uint64_t at, bool sys)
{
	const struct vgpu_node *node = dev->node;

	if (sys ? at >= node->va_buf && at < node->va_end : at < dev->fb_bytes)
		return flat_va(at, !sys);
	return at | NOWHERE;
}

uint64_t vgpu_node_flat_place(const struct vgpu_dev *dev, uint64_t va)
{
	if (va - VGPU_HW_VA_GLOBAL < dev->fb_bytes)
		return va - VGPU_HW_VA_GLOBAL;
	return va & ~NOWHERE;
}

static int space_create(struct vgpu_space *space)
{
	return vm_create(space->dev, &space->root);
}

static void space_destroy(struct vgpu_space *space)
{
	vm_destroy(space->dev, space->root);
}

static int space_check(struct vgpu_space *space, uint64_t va, uint64_t bytes)
{
	const struct vgpu_node *node = space->dev->node;

	if (va <= node->va_end && bytes <= node->va_end - va)
		return 0;
	return vgpu_fail(space->dev, -EINVAL, "%#llx bytes at virtual address %#llx: from %#llx on all is the driver's",
			 (unsigned long long)bytes, (unsigned long long)va,
			 (unsigned long long)node->va_end);
}

static int space_map(struct vgpu_space *space, uint64_t va, struct vgpu_loc to, uint64_t bytes,
		     uint32_t flags)
{
	struct vgpu_dev *dev = space->dev;
	struct binds binds = { .dev = dev, .vm = space->root };
	struct drm_vgpu_bind_op op = {
		.type = DRM_VGPU_BIND_MAP,
		.flags = (flags & VGPU_HW_PTE_W ? DRM_VGPU_BIND_WRITE : 0) |
			 (flags & VGPU_HW_PTE_X ? DRM_VGPU_BIND_EXEC : 0),
		.va = va,
	};
	const struct vgpu_node_bo *bo;
	uint64_t at, left;
	int ret;

	ret = space_check(space, va, bytes);
	if (ret)
		return ret;
	if (!(flags & VGPU_HW_PTE_R) || flags & ~PTE_FLAGS)
		return vgpu_fail(dev, -EINVAL, "flags %#x: what is mapped can be read, and written or executed",
				 flags);
	at = to.offset + (to.buf ? to.buf->iova : 0);
	while (bytes) {
		bo = vgpu_node_find(to.buf ? &dev->node->buf : &dev->node->fb, at);
		if (!bo || (to.buf && bo->at != to.buf->iova) || at % VGPU_HW_PAGE_SIZE)
			return vgpu_fail(dev, -EINVAL, "no page at offset %#llx",
					 (unsigned long long)to.offset);
		left = bo->at + bo->bytes - at;
		op.handle = bo->handle;
		op.offset = at - bo->at;
		op.size = bytes < left ? bytes : left;
		ret = binds_add(&binds, &op);
		if (ret)
			return ret;
		op.va += op.size;
		at += op.size;
		to.offset += op.size;
		bytes -= op.size;
	}
	return binds_do(&binds);
}

static int space_unmap(struct vgpu_space *space, uint64_t va, uint64_t bytes)
{
	int ret = space_check(space, va, bytes);

	return ret || !bytes ? ret : unmap(space->dev, space->root, va, bytes);
}

/*
 * The binds before have invalidated what they changed. A program is in memory that was bound anew,
 * so the device knows of no other one there.
 */
static int space_invalidate(struct vgpu_dev *dev, const struct vgpu_space *space)
{
	(void)dev;
	(void)space;
	return 0;
}

const struct vgpu_space_ops vgpu_node_space = {
	.create = space_create,
	.destroy = space_destroy,
	.map = space_map,
	.unmap = space_unmap,
	.invalidate = space_invalidate,
};
