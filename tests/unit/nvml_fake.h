/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A driver for the tests of tools/libnvml: /dev/vgpu in this process, with GPUs of the driver's own
 * type catalogue. The linker leads the library's open(), close(), ioctl() and allocations here
 * (tests/unit/nvml.mk). It fails the program if a call of the library is not as the ABI wants it.
 */
#ifndef NVML_FAKE_H
#define NVML_FAKE_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/vgpu.h>
#include <linux/vgpu_hw.h>

#define FAKE_GPUS	2
#define FAKE_VGPUS	64
#define FAKE_ENGINES	5	/* gr, ce0, ce1, enc, dec */
#define FAKE_UNITS	16	/* of gr; the others have one */
#define FAKE_FB_GB	16
#define FAKE_PERIOD_NS	100000000ull

/*
 * A guest of a vGPU: its channels, by their numbers, and the version of its driver, of
 * VGPU_GUEST_NAME_LEN bytes, or NULL. Both stay the test's, which may change them between calls.
 */
struct fake_guest {
	const struct vgpu_ctl_channel *channel;
	unsigned int channels;
	const uint8_t *version;
};

/*
 * What differs in the descriptions for moves that a GPU's driver gives; 0: as usual.
 * @cannot: VGPU_MIGRATION_* + 1, of what it can do
 */
struct fake_move {
	uint32_t version;	/* of streams */
	uint32_t hw_version;
	uint32_t less_engines;
	uint32_t more_channels;
	uint32_t cannot;
};

/*
 * What the driver is like; fake_reset() makes it as it is when the module was loaded by root.
 * @open_error: of opening the node; @set_error: of changing something
 * @guest:      of each vGPU, until it is closed
 * @refuse:     what the ioctl of that number (0xb0 + i) returns instead of working
 */
struct fake {
	int open_error;
	int set_error;
	int refuse[64];
	unsigned int abi_major;
	bool homogeneous;
	bool divisible;
	bool share_time;	/* partitions, that of CPUs */
	unsigned int gpus;
	unsigned int engines;	/* of FAKE_ENGINES the first ones */
	uint32_t units;		/* of gr */
	uint32_t fb_gb;
	bool gone[FAKE_GPUS];
	struct vgpu_ctl_sched sched[FAKE_GPUS];
	const char *owner;	/* the name of who opens vGPUs from now on; NULL: "vm" and its pid */
	struct fake_guest guest[FAKE_VGPUS];
	struct fake_move move[FAKE_GPUS];
	int fail_allocation;	/* the number of the allocation that fails, 1: the next; 0: none */
	uint64_t now_ns;	/* for what samples are told from; 0: the clock's time */
};

extern struct fake fake;

void fake_reset(void);

/*
 * Before nvmlInit(): types are as fake.homogeneous, divisible and fb_gb have it now, and there are
 * no partitions.
 */
void fake_load(void);

/* The GPUs can have partitions, and there are types for them. Before nvmlInit(). */
void fake_divisible(void);

/* The vGPU @nr, below FAKE_VGPUS: its UUID ends with @nr, its times tell it from others. */
void fake_create(unsigned int nr, unsigned int gpu, unsigned int type, unsigned int place_gb);
void fake_start(unsigned int nr, int pid);
void fake_stop(unsigned int nr);
void fake_remove(unsigned int nr);

/* The vGPU is in a partition, whose number that is, and is guaranteed so much, per mille. */
void fake_put(unsigned int nr, uint32_t partition, uint32_t guarantee);

/* A copy, as VGPU_IOC_INSTANCE gives it; false: it is not there. */
bool fake_vgpu(unsigned int nr, struct vgpu_ctl_instance *inst);

/* Of a type of the GPU, by its index, and how many there are. */
void fake_type(unsigned int gpu, unsigned int index, struct vgpu_ctl_type *type);
unsigned int fake_types(unsigned int gpu);

/*
 * A sample of the vGPU @nr (-1: of the GPU) of the period that ends @ago periods ago, with so many
 * per cent of each engine. From the first one on fake.now_ns stands still.
 */
void fake_sample(unsigned int gpu, int nr, unsigned int ago, const unsigned int *percent);

/* A run of an engine of the vGPU @nr, in the log. */
void fake_run(unsigned int gpu, unsigned int nr, uint64_t time_ns, uint64_t ran_ns);

void fake_event(enum vgpu_ctl_event_type type, unsigned int gpu, uint32_t b);

/* A fault of the vGPU @nr. */
void fake_fault(unsigned int nr);

/* Open files and allocations that the library has now. */
int fake_files(void);
int fake_allocations(void);

/* ioctls so far. */
unsigned long fake_calls(void);

#endif /* NVML_FAKE_H */
