// SPDX-License-Identifier: GPL-2.0
/* vgpuctl top without its terminal: lines of any size, order, what is chosen, keys. */
#include <ctype.h>

/* Before cmocka, which has a macro fail(). */
#include "ctl.h"
#include "top.h"
#include "utf8.h"

#include "vgpu_test.h"

#define MOST_GPUS	4
#define MOST_VGPUS	40

static struct top_sample make(u64 *rnd, size_t gpus, u32 vgpus)
{
	struct top_sample sample = { calloc(gpus + 1, sizeof(*sample.gpu)), gpus };
	size_t g;
	u32 i;

	for (g = 0; g < gpus; g++) {
		struct top_gpu *gpu = &sample.gpu[g];

		gpu->gpu.gpu = (u32)g;
		gpu->gpu.now_ns = 10 * SEC;
		gpu->gpu.engines = 3;
		gpu->gpu.fb_bytes = 16ull << 30;
		strcpy((char *)gpu->gpu.address, "0000:56:00.0");
		strcpy((char *)gpu->gpu.board, "SG16");
		strcpy((char *)gpu->gpu.policy, "qos");
		strcpy((char *)gpu->gpu.engine[0].name, "gr");
		strcpy((char *)gpu->gpu.engine[1].name, "ce0");
		strcpy((char *)gpu->gpu.engine[2].name, "ce1");
		gpu->nr = vgpus;
		gpu->inst = calloc(vgpus + 1, sizeof(*gpu->inst));
		for (i = 0; i < vgpus; i++) {
			struct vgpu_ctl_instance *inst = &gpu->inst[i];

			inst->uuid[0] = (u8)(g << 6 | i);
			inst->engines = 3;
			inst->now_ns = 10 * SEC;
			inst->cap = 1000;
			inst->weight = 100;
			inst->state = VGPU_STATE_STARTED;
			inst->owner_pid = 4711;
			strcpy((char *)inst->owner_comm, "qemu");
			strcpy((char *)inst->type_name, "SG16-1Q");
			inst->guarantee = rnd ? (u32)random_range(rnd, 0, 1000) : i;
			inst->fb_backed_bytes = rnd ? random_next(rnd) : (u64)i << 20;
			inst->engine[0].busy_ns = rnd ? random_next(rnd) : i * SEC;
			inst->engine[1].busy_ns = (vgpus - i) * SEC / 100;
		}
	}
	return sample;
}

/* Draws, and checks of each line that it is text and no wider than the screen. */
static struct top_screen draw(const struct top_sample *now, struct top_view *view,
			      const struct top_rows *rows, unsigned int width, unsigned int height)
{
	struct top_screen screen = { .width = width, .height = height };
	size_t i, k, n;

	top_draw(now, rows, view, &screen);
	if (height)
		assert_int_equal(screen.nr, height);
	for (i = 0; i < screen.nr; i++) {
		const struct top_line *line = &screen.line[i];
		unsigned int columns = 0;

		assert_int_equal(strlen(line->text), line->bytes);
		for (k = 0; k < line->bytes; k += n, columns++) {
			n = utf8_length((const unsigned char *)line->text + k, line->bytes - k);
			assert_true(n && !!isprint((unsigned char)line->text[k]) == (n == 1));
			assert_true(n == 1 || view->utf8);
		}
		assert_int_equal(columns, line->columns);
		assert_true(columns <= width);
	}
	return screen;
}

static void test_any_size(void **state)
{
	u64 rnd = test_seed();
	unsigned int round;

	for (round = 0; round < 1500; round++) {
		struct top_sample now = make(&rnd, random_range(&rnd, 0, MOST_GPUS),
					     (u32)random_range(&rnd, 0, MOST_VGPUS));
		struct top_view view = { .utf8 = round % 2, .every_ns = SEC };
		struct top_rows rows;
		struct top_screen screen;

		view.engine = (u32)random_range(&rnd, 0, 2);
		view.sort = (enum top_sort)random_range(&rnd, 0, TOP_SORTS - 1);
		if (now.nr && now.gpu[0].nr)
			memset(now.gpu[0].inst[0].owner_comm, round | 0x80, VGPU_COMM_LEN);
		top_rows(&now, NULL, &view, &rows);
		screen = draw(&now, &view, &rows, (unsigned int)random_range(&rnd, 1, 500),
			      (unsigned int)random_range(&rnd, 1, 70));
		free(screen.line);
		screen = draw(&now, &view, &rows, 80, 0);
		free(screen.line);
		top_rows_free(&rows);
		top_free(&now);
	}
}

static void has(const struct top_screen *screen, size_t line, const char *text)
{
	assert_true(line < screen->nr);
	check_that(strstr(screen->line[line].text, text), "line %zu: \"%s\" has no \"%s\"", line,
		   screen->line[line].text, text);
}

/* In 80 columns nothing is cut off. */
static void test_80_columns(void **state)
{
	struct top_sample last = make(NULL, 1, 3), now = make(NULL, 1, 3);
	struct top_view view = { .every_ns = SEC, .clock = "12:34:56" };
	struct top_screen screen;
	struct top_rows rows;

	now.gpu[0].gpu.now_ns += 2 * SEC;
	now.gpu[0].gpu.engine[0].busy_ns = 1500 * MS;
	now.gpu[0].gpu.fb_used_bytes = 3ull << 30;
	now.gpu[0].inst[1].now_ns += 2 * SEC;
	now.gpu[0].inst[1].engine[0].busy_ns += SEC;
	now.gpu[0].inst[1].guarantee = 255;
	now.gpu[0].inst[2].status = VGPU_INSTANCE_QUARANTINED;
	top_rows(&now, &last, &view, &rows);
	screen = draw(&now, &view, &rows, 80, 24);
	assert_string_equal(screen.line[0].text,
			    "vgpuctl top 12:34:56  1 GPU  3 vGPUs, 3 in use  sort busy  1.0 s                ");
	assert_string_equal(screen.line[1].text,
			    "GPU 0 0000:56:00.0 SG16 qos  FB 3 GiB of 16 GiB  guaranteed 0.0%");
	assert_string_equal(screen.line[2].text,
			    "  gr   [#################      ]  75.0%   ce0  [                       ]   0.0%");
	assert_string_equal(screen.line[4].text,
			    "UUID     TYPE      STATE GUAR%  CAP%  WGT   MEMORY WAIT% gr                     ");
	assert_string_equal(screen.line[5].text,
			    "01000000 SG16-1Q   open   25.5 100.0  100    1 MiB   0.0 ########         50.0% ");
	has(&screen, 6, "00000000 SG16-1Q   open ");
	has(&screen, 7, "02000000 SG16-1Q   quar.");
	has(&screen, 22, "01000000-0000-0000-0000-000000000000");
	has(&screen, 23, "q quit");
	has(&screen, 23, "space pause");
	free(screen.line);
	view.utf8 = true;
	screen = draw(&now, &view, &rows, 80, 24);
	has(&screen, 5, "\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88"
	    "\xe2\x96\x88\xe2\x96\x8c         50.0%");
	free(screen.line);
	/* More engines, and whole UUIDs, where there is room. */
	screen = draw(&now, &view, &rows, 160, 24);
	has(&screen, 3, "UUID                                 TYPE");
	has(&screen, 3, "ce1");
	free(screen.line);
	top_rows_free(&rows);
	top_free(&now);
	top_free(&last);
}

/* What partitions' vGPUs use of the GPU is by the partitions' sizes, and in slots by the time. */
static void test_divided(void **state)
{
	static const u32 slices[] = { 1, 2, 4 };
	struct top_sample now = make(NULL, 1, 3);
	struct top_view view = { 0 };
	struct top_screen screen;
	unsigned int used, i, sum;
	struct top_rows rows;

	now.gpu->slices = calloc(3, sizeof(*now.gpu->slices));
	for (used = 0; used < 8; used++) {
		for (i = 0, sum = 0; i < 3; i++) {
			now.gpu->slices[i] = slices[i];
			now.gpu->inst[i].engine[0].busy_ns = used & BIT(i) ? 10 * SEC : 0;
			sum += used & BIT(i) ? slices[i] : 0;
		}
		top_rows(&now, NULL, &view, &rows);
		assert_in_range(rows.gpu_busy[0][0], 10000 * sum / 7 - !!sum, 10000 * sum / 7 + 1);
		top_rows_free(&rows);
	}
	for (i = 0; i < 3; i++) {
		now.gpu->slices[i] = 7;
		now.gpu->inst[i].engine[0].busy_ns = 10 * SEC * slices[i] / 7;
	}
	top_rows(&now, NULL, &view, &rows);
	assert_in_range(rows.gpu_busy[0][0], 9997, 10000);
	top_rows_free(&rows);
	/* One that is new has had a tenth of the time. */
	now.gpu->inst[0].engine[0].busy_ns = 9 * SEC;
	now.gpu->inst[1].engine[0].busy_ns = SEC;
	now.gpu->inst[1].created_ns = 9 * SEC;
	now.gpu->inst[2].engine[0].busy_ns = 0;
	top_rows(&now, NULL, &view, &rows);
	assert_in_range(rows.gpu_busy[0][0], 9999, 10000);
	/* Policy and guarantees are the partitions'. */
	now.gpu->gpu.partition_mode = VGPU_PARTITION_MODE_ON;
	now.gpu->gpu.partitions = 3;
	now.gpu->gpu.guarantee_sum = 100;
	screen = draw(&now, &view, &rows, 80, 24);
	assert_string_equal(screen.line[1].text,
			    "GPU 0 0000:56:00.0 SG16 -  FB 0 B of 16 GiB  partitions 3");
	free(screen.line);
	top_rows_free(&rows);
	top_free(&now);
}

static u8 order(const struct top_sample *now, struct top_view *view, size_t at)
{
	struct top_rows rows;
	u8 id;

	top_rows(now, NULL, view, &rows);
	id = rows.row[at].inst->uuid[0];
	top_rows_free(&rows);
	return id;
}

static void test_order(void **state)
{
	static const u8 first[TOP_SORTS] = {
		[TOP_SORT_BUSY] = 4, [TOP_SORT_WAIT] = 0, [TOP_SORT_MEMORY] = 4,
		[TOP_SORT_GUARANTEE] = 4, [TOP_SORT_UUID] = 0,
	};
	struct top_sample now = make(NULL, 1, 5);
	struct top_view view = { 0 };
	struct top_rows none = { 0 };
	unsigned int i;

	for (i = 0; i < TOP_SORTS; i++) {
		assert_int_equal(view.sort, i);
		assert_int_equal(order(&now, &view, 0), first[i]);
		assert_int_equal(top_press(&view, &none, 'r'), TOP_NOTHING);
		assert_int_equal(order(&now, &view, 0), 4 - first[i]);
		assert_int_equal(order(&now, &view, 4), first[i]);
		top_press(&view, &none, 'r');
		top_press(&view, &none, 's');
	}
	assert_int_equal(view.sort, 0);
	/* Of the engine that is shown. */
	view.engine = 1;
	assert_int_equal(order(&now, &view, 0), 0);
	top_free(&now);
}

/* The chosen one stays chosen wherever it goes; when it is gone, the one in its place is. */
static void test_chosen(void **state)
{
	struct top_sample now = make(NULL, 1, 4);
	struct top_view view = { .sort = TOP_SORT_UUID };
	struct top_rows rows;

	top_rows(&now, NULL, &view, &rows);
	assert_true(view.any);
	assert_int_equal(view.chosen[0], 0);
	top_press(&view, &rows, TOP_KEY_DOWN);
	assert_int_equal(view.chosen[0], 1);
	top_press(&view, &rows, TOP_KEY_PAGE_DOWN);
	assert_int_equal(view.chosen[0], 3);
	top_press(&view, &rows, 'j');
	assert_int_equal(view.chosen[0], 3);
	top_press(&view, &rows, 'k');
	assert_int_equal(view.chosen[0], 2);
	top_press(&view, &rows, 'r');
	top_rows_free(&rows);
	top_rows(&now, NULL, &view, &rows);
	assert_int_equal(view.at, 1);
	assert_int_equal(view.chosen[0], 2);
	top_press(&view, &rows, 'r');
	top_rows_free(&rows);
	now.gpu[0].inst[2] = now.gpu[0].inst[3];
	now.gpu[0].nr = 3;
	top_rows(&now, NULL, &view, &rows);
	assert_int_equal(view.at, 1);
	assert_int_equal(view.chosen[0], 1);
	top_rows_free(&rows);
	now.gpu[0].nr = 0;
	top_rows(&now, NULL, &view, &rows);
	assert_false(view.any);
	top_press(&view, &rows, TOP_KEY_DOWN);
	assert_false(view.any);
	top_press(&view, &rows, 'g');
	assert_int_equal(view.edit, TOP_EDIT_NONE);
	assert_string_equal(view.message, "there is no vGPU");
	top_rows_free(&rows);
	top_free(&now);
}

static void type(struct top_view *view, const struct top_rows *rows, const char *keys)
{
	for (; *keys; keys++)
		assert_int_equal(top_press(view, rows, *keys), TOP_NOTHING);
}

static void test_edit(void **state)
{
	struct top_sample now = make(NULL, 1, 2);
	struct top_view view = { .sort = TOP_SORT_UUID, .every_ns = SEC };
	struct top_screen screen;
	struct top_rows rows;

	top_rows(&now, NULL, &view, &rows);
	type(&view, &rows, "jg2x5q%");
	assert_string_equal(view.typed, "25%");
	screen = draw(&now, &view, &rows, 80, 24);
	has(&screen, 23, "guarantee of 01000000 (per mille, or 25%): 25%_");
	free(screen.line);
	strcpy(view.message, "1 to 1000 is possible");
	screen = draw(&now, &view, &rows, 80, 24);
	has(&screen, 22, "1 to 1000 is possible");
	has(&screen, 23, "guarantee of 01000000");
	free(screen.line);
	top_press(&view, &rows, TOP_KEY_BACK);
	assert_string_equal(view.typed, "25");
	assert_int_equal(top_press(&view, &rows, TOP_KEY_ENTER), TOP_SET);
	assert_string_equal(top_setting(view.edit), "guarantee");
	/* What is typed is for the vGPU that was chosen when that began. */
	assert_int_equal(view.target[0], 1);
	assert_int_equal(top_press(&view, &rows, TOP_KEY_ESCAPE), TOP_NOTHING);
	assert_int_equal(view.edit, TOP_EDIT_NONE);
	type(&view, &rows, "w123456789012345678901234567890");
	assert_int_equal(strlen(view.typed), TOP_TYPED - 1);
	assert_string_equal(top_setting(view.edit), "weight");
	top_press(&view, &rows, TOP_KEY_ESCAPE);
	type(&view, &rows, "c");
	assert_int_equal(top_press(&view, &rows, TOP_KEY_ENTER), TOP_NOTHING);
	assert_int_equal(view.edit, TOP_EDIT_NONE);
	assert_int_equal(top_press(&view, &rows, 'q'), TOP_QUIT);
	type(&view, &rows, "eee");
	assert_int_equal(view.engine, 0);
	top_rows_free(&rows);
	top_free(&now);
}

/* A vGPU, or a GPU, that another one has taken the place of has no past. */
static void test_another_one(void **state)
{
	struct top_sample last = make(NULL, 1, 2), now = make(NULL, 1, 2);
	struct top_view view = { .sort = TOP_SORT_UUID };
	struct top_rows rows;

	last.gpu[0].inst[1].engine[0].busy_ns = 100 * SEC;
	last.gpu[0].gpu.engine[0].busy_ns = 100 * SEC;
	now.gpu[0].inst[1].created_ns = 9 * SEC;
	now.gpu[0].inst[1].engine[0].busy_ns = 500 * MS;
	now.gpu[0].gpu.registered_ns = 8 * SEC;
	now.gpu[0].gpu.engine[0].busy_ns = 500 * MS;
	top_rows(&now, &last, &view, &rows);
	assert_int_equal(rows.row[1].busy[0], 5000);
	assert_int_equal(rows.gpu_busy[0][0], 2500);
	top_rows_free(&rows);
	top_free(&now);
	top_free(&last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_size),
		cmocka_unit_test(test_80_columns),
		cmocka_unit_test(test_divided),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_chosen),
		cmocka_unit_test(test_edit),
		cmocka_unit_test(test_another_one),
	};

	return cmocka_run_group_tests_name("top", tests, NULL, NULL);
}
