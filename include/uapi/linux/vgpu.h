/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Control ABI of /dev/vgpu.
 *
 * Programs ask for the version first. VGPU_IOC_VERSION and its structure are the same in all
 * versions. Where the driver has another major version than a program, nothing else is: the numbers
 * of the calls are others (ENOTTY). Drivers and programs of one major version go together:
 *
 * Every structure starts with its size, set by the caller, and grows at its end only: the kernel
 * reads what the caller has, takes the rest as 0, refuses (E2BIG) bytes it does not know unless
 * they are 0, and writes back as much as the caller has room for. A size below that of the
 * structure's first version is EINVAL. flags must be 0 where no flag is named (EINVAL). Pointers
 * travel as __u64, all layouts are the same for 32 and 64 bits.
 *
 * An array that a structure points to has elements of entry_size bytes, set by the caller, by the
 * same rules: structures in arrays grow at their end, too. Smaller than in the first version is
 * EINVAL, more than 16384 E2BIG. Lists of ids, and arrays within a structure, have elements that
 * never change.
 *
 * What is told of each engine is one array, engine[], at the end of its structure. engines says how
 * many of its elements the kernel has filled, VGPU_MAX_ENGINES at most: those that the GPU has. It
 * leaves the bytes of the others as they are. So size, or entry_size, may be anything from the
 * offset of engine[] on: a program that knows how many engines there are needs room for no more,
 * and what it has no room for is left out. Such a structure does not grow. It has members named
 * reserved instead, before engine[] and in each element, which a later minor version may give a
 * meaning: the kernel writes 0 to those that it does not know.
 *
 * Reading needs permission on the node, changing needs CAP_SYS_ADMIN (EPERM).
 * Times are CLOCK_MONOTONIC nanoseconds.
 */
#ifndef _UAPI_LINUX_VGPU_H
#define _UAPI_LINUX_VGPU_H

#include <linux/ioctl.h>
#include <linux/types.h>
#include <linux/vgpu_channels.h>
#include <linux/vgpu_events.h>
#include <linux/vgpu_migration.h>
#include <linux/vgpu_partitions.h>

#define VGPU_ABI_MAJOR		2
#define VGPU_ABI_MINOR		4

/* Of all versions, in any: size is 80 at least. */
struct vgpu_ctl_version {
	__u32 size;
	__u32 flags;
	__u32 abi_major;		/* out */
	__u32 abi_minor;		/* out */
	__u8 driver_version[VGPU_NAME_LEN]; /* out */
};

/*
 * Lists. ids: in, where to put count numbers; count: in, room; out, how many
 * there are. The first min(room, count) are written.
 */
struct vgpu_ctl_list {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in, not for GPUs; instances: ~0: of all GPUs */
	__u32 count;			/* in, out */
	/* in: GPUs, partitions: __u32[]; instances: __u8[][VGPU_UUID_LEN] */
	__u64 ids;
};

enum vgpu_ctl_placement {
	VGPU_PLACEMENT_MIXED = 0,	/* sizes may be mixed */
	VGPU_PLACEMENT_HOMOGENEOUS = 1,	/* all vGPUs of the size of the first */
};

struct vgpu_ctl_engine {
	__u32 engine_class;		/* enum vgpu_hw_engine_class */
	__u32 instance;
	__u64 busy_ns;			/* service of all vGPUs, gone ones too */
	__u8 name[16];			/* "gr", "ce0", ... */
	/* Since 2.4. */
	__u32 units;			/* that work for one vGPU at a time; 0: not told */
	__u32 pad;
	__u64 reserved;
};

/*
 * What a vGPU is due of an engine while all started vGPUs have work all the
 * time, by the type of the GPU's policy.
 */
enum vgpu_ctl_due {
	VGPU_DUE_UNKNOWN = 0,		/* the driver does not say */
	VGPU_DUE_EQUAL = 1,		/* the same for each started one that is not quarantined */
	VGPU_DUE_SLOT = 2,		/* the same for each started one; idle time stays idle */
	VGPU_DUE_SIZE = 3,		/* its type's part of fb_bytes; idle time stays idle */
	VGPU_DUE_SHARE = 4,		/* guarantee, and of the rest by weight, up to the cap */
};

struct vgpu_ctl_gpu {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in: id */
	__u32 types;			/* number of types */
	__u32 instances;
	__u32 channels;
	__u32 channels_used;
	__u32 engines;
	__u64 fb_bytes;
	__u64 fb_used_bytes;		/* owned by instances */
	__u64 fb_backed_bytes;		/* backed by host pages */
	__u64 slice_ns;
	__u64 now_ns;			/* when this was read */
	__u64 registered_ns;
	__u32 placement;		/* enum vgpu_ctl_placement */
	__u32 preempt_timeout_us;
	__u32 guarantee_sum;		/* per mille, of all vGPUs */
	__u32 due;			/* enum vgpu_ctl_due, the policy's */
	__u8 address[VGPU_ADDR_LEN];	/* "f000:00:00.0" */
	__u8 board[VGPU_ADDR_LEN];	/* "SG16" */
	__u8 driver[VGPU_ADDR_LEN];	/* "vgpu_soft" */
	__u8 policy[VGPU_ADDR_LEN];	/* its name; sysfs has all names in vgpu/policies */
	/* Since 2.4. */
	__u32 profiles;			/* of partitions; 0: it cannot be divided */
	__u32 partition_mode;		/* VGPU_PARTITION_MODE_* */
	__u32 partitions;		/* number of them, without partition 0 */
	__u32 partition_pad;
	__u64 reserved[6];
	struct vgpu_ctl_engine engine[VGPU_MAX_ENGINES];
};

struct vgpu_ctl_type {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in */
	__u32 index;			/* in: 0 .. types - 1, else ENOENT */
	__u32 available;		/* further instances that fit now */
	__u32 max_instances;
	__u32 num_heads;
	__u32 max_width;
	__u32 max_height;
	__u32 frl_fps;			/* frame rate limit of the type, 0: none */
	__u32 channels;
	__u32 placement_size_gb;
	__u64 fb_bytes;
	__u8 name[VGPU_NAME_LEN];	/* "SG16-4Q" */
	__u8 id[VGPU_NAME_LEN];		/* "vgpu_soft-SG16-4Q", as in sysfs */
	__u8 edition[VGPU_NAME_LEN];	/* "vWS" */
	/* Since 2.4. */
	__u32 slices;			/* of the partitions that it is for; 0: the whole GPU */
	__u32 pad;
};

enum vgpu_ctl_state {
	VGPU_STATE_CREATED = 0,		/* no process has the device open */
	VGPU_STATE_STARTED = 1,
};

#define VGPU_INSTANCE_QUARANTINED	0x1
#define VGPU_INSTANCE_PAUSED		0x2	/* stands still and will go on */

/* What is being done to move a vGPU, or to save or restore it. */
enum vgpu_ctl_move {
	VGPU_MOVE_NONE = 0,
	VGPU_MOVE_SAVING = 1,		/* its state is read while its guest works */
	VGPU_MOVE_SAVING_STOPPED = 2,	/* likewise, while it stands still */
	VGPU_MOVE_LOADING = 3,		/* a state is written to it */
};

struct vgpu_ctl_instance_engine {
	__u64 busy_ns;			/* service: engine occupancy charged */
	__u64 wait_ns;			/* runnable, not running */
	__u64 max_wait_ns;
	__u64 runs;			/* times put on the engine */
	__u64 switches;			/* of these, after another vGPU */
	__u64 preemptions;		/* runs that ended with work left */
	/* runs that ended more than 100 us past their deadline; all: vgpu_ctl_hist */
	__u64 overruns;
	__u64 overrun_ns;		/* sum, of these */
	__u64 max_overrun_ns;
	__u64 stalls;			/* runs that ended waiting for guest memory */
	__u64 faults;
	__u64 resets;			/* engine resets */
	__u64 packets;			/* completed */
	__u64 bytes;			/* written by FILL and COPY */
	__u64 linger_ns;		/* of busy_ns: held the engine without work */
	__u64 window_ns;		/* service in the last whole window */
	__u64 reserved[2];
};

struct vgpu_ctl_instance {
	__u32 size;
	__u32 flags;
	__u8 uuid[VGPU_UUID_LEN];	/* in */
	__u32 gpu;
	__u32 type_index;
	__u32 state;			/* enum vgpu_ctl_state */
	__u32 status;			/* VGPU_INSTANCE_* */
	__u32 placement_gb;		/* where the framebuffer starts */
	__u32 first_channel;
	__u32 channels;
	__u32 engines;
	__u64 fb_bytes;
	__u64 fb_backed_bytes;
	__u64 created_ns;
	__u64 started_ns;		/* 0: not open */
	__u64 now_ns;
	__u64 frames;			/* PRESENT packets completed */
	__u64 faults;			/* channel faults, survive reset */
	__u64 interrupts;
	__u64 doorbells;
	__u64 resets;			/* device resets */
	__u64 dma_read_bytes;		/* guest memory read */
	__u64 dma_written_bytes;
	__u64 quarantine_until_ns;	/* 0: not quarantined */
	__u32 quarantines;		/* times so far */
	__u32 guarantee;		/* per mille of each engine */
	__u32 cap;			/* per mille; 1000: none */
	__u32 weight;			/* of the excess */
	__u32 frl_config;		/* frames per s; 0: off; VGPU_FRL_DEFAULT */
	__u32 frl_fps;			/* in force now; 0: none */
	__u32 vga;			/* 1: a VGA card from the next open on; 0: not */
	/* Of the session; all 0 while it is not open. */
	__s32 owner_pid;		/* process in which its memory is shown; 0: none */
	__u64 max_fb_bytes;		/* most fb_backed_bytes of this session */
	__u64 session;			/* its id */
	__u32 owner_uid;		/* of the process that opened it */
	__u32 pad;
	__u8 owner_comm[VGPU_COMM_LEN];
	__u8 type_name[VGPU_NAME_LEN];
	/* Since 2.3: of the move that is under way. */
	__u32 move;			/* enum vgpu_ctl_move */
	__u32 move_pad;
	__u64 move_bytes;		/* read or written of the stream so far */
	__u64 move_left_bytes;		/* left to be read; by passes, while its guest works */
	__u64 move_ns;			/* since it began */
	/* Since 2.4. */
	__u32 partition;		/* that it lives in */
	__u32 partition_pad;
	__u64 reserved[3];
	struct vgpu_ctl_instance_engine engine[VGPU_MAX_ENGINES];
};

#define VGPU_FRL_DEFAULT	(~0U)	/* as the type has it, under policies that limit */
#define VGPU_FRL_MAX		1000

/* In flags: only what the GPU refused that gpu says. */
#define VGPU_REFUSAL_OF_GPU	0x1

/* Why the last attempt to create this UUID was refused; ENOENT: none known. */
struct vgpu_ctl_refusal {
	__u32 size;
	__u32 flags;			/* VGPU_REFUSAL_* */
	__u8 uuid[VGPU_UUID_LEN];	/* in */
	__s32 error;			/* a positive errno */
	__u32 gpu;			/* out, and in with the flag */
	__u64 time_ns;
	__u8 text[VGPU_TEXT_LEN];
};

/* Lift a quarantine (CAP_SYS_ADMIN). EINVAL if there is none. */
struct vgpu_ctl_instance_op {
	__u32 size;
	__u32 flags;
	__u8 uuid[VGPU_UUID_LEN];	/* in */
};

/*
 * The settings of a GPU, or with the flag (since 2.4) of a partition. VGPU_IOC_SCHED reads them;
 * VGPU_IOC_SCHED_SET (CAP_SYS_ADMIN) changes those that valid names, all or none, and gives back
 * all settings as they are then. Each can be changed while vGPUs run. Those of the GPU are of no
 * use to vGPUs in partitions.
 *
 * slice_ns and frequency_hz are one setting in two units: to set a frequency of f sets a slice of
 * 1/f, and a call that names both is EINVAL. The frequency that is read is 1/slice rounded to the
 * nearest, for some slices a number that cannot be set.
 *
 * ERANGE: a number beyond its limits; EINVAL: valid names nothing or an unknown setting, there is
 * no such policy, or settings do not go together; ENOENT: no such partition. text says why.
 */
#define VGPU_SCHED_OF_PARTITION		0x1	/* in flags */

#define VGPU_SCHED_POLICY		0x001
#define VGPU_SCHED_SLICE		0x002
#define VGPU_SCHED_FREQUENCY		0x004
#define VGPU_SCHED_WINDOW		0x008
#define VGPU_SCHED_PREEMPT_TIMEOUT	0x010
#define VGPU_SCHED_LINGER		0x020
#define VGPU_SCHED_QUARANTINE_FAULTS	0x040
#define VGPU_SCHED_QUARANTINE_BACKOFF	0x080

struct vgpu_ctl_sched {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in */
	__u32 valid;			/* in, SET: VGPU_SCHED_*; reading: 0 */
	__u8 policy[VGPU_ADDR_LEN];	/* a name out of vgpu/policies in sysfs */
	__u64 slice_ns;			/* 1000000 .. 30000000 */
	__u64 window_ns;		/* 10 .. 1000 ms, at least 10 slices */
	__u32 frequency_hz;		/* SET: 63 .. 960 */
	__u32 preempt_timeout_us;	/* 1000 .. 1000000 */
	__u32 linger_us;		/* 0 .. 1000 */
	__u32 quarantine_faults;	/* 1 .. 16; 0: never */
	__u32 quarantine_backoff_ms;	/* 1 .. 3600000 */
	__u32 partition;		/* in, with the flag; else 0 */
	__u8 text[VGPU_TEXT_LEN];	/* out: why it was refused, also on failure */
};

/*
 * The settings of vGPUs. VGPU_IOC_SHARES_SET (CAP_SYS_ADMIN) takes entries for several vGPUs of one
 * partition, at most one entry for each, and changes the settings that valid of an entry names, all
 * or none; VGPU_IOC_INSTANCE reads them. ENOSPC: the sum of the guarantees of all vGPUs of the
 * partition would be more than 1000; EINVAL: a number beyond its limits, or a guarantee above the
 * cap; ENODEV: no such vGPU; EXDEV: a vGPU of another GPU or partition.
 */
#define VGPU_SHARE_GUARANTEE	0x1
#define VGPU_SHARE_CAP		0x2
#define VGPU_SHARE_WEIGHT	0x4
#define VGPU_SHARE_FRL		0x8
#define VGPU_SHARE_VGA		0x10

struct vgpu_ctl_share {
	__u8 uuid[VGPU_UUID_LEN];
	__u32 valid;			/* VGPU_SHARE_* */
	__u32 guarantee;		/* per mille of each engine, 0 .. cap */
	__u32 cap;			/* per mille of each engine, 1 .. 1000 */
	__u32 weight;			/* of the excess, 1 .. 1000 */
	__u32 frl;			/* frames per s, 0 .. VGPU_FRL_MAX; VGPU_FRL_DEFAULT */
	__u32 vga;			/* 0 or 1: be a VGA card from the next open on */
};

struct vgpu_ctl_shares {
	__u32 size;
	__u32 flags;
	__u32 count;			/* in: 1 .. 256 */
	__u32 entry_size;		/* in: sizeof(struct vgpu_ctl_share) */
	__u64 entries;			/* in: struct vgpu_ctl_share[] */
	__u8 text[VGPU_TEXT_LEN];	/* out: why it was refused, also on failure */
};

/* The last runs of an engine that have ended, oldest first. */
#define VGPU_SCHED_LOG		200

enum vgpu_ctl_switch_end {
	VGPU_END_IDLE = 0,		/* no work left */
	VGPU_END_SLICE = 1,		/* its slice was over */
	VGPU_END_PREEMPTED = 2,		/* for another vGPU */
	VGPU_END_HELD = 3,		/* closed, reset, quarantined or paused */
	VGPU_END_STALLED = 4,		/* waits for guest memory */
	VGPU_END_RESET = 5,		/* the engine had to be reset */
	VGPU_END_CHANGED = 6,		/* the policy was changed */
};

struct vgpu_ctl_switch {
	__u8 uuid[VGPU_UUID_LEN];
	__u64 time_ns;			/* when the run began */
	__u64 wait_ns;			/* runnable before it */
	__u64 slice_ns;			/* given */
	__u64 ran_ns;			/* service */
	__u64 idle_ns;			/* not charged */
	__u64 linger_ns;		/* of ran_ns: without work */
	__u64 preempt_ns;		/* from when it was to stop until it had; 0: it was not */
	__u32 end;			/* enum vgpu_ctl_switch_end */
	__u32 pad;
};

struct vgpu_ctl_sched_log {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in */
	__u32 engine;			/* in: index, else ENOENT */
	__u32 count;			/* in: room; out: entries written */
	__u32 entry_size;		/* in: sizeof(struct vgpu_ctl_switch) */
	__u64 total;			/* out: runs that have ended so far */
	__u64 entries;			/* in: struct vgpu_ctl_switch[], the last ones */
	/* Since 2.4. */
	__u32 partition;		/* in: whose engine; 0: the whole GPU */
	__u32 pad;
};

/*
 * Histograms of a vGPU on an engine: [0] counts times below 1 us, [i] those from
 * 2^(i-1) us to less than 2^i us, the last one all above, too.
 */
#define VGPU_HIST_BUCKETS	24

struct vgpu_ctl_hist {
	__u32 size;
	__u32 flags;
	__u8 uuid[VGPU_UUID_LEN];	/* in */
	__u32 engine;			/* in: index, else ENOENT */
	__u32 pad;
	__u64 wait[VGPU_HIST_BUCKETS];	/* runnable, before a run */
	__u64 overrun[VGPU_HIST_BUCKETS]; /* past the deadline, however short */
	__u64 preempt[VGPU_HIST_BUCKETS]; /* from when it was to stop until it had */
};

/*
 * A GPU and all its vGPUs, at one time. No counter ever goes back, and for each engine busy_ns is
 * gone_ns and the engine[].busy_ns of all its vGPUs together, to the ns; frames and faults of the
 * GPU add up in the same way. Those of a vGPU that is removed go on as part of the gone ones.
 *
 * size of an entry is out: how much of it the kernel has filled. The vGPUs come in the order in
 * which they were created.
 */
struct vgpu_ctl_stats {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in */
	__u32 count;			/* in: room; out: how many there are, 32 at most */
	__u32 entry_size;		/* in: bytes of a struct vgpu_ctl_instance */
	__u32 engines;			/* out: of each engine[], the entries' too */
	__u64 entries;			/* in: struct vgpu_ctl_instance[] */
	__u64 now_ns;			/* when this was read */
	__u64 fb_backed_bytes;		/* of all entries */
	__u64 frames;			/* of all vGPUs, gone ones too */
	__u64 gone_frames;
	__u64 faults;			/* of channels */
	__u64 gone_faults;
	__u64 reserved[8];
	struct vgpu_ctl_stats_engine engine[VGPU_MAX_ENGINES];
};

/*
 * Samples: what each vGPU of a GPU did in each of the last 128 periods, and the GPU. A period has
 * some 100 ms, period_ns to be exact. While no vGPU of the GPU is open there are no samples; the
 * last one comes after the end of the last session.
 *
 * The kernel keeps no position of a reader: a reader gives back next_ns as since_ns. Samples come
 * in the order of time, those of one period together, the GPU's first. A call gives whole periods
 * only, as many as there is room for, 1024 samples at most, and sets more if there are others.
 */
#define VGPU_SAMPLES_KEPT	128	/* periods */
#define VGPU_SAMPLES_ROOM	64	/* a period has no more samples */

struct vgpu_ctl_engine_busy {
	__u64 busy_ns;			/* service */
	__u64 reserved;
};

struct vgpu_ctl_sample {
	__u8 uuid[VGPU_UUID_LEN];	/* all 0: the GPU, with vGPUs gone since */
	__u64 time_ns;			/* end of the period */
	__u64 period_ns;
	__u64 fb_backed_bytes;		/* at its end */
	__u64 frames;			/* in the period */
	__u64 reserved[2];
	struct vgpu_ctl_engine_busy engine[VGPU_MAX_ENGINES]; /* in the period, to some us */
};

struct vgpu_ctl_samples {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in */
	__u32 count;			/* in: room, VGPU_SAMPLES_ROOM at least; out: written */
	__u32 entry_size;		/* in: bytes of a struct vgpu_ctl_sample */
	__u32 engines;			/* out: of the engine[] of each entry */
	__u64 entries;			/* in: struct vgpu_ctl_sample[] */
	__u64 since_ns;			/* in: only samples with a later time_ns */
	__u64 next_ns;			/* out: since_ns of the next call */
	__u64 now_ns;			/* out */
	__u32 more;			/* out: 1: there are more samples already; else 0 */
	__u32 pad;
};

/*
 * Sessions: the processes that had vGPUs of a GPU open, from open to close. The driver keeps all
 * open sessions and 4000 ended ones. Beyond that it forgets the oldest session of the vGPU that has
 * the most, so that no user pushes out the sessions of others by opening and closing.
 *
 * Sessions come in the order of their ids, which is that of opening. A call gives as many as there
 * is room for, 256 at most; a reader that has count 0 has read all.
 */
#define VGPU_SESSIONS_KEPT	4000

enum vgpu_ctl_session_kind {
	VGPU_SESSION_VM = 0,		/* a process of the host had the vGPU open */
	/* others are left for what processes in guests will report */
};

struct vgpu_ctl_session {
	__u64 id;			/* from 1 on, for each GPU */
	__u8 uuid[VGPU_UUID_LEN];	/* the vGPU's */
	__u32 kind;			/* enum vgpu_ctl_session_kind */
	__s32 pid;
	__u32 uid;
	__u32 pad;
	__u8 comm[VGPU_COMM_LEN];	/* the process's name when it opened the vGPU */
	__u8 type_name[VGPU_NAME_LEN];
	__u64 start_ns;
	__u64 end_ns;			/* 0: still open; all below is up to now */
	__u64 max_fb_bytes;		/* most framebuffer backed by host pages at a time */
	__u64 frames;
	__u64 faults;
	__u64 resets;			/* of the device */
	__u64 parent;			/* id of the session that it is a part of; 0: none */
	__u64 reserved[4];
	struct vgpu_ctl_engine_busy engine[VGPU_MAX_ENGINES];
};

struct vgpu_ctl_sessions {
	__u32 size;
	__u32 flags;
	__u32 gpu;			/* in */
	__u32 count;			/* in: room; out: written */
	__u32 entry_size;		/* in: bytes of a struct vgpu_ctl_session */
	__u32 engines;			/* out: of the engine[] of each entry */
	__u64 entries;			/* in: struct vgpu_ctl_session[] */
	__u64 first_id;			/* in: the least id wanted */
	__u64 next_id;			/* out: first_id to go on with */
	__u64 last_id;			/* out: of the newest session, 0: there was none */
	__u64 now_ns;			/* out */
};

/* 0xb1 .. 0xc0 were those of 1.x. */
#define VGPU_IOC_VERSION	_IOWR('g', 0xb0, struct vgpu_ctl_version)
#define VGPU_IOC_GPUS		_IOWR('g', 0xc1, struct vgpu_ctl_list)
#define VGPU_IOC_GPU		_IOWR('g', 0xc2, struct vgpu_ctl_gpu)
#define VGPU_IOC_TYPE		_IOWR('g', 0xc3, struct vgpu_ctl_type)
#define VGPU_IOC_INSTANCES	_IOWR('g', 0xc4, struct vgpu_ctl_list)
#define VGPU_IOC_INSTANCE	_IOWR('g', 0xc5, struct vgpu_ctl_instance)
#define VGPU_IOC_REFUSAL	_IOWR('g', 0xc6, struct vgpu_ctl_refusal)
#define VGPU_IOC_RELEASE	_IOWR('g', 0xc7, struct vgpu_ctl_instance_op)

#define VGPU_IOC_SCHED		_IOWR('g', 0xc8, struct vgpu_ctl_sched)
#define VGPU_IOC_SCHED_SET	_IOWR('g', 0xc9, struct vgpu_ctl_sched)
#define VGPU_IOC_SHARES_SET	_IOWR('g', 0xca, struct vgpu_ctl_shares)
#define VGPU_IOC_SCHED_LOG	_IOWR('g', 0xcb, struct vgpu_ctl_sched_log)
#define VGPU_IOC_HIST		_IOWR('g', 0xcc, struct vgpu_ctl_hist)
#define VGPU_IOC_EVENTS		_IOWR('g', 0xcd, struct vgpu_ctl_events)
#define VGPU_IOC_STATS		_IOWR('g', 0xce, struct vgpu_ctl_stats)
#define VGPU_IOC_SAMPLES	_IOWR('g', 0xcf, struct vgpu_ctl_samples)
#define VGPU_IOC_SESSIONS	_IOWR('g', 0xd0, struct vgpu_ctl_sessions)
#define VGPU_IOC_CHANNELS	_IOWR('g', 0xd1, struct vgpu_ctl_channels)
#define VGPU_IOC_MIGRATION	_IOWR('g', 0xd2, struct vgpu_ctl_migration)
#define VGPU_IOC_MIGRATION_CHECK _IOWR('g', 0xd3, struct vgpu_ctl_migration_check)

#define VGPU_IOC_PROFILE	_IOWR('g', 0xd4, struct vgpu_ctl_profile)
#define VGPU_IOC_PARTITIONS	_IOWR('g', 0xd5, struct vgpu_ctl_list)
#define VGPU_IOC_PARTITION	_IOWR('g', 0xd6, struct vgpu_ctl_partition)
#define VGPU_IOC_PARTITION_CREATE _IOWR('g', 0xd7, struct vgpu_ctl_partition_create)
#define VGPU_IOC_PARTITION_REMOVE _IOWR('g', 0xd8, struct vgpu_ctl_partition_remove)
#define VGPU_IOC_PARTITION_MODE	_IOWR('g', 0xd9, struct vgpu_ctl_partition_set_mode)

#endif /* _UAPI_LINUX_VGPU_H */
