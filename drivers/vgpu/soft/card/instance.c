// SPDX-License-Identifier: GPL-2.0
/* vGPUs of a software GPU, from create to destroy: struct vgpu_gpu_ops. */
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "gpu.h"
#include "../face/regs.h"
#include "../face/regs_state.h"
#include "../memory/admit.h"
#include "../memory/track.h"
#include "../work/natives.h"
#include "instance.h"
#include "params.h"
#include "state.h"

/* Pages that are looked at in one go: within some us. */
#define SOFT_DIRTY_RUN	256

static struct soft_part *soft_part(const struct vgpu_partition *part)
{
	return vgpu_partition_backend(part) ?: &soft_gpu(vgpu_partition_gpu(part))->part0;
}

static int soft_instance_reserve(struct soft_instance *inst)
{
	u64 want_mb = inst->mem.fb_bytes >> 20;
	u64 have_mb = (u64)max(si_mem_available(), 0L) >> (20 - PAGE_SHIFT);
	int ret = -ENOMEM;

	if (have_mb >= want_mb)
		ret = soft_store_reserve(&inst->mem.fb);
	if (ret == -ENOMEM)
		return vgpu_refuse(inst->mem.vgpu, ret,
				   "host memory: %llu MiB wanted (fb_reserve=1), %llu MiB available, %lu MiB got",
				   want_mb, have_mb, atomic_long_read(&inst->mem.fb.backed) >>
				   (20 - PAGE_SHIFT));
	if (ret)
		return vgpu_refuse(inst->mem.vgpu, ret,
				   "host memory: killed while taking %llu MiB (fb_reserve=1)",
				   want_mb);
	return 0;
}

static void *soft_instance_create(struct vgpu_gpu *gpu, struct vgpu_instance *vgpu,
				  const struct vgpu_instance_info *info)
{
	u32 nr_channels = info->nr_channels;
	struct soft_instance *inst;
	int ret = -ENOMEM;

	inst = kvzalloc(struct_size(inst, queues.channel, nr_channels), GFP_KERNEL_ACCOUNT);
	if (!inst)
		goto err_channels;
	inst->gpu = soft_gpu(gpu);
	inst->info = info;
	inst->mem.vgpu = vgpu;
	inst->mem.fb_bytes = info->fb_bytes;
	if (soft_compute_init(&inst->work.compute, &inst->mem, nr_channels,
			      &inst->gpu->programs_decoded))
		goto err_channels;
	soft_rss_init(&inst->mem.rss, &inst->work.compute.programs.bytes,
		      &inst->work.compute.context_bytes, &inst->work.compute.flight_bytes);
	inst->display.vgpu = vgpu;
	inst->display.info = info;
	inst->display.screen = &inst->work.screen;
	raw_spin_lock_init(&inst->work.screen.lock);
	soft_display_reset(&inst->display);
	inst->queues.info = info;
	inst->queues.engine = soft_part(info->part)->engine;
	inst->queues.mem = &inst->mem;
	inst->queues.work = &inst->work;
	inst->queues.nr_channels = nr_channels;
	soft_queues_init(&inst->queues);

	ret = soft_admit(vgpu, info, pci_name(inst->gpu->pdev));
	if (ret)
		goto err_free;
	ret = soft_store_init(&inst->mem.fb, info->fb_bytes);
	if (ret) {
		vgpu_refuse(vgpu, ret, "host memory: none for the page table of %llu MiB",
			    info->fb_bytes >> 20);
		goto err_admit;
	}
	ret = soft_store_init(&inst->mem.pages, (u64)nr_channels * VGPU_HW_PAGE_SIZE);
	if (ret) {
		vgpu_refuse(vgpu, ret, "host memory: none for the page table of %u channel pages",
			    nr_channels);
		goto err_fb;
	}
	if (soft_params.fb_reserve) {
		ret = soft_instance_reserve(inst);
		if (ret)
			goto err_pages;
	}
	return &inst->queues;

err_pages:
	soft_store_exit(&inst->mem.pages);
err_fb:
	soft_store_exit(&inst->mem.fb);
err_admit:
	soft_admit_end(info->fb_bytes);
err_free:
	soft_compute_exit(&inst->work.compute);
	kvfree(inst);
	return ERR_PTR(ret);

err_channels:
	kvfree(inst);
	vgpu_refuse(vgpu, ret, "host memory: none for the state of %u channels", nr_channels);
	return ERR_PTR(ret);
}

static void soft_instance_destroy(struct vgpu_instance *vgpu)
{
	struct soft_instance *inst = soft_instance(vgpu);

	soft_rss_exit(&inst->mem.rss);
	soft_store_exit(&inst->mem.pages);
	soft_store_exit(&inst->mem.fb);
	soft_admit_end(inst->mem.fb_bytes);
	soft_compute_exit(&inst->work.compute);
	kvfree(inst);
}

static int soft_instance_open(struct vgpu_instance *vgpu)
{
	struct soft_instance *inst = soft_instance(vgpu);

	inst->mem.fb.memcg = inst->info->memcg;
	inst->mem.pages.memcg = inst->info->memcg;
	soft_store_begin(&inst->mem.fb);
	soft_rss_begin(&inst->mem);
	return 0;
}

static void soft_instance_close(struct vgpu_instance *vgpu)
{
	struct soft_instance *inst = soft_instance(vgpu);

	soft_natives_stop(&inst->work.compute.programs);
	/* Stopping the channels has freed their contexts and released their programs. */
	WARN_ON(inst->work.compute.programs.bytes ||
		atomic64_read(&inst->work.compute.context_bytes) ||
		atomic64_read(&inst->work.compute.flight_bytes));
	soft_rss_end(&inst->mem);
	soft_turn_forget(&inst->queues);
	inst->mem.fb.memcg = NULL;
	inst->mem.pages.memcg = NULL;
}

static void soft_instance_stop(struct vgpu_instance *vgpu)
{
	struct soft_instance *inst = soft_instance(vgpu);

	soft_channel_stop_all(&inst->queues);
	soft_display_reset(&inst->display);
}

static void soft_instance_drop_memory(struct vgpu_instance *vgpu)
{
	struct soft_instance *inst = soft_instance(vgpu);

	soft_store_drop(&inst->mem.fb);
	soft_store_drop(&inst->mem.pages);
	/* After the stores: if the resetting task was killed, the worker may make a program yet. */
	soft_programs_drop(&inst->work.compute.programs);
	soft_rss_update(&inst->mem);
	soft_channel_restart(&inst->queues);
}

static struct soft_store *soft_instance_store(struct soft_instance *inst, unsigned int bar)
{
	switch (bar) {
	case VGPU_HW_BAR_FB:
		return &inst->mem.fb;
	case VGPU_HW_BAR_CHANNELS:
		return &inst->mem.pages;
	default:
		return NULL;
	}
}

static int soft_instance_region_rw(struct vgpu_instance *vgpu, unsigned int bar, u64 offset,
				   void *buf, size_t count, bool write)
{
	struct soft_instance *inst = soft_instance(vgpu);

	if (bar == VGPU_HW_BAR_REGS || bar == VGPU_HW_BAR_VGA) {
		if (offset >= VGPU_HW_DEV_BASE)
			return soft_regs_rw(&inst->queues, offset, buf, count, write);
		return soft_regs_vga_rw(&inst->display, offset, buf, count, write);
	}
	if (bar == VGPU_HW_BAR_FB || bar == VGPU_HW_BAR_CHANNELS)
		return soft_store_rw(soft_instance_store(inst, bar), offset, buf, count, write);
	return -ENXIO;
}

static int soft_instance_map_pages(struct vgpu_instance *vgpu, unsigned int bar, pgoff_t pgoff,
				   struct page **pages, unsigned int nr)
{
	struct soft_instance *inst = soft_instance(vgpu);
	struct soft_store *store = soft_instance_store(inst, bar);

	return store ? soft_store_map(store, pgoff, pages, nr) : -ENOMEM;
}

static u64 soft_instance_backed_bytes(struct vgpu_instance *vgpu)
{
	struct soft_instance *inst = soft_instance(vgpu);

	return (u64)atomic_long_read(&inst->mem.fb.backed) << PAGE_SHIFT;
}

static u64 soft_instance_peak_bytes(struct vgpu_instance *vgpu)
{
	struct soft_instance *inst = soft_instance(vgpu);

	return (u64)atomic_long_read(&inst->mem.fb.peak) << PAGE_SHIFT;
}

static u64 soft_instance_state_bytes(struct vgpu_instance *vgpu)
{
	const struct soft_compute *compute = &soft_instance(vgpu)->work.compute;

	return READ_ONCE(compute->programs.bytes) + atomic64_read(&compute->context_bytes) +
	       atomic64_read(&compute->flight_bytes);
}

static int soft_instance_dirty_start(struct vgpu_instance *vgpu)
{
	return soft_track_start(&soft_instance(vgpu)->mem.fb);
}

static void soft_instance_dirty_stop(struct vgpu_instance *vgpu)
{
	soft_track_stop(&soft_instance(vgpu)->mem.fb);
}

static void soft_instance_dirty_take(struct vgpu_instance *vgpu, struct vgpu_dirty_pass *pass)
{
	pass->pages = soft_track_take(&soft_instance(vgpu)->mem.fb, &pass->dropped);
}

static int soft_instance_dirty_sync(struct vgpu_instance *vgpu)
{
	/* Of no address space: requests to guest memory go on, and mark what they have read. */
	return soft_invalidate(&soft_instance(vgpu)->queues, 0);
}

static u64 soft_instance_dirty_next(struct vgpu_instance *vgpu, u64 *first)
{
	unsigned long pgoff = 0, nr;

	nr = soft_track_next(&soft_instance(vgpu)->mem.fb, SOFT_DIRTY_RUN, &pgoff);
	*first = pgoff;
	return nr;
}

static void soft_instance_channels_show(struct vgpu_instance *vgpu, struct seq_file *m)
{
	struct soft_instance *inst = soft_instance(vgpu);
	u32 i;

	soft_context_show(&inst->work.compute, m);
	for (i = 0; i < inst->queues.nr_channels; i++)
		soft_channel_show(&inst->queues.channel[i], m);
}

static void soft_instance_guest_info(struct vgpu_instance *vgpu, struct vgpu_hw_guest_info *info)
{
	soft_regs_guest_info(soft_queues(vgpu), info);
}

static bool soft_instance_channel(struct vgpu_instance *vgpu, u32 index,
				  struct vgpu_ctl_channel *out)
{
	return soft_turn_report(&soft_queues(vgpu)->channel[index], out);
}

static bool soft_instance_scanout(struct vgpu_instance *vgpu, struct vgpu_scanout *scanout)
{
	return soft_display_scanout(&soft_instance(vgpu)->display, scanout);
}

static void *soft_partition_create(struct vgpu_partition *vgpu, u32 id)
{
	struct soft_gpu *gpu = soft_gpu(vgpu_partition_gpu(vgpu));
	struct soft_part *part;
	char name[VGPU_ADDR_LEN];
	int ret;

	part = kzalloc(sizeof(*part), GFP_KERNEL_ACCOUNT);
	if (!part)
		return ERR_PTR(-ENOMEM);
	snprintf(name, sizeof(name), "%s.%u", pci_name(gpu->pdev), id);
	soft_part_place(part, PCI_SLOT(gpu->pdev->devfn), vgpu);
	ret = soft_part_init(part, vgpu_partition_units(vgpu, soft_params.units), name);
	if (ret) {
		kfree(part);
		return ERR_PTR(ret);
	}
	snprintf(name, sizeof(name), "partition-%u", id);
	part->debugfs = debugfs_create_dir(name, gpu->part0.debugfs);
	soft_part_debugfs(part);
	return part;
}

static void soft_partition_destroy(struct vgpu_partition *vgpu)
{
	struct soft_part *part = vgpu_partition_backend(vgpu);

	debugfs_remove(part->debugfs);
	soft_part_exit(part);
	kfree(part);
}

static struct soft_engine *soft_instance_engine(struct vgpu_partition *part, unsigned int index)
{
	return &soft_part(part)->engine[index];
}

static void soft_instance_engine_run(struct vgpu_partition *part, unsigned int index,
				     const struct vgpu_run *run)
{
	soft_engine_run(soft_instance_engine(part, index), part, run);
}

static void soft_instance_engine_preempt(struct vgpu_partition *part, unsigned int index)
{
	soft_engine_preempt(soft_instance_engine(part, index));
}

static void soft_instance_engine_reset(struct vgpu_partition *part, unsigned int index)
{
	soft_engine_reset(soft_instance_engine(part, index));
}

static u64 soft_instance_engine_ran_ns(struct vgpu_partition *part, unsigned int index)
{
	return soft_engine_ran_ns(soft_instance_engine(part, index));
}

/* All ops of the back end, including those of engines. */
const struct vgpu_gpu_ops soft_instance_ops = {
	.owner = THIS_MODULE,
	.instance_create = soft_instance_create,
	.instance_destroy = soft_instance_destroy,
	.fb_room = soft_admit_room,
	.describe = vgpu_hw_describe,
	.instance_open = soft_instance_open,
	.instance_stop = soft_instance_stop,
	.drop_memory = soft_instance_drop_memory,
	.instance_close = soft_instance_close,
	.region_rw = soft_instance_region_rw,
	.map_pages = soft_instance_map_pages,
	.scanout = soft_instance_scanout,
	.backed_bytes = soft_instance_backed_bytes,
	.peak_bytes = soft_instance_peak_bytes,
	.state_bytes = soft_instance_state_bytes,
	.dirty_start = soft_instance_dirty_start,
	.dirty_stop = soft_instance_dirty_stop,
	.dirty_take = soft_instance_dirty_take,
	.dirty_sync = soft_instance_dirty_sync,
	.dirty_next = soft_instance_dirty_next,
	.channels_show = soft_instance_channels_show,
	.guest_info = soft_instance_guest_info,
	.channel = soft_instance_channel,
	.state_save = soft_state_save,
	.state_load = soft_state_load,
	.partition_create = soft_partition_create,
	.partition_destroy = soft_partition_destroy,
	.engine_run = soft_instance_engine_run,
	.engine_preempt = soft_instance_engine_preempt,
	.engine_reset = soft_instance_engine_reset,
	.engine_ran_ns = soft_instance_engine_ran_ns,
};
