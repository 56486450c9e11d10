// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz: hostile clients, an administrator and a victim on the GPUs of a lab machine. The run
 * fails if the victim sees a wrong byte or a fault, if something does not end, if framebuffer
 * that was just handed out is not zero, or if the kernel reports something (scripts/lab looks
 * for that).
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

#define FUZZ_END_MS	300000
/* How much longer a run is at most on a machine so slow that something has not happened yet. */
#define FUZZ_MORE_MS	180000

static const char * const count_names[FUZZ_COUNTS] = {
	"lives", "operations", "signals", "packets", "kills", "admin", "binds", "victim_jobs",
	"files", "pictures",
};

static void usage(FILE *to)
{
	fputs("Usage: fuzz [OPTION...]\n"
	      "Misuses the vGPUs of this machine; run it in a lab machine, see run.sh.\n\n"
	      "  --seconds N   how long (60; 0: until interrupted); longer where the machine is\n"
	      "                too slow for something to have happened\n"
	      "  --seed N      of everything random (random; printed)\n"
	      "  --clients N   hostile processes, 1..16 (6)\n"
	      "  --threads N   of each, 1..16 (4)\n", to);
}

static int find_gpus(void)
{
	char path[320], *dash;
	struct dirent *entry;
	DIR *bus, *types;

	bus = opendir("/sys/class/mdev_bus");
	while (bus && (entry = readdir(bus)) && fuzz.nr_gpus < FUZZ_GPUS_MAX) {
		struct fuzz_gpu *gpu = &fuzz.gpu[fuzz.nr_gpus];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(gpu->address, sizeof(gpu->address), "%.60s", entry->d_name);
		snprintf(path, sizeof(path), "/sys/class/mdev_bus/%s/mdev_supported_types",
			 gpu->address);
		types = opendir(path);
		while (types && (entry = readdir(types))) {
			if (strncmp(entry->d_name, "vgpu_soft-", 10))
				continue;
			dash = strchr(entry->d_name + 10, '-');
			if (!dash)
				continue;
			*dash = 0;
			snprintf(gpu->prefix, sizeof(gpu->prefix), "%.90s", entry->d_name);
			fuzz.nr_gpus++;
			break;
		}
		if (types)
			closedir(types);
	}
	if (bus)
		closedir(bus);
	return fuzz.nr_gpus ? 0 : -ENODEV;
}

static bool number(const char *text, uint64_t most, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && end != text && !*end && *value <= most;
}

static bool parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'r' },
		{ "clients", required_argument, NULL, 'c' },
		{ "threads", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	uint64_t value;
	int c;

	fuzz.seconds = 60;
	fuzz.clients = 6;
	fuzz.threads = 4;
	if (getrandom(&fuzz.seed, sizeof(fuzz.seed), 0) != sizeof(fuzz.seed))
		return false;
	fuzz.seed >>= 16;
	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (c == 'h') {
			usage(stdout);
			exit(0);
		}
		if (c == '?' || !number(optarg, c == 'r' ? ~0ull : 1000000, &value))
			return false;
		switch (c) {
		case 's':
			fuzz.seconds = (unsigned int)value;
			break;
		case 'r':
			fuzz.seed = value;
			break;
		case 'c':
			fuzz.clients = (unsigned int)value;
			break;
		case 't':
			fuzz.threads = (unsigned int)value;
			break;
		}
	}
	return optind == argc && fuzz.clients >= 1 && fuzz.clients <= FUZZ_CLIENTS_MAX &&
	       fuzz.threads >= 1 && fuzz.threads <= FUZZ_THREADS_MAX;
}

static pid_t start(int (*run)(void), unsigned int client)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	signal(SIGINT, SIG_IGN);
	exit(run ? run() : fuzz_client(client));
}

static void print_counts(unsigned int seconds)
{
	unsigned int i;

	printf("# %4u s:", seconds);
	for (i = 0; i < FUZZ_COUNTS; i++)
		printf(" %s %llu", count_names[i], (unsigned long long)fuzz.shared->count[i]);
	putchar('\n');
	fflush(stdout);
}

static void interrupted(int signal)
{
	(void)signal;
	__atomic_store_n(&fuzz.shared->stop, 1, __ATOMIC_SEQ_CST);
}

/*
 * Looks whether a process has ended. The first @steady ones work until the run is over: one that a
 * signal has ended has tested nothing from then on.
 */
static bool ended(pid_t *pids, unsigned int i, unsigned int steady)
{
	int status;

	if (pids[i] <= 0 || waitpid(pids[i], &status, WNOHANG) != pids[i])
		return false;
	if (i < steady && status)
		fuzz_wrong("process %u of the fuzzer's own ended with status %#x", i, status);
	pids[i] = 0;
	return true;
}

static void wait_all(pid_t *pids, unsigned int nr, unsigned int steady)
{
	uint64_t end_ms = clk_ms() + FUZZ_END_MS;
	unsigned int i, left;

	do {
		for (i = 0, left = 0; i < nr; i++)
			left += pids[i] > 0 && !ended(pids, i, steady);
		clk_sleep_ms(10);
	} while (left && clk_ms() < end_ms);
	for (i = 0; i < nr; i++) {
		if (pids[i] <= 0)
			continue;
		fuzz_wrong("process %d does not end", pids[i]);
		kill(pids[i], SIGKILL);
	}
}

/* What has not happened yet, or NULL: a run in which nothing happened shows nothing. */
static const char *missing(void)
{
	unsigned int i;

	for (i = 0; i < FUZZ_COUNTS; i++)
		if (!__atomic_load_n(&fuzz.shared->count[i], __ATOMIC_RELAXED) &&
		    i != FUZZ_SIGNALS && (i != FUZZ_BINDS || fuzz.nr_gpus > 1))
			return count_names[i];
	return NULL;
}

static bool time_is_up(uint64_t took_ms)
{
	uint64_t wanted_ms = fuzz.seconds * 1000ull;

	if (!wanted_ms || took_ms < wanted_ms)
		return false;
	return !missing() || took_ms >= wanted_ms + FUZZ_MORE_MS;
}

int main(int argc, char **argv)
{
	pid_t pids[FUZZ_CLIENTS_MAX + 3];
	uint64_t start_ms, next_ms;
	unsigned int i, steady, nr = 0;
	int failed;

	if (!parse(argc, argv)) {
		usage(stderr);
		return 2;
	}
	if (find_gpus()) {
		fputs("fuzz: no GPU of vgpu_soft: load the modules (scripts/load gpus=2)\n", stderr);
		return 1;
	}
	fuzz.shared = mmap(NULL, sizeof(*fuzz.shared), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fuzz.shared == MAP_FAILED) {
		perror("fuzz: mmap");
		return 1;
	}
	printf("# fuzz: --seed %llu --seconds %u --clients %u --threads %u; %u GPUs\n",
	       (unsigned long long)fuzz.seed, fuzz.seconds, fuzz.clients, fuzz.threads,
	       fuzz.nr_gpus);
	fflush(stdout);
	signal(SIGINT, interrupted);
	start_ms = clk_ms();
	next_ms = start_ms + 10000;

	pids[nr++] = start(fuzz_victim, 0);
	/* The victim is to have the first vGPU on its GPU: so the administrator knows it. */
	while (!fuzz.shared->count[FUZZ_JOBS] && !fuzz_over()) {
		clk_sleep_ms(1);
		if (ended(pids, 0, 1))
			fuzz_wrong("the victim ended before its first job");
	}
	pids[nr++] = start(fuzz_admin, 0);
	if (fuzz.nr_gpus > 1)
		pids[nr++] = start(fuzz_binder, 0);
	steady = nr;
	for (i = 0; i < fuzz.clients; i++)
		pids[nr++] = start(NULL, i);

	while (!fuzz_over()) {
		uint64_t now_ms = clk_ms();

		for (i = 0; i < steady; i++)
			if (ended(pids, i, steady) && !fuzz_over())
				fuzz_wrong("process %u of the fuzzer's own ended early", i);
		if (time_is_up(now_ms - start_ms))
			break;
		if (now_ms >= next_ms) {
			print_counts((unsigned int)((now_ms - start_ms) / 1000));
			next_ms += 10000;
		}
		clk_sleep_ms(50);
	}
	__atomic_store_n(&fuzz.shared->stop, 1, __ATOMIC_SEQ_CST);
	wait_all(pids, nr, steady);
	print_counts((unsigned int)((clk_ms() - start_ms) / 1000));

	if (missing())
		fuzz_wrong("no %s at all", missing());
	failed = fuzz.shared->failed;
	if (failed)
		printf("not ok 1 fuzz: %s\n", fuzz.shared->error);
	else
		printf("ok 1 fuzz\n");
	return failed;
}
