// SPDX-License-Identifier: GPL-2.0
/* The command sched log. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <libvgpu_names.h>

#include "command.h"
#include "json.h"
#include "log.h"
#include "table.h"

/* Between two readings of the logs: the faster they fill, the shorter is the pause. */
#define PAUSE_MIN_NS	10000000u
#define PAUSE_NS	100000000u
#define PAUSE_MAX_NS	400000000u

static const char * const end_names[] = {
	[VGPU_END_IDLE] = "idle",
	[VGPU_END_SLICE] = "slice",
	[VGPU_END_PREEMPTED] = "preempted",
	[VGPU_END_HELD] = "held",
	[VGPU_END_STALLED] = "stalled",
	[VGPU_END_RESET] = "reset",
	[VGPU_END_CHANGED] = "changed",
};

/**
 * struct logs - the logs that are read
 * @options:    options of the command
 * @fd:         file of /dev/vgpu
 * @stream:     the log of each engine
 * @nr:         number of elements of @stream
 * @no_engine:  a GPU does not have the engine that --engine names
 * @without:    the last GPU that does not have this engine
 * @gpu:        the GPU whose logs are being added
 * @entries:    the runs of all logs that were new at the last reading, in the order in which they
 *              ended; room for VGPU_SCHED_LOG runs of each log
 * @nr_entries: number of elements of @entries in use
 * @fullest:    new runs of the log that had most of them
 */
struct logs {
	const struct options *options;
	int fd;
	struct log_stream *stream;
	size_t nr;
	bool no_engine;
	struct vgpu_ctl_gpu without;
	struct vgpu_ctl_gpu gpu;
	struct log_entry *entries;
	size_t nr_entries;
	uint32_t fullest;
};

static void logs_add(struct logs *logs, const struct vgpu_ctl_gpu *gpu, uint32_t partition)
{
	struct log_stream *stream;
	uint32_t i;

	logs->stream = reallocarray(logs->stream, logs->nr + VGPU_MAX_ENGINES, sizeof(*stream));
	need_memory(logs->stream);
	for (i = 0; i < ctl_engines(gpu->engines); i++) {
		if (logs->options->engine &&
		    !ctl_engine_is(gpu, i, logs->options->engine))
			continue;
		stream = &logs->stream[logs->nr++];
		memset(stream, 0, sizeof(*stream));
		stream->gpu = gpu->gpu;
		stream->partition = partition;
		stream->engine = i;
		snprintf(stream->name, sizeof(stream->name), "%.*s",
			 TEXT(gpu->engine[i].name));
	}
}

static int logs_add_partition(const struct vgpu_ctl_partition *part, void *arg)
{
	struct logs *logs = arg;

	logs_add(logs, &logs->gpu, part->partition);
	return 0;
}

static int logs_add_gpu(int fd, const struct vgpu_ctl_gpu *gpu, void *arg)
{
	struct logs *logs = arg;

	logs->gpu = *gpu;
	if (logs->options->engine &&
	    !ctl_has_engine(gpu, logs->options->engine)) {
		logs->no_engine = true;
		logs->without = *gpu;
		return 0;
	}
	if (logs->options->partition) {
		logs_add(logs, gpu, logs->options->partition);
		return 0;
	}
	logs_add(logs, gpu, 0);
	return gpu->partitions ? ctl_visit_partitions(fd, gpu->gpu, logs, logs_add_partition) : 0;
}

static int entry_order(const void *a, const void *b)
{
	const struct log_entry *x = a, *y = b;
	uint64_t x_ns = log_end_ns(&x->run), y_ns = log_end_ns(&y->run);

	/* Within one log the order is known, whatever the times are. */
	if (x->stream == y->stream)
		return x->seq < y->seq ? -1 : 1;
	if (x_ns != y_ns)
		return x_ns < y_ns ? -1 : 1;
	return x->stream < y->stream ? -1 : 1;
}

/* Adds the new runs of one engine's log to the entries. */
static int stream_read(struct logs *logs, struct log_stream *stream)
{
	struct vgpu_ctl_switch runs[VGPU_SCHED_LOG];
	uint64_t limit = VGPU_SCHED_LOG, first, total;
	uint32_t count = VGPU_SCHED_LOG, i;
	char gpu[LOG_GPU_LEN];
	int ret;

	ret = ctl_sched_log(logs->fd, stream->gpu, stream->partition, stream->engine, runs, &count,
			    &total);
	/* A partition may go, unless it was asked for. */
	if (ret == -ENOENT && stream->partition && !logs->options->partition)
		return 0;
	if (ret)
		return ret;
	first = total - count;
	if (!stream->read) {
		if (logs->options->count)
			limit = logs->options->count;
		stream->seen = total > limit ? total - limit : 0;
		stream->seen = stream->seen < first ? first : stream->seen;
	} else if (first > stream->seen) {
		fail("GPU %s, %s: %" PRIu64 " runs were missed", log_gpu(stream, gpu),
		     stream->name, first - stream->seen);
		stream->seen = first;
	}
	stream->read = true;
	if (total - stream->seen > logs->fullest)
		logs->fullest = (uint32_t)(total - stream->seen);
	for (i = 0; i < count; i++) {
		struct log_entry *entry = &logs->entries[logs->nr_entries];

		if (first + i < stream->seen)
			continue;
		entry->stream = stream;
		entry->seq = first + i;
		entry->run = runs[i];
		logs->nr_entries++;
	}
	stream->seen = total;
	return 0;
}

static int logs_read(struct logs *logs)
{
	size_t i;
	int ret;

	logs->nr_entries = 0;
	logs->fullest = 0;
	for (i = 0; i < logs->nr; i++) {
		ret = stream_read(logs, &logs->stream[i]);
		if (ret)
			return ret;
	}
	qsort(logs->entries, logs->nr_entries, sizeof(*logs->entries),
	      entry_order);
	return 0;
}

static void entry_json(struct json *json, const struct log_entry *entry)
{
	const struct vgpu_ctl_switch *run = &entry->run;
	char uuid[UUID_STR_LEN];

	json_begin(json, NULL);
	json_u64(json, "seq", entry->seq);
	json_u64(json, "gpu", entry->stream->gpu);
	json_u64(json, "partition", entry->stream->partition);
	json_text(json, "engine", entry->stream->name);
	json_text(json, "uuid", uuid_format(run->uuid, uuid));
	json_u64(json, "time_ns", run->time_ns);
	json_u64(json, "wait_ns", run->wait_ns);
	json_u64(json, "slice_ns", run->slice_ns);
	json_u64(json, "ran_ns", run->ran_ns);
	json_u64(json, "idle_ns", run->idle_ns);
	json_u64(json, "linger_ns", run->linger_ns);
	json_u64(json, "preempt_ns", run->preempt_ns);
	json_text(json, "end", VGPU_NAME_OF(end_names, run->end));
	json_u64(json, "end_number", run->end);
	json_end(json);
}

/* The widths are fixed, as rows that are not known yet may follow. */
static void print_heading(void)
{
	bool bold = table_colour(stdout);

	printf("%s%3s  %-6s  %14s  %-36s  %9s  %9s  %9s  %9s  %9s  %10s  %s%s\n",
	       bold ? "\033[1m" : "", "GPU", "ENGINE", "BEGAN s", "UUID",
	       "WAIT ms", "SLICE ms", "RAN ms", "IDLE ms", "LINGER ms",
	       "PREEMPT ms", "END", bold ? "\033[0m" : "");
}

static void print_ms(int width, uint64_t ns)
{
	printf("  %*" PRIu64 ".%03" PRIu64, width - 4, ns / 1000000,
	       ns / 1000 % 1000);
}

static void print_entry(const struct log_entry *entry)
{
	const struct vgpu_ctl_switch *run = &entry->run;
	const char *colour = NULL;
	char uuid[UUID_STR_LEN], gpu[LOG_GPU_LEN];

	if (run->end == VGPU_END_RESET)
		colour = "\033[31m";
	else if (run->end == VGPU_END_STALLED || run->end == VGPU_END_HELD)
		colour = "\033[33m";
	if (!table_colour(stdout))
		colour = NULL;
	printf("%3s  %-6s  %7" PRIu64 ".%06" PRIu64 "  %s", log_gpu(entry->stream, gpu),
	       entry->stream->name, (uint64_t)run->time_ns / 1000000000u,
	       (uint64_t)run->time_ns % 1000000000u / 1000u,
	       uuid_format(run->uuid, uuid));
	print_ms(9, run->wait_ns);
	print_ms(9, run->slice_ns);
	print_ms(9, run->ran_ns);
	print_ms(9, run->idle_ns);
	print_ms(9, run->linger_ns);
	if (run->preempt_ns)
		print_ms(10, run->preempt_ns);
	else
		printf("  %10s", "-");
	printf("  %s%s%s\n", colour ? colour : "", VGPU_NAME_OF(end_names, run->end),
	       colour ? "\033[0m" : "");
}

static int logs_chart(const struct logs *logs)
{
	int ret = 0;
	size_t i;

	for (i = 0; i < logs->nr && !ret; i++) {
		if (i)
			putchar('\n');
		ret = chart_print(&logs->stream[i], logs->entries,
				  logs->nr_entries);
	}
	return ret;
}

static void logs_print(const struct logs *logs, bool lines)
{
	struct json json;
	size_t i;

	if (logs->options->json) {
		json_init(&json, stdout, lines);
		if (!lines)
			json_begin_array(&json, NULL);
	}
	for (i = 0; i < logs->nr_entries; i++) {
		if (logs->options->json)
			entry_json(&json, &logs->entries[i]);
		else
			print_entry(&logs->entries[i]);
	}
	if (logs->options->json && !lines)
		json_end(&json);
}

static void logs_pause(uint64_t ns)
{
	struct timespec ts = { .tv_nsec = (long)ns };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static int logs_follow(struct logs *logs)
{
	uint64_t pause_ns = PAUSE_NS;
	int ret = 0;

	while (!ret && !fflush(stdout)) {
		logs_pause(pause_ns);
		ret = logs_read(logs);
		if (ret)
			break;
		logs_print(logs, true);
		if (logs->fullest > VGPU_SCHED_LOG / 4 &&
		    pause_ns > PAUSE_MIN_NS)
			pause_ns /= 2;
		else if (logs->fullest < VGPU_SCHED_LOG / 16 &&
			 pause_ns < PAUSE_MAX_NS)
			pause_ns *= 2;
	}
	return ret;
}

static enum exit_code logs_show(struct logs *logs)
{
	const struct options *options = logs->options;
	int ret;

	logs->entries = calloc(logs->nr * VGPU_SCHED_LOG + 1,
			       sizeof(*logs->entries));
	ret = logs->entries ? logs_read(logs) : -ENOMEM;
	if (!ret && options->chart) {
		ret = logs_chart(logs);
	} else if (!ret) {
		if (!options->json)
			print_heading();
		logs_print(logs, options->follow);
		if (options->follow)
			ret = logs_follow(logs);
	}
	if (ret == -ENOENT && options->partition)
		return fail("partition %u: there is none (vgpuctl partition list shows them)",
			    options->partition);
	if (ctl_is_gone(ret))
		return fail("the GPU is gone");
	return ret ? fail("scheduler log: %s", ctl_error(ret)) : EXIT_OK;
}

enum exit_code cmd_sched_log(const struct options *options)
{
	struct logs logs = { .options = options };
	enum exit_code code;

	if (options->chart && (options->follow || options->json))
		return fail_usage("--chart draws what there is, for people: it goes with neither --follow nor --json");
	if (options->count > VGPU_SCHED_LOG)
		return fail_usage("--count %" PRIu64 ": a log has no more than %u runs",
				  options->count, VGPU_SCHED_LOG);
	logs.fd = ctl_open();
	if (logs.fd < 0)
		return EXIT_FAILED;
	code = ctl_visit_gpus(logs.fd, options->gpu, &logs, logs_add_gpu);
	if (!code && !logs.nr && logs.no_engine)
		code = ctl_fail_engine(&logs.without, options->engine);
	else if (!code)
		code = logs_show(&logs);
	close(logs.fd);
	free(logs.stream);
	free(logs.entries);
	return code;
}
