// SPDX-License-Identifier: GPL-2.0
/* The charts: shortfalls, which client had the engine, and where the engine's time went. */
#include "report.h"

#define WIDTH		1180
#define LEFT		230
#define RIGHT		40
#define PLOT		(WIDTH - LEFT - RIGHT)
#define BAR		8
#define ROW_GAP		12
#define LANE		30
#define LANE_GAP	10
#define PICTURE_NS	(120 * MS)

/* Colours that can also be told apart by people who do not see all of them (Okabe and Ito). */
static const char *const policy_colours[] = {
	"#0072b2", "#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#d55e00",
};

static const char *policy_colour(unsigned int policy)
{
	if (policy == BENCH_POLICY_GVT_LIKE)
		return "#999999";
	return policy_colours[policy % ARRAY_SIZE(policy_colours)];
}

static const char *const group_colours[BENCH_GROUPS + 1] = {
	"#d55e00", "#0072b2", "#009e73", "#e69f00", "#cc79a7", "#56b4e9",
	"#f2f2f2",
};

static const char *const use_names[] = {
	"useful", "switch", "drain", "linger", "idle",
};

static const char *const use_colours[] = {
	"#009e73", "#d55e00", "#cc79a7", "#e69f00", "#f2f2f2",
};

static void text(FILE *out, double x, double y, const char *anchor,
		 const char *style, const char *words)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n",
		x, y, anchor, style, words);
}

static void box(FILE *out, double x, double y, double width, double height, const char *fill)
{
	fprintf(out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\"/>\n",
		x, y, width, height, fill);
}

static void heading(FILE *out, double y, const char *title, const char *below)
{
	text(out, 20, y, "start", " font-size=\"16\" font-weight=\"bold\"", title);
	text(out, 20, y + 18, "start", " fill=\"#555\"", below);
}

/* An axis at @y with ticks from 0 to @end, and grid lines up to @top. */
static void axis(FILE *out, double top, double y, unsigned int end,
		 unsigned int step, const char *unit)
{
	char words[64];
	unsigned int at;

	for (at = 0; at <= end; at += step) {
		double x = LEFT + (double)PLOT * at / end;

		fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n",
			x, top, x, y);
		snprintf(words, sizeof(words), "%u", at);
		text(out, x, y + 14, "middle", "", words);
	}
	fprintf(out, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#333\"/>\n",
		LEFT, y, LEFT + PLOT, y);
	text(out, LEFT + PLOT / 2.0, y + 30, "middle", " fill=\"#333\"", unit);
}

static void legend(FILE *out, double y, const char *const *names,
		   const char *const *colours, unsigned int nr)
{
	double x = LEFT;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\" stroke=\"#888\" stroke-width=\"0.5\"/>\n",
			x, y - 10, colours[i]);
		text(out, x + 17, y, "start", "", names[i]);
		x += 34 + 8.0 * strlen(names[i]);
	}
}

static int policy_index(const struct bench_report *report, const struct bench_result *result)
{
	unsigned int i;

	for (i = 0; i < BENCH_POLICIES; i++)
		if (!strcmp(bench_policy_at(i)->name, result->policy))
			return (int)i;
	bench_die("%s: no policy %s", report->date, result->policy);
}

static unsigned int results_of(const struct bench_report *report, const char *scenario)
{
	unsigned int i, nr = 0;

	for (i = 0; i < report->nr; i++)
		nr += !strcmp(report->result[i].scenario, scenario);
	return nr;
}

/* Bars, one for each result. The results of a scenario follow each other in the report. */
static double shares(FILE *out, const struct bench_report *report, double y)
{
	const char *names[BENCH_POLICIES], *colours[BENCH_POLICIES];
	const char *scenario = "";
	char words[128];
	unsigned int i;
	double top;

	heading(out, y, "Worst client's shortfall",
		"Service got against what guarantee, cap, weight and demand make due; 0 is best");
	for (i = 0; i < BENCH_POLICIES; i++) {
		names[i] = bench_policy_at(i)->name;
		colours[i] = policy_colour(i);
	}
	legend(out, y + 40, names, colours, BENCH_POLICIES);
	y += 58;
	top = y;
	/* Bars are drawn after the grid, so the height is found out first. */
	for (i = 0; i < report->nr; i++) {
		if (strcmp(scenario, report->result[i].scenario))
			y += i ? ROW_GAP : 0;
		scenario = report->result[i].scenario;
		y += BAR;
	}
	axis(out, top - 4, y + 6, 100, 10, "% of its due");
	y = top;
	scenario = "";
	for (i = 0; i < report->nr; i++) {
		const struct bench_result *result = &report->result[i];
		int at = policy_index(report, result);
		double width = PLOT * result->short_due;

		if (strcmp(scenario, result->scenario)) {
			y += i ? ROW_GAP : 0;
			text(out, LEFT - 8, y + 2.5 * BAR, "end", "", result->scenario);
		}
		scenario = result->scenario;
		box(out, LEFT, y, max(width, 1.0), BAR - 1, policy_colour(at));
		snprintf(words, sizeof(words), "%.1f", 100 * result->short_due);
		text(out, LEFT + max(width, 1.0) + 4, y + BAR - 1, "start",
		     " font-size=\"8\" fill=\"#555\"", words);
		y += BAR;
	}
	return y + 60;
}

static void lane(FILE *out, const struct bench_result *result, double y)
{
	double scale = (double)PLOT / PICTURE_NS;
	u64 first_ns = result->nr_spans ? result->span[0].start_ns : 0;
	unsigned int i;

	text(out, LEFT - 8, y + LANE / 2.0 + 4, "end", "", result->policy);
	box(out, LEFT, y, PLOT, LANE, group_colours[BENCH_GROUPS]);
	for (i = 0; i < result->nr_spans; i++) {
		const struct bench_span *span = &result->span[i];
		u64 start_ns = span->start_ns - first_ns;
		u64 end_ns = min(span->end_ns - first_ns, PICTURE_NS);

		if (start_ns >= PICTURE_NS)
			break;
		if (span->group < BENCH_GROUPS)
			box(out, LEFT + start_ns * scale, y, (end_ns - start_ns) * scale, LANE,
			    group_colours[span->group]);
	}
}

/* The lanes of one scenario, one for each policy. */
static double lanes(FILE *out, const struct bench_report *report, const char *scenario, double y)
{
	const char *names[BENCH_GROUPS + 1], *colours[BENCH_GROUPS + 1];
	char words[128];
	unsigned int i, j, nr = 0;
	double end;

	for (i = 0; i < report->nr && !nr; i++) {
		const struct bench_result *result = &report->result[i];

		if (strcmp(result->scenario, scenario))
			continue;
		for (j = 0; j < result->nr_groups; j++) {
			names[nr] = result->group[j].name;
			colours[nr++] = group_colours[j];
		}
	}
	if (!nr)
		return y;
	names[nr] = "nobody";
	colours[nr++] = group_colours[BENCH_GROUPS];
	snprintf(words, sizeof(words), "Who had the engine: %s", scenario);
	heading(out, y, words, "The same arrivals under each policy");
	legend(out, y + 40, names, colours, nr);
	y += 56;
	end = y + results_of(report, scenario) * (LANE + LANE_GAP);
	axis(out, y, end, PICTURE_NS / MS, 10, "ms");
	for (i = 0; i < report->nr; i++) {
		if (strcmp(report->result[i].scenario, scenario))
			continue;
		lane(out, &report->result[i], y);
		y += LANE + LANE_GAP;
	}
	return end + 60;
}

static double use_of(const struct bench_use *use, unsigned int part)
{
	const double parts[] = {
		use->useful, use->switching, use->drain, use->linger, use->idle,
	};

	return parts[part];
}

static double uses(FILE *out, const struct bench_report *report, const char *scenario, double y)
{
	char words[128];
	unsigned int i, j;
	double end, x;

	if (!results_of(report, scenario))
		return y;
	snprintf(words, sizeof(words), "Where the engine's time went: %s", scenario);
	heading(out, y, words, "The same arrivals under each policy");
	legend(out, y + 40, use_names, use_colours, ARRAY_SIZE(use_names));
	y += 56;
	end = y + results_of(report, scenario) * (LANE + LANE_GAP);
	axis(out, y, end, 100, 10, "% of the engine's time");
	for (i = 0; i < report->nr; i++) {
		const struct bench_result *result = &report->result[i];

		if (strcmp(result->scenario, scenario))
			continue;
		text(out, LEFT - 8, y + LANE / 2.0 + 4, "end", "", result->policy);
		x = LEFT;
		for (j = 0; j < ARRAY_SIZE(use_names); j++) {
			double width = PLOT * use_of(&result->use, j);

			box(out, x, y, width, LANE, use_colours[j]);
			x += width;
		}
		y += LANE + LANE_GAP;
	}
	return end + 60;
}

static double draw(FILE *out, const struct bench_report *report)
{
	double y = 80;

	y = shares(out, report, y);
	y = lanes(out, report, report->picture, y);
	return uses(out, report, report->bursty, y);
}

/**
 * bench_svg() - write the charts
 * @out:    file to write to
 * @report: the results
 */
void bench_svg(FILE *out, const struct bench_report *report)
{
	char words[256];
	FILE *nowhere = fopen("/dev/null", "w");
	double height;

	if (!nowhere)
		bench_die("no /dev/null");
	height = draw(nowhere, report);
	fclose(nowhere);

	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#111\">\n",
		WIDTH, height, WIDTH, height);
	fprintf(out, "<title>vgpu: policies compared on the same arrivals</title>\n");
	box(out, 0, 0, WIDTH, height, "#ffffff");
	text(out, 20, 28, "start", " font-size=\"20\" font-weight=\"bold\"",
	     "vgpu: scheduling policies compared on the same arrivals");
	snprintf(words, sizeof(words),
		 "bench/sched, %s, commit %s, seed %#llx; virtual time",
		 report->date, report->commit, (unsigned long long)report->seed);
	text(out, 20, 46, "start", " fill=\"#555\"", words);
	draw(out, report);
	fputs("</svg>\n", out);
}
