// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile client: creates a vGPU and misuses it several times, each time in a process of its own
 * that closes the vGPU, exits without closing it, or is ended by SIGKILL.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

/* Nothing that a client does may keep its process from dying, not even for that long. */
#define CLIENT_DIE_MS	240000
/* Memory of each client, so that none of them takes all of the machine's. */
#define CLIENT_MEMORY	"201326592"

static const struct {
	void (*op)(struct fuzz_life *life, struct rng *rng);
	unsigned int parts;
} client_ops[] = {
	{ fuzz_op_work, 27 },
	{ fuzz_op_channel, 17 },
	{ fuzz_op_region, 13 },
	{ fuzz_op_map, 10 },
	{ fuzz_op_dma_map, 5 },
	{ fuzz_op_memory, 5 },
	{ fuzz_op_config, 5 },
	{ fuzz_op_ioctl, 4 },
	{ fuzz_op_irqs, 4 },
	{ fuzz_op_plane, 3 },
	{ fuzz_op_vga, 3 },
	{ fuzz_op_edid, 2 },
	{ fuzz_op_reset, 1 },
	{ fuzz_op_files, 1 },
};

static _Thread_local sigjmp_buf client_jump;
static _Thread_local volatile sig_atomic_t client_may_jump;

struct client_thread {
	struct fuzz_life *life;
	struct rng rng;
	pthread_t thread;
};

static void client_signal(int number)
{
	/* A signal outside of an operation is a bug of the fuzzer. */
	if (!client_may_jump)
		_exit(100 + number);
	client_may_jump = 0;
	siglongjmp(client_jump, 1);
}

static void client_op(struct fuzz_life *life, struct rng *rng)
{
	unsigned int i, part = (unsigned int)rng_below(rng, 100);

	for (i = 0; part >= client_ops[i].parts; i++)
		part -= client_ops[i].parts;
	client_ops[i].op(life, rng);
}

static void *client_thread(void *arg)
{
	struct client_thread *t = arg;

	while (clk_ms() < t->life->end_ms && !fuzz_over()) {
		if (!sigsetjmp(client_jump, 1)) {
			client_may_jump = 1;
			client_op(t->life, &t->rng);
			client_may_jump = 0;
		} else {
			fuzz_count(FUZZ_SIGNALS);
		}
		fuzz_count(FUZZ_OPS);
	}
	return NULL;
}

/* Framebuffer of a vGPU that was just opened must be zero, whoever had it before. */
static void client_check_fresh(struct fuzz_life *life, struct rng *rng)
{
	unsigned int i, k;
	uint64_t words[512], at;

	for (i = 0; i < 32; i++) {
		at = rng_below(rng, (i & 1 ? life->dev->fb_bytes : 64u << 20) >> 12) << 12;
		if (pread(life->dev->fd, words, 4096,
			  (off_t)(life->dev->region[0].offset + at)) != 4096)
			continue;
		for (k = 0; k < 512; k++)
			if (words[k])
				fuzz_wrong("a vGPU just opened has %#llx at %#llx of its framebuffer",
					   (unsigned long long)words[k],
					   (unsigned long long)at + 8 * k);
	}
}

static void client_handlers(void)
{
	struct sigaction act = { .sa_handler = client_signal, .sa_flags = SA_NODEFER };

	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGBUS, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* What a process of the client does; its exit status is 0 unless the fuzzer is wrong. */
static void client_life(const char *uuid, struct rng rng)
{
	struct client_thread threads[FUZZ_THREADS_MAX];
	struct fuzz_life life = {};
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	client_handlers();
	if (vgpu_dev_open_vfio(&life.dev, uuid))
		_exit(0); /* it may have been removed already */
	fuzz_count(FUZZ_LIVES);
	client_check_fresh(&life, &rng);
	fuzz_check_dark(&life, &rng);
	life.cpu = mmap(NULL, FUZZ_CPU_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (life.cpu == MAP_FAILED)
		_exit(1);
	vgpu_dma_map(life.dev, life.cpu, FUZZ_CPU_BYTES, 0);
	if (fuzz_chance(&rng, 80))
		vgpu_irq_enable(life.dev, 1 + (unsigned int)rng_below(&rng, life.dev->vectors));
	life.end_ms = clk_ms() + rng_below(&rng, 3000);
	for (i = 0; i < fuzz.threads; i++) {
		threads[i].life = &life;
		threads[i].rng = rng_seed(rng_next(&rng));
		if (pthread_create(&threads[i].thread, NULL, client_thread, &threads[i]))
			_exit(2);
	}
	if (fuzz_chance(&rng, 30)) /* ends while the threads are at work */
		_exit(0);
	for (i = 0; i < fuzz.threads; i++)
		pthread_join(threads[i].thread, NULL);
	if (fuzz_chance(&rng, 70))
		vgpu_dev_close(life.dev);
	_exit(0);
}

static void client_cgroup(unsigned int number)
{
	char path[96], text[32];

	snprintf(path, sizeof(path), "/sys/fs/cgroup/fuzz-%u", number);
	if (access(path, F_OK))
		return;
	strcat(path, "/cgroup.procs");
	snprintf(text, sizeof(text), "%d", getpid());
	file_write(path, text);
}

static bool client_wait(pid_t pid, const char *what, int *status)
{
	uint64_t end_ms = clk_ms() + CLIENT_DIE_MS;

	while (waitpid(pid, status, WNOHANG) == 0) {
		if (clk_ms() > end_ms) {
			fuzz_wrong("%s (pid %d) does not end", what, pid);
			return false;
		}
		clk_sleep_ms(2);
	}
	return true;
}

static void client_remove(const char *uuid)
{
	/* That fails if the vGPU has gone with its GPU. */
	fuzz_remove(uuid);
	_exit(0);
}

static bool client_lives(unsigned int number, struct rng *rng, const char *uuid)
{
	uint64_t kill_ms = rng_below(rng, 2000);
	struct rng child = rng_seed(rng_next(rng));
	pid_t life, remover = 0;
	int status;

	if (fuzz_chance(rng, 50))
		fuzz_set_vga(rng, uuid);
	life = fork();
	if (!life) {
		client_cgroup(number);
		client_life(uuid, child);
	}
	if (fuzz_chance(rng, 10)) {
		clk_sleep_ms((unsigned int)rng_below(rng, 500));
		remover = fork();
		if (!remover)
			client_remove(uuid);
	}
	if (fuzz_chance(rng, 40)) {
		clk_sleep_ms((unsigned int)kill_ms);
		fuzz_count(FUZZ_KILLS);
		kill(life, SIGKILL);
	}
	if (!client_wait(life, "a client", &status))
		return false;
	if (WIFEXITED(status) && WEXITSTATUS(status))
		fuzz_wrong("a client ended with status %d", WEXITSTATUS(status));
	if (remover > 0 && !client_wait(remover, "the removal of a vGPU", &status))
		return false;
	return !remover;
}

/**
 * fuzz_client() - be a hostile client until the run is over
 * @number: which
 *
 * Return: exit status of this process.
 */
int fuzz_client(unsigned int number)
{
	static const char * const types[] = { "1Q", "2Q", "1B", "1A", "1-2C", "3-4C" };
	const struct fuzz_gpu *gpu = &fuzz.gpu[number % fuzz.nr_gpus];
	/* The first GPU is never divided. */
	unsigned int nr_types = gpu == fuzz.gpu ? 4 : 6;
	struct rng rng = rng_seed(fuzz.seed + 0x1000 * (number + 1));
	unsigned int lives;
	char uuid[37], path[96];

	snprintf(path, sizeof(path), "/sys/fs/cgroup/fuzz-%u", number);
	if (!mkdir(path, 0755)) {
		strcat(path, "/memory.max");
		file_write(path, CLIENT_MEMORY);
	}
	while (!fuzz_over()) {
		fuzz_uuid(&rng, uuid);
		if (fuzz_create(gpu, types[rng_below(&rng, nr_types)], uuid)) {
			clk_sleep_ms(50);
			continue;
		}
		for (lives = 1 + (unsigned int)rng_below(&rng, 5); lives; lives--)
			if (fuzz_over() || !client_lives(number, &rng, uuid))
				break;
		fuzz_remove(uuid);
	}
	return 0;
}
