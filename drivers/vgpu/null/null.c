// SPDX-License-Identifier: GPL-2.0
/*
 * The smallest back end: its engines complete packets without executing them.
 * Documentation/backend.rst explains it step by step.
 */
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/sched/mm.h>
#include <linux/vgpu.h>
#include <linux/xarray.h>

#define NULL_ENGINES	10
struct null_engine {
	struct vgpu_partition *part;
	struct vgpu_run run;
	bool preempt;
	struct work_struct work;	/* owns run from engine_run until vgpu_engine_done() */
};

struct null_instance {
	const struct vgpu_instance_info *info;
	struct mutex lock;	/* protects pages and registers; an engine never waits for it */
	struct xarray pages;	/* of all BARs; index: page's number in its BAR + (BAR << 28) */
};

struct null_channel {
	u8 ctrl, engine, order, pad0[5];	/* the first three: the bytes of CTRL */
	__le64 ring, pad1[4], get, pad2;
};

static struct null_engine *null_engines(const struct vgpu_partition *part)
{
	return vgpu_gpu_backend(vgpu_partition_gpu(part));
}

/* Returns the address of byte @offset of a BAR; NULL: no such byte, or no memory for its page. */
static void *null_bar(struct null_instance *inst, unsigned int bar, u64 offset)
{
	unsigned long index = (offset >> PAGE_SHIFT) + (bar << 28);
	struct page *page = xa_load(&inst->pages, index);
	struct mem_cgroup *old;

	if (bar == VGPU_HW_BAR_FB && offset >= inst->info->fb_bytes)
		return NULL;
	if (!page) {
		old = set_active_memcg(inst->info->memcg);
		if (!xa_reserve(&inst->pages, index, GFP_KERNEL_ACCOUNT))
			page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (page)	/* This cannot fail: the entry is reserved. */
			xa_store(&inst->pages, index, page, GFP_KERNEL_ACCOUNT);
		set_active_memcg(old);
	}
	return page ? page_address(page) + offset_in_page(offset) : NULL;
}

/* Completes a channel's next packet. The lock is held. Returns whether there may be another. */
static bool null_complete(struct vgpu_instance *vgpu, unsigned int engine, u32 chan)
{
	struct null_instance *inst = vgpu_instance_backend(vgpu);
	u64 pos = VGPU_HW_CHAN_BASE + chan * VGPU_HW_CHAN_STRIDE;
	struct vgpu_hw_channel *page;
	struct vgpu_hw_packet *packet;
	struct null_channel *ch;
	__le64 *signal;
	u8 flags;

	ch = null_bar(inst, VGPU_HW_BAR_REGS, pos);
	page = null_bar(inst, VGPU_HW_BAR_CHANNELS, chan * VGPU_HW_PAGE_SIZE);
	if (!ch || !page || !(ch->ctrl & VGPU_HW_CTRL_ENABLE) ||
	    ch->engine % NULL_ENGINES != engine ||
	    smp_load_acquire(&page->put) == ch->get)	/* The VM writes a packet before put. */
		return false;
	pos = le64_to_cpu(ch->get) % BIT(ch->order & 31) * sizeof(*packet);
	packet = null_bar(inst, VGPU_HW_BAR_FB, round_down(le64_to_cpu(ch->ring), 64) + pos);
	if (!packet)
		return false;
	flags = READ_ONCE(packet->flags);
	if ((flags & (VGPU_HW_PKT_SIGNAL | VGPU_HW_PKT_SIGNAL_SYS)) == VGPU_HW_PKT_SIGNAL) {
		pos = round_down(le64_to_cpu(READ_ONCE(packet->signal_addr)), sizeof(*signal));
		signal = null_bar(inst, VGPU_HW_BAR_FB, pos);
		if (!signal)	/* The host has no memory now: retry. A bad address: give up. */
			return pos < inst->info->fb_bytes;
		WRITE_ONCE(*signal, READ_ONCE(packet->signal_value));
	}
	vgpu_packet_done(vgpu, engine, chan, le64_to_cpu(ch->get), READ_ONCE(packet->type), 0);
	le64_add_cpu(&ch->get, 1);
	smp_store_release(&page->get, ch->get);	/* A VM that sees get sees the signal. */
	if (flags & VGPU_HW_PKT_IRQ)
		vgpu_raise_irq(vgpu, le16_to_cpu(READ_ONCE(packet->vector)) % VGPU_HW_VECTORS);
	return true;
}

static void null_work(struct work_struct *work)
{
	struct null_engine *engine = container_of(work, struct null_engine, work);
	unsigned int index = engine - null_engines(engine->part);
	struct null_instance *inst;
	u32 chan;

	do {
		inst = vgpu_instance_backend(engine->run.instance);
		for (chan = 0; chan < inst->info->nr_channels; cond_resched()) {
			/* A cgroup may have stopped the VM's thread that holds the lock. */
			if (!mutex_trylock(&inst->lock)) {
				cond_resched();
				break;
			}
			chan += !null_complete(engine->run.instance, index, chan);
			mutex_unlock(&inst->lock);
			if (READ_ONCE(engine->preempt) || ktime_get_ns() >= engine->run.deadline_ns)
				break;
		}
		WRITE_ONCE(engine->preempt, false);
	} while (vgpu_engine_done(engine->part, index, chan < inst->info->nr_channels ?
				  VGPU_RUN_PREEMPTED : VGPU_RUN_IDLE, 0, 0, &engine->run));
}

static void null_engine_run(struct vgpu_partition *part, unsigned int index,
			    const struct vgpu_run *run)
{
	struct null_engine *engine = null_engines(part) + index;

	engine->part = part;
	engine->run = *run;
	queue_work(system_unbound_wq, &engine->work);
}

static void null_engine_preempt(struct vgpu_partition *part, unsigned int index)
{
	WRITE_ONCE(null_engines(part)[index].preempt, true);
}

static int null_write(struct vgpu_instance *vgpu, u64 offset, u32 value, struct null_channel *ch)
{
	struct null_instance *inst = vgpu_instance_backend(vgpu);
	u64 chan = (offset - VGPU_HW_CHAN_BASE) / sizeof(*ch);
	struct vgpu_hw_channel *page;

	if (offset == VGPU_HW_DEV_BASE + VGPU_HW_RESET)
		return value == VGPU_HW_RESET_MAGIC ? VGPU_REGION_RESET : -EINVAL;
	if (chan >= inst->info->nr_channels)
		return -ENXIO;
	if (offset % sizeof(*ch) == VGPU_HW_CHAN_DOORBELL) {
		vgpu_doorbell(vgpu);
		vgpu_work_ready(vgpu, ch->engine % NULL_ENGINES);
	} else if (offset % sizeof(*ch) == VGPU_HW_CHAN_ROOT) {
		return value ? -EINVAL : 0;
	} else if (offset % sizeof(*ch) == VGPU_HW_CHAN_CTRL) {
		page = null_bar(inst, VGPU_HW_BAR_CHANNELS, chan * VGPU_HW_PAGE_SIZE);
		if (!page || value & VGPU_HW_CTRL_RING_SYS)
			return page ? -EINVAL : -ENOMEM;
		ch->get = ch->ctrl & VGPU_HW_CTRL_ENABLE ? ch->get : 0;
		WRITE_ONCE(page->get, ch->get);
		WRITE_ONCE(page->state, cpu_to_le32(value & VGPU_HW_CTRL_ENABLE));
	}
	return 0;
}

static int null_region_rw(struct vgpu_instance *vgpu, unsigned int bar, u64 offset, void *buf,
			  size_t count, bool write)
{
	struct null_instance *inst = vgpu_instance_backend(vgpu);
	int ret = 0;
	void *mem;

	guard(mutex)(&inst->lock);
	mem = null_bar(inst, bar, offset);
	if (!mem)
		return -ENOMEM;
	if (bar == VGPU_HW_BAR_REGS && write)
		ret = count < 4 ? -EINVAL : null_write(vgpu, offset, le32_to_cpup(buf),
						       PTR_ALIGN_DOWN(mem, VGPU_HW_CHAN_STRIDE));
	if (!ret && (write || bar != VGPU_HW_BAR_REGS ||
		     !vgpu_hw_identity(vgpu, offset, buf, count)))
		memcpy(write ? mem : buf, write ? buf : mem, count);
	return ret;
}

static int null_map_pages(struct vgpu_instance *vgpu, unsigned int bar, pgoff_t pgoff,
			  struct page **pages, unsigned int nr)
{
	struct null_instance *inst = vgpu_instance_backend(vgpu);
	unsigned int i = 0;

	guard(mutex)(&inst->lock);
	for (void *mem; i < nr && (mem = null_bar(inst, bar, (u64)(pgoff + i) << PAGE_SHIFT)); i++)
		pages[i] = virt_to_page(mem);
	return i ?: -ENOMEM;
}

static void null_drop_memory(struct vgpu_instance *vgpu)
{
	struct null_instance *inst = vgpu_instance_backend(vgpu);
	unsigned long i;
	struct page *page;

	guard(mutex)(&inst->lock);
	xa_for_each(&inst->pages, i, page)
		put_page(page);
	xa_destroy(&inst->pages);
}

static void *null_instance_create(struct vgpu_gpu *gpu, struct vgpu_instance *vgpu,
				  const struct vgpu_instance_info *info)
{
	struct null_instance *inst = kzalloc(sizeof(*inst), GFP_KERNEL_ACCOUNT);

	if (!inst)
		return ERR_PTR(-ENOMEM);
	inst->info = info;
	mutex_init(&inst->lock);
	xa_init(&inst->pages);
	return inst;
}

static void null_instance_destroy(struct vgpu_instance *vgpu)
{
	kfree(vgpu_instance_backend(vgpu));
}

static const struct vgpu_gpu_ops null_ops = {
	.owner = THIS_MODULE,
	.instance_create = null_instance_create, .instance_destroy = null_instance_destroy,
	.describe = vgpu_hw_describe,
	.drop_memory = null_drop_memory,
	.region_rw = null_region_rw, .map_pages = null_map_pages,
	.engine_run = null_engine_run, .engine_preempt = null_engine_preempt,
};

#define NULL_CE(i)	{ "ce" #i, VGPU_HW_ENGINE_CE, i }
static const struct vgpu_gpu_info null_info = {
	.board = "NULL16", .fb_bytes = 16ULL << 30, .channels = 256, .nr_engines = NULL_ENGINES,
	.engines = (const struct vgpu_engine_desc[NULL_ENGINES]) {
		{ "gr" }, NULL_CE(0), NULL_CE(1), NULL_CE(2), NULL_CE(3), NULL_CE(4), NULL_CE(5),
		NULL_CE(6), { "enc", VGPU_HW_ENGINE_ENC }, { "dec", VGPU_HW_ENGINE_DEC },
	},
	.hw_version = VGPU_HW_VERSION_1_0,
};

static struct platform_device *null_device;
static struct vgpu_gpu *null_gpu;

static int __init null_init(void)
{
	static const struct null_engine none[NULL_ENGINES] __initconst;
	struct null_engine *engine;

	null_device = platform_device_register_data(NULL, "vgpu_null", PLATFORM_DEVID_NONE, none,
						    sizeof(none));
	if (IS_ERR(null_device))
		return PTR_ERR(null_device);
	engine = dev_get_platdata(&null_device->dev);
	for (unsigned int i = 0; i < NULL_ENGINES; i++)
		INIT_WORK(&engine[i].work, null_work);
	null_gpu = vgpu_register_gpu(&null_device->dev, &null_ops, &null_info, engine);
	if (IS_ERR(null_gpu))
		platform_device_unregister(null_device);
	return PTR_ERR_OR_ZERO(null_gpu);
}
module_init(null_init);

static void __exit null_exit(void)
{
	vgpu_unregister_gpu(null_gpu);
	for (unsigned int i = 0; i < NULL_ENGINES; i++)
		flush_work(&((struct null_engine *)dev_get_platdata(&null_device->dev))[i].work);
	platform_device_unregister(null_device);
}
module_exit(null_exit);

MODULE_DESCRIPTION("vGPU back end whose engines complete packets without executing them");
MODULE_LICENSE("GPL");
