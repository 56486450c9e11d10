/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all selftests share: the GPU, vGPUs on it and their channels, random numbers. Calls
 * that return nothing fail the test if they cannot do what they are for; fx_try_*() return 0
 * or a negative errno.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <libvgpu.h>
#include <linux/vgpu.h>

#include "clk.h"
#include "file.h"
#include "ktap.h"
#include "node.h"

/* Nothing that the tests wait for takes that long, unless it hangs. */
#define FX_TIMEOUT_MS	60000

#define FX_MIB		(1ull << 20)
#define FX_GIB		(1ull << 30)

/**
 * struct fx_vgpu - a vGPU of a test; static, as fx_cleanup() finds it after the test
 * @uuid:    the name of its mdev
 * @id:      the same as 16 bytes
 * @suffix:  of the type's name, of which it was created last
 * @created: the mdev is there, to be removed by fx_cleanup()
 * @dev:     the open device, or NULL
 * @next:    in the list of fx_cleanup()
 */
struct fx_vgpu {
	char uuid[37];
	uint8_t id[VGPU_UUID_LEN];
	const char *suffix;
	bool created;
	struct vgpu_dev *dev;
	struct fx_vgpu *next;
};

/* Waits until the condition holds; fails the test with the text if that takes longer. */
#define FX_WITHIN(ms, condition, ...)					\
	do {								\
		uint64_t fx_end = clk_ms() + (ms);			\
									\
		while (!(condition)) {					\
			if (clk_ms() > fx_end)				\
				ktap_fail(__FILE__, __LINE__,		\
					  #condition, " " __VA_ARGS__);	\
			clk_sleep_ms(1);				\
		}							\
	} while (0)

/* For what must come, and comes soon after something that the test has already seen. */
#define FX_SOON(condition, ...)	FX_WITHIN(FX_TIMEOUT_MS, condition, ##__VA_ARGS__)

/*
 * The PCI address of the GPU under test: VGPU_TEST_GPU, else the first one of the driver.
 * Skips all tests of the program if there is none.
 */
const char *fx_gpu(void);
uint32_t fx_gpu_id(void);
void fx_ctl_gpu(struct vgpu_ctl_gpu *gpu);

/* An open /dev/vgpu, for the calls of node.h. */
int fx_control(void);

/* Types go by what follows the board's name: "1Q". */
void fx_type_path(const char *suffix, const char *file, char *path, size_t room);
unsigned int fx_available(const char *suffix);

/* The type for tests to which the size does not matter (VGPU_TEST_TYPE). */
const char *fx_default_type(void);

int fx_try_create(struct fx_vgpu *v, const char *suffix);
void fx_create(struct fx_vgpu *v, const char *suffix);
int fx_try_remove(struct fx_vgpu *v);
void fx_remove(struct fx_vgpu *v);
void fx_open(struct fx_vgpu *v);
void fx_close(struct fx_vgpu *v);
void fx_create_open(struct fx_vgpu *v, const char *suffix);
void fx_new_uuid(struct fx_vgpu *v);

/* For KTAP_MAIN(): ends children, closes and removes the vGPUs of the test, failed or not. */
void fx_cleanup(void);

/* What the driver says of a vGPU. */
void fx_instance(const struct fx_vgpu *v, struct vgpu_ctl_instance *inst);
uint64_t fx_faults(const struct fx_vgpu *v);
uint64_t fx_backed_bytes(const struct fx_vgpu *v);
bool fx_quarantined(const struct fx_vgpu *v);

/* How many runs of the GPU's engine have ended. */
uint64_t fx_runs_ended(uint32_t engine);

/*
 * Calls @once until it returns true: until the machine was not too slow for what it does, @cleanup
 * between two tries. Fails with @what after ten.
 */
void fx_try_again(bool (*once)(void), void (*cleanup)(void), const char *what);

/* The driver refused something about @v with @error, and its text contains @part. */
void fx_check_refusal(const struct fx_vgpu *v, int error, const char *part);

/* Lifts the quarantine of @v, if there is one. */
void fx_release(const struct fx_vgpu *v);

/* Whether the GPU executes packets: that of vgpu_null completes them only. */
bool fx_executes(void);

/* Skips the test on a GPU of vgpu_null, which does not do @what. */
void fx_need(const char *what);

/* Skip the test unless the modules are loaded so. */
void fx_need_no_quarantine(void);
void fx_need_reserve(bool wanted);

/* A new channel with a ring of 2^@order packets. */
struct vgpu_chan *fx_chan(struct fx_vgpu *v, uint32_t engine_class, uint32_t instance,
			  enum vgpu_ring where, uint32_t order);

/* The same with its ring in the framebuffer, and at @va of the address space. */
struct vgpu_chan *fx_chan_in(struct vgpu_space *space, uint32_t engine_class, uint32_t instance,
			     uint64_t va, uint32_t order);

/* Takes framebuffer. */
uint64_t fx_fb(const struct fx_vgpu *v, uint64_t bytes, uint64_t align);

void fx_ok(struct vgpu_dev *dev, int ret, const char *what);
#define FX_OK(dev, call)	fx_ok(dev, call, #call)

/* Returns when all packets of the channel have completed, a fence behind them included. */
void fx_finish(struct vgpu_chan *chan);

/* Whether the fence passes in time. A channel that has faulted fails the test. */
bool fx_wait_fence(struct vgpu_chan *chan, uint64_t fence, int timeout_ms);

/* A FILL of 4 bytes at @at, where the vGPU has no framebuffer, and the fault that comes of it. */
void fx_fill_fails(struct vgpu_chan *chan, uint64_t at, struct vgpu_fault *fault);

/*
 * Does to the vGPU what a debugfs file of its GPU does to one whose UUID is written there: pause,
 * resume, reload, dirty_*. Returns 0 or a negative errno.
 */
int fx_debugfs(const struct fx_vgpu *vgpu, const char *file);

/* Disables and enables the channel: the way out of a fault. */
void fx_again(struct vgpu_chan *chan);

/* Offset of a PCI capability (PCI_CAP_ID_*); 0: the function has none. Checks the whole list. */
unsigned int fx_find_cap(struct fx_vgpu *v, unsigned int id);

/* The number in the environment, if there is one. */
uint64_t fx_env(const char *name, uint64_t otherwise);

/* Memory of the machine that is available, as of /proc/meminfo. */
uint64_t fx_memory_bytes(void);

/* Seeded once per program by VGPU_TEST_SEED, or at random; the seed is printed. */
uint64_t fx_random(void);
uint64_t fx_random_below(uint64_t limit);

bool fx_is_zero(const void *bytes, size_t count);

/* Each 32-bit word from there on has that value. */
void fx_check_words(const void *from, uint64_t bytes, uint32_t value);

#endif /* FIXTURE_H */
