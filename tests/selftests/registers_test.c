// SPDX-License-Identifier: GPL-2.0
/*
 * What vgpu and its tests take for granted of the kernel, the lab's own ones included: a thread's
 * vector registers are its own, whatever the kernel does between two of its instructions. QEMU,
 * the interpreter and all tests compute with them. scripts/lab.d/uml-fp.patch decides when User
 * Mode Linux has to load them.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clk.h"
#include "fixture.h"
#include "ktap.h"

#define PROCESSES	3u
#define THREADS		3u
#define ROUNDS		150u
#define PAGE		4096u

/* 16 registers of 32 bytes; without AVX, the first 16 bytes of each. */
struct registers {
	uint8_t vector[16][32];
	uint32_t mxcsr;		/* rounding, and what has happened */
};

struct place {
	const struct registers *load;
	struct registers *store;
	uint8_t *touch;		/* is written between */
};

#define EACH(text)	".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n" text "\n.endr\n"

/* Nothing comes between but the system call, and the write to memory, in that order. */
static long between(const struct place *at, long nr, const long arg[3])
{
	static const uint32_t usual = 0x1f80;
	const int avx = !!__builtin_cpu_supports("avx");

	asm volatile("ldmxcsr 512(%[load])\n"
		     "testl %[avx], %[avx]\n"
		     "jz 1f\n"
		     EACH("vmovdqu \\i*32(%[load]), %%ymm\\i")
		     "1: jnz 2f\n"
		     EACH("movdqu \\i*32(%[load]), %%xmm\\i")
		     "2: syscall\n"
		     "movb $1, (%[touch])\n"
		     "stmxcsr 512(%[store])\n"
		     "testl %[avx], %[avx]\n"
		     "jz 1f\n"
		     EACH("vmovdqu %%ymm\\i, \\i*32(%[store])")
		     "1: jnz 2f\n"
		     EACH("movdqu %%xmm\\i, \\i*32(%[store])")
		     "2: ldmxcsr %[usual]\n"
		     : "+a" (nr)
		     : [load] "r" (at->load), [store] "r" (at->store), [touch] "r" (at->touch),
		       [avx] "r" (avx), [usual] "m" (usual),
		       "D" (arg[0]), "S" (arg[1]), "d" (arg[2])
		     : "rcx", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
		       "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
		       "xmm14", "xmm15");
	return nr;
}

static void fill(struct registers *registers, unsigned int seed)
{
	unsigned int width = __builtin_cpu_supports("avx") ? 32 : 16, i, j;

	memset(registers, 0, sizeof(*registers));
	for (i = 0; i < 16; i++)
		for (j = 0; j < width; j++)
			registers->vector[i][j] = seed * 37 + i * 16 + j;
	registers->mxcsr = 0x1f80 | (seed & 3) << 13;
}

/* A handler has registers of its own, and faults. */
static void on_signal(int signal)
{
	static const long none[3];
	struct registers mine, after = {};
	uint8_t *fresh = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
	struct place at = { &mine, &after, fresh };

	fill(&mine, signal + 91);
	if (fresh == MAP_FAILED)
		_exit(3);
	between(&at, SYS_getppid, none);
	if (memcmp(&mine, &after, sizeof(mine)))
		_exit(2);
	munmap(fresh, PAGE);
}

/* A child has its parent's registers. */
static bool forked_well(const struct place *at)
{
	static const long none[3];
	pid_t child = between(at, SYS_fork, none);
	int status;

	if (!child)
		_exit(!!memcmp(at->load, at->store, sizeof(*at->load)));
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

struct job {
	unsigned int seed;
	bool good;
};

static void *thread(void *arg)
{
	struct job *job = arg;
	struct registers mine, after;
	uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
	struct place at = { &mine, &after, pages };
	const struct { long nr, arg[3]; } calls[] = {
		{ SYS_getppid, {} },
		{ SYS_sched_yield, {} },
		{ SYS_tgkill, { getpid(), gettid(), SIGUSR1 } },
		{ SYS_madvise, { (long)pages, PAGE, MADV_DONTNEED } },
		{ SYS_mprotect, { (long)pages + PAGE, PAGE, PROT_READ } },
	};
	unsigned int round, call;

	job->good = pages != MAP_FAILED;
	for (round = 0; job->good && round < ROUNDS; round++) {
		fill(&mine, job->seed + round);
		call = round % 6;
		/* Its first write to a page is a fault; its others are none. */
		if (round % 4 < 2)
			job->good = !madvise(pages, PAGE, MADV_DONTNEED);
		memset(&after, 0, sizeof(after));
		if (call < 5)
			job->good &= !between(&at, calls[call].nr, calls[call].arg) || !call;
		else if (round % 30 == 5)
			job->good &= forked_well(&at);
		else
			continue;
		job->good &= !memcmp(&mine, &after, sizeof(mine));
	}
	if (pages != MAP_FAILED)
		munmap(pages, 2 * PAGE);
	return NULL;
}

static bool threads_do(unsigned int process)
{
	const struct sigaction action = { .sa_handler = on_signal };
	pthread_t id[THREADS];
	struct job job[THREADS];
	unsigned int i, started = 0;
	bool good = !sigaction(SIGUSR1, &action, NULL);

	for (i = 0; good && i < THREADS; i++) {
		job[i].seed = (process * THREADS + i) * 1000;
		good = !pthread_create(&id[i], NULL, thread, &job[i]);
		started += good;
	}
	for (i = 0; i < started; i++) {
		pthread_join(id[i], NULL);
		good &= job[i].good;
	}
	return good;
}

static void each_thread_has_its_own(void)
{
	pid_t child[PROCESSES];
	unsigned int i;
	int status;

	for (i = 0; i < PROCESSES; i++) {
		child[i] = fork();
		if (!child[i])
			_exit(!threads_do(i));
		CHECK(child[i] > 0);
	}
	for (i = 0; i < PROCESSES; i++) {
		CHECK_EQ(waitpid(child[i], &status, 0), child[i]);
		CHECK_EQ(status, 0);
	}
}

static const struct ktap_test tests[] = {
	KTAP_TEST(each_thread_has_its_own),
};

KTAP_MAIN(tests, fx_cleanup)
