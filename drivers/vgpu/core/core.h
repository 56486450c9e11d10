/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside vgpu.ko: GPUs and instances, for core's files and the front ends.
 */
#ifndef _VGPU_CORE_H
#define _VGPU_CORE_H

#include <linux/completion.h>
#include <linux/device.h>
#include <linux/ratelimit.h>
#include <linux/vgpu.h>
#include <linux/workqueue.h>

#include "placement.h"
#include "quarantine.h"
#include "share.h"
#include "types.h"
#include "../sched/frl.h"
#include "../sched/sched.h"

struct dentry;
struct mm_struct;
struct task_struct;
struct vgpu_dma_worker;
struct vgpu_event_source;

/**
 * struct vgpu_gpu - a registered GPU
 * @id:        in the control ABI; not used again until the module is reloaded
 * @dev:       the physical function
 * @name:      dev_name(@dev)
 * @ops:       the back end's
 * @info:      what the back end says of it
 * @ref:       the registry holds one, so does each user of a pointer outside of
 *             @lock
 * @link:      in the registry
 * @lock:      what is created or removed on the GPU
 * @instances: all of them, by creation
 * @nr_instances: how many
 * @dying:     unregistering: nothing is created any more
 * @gone:      unregistered: no ops, no @sched
 * @nr_types:  length of @types
 * @types:     catalogue, constant
 * @placement: which part of the framebuffer is whose
 * @guarantee_sum: of all that are placed, per mille
 * @quarantine_faults: that begin a quarantine, 0: never
 * @quarantine_backoff_ms: how long the first one is
 * @sched:     one timeline per engine; its settings change with @lock held
 * @registered_ns: when
 * @backend:   the back end's
 * @debugfs:   directory of this GPU
 * @events:    source of what happens to the GPU itself
 * @refused:   source of refusals to create an instance
 * @log_limit: of what is said of the GPU again and again
 */
struct vgpu_gpu {
	u32 id;
	struct device *dev;
	const char *name;
	const struct vgpu_gpu_ops *ops;
	struct vgpu_gpu_info info;
	struct kref ref;
	struct list_head link;
	/*
	 * Protects @instances, @nr_instances, @placement, @dying, @gone and
	 * the settings, also those of the instances: @guarantee_sum,
	 * @quarantine_*, share, frl_config.
	 */
	struct mutex lock;
	struct list_head instances;
	unsigned int nr_instances;
	bool dying;
	bool gone;
	unsigned int nr_types;
	struct vgpu_type *types;
	struct vgpu_placement placement;
	u32 guarantee_sum;
	u32 quarantine_faults;
	u32 quarantine_backoff_ms;
	struct vgpu_sched *sched;
	u64 registered_ns;
	void *backend;
	struct dentry *debugfs;
	struct vgpu_event_source *events;
	struct vgpu_event_source *refused;
	struct ratelimit_state log_limit;
};

/**
 * struct vgpu_instance - a vGPU
 * @uuid:       its name
 * @gpu:        whose it is
 * @type:       of @gpu->types
 * @ref:        the front end holds one from create to destroy
 * @link:       on @gpu->instances
 * @gone:       not on @gpu->instances any more; protected by @gpu->lock
 * @first_gb:   where its framebuffer starts, in GiB
 * @fb_bytes:   how long it is
 * @first_channel: its first channel on the GPU
 * @nr_channels: how many it owns
 * @created_ns: when
 * @state_lock: open, close and reset
 * @opened:     someone has the device open
 * @started_ns: when it was opened, or 0
 * @owner_pid:  who opened it, or 0
 * @map_lock:   read: from taking pages off the back end until they are mapped;
 *              write: while pages are dropped and mappings zapped
 * @front_lock: @front, for those that must not sleep
 * @front:      the front end's ops, set while the device is open
 * @share:      what it is to get, on each engine; protected by @gpu->lock
 * @frl_config: frames per s, 0: off, VGPU_FRL_DEFAULT; likewise
 * @frl_lock:   @frl
 * @frl:        the frame rate limit in force; fps changes with @gpu->lock held,
 *              too
 * @entity:     one per engine
 * @quarantine_lock: @quarantine
 * @quarantine: fault counting
 * @quarantine_work: holds and releases
 * @overruns:   gross ones that @overrun_work has not counted yet
 * @overrun_work: counts them towards quarantine
 * @events:     source of what happens to it; NULL until it is created
 * @event_limit: of events that say no more than that something happened again
 * @log_limit:  of what is said of it again and again
 * @log_name:   by which the kernel says how much of that was suppressed
 * @dma:        the worker that reaches guest memory, while the device is open
 * @frames:     PRESENT packets completed
 * @faults:     channel faults
 * @interrupts: raised
 * @doorbells:  rung
 * @resets:     of the device
 * @dma_read_bytes: of guest memory
 * @dma_written_bytes: to guest memory
 * @backend:    the back end's
 * @front_data: the front end's
 */
struct vgpu_instance {
	guid_t uuid;
	struct vgpu_gpu *gpu;
	const struct vgpu_type *type;
	struct kref ref;
	struct list_head link;
	bool gone;
	u32 first_gb;
	u64 fb_bytes;
	u32 first_channel;
	u32 nr_channels;
	u64 created_ns;

	/* Serialises open, close and reset; protects @opened, @dma. */
	struct mutex state_lock;
	bool opened;
	u64 started_ns;
	pid_t owner_pid;

	struct rw_semaphore map_lock;

	/* Protects @front against close, where nothing may sleep. */
	spinlock_t front_lock;
	const struct vgpu_front_ops *front;

	struct vgpu_share share;
	u32 frl_config;
	/* Protects @frl; engines take it. */
	spinlock_t frl_lock;
	struct vgpu_frl frl;

	struct vgpu_entity entity[VGPU_MAX_ENGINES];

	/* Protects @quarantine. */
	spinlock_t quarantine_lock;
	struct vgpu_quarantine quarantine;
	struct delayed_work quarantine_work;
	atomic_t overruns;
	struct work_struct overrun_work;
	struct vgpu_event_source *events;
	struct ratelimit_state event_limit;
	struct ratelimit_state log_limit;
	char log_name[48];

	struct vgpu_dma_worker *dma;

	atomic64_t frames;
	atomic64_t faults;
	atomic64_t interrupts;
	atomic64_t doorbells;
	atomic64_t resets;
	atomic64_t dma_read_bytes;
	atomic64_t dma_written_bytes;

	void *backend;
	void *front_data;
};

#define vgpu_gpu_err(gpu, fmt, ...) \
	dev_err((gpu)->dev, "vgpu: " fmt, ##__VA_ARGS__)
#define vgpu_gpu_info(gpu, fmt, ...) \
	dev_info((gpu)->dev, "vgpu: " fmt, ##__VA_ARGS__)
#define vgpu_inst_notice(inst, fmt, ...) do {				\
	const struct vgpu_instance *__inst = (inst);			\
	dev_notice(__inst->gpu->dev, "vgpu %pUl: " fmt, &__inst->uuid,	\
		   ##__VA_ARGS__);					\
} while (0)

/*
 * For all that can be made to happen again and again. The limit is a vGPU's
 * or a GPU's own: what one tenant causes silences no message about another.
 */
static inline bool vgpu_inst_may_log(struct vgpu_instance *instance)
{
	return ___ratelimit(&instance->log_limit, instance->log_name);
}

static inline bool vgpu_gpu_may_log(struct vgpu_gpu *gpu)
{
	return ___ratelimit(&gpu->log_limit, gpu->name);
}

#define vgpu_inst_notice_limited(inst, fmt, ...) do {			\
	struct vgpu_instance *__limited = (inst);			\
	if (vgpu_inst_may_log(__limited))				\
		vgpu_inst_notice(__limited, fmt, ##__VA_ARGS__);	\
} while (0)

#define VGPU_DRIVER_VERSION	"0.1.0"

/*
 * The kernel's mdev core keeps UUIDs in the mixed byte order of a GUID, the
 * control ABI has the order in which they are written.
 */
static inline void vgpu_uuid_export(u8 *to, const guid_t *from)
{
	static const u8 order[16] = { 3, 2, 1, 0, 5, 4, 7, 6,
				      8, 9, 10, 11, 12, 13, 14, 15 };
	unsigned int i;

	for (i = 0; i < 16; i++)
		to[i] = from->b[order[i]];
}

static inline void vgpu_uuid_import(guid_t *to, const u8 *from)
{
	/* The order is its own inverse. */
	guid_t tmp;

	memcpy(tmp.b, from, 16);
	vgpu_uuid_export(to->b, &tmp);
}

/* registry.c */
void vgpu_front_register(struct vgpu_front *front);
void vgpu_front_unregister(struct vgpu_front *front);
int vgpu_fronts_add_gpu(struct vgpu_gpu *gpu);
void vgpu_fronts_remove_gpu(struct vgpu_gpu *gpu);
void vgpu_registry_add(struct vgpu_gpu *gpu);
void vgpu_registry_remove(struct vgpu_gpu *gpu);
struct vgpu_gpu *vgpu_gpu_find(u32 id);
struct vgpu_gpu *vgpu_gpu_find_device(const struct device *dev);
void vgpu_gpu_put(struct vgpu_gpu *gpu);
unsigned int vgpu_gpu_ids(u32 *ids, unsigned int room);
struct vgpu_instance *vgpu_instance_find(const guid_t *uuid);
void vgpu_instance_put(struct vgpu_instance *instance);
int vgpu_instance_call(const u8 *uuid, int (*func)(struct vgpu_instance *instance, void *arg),
		       void *arg);

/* gpu.c */
unsigned int vgpu_gpu_available(struct vgpu_gpu *gpu, unsigned int type);

/* settings.c */
int vgpu_settings_check_params(void);
int vgpu_settings_init(struct vgpu_gpu *gpu, struct vgpu_sched_params *params);
int vgpu_settings_get(struct vgpu_gpu *gpu, struct vgpu_ctl_sched *out);
int vgpu_settings_set(struct vgpu_gpu *gpu, struct vgpu_ctl_sched *arg);

/* shares.c */
int vgpu_shares_join(struct vgpu_instance *instance, char *why, size_t size);
void vgpu_shares_leave(struct vgpu_instance *instance);
void vgpu_shares_init_frl(struct vgpu_instance *instance);
void vgpu_shares_policy_changed(struct vgpu_gpu *gpu);
void vgpu_shares_get(struct vgpu_instance *instance, struct vgpu_ctl_share *out,
		     u32 *fps);
int vgpu_shares_set(const struct vgpu_ctl_share *entries, unsigned int nr,
		    unsigned int *culprit, char *why, size_t size);

/* sysfs.c */
int vgpu_sysfs_add_gpu(struct vgpu_gpu *gpu);
void vgpu_sysfs_remove_gpu(struct vgpu_gpu *gpu);

/* fault.c */
void vgpu_instance_init_quarantine(struct vgpu_instance *instance);
void vgpu_instance_set_quarantine(struct vgpu_instance *instance);
int vgpu_instance_release(struct vgpu_instance *instance);

/* instance.c: what front ends call */
struct vgpu_instance *vgpu_instance_create(struct vgpu_gpu *gpu,
					   unsigned int type,
					   const guid_t *uuid);
void vgpu_instance_destroy(struct vgpu_instance *instance);
int vgpu_instance_open(struct vgpu_instance *instance,
		       const struct vgpu_front_ops *front);
void vgpu_instance_close(struct vgpu_instance *instance);
int vgpu_instance_reset(struct vgpu_instance *instance);
int vgpu_instance_region_rw(struct vgpu_instance *instance, unsigned int bar,
			    u64 offset, void *buf, size_t count, bool write);
void vgpu_instance_bus_master(struct vgpu_instance *instance);

/* engine.c */
extern const struct vgpu_timeline_ops vgpu_engine_ops;
void vgpu_instance_hold(struct vgpu_instance *instance, unsigned int hold);
void vgpu_instance_unhold(struct vgpu_instance *instance, unsigned int hold);

static inline struct vgpu_instance *vgpu_entity_instance(struct vgpu_entity *e,
							 unsigned int engine)
{
	return container_of(e, struct vgpu_instance, entity[engine]);
}

/* dma.c */
struct vgpu_dma_worker *vgpu_dma_start(struct vgpu_instance *instance);
void vgpu_dma_stop(struct vgpu_dma_worker *worker);
void vgpu_dma_abort(struct vgpu_dma_worker *worker);
void vgpu_dma_resume(struct vgpu_dma_worker *worker);
void vgpu_dma_kick(struct vgpu_dma_worker *worker);

void vgpu_dma_uncharge(struct vgpu_dma_worker *worker);

/* thread.c */
struct task_struct *vgpu_thread_run(struct vgpu_instance *instance,
				    int (*fn)(void *data), void *data,
				    const char *name);
void vgpu_thread_uncharge(struct task_struct *task);
bool vgpu_mm_ending(struct mm_struct *mm);

/* event.c */
int vgpu_event_init(void);
void vgpu_event_exit(void);
struct vgpu_event_source *vgpu_event_source_get(const guid_t *uuid);
void vgpu_event_source_put(struct vgpu_event_source *source);
void vgpu_event_limit_init(struct ratelimit_state *limit);
void vgpu_gpu_event(struct vgpu_gpu *gpu, u32 type, u32 a);
void vgpu_instance_event(struct vgpu_instance *instance, u32 type, u32 a, u32 b,
			 u64 c);
struct file;
struct poll_table_struct;
struct vgpu_event_reader;
struct vgpu_event_reader *vgpu_event_open(void);
void vgpu_event_close(struct vgpu_event_reader *reader);
int vgpu_event_setup(struct vgpu_event_reader *reader, void *arg);
ssize_t vgpu_event_read(struct vgpu_event_reader *reader, char __user *buf,
			size_t count, bool nonblock);
__poll_t vgpu_event_poll(struct vgpu_event_reader *reader, struct file *file,
			 struct poll_table_struct *table);

/* control.c */
int vgpu_control_init(void);
void vgpu_control_exit(void);

/* debugfs.c */
void vgpu_debugfs_init(void);
void vgpu_debugfs_exit(void);
void vgpu_debugfs_add_gpu(struct vgpu_gpu *gpu);
void vgpu_debugfs_remove_gpu(struct vgpu_gpu *gpu);

/* refusal.c */
struct vgpu_ctl_refusal;
int vgpu_refusal_get(const guid_t *uuid, struct vgpu_ctl_refusal *refusal);

#endif /* _VGPU_CORE_H */
