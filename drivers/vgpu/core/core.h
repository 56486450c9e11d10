/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside vgpu.ko: GPUs, instances and front ends, for core's files and the front ends. Core has
 * four rooms: objects/ (GPUs, instances and what belongs to them), settings/ (settings by users),
 * stats/ (what is counted, recorded and shown), control/ (the node /dev/vgpu).
 *
 * A back end includes none of this, only <linux/vgpu.h>, which also states the order of locks. The
 * lock of a GPU is taken with none of those locks held, and no op is called with it held. Only
 * threads that create or remove instances, or change settings, take it: a task without processor
 * time left keeps its locks while it sleeps, and neither a reader nor a tenant may wait for that.
 *
 * So readers, tenants and engines take raw spinlocks, whose holders are never put to sleep: the
 * registry's, then a GPU's data_lock; front_lock of an instance, then that of its front end; all
 * others alone. Code under these locks copies data and walks lists of limited length. It allocates
 * and frees nothing, wakes no wait queue, and calls no op except backed_bytes, peak_bytes,
 * guest_info and channel. Work that takes longer uses references: to a vGPU (vgpu_instances_get()),
 * to a GPU's scheduler and back end (vgpu_gpu_enter()).
 */
#ifndef _VGPU_CORE_H
#define _VGPU_CORE_H

#include <linux/completion.h>
#include <linux/device.h>
#include <linux/mutex.h>
#include <linux/ratelimit.h>
#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/uuid.h>
#include <linux/vgpu.h>
#include <linux/workqueue.h>

#include "objects/dirty.h"
#include "objects/front.h"
#include "objects/move.h"
#include "objects/owner.h"
#include "objects/division.h"
#include "objects/partition.h"
#include "objects/quarantine.h"
#include "stats/sample_ring.h"
#include "stats/session_log.h"
#include "settings/share_rules.h"
#include "objects/types.h"
#include "../sched/frl.h"
#include "../sched/sched.h"

/* Maximum bytes of an EDID; a standard VGA adapter has room for no more. */
#define VGPU_EDID_MAX	1024

struct dentry;
struct task_struct;
struct vgpu_dma_worker;
struct vgpu_event_source;

/**
 * struct vgpu_sampler - decides when a GPU is sampled
 * @work:     takes a sample
 * @lock:     protects the following
 * @nr_open:  number of the GPU's vGPUs that are open
 * @armed:    @work will run
 * @begin_ns: begin of the current period
 */
struct vgpu_sampler {
	struct delayed_work work;
	raw_spinlock_t lock;	/* nr_open, armed, begin_ns */
	unsigned int nr_open;
	bool armed;
	u64 begin_ns;
};

/**
 * struct vgpu_gpu - a registered GPU
 * @id:        number in the control ABI; not used again until the module is reloaded
 * @dev:       the physical function; a reference is held
 * @name:      dev_name(@dev)
 * @ops:       the back end's ops
 * @info:      the back end's description of the GPU
 * @ref:       the registry holds a reference, and so does each user of the GPU
 * @users:     number of threads that may use @ops and the schedulers of its partitions, see
 *             vgpu_gpu_enter(); 1 is the registration's
 * @unused:    completed when @users is 0
 * @link:      on the registry's list
 * @lock:      see below
 * @data_lock: see below
 * @instances: all instances, in the order of creation
 * @nr_instances: length of @instances
 * @dying:     the GPU is being unregistered: no instance is created any more
 * @gone:      the GPU is unregistered: it has no instances, and its settings do not change
 * @nr_types:  length of @types
 * @types:     catalogue of types; constant
 * @part0:     partition 0: the whole GPU
 * @division:  how it is divided
 * @gone_frames: frames of destroyed instances
 * @gone_faults: channel faults of destroyed instances
 * @samples:   samples of the whole GPU
 * @sampler:   decides when it is sampled
 * @session_lock: see below
 * @sessions:  log of sessions: which processes had its instances open, and when
 * @registered_ns: when the GPU was registered, CLOCK_MONOTONIC
 * @backend:   the back end's data, see vgpu_gpu_backend()
 * @debugfs:   directory of the GPU
 * @events:    source of events about the GPU itself
 * @refused:   source of events about refusals to create an instance
 * @log_limit: rate limit for messages about the GPU that users can cause at will
 */
struct vgpu_gpu {
	u32 id;
	struct device *dev;
	const char *name;
	const struct vgpu_gpu_ops *ops;
	struct vgpu_gpu_info info;
	struct kref ref;
	refcount_t users;
	struct completion unused;
	struct list_head link;
	/*
	 * Serialises threads that create or remove instances or change settings. Readers and users
	 * of instances never take it.
	 */
	struct mutex lock;
	/*
	 * Protects @samples and the instances' samples, except the sample that is being taken:
	 * only the sampler's work uses that. The following are changed with @lock held, too, and
	 * read with this lock alone: @instances, @nr_instances, @dying, @gone, @gone_frames,
	 * @gone_faults, @gone and settings of instances; and the fields that struct vgpu_partition
	 * and struct vgpu_division name.
	 */
	raw_spinlock_t data_lock;
	struct list_head instances;
	unsigned int nr_instances;
	bool dying;
	bool gone;
	unsigned int nr_types;
	struct vgpu_type *types;
	struct vgpu_partition part0;
	struct vgpu_division division;
	u64 gone_frames;
	u64 gone_faults;
	struct vgpu_sample_ring *samples;
	struct vgpu_sampler sampler;
	/* Protects @sessions, and of the instances @session and the fields set together with it. */
	raw_spinlock_t session_lock;
	struct vgpu_session_log sessions;
	u64 registered_ns;
	void *backend;
	struct dentry *debugfs;
	struct vgpu_event_source *events;
	struct vgpu_event_source *refused;
	struct ratelimit_state log_limit;
};

/**
 * struct vgpu_edid - the monitor of a vGPU's first head
 * @lock: protects the following
 * @size: bytes of the EDID; 0: there is no monitor
 * @blob: the EDID, followed by zeros
 */
struct vgpu_edid {
	struct mutex lock;	/* size, blob */
	u32 size;
	u8 blob[VGPU_EDID_MAX];
};

/**
 * struct vgpu_instance - a vGPU
 * @uuid:       its name
 * @gpu:        its GPU; a reference is held
 * @part:       its partition, with a reference; NULL before it is placed
 * @type:       one of @gpu->types
 * @ref:        the front end holds one from create to destroy
 * @link:       on @gpu->instances
 * @gone:       not on @gpu->instances any more; protected like that list
 * @info:       the part of the GPU that it owns, constant once placed; and fields that each open
 *              changes, written with @state_lock held
 * @created_ns: when it was created, CLOCK_MONOTONIC
 * @state_lock: see below
 * @opened:     a user has the device open
 * @pauses:     number of pauses that are not over; written with @state_lock held
 * @tracked:    written pages are noted; changes under @state_lock and @map_lock
 * @dirty_reader: for whom; set with @state_lock held, valid if @tracked
 * @dirty_pass: number of the pass over written pages that is under way. It goes up by one with each
 *              pass, and with each start of noting pages, which ends the last pass; it never goes
 *              back
 * @started_ns: when the device was opened, CLOCK_MONOTONIC, or 0; set with @session
 * @owner:      the holders of the device, while it is open
 * @session:    the session while the device is open, else NULL; protected by @gpu->session_lock
 * @session_source: source of the numbers of its sessions
 * @samples:    its samples
 * @map_lock:   see below
 * @access_lock: see below
 * @front_lock: see below
 * @front:      the front end's ops while the device is open, else NULL
 * @show_lock:  see below
 * @settings:   its settings, as VGPU_IOC_SHARES_SET sets them; see vgpu_shares_get()
 * @frl_lock:   see below
 * @frl:        the frame-rate limit in force; its fps changes with @gpu->lock held, too
 * @quarantine_lock: see below
 * @quarantine: counts faults
 * @quarantine_work: holds or unholds the instance according to @quarantine
 * @overruns:   gross overruns that @overrun_work has not counted yet
 * @overrun_work: counts @overruns towards quarantine
 * @events:     source of events about it; NULL until it has been created
 * @log_limit:  rate limit for messages that its guest can cause at will
 * @log_name:   name in the kernel's message about the number of suppressed messages
 * @move:       how far a move has come, if it moves
 * @state_bytes: length of the state that was saved last
 * @edid:       the EDID that the guest's driver reads
 * @dma:        the worker that accesses guest memory, while the device is open
 * @frames:     PRESENT packets completed
 * @faults:     channel faults
 * @interrupts: interrupts raised
 * @doorbells:  doorbells rung
 * @resets:     resets of the device
 * @restarts:   likewise, with those that do not count as such
 * @dma_read_bytes: bytes read from guest memory
 * @dma_written_bytes: bytes written to guest memory
 * @backend:    the back end's data, see vgpu_instance_backend()
 * @front_data: the front end's data
 * @entity:     what the scheduler knows of it, one per engine
 */
struct vgpu_instance {
	guid_t uuid;
	struct vgpu_gpu *gpu;
	struct vgpu_partition *part;
	const struct vgpu_type *type;
	struct kref ref;
	struct list_head link;
	bool gone;
	struct vgpu_instance_info info;
	u64 created_ns;

	/* Serialises open, close, reset and pause; protects @opened, @pauses, @dirty_pass, @dma. */
	struct mutex state_lock;
	bool opened;
	unsigned int pauses;
	bool tracked;
	enum vgpu_dirty_reader dirty_reader;
	u64 dirty_pass;
	u64 started_ns;
	struct vgpu_owner owner;
	struct vgpu_session *session;
	struct vgpu_session_source *session_source;
	struct vgpu_sample_ring *samples;

	/*
	 * Held for reading from getting pages of the back end until they are mapped; held for
	 * writing while mappings are zapped and pages dropped.
	 */
	struct rw_semaphore map_lock;

	/*
	 * Held for reading over trapped accesses that may change the state of the device; held for
	 * writing while the state is saved and loaded.
	 */
	struct rw_semaphore access_lock;

	/* Protects @front, for callers that must not sleep. */
	raw_spinlock_t front_lock;
	const struct vgpu_front_ops *front;

	/*
	 * Held for reading over channels_show, by trylock, so that readers never wait for each
	 * other; taken for writing when the instance is gone, before the back end destroys it.
	 */
	struct rw_semaphore show_lock;
	struct vgpu_ctl_share settings;
	/* Protects @frl; engines take it. */
	raw_spinlock_t frl_lock;
	struct vgpu_frl frl;

	/* Protects @quarantine. */
	raw_spinlock_t quarantine_lock;
	struct vgpu_quarantine quarantine;
	struct delayed_work quarantine_work;
	atomic_t overruns;
	struct work_struct overrun_work;
	struct vgpu_event_source *events;
	struct ratelimit_state log_limit;
	char log_name[48];

	struct vgpu_move move;
	size_t state_bytes;
	struct vgpu_edid edid;
	struct vgpu_dma_worker *dma;

	atomic64_t frames;
	atomic64_t faults;
	atomic64_t interrupts;
	atomic64_t doorbells;
	atomic64_t resets;
	atomic64_t restarts;
	atomic64_t dma_read_bytes;
	atomic64_t dma_written_bytes;

	void *backend;
	void *front_data;

	struct vgpu_entity entity[];
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
 * Rate limits for messages that a guest can cause at will. Each vGPU and each GPU has its own
 * limit, so that messages about one tenant do not suppress messages about another.
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
 * The kernel's mdev core keeps UUIDs in the mixed byte order of a GUID; the control ABI has the
 * bytes of a UUID in the order of its text form.
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
	/* Reordering twice gives the original. */
	guid_t tmp;

	memcpy(tmp.b, from, 16);
	vgpu_uuid_export(to->b, &tmp);
}

/* objects/registry.c */
void vgpu_front_register(struct vgpu_front *front);
void vgpu_front_unregister(struct vgpu_front *front);
int vgpu_fronts_add_gpu(struct vgpu_gpu *gpu);
void vgpu_fronts_remove_gpu(struct vgpu_gpu *gpu);
void vgpu_registry_add(struct vgpu_gpu *gpu);
void vgpu_registry_remove(struct vgpu_gpu *gpu);
struct vgpu_gpu *vgpu_gpu_find(u32 id);
struct vgpu_gpu *vgpu_gpu_find_device(const struct device *dev);
void vgpu_gpu_put(struct vgpu_gpu *gpu);
bool vgpu_gpu_enter(struct vgpu_gpu *gpu);
void vgpu_gpu_leave(struct vgpu_gpu *gpu);
unsigned int vgpu_gpu_ids(u32 *ids, unsigned int room);
struct vgpu_instance *vgpu_instance_find(const guid_t *uuid);
void vgpu_instance_put(struct vgpu_instance *instance);
int vgpu_instance_call(const u8 *uuid, int (*func)(struct vgpu_instance *instance, void *arg),
		       void *arg);

/**
 * struct vgpu_instances - the instances of a GPU at one time, each with a reference
 * @nr: number of instances
 * @at: the instances, in the order of creation
 */
struct vgpu_instances {
	unsigned int nr;
	struct vgpu_instance *at[VGPU_PLACEMENT_MAX];
};

void vgpu_instances_get_locked(struct vgpu_gpu *gpu, struct vgpu_instances *all);
void vgpu_instances_get(struct vgpu_gpu *gpu, struct vgpu_instances *all);
void vgpu_instances_put(struct vgpu_instances *all);

/**
 * struct vgpu_ctl_entries - elements of an array of the control ABI, to be filled in
 * @at:     the first one; all are zeroed
 * @stride: bytes from one to the next. Of an element that ends in engine[] there is no more than
 *          the GPU's engines
 * @nr:     how many there is room for
 */
struct vgpu_ctl_entries {
	void *at;
	size_t stride;
	unsigned int nr;
};

static inline void *vgpu_ctl_entry(const struct vgpu_ctl_entries *entries, unsigned int i)
{
	return entries->at + i * entries->stride;
}

/* Where the instance's framebuffer starts in that of its partition. */
static inline u32 vgpu_instance_start_gb(const struct vgpu_instance *instance)
{
	return (u32)(instance->info.fb_start >> 30) - instance->part->start_gb;
}

/* objects/gpu.c */
unsigned int vgpu_gpu_available(struct vgpu_gpu *gpu, unsigned int type);

/* settings/gpu_settings.c */
extern const struct vgpu_setting vgpu_gpu_settings[];
int vgpu_settings_check_params(void);
int vgpu_settings_init(struct vgpu_partition *part, struct vgpu_sched_params *params);
int vgpu_settings_get(struct vgpu_partition *part, struct vgpu_ctl_sched *out);
int vgpu_settings_set(struct vgpu_partition *part, struct vgpu_ctl_sched *arg);

/* settings/instance_shares.c */
int vgpu_shares_join(struct vgpu_instance *instance, char *why, size_t size);
void vgpu_shares_leave(struct vgpu_instance *instance);
void vgpu_shares_update_frl(struct vgpu_instance *instance);
u32 vgpu_shares_frl(struct vgpu_instance *instance);
bool vgpu_shares_due(struct vgpu_instance *instance, struct vgpu_frl *frl);
void vgpu_shares_get(struct vgpu_instance *instance, struct vgpu_ctl_share *settings);
int vgpu_shares_set(const struct vgpu_ctl_share *entries, unsigned int nr,
		    unsigned int *culprit, char *why, size_t size);

/**
 * struct vgpu_setting_attr - a setting as a sysfs attribute
 * @attr: the driver core's attribute
 * @setting: row of a table of settings
 */
struct vgpu_setting_attr {
	struct device_attribute attr;
	const struct vgpu_setting *setting;
};

static inline const struct vgpu_setting *vgpu_attr_setting(struct device_attribute *attr)
{
	return container_of(attr, struct vgpu_setting_attr, attr)->setting;
}

/* settings/sysfs.c */
void vgpu_setting_attrs(const struct vgpu_setting *table, const struct device_attribute *like,
			struct vgpu_setting_attr *attrs, struct attribute **list);
ssize_t vgpu_setting_show(const struct vgpu_setting *setting, const void *settings, char *buf);
int vgpu_setting_store(const struct vgpu_setting *setting, void *settings, const char *buf);
void vgpu_sysfs_init(void);
int vgpu_sysfs_add_gpu(struct vgpu_gpu *gpu);
void vgpu_sysfs_remove_gpu(struct vgpu_gpu *gpu);

/* objects/fault.c */
void vgpu_instance_init_quarantine(struct vgpu_instance *instance);
void vgpu_instance_set_quarantine(struct vgpu_instance *instance);
int vgpu_instance_release(struct vgpu_instance *instance);
void vgpu_instance_faults_export(struct vgpu_instance *instance, struct vgpu_quarantine_ages *ages);
void vgpu_instance_faults_import(struct vgpu_instance *instance,
				 const struct vgpu_quarantine_ages *ages);

/* objects/instance.c: called by front ends */
struct vgpu_instance *vgpu_instance_create(struct vgpu_gpu *gpu, unsigned int type,
					   const guid_t *uuid);
void vgpu_instance_destroy(struct vgpu_instance *instance);
int vgpu_instance_open(struct vgpu_instance *instance, const struct vgpu_front_ops *front);
void vgpu_instance_close(struct vgpu_instance *instance);
int vgpu_instance_reset(struct vgpu_instance *instance);
void vgpu_instance_restart(struct vgpu_instance *instance);
void vgpu_instance_describe(struct vgpu_instance *instance, struct vgpu_function_desc *desc);
int vgpu_instance_region_rw(struct vgpu_instance *instance, unsigned int bar,
			    u64 offset, void *buf, size_t count, bool write);
int vgpu_instance_map_pages(struct vgpu_instance *instance, unsigned int bar, pgoff_t pgoff,
			    struct page **pages, unsigned int nr);
void vgpu_instance_bus_master(struct vgpu_instance *instance);
bool vgpu_instance_scanout(struct vgpu_instance *instance, struct vgpu_scanout *scanout);

/*
 * Returns the bytes of host memory behind the framebuffer; 0 if the back end has no such op, or may
 * have destroyed the instance. The caller holds the data_lock of the GPU.
 */
static inline u64 vgpu_instance_backed_bytes(struct vgpu_instance *instance)
{
	const struct vgpu_gpu_ops *ops = instance->gpu->ops;

	lockdep_assert_held(&instance->gpu->data_lock);
	return ops->backed_bytes && !instance->gone ? ops->backed_bytes(instance) : 0;
}

/* objects/edid.c */
void vgpu_edid_reset(struct vgpu_instance *instance);
int vgpu_edid_set(struct vgpu_instance *instance, const u8 *blob, u32 size);

/* objects/engine.c */
extern const struct vgpu_timeline_ops vgpu_engine_ops;
void vgpu_instance_hold(struct vgpu_instance *instance, unsigned int hold);
void vgpu_instance_unhold(struct vgpu_instance *instance, unsigned int hold);

static inline struct vgpu_instance *vgpu_entity_instance(struct vgpu_entity *e, unsigned int engine)
{
	return container_of(e, struct vgpu_instance, entity[engine]);
}

/* objects/pause.c */
int vgpu_instance_pause(struct vgpu_instance *instance);
int vgpu_instance_resume(struct vgpu_instance *instance);
void vgpu_pause_close(struct vgpu_instance *instance);

/* objects/dma.c */
struct vgpu_dma_worker *vgpu_dma_start(struct vgpu_instance *instance);
void vgpu_dma_stop(struct vgpu_dma_worker *worker);
void vgpu_dma_abort(struct vgpu_dma_worker *worker);
void vgpu_dma_resume(struct vgpu_dma_worker *worker);
int vgpu_dma_pause(struct vgpu_dma_worker *worker);
void vgpu_dma_unpause(struct vgpu_dma_worker *worker);
void vgpu_dma_kick(struct vgpu_dma_worker *worker);
void vgpu_dma_uncharge(struct vgpu_dma_worker *worker);

/* objects/thread.c */
struct task_struct *vgpu_thread_run(struct vgpu_instance *instance, int (*fn)(void *data),
				    void *data, const char *name);
void vgpu_thread_uncharge(struct task_struct *task);
bool vgpu_mm_ending(struct mm_struct *mm);

/* stats/event.c */
int vgpu_event_init(void);
void vgpu_event_exit(void);
struct vgpu_event_source *vgpu_event_source_get(const guid_t *uuid);
void vgpu_event_source_put(struct vgpu_event_source *source);
void vgpu_gpu_event(struct vgpu_gpu *gpu, u32 type, u32 a);
void vgpu_instance_event(struct vgpu_instance *instance, u32 type, u32 a, u32 b, u64 c);
struct poll_table_struct;
struct vgpu_event_reader;
struct vgpu_event_reader *vgpu_event_open(void);
void vgpu_event_close(struct vgpu_event_reader *reader);
int vgpu_event_setup(struct vgpu_event_reader *reader, void *arg);
ssize_t vgpu_event_read(struct vgpu_event_reader *reader, char __user *buf,
			size_t count, bool nonblock);
__poll_t vgpu_event_poll(struct vgpu_event_reader *reader, struct file *file,
			 struct poll_table_struct *table);

/* stats/session.c */
int vgpu_session_join(struct vgpu_instance *instance);
void vgpu_session_leave(struct vgpu_instance *instance);
struct vgpu_session *vgpu_session_new(const struct vgpu_gpu *gpu);
void vgpu_session_begin(struct vgpu_instance *instance, struct vgpu_session *session);
void vgpu_session_end(struct vgpu_instance *instance);
void vgpu_session_report(struct vgpu_instance *instance, struct vgpu_ctl_instance *out);
void vgpu_session_list(struct vgpu_gpu *gpu, struct vgpu_ctl_sessions *ctl,
		       const struct vgpu_ctl_entries *entries);

/* stats/sample.c */
int vgpu_sample_init(void);
void vgpu_sample_exit(void);
void vgpu_sampler_init(struct vgpu_gpu *gpu);
void vgpu_sampler_exit(struct vgpu_gpu *gpu);
void vgpu_sampler_open(struct vgpu_gpu *gpu);
void vgpu_sampler_close(struct vgpu_gpu *gpu);
void vgpu_sample_list(struct vgpu_gpu *gpu, struct vgpu_ctl_samples *ctl,
		      const struct vgpu_ctl_entries *entries);

/* stats/channel.c */
int vgpu_channel_list(struct vgpu_instance *instance, struct vgpu_ctl_channels *ctl,
		      const struct vgpu_ctl_entries *entries);

/* control/control.c */
int vgpu_control_init(void);
void vgpu_control_exit(void);

/* stats/debugfs_division.c */
extern const struct file_operations vgpu_division_fops;

/* stats/debugfs.c */
void vgpu_debugfs_init(void);
void vgpu_debugfs_exit(void);
void vgpu_debugfs_add_gpu(struct vgpu_gpu *gpu);
void vgpu_debugfs_remove_gpu(struct vgpu_gpu *gpu);

/* objects/refusal.c */
struct vgpu_ctl_refusal;
int vgpu_refusal_get(const guid_t *uuid, struct vgpu_ctl_refusal *refusal);

#endif /* _VGPU_CORE_H */
