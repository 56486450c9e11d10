// SPDX-License-Identifier: GPL-2.0
/* The command stats. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "ctl.h"
#include "share.h"
#include "uuid.h"

/**
 * struct sample - the vGPUs at one time
 * @inst:      the vGPUs; allocated
 * @gpu:       GPU of each vGPU; allocated
 * @window_ns: length of the scheduler's window in the partition of each vGPU; allocated
 * @nr:        number of vGPUs
 */
struct sample {
	struct vgpu_ctl_instance *inst;
	struct vgpu_ctl_gpu *gpu;
	uint64_t *window_ns;
	uint32_t nr;
};

static void sample_free(struct sample *sample)
{
	free(sample->inst);
	free(sample->gpu);
	free(sample->window_ns);
	memset(sample, 0, sizeof(*sample));
}

/* Adds @count vGPUs of a GPU. */
static int sample_add(int fd, const struct vgpu_ctl_gpu *gpu, const struct vgpu_ctl_instance *inst,
		      uint32_t count, struct sample *sample)
{
	uint32_t nr = sample->nr + count, i;
	struct vgpu_ctl_sched sched;
	int ret;

	ret = ctl_sched(fd, gpu->gpu, 0, &sched);
	if (ret || !count)
		return ret;
	sample->inst = reallocarray(sample->inst, nr, sizeof(*sample->inst));
	need_memory(sample->inst);
	sample->gpu = reallocarray(sample->gpu, nr, sizeof(*sample->gpu));
	need_memory(sample->gpu);
	sample->window_ns = reallocarray(sample->window_ns, nr, sizeof(*sample->window_ns));
	need_memory(sample->window_ns);
	memcpy(sample->inst + sample->nr, inst, count * sizeof(*inst));
	for (i = sample->nr; i < nr && !ret; i++) {
		sample->gpu[i] = *gpu;
		ret = ctl_window(fd, &sample->inst[i], &sched, &sample->window_ns[i]);
	}
	sample->nr = nr;
	return ret;
}

static int sample_gpu(int fd, const struct vgpu_ctl_gpu *gpu, void *arg)
{
	struct vgpu_ctl_instance *inst;
	struct vgpu_ctl_stats stats;
	int ret;

	ret = ctl_stats(fd, gpu->gpu, &stats, &inst);
	if (ret)
		return ret;
	ret = sample_add(fd, gpu, inst, stats.count, arg);
	free(inst);
	return ret;
}

/* Reads the vGPU @uuid, or all vGPUs if @uuid is NULL. */
static enum exit_code sample_take(int fd, const uint8_t *uuid, struct sample *sample)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_gpu gpu;
	int ret;

	memset(sample, 0, sizeof(*sample));
	if (!uuid)
		return ctl_visit_gpus(fd, NULL, sample, sample_gpu);
	ret = ctl_instance(fd, uuid, &inst);
	if (!ret)
		ret = ctl_gpu(fd, inst.gpu, &gpu);
	if (!ret)
		ret = sample_add(fd, &gpu, &inst, 1, sample);
	return ret ? ctl_fail_vgpu(uuid, ret) : EXIT_OK;
}

static const struct vgpu_ctl_instance *
sample_find(const struct sample *sample, const struct vgpu_ctl_instance *inst)
{
	uint32_t i;

	for (i = 0; i < sample->nr; i++)
		if (!memcmp(sample->inst[i].uuid, inst->uuid, VGPU_UUID_LEN) &&
		    sample->inst[i].created_ns == inst->created_ns)
			return &sample->inst[i];
	return NULL;
}

/**
 * struct share - what a vGPU got of an engine in an interval
 * @interval_ns: length of the interval, which began with the last sample or, without one, with the
 *               creation of the vGPU
 * @busy_ns:     service of the vGPU in the interval
 * @centi:       @busy_ns of @interval_ns in hundredths of a per cent
 */
struct share {
	uint64_t interval_ns;
	uint64_t busy_ns;
	uint64_t centi;
};

static struct share share_of(const struct vgpu_ctl_instance *inst,
			     const struct vgpu_ctl_instance *last,
			     uint32_t engine)
{
	uint64_t since = last ? last->now_ns : inst->created_ns;
	uint64_t before = last ? last->engine[engine].busy_ns : 0;
	struct share share;

	share.interval_ns = inst->now_ns - since;
	share.busy_ns = inst->engine[engine].busy_ns - before;
	share.centi = share_centi(share.busy_ns, share.interval_ns);
	return share;
}

static void stats_engine_json(struct json *json, const struct sample *sample,
			      uint32_t vgpu, uint32_t engine,
			      const struct share *share)
{
	const struct vgpu_ctl_instance *inst = &sample->inst[vgpu];
	const struct vgpu_ctl_instance_engine *e = &inst->engine[engine];
	const struct vgpu_ctl_engine *of = &sample->gpu[vgpu].engine[engine];

	json_begin(json, NULL);
	json_bytes(json, "name", of->name, sizeof(of->name));
	json_centi(json, "busy_percent", share->centi);
	json_centi(json, "window_percent",
		   share_centi(inst->engine[engine].window_ns,
			       sample->window_ns[vgpu]));
	json_u64(json, "interval_busy_ns", share->busy_ns);
	json_u64(json, "busy_ns", e->busy_ns);
	json_u64(json, "linger_ns", inst->engine[engine].linger_ns);
	json_u64(json, "wait_ns", e->wait_ns);
	json_u64(json, "max_wait_ns", e->max_wait_ns);
	json_u64(json, "runs", e->runs);
	json_u64(json, "switches", e->switches);
	json_u64(json, "preemptions", e->preemptions);
	json_u64(json, "overruns", e->overruns);
	json_u64(json, "stalls", e->stalls);
	json_u64(json, "faults", e->faults);
	json_u64(json, "resets", e->resets);
	json_u64(json, "packets", e->packets);
	json_u64(json, "bytes", e->bytes);
	json_end(json);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void stats_json(const struct sample *sample, const struct sample *last,
		       bool lines)
{
	char uuid[UUID_STR_LEN];
	struct json json;
	uint32_t i, k;

	json_init(&json, stdout, lines);
	json_begin(&json, NULL);
	json_u64(&json, "time_ns", now_ns());
	json_begin_array(&json, "vgpus");
	for (i = 0; i < sample->nr; i++) {
		const struct vgpu_ctl_instance *inst = &sample->inst[i];
		const struct vgpu_ctl_gpu *gpu = &sample->gpu[i];
		const struct vgpu_ctl_instance *before = sample_find(last, inst);

		json_begin(&json, NULL);
		json_text(&json, "uuid", uuid_format(inst->uuid, uuid));
		json_u64(&json, "gpu", inst->gpu);
		json_bytes(&json, "address", gpu->address, sizeof(gpu->address));
		json_bytes(&json, "type", inst->type_name,
			   sizeof(inst->type_name));
		json_u64(&json, "interval_ns",
			 share_of(inst, before, 0).interval_ns);
		json_u64(&json, "frames", inst->frames);
		json_begin_array(&json, "engines");
		for (k = 0; k < ctl_engines(inst->engines); k++) {
			struct share share = share_of(inst, before, k);

			stats_engine_json(&json, sample, i, k, &share);
		}
		json_end(&json);
		json_end(&json);
	}
	json_end(&json);
	json_end(&json);
}

static void stats_milliseconds(struct table *table, uint64_t ns)
{
	table_add(table, "%" PRIu64, ns / 1000000);
}

const char stats_columns[] =
	"UUID|TYPE|ENGINE|>BUSY %|>WINDOW %|>BUSY ms|>LINGER ms|>WAIT ms|>SWITCHES|>PREEMPTIONS|>OVERRUNS|>FAULTS|>PACKETS|>WRITTEN MiB";

static void stats_table(const struct sample *sample, const struct sample *last,
			const struct table_form *form)
{
	char uuid[UUID_STR_LEN];
	struct table table;
	uint32_t i, k;

	table_init(&table, stats_columns);
	for (i = 0; i < sample->nr; i++) {
		const struct vgpu_ctl_instance *inst = &sample->inst[i];
		const struct vgpu_ctl_instance *before = sample_find(last, inst);

		for (k = 0; k < ctl_engines(inst->engines); k++) {
			const struct vgpu_ctl_instance_engine *e = &inst->engine[k];
			struct share share = share_of(inst, before, k);

			table_add(&table, "%s", uuid_format(inst->uuid, uuid));
			table_add(&table, "%.*s", TEXT(inst->type_name));
			table_add(&table, "%.*s",
				  TEXT(sample->gpu[i].engine[k].name));
			share_cell(&table, share.centi);
			share_cell(&table, share_centi(inst->engine[k].window_ns,
						       sample->window_ns[i]));
			stats_milliseconds(&table, e->busy_ns);
			stats_milliseconds(&table, inst->engine[k].linger_ns);
			stats_milliseconds(&table, e->wait_ns);
			table_add(&table, "%llu", e->switches);
			table_add(&table, "%llu", e->preemptions);
			table_add(&table, "%llu", e->overruns);
			table_add(&table, "%llu", e->faults);
			table_add(&table, "%llu", e->packets);
			table_add(&table, "%llu", e->bytes >> 20);
		}
	}
	table_print(&table, stdout, form);
}

static void stats_pause(uint64_t ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(ns / 1000000000u),
		.tv_nsec = (long)(ns % 1000000000u),
	};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static void stats_print(const struct options *options,
			const struct sample *sample, const struct sample *last,
			bool first)
{
	if (options->json) {
		stats_json(sample, last, options->watch_ns);
		return;
	}
	if (options->watch_ns && isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout);
	else if (!first)
		putchar('\n');
	stats_table(sample, last, &options->form);
	fflush(stdout);
}

static enum exit_code stats_loop(int fd, const struct options *options, const uint8_t *uuid)
{
	struct sample last = { NULL, NULL, NULL, 0 }, sample;
	enum exit_code code = EXIT_OK;
	uint64_t n = 0;

	/* Without --watch there is no last sample: the interval begins with the vGPU's creation. */
	if (options->watch_ns)
		code = sample_take(fd, uuid, &last);
	while (!code) {
		if (options->watch_ns)
			stats_pause(options->watch_ns);
		code = sample_take(fd, uuid, &sample);
		if (!code)
			stats_print(options, &sample, &last, !n);
		sample_free(&last);
		last = sample;
		n++;
		if (!options->watch_ns || n == options->count || ferror(stdout))
			break;
	}
	sample_free(&last);
	return code;
}

enum exit_code cmd_stats(const struct options *given)
{
	struct options options = *given;
	uint8_t uuid[VGPU_UUID_LEN];
	enum exit_code code;
	int fd;

	if (options.uuid && uuid_parse(options.uuid, uuid))
		return fail_usage("%s: not a UUID", options.uuid);
	if (options.count && !options.watch_ns)
		options.watch_ns = 1000000000;
	fd = ctl_open();
	if (fd < 0)
		return EXIT_FAILED;
	code = stats_loop(fd, &options, options.uuid ? uuid : NULL);
	close(fd);
	return code;
}
