// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that use a guest's GPU, by /proc: their open nodes, and what fdinfo tells of these. A
 * caller without rights sees its own user's processes, as /proc lets it; root sees all.
 *
 * An open file that several descriptors stand for, of one process or of several, counts once, for
 * the process of the lowest pid. One that has no framebuffer and has not worked is no use of the
 * GPU: so those who only look, as this library does, are not told.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../libvgpu/node_find.h"
#include "render.h"

#define DRM_MAJOR	226

/* An open file of the GPU. */
struct process_client {
	uint64_t id;
	unsigned int pid;
	uint64_t fb_bytes;
	uint64_t busy_ns[NV_ENGINES];
};

/* Open files in the order of their ids; while it is read, as they were found. */
struct process_look {
	struct nv_look head;
	unsigned int nr;
	struct process_client client[];
};

static const struct process_look *process_look_of(const struct nv_look *look)
{
	return (const struct process_look *)look;
}

static int process_order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int process_compare_ids(const void *left, const void *right)
{
	const struct process_client *a = left, *b = right;

	return process_order(a->id, b->id);
}

static int process_compare_files(const void *left, const void *right)
{
	const struct process_client *a = left, *b = right;
	int order = process_order(a->id, b->id);

	return order ? order : process_order(a->pid, b->pid);
}

static int process_compare_pids(const void *left, const void *right)
{
	const struct process_client *a = *(const struct process_client * const *)left;
	const struct process_client *b = *(const struct process_client * const *)right;
	int order = process_order(a->pid, b->pid);

	return order ? order : process_order(a->id, b->id);
}

static nvmlReturn_t process_add(struct process_look **look, unsigned int pid,
				const struct nv_fdinfo *info)
{
	/* Doubles at each power of two. */
	unsigned int nr = (*look)->nr, e;
	struct process_client *client;
	struct process_look *grown;

	if (!(nr & (nr - 1))) {
		grown = realloc(*look, sizeof(**look) + (2 * nr + 1) * sizeof(*client));
		if (!grown)
			return NVML_ERROR_MEMORY;
		*look = grown;
	}
	client = &(*look)->client[(*look)->nr++];
	client->id = info->client;
	client->pid = pid;
	client->fb_bytes = info->fb_bytes;
	for (e = 0; e < NV_ENGINES; e++)
		client->busy_ns[e] = info->busy_ns[e];
	return NVML_SUCCESS;
}

/* Is it a file of the GPU, and of use? */
static bool process_is_of(const struct nvmlDevice_st *device, const struct nv_fdinfo *info)
{
	bool used = info->fb_bytes;
	unsigned int e;

	if (strcmp(info->driver, VGPU_NODE_DRIVER) ||
	    strcmp(info->pdev, (const char *)device->info.address))
		return false;
	for (e = 0; e < NV_ENGINES; e++)
		used |= info->busy_ns[e] != 0;
	return used;
}

/* Adds the files of a process. @files: its directory fd, @proc: /proc */
static nvmlReturn_t process_files(const struct nvmlDevice_st *device, int proc, DIR *files,
				  unsigned int pid, struct process_look **look)
{
	nvmlReturn_t ret = NVML_SUCCESS;
	const struct dirent *entry;
	struct nv_fdinfo info;
	struct stat st;
	char name[64];

	while (!ret && (entry = readdir(files))) {
		if (fstatat(dirfd(files), entry->d_name, &st, 0) || !S_ISCHR(st.st_mode) ||
		    major(st.st_rdev) != DRM_MAJOR)
			continue;
		snprintf(name, sizeof(name), "%u/fdinfo/%.16s", pid, entry->d_name);
		if (nv_fdinfo_read(proc, name, &info) && process_is_of(device, &info))
			ret = process_add(look, pid, &info);
	}
	return ret;
}

static nvmlReturn_t process_read_one(const struct nvmlDevice_st *device, int proc,
				     const char *name, struct process_look **look)
{
	char path[32], *end;
	unsigned long pid = strtoul(name, &end, 10);
	nvmlReturn_t ret;
	DIR *files;
	int fd;

	if (!pid || *end)
		return NVML_SUCCESS;
	snprintf(path, sizeof(path), "%u/fd", (unsigned int)pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return NVML_SUCCESS;
	files = fdopendir(fd);
	if (!files) {
		close(fd);
		return NVML_ERROR_MEMORY;
	}
	ret = process_files(device, proc, files, (unsigned int)pid, look);
	closedir(files);
	return ret;
}

static void process_unique(struct process_look *look)
{
	unsigned int i, nr = 0;

	qsort(look->client, look->nr, sizeof(look->client[0]), process_compare_files);
	for (i = 0; i < look->nr; i++)
		if (!nr || look->client[nr - 1].id != look->client[i].id)
			look->client[nr++] = look->client[i];
	look->nr = nr;
}

/* The caller frees the look. Without /proc nothing can be told. */
static nvmlReturn_t process_read(const struct nvmlDevice_st *device, struct process_look **look)
{
	nvmlReturn_t ret = NVML_SUCCESS;
	const struct dirent *entry;
	DIR *proc;

	proc = device->info.address[0] ? opendir("/proc") : NULL;
	if (!proc)
		return NVML_ERROR_NOT_SUPPORTED;
	*look = calloc(1, sizeof(**look));
	if (!*look)
		ret = NVML_ERROR_MEMORY;
	else
		(*look)->head.time_ns = nv_clock_ns(CLOCK_MONOTONIC);
	while (!ret && (entry = readdir(proc)))
		ret = process_read_one(device, dirfd(proc), entry->d_name, look);
	closedir(proc);
	if (ret)
		free(*look);
	else
		process_unique(*look);
	return ret;
}

/* Of a type of the series C ("SG16-4C") all that is done is computing. */
static bool process_computes(const struct nvmlDevice_st *device)
{
	const char *type = (const char *)device->info.board;

	return *type && type[strlen(type) - 1] == 'C';
}

/* The first @nr of the clients, of one process, as that. */
static void process_put(const struct nvmlDevice_st *device, const struct process_client **clients,
			unsigned int nr, struct nv_process *process)
{
	unsigned int i;

	process->pid = clients[0]->pid;
	process->computes = process_computes(device);
	process->fb_bytes = 0;
	for (i = 0; i < nr; i++)
		process->fb_bytes += clients[i]->fb_bytes;
}

/* The clients of a look by their pids; the caller frees the array. */
static const struct process_client **process_clients(const struct process_look *look)
{
	const struct process_client **clients = calloc(look->nr + 1, sizeof(*clients));
	unsigned int i;

	if (!clients)
		return NULL;
	for (i = 0; i < look->nr; i++)
		clients[i] = &look->client[i];
	qsort(clients, look->nr, sizeof(*clients), process_compare_pids);
	return clients;
}

/* How many of the first clients, of which there are @nr, are of one process. */
static unsigned int process_run(const struct process_client **clients, unsigned int nr)
{
	unsigned int end = 1;

	while (end < nr && clients[end]->pid == clients[0]->pid)
		end++;
	return end;
}

nvmlReturn_t nv_render_processes(struct nvmlDevice_st *device, struct nv_processes *processes)
{
	const struct process_client **clients;
	struct process_look *look;
	nvmlReturn_t ret = process_read(device, &look);
	unsigned int i, run;

	if (ret)
		return ret;
	clients = process_clients(look);
	processes->nr = 0;
	processes->process = calloc(look->nr + 1, sizeof(*processes->process));
	if (!clients || !processes->process) {
		free(processes->process);
		ret = NVML_ERROR_MEMORY;
	}
	for (i = 0; !ret && i < look->nr; i += run) {
		run = process_run(&clients[i], look->nr - i);
		process_put(device, &clients[i], run, &processes->process[processes->nr++]);
	}
	free(clients);
	free(look);
	return ret;
}

/* Makes sure that the last look is new, and that there is one before it. */
static nvmlReturn_t process_looks(struct nvmlDevice_st *device)
{
	struct nv_looks *looks = &device->processes;
	struct process_look *look;
	nvmlReturn_t ret;

	if (nv_looks_fresh(looks, nv_clock_ns(CLOCK_MONOTONIC)) && looks->look[1])
		return NVML_SUCCESS;
	do {
		if (nv_looks_fresh(looks, nv_clock_ns(CLOCK_MONOTONIC)))
			nv_render_sleep(nv_looks_next_ns(looks));
		ret = process_read(device, &look);
		if (ret)
			return ret;
		nv_looks_push(looks, &look->head);
	} while (!looks->look[1]);
	return NVML_SUCCESS;
}

/* What a client got since the look @base: all of it, if it was not there. */
static uint64_t process_busy_ns(const struct process_client *client,
				const struct process_look *base, enum nv_engine engine)
{
	const struct process_client *before = bsearch(client, base->client, base->nr,
						      sizeof(*client), process_compare_ids);
	uint64_t busy_ns = client->busy_ns[engine];

	if (before && before->busy_ns[engine] <= busy_ns)
		busy_ns -= before->busy_ns[engine];
	return busy_ns;
}

/* The sample of a process, whose clients are the first @nr. */
static void process_sample(const struct nvmlDevice_st *device, const struct process_look *base,
			   const struct process_client **clients, unsigned int nr,
			   struct nv_sample *sample)
{
	const struct nv_look *look = device->processes.look[0];
	struct vgpu_ctl_engine_busy sum[VGPU_MAX_ENGINES] = { { 0 } };
	unsigned int i, e, engine;

	/* fdinfo tells of engines of a class together. */
	for (e = 0; e < NV_ENGINES; e++)
		for (engine = 0; engine < device->info.engines; engine++)
			if (device->info.engine[engine].engine_class == nv_engine_class[e]) {
				for (i = 0; i < nr; i++)
					sum[engine].busy_ns += process_busy_ns(clients[i], base, e);
				break;
			}
	memset(sample, 0, sizeof(*sample));
	sample->pid = clients[0]->pid;
	sample->time_us = nv_time_us(look->time_ns);
	nv_percent(&device->info, sum, look->time_ns - base->head.time_ns, sample->percent);
}

nvmlReturn_t nv_render_process_samples(struct nvmlDevice_st *device, uint64_t since_us,
				       struct nv_samples *samples)
{
	nvmlReturn_t ret = process_looks(device);
	const struct process_client **clients;
	const struct process_look *look, *base;
	unsigned int i, run;

	if (ret)
		return ret;
	look = process_look_of(device->processes.look[0]);
	base = process_look_of(nv_looks_base(&device->processes, since_us));
	memset(samples, 0, sizeof(*samples));
	samples->now_ns = look->head.time_ns;
	samples->spare = 2;
	if (nv_time_us(look->head.time_ns) <= since_us)
		return NVML_SUCCESS;
	clients = process_clients(look);
	samples->sample = calloc(look->nr + 1, sizeof(*samples->sample));
	if (!clients || !samples->sample) {
		nv_samples_free(samples);
		ret = NVML_ERROR_MEMORY;
	}
	for (i = 0; !ret && i < look->nr; i += run) {
		run = process_run(&clients[i], look->nr - i);
		process_sample(device, base, &clients[i], run, &samples->sample[samples->nr++]);
	}
	free(clients);
	return ret;
}
