/* SPDX-License-Identifier: GPL-2.0 */
/* Inside vgpuctl. */
#ifndef VGPUCTL_H
#define VGPUCTL_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/vgpu.h>

#include "uuid.h"

#define VGPUCTL_VERSION	"0.1.0"
#define ALL_GPUS	(~0u)

enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
};

/* Options that a command may allow. */
#define OPT_JSON	0x01
#define OPT_WATCH	0x02
#define OPT_COUNT	0x04
#define OPT_TYPE	0x08
#define OPT_GPU		0x10
#define OPT_UUID	0x20
#define OPT_ENGINE	0x40
#define OPT_LOG		0x80	/* --follow, --chart */
#define OPT_SCHED	0x100	/* what a GPU's scheduler can be set to */
#define OPT_SHARES	0x200	/* arguments: UUIDs, each before its options */

/**
 * struct options - a command's line, taken apart
 * @json:     for programs
 * @watch_ns: sample again and again, this far apart; 0: once
 * @count:    end after this many samples or events; 0: never
 * @type:     --type
 * @gpu:      --gpu
 * @uuid:     --uuid, or the argument
 * @engine:   --engine
 * @follow:   --follow
 * @chart:    --chart
 * @sched:    what is to be set of a GPU's scheduler; @sched.valid says what
 * @shares:   what is to be set of vGPUs, or NULL; options_free() frees it
 * @nr_shares: of how many
 */
struct options {
	bool json;
	uint64_t watch_ns;
	uint64_t count;
	const char *type;
	const char *gpu;
	const char *uuid;
	const char *engine;
	bool follow;
	bool chart;
	struct vgpu_ctl_sched sched;
	struct vgpu_ctl_share *shares;
	uint32_t nr_shares;
};

/**
 * struct command - one of vgpuctl's
 * @name:     as typed: a word, or two
 * @brief:    one line
 * @synopsis: what follows the name
 * @help:     the rest of --help
 * @allowed:  OPT_*
 * @args_min: arguments it must have, at most 1
 * @args_max: arguments it may have, at most 1
 * @run:      does it
 */
struct command {
	const char *name;
	const char *brief;
	const char *synopsis;
	const char *help;
	unsigned int allowed;
	int args_min;
	int args_max;
	enum exit_code (*run)(const struct options *options);
};

/* main.c */
__attribute__((format(printf, 1, 2)))
enum exit_code fail(const char *fmt, ...);
__attribute__((format(printf, 1, 2)))
enum exit_code fail_usage(const char *fmt, ...);

/* options.c */
enum exit_code options_parse(struct options *options,
			     const struct command *command, int argc,
			     char **argv, bool *help);
void options_free(struct options *options);

/* values.c: what options are set to. @option is for messages. */
enum exit_code value_number(const char *option, const char *text, uint32_t min,
			    uint32_t max, uint32_t *value);
enum exit_code value_permille(const char *option, const char *text,
			      uint32_t min, uint32_t *permille);
enum exit_code value_time(const char *option, const char *text,
			  uint64_t unit_ns, uint64_t max, uint64_t *units);
enum exit_code value_frequency(const char *option, const char *text,
			       uint32_t *hz);
enum exit_code value_frl(const char *option, const char *text, uint32_t *fps);

/* cmd_*.c */
enum exit_code cmd_gpus(const struct options *options);
enum exit_code cmd_types(const struct options *options);
enum exit_code cmd_list(const struct options *options);
enum exit_code cmd_show(const struct options *options);
enum exit_code cmd_stats(const struct options *options);
enum exit_code cmd_create(const struct options *options);
enum exit_code cmd_remove(const struct options *options);
enum exit_code cmd_release(const struct options *options);
enum exit_code cmd_events(const struct options *options);
enum exit_code cmd_sched_show(const struct options *options);
enum exit_code cmd_sched_set(const struct options *options);
enum exit_code cmd_sched_log(const struct options *options);
enum exit_code cmd_share_show(const struct options *options);
enum exit_code cmd_share_set(const struct options *options);
enum exit_code cmd_hist(const struct options *options);

/* ctl.c: /dev/vgpu. All return 0 or a negative errno. */
int ctl_open(void);
int ctl_version(int fd, struct vgpu_ctl_version *version);
int ctl_gpus(int fd, uint32_t **ids, uint32_t *count);
int ctl_gpu(int fd, uint32_t id, struct vgpu_ctl_gpu *gpu);
int ctl_type(int fd, uint32_t gpu, uint32_t index, struct vgpu_ctl_type *type);
int ctl_instances(int fd, uint32_t gpu, uint8_t **uuids, uint32_t *count);
int ctl_instance(int fd, const uint8_t *uuid, struct vgpu_ctl_instance *inst);
int ctl_refusal(int fd, const uint8_t *uuid, struct vgpu_ctl_refusal *refusal);
int ctl_release(int fd, const uint8_t *uuid);
int ctl_sched(int fd, uint32_t gpu, struct vgpu_ctl_sched *sched);
int ctl_sched_set(int fd, struct vgpu_ctl_sched *sched);
int ctl_shares_set(int fd, const struct vgpu_ctl_share *shares, uint32_t count,
		   uint8_t *text);
int ctl_sched_log(int fd, uint32_t gpu, uint32_t engine,
		  struct vgpu_ctl_switch *entries, uint32_t *count,
		  uint64_t *total);
int ctl_events(int fd, size_t *size, uint64_t *next_seq);
int ctl_hist(int fd, const uint8_t *uuid, uint32_t engine,
	     struct vgpu_ctl_hist *hist);
int ctl_find_gpu(int fd, const char *text, uint32_t *id);
bool ctl_is_gone(int ret);
bool ctl_text_is(const void *text, size_t room, const char *other);
const char *ctl_class_name(uint32_t engine_class);
const char *ctl_placement_name(uint32_t placement);
const char *ctl_state_name(uint32_t state);
uint32_t ctl_engines(uint32_t engines);
bool ctl_engine_is(const struct vgpu_ctl_gpu *gpu, uint32_t i,
		   const char *name);
bool ctl_has_engine(const struct vgpu_ctl_gpu *gpu, const char *name);
enum exit_code ctl_fail_engine(const struct vgpu_ctl_gpu *gpu,
			       const char *name);
enum exit_code ctl_visit_gpus(int fd, const char *only, void *arg,
			      int (*each)(int fd, const struct vgpu_ctl_gpu *gpu,
					  void *arg));
int ctl_visit_instances(int fd, uint32_t gpu, void *arg,
			int (*each)(const struct vgpu_ctl_instance *inst,
				    void *arg));

/* due.c: @due in hundredths of a per cent; returns false where none can be told. */
bool due_shares(const struct vgpu_ctl_gpu *gpu,
		const struct vgpu_ctl_instance *inst, const uint32_t *size_gb,
		uint32_t nr, uint64_t *due);

/* sysfs.c */
int sysfs_create(const char *address, const char *type_id, const char *uuid);
int sysfs_remove(const char *uuid);

/* Texts of the ABI fill their arrays at most. */
#define TEXT(a)		(int)sizeof(a), (const char *)(a)

#endif /* VGPUCTL_H */
