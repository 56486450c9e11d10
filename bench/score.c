// SPDX-License-Identifier: GPL-2.0
/*
 * score [--seed N] [--pairs N] [--only ROWS] [--measured HOW]
 *       OUT.json UUID UUID UUID UUID
 *
 * Measures, prints the scoreboard beside what HAMi-core, BUD-FCSP and MIG have
 * published, and writes rows for merge.py. Work is what clients see completed and
 * have verified; where a reference is needed it is measured between (A B B A).
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "score.h"

#define TICK_NS		(25 * MS)
#define UNIT_NS		(50 * US)
#define UNITS		1024	/* FILLs by which their length is measured */

struct score score = {
	.seed = 1, .pairs = 10,
};

/**
 * struct known - a row, its goal, and what has been published
 * @name:   of the row
 * @text:   what it says
 * @unit:   of all values
 * @reach:  goal, negative: none, or only known when measured
 * @higher: at least that; else at most
 * @hami:   HAMi-core's value as text, "" if none
 * @fcsp:   BUD-FCSP's
 * @mig:    MIG's
 * @peer:   the best of them, negative: none
 */
static const struct known {
	const char *name;
	const char *text;
	const char *unit;
	double reach;
	bool higher;
	const char *hami;
	const char *fcsp;
	const char *mig;
	double peer;
} known[] = {
	{ "is_003", "share got of share due, worst vGPU, worst 2 s", "%", 99.5,
	  true, "99.8", "96.2", "", 99.8 },
	{ "is_004", "until a changed share holds", "ms", -1, false, "84.8",
	  "84.8", "", 84.8 },
	{ "is_006", "own work kept beside three hogs", "%", 99, true, "83.5",
	  "84.0", "~95", 95 },
	{ "is_007", "variation of work per s, worst vGPU", "cv", 0.02, false,
	  "0.067", "0.067", "<0.05", 0.05 },
	{ "is_008", "Jain's index over 1 s, worst", "0..1", 0.9999, true,
	  "0.995", "0.996", "1.0", 1 },
	{ "is_009", "loss from noisy neighbours, worst client", "%", 1, false,
	  "13.7", "4.7", "~3", 3 },
	{ "use_3_idle", "use of the engine, three of four idle", "%", 99, true,
	  "", "~100", "33", 100 },
	{ "switch_loss", "switching, of service, slices of 2 ms", "%", 1, false,
	  "", "", "", -1 },
	{ "switch_latency", "work of one to work of the next, mean", "us", -1,
	  false, "", "", "", -1 },
	{ "preempt_latency", "to stop until stopped, median", "us", -1, false,
	  "", "", "", -1 },
	{ "error_detect", "bad packet until the client knows, median", "us", -1,
	  false, "", "", "", -1 },
	{ "error_recover", "from there until a job is done, median", "us", -1,
	  false, "", "", "", -1 },
	{ "hang_detect", "packet without end until the client knows, median",
	  "us", -1, false, "", "", "", -1 },
	{ "hang_recover", "from there until a job is done, median", "us", -1,
	  false, "", "", "", -1 },
};

#define ROWS	(sizeof(known) / sizeof(known[0]))

static struct result results[ROWS];
static bool measured[ROWS];

void die(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("score: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void check(const struct load *load, int ret)
{
	if (ret)
		die("%s (%s)", load->text, strerror(-ret));
}

/* Adds to the detail of a row. */
void add(struct result *result, const char *fmt, ...)
{
	size_t used = strlen(result->detail);
	va_list args;

	va_start(args, fmt);
	vsnprintf(result->detail + used, sizeof(result->detail) - used, fmt,
		  args);
	va_end(args);
}

void result(const char *name, const struct result *result)
{
	size_t i;

	for (i = 0; i < ROWS; i++) {
		if (strcmp(known[i].name, name))
			continue;
		if (!wanted(name))
			return;
		results[i] = *result;
		measured[i] = true;
		printf("# %s: %.6g %s; %s\n", name, result->value, known[i].unit,
		       result->detail);
		fflush(stdout);
		return;
	}
	die("no row %s", name);
}

bool wanted(const char *name)
{
	return !score.only || strstr(score.only, name);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* @q: 0 .. 1. Sorts. */
double quantile(double *values, unsigned int nr, double q)
{
	double at = q * (nr - 1);
	unsigned int low = (unsigned int)at;

	qsort(values, nr, sizeof(*values), compare_doubles);
	if (low + 1 >= nr)
		return values[nr - 1];
	return values[low] + (at - low) * (values[low + 1] - values[low]);
}

/* xorshift64* (Vigna 2016) */
uint64_t random_below(uint64_t limit)
{
	static uint64_t state;

	if (!state)
		state = score.seed * 0x9e3779b97f4a7c15ull | 1;
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return ((state * 0x2545f4914f6cdd1dull) >> 11) % limit;
}

uint64_t soft_counter(const char *name)
{
	uint64_t value;
	int ret = load_counter(name, &value);

	if (ret)
		die("%s in debugfs: %s", name, strerror(-ret));
	return value;
}

/*
 * As soft_counter("ran_ns"), whose file is searched for once only: in an emulated
 * machine the search takes longer than a job.
 */
static uint64_t read_ran_ns(void)
{
	static char path[256];
	char text[32] = "";
	glob_t found;
	int fd;

	if (!path[0]) {
		if (glob("/sys/kernel/debug/vgpu_soft/*/gr/ran_ns", 0, NULL,
			 &found))
			die("no ran_ns in debugfs");
		snprintf(path, sizeof(path), "%s", found.gl_pathv[0]);
		globfree(&found);
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		die("%s: %s", path, strerror(errno));
	close(fd);
	return strtoull(text, NULL, 10);
}

/* Where the run is, on the terminal: the rows come on standard output. */
void progress(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "[%5.1f s] ", (double)load_now_ns() / 1e9);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
}

static void read_gpu(struct vgpu_ctl_gpu *gpu)
{
	memset(gpu, 0, sizeof(*gpu));
	gpu->size = sizeof(*gpu);
	gpu->gpu = score.gpu;
	if (ioctl(score.control, VGPU_IOC_GPU, gpu))
		die("VGPU_IOC_GPU: %s", strerror(errno));
}

/* Returns how long it took. */
static uint64_t take_once(struct reading *r)
{
	struct vgpu_ctl_instance inst = { 0 };
	struct vgpu_ctl_gpu gpu;
	unsigned int i;

	read_gpu(&gpu);
	for (i = 0; i < TENANTS; i++) {
		struct tenant *t = &score.tenant[i];

		r->jobs[i] = t->load.dev ? load_jobs(&t->load) : 0;
	}
	r->ran_ns = read_ran_ns();
	r->now_ns = gpu.now_ns;
	r->busy_ns = gpu.engine[score.engine].busy_ns;
	for (i = 0; i < TENANTS; i++) {
		memset(&inst, 0, sizeof(inst));
		inst.size = sizeof(inst);
		memcpy(inst.uuid, score.tenant[i].id, VGPU_UUID_LEN);
		if (ioctl(score.control, VGPU_IOC_INSTANCE, &inst))
			die("VGPU_IOC_INSTANCE: %s", strerror(errno));
		r->service_ns[i] = inst.engine[score.engine].busy_ns;
		if (!i)
			r->linger_ns = inst.linger_ns[score.engine];
	}
	return inst.now_ns - r->now_ns;
}

/*
 * All counters as at one time: if this processor was taken away in the middle
 * of reading them, they are read again.
 */
void take(struct reading *r)
{
	static uint64_t least_ns = ~0ull / 2;
	unsigned int tries = 20;
	uint64_t took_ns;

	do {
		took_ns = take_once(r);
		least_ns = took_ns < least_ns ? took_ns : least_ns;
	} while (took_ns > 2 * least_ns && --tries);
}

void policy(const char *name)
{
	char why[VGPU_TEXT_LEN];

	if (load_set_policy(score.control, score.gpu, name, score.slice_ns, why))
		die("%s: %s", name, why);
}

void shares(const unsigned int triple[TENANTS][3])
{
	struct vgpu_ctl_share share[TENANTS] = { 0 };
	char why[VGPU_TEXT_LEN];
	unsigned int i;

	for (i = 0; i < TENANTS; i++) {
		memcpy(share[i].uuid, score.tenant[i].id, VGPU_UUID_LEN);
		share[i].valid = VGPU_SHARE_GUARANTEE | VGPU_SHARE_CAP |
				 VGPU_SHARE_WEIGHT;
		share[i].guarantee = triple[i][0];
		share[i].cap = triple[i][1];
		share[i].weight = triple[i][2];
	}
	if (load_set_shares(score.control, share, TENANTS, why))
		die("shares: %s", why);
}

void open_tenant(unsigned int i)
{
	struct tenant *t = &score.tenant[i];

	if (t->dev)
		return;
	if (vgpu_dev_open_vfio(&t->dev, t->uuid))
		die("%s", vgpu_dev_error(NULL));
	if (vgpu_irq_enable(t->dev, 2))
		die("%s", vgpu_dev_error(t->dev));
}

void close_tenant(unsigned int i)
{
	struct tenant *t = &score.tenant[i];

	stop_load(i);
	vgpu_dev_close(t->dev);
	t->dev = NULL;
}

/* ns of the clock per FILL of that size, with nothing else on the engine. */
static uint64_t time_unit(struct load *load, struct vgpu_dev *dev,
			  const struct load_config *like, uint64_t bytes)
{
	struct load_config config = *like;
	uint64_t start;

	config.job_bytes = bytes;
	config.fills = UNITS;
	config.order = ALL_ORDER;
	check(load, load_init(load, dev, &config));
	/* The first finds the engine asleep. */
	check(load, load_keep(load, 1));
	while (load_jobs(load) < load->put)
		nap(MS);
	start = load_now_ns();
	check(load, load_keep(load, 4));
	/* To look is to take processor time away, perhaps from the engine. */
	while (load_jobs(load) < load->put)
		nap(MS);
	start = load_now_ns() - start;
	check(load, load_check(load));
	load_exit(load);
	return start / 4 / UNITS;
}

/* As many pages as come nearest to UNIT_NS. */
static uint64_t size_unit(struct load *load, struct vgpu_dev *dev,
			  const struct load_config *config)
{
	uint64_t one_ns = time_unit(load, dev, config, 4 * PAGE) / 4, took_ns;
	uint64_t bytes = PAGE;
	unsigned int round;

	for (round = 0; round < 3; round++) {
		bytes = (UNIT_NS + one_ns / 2) / one_ns * PAGE;
		bytes = bytes < PAGE ? PAGE : bytes;
		took_ns = time_unit(load, dev, config, bytes);
		one_ns = took_ns / (bytes / PAGE) + 1;
	}
	printf("# jobs are FILLs of %llu KiB, of %.1f us each, and a check of what is there then\n",
	       (unsigned long long)(bytes >> 10), (double)took_ns / US);
	return bytes;
}

/*
 * A job is as many FILLs of UNIT_NS of the same memory as it is long, so that how
 * much memory it touches does not depend on that. Their size is found once, on an
 * idle engine, under a policy that gives all of it.
 *
 * @irq: whoever waits for a job of this client sleeps meanwhile
 */
void start_load(unsigned int i, uint64_t job_ns, unsigned int order, bool irq)
{
	static uint64_t unit_bytes;
	struct load_config config = {
		.engine_class = VGPU_HW_ENGINE_GR,
		.order = order,
		.irq = irq,
		.seed = random_below(~0ull),
	};
	struct tenant *t = &score.tenant[i];

	open_tenant(i);
	stop_load(i);
	if (!unit_bytes) {
		policy("best_effort");
		unit_bytes = size_unit(&t->load, t->dev, &config);
	}
	config.job_bytes = unit_bytes;
	config.fills = (uint32_t)(job_ns / UNIT_NS);
	check(&t->load, load_init(&t->load, t->dev, &config));
}

void stop_load(unsigned int i)
{
	struct tenant *t = &score.tenant[i];

	t->busy = false;
	load_exit(&t->load);
}

void nap(uint64_t ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(ns / 1000000000),
		.tv_nsec = (long)(ns % 1000000000),
	};

	nanosleep(&ts, NULL);
}

/* Keeps rings of busy tenants filled for a while. */
void keep(uint64_t for_ns)
{
	uint64_t end = load_now_ns() + for_ns, now;
	unsigned int i;

	for (;;) {
		for (i = 0; i < TENANTS; i++) {
			struct tenant *t = &score.tenant[i];

			if (t->busy)
				check(&t->load, load_keep(&t->load,
							  load_room(&t->load)));
		}
		now = load_now_ns();
		if (now >= end)
			return;
		nap(end - now < TICK_NS ? end - now : TICK_NS);
	}
}

/* Until it has nothing more to do. */
void idle(unsigned int i)
{
	struct tenant *t = &score.tenant[i];

	t->busy = false;
	while (load_jobs(&t->load) < t->load.put)
		keep(MS);
	check(&t->load, load_check(&t->load));
}

static void find_gpu(void)
{
	struct vgpu_ctl_list list = { .size = sizeof(list), .count = 1 };
	struct vgpu_ctl_gpu gpu;

	score.control = open("/dev/vgpu", O_RDWR | O_CLOEXEC);
	list.ids = (uintptr_t)&score.gpu;
	if (score.control < 0 || ioctl(score.control, VGPU_IOC_GPUS, &list) ||
	    list.count != 1)
		die("/dev/vgpu: %s, or not one GPU", strerror(errno));
	read_gpu(&gpu);
	score.slice_ns = 2 * MS;
	score.usual_slice_ns = gpu.slice_ns;
	for (score.engine = 0; score.engine < gpu.engines; score.engine++)
		if (gpu.engine[score.engine].engine_class == VGPU_HW_ENGINE_GR)
			return;
	die("no gr");
}

static bool parse_uuid(const char *text, struct tenant *t)
{
	unsigned int n = 0, byte;
	int used;

	snprintf(t->uuid, sizeof(t->uuid), "%s", text);
	while (n < VGPU_UUID_LEN && sscanf(text, "%2x%n", &byte, &used) == 1) {
		t->id[n++] = (uint8_t)byte;
		text += used;
		text += *text == '-';
	}
	return n == VGPU_UUID_LEN && !*text;
}

static double reach(size_t i)
{
	return results[i].reach > 0 ? results[i].reach : known[i].reach;
}

static bool met(size_t i)
{
	if (reach(i) < 0)
		return true;
	return known[i].higher ? results[i].value >= reach(i) :
				 results[i].value <= reach(i);
}

static void print_board(void)
{
	unsigned int goals = 0, reached = 0;
	char goal[32];
	size_t i;

	printf("\n%-16s %-50s %10s %-4s %10s %-8s %10s %7s %7s\n", "row", "",
	       "vGPU", "unit", "goal", "", "HAMi-core", "FCSP", "MIG");
	for (i = 0; i < ROWS; i++) {
		if (!measured[i])
			continue;
		goal[0] = 0;
		if (reach(i) >= 0)
			snprintf(goal, sizeof(goal), "%s %.4g",
				 known[i].higher ? ">=" : "<=", reach(i));
		printf("%-16s %-50s %10.5g %-4s %10s %-8s %10s %7s %7s\n",
		       known[i].name, known[i].text, results[i].value,
		       known[i].unit, goal,
		       !goal[0] ? "" : met(i) ? "met" : "NOT met",
		       known[i].hami, known[i].fcsp, known[i].mig);
		goals += !!goal[0];
		reached += goal[0] && met(i);
	}
	printf("\nmeasured: %s\n%u of %u goals met. Others' values are published ones, of other hardware (GPU-Virt-Bench, arXiv 2512.22125).\n",
	       score.icount ?
	       "icount: time is this machine's instructions, so that other work on its host changes nothing" :
	       "wall: time of a clock, on a machine that shares its processors with other work of its host",
	       reached, goals);
}

/* A published value: a number, perhaps with a sign that it is not exact. */
static void write_published(FILE *out, const char *name, const char *text)
{
	text += strspn(text, "~<");
	if (*text)
		fprintf(out, "\"%s\": %g, ", name, strtod(text, NULL));
	else
		fprintf(out, "\"%s\": null, ", name);
}

static void write_rows(const char *path)
{
	FILE *out = fopen(path, "we");
	size_t i;

	if (!out)
		die("%s: %s", path, strerror(errno));
	for (i = 0; i < ROWS; i++) {
		if (!measured[i])
			continue;
		fprintf(out, "{\"name\": \"%s\", \"value\": %.6g, ",
			known[i].name, results[i].value);
		if (known[i].peer < 0)
			fprintf(out, "\"peer\": null, \"ratio\": null, ");
		else
			fprintf(out, "\"peer\": %g, \"ratio\": %.4f, ",
				known[i].peer, results[i].value / known[i].peer);
		write_published(out, "hami", known[i].hami);
		write_published(out, "fcsp", known[i].fcsp);
		write_published(out, "mig", known[i].mig);
		fprintf(out, "\"unit\": \"%s\", \"detail\": \"%s%s; %s\"}\n",
			known[i].unit, known[i].text,
			met(i) ? "" : " (goal NOT met)", results[i].detail);
	}
	if (fclose(out))
		die("%s: %s", path, strerror(errno));
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "pairs", required_argument, NULL, 'p' },
		{ "only", required_argument, NULL, 'o' },
		{ "measured", required_argument, NULL, 'm' },
		{ 0 },
	};
	unsigned int i;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (c == 's')
			score.seed = strtoull(optarg, NULL, 0);
		else if (c == 'p')
			score.pairs = (unsigned int)strtoul(optarg, NULL, 0);
		else if (c == 'o')
			score.only = optarg;
		else if (c == 'm')
			score.icount = !strcmp(optarg, "icount");
		else
			return 2;
	}
	if (argc - optind != 1 + TENANTS || score.pairs < 2 ||
	    score.pairs >= PAIRS_MAX)
		die("arguments: [--seed N] [--pairs N] [--only ROWS] [--measured HOW] OUT.json UUID UUID UUID UUID");
	find_gpu();
	for (i = 0; i < TENANTS; i++)
		if (!parse_uuid(argv[optind + 1 + (int)i], &score.tenant[i]))
			die("no UUID: %s", argv[optind + 1 + (int)i]);
	printf("# seed %llu, %u pairs, slice %llu us\n",
	       (unsigned long long)score.seed, score.pairs,
	       (unsigned long long)(score.slice_ns / US));
	rows_share();
	rows_change();
	rows_pairs();
	rows_error();
	for (i = 0; i < TENANTS; i++)
		close_tenant(i);
	policy("best_effort");
	print_board();
	write_rows(argv[optind]);
	return 0;
}
