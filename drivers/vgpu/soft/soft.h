/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside vgpu_soft.ko.
 *
 * Threads: one per engine; the VM's (register accesses, page faults); the
 * instance's DMA worker (the end of an access); the scheduler's
 * (engine_run, engine_preempt, engine_reset).
 *
 * Who may touch a channel. A channel that is enabled is on its queue's ready
 * list, or paced (its frame is not due yet, or the host had no memory for a
 * request), or stalled (waits for guest memory or for pages), or sleeping, or
 * faulted, or busy: taken by the engine's thread, which alone then uses its
 * execution state. Who disables it sets @stop, waits until it is not busy, and then
 * owns it.
 *
 * Who may touch memory. Pages leave a store in drop_memory only: after
 * instance_stop, so no engine is inside, and @stopping keeps engines and
 * channels out until it has ended. So an engine uses pages without references
 * during a turn. Faults are kept out by the core's map_lock, trapped accesses and
 * the worker by the store's drop_lock.
 *
 * Locks, outermost first; no core function is called under a spinlock here:
 *
 *   soft_instance.config_lock	writes that enable and disable channels
 *   soft_store.drop_lock	read: trapped access, worker; write: dropping
 *   soft_instance.queue_lock	spinlock: channel states, queues, interrupts
 *
 * engine_run and engine_preempt come with the timeline's lock held and take
 * only the wait queues' locks.
 */
#ifndef _VGPU_SOFT_H
#define _VGPU_SOFT_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/vgpu.h>
#include <linux/wait.h>

#include "packet.h"
#include "../core/core.h"

struct mem_cgroup;
struct mm_struct;
struct seq_file;
struct soft_engine;
struct soft_gpu;
struct soft_instance;
struct task_struct;

#define SOFT_ENGINES		3
#define SOFT_GPUS_MAX		16
#define SOFT_HIST		24

/* An engine looks whether to stop at least every that many bytes. */
#define SOFT_STOP_BYTES		65536
/* What a packet, a piece of a row, a new page cost beside their bytes. */
#define SOFT_PACKET_WORK	4096
#define SOFT_PIECE_WORK		256
#define SOFT_FRESH_WORK		12288

/*
 * How soon an engine asks again for a request that it could not allocate, and how
 * long who may sleep goes on asking for pages: the host's OOM killer, or
 * somebody who ends, has then given some back, or the memory is not to be had.
 */
#define SOFT_SHORT_NS		NSEC_PER_MSEC
#define SOFT_SHORT_MS		4000

#define SOFT_PREFETCH		64	/* packets of a ring in guest memory */
#define SOFT_BOUNCE_PAGES	(VGPU_DMA_MAX / VGPU_HW_PAGE_SIZE)

/**
 * struct soft_config - module parameters, checked
 * @fb_mb:      framebuffer, MiB
 * @channels:   per GPU
 * @placement:  how framebuffer is placed
 * @fb_reserve: back a whole instance when it is created
 * @poll_ns:    how long an engine looks for work before it sleeps
 * @cpus:       where engines may run
 */
struct soft_config {
	u32 fb_mb;
	u32 channels;
	enum vgpu_ctl_placement placement;
	bool fb_reserve;
	u64 poll_ns;
	struct cpumask cpus;
};

extern struct soft_config soft_config;

/**
 * struct soft_store - memory that is backed as it is touched
 * @nr_pages:  how long it is
 * @nr_leaves: length of @leaves
 * @leaves:    pages, by number: SOFT_LEAF_PAGES in each; both levels NULL until
 *             touched. Entries are set by cmpxchg
 * @backed:    pages there are
 * @reserved:  all pages there were when created, and so it stays
 * @memcg:     charged, NULL: the current task's. Set while nobody allocates
 * @drop_lock: see above
 */
struct soft_store {
	unsigned long nr_pages;
	unsigned long nr_leaves;
	struct page ***leaves;
	atomic_long_t backed;
	bool reserved;
	struct mem_cgroup *memcg;
	struct rw_semaphore drop_lock;
};

/* Charged, and at the limit an error, not a victim of the OOM killer. */
#define SOFT_GFP	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | \
			 __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/*
 * In an engine, which belongs to all: reclaim in the owner's memory cgroup, and
 * its memory.high, may take seconds. That is for the owner's worker.
 */
#define SOFT_GFP_ENGINE	(GFP_NOWAIT | __GFP_ACCOUNT | __GFP_ZERO | \
			 __GFP_NOWARN)

int soft_store_init(struct soft_store *store, u64 bytes);
int soft_store_reserve(struct soft_store *store);
void soft_store_exit(struct soft_store *store);
struct page *soft_store_peek(struct soft_store *store, unsigned long pgoff);
struct page *soft_store_page(struct soft_store *store, unsigned long pgoff,
			     gfp_t gfp);
struct page *soft_store_alloc(struct soft_store *store, gfp_t gfp);
bool soft_store_host_short(void);
bool soft_store_pause(unsigned int *waited_ms);
int soft_store_map(struct soft_store *store, unsigned long pgoff,
		   struct page **pages, unsigned int nr);
long soft_store_unmapped(struct soft_store *store);
int soft_store_rw(struct soft_store *store, u64 offset, void *buf,
		  size_t count, bool write);
void soft_store_drop(struct soft_store *store);

enum soft_step {
	SOFT_STEP_NEXT,		/* no packet taken */
	SOFT_STEP_FETCH,	/* packets come from guest memory */
	SOFT_STEP_PACE,		/* a frame that has not been let through yet */
	SOFT_STEP_BODY,
	SOFT_STEP_SIGNAL,
};

/**
 * struct soft_exec - how far the packet at get is
 * @step:    what is done next
 * @packet:  valid from SOFT_STEP_PACE on
 * @row:     that is filled or copied
 * @col:     bytes of it that are done
 * @chunk:   bytes of the request to guest memory under way
 * @write_back: guest to guest: @chunk bytes are in @bounce, to be written
 * @pattern: @bounce holds the FILL's pattern
 * @fetch_first: index of the first packet in @fetch
 * @fetch_nr: packets there
 * @fetch:   a page of packets from a ring in guest memory
 * @bounce:  host memory for what guest memory is read into or written from
 */
struct soft_exec {
	enum soft_step step;
	struct soft_packet packet;
	u32 row;
	u64 col;
	u32 chunk;
	bool write_back;
	bool pattern;
	u64 fetch_first;
	u32 fetch_nr;
	struct page *fetch;
	struct page *bounce[SOFT_BOUNCE_PAGES];
};

enum soft_end {
	SOFT_END_EMPTY,		/* no packet */
	SOFT_END_PACKET,	/* one has completed */
	SOFT_END_STOPPED,	/* told to stop, packet goes on later */
	SOFT_END_WAIT,		/* waits for guest memory, or for pages */
	SOFT_END_PACED,		/* goes on at due_ns: a frame's time, or memory */
	SOFT_END_FAULT,		/* see struct soft_fault */
};

/**
 * struct soft_fault - why a channel faults
 * @code: enum vgpu_hw_fault
 * @addr: that failed, or 0
 */
struct soft_fault {
	enum vgpu_hw_fault code;
	u64 addr;
};

/**
 * struct soft_channel - a channel of an instance
 * @inst:      constant
 * @index:     constant
 * @ctrl:      register as written; queue_lock
 * @ring:      register as written; queue_lock
 * @state:     VGPU_HW_STATE_*; queue_lock, as all up to @link
 * @busy:      the engine's thread has it
 * @stalled:   waits for @dma
 * @paced:     waits for @due_ns: @link is on the queue's paced list
 * @stop:      is being disabled: an engine leaves it soon (also read without
 *             the lock)
 * @dma_done:  @dma has completed
 * @fault_code: 0: not faulted since enable
 * @fault_pos: index of the packet that faulted
 * @fault_addr: address that failed, or 0
 * @link:      on the queue's ready or paced list
 * @engine:    bound to. This and the next are latched at enable
 * @ring_addr: the ring
 * @ring_mask: its length in packets, less 1
 * @ring_sys:  in guest memory
 * @page:      channel page, with a reference
 * @hw:        what is in it
 * @get:       packets completed. This and the next are the engine's while busy
 * @put:       as last read, in [get, get + size]
 * @empty_ns:  since when no packet is found, 0: one was
 * @due_ns:    when to ask again whether the frame may be shown, or for memory
 * @dma:       request under way
 * @exec:      the packet at @get
 */
struct soft_channel {
	struct soft_instance *inst;
	u32 index;

	u32 ctrl;
	u64 ring;
	enum vgpu_hw_state state;
	bool busy;
	bool stalled;
	bool paced;
	bool stop;
	bool dma_done;
	enum vgpu_hw_fault fault_code;
	u64 fault_pos;
	u64 fault_addr;
	struct list_head link;

	unsigned int engine;
	u64 ring_addr;
	u32 ring_mask;
	bool ring_sys;
	struct page *page;
	struct vgpu_hw_channel *hw;

	u64 get;
	u64 put;
	u64 empty_ns;
	u64 due_ns;
	struct vgpu_dma *dma;
	struct soft_exec exec;
};

/**
 * struct soft_queue - channels of an instance that an engine is to look at
 * @ready:    AWAKE and not busy, in the order of turns
 * @nr_ready: how many (also read without the lock)
 * @paced:    AWAKE, but held back by the frame-rate limit or for want of memory,
 *            in the order in which they came
 * @due_ns:   none of @paced is due before; U64_MAX: there is none (also read
 *            without)
 * @nr_stalled: channels that wait for guest memory (also read without)
 * @in_turn:  the engine's thread works for the instance
 *
 * Protected by the instance's queue_lock.
 */
struct soft_queue {
	struct list_head ready;
	unsigned int nr_ready;
	struct list_head paced;
	u64 due_ns;
	unsigned int nr_stalled;
	bool in_turn;
};

/**
 * struct soft_rss - an open instance's framebuffer in a process's resident set
 * @link:   on the list of all
 * @mm:     whose; with a reference
 * @shown:  pages that were added to it
 * @seen:   pages that were there when they were looked at last
 * @orphan: @mm has no process any more: who uses the instance next takes over (also
 *          read without the lock)
 * @ending: when the OOM killer last asked, the processes of @mm had exited or been
 *          killed
 * @ending_since: jiffies, when that was found first
 *
 * Protected by rss.c's lock.
 */
struct soft_rss {
	struct list_head link;
	struct mm_struct *mm;
	long shown;
	long seen;
	bool orphan;
	bool ending;
	unsigned long ending_since;
};

/**
 * struct soft_instance - a vGPU
 * @vgpu:     the core's
 * @gpu:      ours
 * @fb:       BAR 0
 * @pages:    BAR 4
 * @rss:      who is seen to have @fb
 * @config_lock: see above
 * @queue_lock: protects the states of channels, @queue, @stopping, @intr and
 *            @fault_channel
 * @wait:     for engines to leave a channel or the instance
 * @stopping: from instance_stop to the end of drop_memory (also read without
 *            the lock): no turn begins, no channel is enabled
 * @intr:     VGPU_HW_INTR
 * @fault_channel: VGPU_HW_FAULT_CHANNEL
 * @queue:    by engine
 * @nr_channels: length of @channel
 * @channel:  by number
 */
struct soft_instance {
	struct vgpu_instance *vgpu;
	struct soft_gpu *gpu;
	struct soft_store fb;
	struct soft_store pages;
	struct soft_rss rss;
	struct mutex config_lock;	/* enabling and disabling */
	spinlock_t queue_lock;		/* states and queues */
	wait_queue_head_t wait;
	bool stopping;
	u32 intr;
	u32 fault_channel;
	struct soft_queue queue[SOFT_ENGINES];
	u32 nr_channels;
	struct soft_channel channel[] __counted_by(nr_channels);
};

/* Fault injection: struct soft_engine.hold_reset */
#define SOFT_HOLD_RESET		1
#define SOFT_RESET_HELD		2

enum soft_engine_state {
	SOFT_ENGINE_IDLE,
	SOFT_ENGINE_RUNNING,
	SOFT_ENGINE_RESET,	/* runs, is to stop and not to report */
	SOFT_ENGINE_ENDING,	/* reports the end of a run */
};

/**
 * struct soft_engine - an engine
 * @gpu:      constant
 * @index:    constant
 * @desc:     constant
 * @task:     its thread
 * @vgpu:     the core's GPU, set with @run
 * @run:      the turn; written by who sets @state to RUNNING
 * @state:    enum soft_engine_state
 * @preempt:  the run is to stop; read without a lock
 * @hang:     the next packet of this type never ends (fault injection); 0
 * @hold_reset: SOFT_HOLD_RESET: when it is reset because of that, it does not
 *            get on until 0 is written; SOFT_RESET_HELD: it waits for that
 * @start:    the thread waits here for a run
 * @wake:     and here for guest memory during one
 * @idle:     engine_reset() waits here
 * @work:     bytes done since the clock was read; the thread's, like the next
 * @now_ns:   the clock, not older than @work says
 * @ran_ns:   how long it could work; written by the thread
 * @expired:  the run's deadline has passed
 * @since_ns: since when the instance of the last turn, which ended while it was
 *           lingered on, has had no work; 0: that is not so
 * @left_ns:  when the last packet before this turn was left, if the engine has
 *            been passed on since to another instance that has not begun one; 0
 * @switches: times it was passed on so, to one that did; written by the thread
 * @switch_ns: from the one's last packet to the other's first, summed up
 * @switch_hist: the same as a histogram: [0] below 1 us, [i] from 2^(i-1) us to
 *            less than 2^i us
 * @switch_array: @switch_hist, for debugfs
 */
struct soft_engine {
	struct soft_gpu *gpu;
	unsigned int index;
	const struct vgpu_engine_desc *desc;
	struct task_struct *task;
	struct vgpu_gpu *vgpu;
	struct vgpu_run run;
	atomic_t state;
	bool preempt;
	u32 hang;
	u32 hold_reset;
	wait_queue_head_t start;
	wait_queue_head_t wake;
	wait_queue_head_t idle;
	u32 work;
	u64 now_ns;
	u64 ran_ns;
	bool expired;
	u64 since_ns;
	u64 left_ns;
	u64 switches;
	u64 switch_ns;
	u32 switch_hist[SOFT_HIST];
	struct debugfs_u32_array switch_array;
};

/**
 * struct soft_gpu - a GPU
 * @pdev:    its PCI function
 * @vgpu:    registered as
 * @board:   first part of type names
 * @debugfs: directory of fault injection and measurement
 * @engine:  by number
 */
struct soft_gpu {
	struct pci_dev *pdev;
	struct vgpu_gpu *vgpu;
	char board[VGPU_ADDR_LEN];
	struct dentry *debugfs;
	struct soft_engine engine[SOFT_ENGINES];
};

static inline struct soft_instance *soft_instance(struct vgpu_instance *vgpu)
{
	return vgpu->backend;
}

static inline struct soft_gpu *soft_gpu(struct vgpu_gpu *vgpu)
{
	return vgpu_gpu_backend(vgpu);
}

static inline struct soft_queue *soft_channel_queue(struct soft_channel *ch)
{
	return &ch->inst->queue[ch->engine];
}

/* root.c */
int soft_root_create(unsigned int nr_gpus, u16 vendor, u16 device);
void soft_root_destroy(void);
bool soft_root_owns(const struct pci_dev *pdev);

/* admit.c */
u64 soft_admit_room(struct vgpu_gpu *vgpu);
int soft_admit(struct vgpu_instance *vgpu);
void soft_admit_end(struct vgpu_instance *vgpu);

/* rss.c */
int soft_rss_init(void);
void soft_rss_exit(void);
void soft_rss_begin(struct soft_instance *inst);
void soft_rss_end(struct soft_instance *inst);
void soft_rss_update(struct soft_instance *inst);
void soft_rss_adopt(struct soft_instance *inst);

/* gpu.c */
int soft_gpu_probe(struct pci_dev *pdev, const struct pci_device_id *id);
void soft_gpu_remove(struct pci_dev *pdev);
void soft_gpu_debugfs_init(void);
void soft_gpu_debugfs_exit(void);

/* regs.c */
int soft_regs_rw(struct soft_instance *inst, u64 offset, void *buf,
		 size_t count, bool write);

/* channel.c */
void soft_channel_publish(struct soft_channel *ch, enum vgpu_hw_state state);
void soft_channel_show(struct soft_channel *ch, struct seq_file *m);
void soft_channel_init(struct soft_instance *inst, u32 index);
void soft_channel_write_ctrl(struct soft_channel *ch, u32 ctrl);
void soft_channel_doorbell(struct soft_channel *ch);
void soft_channel_fault(struct soft_channel *ch,
			const struct soft_fault *fault, u64 pos);
void soft_channel_submit(struct soft_channel *ch, struct vgpu_dma *dma);
struct vgpu_dma *soft_channel_dma_take(struct soft_channel *ch);
void soft_channel_stop_all(struct soft_instance *inst);
void soft_channel_restart(struct soft_instance *inst);

/* queue.c */
void soft_queue_add(struct soft_channel *ch);
void soft_queue_del(struct soft_channel *ch);
void soft_queue_stall(struct soft_channel *ch, bool stalled);
bool soft_queue_begin(struct soft_instance *inst, unsigned int engine);
enum vgpu_run_end soft_queue_end(struct soft_instance *inst,
				 unsigned int engine, bool all_empty);
struct soft_channel *soft_queue_take(struct soft_instance *inst,
				     unsigned int engine, u64 now_ns);
void soft_queue_release(struct soft_channel *ch, enum soft_end end,
			bool sleep);

/* engine.c */
int soft_engine_start(struct soft_engine *engine);
void soft_engine_stop(struct soft_engine *engine);
void soft_engine_run(struct vgpu_gpu *vgpu, unsigned int index,
		     const struct vgpu_run *run);
void soft_engine_preempt(struct vgpu_gpu *vgpu, unsigned int index);
void soft_engine_reset(struct vgpu_gpu *vgpu, unsigned int index);
u64 soft_engine_ran_ns(struct vgpu_gpu *vgpu, unsigned int index);
bool soft_engine_must_stop(struct soft_engine *engine,
			   const struct soft_channel *ch, u32 work);
void soft_engine_hang(struct soft_engine *engine);

/* dma.c */
struct vgpu_dma *soft_dma_alloc(struct soft_channel *ch, u64 addr, bool write);
void soft_dma_add(struct vgpu_dma *dma, struct page *page, unsigned int offset,
		  unsigned int len);
bool soft_dma_add_bounce(struct soft_channel *ch, struct vgpu_dma *dma,
			 u32 len);
bool soft_dma_add_fb(struct soft_channel *ch, struct vgpu_dma *dma, u64 addr,
		     u32 len);
enum soft_end soft_dma_later(struct soft_channel *ch);
enum soft_end soft_dma_submit(struct soft_channel *ch, struct vgpu_dma *dma);
enum soft_end soft_dma_get_fb(struct soft_channel *ch, u64 addr, u32 len);
enum soft_end soft_dma_get_loose(struct soft_channel *ch, u64 addr, u32 len);
void soft_dma_keep(struct soft_exec *exec, const struct vgpu_dma *dma);

/* exec.c */
enum soft_end soft_exec(struct soft_engine *engine, struct soft_channel *ch,
			struct soft_fault *fault);
enum soft_end soft_exec_fault(struct soft_fault *fault,
			      enum vgpu_hw_fault code, u64 addr);
void soft_exec_init(struct soft_exec *exec);
void soft_exec_exit(struct soft_exec *exec);

#endif /* _VGPU_SOFT_H */
