// SPDX-License-Identifier: GPL-2.0
/* Rows about who looks at vGPUs: by one call, by NVML, from sysfs; vgpuctl; pollers. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libvgpu.h>
#include <nvml.h>

#include "bench.h"
#include "clk.h"
#include "node.h"

#define VGPUS		32u
#define LISTS		5u	/* per block */
#define POLLERS		10u
#define POLLS		10u	/* of a poller in a block of a second */
#define SAMPLES		8192u
#define MDEVS		"/sys/bus/mdev/devices"
#define DEBUGFS		"/sys/kernel/debug/vgpu"

extern char **environ;

static struct vgpu_dev *opened[VGPUS];
static int control;
static nvmlDevice_t gpu;

static void nvml_ok(nvmlReturn_t ret, const char *what)
{
	if (ret && ret != NVML_ERROR_NOT_SUPPORTED && ret != NVML_ERROR_NOT_FOUND)
		bench_die("%s: %s", what, nvmlErrorString(ret));
}

#define OK(call)	nvml_ok(call, #call)

static void list_by_call(void)
{
	static struct vgpu_ctl_instance entries[VGPUS];
	struct vgpu_ctl_stats stats;
	int ret = node_stats(control, 0, &stats, entries, VGPUS);

	if (ret || stats.count != VGPUS)
		bench_die("one call: %u vGPUs, %s", stats.count, strerror(-ret));
}

/* Name, framebuffer in use and new samples of each vGPU, as a monitor asks for them. */
static void list_by_nvml(void)
{
	static unsigned long long since_us;
	static nvmlVgpuInstanceUtilizationSample_t sample[SAMPLES];
	nvmlVgpuInstance_t id[VGPUS];
	unsigned int count = VGPUS, samples = SAMPLES, type, i;
	unsigned long long bytes;
	nvmlValueType_t kind;
	char uuid[80];

	OK(nvmlDeviceGetActiveVgpus(gpu, &count, id));
	if (count != VGPUS)
		bench_die("NVML: %u vGPUs", count);
	for (i = 0; i < count; i++) {
		OK(nvmlVgpuInstanceGetUUID(id[i], uuid, sizeof(uuid)));
		OK(nvmlVgpuInstanceGetType(id[i], &type));
		OK(nvmlVgpuInstanceGetFbUsage(id[i], &bytes));
	}
	if (!nvmlDeviceGetVgpuUtilization(gpu, since_us, &kind, &samples, sample) && samples)
		since_us = sample[samples - 1].timeStamp;
}

static void read_file(const char *dir, const char *name)
{
	char path[512], text[4096];
	ssize_t bytes;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		bench_die("%s: %s", path, strerror(errno));
	do {
		bytes = read(fd, text, sizeof(text));
	} while (bytes > 0);
	close(fd);
	if (bytes < 0)
		bench_die("%s: %s", path, strerror(errno));
}

static void list_vgpu_in_sysfs(const char *uuid)
{
	static const char *const attrs[] = {
		"mdev_type/name", "vgpu/vgpu_name", "vgpu/gpu", "vgpu/state", "vgpu/map_failures",
		"vgpu/frl_fps",
	};
	char dir[300];
	unsigned int i;

	snprintf(dir, sizeof(dir), MDEVS "/%s", uuid);
	for (i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
		read_file(dir, attrs[i]);
}

/* Calls @look for the UUID of each vGPU. */
static void with_each_vgpu(void (*look)(const char *uuid))
{
	DIR *dir = opendir(MDEVS);
	struct dirent *entry;
	unsigned int nr = 0;

	if (!dir)
		bench_die(MDEVS ": %s", strerror(errno));
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		look(entry->d_name);
		nr++;
	}
	closedir(dir);
	if (nr != VGPUS)
		bench_die("sysfs: %u vGPUs", nr);
}

static void list_by_sysfs(void)
{
	with_each_vgpu(list_vgpu_in_sysfs);
}

static double block_lists(void *arg)
{
	void (*const *list)(void) = arg;
	double start = bench_now_ns();
	unsigned int i;

	for (i = 0; i < LISTS; i++)
		(*list)();
	return (bench_now_ns() - start) / LISTS / 1000;
}

/* CPU time in ms of the pollers, each of which lists all vGPUs ten times a second. */
static double block_pollers(void *arg)
{
	void (*const *list)(void) = arg;
	double *spent = mmap(NULL, POLLERS * sizeof(*spent), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid[POLLERS];
	unsigned int i, k;
	struct timespec ts;
	double sum = 0;
	int status;

	if (spent == MAP_FAILED)
		bench_die("memory: %s", strerror(errno));
	for (i = 0; i < POLLERS; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			bench_die("fork: %s", strerror(errno));
		if (pid[i])
			continue;
		(*list)();	/* warm, and with pages of its own */
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
		spent[i] = -(ts.tv_sec * 1e3 + ts.tv_nsec / 1e6);
		for (k = 0; k < POLLS; k++) {
			(*list)();
			clk_sleep_ms(1000 / POLLS);
		}
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
		spent[i] += ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
		_exit(0);
	}
	for (i = 0; i < POLLERS; i++) {
		if (waitpid(pid[i], &status, 0) != pid[i] || status)
			bench_die("a poller has failed");
		sum += spent[i];
	}
	munmap(spent, POLLERS * sizeof(*spent));
	return sum;
}

/* Time in ms from the start of a program to its end. */
static double block_program(void *arg)
{
	char *const *argv = arg;
	posix_spawn_file_actions_t actions;
	double start = bench_now_ns();
	int status, ret;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	ret = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	if (ret)
		bench_die("%s: %s", argv[0], strerror(ret));
	if (waitpid(pid, &status, 0) != pid || status)
		bench_die("%s has failed", argv[0]);
	posix_spawn_file_actions_destroy(&actions);
	return (bench_now_ns() - start) / 1e6;
}

static void open_vgpu(const char *uuid)
{
	struct vgpu_dev **dev = opened;

	while (*dev)
		dev++;
	if (vgpu_dev_open_vfio(dev, uuid))
		bench_die("%s", vgpu_dev_error(NULL));
}

/* NVML lists only vGPUs that are open, and there are samples only while some are. */
static void vgpus_open(void)
{
	with_each_vgpu(open_vgpu);
	clk_sleep_ms(2000);
	control = open("/dev/vgpu", O_RDWR | O_CLOEXEC);
	if (control < 0)
		bench_die("/dev/vgpu: %s", strerror(errno));
}

static void nvml_open(void)
{
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &gpu));
}

static void vgpus_close(void)
{
	unsigned int i;

	close(control);
	for (i = 0; i < VGPUS; i++) {
		vgpu_dev_close(opened[i]);
		opened[i] = NULL;
	}
}

/**
 * struct list_row - a way to list all vGPUs, against sysfs
 * @name:   of the row
 * @unit:   of what @block returns
 * @block:  of the row
 * @list:   lists them once
 * @reach:  of the ratio; 0: it is only shown
 * @detail: what is done
 */
struct list_row {
	const char *name;
	const char *unit;
	double (*block)(void *arg);
	void (*list)(void);
	double reach;
	const char *detail;
};

static const struct list_row list_rows[] = {
	{ "ctl_list", "us", block_lists, list_by_call, 0.1,
	  "all of 32 vGPUs, with counters of each engine, by one call of /dev/vgpu, against a sweep of the 6 files that each has in sysfs, which tell less; 5 sweeps per block" },
	{ "nvml_list", "us", block_lists, list_by_nvml, 0.1,
	  "UUID, type, framebuffer in use and new samples of 32 vGPUs through NVML, against the same sweep of sysfs; 5 per block" },
	{ "ctl_pollers", "ms/s", block_pollers, list_by_call, 0,
	  "CPU time of 10 processes together that each do what ctl_list does 10 times in a second, against 10 that sweep sysfs" },
	{ "nvml_pollers", "ms/s", block_pollers, list_by_nvml, 0,
	  "CPU time of 10 processes together that each do what nvml_list does 10 times in a second, against 10 that sweep sysfs" },
};

static void compare_lists(const struct list_row *with)
{
	void (*ours)(void) = with->list, (*sysfs)(void) = list_by_sysfs;
	struct bench_row row = {
		.name = with->name, .unit = with->unit, .reach = with->reach,
		.ours = { with->block, &ours }, .peer = { with->block, &sysfs },
		.detail = with->detail,
	};

	vgpus_open();
	nvml_open();
	bench_compare(&row);
	OK(nvmlShutdown());
	vgpus_close();
}

static void row_stats_cat(const char *vgpuctl, const char *address)
{
	static const char *const names[] = { "partitions", "channels", "timelines", "instances" };
	char path[4][300];
	const char *ours[] = { vgpuctl, "stats", NULL };
	const char *peer[] = { "cat", path[0], path[1], path[2], path[3], NULL };
	struct bench_row row = {
		.name = "stats_cat", .unit = "ms",
		.ours = { block_program, ours }, .peer = { block_program, peer },
		.detail = "vgpuctl stats of 32 vGPUs from start to end, against cat of partitions, channels, timelines and instances of the GPU in debugfs; output to /dev/null",
	};
	unsigned int i;

	for (i = 0; i < 4; i++)
		snprintf(path[i], sizeof(path[i]), DEBUGFS "/%s/%s", address, names[i]);
	bench_compare(&row);
}

static void tour_types(void)
{
	unsigned int count = 64, i, size, w, h;
	nvmlVgpuTypeId_t id[64];
	unsigned long long a, b;
	char text[128];

	OK(nvmlDeviceGetSupportedVgpus(gpu, &count, id));
	for (i = 0; i < count; i++) {
		size = sizeof(text);
		OK(nvmlVgpuTypeGetName(id[i], text, &size));
		size = sizeof(text);
		OK(nvmlVgpuTypeGetClass(id[i], text, &size));
		OK(nvmlVgpuTypeGetLicense(id[i], text, sizeof(text)));
		OK(nvmlVgpuTypeGetFramebufferSize(id[i], &a));
		OK(nvmlVgpuTypeGetDeviceID(id[i], &a, &b));
		OK(nvmlVgpuTypeGetResolution(id[i], 0, &w, &h));
		OK(nvmlVgpuTypeGetMaxInstances(gpu, id[i], &w));
	}
	count = 64;
	OK(nvmlDeviceGetCreatableVgpus(gpu, &count, id));
}

static void tour_gpu(void)
{
	static nvmlVgpuProcessUtilizationSample_t sample[SAMPLES];
	static nvmlVgpuSchedulerLogInfo_v2_t log;
	unsigned int count = SAMPLES, pids[64];
	nvmlProcessInfo_t process[64];
	nvmlUtilization_t rates;
	nvmlMemory_t memory;
	nvmlPciInfo_t pci;
	char text[96];

	OK(nvmlSystemGetDriverVersion(text, sizeof(text)));
	OK(nvmlDeviceGetName(gpu, text, sizeof(text)));
	OK(nvmlDeviceGetUUID(gpu, text, sizeof(text)));
	OK(nvmlDeviceGetPciInfo_v3(gpu, &pci));
	OK(nvmlDeviceGetMemoryInfo(gpu, &memory));
	OK(nvmlDeviceGetUtilizationRates(gpu, &rates));
	OK(nvmlDeviceGetVgpuProcessUtilization(gpu, 0, &count, sample));
	count = 64;
	OK(nvmlDeviceGetGraphicsRunningProcesses_v3(gpu, &count, process));
	count = 64;
	OK(nvmlDeviceGetAccountingPids(gpu, &count, pids));
	OK(nvmlDeviceGetVgpuSchedulerLog_v2(gpu, &log));
}

static size_t heap_bytes(void)
{
	return mallinfo2().uordblks;
}

/* GLIBC_TUNABLES must keep the allocator from caching, or what was freed counts. */
static void row_nvml_heap(void)
{
	size_t before, held, left;
	nvmlEventSet_t set;

	mallopt(M_MXFAST, 0);
	vgpus_open();
	before = heap_bytes();
	nvml_open();
	tour_gpu();
	tour_types();
	list_by_nvml();
	OK(nvmlEventSetCreate(&set));
	OK(nvmlEventSetFree(set));
	held = heap_bytes() - before;
	OK(nvmlShutdown());
	left = heap_bytes() - before;
	vgpus_close();
	printf("{\"name\": \"nvml_heap\", \"value\": %zu, \"peer\": null, \"ratio\": null, ", held);
	printf("\"unit\": \"bytes\", \"reach\": null, \"detail\": \"once; what libnvidia-ml.so.1 has allocated (mallinfo2, without caches) after all groups of calls for a GPU, its types and 32 vGPUs; after nvmlShutdown %zu bytes\"}\n",
	       left);
}

bool row_of_lookers(const char *row, const char *vgpuctl, const char *address)
{
	unsigned int i;

	for (i = 0; i < sizeof(list_rows) / sizeof(list_rows[0]); i++) {
		if (!strcmp(row, list_rows[i].name)) {
			compare_lists(&list_rows[i]);
			return true;
		}
	}
	if (!strcmp(row, "stats_cat"))
		row_stats_cat(vgpuctl, address);
	else if (!strcmp(row, "nvml_heap"))
		row_nvml_heap();
	else
		return false;
	return true;
}
