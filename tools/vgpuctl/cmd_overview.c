// SPDX-License-Identifier: GPL-2.0
/* The command overview: all GPUs and vGPUs at a glance. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "listing.h"
#include "share.h"
#include "uuid.h"

#define BUSY_ROOM	(VGPU_MAX_ENGINES * 32)

/**
 * struct seen - a GPU and its vGPUs, as they were at one time
 * @gpu:       the GPU
 * @window_ns: length of the scheduler's window, of each vGPU's partition; allocated
 * @slices:    of the GPU's that each vGPU's partition has; allocated
 * @inst:      the vGPUs; allocated
 * @nr:        number of vGPUs
 */
struct seen {
	struct vgpu_ctl_gpu gpu;
	uint64_t *window_ns;
	uint32_t *slices;
	struct vgpu_ctl_instance *inst;
	uint32_t nr;
};

/**
 * struct overview - all that is shown
 * @seen: the GPUs; allocated
 * @nr:   number of GPUs
 */
struct overview {
	struct seen *seen;
	uint32_t nr;
};

static int see_gpu(int fd, const struct vgpu_ctl_gpu *gpu, void *arg)
{
	struct overview *overview = arg;
	struct vgpu_ctl_sched sched;
	struct vgpu_ctl_stats stats;
	struct seen *seen;
	bool shared_time;
	uint32_t i;
	int ret;

	overview->seen = reallocarray(overview->seen, overview->nr + 1, sizeof(*seen));
	need_memory(overview->seen);
	seen = &overview->seen[overview->nr];
	ret = ctl_sched(fd, gpu->gpu, 0, &sched);
	if (!ret)
		ret = ctl_stats(fd, gpu->gpu, &stats, &seen->inst);
	if (ret)
		return ret;
	seen->gpu = *gpu;
	seen->nr = stats.count;
	seen->window_ns = need_zeroed(seen->nr + 1, sizeof(*seen->window_ns));
	seen->slices = need_zeroed(seen->nr + 1, sizeof(*seen->slices));
	overview->nr++;
	for (i = 0; i < seen->nr && !ret; i++) {
		ret = ctl_window(fd, &seen->inst[i], &sched, &seen->window_ns[i]);
		if (!ret)
			ret = ctl_slices(fd, &seen->inst[i], &seen->slices[i], &shared_time);
	}
	return ret;
}

#define ALL_VGPUS	UINT32_MAX

/*
 * What a vGPU got in the last window of its partition's engine, in hundredths of a per cent; or all
 * of a GPU, of whose engines each partition has its slices. In a partition that has slots the
 * window is by the partition's clock.
 */
static uint64_t used_centi(const struct seen *seen, uint32_t vgpu, uint32_t engine)
{
	double sum = 0, used;
	uint32_t i;

	for (i = 0; i < seen->nr; i++) {
		if (!seen->window_ns[i] || (vgpu != ALL_VGPUS && vgpu != i))
			continue;
		used = (double)seen->inst[i].engine[engine].window_ns / (double)seen->window_ns[i];
		sum += vgpu == i ? used : used * seen->slices[i] / VGPU_PARTITION_SLICES;
	}
	return (uint64_t)(sum * 10000 + 0.5);
}

/* The engines that vGPUs have used, and how much: a GPU may have engines that another has not. */
static void busy_cell(struct table *table, const struct seen *seen, uint32_t vgpu)
{
	uint32_t i, engines = ctl_engines(seen->gpu.engines);
	char text[BUSY_ROOM];
	size_t length = 0;
	uint64_t permille;

	for (i = 0; i < engines; i++) {
		permille = (used_centi(seen, vgpu, i) + 5) / 10;
		if (permille && length < sizeof(text))
			length += (size_t)snprintf(text + length, sizeof(text) - length,
						   "%s%.*s %llu.%llu %%", length ? ", " : "",
						   TEXT(seen->gpu.engine[i].name),
						   (unsigned long long)permille / 10,
						   (unsigned long long)permille % 10);
	}
	table_add(table, "%s", length ? text : "idle");
}

static void gpus_table(const struct overview *overview)
{
	char total[32], used[32];
	struct table table;
	uint32_t i;

	table_init(&table, ">GPU|ADDRESS|BOARD|POLICY|>SLICE|>VGPUS|>USED|>OF|>BACKED|BUSY");
	for (i = 0; i < overview->nr; i++) {
		const struct seen *seen = &overview->seen[i];
		const struct vgpu_ctl_gpu *gpu = &seen->gpu;

		table_add(&table, "%u", gpu->gpu);
		table_add(&table, "%.*s", TEXT(gpu->address));
		table_add(&table, "%.*s", TEXT(gpu->board));
		listing_policy_cells(&table, gpu);
		table_add(&table, "%u", seen->nr);
		table_add(&table, "%s", table_size(used, sizeof(used), gpu->fb_used_bytes));
		table_add(&table, "%s", table_size(total, sizeof(total), gpu->fb_bytes));
		table_add_bytes(&table, gpu->fb_backed_bytes);
		busy_cell(&table, seen, ALL_VGPUS);
	}
	table_print(&table, stdout, NULL);
}

static void vgpus_table(const struct overview *overview)
{
	char headings[128];
	struct table table;
	uint32_t i, k;

	snprintf(headings, sizeof(headings), "%s", list_columns);
	table_heading(headings, sizeof(headings), "BUSY");
	table_init(&table, headings);
	for (i = 0; i < overview->nr; i++) {
		const struct seen *seen = &overview->seen[i];

		for (k = 0; k < seen->nr; k++) {
			listing_vgpu_row(&table, &seen->gpu, &seen->inst[k]);
			busy_cell(&table, seen, k);
		}
	}
	table_print(&table, stdout, NULL);
}

static void overview_text(const struct overview *overview)
{
	uint32_t i, vgpus = 0;

	if (!overview->nr) {
		puts("No GPU is shared. The software GPU's driver: modprobe vgpu_soft");
		return;
	}
	for (i = 0; i < overview->nr; i++)
		vgpus += overview->seen[i].nr;
	gpus_table(overview);
	putchar('\n');
	if (vgpus)
		vgpus_table(overview);
	else
		puts("No vGPUs. What fits: vgpuctl creatable. To create one: vgpuctl create --type TYPE");
}

static void engines_json(struct json *json, const struct seen *seen, uint32_t vgpu)
{
	const struct vgpu_ctl_instance *inst = &seen->inst[vgpu];
	char uuid[UUID_STR_LEN];
	uint32_t i;

	for (i = 0; i < ctl_engines(seen->gpu.engines); i++) {
		json_begin(json, NULL);
		json_text(json, "uuid", uuid_format(inst->uuid, uuid));
		json_u64(json, "gpu", seen->gpu.gpu);
		json_bytes(json, "engine", seen->gpu.engine[i].name,
			   sizeof(seen->gpu.engine[i].name));
		json_centi(json, "window_percent", used_centi(seen, vgpu, i));
		json_end(json);
	}
}

static void overview_json(const struct overview *overview)
{
	struct json json;
	uint32_t i, k;

	json_init(&json, stdout, false);
	json_begin(&json, NULL);
	json_begin_array(&json, "gpus");
	for (i = 0; i < overview->nr; i++)
		listing_gpu_json(&json, &overview->seen[i].gpu);
	json_end(&json);
	json_begin_array(&json, "vgpus");
	for (i = 0; i < overview->nr; i++)
		for (k = 0; k < overview->seen[i].nr; k++)
			listing_vgpu_json(&json, &overview->seen[i].gpu,
					  &overview->seen[i].inst[k]);
	json_end(&json);
	json_begin_array(&json, "engines");
	for (i = 0; i < overview->nr; i++)
		for (k = 0; k < overview->seen[i].nr; k++)
			engines_json(&json, &overview->seen[i], k);
	json_end(&json);
	json_end(&json);
}

enum exit_code cmd_overview(const struct options *options)
{
	struct overview overview = { NULL, 0 };
	enum exit_code code;
	uint32_t i;
	int fd;

	fd = ctl_open();
	if (fd == -EPROTO)
		return EXIT_FAILED;
	if (fd < 0)
		return fail("nothing to show without it; vgpuctl --help lists the commands");
	code = ctl_visit_gpus(fd, options->gpu, &overview, see_gpu);
	close(fd);
	if (!code && options->json)
		overview_json(&overview);
	else if (!code)
		overview_text(&overview);
	for (i = 0; i < overview.nr; i++) {
		free(overview.seen[i].inst);
		free(overview.seen[i].window_ns);
		free(overview.seen[i].slices);
	}
	free(overview.seen);
	return code;
}
