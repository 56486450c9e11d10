// SPDX-License-Identifier: GPL-2.0
/* vgpuctl top: what was between two samples, its order, and what keys do. top_draw.c draws it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "share.h"
#include "top.h"

#define PAGE	10	/* rows */

void top_free(struct top_sample *sample)
{
	size_t i;

	for (i = 0; i < sample->nr; i++) {
		free(sample->gpu[i].inst);
		free(sample->gpu[i].slices);
	}
	free(sample->gpu);
	memset(sample, 0, sizeof(*sample));
}

/* The same GPU, not one that came in its place under its number. */
static const struct top_gpu *gpu_before(const struct top_sample *last,
					const struct vgpu_ctl_gpu *gpu)
{
	size_t i;

	for (i = 0; last && i < last->nr; i++)
		if (last->gpu[i].gpu.gpu == gpu->gpu &&
		    last->gpu[i].gpu.registered_ns == gpu->registered_ns)
			return &last->gpu[i];
	return NULL;
}

static const struct vgpu_ctl_instance *inst_before(const struct top_gpu *last,
						   const struct vgpu_ctl_instance *inst)
{
	uint32_t i;

	for (i = 0; last && i < last->nr; i++)
		if (!memcmp(last->inst[i].uuid, inst->uuid, VGPU_UUID_LEN) &&
		    last->inst[i].created_ns == inst->created_ns)
			return &last->inst[i];
	return NULL;
}

static void row_fill(struct top_row *row, const struct vgpu_ctl_gpu *gpu,
		     const struct vgpu_ctl_instance *inst, const struct vgpu_ctl_instance *last)
{
	uint64_t ns = inst->now_ns - (last ? last->now_ns : inst->created_ns);
	uint32_t i;

	row->gpu = gpu;
	row->inst = inst;
	row->frames = ns ? (uint64_t)((double)(inst->frames - (last ? last->frames : 0)) *
				      1e11 / (double)ns + 0.5) : 0;
	for (i = 0; i < ctl_engines(inst->engines); i++) {
		row->busy[i] = share_centi(inst->engine[i].busy_ns -
					   (last ? last->engine[i].busy_ns : 0), ns);
		row->wait[i] = share_centi(inst->engine[i].wait_ns -
					   (last ? last->engine[i].wait_ns : 0), ns);
	}
}

static void gpu_fill(uint64_t *busy, const struct vgpu_ctl_gpu *gpu, const struct top_gpu *last)
{
	uint64_t ns = gpu->now_ns - (last ? last->gpu.now_ns : gpu->registered_ns);
	uint32_t i;

	for (i = 0; i < ctl_engines(gpu->engines); i++)
		busy[i] = share_centi(gpu->engine[i].busy_ns -
				      (last ? last->gpu.engine[i].busy_ns : 0), ns);
}

/* There is an engine of each name in each partition: what vGPUs got, by the partitions' sizes. */
static void gpu_fill_divided(uint64_t *busy, const struct top_gpu *gpu, const struct top_gpu *last)
{
	uint64_t ns = gpu->gpu.now_ns - (last ? last->gpu.now_ns : gpu->gpu.registered_ns);
	const struct vgpu_ctl_instance *inst, *before;
	double sum[VGPU_MAX_ENGINES] = { 0 };
	uint32_t i, k;

	for (k = 0; k < gpu->nr; k++) {
		inst = &gpu->inst[k];
		before = inst_before(last, inst);
		for (i = 0; i < ctl_engines(gpu->gpu.engines); i++)
			sum[i] += (double)(inst->engine[i].busy_ns -
					   (before ? before->engine[i].busy_ns : 0)) *
				  gpu->slices[k] / VGPU_PARTITION_SLICES;
	}
	for (i = 0; i < ctl_engines(gpu->gpu.engines); i++)
		busy[i] = share_centi((uint64_t)sum[i], ns);
}

/* The number by which rows are sorted, the largest first. */
static uint64_t row_key(const struct top_row *row, const struct top_view *view)
{
	switch (view->sort) {
	case TOP_SORT_BUSY:
		return row->busy[view->engine];
	case TOP_SORT_WAIT:
		return row->wait[view->engine];
	case TOP_SORT_MEMORY:
		return row->inst->fb_backed_bytes;
	case TOP_SORT_GUARANTEE:
		return row->inst->guarantee;
	default:
		return 0;
	}
}

static int row_compare(const void *a, const void *b, void *arg)
{
	const struct top_view *view = arg;
	const struct top_row *one = a, *other = b;
	uint64_t x = row_key(one, view), y = row_key(other, view);
	int order = x != y ? (x > y ? -1 : 1) :
		memcmp(one->inst->uuid, other->inst->uuid, VGPU_UUID_LEN);

	return view->reverse ? -order : order;
}

/* The chosen vGPU is where it was sorted to; if it is gone, the one in its place is chosen. */
static void view_follow(struct top_view *view, const struct top_rows *rows)
{
	size_t i;

	for (i = 0; view->any && i < rows->nr; i++) {
		if (!memcmp(rows->row[i].inst->uuid, view->chosen, VGPU_UUID_LEN)) {
			view->at = i;
			return;
		}
	}
	if (view->at >= rows->nr)
		view->at = rows->nr ? rows->nr - 1 : 0;
	view->any = rows->nr;
	if (view->any)
		memcpy(view->chosen, rows->row[view->at].inst->uuid, VGPU_UUID_LEN);
}

static void rows_sort(struct top_view *view, struct top_rows *rows)
{
	if (rows->nr)
		qsort_r(rows->row, rows->nr, sizeof(*rows->row), row_compare, view);
	view_follow(view, rows);
}

void top_rows(const struct top_sample *now, const struct top_sample *last, struct top_view *view,
	      struct top_rows *rows)
{
	const struct top_gpu *gpu, *before;
	size_t g, nr = 0;
	uint32_t i;

	for (g = 0; g < now->nr; g++)
		nr += now->gpu[g].nr;
	rows->row = need_zeroed(nr + 1, sizeof(*rows->row));
	rows->gpu_busy = need_zeroed(now->nr + 1, sizeof(*rows->gpu_busy));
	rows->nr = 0;
	for (g = 0; g < now->nr; g++) {
		gpu = &now->gpu[g];
		before = gpu_before(last, &gpu->gpu);
		if (gpu->slices)
			gpu_fill_divided(rows->gpu_busy[g], gpu, before);
		else
			gpu_fill(rows->gpu_busy[g], &gpu->gpu, before);
		for (i = 0; i < gpu->nr; i++)
			row_fill(&rows->row[rows->nr++], &gpu->gpu, &gpu->inst[i],
				 inst_before(before, &gpu->inst[i]));
	}
	rows_sort(view, rows);
}

void top_rows_free(struct top_rows *rows)
{
	free(rows->row);
	free(rows->gpu_busy);
	memset(rows, 0, sizeof(*rows));
}

const char *top_setting(enum top_edit edit)
{
	static const char * const names[] = {
		[TOP_EDIT_NONE] = "",
		[TOP_EDIT_GUARANTEE] = "guarantee",
		[TOP_EDIT_CAP] = "cap",
		[TOP_EDIT_WEIGHT] = "weight",
	};

	return names[edit];
}

static void move(struct top_view *view, const struct top_rows *rows, long by)
{
	long at = (long)view->at + by, last = (long)rows->nr - 1;

	if (!rows->nr)
		return;
	view->at = (size_t)(at < 0 ? 0 : at > last ? last : at);
	view->any = true;
	memcpy(view->chosen, rows->row[view->at].inst->uuid, VGPU_UUID_LEN);
}

static void edit_begin(struct top_view *view, enum top_edit edit)
{
	if (!view->any) {
		strcpy(view->message, "there is no vGPU");
		return;
	}
	view->edit = edit;
	view->typed[0] = 0;
	memcpy(view->target, view->chosen, VGPU_UUID_LEN);
}

/* A key while a value is being typed. */
static enum top_action edit_press(struct top_view *view, int key)
{
	size_t length = strlen(view->typed);

	if (key == TOP_KEY_ENTER && length)
		return TOP_SET;
	if (key == TOP_KEY_ENTER || key == TOP_KEY_ESCAPE) {
		view->edit = TOP_EDIT_NONE;
	} else if (key == TOP_KEY_BACK && length) {
		view->typed[length - 1] = 0;
	} else if (key < 0x80 && (isdigit(key) || key == '.' || key == '%') &&
		   length + 1 < sizeof(view->typed)) {
		view->typed[length] = (char)key;
		view->typed[length + 1] = 0;
	}
	return TOP_NOTHING;
}

/* Engines may differ between GPUs: as many as any of them has. */
static uint32_t most_engines(const struct top_rows *rows)
{
	uint32_t most = 1;
	size_t i;

	for (i = 0; i < rows->nr; i++)
		if (ctl_engines(rows->row[i].inst->engines) > most)
			most = ctl_engines(rows->row[i].inst->engines);
	return most;
}

enum top_action top_press(struct top_view *view, const struct top_rows *rows, int key)
{
	view->message[0] = 0;
	if (view->edit)
		return edit_press(view, key);
	switch (key) {
	case 'q':
		return TOP_QUIT;
	case 'k':
	case TOP_KEY_UP:
		move(view, rows, -1);
		break;
	case 'j':
	case TOP_KEY_DOWN:
		move(view, rows, 1);
		break;
	case TOP_KEY_PAGE_UP:
		move(view, rows, -PAGE);
		break;
	case TOP_KEY_PAGE_DOWN:
		move(view, rows, PAGE);
		break;
	case 's':
		view->sort = (view->sort + 1) % TOP_SORTS;
		break;
	case 'r':
		view->reverse = !view->reverse;
		break;
	case 'e':
		view->engine = (view->engine + 1) % most_engines(rows);
		break;
	case ' ':
		view->paused = !view->paused;
		break;
	case 'g':
		edit_begin(view, TOP_EDIT_GUARANTEE);
		break;
	case 'c':
		edit_begin(view, TOP_EDIT_CAP);
		break;
	case 'w':
		edit_begin(view, TOP_EDIT_WEIGHT);
		break;
	}
	return TOP_NOTHING;
}
