// SPDX-License-Identifier: GPL-2.0
/*
 * The interpreter that the module would choose by its calibration, soft/work/lanes.c as it is,
 * beside the one that is the fastest on a sample. It is calibrated anew each time, and then the
 * sample is timed on all interpreters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/debugfs.h>

#include "clk.h"
#include "die.h"
#include "engine.h"
#include "rows.h"
#include "soft/work/lanes.h"
#include "stats.h"

#define MAX_PAIRS	1000
#define DETAIL_LEN	2048
#define REACH		1.10

static double chosen_ms[MAX_PAIRS], isa_ms[ENGINE_ISAS][MAX_PAIRS];

/* The worst sample so far. */
static double worst_ratio, worst_chosen, worst_best;

/*
 * Times all interpreters, from another one on each time. That of the one that is chosen now counts,
 * and not a time of its own: there would be noise between two times of the same interpreter.
 */
static void run(struct engine *engine, unsigned int pair, unsigned int *chosen)
{
	size_t i, k;

	if (soft_lanes_init("auto"))
		bench_die("no interpreter runs on this CPU");
	for (k = 0; k < ENGINE_ISAS; k++) {
		i = (pair + k) % ENGINE_ISAS;
		if (!engine_has(engine_isas[i]))
			continue;
		isa_ms[i][pair] = engine_time(engine, engine_isas[i], engine->sample->group);
		if (engine_isas[i] != soft_lanes)
			continue;
		chosen_ms[pair] = isa_ms[i][pair];
		chosen[i]++;
	}
}

static double best_of_all(unsigned int pairs, size_t *which)
{
	double median, best = 0;
	size_t i;

	for (i = 0; i < ENGINE_ISAS; i++) {
		if (!engine_has(engine_isas[i]))
			continue;
		median = stats_quantile(isa_ms[i], pairs, 0.5);
		if (best > 0 && median >= best)
			continue;
		best = median;
		*which = i;
	}
	return best;
}

/* Says what was chosen how often, and what was the best. */
static void tell(FILE *text, const struct sample *sample, const unsigned int *chosen,
		 unsigned int pairs)
{
	double median = stats_quantile(chosen_ms, pairs, 0.5), best, ratio;
	size_t i, which = 0;

	best = best_of_all(pairs, &which);
	ratio = median / best;
	fprintf(text, "; %s %.3f of %s, chosen", sample->name, ratio, engine_isas[which]->name);
	for (i = 0; i < ENGINE_ISAS; i++)
		if (chosen[i])
			fprintf(text, " %s %u times", engine_isas[i]->name, chosen[i]);
	if (ratio <= worst_ratio)
		return;
	worst_ratio = ratio;
	worst_chosen = median;
	worst_best = best;
}

static void measure(FILE *text, const struct sample *sample, unsigned int pairs)
{
	unsigned int chosen[ENGINE_ISAS] = {}, i;
	struct engine engine;

	engine_open(&engine, sample);
	run(&engine, 0, chosen);
	memset(chosen, 0, sizeof(chosen));
	for (i = 0; i < pairs; i++)
		run(&engine, i, chosen);
	engine_close(&engine);
	tell(text, sample, chosen, pairs);
}

/* What the module shows in debugfs, in one line. */
static void tell_calibration(FILE *text)
{
	char *lines = NULL, *at;
	size_t bytes;
	struct dentry dir = { .file = open_memstream(&lines, &bytes) };

	if (!dir.file)
		bench_die("out of memory");
	soft_lanes_debugfs(&dir);
	fclose(dir.file);
	for (at = lines; *at; at++)
		if (*at == '\n')
			*at = at[1] ? ',' : 0;
	fprintf(text, "; the last calibration, per instruction of 32 lanes: %s", lines);
	free(lines);
}

void row_choice(unsigned int pairs)
{
	const struct sample *sample;
	char *detail = NULL;
	size_t bytes, i;
	FILE *text = open_memstream(&detail, &bytes);

	if (!text)
		bench_die("out of memory");
	worst_ratio = 0;
	for (i = 0; (sample = sample_at(i)); i++)
		measure(text, sample, pairs);
	tell_calibration(text);
	fclose(text);
	printf("{\"name\": \"compute_choice\", \"value\": %.3f, \"peer\": %.3f, \"ratio\": %.3f, \"unit\": \"ms\", \"measured\": \"wall\", \"higher\": false, \"reach\": %g, \"detail\": \"%u times each sample, of which the worst counts: the interpreter that the module chooses, calibrated anew each time, beside the fastest, medians of the same runs%s\"}\n",
	       worst_chosen, worst_best, worst_ratio, REACH, pairs, detail);
	fflush(stdout);
	free(detail);
}
