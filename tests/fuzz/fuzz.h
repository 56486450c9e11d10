/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hostile clients, which are processes that each own a vGPU and misuse all of it from several
 * threads; an administrator who changes everything meanwhile; and a victim whose work must come
 * out right all the same.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <libvgpu.h>
#include <linux/vgpu.h>

#include "clk.h"
#include "file.h"
#include "rng.h"

#define FUZZ_CLIENTS_MAX	16
#define FUZZ_THREADS_MAX	16
#define FUZZ_GPUS_MAX		4

/**
 * enum fuzz_count - what the processes count, so that a run in which nothing happened is seen
 */
enum fuzz_count {
	FUZZ_LIVES,		/* processes of clients that opened their vGPU */
	FUZZ_OPS,		/* operations of their threads */
	FUZZ_SIGNALS,		/* operations that ended by SIGBUS or SIGSEGV */
	FUZZ_PACKETS,		/* packets written to rings */
	FUZZ_KILLS,		/* clients ended by SIGKILL */
	FUZZ_ADMIN,		/* operations of the administrator */
	FUZZ_BINDS,		/* GPUs unbound and bound */
	FUZZ_JOBS,		/* jobs of the victim that came out right */
	FUZZ_FILES,		/* files of GPUs in sysfs that the administrator read */
	FUZZ_PICTURES,		/* queries of the plane that found a picture */
	FUZZ_COUNTS,
};

/**
 * struct fuzz_shared - memory that all processes of a run share
 * @count:  by enum fuzz_count
 * @stop:   the run is over
 * @failed: something is wrong
 * @error:  the first thing that was found to be wrong, in words
 */
struct fuzz_shared {
	uint64_t count[FUZZ_COUNTS];
	int stop;
	int failed;
	char error[512];
};

/**
 * struct fuzz_gpu - a GPU of the machine
 * @address: PCI address
 * @prefix:  names of its types' directories, up to the last '-'
 */
struct fuzz_gpu {
	char address[64];
	char prefix[96];
};

/**
 * struct fuzz_world - a run
 * @shared:  memory of all its processes
 * @seed:    of everything random
 * @seconds: how long the run is; 0: until it is interrupted
 * @clients: number of hostile processes
 * @threads: threads of each hostile process
 * @nr_gpus: length of @gpu
 * @gpu:     the victim is on the first one; the others are unbound and bound
 */
struct fuzz_world {
	struct fuzz_shared *shared;
	uint64_t seed;
	unsigned int seconds;
	unsigned int clients;
	unsigned int threads;
	unsigned int nr_gpus;
	struct fuzz_gpu gpu[FUZZ_GPUS_MAX];
};

extern struct fuzz_world fuzz;

/*
 * util.c: fuzz_value() gives values at which checks of sizes and addresses go wrong, and some
 * between; fuzz_mutate() changes a few bytes or words of something right; fuzz_wrong() notes
 * what is wrong, if it is the first, and ends the run; fuzz_faults() returns what the driver
 * counts for a vGPU, ~0 if the driver does not know it.
 */
bool fuzz_chance(struct rng *rng, unsigned int percent);
uint64_t fuzz_value(struct rng *rng);
void fuzz_bytes(struct rng *rng, void *buf, size_t count);
void fuzz_mutate(struct rng *rng, void *buf, size_t count);
void fuzz_count(enum fuzz_count what);
__attribute__((format(printf, 1, 2))) void fuzz_wrong(const char *fmt, ...);
bool fuzz_over(void);
void fuzz_uuid(struct rng *rng, char uuid[37]);
int fuzz_create(const struct fuzz_gpu *gpu, const char *type, const char *uuid);
int fuzz_remove(const char *uuid);
uint64_t fuzz_faults(const char *uuid, uint32_t *status);

/* client.c, admin.c, victim.c: what a process does; each returns its exit status */
int fuzz_client(unsigned int number);
int fuzz_admin(void);
int fuzz_binder(void);
int fuzz_victim(void);

/**
 * struct fuzz_life - a client's process, from the opening of its vGPU to its end
 * @dev:    the vGPU
 * @cpu:    FUZZ_CPU_BYTES of anonymous memory that are mapped for DMA at address 0
 * @end_ms: when its threads stop
 */
struct fuzz_life {
	struct vgpu_dev *dev;
	uint8_t *cpu;
	uint64_t end_ms;
};

#define FUZZ_CPU_BYTES	(8u << 20)

/* ops.c, display.c, work.c: one random operation each */
void fuzz_op_ioctl(struct fuzz_life *life, struct rng *rng);
void fuzz_op_irqs(struct fuzz_life *life, struct rng *rng);
void fuzz_op_region(struct fuzz_life *life, struct rng *rng);
void fuzz_op_config(struct fuzz_life *life, struct rng *rng);
void fuzz_op_map(struct fuzz_life *life, struct rng *rng);
void fuzz_op_dma_map(struct fuzz_life *life, struct rng *rng);
void fuzz_op_memory(struct fuzz_life *life, struct rng *rng);
void fuzz_op_reset(struct fuzz_life *life, struct rng *rng);
void fuzz_op_files(struct fuzz_life *life, struct rng *rng);
void fuzz_op_vga(struct fuzz_life *life, struct rng *rng);
void fuzz_op_plane(struct fuzz_life *life, struct rng *rng);
void fuzz_op_edid(struct fuzz_life *life, struct rng *rng);
void fuzz_op_work(struct fuzz_life *life, struct rng *rng);
void fuzz_op_channel(struct fuzz_life *life, struct rng *rng);

/* display.c */
void fuzz_set_vga(struct rng *rng, const char *uuid);
void fuzz_check_dark(struct fuzz_life *life, struct rng *rng);

#endif /* FUZZ_H */
