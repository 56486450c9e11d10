// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/vgpu/<gpu>/: placement, channels, timelines, instances, histograms and
 * switches, for people to read; pause, resume, reload and dirty_*, to which the UUID of a vGPU is
 * written; and partitions, see debugfs_division.c. These files are not an ABI.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uuid.h>

#include "../core.h"
#include "../objects/state.h"

static struct dentry *vgpu_debugfs_root;

static int placement_show(struct seq_file *m, void *unused)
{
	struct vgpu_gpu *gpu = m->private;
	const struct vgpu_placement *whole = &gpu->part0.placement;
	u32 free_gb = whole->region_gb, placed = 0;
	u64 backed[VGPU_PLACEMENT_MAX];
	struct vgpu_partition *part;
	struct vgpu_instances all;
	unsigned int i;

	raw_spin_lock(&gpu->data_lock);
	list_for_each_entry(part, &gpu->division.partitions, link) {
		placed += part->placement.nr;
		free_gb -= part->placement.region_gb - vgpu_placement_free_gb(&part->placement);
	}
	vgpu_instances_get_locked(gpu, &all);
	for (i = 0; i < all.nr; i++)
		backed[i] = vgpu_instance_backed_bytes(all.at[i]);
	raw_spin_unlock(&gpu->data_lock);
	seq_printf(m, "framebuffer_mb: %u, free_mb: %u, mode: %s, instances: %u of %u\n",
		   whole->region_gb * 1024, free_gb * 1024,
		   whole->homogeneous ? "homogeneous" : "mixed", placed, VGPU_PLACEMENT_MAX);
	seq_printf(m, "%-36s %-12s %9s %9s %9s\n", "vgpu", "type", "start_mb", "size_mb",
		   "backed_kb");
	for (i = 0; i < all.nr; i++)
		seq_printf(m, "%pUl %-12s %9llu %9llu %9llu\n", &all.at[i]->uuid,
			   all.at[i]->type->name, all.at[i]->info.fb_start >> 20,
			   all.at[i]->info.fb_bytes >> 20, backed[i] >> 10);
	vgpu_instances_put(&all);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(placement);

static void show_channels(struct seq_file *m, struct vgpu_instance *instance)
{
	struct vgpu_gpu *gpu = instance->gpu;

	seq_printf(m, "%pUl %u..%u\n", &instance->uuid, instance->info.first_channel,
		   instance->info.first_channel + instance->info.nr_channels - 1);
	/* Skip an instance that is being destroyed. */
	if (!gpu->ops->channels_show || !down_read_trylock(&instance->show_lock))
		return;
	if (!READ_ONCE(instance->gone))
		gpu->ops->channels_show(instance, m);
	up_read(&instance->show_lock);
}

static int channels_show(struct seq_file *m, void *unused)
{
	struct vgpu_gpu *gpu = m->private;
	struct vgpu_instances all;
	unsigned int i;

	seq_printf(m, "channels: %u\n", gpu->info.channels);
	vgpu_instances_get(gpu, &all);
	for (i = 0; i < all.nr; i++)
		show_channels(m, all.at[i]);
	vgpu_instances_put(&all);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(channels);

static void show_entity_name(struct seq_file *m, struct vgpu_entity *entity)
{
	struct vgpu_instance *instance =
		vgpu_entity_instance(entity, vgpu_timeline_index(entity->tl));

	seq_printf(m, "%pUl", &instance->uuid);
}

/* Calls @show for each engine of each partition. That of partition 0 is called by its name only. */
static void show_engines(struct vgpu_gpu *gpu, struct seq_file *m,
			 void (*show)(struct seq_file *m, struct vgpu_timeline *tl, void *arg),
			 void *arg)
{
	struct vgpu_partitions parts;
	struct vgpu_partition *part;
	unsigned int i, k;

	/* Partition 0 outlives the directory, and the others stay with their references. */
	raw_spin_lock(&gpu->data_lock);
	vgpu_partitions_get_locked(gpu, &parts);
	raw_spin_unlock(&gpu->data_lock);
	for (k = 0; k < parts.nr; k++) {
		part = parts.at[k];
		for (i = 0; i < gpu->info.nr_engines; i++) {
			if (part->id)
				seq_printf(m, "partition %u ", part->id);
			seq_printf(m, "%s:", gpu->info.engines[i].name);
			show(m, vgpu_sched_timeline(part->sched, i), arg);
		}
	}
	vgpu_partitions_put(&parts);
}

static void show_timeline(struct seq_file *m, struct vgpu_timeline *tl, void *unused)
{
	seq_putc(m, '\n');
	vgpu_timeline_show(tl, m, show_entity_name);
}

static int timelines_show(struct seq_file *m, void *unused)
{
	show_engines(m->private, m, show_timeline, NULL);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(timelines);

static void show_engine(struct seq_file *m, struct vgpu_instance *instance, unsigned int i)
{
	struct vgpu_entity_stats s;

	vgpu_entity_stats(&instance->entity[i], &s);
	seq_printf(m, "  %s: busy_us %llu, linger_us %llu, window_us %llu, wait_us %llu, max_wait_us %llu, runs %llu, switches %llu, preemptions %llu, overruns %llu, overrun_us %llu, max_overrun_us %llu, stalls %llu, faults %llu, resets %llu, packets %llu, bytes %llu\n",
		   instance->gpu->info.engines[i].name, s.busy_ns / 1000,
		   s.linger_ns / 1000, s.window_ns / 1000, s.wait_ns / 1000,
		   s.max_wait_ns / 1000, s.runs, s.switches, s.preemptions,
		   s.overruns, s.overrun_ns / 1000, s.max_overrun_ns / 1000,
		   s.stalls, s.faults, s.resets, s.packets, s.bytes);
}

static void show_instance(struct seq_file *m, struct vgpu_instance *instance)
{
	struct vgpu_ctl_share settings;
	struct vgpu_share share;
	unsigned int i;

	seq_printf(m, "%pUl %s %s%s%s\n", &instance->uuid, instance->type->name,
		   READ_ONCE(instance->started_ns) ? "started" : "created",
		   READ_ONCE(instance->pauses) ? ", paused" : "",
		   vgpu_instance_quarantined(instance) ? ", quarantined" : "");
	seq_printf(m, "  frames %lld, faults %lld, interrupts %lld, doorbells %lld, resets %lld, dma_read_bytes %lld, dma_written_bytes %lld, state_bytes %zu\n",
		   (s64)atomic64_read(&instance->frames),
		   (s64)atomic64_read(&instance->faults),
		   (s64)atomic64_read(&instance->interrupts),
		   (s64)atomic64_read(&instance->doorbells),
		   (s64)atomic64_read(&instance->resets),
		   (s64)atomic64_read(&instance->dma_read_bytes),
		   (s64)atomic64_read(&instance->dma_written_bytes),
		   READ_ONCE(instance->state_bytes));
	vgpu_shares_get(instance, &settings);
	vgpu_share_of(&settings, vgpu_instance_start_gb(instance), instance->type->size_gb,
		      &share);
	seq_printf(m, "  guarantee %u, cap %u, weight %u, first_slot %u, slots %u, frl_fps %u\n",
		   share.guarantee, share.cap, share.weight, share.first_slot, share.nr_slots,
		   vgpu_shares_frl(instance));
	for (i = 0; i < instance->gpu->info.nr_engines; i++)
		show_engine(m, instance, i);
}

static int instances_show(struct seq_file *m, void *unused)
{
	struct vgpu_gpu *gpu = m->private;
	struct vgpu_instances all;
	unsigned int i;

	vgpu_instances_get(gpu, &all);
	for (i = 0; i < all.nr; i++)
		show_instance(m, all.at[i]);
	vgpu_instances_put(&all);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(instances);

static void show_hist(struct seq_file *m, const char *name, const struct vgpu_hist *hist)
{
	unsigned int i;

	seq_printf(m, "  %s:", name);
	for (i = 0; i < VGPU_HIST_BUCKETS; i++)
		seq_printf(m, " %llu", hist->count[i]);
	seq_putc(m, '\n');
}

static int histograms_show(struct seq_file *m, void *unused)
{
	struct vgpu_gpu *gpu = m->private;
	struct vgpu_entity_stats s;
	struct vgpu_instances all;
	unsigned int i, k;

	seq_puts(m, "below 1 us, 2 us, 4 us, ...\n");
	vgpu_instances_get(gpu, &all);
	for (k = 0; k < all.nr; k++) {
		for (i = 0; i < gpu->info.nr_engines; i++) {
			vgpu_entity_stats(&all.at[k]->entity[i], &s);
			seq_printf(m, "%pUl %s\n", &all.at[k]->uuid, gpu->info.engines[i].name);
			show_hist(m, "wait", &s.wait_hist);
			show_hist(m, "overrun", &s.overrun_hist);
			show_hist(m, "preempt", &s.preempt_hist);
		}
	}
	vgpu_instances_put(&all);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(histograms);

static void show_switches(struct seq_file *m, struct vgpu_timeline *tl, void *arg)
{
	struct vgpu_ctl_switch *log = arg;
	unsigned int k, nr;
	u64 total;

	nr = vgpu_timeline_log(tl, log, VGPU_SCHED_LOG, &total);
	seq_printf(m, " last %u of %llu\n", nr, total);
	for (k = 0; k < nr; k++)
		seq_printf(m, "%pUb time_ns %llu, wait_ns %llu, slice_ns %llu, ran_ns %llu, idle_ns %llu, linger_ns %llu, preempt_ns %llu, end %u\n",
			   log[k].uuid, log[k].time_ns, log[k].wait_ns, log[k].slice_ns,
			   log[k].ran_ns, log[k].idle_ns, log[k].linger_ns, log[k].preempt_ns,
			   log[k].end);
}

static int switches_show(struct seq_file *m, void *unused)
{
	struct vgpu_ctl_switch *log;

	log = kvcalloc(VGPU_SCHED_LOG, sizeof(*log), GFP_KERNEL);
	if (!log)
		return -ENOMEM;
	show_engines(m->private, m, show_switches, log);
	kvfree(log);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(switches);

/* The vGPU of the GPU whose UUID was written, with a reference for the caller; or an ERR_PTR. */
static struct vgpu_instance *find_written(struct vgpu_gpu *gpu, const char __user *buf,
					  size_t count)
{
	struct vgpu_instance *instance;
	char text[UUID_STRING_LEN + 2], *uuid_text;
	guid_t uuid;
	int ret;

	if (count >= sizeof(text))
		return ERR_PTR(-EINVAL);
	if (copy_from_user(text, buf, count))
		return ERR_PTR(-EFAULT);
	text[count] = '\0';
	uuid_text = strim(text);
	if (strlen(uuid_text) != UUID_STRING_LEN)
		return ERR_PTR(-EINVAL);
	ret = guid_parse(uuid_text, &uuid);
	if (ret)
		return ERR_PTR(ret);
	instance = vgpu_instance_find(&uuid);
	if (instance && instance->gpu != gpu) {
		vgpu_instance_put(instance);
		instance = NULL;
	}
	return instance ?: ERR_PTR(-ENODEV);
}

/* Calls @func for the vGPU of the GPU whose UUID was written. Returns @count or -errno. */
static ssize_t call_for_uuid(struct file *file, const char __user *buf, size_t count,
			     int (*func)(struct vgpu_instance *instance))
{
	struct vgpu_instance *instance = find_written(file->private_data, buf, count);
	int ret;

	if (IS_ERR(instance))
		return PTR_ERR(instance);
	ret = func(instance);
	vgpu_instance_put(instance);
	return ret ?: count;
}

static ssize_t pause_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	return call_for_uuid(file, buf, count, vgpu_instance_pause);
}

static const struct file_operations pause_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = pause_write,
};

static ssize_t resume_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	return call_for_uuid(file, buf, count, vgpu_instance_resume);
}

static const struct file_operations resume_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = resume_write,
};

static int dirty_start(struct vgpu_instance *instance)
{
	return vgpu_dirty_start(instance, VGPU_DIRTY_DEBUGFS);
}

static int dirty_stop(struct vgpu_instance *instance)
{
	return vgpu_dirty_stop(instance, VGPU_DIRTY_DEBUGFS);
}

static ssize_t dirty_start_write(struct file *file, const char __user *buf, size_t count,
				 loff_t *pos)
{
	return call_for_uuid(file, buf, count, dirty_start);
}

static const struct file_operations dirty_start_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = dirty_start_write,
};

static ssize_t dirty_stop_write(struct file *file, const char __user *buf, size_t count,
				loff_t *pos)
{
	return call_for_uuid(file, buf, count, dirty_stop);
}

static const struct file_operations dirty_stop_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = dirty_stop_write,
};

/**
 * struct dirty_reader - an open file dirty_pass
 * @gpu:      the GPU; constant
 * @lock:     protects the other fields
 * @instance: the vGPU whose UUID was written, with a reference; NULL: none was
 * @pass:     the pass that the write began
 * @text:     a line about the pass, or about a run of its pages
 * @bytes:    length of @text
 * @at:       bytes of @text that were read. The next run is taken when all of them were, so that
 *            no page is lost if a read fails
 */
struct dirty_reader {
	struct vgpu_gpu *gpu;
	struct mutex lock;	/* one call at a time */
	struct vgpu_instance *instance;
	struct vgpu_dirty_pass pass;
	char text[64];
	size_t bytes;
	loff_t at;
};

static int dirty_pass_open(struct inode *inode, struct file *file)
{
	struct dirty_reader *reader = kzalloc(sizeof(*reader), GFP_KERNEL);

	if (!reader)
		return -ENOMEM;
	reader->gpu = inode->i_private;
	mutex_init(&reader->lock);
	file->private_data = reader;
	return nonseekable_open(inode, file);
}

static int dirty_pass_release(struct inode *inode, struct file *file)
{
	struct dirty_reader *reader = file->private_data;

	if (reader->instance)
		vgpu_instance_put(reader->instance);
	kfree(reader);
	return 0;
}

/* Takes a pass. What is read from the file then is what was in it. One pass for each open file. */
static ssize_t dirty_pass_write(struct file *file, const char __user *buf, size_t count,
				loff_t *pos)
{
	struct dirty_reader *reader = file->private_data;
	struct vgpu_instance *instance = find_written(reader->gpu, buf, count);
	int ret;

	if (IS_ERR(instance))
		return PTR_ERR(instance);
	mutex_lock(&reader->lock);
	ret = -EBUSY;
	if (!reader->instance)
		ret = vgpu_dirty_pass(instance, VGPU_DIRTY_DEBUGFS, &reader->pass);
	if (!ret) {
		reader->bytes = scnprintf(reader->text, sizeof(reader->text),
					  "pages %llu, pass %llu%s\n", reader->pass.pages,
					  reader->pass.number,
					  reader->pass.dropped ? ", dropped" : "");
		swap(reader->instance, instance);
	}
	mutex_unlock(&reader->lock);
	if (instance)
		vgpu_instance_put(instance);
	return ret ?: count;
}

/* Makes the next line, if the last one was read: none at the end of the pass. */
static int dirty_pass_line(struct dirty_reader *reader)
{
	u64 first, nr;
	int ret;

	lockdep_assert_held(&reader->lock);
	if (!reader->instance || reader->at < reader->bytes)
		return 0;
	ret = vgpu_dirty_next(reader->instance, &reader->pass, &first, &nr);
	if (ret)
		return ret;
	reader->at = 0;
	reader->bytes = nr ? scnprintf(reader->text, sizeof(reader->text), "%llu..%llu\n", first,
				       first + nr - 1) : 0;
	return 0;
}

static ssize_t dirty_pass_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	struct dirty_reader *reader = file->private_data;
	ssize_t ret;

	mutex_lock(&reader->lock);
	ret = dirty_pass_line(reader);
	if (!ret)
		ret = simple_read_from_buffer(buf, count, &reader->at, reader->text,
					      reader->bytes);
	mutex_unlock(&reader->lock);
	return ret;
}

static const struct file_operations dirty_pass_fops = {
	.owner = THIS_MODULE,
	.open = dirty_pass_open,
	.read = dirty_pass_read,
	.write = dirty_pass_write,
	.release = dirty_pass_release,
};

static ssize_t reload_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	return call_for_uuid(file, buf, count, vgpu_instance_reload);
}

static const struct file_operations reload_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = reload_write,
};

/**
 * vgpu_debugfs_add_gpu() - make the directory of a GPU
 * @gpu: the GPU; its scheduler exists
 *
 * Context: sleeps.
 */
void vgpu_debugfs_add_gpu(struct vgpu_gpu *gpu)
{
	struct dentry *dir = debugfs_create_dir(gpu->name, vgpu_debugfs_root);

	gpu->debugfs = dir;
	debugfs_create_file("placement", 0400, dir, gpu, &placement_fops);
	debugfs_create_file("partitions", 0600, dir, gpu, &vgpu_division_fops);
	debugfs_create_file("channels", 0400, dir, gpu, &channels_fops);
	debugfs_create_file("timelines", 0400, dir, gpu, &timelines_fops);
	debugfs_create_file("instances", 0400, dir, gpu, &instances_fops);
	debugfs_create_file("histograms", 0400, dir, gpu, &histograms_fops);
	debugfs_create_file("switches", 0400, dir, gpu, &switches_fops);
	debugfs_create_file("pause", 0200, dir, gpu, &pause_fops);
	debugfs_create_file("resume", 0200, dir, gpu, &resume_fops);
	debugfs_create_file("dirty_start", 0200, dir, gpu, &dirty_start_fops);
	debugfs_create_file("dirty_stop", 0200, dir, gpu, &dirty_stop_fops);
	debugfs_create_file("dirty_pass", 0600, dir, gpu, &dirty_pass_fops);
	debugfs_create_file("reload", 0200, dir, gpu, &reload_fops);
}

/**
 * vgpu_debugfs_remove_gpu() - remove the directory of a GPU
 * @gpu: the GPU; its lock is not held
 *
 * Context: sleeps, until all readers of the files have left.
 */
void vgpu_debugfs_remove_gpu(struct vgpu_gpu *gpu)
{
	debugfs_remove_recursive(gpu->debugfs);
}

/**
 * vgpu_debugfs_init() - make the directory of the module; module init
 */
void vgpu_debugfs_init(void)
{
	vgpu_debugfs_root = debugfs_create_dir("vgpu", NULL);
}

/**
 * vgpu_debugfs_exit() - remove the directory of the module; module exit
 */
void vgpu_debugfs_exit(void)
{
	debugfs_remove_recursive(vgpu_debugfs_root);
}
