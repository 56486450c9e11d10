// SPDX-License-Identifier: GPL-2.0
/* The calls of the driver, with arguments of all sorts. */
#include <drm/drm.h>

#include "fuzz.h"

static void fuzz_query(struct fuzzer *f)
{
	struct drm_vgpu_dev_info info;
	struct drm_vgpu_usage usage;
	struct drm_vgpu_dev_query device = {
		.size = fuzz_one_in(f, 4) ? fuzz_u64(f) : sizeof(info),
		.pad = fuzz_pad(f),
		.pointer = fuzz_pointer(f, &info),
	};
	struct drm_vgpu_usage_query query = {
		.size = fuzz_one_in(f, 4) ? fuzz_u64(f) : sizeof(usage),
		.pad = fuzz_pad(f),
		.pointer = fuzz_pointer(f, &usage),
	};

	if (fuzz_one_in(f, 2))
		fuzz_call(f, FUZZ_DEV_QUERY, fuzz_file(f), &device);
	else
		fuzz_call(f, FUZZ_USAGE_QUERY, fuzz_file(f), &query);
}

static void fuzz_vm(struct fuzzer *f)
{
	struct drm_vgpu_vm_create create = { .flags = fuzz_pad(f) };
	struct drm_vgpu_vm_destroy destroy = { .id = fuzz_id(f), .pad = fuzz_pad(f) };

	if (fuzz_one_in(f, 2))
		fuzz_call(f, FUZZ_VM_CREATE, fuzz_file(f), &create);
	else
		fuzz_call(f, FUZZ_VM_DESTROY, fuzz_file(f), &destroy);
}

static void fuzz_bo(struct fuzzer *f)
{
	struct drm_vgpu_bo_create args = {
		.size = fuzz_bytes(f),
		.placement = fuzz_one_in(f, 20) ? fuzz_u64(f) : rng_below(&f->rng, 2),
		.vm_id = fuzz_one_in(f, 2) ? fuzz_id(f) : 0,
		.flags = fuzz_one_in(f, 4) ? DRM_VGPU_BO_CONTIGUOUS : fuzz_pad(f),
	};
	struct drm_gem_close end = { .handle = fuzz_id(f), .pad = fuzz_pad(f) };

	/* More system memory than the guest has is another test's. */
	if (args.placement && args.size > MIB && args.size < 1ull << 39)
		args.size = PAGE;
	if (fuzz_one_in(f, 2))
		fuzz_call(f, FUZZ_BO_CREATE, fuzz_file(f), &args);
	else
		fuzz_call(f, FUZZ_GEM_CLOSE, fuzz_file(f), &end);
}

static void fuzz_syncs(struct fuzzer *f, struct drm_vgpu_sync *sync)
{
	unsigned int i;

	for (i = 0; i < FUZZ_ITEMS; i++) {
		sync[i] = (struct drm_vgpu_sync){ .handle = fuzz_id(f), .flags = fuzz_pad(f) };
		if (fuzz_one_in(f, 2))
			sync[i].flags |= DRM_VGPU_SYNC_SIGNAL;
		if (fuzz_one_in(f, 3)) {
			sync[i].flags |= DRM_VGPU_SYNC_TIMELINE;
			sync[i].point = fuzz_one_in(f, 20) ? fuzz_u64(f) : rng_below(&f->rng, 20);
		}
	}
}

static struct drm_vgpu_bind_op fuzz_op(struct fuzzer *f)
{
	struct drm_vgpu_bind_op op = {
		.type = fuzz_one_in(f, 40) ? fuzz_u64(f) : rng_below(&f->rng, 2),
		.pad = fuzz_pad(f),
		.va = fuzz_va(f),
		.size = fuzz_bytes(f),
	};

	if (op.type == DRM_VGPU_BIND_MAP) {
		op.flags = fuzz_one_in(f, 40) ? fuzz_u64(f) : rng_below(&f->rng, 4);
		op.handle = fuzz_id(f);
		op.offset = fuzz_one_in(f, 3) ? fuzz_bytes(f) : 0;
	}
	return op;
}

static void fuzz_bind(struct fuzzer *f)
{
	struct drm_vgpu_bind_op op[FUZZ_ITEMS];
	struct drm_vgpu_sync sync[FUZZ_ITEMS];
	struct drm_vgpu_vm_bind args = { .vm_id = fuzz_id(f), .flags = fuzz_pad(f) };
	bool async = fuzz_one_in(f, 2);
	unsigned int i;

	for (i = 0; i < FUZZ_ITEMS; i++)
		op[i] = fuzz_op(f);
	fuzz_syncs(f, sync);
	args.ops = fuzz_array(f, op, sizeof(*op),
			      rng_below(&f->rng, fuzz_one_in(f, 4) ? FUZZ_ITEMS : 2));
	if (async) {
		args.flags |= DRM_VGPU_VM_BIND_ASYNC;
		args.syncs = fuzz_array(f, sync, sizeof(*sync), rng_below(&f->rng, 3));
	}
	fuzz_call(f, async ? FUZZ_VM_BIND_ASYNC : FUZZ_VM_BIND, fuzz_file(f), &args);
}

static void fuzz_queue(struct fuzzer *f)
{
	struct drm_vgpu_queue_create create = {
		.vm_id = fuzz_id(f),
		.engine = fuzz_one_in(f, 40) ? fuzz_u64(f) : rng_below(&f->rng, 4),
		.ring_order = fuzz_one_in(f, 40) ? fuzz_u64(f) : 4 + rng_below(&f->rng, 4),
		.flags = fuzz_pad(f),
		.priority = (int32_t)(fuzz_one_in(f, 40) ? fuzz_u64(f) :
				      rng_below(&f->rng, 3) - 1),
	};
	struct drm_vgpu_queue_destroy destroy = { .id = fuzz_id(f), .pad = fuzz_pad(f) };
	struct drm_vgpu_queue_query query = { .id = fuzz_id(f) };

	switch (rng_below(&f->rng, 4)) {
	case 0:
		fuzz_call(f, FUZZ_QUEUE_DESTROY, fuzz_file(f), &destroy);
		break;
	case 1:
		fuzz_call(f, FUZZ_QUEUE_QUERY, fuzz_file(f), &query);
		break;
	default:
		fuzz_call(f, FUZZ_QUEUE_CREATE, fuzz_file(f), &create);
	}
}

static struct vgpu_hw_packet fuzz_packet(struct fuzzer *f)
{
	static const uint8_t type[] = {
		VGPU_HW_PKT_NOP, VGPU_HW_PKT_FENCE, VGPU_HW_PKT_FILL, VGPU_HW_PKT_COPY,
		VGPU_HW_PKT_DISPATCH, VGPU_HW_PKT_PRESENT,
	};
	struct vgpu_hw_packet packet = {};
	unsigned int i;

	switch (rng_below(&f->rng, 8)) {
	case 0:
		for (i = 0; i < sizeof(packet); i++)
			((uint8_t *)&packet)[i] = rng_next(&f->rng);
		if (fuzz_one_in(f, 2))
			packet.type = type[rng_below(&f->rng, sizeof(type))];
		break;
	case 1:
		packet = packet_copy(fuzz_va(f), fuzz_va(f), fuzz_bytes(f));
		break;
	case 2:
		packet = packet_dispatch(fuzz_one_in(f, 8) ? VA_MORE : fuzz_va(f), fuzz_va(f),
					 rng_below(&f->rng, 64), 8);
		break;
	case 3:
	case 4:
		packet = packet_fill(fuzz_va(f), fuzz_bytes(f), rng_next(&f->rng));
		break;
	default:
		packet.type = VGPU_HW_PKT_NOP;
	}
	return packet;
}

static void fuzz_exec(struct fuzzer *f)
{
	struct vgpu_hw_packet packet[FUZZ_ITEMS];
	struct drm_vgpu_sync sync[FUZZ_ITEMS];
	struct drm_vgpu_exec args = {
		.queue_id = fuzz_id(f),
		.flags = fuzz_pad(f),
		.count = fuzz_one_in(f, 60) ? fuzz_u64(f) : rng_below(&f->rng, FUZZ_ITEMS),
		.pad = fuzz_pad(f),
		.packets = fuzz_pointer(f, packet),
	};
	unsigned int i;

	for (i = 0; i < FUZZ_ITEMS; i++)
		packet[i] = fuzz_packet(f);
	fuzz_syncs(f, sync);
	args.syncs = fuzz_array(f, sync, sizeof(*sync), rng_below(&f->rng, 3));
	fuzz_call(f, FUZZ_EXEC, fuzz_file(f), &args);
}

void fuzz_driver(struct fuzzer *f)
{
	static void (* const what[])(struct fuzzer *f) = {
		fuzz_query, fuzz_vm, fuzz_bo, fuzz_bo, fuzz_bind, fuzz_bind, fuzz_bind, fuzz_queue,
		fuzz_exec, fuzz_exec, fuzz_exec,
	};

	what[rng_below(&f->rng, sizeof(what) / sizeof(what[0]))](f);
}
