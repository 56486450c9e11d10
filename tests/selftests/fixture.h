/* SPDX-License-Identifier: GPL-2.0 */
/* What the selftests share: a GPU, vGPUs on it, children, random numbers. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <libvgpu.h>
#include <linux/vgpu.h>

#include "ktap.h"

/* Nothing here takes that long; it is what a hang is told by. */
#define FX_TIMEOUT_MS	60000

#define FX_MIB		(1ull << 20)
#define FX_GIB		(1ull << 30)

/**
 * struct fx_vgpu - a vGPU of a test
 * @uuid:    its name
 * @id:      the same as 16 bytes
 * @created: it exists
 * @dev:     open device, or NULL
 * @next:    the fixture's list
 */
struct fx_vgpu {
	char uuid[37];
	uint8_t id[VGPU_UUID_LEN];
	bool created;
	struct vgpu_dev *dev;
	struct fx_vgpu *next;
};

/* For what follows soon behind something that was waited for. */
#define FX_SOON(condition, ...)						\
	do {								\
		uint64_t fx_end = fx_now_ms() + FX_TIMEOUT_MS;		\
									\
		while (!(condition)) {					\
			if (fx_now_ms() > fx_end)			\
				ktap_fail(__FILE__, __LINE__,		\
					  #condition, " " __VA_ARGS__);	\
			fx_sleep_ms(1);					\
		}							\
	} while (0)

/* The GPU; skips the test if there is none. */
const char *fx_gpu(void);
void fx_type_path(const char *suffix, const char *file, char *path,
		  size_t room);
const char *fx_default_type(void);
unsigned int fx_available(const char *suffix);
void fx_ctl_gpu(struct vgpu_ctl_gpu *gpu);

/* Types go by what follows the board's name: "1Q". */
int fx_try_create(struct fx_vgpu *v, const char *suffix);
void fx_create(struct fx_vgpu *v, const char *suffix);
int fx_try_remove(struct fx_vgpu *v);
void fx_remove(struct fx_vgpu *v);
void fx_open(struct fx_vgpu *v);
void fx_close(struct fx_vgpu *v);
void fx_create_open(struct fx_vgpu *v, const char *suffix);
void fx_new_uuid(struct fx_vgpu *v);
int fx_write_file(const char *path, const char *text);
int fx_read_file(const char *path, char *text, size_t room);
void fx_cleanup(void);

int fx_control(void);
void fx_instance(const struct fx_vgpu *v, struct vgpu_ctl_instance *inst);
uint64_t fx_faults(const struct fx_vgpu *v);
uint64_t fx_backed_bytes(const struct fx_vgpu *v);
void fx_release(const struct fx_vgpu *v);
void fx_need_no_quarantine(void);
void fx_need_no_reserve(void);
void fx_need_reserve(void);

/* Channels; each fails the test if it cannot. */
struct vgpu_chan *fx_chan(struct fx_vgpu *v, uint32_t engine_class,
			  uint32_t instance, enum vgpu_ring where,
			  uint32_t order);
void fx_ok(struct vgpu_dev *dev, int ret, const char *what);
#define FX_OK(dev, call)	fx_ok(dev, call, #call)
void fx_finish(struct vgpu_chan *chan);
bool fx_wait_fence(struct vgpu_chan *chan, uint64_t fence, int timeout_ms);

/* Of /dev/vgpu; fx_cleanup() closes it. */
void fx_events_begin(void);
int fx_open_events(void);
void fx_next_event(uint32_t type, struct vgpu_ctl_event *event);

/* Children are killed by fx_cleanup(). */
pid_t fx_fork(void (*child)(void *arg), void *arg);
bool fx_wait_child(pid_t pid, int timeout_ms, int *status);

uint64_t fx_now_ms(void);
void fx_sleep_ms(unsigned int ms);
uint64_t fx_env(const char *name, uint64_t otherwise);
uint64_t fx_memory_bytes(void);

/* Seeded once, the seed is printed; VGPU_TEST_SEED sets it. */
uint64_t fx_random(void);
uint64_t fx_random_below(uint64_t limit);

bool fx_is_zero(const void *bytes, size_t count);

#endif /* FIXTURE_H */
