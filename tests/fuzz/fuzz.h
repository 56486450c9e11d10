/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hostile client: processes that each own a vGPU and misuse all of it from
 * several threads, an administrator who changes everything meanwhile, and a
 * victim whose work must come out right all the same.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <libvgpu.h>
#include <linux/vgpu.h>

#define FUZZ_CLIENTS_MAX	16
#define FUZZ_THREADS_MAX	16
#define FUZZ_GPUS_MAX		4

/**
 * struct fuzz_rng - random numbers of one thread
 * @state: any value
 */
struct fuzz_rng {
	uint64_t state;
};

/**
 * enum fuzz_count - what the processes count, so that a run that did nothing shows
 */
enum fuzz_count {
	FUZZ_LIVES,		/* processes of clients that opened their vGPU */
	FUZZ_OPS,		/* operations of their threads */
	FUZZ_SIGNALS,		/* of these, ended by SIGBUS or SIGSEGV */
	FUZZ_PACKETS,		/* packets written to rings */
	FUZZ_KILLS,		/* clients ended by SIGKILL */
	FUZZ_ADMIN,		/* operations of the administrator */
	FUZZ_BINDS,		/* GPUs unbound and bound */
	FUZZ_JOBS,		/* jobs of the victim that came out right */
	FUZZ_COUNTS,
};

/**
 * struct fuzz_shared - memory that all processes of a run share
 * @count: enum fuzz_count
 * @stop:  the run is over
 * @error: the first thing found to be wrong; "" if nothing was
 */
struct fuzz_shared {
	uint64_t count[FUZZ_COUNTS];
	int stop;
	int failed;
	char error[512];
};

/**
 * struct fuzz_gpu - a GPU of the machine
 * @address: of its PCI function
 * @prefix:  of its types' directories, up to the last '-'
 */
struct fuzz_gpu {
	char address[64];
	char prefix[96];
};

/**
 * struct fuzz_world - a run
 * @shared:  see there
 * @seed:    of everything random
 * @seconds: how long
 * @clients: hostile processes
 * @threads: of each
 * @nr_gpus: length of @gpu
 * @gpu:     the victim is on the first; others are unbound and bound
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

/* util.c */
uint64_t fuzz_random(struct fuzz_rng *rng);
uint64_t fuzz_below(struct fuzz_rng *rng, uint64_t limit);
bool fuzz_chance(struct fuzz_rng *rng, unsigned int percent);
uint64_t fuzz_value(struct fuzz_rng *rng);
void fuzz_bytes(struct fuzz_rng *rng, void *buf, size_t count);
void fuzz_mutate(struct fuzz_rng *rng, void *buf, size_t count);
void fuzz_count(enum fuzz_count what);
__attribute__((format(printf, 1, 2))) void fuzz_wrong(const char *fmt, ...);
bool fuzz_over(void);
uint64_t fuzz_now_ms(void);
void fuzz_sleep_ms(unsigned int ms);
int fuzz_write_file(const char *path, const char *text);
void fuzz_uuid(struct fuzz_rng *rng, char uuid[37]);
int fuzz_create(const struct fuzz_gpu *gpu, const char *type, const char *uuid);
int fuzz_remove(const char *uuid);
uint64_t fuzz_faults(const char *uuid, uint32_t *status);

/* client.c: processes; each returns its exit status */
int fuzz_client(unsigned int number);

/* admin.c */
int fuzz_admin(void);
int fuzz_binder(void);

/* victim.c */
int fuzz_victim(void);

/**
 * struct fuzz_life - a client's process, from open to end
 * @dev:   its vGPU
 * @cpu:   anonymous memory that is mapped for DMA at address 0
 * @end_ms: when its threads stop
 */
struct fuzz_life {
	struct vgpu_dev *dev;
	uint8_t *cpu;
	uint64_t end_ms;
};

#define FUZZ_CPU_BYTES	(8u << 20)

/* ops.c, work.c: one random operation each */
void fuzz_op_ioctl(struct fuzz_life *life, struct fuzz_rng *rng);
void fuzz_op_irqs(struct fuzz_life *life, struct fuzz_rng *rng);
void fuzz_op_region(struct fuzz_life *life, struct fuzz_rng *rng);
void fuzz_op_config(struct fuzz_life *life, struct fuzz_rng *rng);
void fuzz_op_map(struct fuzz_life *life, struct fuzz_rng *rng);
void fuzz_op_dma_map(struct fuzz_life *life, struct fuzz_rng *rng);
void fuzz_op_memory(struct fuzz_life *life, struct fuzz_rng *rng);
void fuzz_op_reset(struct fuzz_life *life, struct fuzz_rng *rng);
void fuzz_op_files(struct fuzz_life *life, struct fuzz_rng *rng);
void fuzz_op_work(struct fuzz_life *life, struct fuzz_rng *rng);
void fuzz_op_channel(struct fuzz_life *life, struct fuzz_rng *rng);

#endif /* FUZZ_H */
