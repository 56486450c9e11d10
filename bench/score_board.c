// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "score.h"

/**
 * struct known - a row, its goal, and what has been published
 * @name:   as in bench.json
 * @text:   what the row says
 * @unit:   of all values of the row
 * @reach:  the goal; negative: there is none, or it is only known after the measurement
 * @higher: the value is to be at least the goal, else at most
 * @hami:   HAMi-core's published value as text; "" if there is none
 * @fcsp:   BUD-FCSP's published value
 * @mig:    MIG's published value
 * @peer:   the best published value; negative: there is none
 */
static const struct known {
	const char *name;
	const char *text;
	const char *unit;
	double reach;
	bool higher;
	const char *hami;
	const char *fcsp;
	const char *mig;
	double peer;
} known[] = {
	{ "is_003", "share got of share due, worst vGPU, worst 2 s", "%", 99.5,
	  true, "99.8", "96.2", "", 99.8 },
	{ "is_004", "until a changed share holds", "ms", -1, false, "84.8", "84.8", "", 84.8 },
	{ "is_006", "own work kept beside three hogs", "%", 99, true, "83.5", "84.0", "~95", 95 },
	{ "is_007", "variation of work per s, worst vGPU", "cv", 0.02, false,
	  "0.067", "0.067", "<0.05", 0.05 },
	{ "is_008", "Jain's index over 1 s, worst", "0..1", 0.9999, true,
	  "0.995", "0.996", "1.0", 1 },
	/* FCSP has 4.7 at a quarter of the GPU with adaptive isolation, 18.3 without either. */
	{ "is_009", "loss from noisy neighbours, worst client", "%", 1, false,
	  "13.7", "4.7", "~3", 3 },
	{ "use_3_idle", "use of the engine, three of four idle", "%", 99, true,
	  "", "~100", "33", 100 },
	{ "switch_loss", "switching, of service, slices of 2 ms", "%", 1, false, "", "", "", -1 },
	{ "switch_latency", "work of one to work of the next, mean", "us", -1,
	  false, "", "", "", -1 },
	{ "preempt_latency", "to stop until stopped, median", "us", -1, false, "", "", "", -1 },
	{ "switch_loss_compute", "the same with programs on all vGPUs", "%", 1, false,
	  "", "", "", -1 },
	{ "compute_stop_p50", "a program: to stop until stopped, median", "us", -1, false,
	  "", "", "", -1 },
	{ "compute_stop_p99", "the same, 99th percentile, worst program", "us", -1, false,
	  "", "", "", -1 },
	{ "error_detect", "bad packet until the client knows, median", "us", -1,
	  false, "", "", "", -1 },
	{ "error_recover", "from there until a job is done, median", "us", -1,
	  false, "", "", "", -1 },
	{ "hang_detect", "packet without end until the client knows, median",
	  "us", -1, false, "", "", "", -1 },
	{ "pause_p99", "until a paused vGPU stands still, 99th percentile", "us", -1, false,
	  "", "", "", -1 },
	{ "compute_pause_p99", "the same with programs on all vGPUs", "us", -1, false,
	  "", "", "", -1 },
	{ "state_reload", "state of a vGPU in a dispatch, saved and built", "us", -1, false,
	  "", "", "", -1 },
	{ "hang_recover", "from there until a job is done, median", "us", -1,
	  false, "", "", "", -1 },
};

#define ROWS	(sizeof(known) / sizeof(known[0]))

static struct score_result results[ROWS];
static bool measured[ROWS];

bool score_wanted(const char *name)
{
	size_t length = strlen(name);
	const char *at = score.only;

	/* Names have others in them. */
	while (at && (at = strstr(at, name))) {
		if ((at == score.only || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
		at += length;
	}
	return !score.only;
}

void score_add(struct score_result *result, const char *fmt, ...)
{
	size_t used = strlen(result->detail);
	va_list args;

	va_start(args, fmt);
	vsnprintf(result->detail + used, sizeof(result->detail) - used, fmt, args);
	va_end(args);
}

void score_result(const char *name, const struct score_result *result)
{
	size_t i;

	for (i = 0; i < ROWS; i++) {
		if (strcmp(known[i].name, name))
			continue;
		if (!score_wanted(name))
			return;
		results[i] = *result;
		measured[i] = true;
		printf("# %s: %.6g %s; %s\n", name, result->value, known[i].unit, result->detail);
		fflush(stdout);
		return;
	}
	bench_die("no row %s", name);
}

static double reach(size_t i)
{
	return results[i].reach > 0 ? results[i].reach : known[i].reach;
}

static bool met(size_t i)
{
	if (reach(i) < 0)
		return true;
	return known[i].higher ? results[i].value >= reach(i) :
				 results[i].value <= reach(i);
}

void score_print(void)
{
	unsigned int goals = 0, reached = 0;
	char goal[32];
	size_t i;

	printf("\n%-20s %-50s %10s %-4s %10s %-8s %10s %7s %7s\n", "row", "",
	       "vGPU", "unit", "goal", "", "HAMi-core", "FCSP", "MIG");
	for (i = 0; i < ROWS; i++) {
		if (!measured[i])
			continue;
		goal[0] = 0;
		if (reach(i) >= 0)
			snprintf(goal, sizeof(goal), "%s %.4g",
				 known[i].higher ? ">=" : "<=", reach(i));
		printf("%-20s %-50s %10.5g %-4s %10s %-8s %10s %7s %7s\n", known[i].name,
		       known[i].text, results[i].value, known[i].unit, goal, !goal[0] ? "" :
		       met(i) ? "met" : "NOT met", known[i].hami, known[i].fcsp, known[i].mig);
		goals += !!goal[0];
		reached += goal[0] && met(i);
	}
	printf("\nmeasured: %s\n%u of %u goals met. Others' values are published ones, of other hardware (GPU-Virt-Bench, arXiv 2512.22125).\n",
	       score.icount ?
	       "icount: time is this machine's instructions, so that other work on its host changes nothing" :
	       "wall: time of a clock, on a machine that shares its processors with other work of its host",
	       reached, goals);
}

/* A published value is a number, perhaps with a sign that it is not exact. */
static void write_published(FILE *out, const char *name, const char *text)
{
	text += strspn(text, "~<");
	if (*text)
		fprintf(out, "\"%s\": %g, ", name, strtod(text, NULL));
	else
		fprintf(out, "\"%s\": null, ", name);
}

void score_write(const char *path)
{
	FILE *out = fopen(path, "we");
	size_t i;

	if (!out)
		bench_die("%s: %s", path, strerror(errno));
	for (i = 0; i < ROWS; i++) {
		if (!measured[i])
			continue;
		fprintf(out, "{\"name\": \"%s\", \"value\": %.6g, ",
			known[i].name, results[i].value);
		if (known[i].peer < 0)
			fprintf(out, "\"peer\": null, \"ratio\": null, ");
		else
			fprintf(out, "\"peer\": %g, \"ratio\": %.4f, ",
				known[i].peer, results[i].value / known[i].peer);
		write_published(out, "hami", known[i].hami);
		write_published(out, "fcsp", known[i].fcsp);
		write_published(out, "mig", known[i].mig);
		fprintf(out, "\"unit\": \"%s\", \"detail\": \"%s%s; %s\"}\n", known[i].unit,
			known[i].text, met(i) ? "" : " (goal NOT met)", results[i].detail);
	}
	if (fclose(out))
		bench_die("%s: %s", path, strerror(errno));
}
