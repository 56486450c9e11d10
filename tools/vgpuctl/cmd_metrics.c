// SPDX-License-Identifier: GPL-2.0
/* The command metrics. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "ctl.h"
#include "replace.h"
#include "metrics.h"

static void gpu_free(struct metrics_gpu *gpu)
{
	uint32_t i;

	for (i = 0; gpu->guest && i < gpu->stats.count; i++)
		guest_free(&gpu->guest[i]);
	free(gpu->guest);
	free(gpu->inst);
	free(gpu->type);
	free(gpu->part);
}

static int gpu_read_guests(int fd, struct metrics_gpu *gpu)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < gpu->stats.count; i++)
		if (gpu->inst[i].state == VGPU_STATE_STARTED)
			ret = guest_read(fd, gpu->inst[i].uuid, &gpu->guest[i]);
	return ret;
}

static int gpu_add_part(const struct vgpu_ctl_partition *part, void *arg)
{
	struct metrics_gpu *gpu = arg;

	gpu->part = reallocarray(gpu->part, gpu->nr_parts + 1, sizeof(*gpu->part));
	need_memory(gpu->part);
	gpu->part[gpu->nr_parts++] = *part;
	return 0;
}

static int gpu_read(int fd, const struct vgpu_ctl_gpu *of, bool guests, struct metrics_gpu *gpu)
{
	uint32_t i;
	int ret;

	memset(gpu, 0, sizeof(*gpu));
	gpu->gpu = *of;
	ret = ctl_stats(fd, of->gpu, &gpu->stats, &gpu->inst);
	if (ret)
		return ret;
	gpu->type = need_zeroed(of->types ? of->types : 1, sizeof(*gpu->type));
	for (i = 0; !ret && i < of->types; i++)
		ret = ctl_type(fd, of->gpu, i, &gpu->type[i]);
	if (!ret && of->partitions)
		ret = ctl_visit_partitions(fd, of->gpu, gpu, gpu_add_part);
	gpu->guest = need_zeroed(gpu->stats.count, sizeof(*gpu->guest));
	if (!ret && guests)
		ret = gpu_read_guests(fd, gpu);
	if (ret)
		gpu_free(gpu);
	return ret;
}

static int metrics_gpu(int fd, const struct vgpu_ctl_gpu *gpu, void *arg)
{
	struct metrics *metrics = arg;
	int ret;

	metrics->gpu = reallocarray(metrics->gpu, metrics->nr_gpus + 1, sizeof(*metrics->gpu));
	need_memory(metrics->gpu);
	ret = gpu_read(fd, gpu, !metrics->no_guests, &metrics->gpu[metrics->nr_gpus]);
	metrics->nr_gpus += !ret;
	return ret;
}

static enum exit_code metrics_read(struct metrics *metrics)
{
	enum exit_code code;
	int fd, ret;

	fd = ctl_open();
	if (fd < 0)
		return EXIT_FAILED;
	ret = ctl_version(fd, &metrics->version);
	code = ret ? fail("version: %s", strerror(-ret)) :
		ctl_visit_gpus(fd, NULL, metrics, metrics_gpu);
	close(fd);
	metrics->up = !code;
	return code;
}

enum exit_code cmd_metrics(const struct options *options)
{
	struct metrics metrics = {
		.no_guests = options->no_guests, .open = options->openmetrics,
	};
	enum exit_code code, written = EXIT_OK;
	size_t i;

	/* A driver that is not there is a figure, too: what was read before is out of date. */
	code = metrics_read(&metrics);
	if (options->file)
		written = replace_file(options->file, 0644, metrics_write, &metrics);
	else
		metrics_write(stdout, &metrics);
	for (i = 0; i < metrics.nr_gpus; i++)
		gpu_free(&metrics.gpu[i]);
	free(metrics.gpu);
	return code ? code : written;
}
