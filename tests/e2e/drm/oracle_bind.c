// SPDX-License-Identifier: GPL-2.0
/* What a random load maps: at once or later, in parts, over each other. */
#include "oracle.h"

#define MAP_OPS	4

/* Whole pages of the VM, and what a change of them has to wait for. */
static void bind_range(struct oracle *o, struct drm_vgpu_bind_op *op, struct oracle_need *need,
		       bool later)
{
	uint32_t first, nr, i;

	nr = 1 + oracle_below(o, oracle_one_in(o, 3) ? 1500 : 60);
	first = oracle_below(o, ORACLE_PAGES);
	if (oracle_one_in(o, 2))
		first &= ~511u;
	if (op->handle && nr > op->size)
		nr = op->size;
	if (nr > ORACLE_PAGES - first)
		nr = ORACLE_PAGES - first;
	op->va = first;
	op->size = nr;
	for (i = first; i < first + nr; i++) {
		oracle_merge(need, &o->page[i].used);
		if (!later)
			oracle_after(need, ORACLE_BIND, o->page[i].bound);
	}
}

/* An operation at random; counted in pages. @buf: what it maps, or -1. */
static void bind_op(struct oracle *o, struct drm_vgpu_bind_op *op, int *buf,
		    struct oracle_need *need, bool later)
{
	*op = (struct drm_vgpu_bind_op){ .type = DRM_VGPU_BIND_UNMAP };
	*buf = oracle_one_in(o, 4) ? -1 : (int)oracle_below(o, ORACLE_BUFS);
	if (*buf >= 0 && !o->buf[*buf].handle)
		*buf = -1;
	if (*buf >= 0) {
		op->type = DRM_VGPU_BIND_MAP;
		op->flags = oracle_one_in(o, 4) ? 0 : DRM_VGPU_BIND_WRITE;
		if (o->buf[*buf].placement == DRM_VGPU_PLACEMENT_FRAMEBUFFER && oracle_one_in(o, 8))
			op->flags |= DRM_VGPU_BIND_EXEC;
		op->handle = o->buf[*buf].handle;
		op->offset = oracle_one_in(o, 2) ? 0 : oracle_below(o, o->buf[*buf].pages);
		op->size = o->buf[*buf].pages - op->offset;
	}
	bind_range(o, op, need, later);
}

static void bind_done(struct oracle *o, const struct drm_vgpu_bind_op *op, int buf, uint32_t bound)
{
	uint32_t i;

	for (i = 0; i < op->size; i++)
		o->page[op->va + i] = (struct oracle_page){
			.buf = buf,
			.page = op->offset + i,
			.flags = op->flags,
			.bound = bound,
		};
}

/* Does operations that are counted in pages. */
static void bind_all(struct oracle *o, struct drm_vgpu_bind_op *op, const int *buf, uint32_t nr,
		     const struct oracle_need *need, bool later)
{
	struct drm_vgpu_bind_op real[ORACLE_PAGES / 4];
	struct drm_vgpu_sync sync[ORACLE_LINES + 2];
	struct drm_vgpu_vm_bind args = {
		.vm_id = o->vm,
		.ops = { .stride = sizeof(*op), .count = nr, .pointer = (uintptr_t)real },
		.syncs = { .stride = sizeof(*sync), .pointer = (uintptr_t)sync },
	};
	uint32_t i, once = ORACLE_ONCE, bound = 0;

	for (i = 0; i < nr; i++) {
		real[i] = op[i];
		real[i].offset *= PAGE;
		real[i].va = ORACLE_AT + op[i].va * PAGE;
		real[i].size *= PAGE;
	}
	if (later) {
		args.flags = DRM_VGPU_VM_BIND_ASYNC;
		args.syncs.count = oracle_syncs(o, need, ORACLE_BIND, sync);
		once = oracle_once(o, sync, &args.syncs.count);
	} else {
		oracle_wait(o, need);
	}
	CHECK_RET(node_ioctl(o->fd, DRM_IOCTL_VGPU_VM_BIND, &args), 0);
	if (later)
		bound = oracle_next(o, ORACLE_BIND, once);
	for (i = 0; i < nr; i++)
		bind_done(o, &op[i], buf[i], bound);
}

void oracle_map(struct oracle *o)
{
	bool later = oracle_one_in(o, 2);
	struct drm_vgpu_bind_op op[MAP_OPS];
	struct oracle_need need = {};
	uint32_t nr = 1 + oracle_below(o, MAP_OPS), i;
	int buf[MAP_OPS];

	for (i = 0; i < nr; i++)
		bind_op(o, &op[i], &buf[i], &need, later);
	bind_all(o, op, buf, nr, &need, later);
}

/* A buffer goes while jobs use it, and another one comes. */
void oracle_replace(struct oracle *o)
{
	struct drm_vgpu_bind_op op[ORACLE_PAGES / 4];
	uint32_t i = oracle_below(o, ORACLE_BUFS), nr = 0, at, end;
	struct oracle_need need = {};
	int none[ORACLE_PAGES / 4];
	bool later = oracle_one_in(o, 2);

	for (at = 0; at < ORACLE_PAGES; at = end) {
		for (end = at; end < ORACLE_PAGES && o->page[end].buf == (int)i; end++) {
			oracle_merge(&need, &o->page[end].used);
			oracle_after(&need, ORACLE_BIND, o->page[end].bound);
		}
		if (end == at) {
			end++;
			continue;
		}
		CHECK(nr < ORACLE_PAGES / 4);
		none[nr] = -1;
		op[nr++] = (struct drm_vgpu_bind_op){
			.type = DRM_VGPU_BIND_UNMAP, .va = at, .size = end - at,
		};
	}
	if (nr)
		bind_all(o, op, none, nr, &need, later);
	oracle_buf_end(o, i);
	oracle_buf_make(o, i);
	oracle_map(o);
}
