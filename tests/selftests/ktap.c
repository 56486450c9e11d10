// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clk.h"
#include "ktap.h"

#define SLOW_MS		1000	/* a test that takes longer says so */

enum { RESULT_PASS, RESULT_FAIL, RESULT_SKIP };

static jmp_buf ktap_return;
static pid_t ktap_pid;
static bool ktap_running;
static char ktap_reason[256];

static void print_note(const char *fmt, va_list ap)
{
	char text[1024], *line, *save;

	vsnprintf(text, sizeof(text), fmt, ap);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		printf("# %s\n", line);
	fflush(stdout);
}

void ktap_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_note(fmt, ap);
	va_end(ap);
}

/* Ends the test. A child process says by its exit code how the test has ended. */
static __attribute__((noreturn)) void leave(int result)
{
	fflush(stdout);
	if (getpid() != ktap_pid || !ktap_running)
		_exit(result == RESULT_SKIP ? KTAP_EXIT_SKIP : KTAP_EXIT_FAIL);
	longjmp(ktap_return, result);
}

void ktap_fail(const char *file, int line, const char *what, const char *fmt, ...)
{
	const char *name = strrchr(file, '/');
	va_list ap;

	printf("# %s:%d: failed: %s\n", name ? name + 1 : file, line, what);
	va_start(ap, fmt);
	print_note(fmt, ap);
	va_end(ap);
	leave(RESULT_FAIL);
}

void ktap_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ktap_reason, sizeof(ktap_reason), fmt, ap);
	va_end(ap);
	leave(RESULT_SKIP);
}

void ktap_skip_all(const char *fmt, ...)
{
	va_list ap;

	printf("1..0 # SKIP ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	_exit(KTAP_EXIT_SKIP);
}

static int run_all(const struct ktap_test *tests, size_t nr, void (*cleanup)(void))
{
	static volatile size_t i, failed, skipped;
	static volatile uint64_t start_ms;
	uint64_t took_ms;
	int result;

	ktap_pid = getpid();
	printf("KTAP version 1\n1..%zu\n", nr);
	fflush(stdout);
	for (i = 0; i < nr; i++) {
		ktap_running = true;
		start_ms = clk_ms();
		result = setjmp(ktap_return);
		if (!result) {
			tests[i].run();
			result = RESULT_PASS;
		}
		ktap_running = false;
		cleanup();
		took_ms = clk_ms() - start_ms;
		if (took_ms >= SLOW_MS)
			ktap_note("%s took %.1f s", tests[i].name, (double)took_ms / 1000);
		printf("%s %zu %s%s%s\n", result == RESULT_FAIL ? "not ok" : "ok", i + 1,
		       tests[i].name, result == RESULT_SKIP ? " # SKIP " : "",
		       result == RESULT_SKIP ? ktap_reason : "");
		fflush(stdout);
		failed += result == RESULT_FAIL;
		skipped += result == RESULT_SKIP;
	}
	printf("# Totals: pass:%zu fail:%zu skip:%zu\n", nr - failed - skipped, failed, skipped);
	fflush(stdout);
	if (failed)
		return KTAP_EXIT_FAIL;
	return skipped == nr ? KTAP_EXIT_SKIP : KTAP_EXIT_PASS;
}

int ktap_run(const struct ktap_test *tests, size_t nr, void (*cleanup)(void))
{
	const char *only = getenv("VGPU_TEST_ONLY");
	size_t i;

	if (!only)
		return run_all(tests, nr, cleanup);
	for (i = 0; i < nr; i++)
		if (!strcmp(tests[i].name, only))
			return run_all(&tests[i], 1, cleanup);
	printf("Bail out! No test is called %s.\n", only);
	return KTAP_EXIT_FAIL;
}
