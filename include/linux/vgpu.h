/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contract between the vGPU core and a back end, the driver of a GPU: the back end fills in a
 * struct vgpu_gpu_ops, registers each of its GPUs, and reports what the engines do.
 * Documentation/backend.rst explains it with the smallest back end, drivers/vgpu/null.
 *
 * Locks that the core holds while it calls ops, outermost first:
 *
 *   state lock of an instance	a mutex: open, close, reset, pause and state of the instance
 *   access_lock of an instance	an rwsem: read over region_rw that writes, or reads a VGA card's
 *				registers; write over state_save and state_load
 *   (VFIO container, mmap_lock)
 *   map_lock of an instance	an rwsem: read over map_pages, write over drop_memory; never held
 *				over a user copy, a DMA or a wait for an engine or a worker
 *   show_lock of an instance	an rwsem: read over channels_show; nothing else is held
 *   the back end's own locks
 *   lock of a timeline		a raw spinlock that interrupts take: over engine_run and
 *				engine_preempt
 *   a GPU's locks of data	raw spinlocks: over backed_bytes, peak_bytes, guest_info and
 *				channel. The last two may take raw spinlocks of the back end under
 *				which it calls no function of the core that takes a lock
 *
 * The core holds a lock during an op only if the op's description names that lock. The functions
 * that a back end calls may take a timeline's lock, and take none of the locks that are outside the
 * back end's own.
 */
#ifndef _LINUX_VGPU_H
#define _LINUX_VGPU_H

#include <linux/bvec.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/rcuwait.h>
#include <linux/types.h>
#include <linux/vgpu_function.h>
#include <linux/vgpu_run.h>
#include <linux/vgpu_scanout.h>
#include <uapi/linux/vgpu.h>
#include <uapi/linux/vgpu_hw.h>

struct device;
struct mem_cgroup;
struct module;
struct page;
struct seq_file;
struct vgpu_gpu;
struct vgpu_instance;
struct vgpu_clock;
struct vgpu_partition;
struct vgpu_record_reader;
struct vgpu_records;

/**
 * struct vgpu_engine_desc - an engine of a GPU
 * @name:         "gr", "ce0", ...; unique on the GPU
 * @engine_class: enum vgpu_hw_engine_class
 * @instance:     number of the engine among those of its class, from 0
 * @units:        how many units it has, which work for one vGPU at a time; 0 counts as 1
 */
struct vgpu_engine_desc {
	const char *name;
	u32 engine_class;
	u32 instance;
	u32 units;
};

/**
 * struct vgpu_gpu_info - a back end's description of its GPU
 * @board:      first part of the types' names ("SG16"): no '.', ':', '/' or space. The string
 *              lives as long as the GPU is registered
 * @fb_bytes:   framebuffer to share: 1 .. 1024 whole GiB
 * @channels:   channels to share: at least one per GiB, at most VGPU_HW_MAX_CHANNELS
 * @nr_engines: length of @engines, 1 .. VGPU_MAX_ENGINES
 * @engines:    the engines; an engine's index here is its number in every call. The array lives
 *              as long as the GPU is registered
 * @placement:  whether vGPUs of different sizes may lie side by side in the framebuffer
 * @share_time: its partitions, but for partition 0, have no CPUs of their own: they work in fixed
 *              slots, by the clock of vgpu_partition_clock()
 * @hw_version: features of its vGPUs, if they follow Documentation/hardware.rst: a
 *              VGPU_HW_VERSION_*, which vgpu_hw_identity() shows to the VM
 */
struct vgpu_gpu_info {
	const char *board;
	u64 fb_bytes;
	u32 channels;
	u32 nr_engines;
	const struct vgpu_engine_desc *engines;
	enum vgpu_ctl_placement placement;
	bool share_time;
	u32 hw_version;
};

/**
 * struct vgpu_instance_info - the part of its GPU that an instance owns
 * @part:          its partition, whose engines serve it
 * @type_name:     name of the vGPU's type, for messages
 * @fb_start:      first byte of its framebuffer, counted from the start of the GPU's
 * @fb_bytes:      length of its framebuffer, whole GiB
 * @first_channel: its first channel, counted from the GPU's first
 * @nr_channels:   number of channels it owns, at least 1. Calls and ops number the channels of an
 *                 instance from 0
 * @num_heads:     number of heads that the guest may present to, at least 1; only the first one is
 *                 shown
 * @max_width:     width of the largest resolution that the type promises, in pixels
 * @max_height:    height of that resolution, in pixels
 * @vga:           the function is a standard VGA adapter. Set before each instance_open, and false
 *                 without the op scanout
 * @memcg:         memory cgroup of the process that has opened the device. Every thread charges the
 *                 instance's memory to it (set_active_memcg()). Valid from before instance_open
 *                 until after instance_close, else NULL; NULL without memory cgroups, too
 *
 * Valid from instance_create to the end of instance_destroy; constant except for @memcg and @vga.
 */
struct vgpu_instance_info {
	struct vgpu_partition *part;
	const char *type_name;
	u64 fb_start;
	u64 fb_bytes;
	u32 first_channel;
	u32 nr_channels;
	u32 num_heads;
	u32 max_width;
	u32 max_height;
	bool vga;
	struct mem_cgroup *memcg;
};

/**
 * struct vgpu_run - a run: the time that an engine works for one vGPU
 * @instance:    the vGPU whose channels the engine serves
 * @deadline_ns: when the engine stops by itself, by the partition's clock
 */
struct vgpu_run {
	struct vgpu_instance *instance;
	u64 deadline_ns;
};

/**
 * struct vgpu_dirty_pass - a pass over the pages that were written
 * @number:  which one it is; the core sets it, to more than that of any pass of the instance before
 * @pages:   so many pages are in it
 * @dropped: all memory was dropped since the last pass: it reads zero but for these pages
 */
struct vgpu_dirty_pass {
	u64 number;
	u64 pages;
	bool dropped;
};

/* The op region_rw returns this if the write requests a reset of the device. */
#define VGPU_REGION_RESET	1

/**
 * struct vgpu_gpu_ops - what a back end does for the core
 * @owner:           the back end's module; pinned while a vGPU of the GPU is open
 * @instance_create: create an instance that owns the part @info of the GPU. Returns the back end's
 *                   data of the instance, see vgpu_instance_backend(), or an ERR_PTR; a back end
 *                   that refuses gives the reason by vgpu_refuse(). May sleep
 * @instance_destroy: free what @instance_create made. The instance is not open. May sleep
 * @fb_room:         optional: return the bytes of framebuffer that new instances may have now, if
 *                   something other than the size of the framebuffer limits them;
 *                   @instance_create refuses more. Calls may overlap. The caller may be a reader
 *                   with little processor time, so the op takes no lock whose holder can be put to
 *                   sleep
 * @describe:        fill in the PCI function that a VM sees; the core has zeroed @desc. The result
 *                   is constant for an instance, except that IDs and BARs without memory may depend
 *                   on @vga of struct vgpu_instance_info. May sleep
 * @instance_open:   optional: the process current opens the device; its memory cgroup pays for the
 *                   instance's memory. All channels are disabled, all memory reads zero. With the
 *                   state lock held; may sleep. Returns 0 or -errno
 * @instance_stop:   optional: make engines leave the instance, disable all channels and reset all
 *                   registers. The core has held the instance before, so no run of it begins, has
 *                   asked its runs to stop, and has cancelled its accesses to guest memory.
 *                   Afterwards the core waits for the end of its runs. With the state lock held, at
 *                   reset and at close; may sleep
 * @drop_memory:     free all pages: memory that is touched later reads zero. No engine works on the
 *                   instance and no page is mapped any more. Disables channels and resets registers
 *                   if there is no @instance_stop. With the state lock held, and map_lock for
 *                   writing; may sleep
 * @instance_close:  optional: drop what @instance_open took. Called after @drop_memory. With the
 *                   state lock held; may sleep
 * @region_rw:       do a trapped access to the owned bytes of BAR @bar: to registers by 1, 2, 4 or
 *                   8 bytes, naturally aligned; to memory by any @count within a page of 4 KiB.
 *                   @buf is kernel memory, little endian. Calls may overlap. May sleep.
 *                   Returns 0; VGPU_REGION_RESET if a write requests a reset of the device, which
 *                   the core does before the access ends; -EINVAL for a width or value that is not
 *                   allowed, -ENXIO for no such register, -ENOMEM. An access that fails must have
 *                   changed nothing
 * @map_pages:       store up to @nr pages of BAR @bar into @pages, starting at its page @pgoff, all
 *                   in the owned bytes; allocate those that are missing. The core takes its own
 *                   references. The pages must stay until map_lock, which is held for reading, is
 *                   released. Between @dirty_start and @dirty_stop each of them is noted as
 *                   written. May sleep.
 *                   Returns the number of pages, at least 1; -EAGAIN if the host has no memory at
 *                   the moment; -ENOMEM if the memory of the process that pays is used up
 * @scanout:         optional: tell what the first head shows now: a picture in BAR
 *                   VGPU_HW_BAR_FB, all of it in the owned bytes. Returns false if there is none.
 *                   The core does not show a picture that exceeds the type's largest resolution,
 *                   upright and rotated. Without this op the GPU's vGPUs have no display. The
 *                   instance is open. May sleep
 * @backed_bytes:    optional: return the bytes of host memory behind the framebuffer now. With a
 *                   raw spinlock held: read a counter, take no lock
 * @peak_bytes:      optional: return the maximum of @backed_bytes since the device was last opened.
 *                   @instance_open restarts it at the bytes that are backed then. Called with the
 *                   same lock as @backed_bytes, while the device is open or being closed
 * @state_bytes:     optional: about how many bytes @state_save would add for work that has begun.
 *                   May sleep
 * @dirty_start:     optional, with the next four: begin to note which pages of BAR VGPU_HW_BAR_FB
 *                   are written, by engines, accesses to guest memory, @region_rw and users of
 *                   @map_pages. All pages that are backed count as written. The instance is open.
 *                   All five are called with the state lock held. May sleep. Returns 0 or -ENOMEM
 * @dirty_stop:      end that. May sleep
 * @dirty_take:      begin a pass, which ends the last one: set @pass, but for its number, to the
 *                   pages that were noted since the last one and what @dirty_next has not returned
 *                   of that. After @drop_memory only pages count that were written later. No page
 *                   is mapped. With map_lock held for writing; may sleep, but not wait for an
 *                   engine or an access to guest memory
 * @dirty_sync:      return 0 when whatever writes to a page of the pass notes it once more, and
 *                   older writes can be read; or -EINTR if the task was killed before. May sleep
 * @dirty_next:      set @first to the next page of the pass, and return the number of pages there,
 *                   one after the other, which are in the pass no more; 0 if there are none. A page
 *                   that somebody else may write to, without a mapping that was made by @map_pages,
 *                   is noted once more, so it is in each pass. May sleep
 * @channels_show:   optional: print one line per enabled channel, for debugfs. Calls may overlap;
 *                   @instance_destroy waits for them. May sleep
 * @guest_info:      optional: copy what the guest says of its driver and its OS, as it wrote that.
 *                   Called with a raw spinlock held, while the device is open or not
 * @channel:         optional: report channel @index, if the guest has enabled it since the device
 *                   was last opened: fill in @out, which is zeroed, and return true. Same context
 *                   as @guest_info
 * @state_save:      optional, with @state_load: add the state of the instance to records (see
 *                   linux/vgpu_record.h): all that the guest can tell, and what engines have begun,
 *                   but not the content of BARs that are memory. The instance is paused: no engine
 *                   works on it and its accesses to guest memory stand still. It stays as it is.
 *                   With the state lock held, and access_lock for writing; may sleep. Returns 0 or
 *                   -errno
 * @state_load:      give up the state that the instance has, and build that which the records
 *                   say, any byte of which may be wrong; read the back end's records, which come
 *                   next, and none behind them. Memory, and mappings of it, stay; where the state
 *                   comes from another vGPU, memory has been copied before, as this writes to
 *                   channel pages what engines publish there. Reads of registers may go on. Context
 *                   as @state_save. Returns 0; -EINVAL with the reason in the reader, or -ENOMEM:
 *                   then the core resets the instance
 * @partition_create: optional, with @partition_destroy: make partition @id, with engines of its own
 *                   as struct vgpu_gpu_info describes the GPU's. Returns the back end's data of the
 *                   partition, see vgpu_partition_backend(), or an ERR_PTR. May sleep
 * @partition_destroy: free what @partition_create made. The partition has no instances, its engines
 *                   are idle and get no more runs. May sleep
 * @engine_run:      begin @run on an engine of the partition, which is idle; copy @run. The whole
 *                   GPU is partition 0. The engine ends the run by vgpu_engine_done(), but not from
 *                   inside this op. With the timeline's lock held, perhaps in a hard interrupt:
 *                   must not sleep, nor take a lock that is ever held with interrupts on
 * @engine_preempt:  ask the engine to save its work and stop soon. The engine may have stopped by
 *                   itself, and be about to report the end of the run. Same context as @engine_run
 * @engine_reset:    stop an engine that did not stop when asked to. The channel whose packet is
 *                   lost faults with VGPU_HW_FAULT_RESET. When the op returns, the engine is idle
 *                   and will not report the run; a run that ended by itself before is reported as
 *                   usual. Called from a worker, perhaps while other engines are being reset; may
 *                   sleep. Optional: without it, the core trusts engines to stop when asked to, and
 *                   there is no preemption timeout
 * @engine_ran_ns:   optional, with @engine_reset: return for how long the engine has been able to
 *                   work so far, in ns; for an engine that is a thread, its processor time. The
 *                   core measures preemption timeouts by it, so that a busy host does not look like
 *                   a hung engine; without it, by CLOCK_MONOTONIC. Same context as @engine_run
 *
 * The core calls no op after vgpu_unregister_gpu() has returned.
 */
struct vgpu_gpu_ops {
	struct module *owner;

	void *(*instance_create)(struct vgpu_gpu *gpu, struct vgpu_instance *instance,
				 const struct vgpu_instance_info *info);
	void (*instance_destroy)(struct vgpu_instance *instance);
	u64 (*fb_room)(struct vgpu_gpu *gpu);
	void (*describe)(struct vgpu_instance *instance, struct vgpu_function_desc *desc);
	int (*instance_open)(struct vgpu_instance *instance);
	void (*instance_stop)(struct vgpu_instance *instance);
	void (*drop_memory)(struct vgpu_instance *instance);
	void (*instance_close)(struct vgpu_instance *instance);

	int (*region_rw)(struct vgpu_instance *instance, unsigned int bar, u64 offset, void *buf,
			 size_t count, bool write);
	int (*map_pages)(struct vgpu_instance *instance, unsigned int bar, pgoff_t pgoff,
			 struct page **pages, unsigned int nr);
	bool (*scanout)(struct vgpu_instance *instance, struct vgpu_scanout *scanout);
	u64 (*backed_bytes)(struct vgpu_instance *instance);
	u64 (*peak_bytes)(struct vgpu_instance *instance);
	u64 (*state_bytes)(struct vgpu_instance *instance);
	int (*dirty_start)(struct vgpu_instance *instance);
	void (*dirty_stop)(struct vgpu_instance *instance);
	void (*dirty_take)(struct vgpu_instance *instance, struct vgpu_dirty_pass *pass);
	int (*dirty_sync)(struct vgpu_instance *instance);
	u64 (*dirty_next)(struct vgpu_instance *instance, u64 *first);
	void (*channels_show)(struct vgpu_instance *instance, struct seq_file *m);
	void (*guest_info)(struct vgpu_instance *instance, struct vgpu_hw_guest_info *info);
	bool (*channel)(struct vgpu_instance *instance, u32 index, struct vgpu_ctl_channel *out);
	int (*state_save)(struct vgpu_instance *instance, struct vgpu_records *to);
	int (*state_load)(struct vgpu_instance *instance, struct vgpu_record_reader *from);

	void *(*partition_create)(struct vgpu_partition *part, u32 id);
	void (*partition_destroy)(struct vgpu_partition *part);
	void (*engine_run)(struct vgpu_partition *part, unsigned int engine,
			   const struct vgpu_run *run);
	void (*engine_preempt)(struct vgpu_partition *part, unsigned int engine);
	void (*engine_reset)(struct vgpu_partition *part, unsigned int engine);
	u64 (*engine_ran_ns)(struct vgpu_partition *part, unsigned int engine);
};

/* The functions that a back end calls. Their kernel-doc is in drivers/vgpu/core. */

/* Registering a GPU, and the back end's own data */
struct vgpu_gpu *vgpu_register_gpu(struct device *dev, const struct vgpu_gpu_ops *ops,
				   const struct vgpu_gpu_info *info, void *backend);
void vgpu_unregister_gpu(struct vgpu_gpu *gpu);
void *vgpu_gpu_backend(const struct vgpu_gpu *gpu);
struct vgpu_gpu *vgpu_partition_gpu(const struct vgpu_partition *part);
void *vgpu_partition_backend(const struct vgpu_partition *part);
u32 vgpu_partition_units(const struct vgpu_partition *part, u32 units);
u32 vgpu_partition_place(const struct vgpu_partition *part, u32 *slices);
const struct vgpu_clock *vgpu_partition_clock(const struct vgpu_partition *part);
void *vgpu_instance_backend(const struct vgpu_instance *instance);
__printf(3, 4)
int vgpu_refuse(struct vgpu_instance *instance, int error, const char *fmt, ...);

/* Ready-made parts, for vGPUs that follow Documentation/hardware.rst */
void vgpu_hw_describe(struct vgpu_instance *instance, struct vgpu_function_desc *desc);
bool vgpu_hw_identity(struct vgpu_instance *instance, u64 offset, void *buf, size_t count);
bool vgpu_hw_identity_word(struct vgpu_instance *instance, u64 offset, u32 *value);
void vgpu_edid_read(struct vgpu_instance *instance, u32 offset, void *buf, size_t count);

/* Engines and the scheduler */
void vgpu_work_ready(struct vgpu_instance *instance, unsigned int engine);
void vgpu_work_ready_at(struct vgpu_instance *instance, unsigned int engine, u64 ready_ns);
bool vgpu_engine_done(struct vgpu_partition *part, unsigned int engine, enum vgpu_run_end end,
		      u64 idle_ns, u64 linger_ns, struct vgpu_run *next);
u64 vgpu_engine_charged_ns(const struct vgpu_instance *instance, unsigned int engine);
u64 vgpu_engine_busy_ns(struct vgpu_instance *instance, unsigned int engine);
unsigned int vgpu_engine_due(struct vgpu_instance *instance, unsigned int engine);
enum vgpu_poll vgpu_engine_poll(struct vgpu_partition *part, unsigned int engine, u64 empty_ns);

/* Channels and packets */
void vgpu_doorbell(struct vgpu_instance *instance);
void vgpu_packet_submitted(struct vgpu_instance *instance, unsigned int engine, u32 channel,
			   u64 put);
u64 vgpu_present(struct vgpu_instance *instance);
void vgpu_packet_done(struct vgpu_instance *instance, unsigned int engine, u32 channel, u64 index,
		      u8 type, u64 bytes);
void vgpu_channel_fault(struct vgpu_instance *instance, unsigned int engine, u32 channel,
			enum vgpu_hw_fault code, u64 index);
void vgpu_raise_irq(struct vgpu_instance *instance, unsigned int vector);
bool vgpu_instance_quarantined(const struct vgpu_instance *instance);

/* The processes that use an open device */
bool vgpu_owner_show(struct vgpu_instance *instance, long pages);
void vgpu_instance_reclaim(struct vgpu_instance *instance);

/* Guest memory */
#define VGPU_DMA_MAX		65536	/* maximum bytes of one access */
#define VGPU_DMA_MAX_VEC	17	/* maximum segments: pages of 4 KiB, unaligned */

/**
 * struct vgpu_dma - one access to guest memory, by the worker of an open instance
 * @instance: the instance whose guest memory it is
 * @addr:     first byte in guest memory, as the device addresses it
 * @len:      bytes, 1 .. VGPU_DMA_MAX: the sum of the segments
 * @write:    write guest memory, else read it
 * @nr_vec:   number of segments in @vec
 * @vec:      host memory. The access owns a reference to each page, and drops it when it is freed
 * @work:     NULL, or a function that the worker calls instead of accessing guest memory: work that
 *            may take long, charged to the instance's user. May sleep, but must end soon after a
 *            fatal signal. Returns 0 or -errno
 * @tag:      for the submitter: a number for each segment of @vec
 * @ran:      optional: called by the worker whenever it has accessed guest memory, or tried to, as
 *            far as it came; before @complete, but also without: when the access is put back, to
 *            begin anew later, and when it was forgotten meanwhile. Must not sleep
 * @data:     for @work
 * @release:  optional: called when the access is freed, in process context; may sleep
 * @result:   valid in and after @complete: 0, -EFAULT if guest memory is not mapped, -ENOMEM if
 *            the host could not provide it for VGPU_SHORT_MS, -ECANCELED if the access was
 *            cancelled, or what @work returned
 * @complete: optional: called once, when @result is set, by the worker or by a thread that cancels
 *            all accesses; without a lock held. Must not sleep. Not called after
 *            vgpu_dma_forget() has returned
 * @private:  for the submitter
 * @state:    private to the core
 * @ref:      private to the core
 * @link:     private to the core
 * @left:     the core's
 *
 * An engine never waits for guest memory past its run's deadline, so an access can outlast the run.
 */
struct vgpu_dma {
	struct vgpu_instance *instance;
	u64 addr;
	u32 len;
	bool write;
	unsigned int nr_vec;
	struct bio_vec vec[VGPU_DMA_MAX_VEC];
	u32 tag[VGPU_DMA_MAX_VEC];
	void (*ran)(struct vgpu_dma *dma);
	int (*work)(struct vgpu_dma *dma);
	void *data;
	void (*release)(struct vgpu_dma *dma);
	int result;
	void (*complete)(struct vgpu_dma *dma);
	void *private;
	atomic_t state;
	struct kref ref;
	struct list_head link;
	struct rcuwait left;
};

struct vgpu_dma *vgpu_dma_alloc(struct vgpu_instance *instance, gfp_t gfp);
void vgpu_dma_submit(struct vgpu_dma *dma);
void vgpu_dma_forget(struct vgpu_dma *dma);
void vgpu_dma_put(struct vgpu_dma *dma);

/*
 * A thread that may wait for memory of the host retries for this long. By then the OOM killer, or a
 * process that exits, has freed some, or there will be none.
 */
#define VGPU_SHORT_MS		4000

bool vgpu_short_pause(unsigned long *since);

#endif /* _LINUX_VGPU_H */
