// SPDX-License-Identifier: GPL-2.0
/* The command top: its terminal, and what it reads and sets. top.c is what it shows. */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <curses.h>

#include "command.h"
#include "ctl.h"
#include "share.h"
#include "table.h"
#include "top.h"

#define EVERY_NS	1000000000u	/* if --watch does not say otherwise */
#define KEY_CTRL_L	12
#define KEY_ESC		27
#define KEY_DELETE	127
#define ESCAPE_MS	50

/**
 * struct top - the command that runs
 * @fd:      file of /dev/vgpu
 * @options: its options
 * @last:    the sample before
 * @now:     the sample that is shown
 * @taken:   samples so far, no more than 2 are counted
 * @view:    how it is looked at
 * @rows:    what is shown
 */
struct top {
	int fd;
	const struct options *options;
	struct top_sample last;
	struct top_sample now;
	unsigned int taken;
	struct top_view view;
	struct top_rows rows;
};

/* Those of a partition that has slots are busy in these only, so the time says how much it is. */
static int read_slices(int fd, struct top_gpu *gpu)
{
	bool shared_time;
	uint32_t i;
	int ret;

	if (!ctl_is_divided(&gpu->gpu))
		return 0;
	gpu->slices = need_zeroed(gpu->nr + 1, sizeof(*gpu->slices));
	for (i = 0; i < gpu->nr; i++) {
		ret = ctl_slices(fd, &gpu->inst[i], &gpu->slices[i], &shared_time);
		if (ret)
			return ret;
		if (shared_time)
			gpu->slices[i] = VGPU_PARTITION_SLICES;
	}
	return 0;
}

static int read_gpu(int fd, const struct vgpu_ctl_gpu *gpu, void *arg)
{
	struct top_sample *sample = arg;
	struct vgpu_ctl_stats stats;
	struct top_gpu *to;
	int ret;

	sample->gpu = reallocarray(sample->gpu, sample->nr + 1, sizeof(*sample->gpu));
	need_memory(sample->gpu);
	to = &sample->gpu[sample->nr];
	to->gpu = *gpu;
	to->slices = NULL;
	ret = ctl_stats(fd, gpu->gpu, &stats, &to->inst);
	if (ret)
		return ret;
	to->nr = stats.count;
	sample->nr++;
	return read_slices(fd, to);
}

/* A GPU that --gpu names and that goes away is no reason to end: it may come back. */
static enum exit_code take_sample(struct top *top)
{
	struct top_sample sample = { NULL, 0 };
	enum exit_code code;

	code = ctl_visit_gpus(top->fd, top->options->gpu, &sample, read_gpu);
	top_free(&top->last);
	top->last = top->now;
	top->now = sample;
	top->taken += top->taken < 2;
	return code;
}

static void work_out(struct top *top)
{
	top_rows_free(&top->rows);
	top_rows(&top->now, top->taken > 1 ? &top->last : NULL, &top->view, &top->rows);
}

static void set_clock(struct top_view *view)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(view->clock, sizeof(view->clock), "%H:%M:%S", &tm);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* ---- messages: the terminal is in use, so they are shown in its last line ---- */

static char *said;
static size_t said_bytes;

static void say_begin(void)
{
	message_file = open_memstream(&said, &said_bytes);
	need_memory(message_file);
}

static void say_end(struct top_view *view)
{
	fclose(message_file);
	message_file = NULL;
	if (said_bytes)
		snprintf(view->message, sizeof(view->message), "%.*s",
			 (int)strcspn(said, "\n"), said);
	free(said);
	said = NULL;
}

static void apply(struct top *top)
{
	const char *name = top_setting(top->view.edit);
	char reason[VGPU_TEXT_LEN + 1];
	struct vgpu_ctl_share share;
	uint8_t text[VGPU_TEXT_LEN];
	enum exit_code code = EXIT_FAILED;
	size_t i;
	int ret;

	memset(&share, 0, sizeof(share));
	memcpy(share.uuid, top->view.target, VGPU_UUID_LEN);
	for (i = 0; i < share_settings.nr; i++) {
		const struct setting *setting = &share_settings.setting[i];

		if (setting->name && !strcmp(setting->name, name))
			code = setting_parse(&share_settings, setting, top->view.typed, &share);
	}
	if (code)
		return;
	ret = ctl_shares_set(top->fd, &share, 1, text);
	if (ret)
		fail("%s", message_refusal(text, ret, reason, sizeof(reason)));
	else
		snprintf(top->view.message, sizeof(top->view.message), "%s is set", name);
	top->view.edit = TOP_EDIT_NONE;
}

/* ---- terminal ---- */

static void show(struct top *top)
{
	struct top_screen screen = {
		.width = (unsigned int)COLS,
		.height = (unsigned int)LINES,
	};
	static const attr_t attrs[] = {
		[TOP_PLAIN] = A_NORMAL, [TOP_BOLD] = A_BOLD, [TOP_REVERSE] = A_REVERSE,
	};
	const struct top_line *line;
	size_t i;

	set_clock(&top->view);
	top_draw(&top->now, &top->rows, &top->view, &screen);
	erase();
	for (i = 0; i < screen.nr && i < screen.height; i++) {
		line = &screen.line[i];
		attrset((int)attrs[line->attr]);
		/* That the last column of the last line cannot be written is no matter. */
		mvaddnstr((int)i, 0, line->text, (int)line->bytes);
	}
	attrset(A_NORMAL);
	refresh();
	free(screen.line);
}

static int key_of(int key)
{
	switch (key) {
	case KEY_UP:
		return TOP_KEY_UP;
	case KEY_DOWN:
		return TOP_KEY_DOWN;
	case KEY_PPAGE:
		return TOP_KEY_PAGE_UP;
	case KEY_NPAGE:
		return TOP_KEY_PAGE_DOWN;
	case KEY_ENTER:
	case '\r':
	case '\n':
		return TOP_KEY_ENTER;
	case KEY_BACKSPACE:
	case KEY_DELETE:
	case '\b':
		return TOP_KEY_BACK;
	case KEY_ESC:
		return TOP_KEY_ESCAPE;
	}
	return key < 0x80 ? key : 0;
}

/* Handles what was typed. Returns false if the user wants to go. */
static bool press_keys(struct top *top)
{
	enum top_action action;
	int key;

	while ((key = getch()) != ERR) {
		if (key == KEY_RESIZE)
			continue;
		if (key == KEY_CTRL_L)
			clearok(stdscr, TRUE);
		action = top_press(&top->view, &top->rows, key_of(key));
		if (action == TOP_QUIT)
			return false;
		if (action == TOP_SET) {
			say_begin();
			apply(top);
			say_end(&top->view);
		}
		work_out(top);
	}
	return true;
}

/* Waits for a key until @until_ms. Returns false if the terminal is gone. */
static bool wait_key(uint64_t until_ms)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t now = now_ms();

	/* A new size of the terminal ends this, too. */
	poll(&in, 1, until_ms > now ? (int)(until_ms - now) : 0);
	return !(in.revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void run(struct top *top)
{
	uint64_t every_ms = top->view.every_ns / 1000000, next_ms = 0;

	for (;;) {
		if (now_ms() >= next_ms) {
			next_ms = now_ms() + every_ms;
			if (!top->view.paused || !top->taken) {
				say_begin();
				take_sample(top);
				say_end(&top->view);
				work_out(top);
			}
		}
		show(top);
		if (!wait_key(next_ms) || !press_keys(top))
			return;
	}
}

static enum exit_code run_terminal(struct top *top)
{
	const char *prefix = message_prefix;
	SCREEN *screen;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return fail_usage("top: this is no terminal; --once prints what it shows");
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return fail("top: the terminal cannot do it (TERM)");
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	message_prefix = "";
	run(top);
	message_prefix = prefix;
	endwin();
	delscreen(screen);
	return EXIT_OK;
}

static void print_once(struct top *top)
{
	struct top_screen screen = { .width = table_width() };
	size_t i;

	work_out(top);
	set_clock(&top->view);
	top_draw(&top->now, &top->rows, &top->view, &screen);
	for (i = 0; i < screen.nr; i++)
		printf("%.*s\n", (int)screen.line[i].bytes, screen.line[i].text);
	free(screen.line);
}

static enum exit_code run_once(struct top *top)
{
	struct timespec pause = {
		.tv_sec = (time_t)(top->view.every_ns / 1000000000u),
		.tv_nsec = (long)(top->view.every_ns % 1000000000u),
	};
	enum exit_code code;

	code = take_sample(top);
	if (code)
		return code;
	while (nanosleep(&pause, &pause) && errno == EINTR)
		;
	code = take_sample(top);
	if (!code)
		print_once(top);
	return code;
}

enum exit_code cmd_top(const struct options *options)
{
	struct top top = { .options = options };
	enum exit_code code;

	setlocale(LC_CTYPE, "");
	top.view.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	top.view.every_ns = options->watch_ns ? options->watch_ns : EVERY_NS;
	top.fd = ctl_open();
	if (top.fd < 0)
		return EXIT_FAILED;
	code = options->once ? run_once(&top) : run_terminal(&top);
	top_rows_free(&top.rows);
	top_free(&top.now);
	top_free(&top.last);
	close(top.fd);
	return code;
}
