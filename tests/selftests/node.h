/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls of /dev/vgpu, the control node, in the newest version of each structure; used by the
 * selftests, the fuzzer and the bench. @fd is an open /dev/vgpu. Functions return 0 or a
 * negative errno.
 */
#ifndef NODE_H
#define NODE_H

#include <stdint.h>

#include <linux/vgpu.h>

/* The GPUs that there are: @count is the room in @ids before, and their number after. */
int node_gpus(int fd, uint32_t *ids, uint32_t *count);

int node_gpu(int fd, uint32_t id, struct vgpu_ctl_gpu *gpu);
int node_instance(int fd, const uint8_t *uuid, struct vgpu_ctl_instance *inst);

/* Why the vGPU of that UUID was not created, or not set, the last time. */
int node_refusal(int fd, const uint8_t *uuid, struct vgpu_ctl_refusal *refusal);

/* Ends the quarantine of a vGPU; -EINVAL: it is in none. */
int node_release(int fd, const uint8_t *uuid);

int node_sched(int fd, uint32_t gpu, struct vgpu_ctl_sched *sched);

/* Sets the fields of @sched that @valid names (VGPU_SCHED_*); a refusal's text is in @sched. */
int node_sched_set(int fd, uint32_t gpu, struct vgpu_ctl_sched *sched, uint32_t valid);

/* The same of a partition. */
int node_part_sched(int fd, uint32_t gpu, uint32_t id, struct vgpu_ctl_sched *sched);
int node_part_sched_set(int fd, uint32_t gpu, uint32_t id, struct vgpu_ctl_sched *sched,
			uint32_t valid);

/*
 * Sets all of @entries or none; @text has room for VGPU_TEXT_LEN bytes, and is empty unless
 * the driver refuses.
 */
int node_shares_set(int fd, const struct vgpu_ctl_share *entries, uint32_t count, char *text);

/*
 * The newest runs of an engine, oldest first: @count is the room in @entries before, and their
 * number after. @total: runs of the engine since the driver was loaded.
 */
int node_sched_log(int fd, uint32_t gpu, uint32_t engine, struct vgpu_ctl_switch *entries,
		   uint32_t *count, uint64_t *total);

/*
 * A GPU and all its vGPUs. @stats and each of @entries are given back whole; stats->count says
 * how many vGPUs there are, of which @entries has as many as there is @room for.
 */
int node_stats(int fd, uint32_t gpu, struct vgpu_ctl_stats *stats,
	       struct vgpu_ctl_instance *entries, uint32_t room);

/* Samples later than ctl->since_ns, and what comes with them; @room: in @entries. */
int node_samples(int fd, uint32_t gpu, struct vgpu_ctl_samples *ctl,
		 struct vgpu_ctl_sample *entries, uint32_t room);

/* Sessions from ctl->first_id on, and what comes with them; @room: in @entries. */
int node_sessions(int fd, uint32_t gpu, struct vgpu_ctl_sessions *ctl,
		  struct vgpu_ctl_session *entries, uint32_t room);

/* A profile of partitions; -ENOENT: there is none of that index. */
int node_profile(int fd, uint32_t gpu, uint32_t index, struct vgpu_ctl_profile *profile);

/* The partitions of a GPU: @count is the room in @ids before, and their number after. */
int node_partitions(int fd, uint32_t gpu, uint32_t *ids, uint32_t *count);
int node_partition(int fd, uint32_t gpu, uint32_t id, struct vgpu_ctl_partition *part);

/*
 * Changes; @text has room for VGPU_TEXT_LEN bytes, and is empty unless the driver refuses. @start:
 * the eighth, or VGPU_PARTITION_ANYWHERE, before, and the eighth after; @id: the new partition's.
 */
int node_partition_create(int fd, uint32_t gpu, uint32_t profile, uint32_t *start, uint32_t *id,
			  char *text);
int node_partition_remove(int fd, uint32_t gpu, uint32_t id, char *text);
int node_partition_mode(int fd, uint32_t gpu, uint32_t mode, char *text);

/* Records of events will be read from @fd in the size of struct vgpu_ctl_event. */
int node_events(int fd);

#endif /* NODE_H */
