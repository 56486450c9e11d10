// SPDX-License-Identifier: GPL-2.0
/* The lines of vgpuctl top: a head, GPUs with their engines, vGPUs, and what keys do. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "table.h"
#include "top.h"
#include "uuid.h"

#define FULL		10000	/* 100 % in hundredths */
#define GPU_CELL	38	/* columns of an engine of a GPU, at least */
#define ROW_CELL	23	/* columns of an engine of a vGPU */
#define ROW_FIXED	57	/* columns of a vGPU before its engines */
#define SHORT_UUID	8
#define LONG_UUID	36
#define FOOT		2	/* lines: the chosen vGPU, keys */

static struct top_line *line_new(struct top_screen *screen, enum top_attr attr)
{
	struct top_line *line;

	screen->line = reallocarray(screen->line, screen->nr + 1, sizeof(*screen->line));
	need_memory(screen->line);
	line = &screen->line[screen->nr++];
	memset(line, 0, sizeof(*line));
	line->attr = attr;
	return line;
}

/*
 * Adds characters of one column each until the line is full. What others have named may have any
 * bytes: of these only ASCII is shown.
 */
static void line_add(struct top_line *line, unsigned int width, const char *fmt, ...)
{
	char text[TOP_COLUMNS + 1];
	const char *s;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (s = text; *s && line->columns < width && line->columns < TOP_COLUMNS; s++) {
		line->text[line->bytes++] = *s >= ' ' && *s <= '~' ? *s : '?';
		line->columns++;
	}
}

static void line_pad(struct top_line *line, unsigned int width)
{
	while (line->columns < width && line->columns < TOP_COLUMNS) {
		line->text[line->bytes++] = ' ';
		line->columns++;
	}
}

/* One column: U+2588 for a whole one, U+2589 to U+258F for 7 to 1 eighths of it. */
static void line_block(struct top_line *line, unsigned int eighths)
{
	memcpy(line->text + line->bytes, "\xe2\x96", 2);
	line->text[line->bytes + 2] = (char)(0x88 + 8 - eighths);
	line->bytes += 3;
	line->columns++;
}

/* A bar of @cells columns for @centi hundredths of a per cent. */
static void line_bar(struct top_line *line, unsigned int width, unsigned int cells, uint64_t centi,
		     bool utf8)
{
	unsigned int scale = utf8 ? 8 : 1, part, i;
	uint64_t parts;

	if (centi > FULL)
		centi = FULL;
	parts = (centi * cells * scale + FULL / 2) / FULL;
	for (i = 0; i < cells && line->columns < width && line->columns < TOP_COLUMNS; i++) {
		part = parts > scale ? scale : (unsigned int)parts;
		parts -= part;
		if (!part)
			line_add(line, width, " ");
		else if (utf8)
			line_block(line, part);
		else
			line_add(line, width, "#");
	}
}

/* "45.2%" in 6 columns */
static void line_percent(struct top_line *line, unsigned int width, uint64_t centi)
{
	centi = centi > 99999 ? 99999 : centi + 5;
	line_add(line, width, "%3" PRIu64 ".%" PRIu64 "%%", centi / 100, centi % 100 / 10);
}

static const char *sort_name(enum top_sort sort)
{
	static const char * const names[] = {
		[TOP_SORT_BUSY] = "busy",
		[TOP_SORT_WAIT] = "wait",
		[TOP_SORT_MEMORY] = "memory",
		[TOP_SORT_GUARANTEE] = "guarantee",
		[TOP_SORT_UUID] = "uuid",
	};

	return names[sort];
}

static void draw_head(const struct top_sample *now, const struct top_rows *rows,
		      const struct top_view *view, struct top_screen *screen)
{
	struct top_line *line = line_new(screen, TOP_REVERSE);
	size_t open = 0, i;
	char every[32];

	for (i = 0; i < rows->nr; i++)
		open += rows->row[i].inst->state == VGPU_STATE_STARTED;
	line_add(line, screen->width, "vgpuctl top %s  %zu GPU%s  %zu vGPU%s, %zu in use  sort %s%s  %s",
		 view->clock, now->nr, now->nr == 1 ? "" : "s", rows->nr, rows->nr == 1 ? "" : "s",
		 open, sort_name(view->sort), view->reverse ? " reversed" : "",
		 view->paused ? "PAUSED" : table_duration(every, sizeof(every), view->every_ns));
	line_pad(line, screen->width);
}

static void draw_gpu(const struct vgpu_ctl_gpu *gpu, const uint64_t *busy,
		     const struct top_view *view, struct top_screen *screen)
{
	unsigned int cells = screen->width / GPU_CELL, cell, bar;
	bool divided = ctl_is_divided(gpu);
	char used[32], total[32];
	struct top_line *line;
	uint32_t i;

	line = line_new(screen, TOP_BOLD);
	line_add(line, screen->width, "GPU %u %.*s %.*s %.*s  FB %s of %s  ",
		 gpu->gpu, TEXT(gpu->address), TEXT(gpu->board),
		 divided ? 1 : VGPU_ADDR_LEN, divided ? "-" : (const char *)gpu->policy,
		 table_size(used, sizeof(used), gpu->fb_used_bytes),
		 table_size(total, sizeof(total), gpu->fb_bytes));
	if (divided)
		line_add(line, screen->width, "partitions %u", gpu->partitions);
	else
		line_add(line, screen->width, "guaranteed %u.%u%%", gpu->guarantee_sum / 10,
			 gpu->guarantee_sum % 10);
	cells = cells ? cells : 1;
	cell = screen->width / cells;
	/* "  gr   [" before the bar, "] 100.0%" and a blank behind it. */
	bar = cell > 20 ? cell - 17 : 4;
	for (i = 0; i < ctl_engines(gpu->engines); i++) {
		if (i % cells == 0)
			line = line_new(screen, TOP_PLAIN);
		line_pad(line, i % cells * cell);
		line_add(line, screen->width, "  %-5.*s[", TEXT(gpu->engine[i].name));
		line_bar(line, screen->width, bar, busy[i], view->utf8);
		line_add(line, screen->width, "] ");
		line_percent(line, screen->width, busy[i]);
	}
}

/* GPUs have at most half of the screen. */
static void draw_gpus(const struct top_sample *now, const struct top_rows *rows,
		      const struct top_view *view, struct top_screen *screen)
{
	size_t room = screen->height / 2, i;

	if (!now->nr)
		line_add(line_new(screen, TOP_BOLD), screen->width,
			 "there is no GPU; is a back end loaded, vgpu_soft for one?");
	for (i = 0; i < now->nr; i++) {
		draw_gpu(&now->gpu[i].gpu, rows->gpu_busy[i], view, screen);
		if (screen->height && screen->nr > room && i + 1 < now->nr) {
			screen->nr = screen->nr > room + 1 ? room + 1 : screen->nr;
			line_add(line_new(screen, TOP_BOLD), screen->width, "more GPUs: %zu",
				 now->nr - i - 1);
			return;
		}
	}
}

static int uuid_width(const struct top_screen *screen)
{
	return screen->width >= ROW_FIXED + ROW_CELL + LONG_UUID - SHORT_UUID ?
		LONG_UUID : SHORT_UUID;
}

/* How many engines of vGPUs there is room for: one at least. */
static uint32_t engines_shown(const struct top_screen *screen)
{
	unsigned int fixed = ROW_FIXED + (unsigned int)uuid_width(screen) - SHORT_UUID;

	return screen->width < fixed + ROW_CELL ? 1 : (screen->width - fixed) / ROW_CELL;
}

static void draw_titles(const struct top_sample *now, const struct top_view *view,
			struct top_screen *screen)
{
	struct top_line *line = line_new(screen, TOP_BOLD);
	uint32_t i, engines, shown = engines_shown(screen);

	line_add(line, screen->width, "%-*s %-9s %-5s %5s %5s %4s %8s %5s ", uuid_width(screen),
		 "UUID", "TYPE", "STATE", "GUAR%", "CAP%", "WGT", "MEMORY", "WAIT%");
	if (!now->nr)
		return;
	engines = ctl_engines(now->gpu[0].gpu.engines);
	for (i = view->engine; i < engines && i < view->engine + shown; i++)
		line_add(line, screen->width, "%-*.16s", ROW_CELL,
			 (const char *)now->gpu[0].gpu.engine[i].name);
}

static const char *state_of(const struct vgpu_ctl_instance *inst)
{
	if (inst->status & VGPU_INSTANCE_QUARANTINED)
		return "quar.";
	if (inst->status & VGPU_INSTANCE_PAUSED)
		return "pause";
	return inst->state == VGPU_STATE_STARTED ? "open" : "-";
}

static void draw_row(const struct top_row *row, bool chosen, const struct top_view *view,
		     struct top_screen *screen)
{
	struct top_line *line = line_new(screen, chosen ? TOP_REVERSE : TOP_PLAIN);
	const struct vgpu_ctl_instance *inst = row->inst;
	uint32_t i, shown = engines_shown(screen);
	char uuid[UUID_STR_LEN], memory[32];
	uint64_t wait = row->wait[view->engine];

	wait = wait > FULL ? FULL : wait;
	line_add(line, screen->width, "%-*.*s %-9.9s %-5s %3u.%u %3u.%u %4u %8s %3" PRIu64 ".%" PRIu64 " ",
		 uuid_width(screen), uuid_width(screen), uuid_format(inst->uuid, uuid),
		 (const char *)inst->type_name, state_of(inst), inst->guarantee / 10,
		 inst->guarantee % 10, inst->cap / 10, inst->cap % 10, inst->weight,
		 table_size(memory, sizeof(memory), inst->fb_backed_bytes), wait / 100,
		 wait % 100 / 10);
	for (i = view->engine; i < ctl_engines(inst->engines) && i < view->engine + shown; i++) {
		line_bar(line, screen->width, ROW_CELL - 8, row->busy[i], view->utf8);
		line_add(line, screen->width, " ");
		line_percent(line, screen->width, row->busy[i]);
		line_add(line, screen->width, " ");
	}
	if (chosen)
		line_pad(line, screen->width);
}

/* Rows around the chosen one, as many as there is room for. */
static void draw_rows(const struct top_rows *rows, struct top_view *view,
		      struct top_screen *screen)
{
	size_t room = rows->nr, i;

	if (screen->height)
		room = screen->height > screen->nr + FOOT ? screen->height - screen->nr - FOOT : 0;
	if (view->first + room > rows->nr)
		view->first = rows->nr > room ? rows->nr - room : 0;
	if (view->at < view->first)
		view->first = view->at;
	if (room && view->at >= view->first + room)
		view->first = view->at - room + 1;
	for (i = view->first; i < rows->nr && i < view->first + room; i++)
		draw_row(&rows->row[i], screen->height && view->any && i == view->at, view, screen);
	while (screen->height && screen->nr + FOOT < screen->height)
		line_new(screen, TOP_PLAIN);
}

/* The chosen vGPU, or what was wrong with the value that is still being typed. */
static void draw_chosen(const struct top_rows *rows, const struct top_view *view,
			struct top_screen *screen)
{
	struct top_line *line = line_new(screen, TOP_PLAIN);
	const struct vgpu_ctl_instance *inst;
	char uuid[UUID_STR_LEN];

	if (view->edit && view->message[0]) {
		line->attr = TOP_BOLD;
		line_add(line, screen->width, "%s", view->message);
		return;
	}
	if (!view->any || view->at >= rows->nr)
		return;
	inst = rows->row[view->at].inst;
	line_add(line, screen->width, "%s  %" PRIu64 ".%02" PRIu64 " fps  %llu faults",
		 uuid_format(inst->uuid, uuid), rows->row[view->at].frames / 100,
		 rows->row[view->at].frames % 100, inst->faults);
	if (inst->owner_pid)
		line_add(line, screen->width, "  %d %.*s", inst->owner_pid,
			 TEXT(inst->owner_comm));
}

static void draw_foot(const struct top_view *view, struct top_screen *screen)
{
	bool special = view->edit || view->message[0];
	struct top_line *line = line_new(screen, special ? TOP_BOLD : TOP_PLAIN);
	char uuid[UUID_STR_LEN];

	if (view->edit)
		line_add(line, screen->width, "%s of %.8s%s: %s_", top_setting(view->edit),
			 uuid_format(view->target, uuid),
			 view->edit == TOP_EDIT_WEIGHT ? " (1 to 1000)" : " (per mille, or 25%)",
			 view->typed);
	else if (view->message[0])
		line_add(line, screen->width, "%s", view->message);
	else
		line_add(line, screen->width,
			 "q quit  s sort  r reverse  e engine  g guarantee  c cap  w weight  space pause");
}

void top_draw(const struct top_sample *now, const struct top_rows *rows, struct top_view *view,
	      struct top_screen *screen)
{
	screen->line = NULL;
	screen->nr = 0;
	if (screen->width > TOP_COLUMNS)
		screen->width = TOP_COLUMNS;
	draw_head(now, rows, view, screen);
	draw_gpus(now, rows, view, screen);
	draw_titles(now, view, screen);
	draw_rows(rows, view, screen);
	if (!screen->height)
		return;
	/* Too little room for everything: what keys do is most wanted. */
	if (screen->nr + FOOT > screen->height)
		screen->nr = screen->height > FOOT ? screen->height - FOOT : 0;
	if (screen->height > 1)
		draw_chosen(rows, view, screen);
	draw_foot(view, screen);
}
