/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /dev/vgpu: a function per ioctl (ctl.c), and what the commands do with several of them
 * (ctl_find.c).
 */
#ifndef VGPUCTL_CTL_H
#define VGPUCTL_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/vgpu.h>

#include "message.h"

#define ALL_GPUS	(~0u)
#define CTL_ENGINE_NAMES	(VGPU_MAX_ENGINES * 17 + 1)

/* For "%.*s": texts of the ABI may fill their arrays, without a 0 at the end. */
#define TEXT(a)		(int)sizeof(a), (const char *)(a)

/* ---- ctl.c: return 0 or a negative errno ---- */

/*
 * Opens /dev/vgpu and returns its file, or says on standard error why not and returns a negative
 * errno.
 */
int ctl_open(void);
int ctl_version(int fd, struct vgpu_ctl_version *version);

/*
 * An error of one of these functions in words. -ENOTTY: the driver, of an earlier minor version,
 * does not know the call.
 */
const char *ctl_error(int ret);

/* The lists are allocated; the caller frees them. @gpu may be ALL_GPUS. */
int ctl_gpus(int fd, uint32_t **ids, uint32_t *count);
int ctl_instances(int fd, uint32_t gpu, uint8_t **uuids, uint32_t *count);

int ctl_gpu(int fd, uint32_t id, struct vgpu_ctl_gpu *gpu);
int ctl_type(int fd, uint32_t gpu, uint32_t index, struct vgpu_ctl_type *type);
int ctl_instance(int fd, const uint8_t *uuid, struct vgpu_ctl_instance *inst);
int ctl_refusal(int fd, const uint8_t *uuid, struct vgpu_ctl_refusal *refusal);

/* The last refusal by one GPU. */
int ctl_refusal_of(int fd, const uint8_t *uuid, uint32_t gpu, struct vgpu_ctl_refusal *refusal);
int ctl_release(int fd, const uint8_t *uuid);

/* The settings of a partition of a GPU; 0: of the whole GPU. */
int ctl_sched(int fd, uint32_t gpu, uint32_t partition, struct vgpu_ctl_sched *sched);
int ctl_hist(int fd, const uint8_t *uuid, uint32_t engine, struct vgpu_ctl_hist *hist);

/*
 * Sets those of the partition sched->partition. On success @sched has all settings that are in
 * force now; if the driver refuses, its text says why.
 */
int ctl_sched_set(int fd, struct vgpu_ctl_sched *sched);

/* Sets @count vGPUs. @text has VGPU_TEXT_LEN bytes: if the driver refuses, its reason. */
int ctl_shares_set(int fd, const struct vgpu_ctl_share *shares, uint32_t count, uint8_t *text);

/*
 * Reads the last runs of an engine of a partition; 0: of the whole GPU. @count is the number of
 * elements of @entries, and is set to the number of runs that were written there; @total is set to
 * the number of runs that have ended so far.
 */
int ctl_sched_log(int fd, uint32_t gpu, uint32_t partition, uint32_t engine,
		  struct vgpu_ctl_switch *entries, uint32_t *count, uint64_t *total);

/*
 * Makes read() return events as struct vgpu_ctl_event: those since @fd was opened, or with
 * VGPU_EVENTS_KEPT in @flags all that are kept. @next_seq is set to the number of the next event.
 */
int ctl_events(int fd, uint32_t flags, uint64_t *next_seq);

/*
 * Reads a GPU and its vGPUs as they are at one time: stats->count elements of @inst, which is
 * allocated; the caller frees it.
 */
int ctl_stats(int fd, uint32_t gpu, struct vgpu_ctl_stats *stats, struct vgpu_ctl_instance **inst);

/*
 * Reads the sessions of a GPU's vGPUs from the id @first_id on, which is set to the one to go on
 * with. @count is the number of elements of @sessions, and is set to the number of sessions that
 * were written there; 0: there are no more.
 */
int ctl_sessions(int fd, uint32_t gpu, uint64_t *first_id, struct vgpu_ctl_session *sessions,
		 uint32_t *count, uint64_t *now_ns);

/*
 * Reads the channels of a vGPU from the number @first on. @count is the number of elements of
 * @channels, and is set to the number of channels that were written there; 0: there are no more.
 * head->next is the number to go on with.
 */
int ctl_channels(int fd, const uint8_t *uuid, uint32_t first, struct vgpu_ctl_channel *channels,
		 uint32_t *count, struct vgpu_ctl_channels *head);

/*
 * Reads what a vGPU is for a move, or if @uuid is NULL, what a new one of the type @type of @gpu
 * would be: the first @room bytes go to @about, migration->about_bytes is how many there are.
 */
int ctl_migration(int fd, const uint8_t *uuid, uint32_t gpu, uint32_t type, void *about,
		  uint32_t room, struct vgpu_ctl_migration *migration);

/* Asks likewise whether it can take over the state of what @about tells of. */
int ctl_migration_check(int fd, const uint8_t *uuid, uint32_t gpu, uint32_t type,
			const void *about, uint32_t bytes,
			struct vgpu_ctl_migration_check *check);

/* A profile of partitions; -ENOENT: there is none of that index. */
int ctl_profile(int fd, uint32_t gpu, uint32_t index, struct vgpu_ctl_profile *profile);

/* The numbers of a GPU's partitions; the list is allocated, the caller frees it. */
int ctl_partitions(int fd, uint32_t gpu, uint32_t **ids, uint32_t *count);
int ctl_partition(int fd, uint32_t gpu, uint32_t id, struct vgpu_ctl_partition *part);

/*
 * Change partitions. If the driver refuses, @text, of VGPU_TEXT_LEN bytes, is its reason. @start is
 * an eighth, or VGPU_PARTITION_ANYWHERE; @id is set to the new partition's number.
 */
int ctl_partition_create(int fd, uint32_t gpu, uint32_t profile, uint32_t start, uint32_t *id,
			 uint8_t *text);
int ctl_partition_remove(int fd, uint32_t gpu, uint32_t id, uint8_t *text);
int ctl_partition_mode(int fd, uint32_t gpu, uint32_t mode, uint8_t *text);

/* ---- ctl_find.c ---- */

/*
 * Does @ret, from one of the functions above, mean that the GPU or vGPU does not exist (any more)?
 */
bool ctl_is_gone(int ret);

/* Is the text in an array of @room bytes the same as @other? */
bool ctl_text_is(const void *text, size_t room, const char *other);

/*
 * Finds a GPU by its number or PCI address, with or without the domain. Returns 0 or a negative
 * errno.
 */
int ctl_find_gpu(int fd, const char *text, uint32_t *id);

/* Finds the GPU that @text names or, if @text is NULL, the only GPU; or says what is wrong. */
enum exit_code ctl_choose_gpu(int fd, const char *text, uint32_t *id);

/* Finds a profile of partitions by its name; -ENOENT: there is none of that name. */
int ctl_find_profile(int fd, uint32_t gpu, const char *name, struct vgpu_ctl_profile *profile);

/* Finds a type of a GPU by its name, or its name in sysfs; -ENOENT: it has none of that name. */
int ctl_find_type(int fd, const struct vgpu_ctl_gpu *gpu, const char *text,
		  struct vgpu_ctl_type *type);

/* Says what is wrong with the vGPU @uuid: @ret, from one of the functions above. */
enum exit_code ctl_fail_vgpu(const uint8_t *uuid, int ret);

/*
 * Opens /dev/vgpu and reads the vGPU whose UUID is @text, and its GPU. The caller closes @fd. If
 * anything fails, it is said on standard error and nothing is open.
 */
enum exit_code ctl_open_vgpu(const char *text, int *fd, struct vgpu_ctl_instance *inst,
			     struct vgpu_ctl_gpu *gpu);

/*
 * Calls @each for the GPU that @only names, or for all GPUs if @only is NULL. A GPU that is removed
 * meanwhile is passed over. If @each returns an error, it is printed and ends the visit.
 */
enum exit_code ctl_visit_gpus(int fd, const char *only, void *arg,
			      int (*each)(int fd, const struct vgpu_ctl_gpu *gpu, void *arg));

/*
 * Calls @each for the vGPUs of a GPU, as they are at one time, until it returns an error, which is
 * returned.
 */
int ctl_visit_instances(int fd, uint32_t gpu, void *arg,
			int (*each)(const struct vgpu_ctl_instance *inst, void *arg));

/* Likewise for the partitions of a GPU, without partition 0. */
int ctl_visit_partitions(int fd, uint32_t gpu, void *arg,
			 int (*each)(const struct vgpu_ctl_partition *part, void *arg));

/* Is the GPU divided into partitions now? */
bool ctl_is_divided(const struct vgpu_ctl_gpu *gpu);

/*
 * How many of VGPU_PARTITION_SLICES slices of its GPU's engines the vGPU can use: those of its
 * partition; 0: that went with the vGPU. @shared_time: they are slots, outside of which its
 * engines stand still.
 */
int ctl_slices(int fd, const struct vgpu_ctl_instance *inst, uint32_t *slices, bool *shared_time);

/*
 * The length of the scheduler's window in which the vGPU's window_ns was measured: that of the
 * settings @sched of its GPU, unless it is in a partition.
 */
int ctl_window(int fd, const struct vgpu_ctl_instance *inst, const struct vgpu_ctl_sched *sched,
	       uint64_t *ns);

/*
 * @engines, a number of engines that the driver has told, but no more than the ABI's arrays hold.
 */
uint32_t ctl_engines(uint32_t engines);
bool ctl_engine_is(const struct vgpu_ctl_gpu *gpu, uint32_t i, const char *name);
bool ctl_has_engine(const struct vgpu_ctl_gpu *gpu, const char *name);

/* Writes the names of the GPU's engines to CTL_ENGINE_NAMES bytes at @text, and returns it. */
const char *ctl_engine_names(const struct vgpu_ctl_gpu *gpu, char *text);

/* Says that the GPU has no engine @name, and which engines it has. */
enum exit_code ctl_fail_engine(const struct vgpu_ctl_gpu *gpu, const char *name);

const char *ctl_placement_name(uint32_t placement);
const char *ctl_state_name(uint32_t state);

/* Name of an enum vgpu_ctl_move. */
const char *ctl_move_name(uint32_t move);

#define CTL_STATUS_LEN 40

/*
 * Writes what follows the name of the state in a table to CTL_STATUS_LEN bytes at @text, and
 * returns it: "", ", quarantined", ", paused, saving, quarantined" and the like.
 */
const char *ctl_status_text(const struct vgpu_ctl_instance *inst, char *text);

#define CTL_OWNER_LEN 24

/*
 * Writes which process uses an open vGPU to CTL_OWNER_LEN bytes at @text, and returns it:
 * "process 4711", or "an unknown process": the kernel finds none in which its memory is shown.
 */
const char *ctl_owner_text(const struct vgpu_ctl_instance *inst, char *text);

#endif /* VGPUCTL_CTL_H */
