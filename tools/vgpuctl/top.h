/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vgpuctl top without its terminal: what was read of the driver and keys go in, lines come out.
 */
#ifndef VGPUCTL_TOP_H
#define VGPUCTL_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/vgpu.h>

#define TOP_COLUMNS	400	/* wider terminals are not filled */
#define TOP_TYPED	16

/**
 * struct top_gpu - a GPU and its vGPUs at one time
 * @gpu:  the GPU
 * @inst: the vGPUs; allocated
 * @slices: of each vGPU, of VGPU_PARTITION_SLICES: how much of the GPU's engines it uses if its
 *        share of its partition's is 100 per cent; NULL: all of them; allocated
 * @nr:   number of vGPUs
 */
struct top_gpu {
	struct vgpu_ctl_gpu gpu;
	struct vgpu_ctl_instance *inst;
	uint32_t *slices;
	uint32_t nr;
};

/**
 * struct top_sample - all GPUs at one time
 * @gpu: these; allocated
 * @nr:  their number
 */
struct top_sample {
	struct top_gpu *gpu;
	size_t nr;
};

void top_free(struct top_sample *sample);

/**
 * struct top_row - a vGPU
 * @gpu:   its GPU
 * @inst:  the vGPU
 * @busy:  share of each engine since the last sample, in hundredths of a per cent
 * @wait:  share of the time in which it waited for each engine, likewise
 * @frames: frames per second, in hundredths
 */
struct top_row {
	const struct vgpu_ctl_gpu *gpu;
	const struct vgpu_ctl_instance *inst;
	uint64_t busy[VGPU_MAX_ENGINES];
	uint64_t wait[VGPU_MAX_ENGINES];
	uint64_t frames;
};

/**
 * struct top_rows - what was between two samples
 * @row:      the vGPUs, in the order in which they are shown; allocated
 * @nr:       their number
 * @gpu_busy: of each GPU the share of each engine, in hundredths of a per cent; allocated
 */
struct top_rows {
	struct top_row *row;
	size_t nr;
	uint64_t (*gpu_busy)[VGPU_MAX_ENGINES];
};

enum top_sort {
	TOP_SORT_BUSY,
	TOP_SORT_WAIT,
	TOP_SORT_MEMORY,
	TOP_SORT_GUARANTEE,
	TOP_SORT_UUID,
	TOP_SORTS,
};

/* What is being typed: a new value of this setting. */
enum top_edit {
	TOP_EDIT_NONE,
	TOP_EDIT_GUARANTEE,
	TOP_EDIT_CAP,
	TOP_EDIT_WEIGHT,
};

/**
 * struct top_view - how the user looks at it
 * @sort:     order of the vGPUs
 * @reverse:  the other way round
 * @engine:   the engine that is shown first
 * @any:      a vGPU is chosen
 * @chosen:   its UUID
 * @at:       its row, or where it was
 * @first:    the first row that is on the screen
 * @utf8:     bars may have characters that are not ASCII
 * @paused:   no samples are taken
 * @edit:     what is being typed
 * @target:   the vGPU that it is for, whatever is chosen by now
 * @typed:    what was typed so far
 * @message:  shown until the next key
 * @clock:    time of the day
 * @every_ns: time between samples
 */
struct top_view {
	enum top_sort sort;
	bool reverse;
	uint32_t engine;
	bool any;
	uint8_t chosen[VGPU_UUID_LEN];
	size_t at;
	size_t first;
	bool utf8;
	bool paused;
	enum top_edit edit;
	uint8_t target[VGPU_UUID_LEN];
	char typed[TOP_TYPED];
	char message[VGPU_TEXT_LEN + 64];
	char clock[16];
	uint64_t every_ns;
};

enum top_attr {
	TOP_PLAIN,
	TOP_BOLD,
	TOP_REVERSE,
};

/**
 * struct top_line - a line of the screen
 * @attr:    how it is shown
 * @text:    what is shown
 * @bytes:   length of @text
 * @columns: characters in @text
 */
struct top_line {
	enum top_attr attr;
	char text[TOP_COLUMNS * 3 + 1];
	size_t bytes;
	unsigned int columns;
};

/**
 * struct top_screen - the screen
 * @width:  columns
 * @height: lines; 0: as many as are needed
 * @line:   the lines; allocated
 * @nr:     their number
 */
struct top_screen {
	unsigned int width;
	unsigned int height;
	struct top_line *line;
	size_t nr;
};

/* Keys that are no characters. */
enum top_key {
	TOP_KEY_UP = 0x1000,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_ENTER,
	TOP_KEY_BACK,
	TOP_KEY_ESCAPE,
};

enum top_action {
	TOP_NOTHING,
	TOP_QUIT,
	TOP_SET,	/* @edit of @target to what is in @typed */
};

/* Works out and sorts the rows. @last may be NULL: since the vGPUs were created. */
void top_rows(const struct top_sample *now, const struct top_sample *last, struct top_view *view,
	      struct top_rows *rows);
void top_rows_free(struct top_rows *rows);

/* Fills @screen, whose width and height are set; the caller frees its lines. */
void top_draw(const struct top_sample *now, const struct top_rows *rows, struct top_view *view,
	      struct top_screen *screen);

enum top_action top_press(struct top_view *view, const struct top_rows *rows, int key);

/* The name of the setting that is being typed, as its option is called. */
const char *top_setting(enum top_edit edit);

#endif /* VGPUCTL_TOP_H */
