// SPDX-License-Identifier: GPL-2.0
/* The comparison, in words and tables. */
#include "report.h"
#include "rows.h"
#include "run.h"

/**
 * bench_show_setup() - say what is run, and what the columns of the tables are
 * @report: the report, of which date, commit and seed are set
 */
void bench_show_setup(const struct bench_report *report)
{
	printf("bench/sched, %s, commit %s, seed %#llx.\n\n", report->date,
	       report->commit, (unsigned long long)report->seed);
	printf("Virtual time. Slice %llu ms where a scenario has no other, window %llu ms, linger\n"
	       "%u us, preemption timeout 10 ms. The simulated engine: a switch (save and restore)\n"
	       "takes %llu us, it stops %llu us late, polls for %llu us before it says idle, a reset takes\n"
	       "%llu us; the scheduler's thread comes up to %llu us late.\n\n",
	       BENCH_SLICE_NS / MS, VGPU_WINDOW_NS / MS, VGPU_LINGER_US,
	       BENCH_SWITCH_NS / US, BENCH_LATE_NS / US, BENCH_POLL_NS / US,
	       BENCH_RESET_NS / US, BENCH_KICK_NS / US);
	puts("Due is min(demand, cap, guarantee + lambda weight); demand is what a client gets of\n"
	     "an engine of its own. That is an upper bound: not all work can wait for its turn.\n"
	     "Short is the worst client's shortfall against it, in % of it; own rule: against what\n"
	     "the policy itself promises (best_effort: even parts; slots: those it has; gvt_like:\n"
	     "its weight over all started); over: the largest excess, in % of the engine.\n"
	     "fixed_share and gvt_like have slots and weights by what is due when all are busy.\n");
	puts("G, G2, C, W, P, L: how often these promises of qos were broken (by periods of\n"
	     "clients, pairs of them, waits; every interval is looked at). The other policies do\n"
	     "not make them. Wait: from runnable, or the end of the run before, to the next run.\n"
	     "Pick: ns for pick, charge and enqueue among as many, on this machine. Late: past the\n"
	     "end of a slice. gvt_like runs jobs to their end, as GVT-g does.\n");
}

static void show_groups(const struct bench_report *report, unsigned int first,
			unsigned int nr, bool rst)
{
	const char *head[] = { "client", "n", "due %" };
	struct bench_table *table = bench_table(head, ARRAY_SIZE(head));
	unsigned int i, j;

	for (i = 0; i < nr; i++)
		bench_cell(table, "%s", report->result[first + i].policy);
	for (j = 0; j < report->result[first].nr_groups; j++) {
		const struct bench_group *group = &report->result[first].group[j];

		bench_table_line(table);
		bench_cell(table, "%s", group->name);
		bench_cell(table, "%u", group->nr);
		bench_cell(table, "%.2f", 100 * group->due);
		for (i = 0; i < nr; i++) {
			group = &report->result[first + i].group[j];
			if (group->nr == 1)
				bench_cell(table, "%.2f", 100 * group->got);
			else
				bench_cell(table, "%.2f..%.2f", 100 * group->got_min,
					   100 * group->got_max);
		}
	}
	bench_table_print(table, rst);
}

static void show_policies(const struct bench_report *report, unsigned int first,
			  unsigned int nr, bool rst)
{
	static const char *const head[] = {
		"policy", "short %", "own rule %", "over %", "G", "G2", "C",
		"W", "P", "L", "wait p50 ms", "p99 ms", "missed/frames",
		"switches/s", "pick ns",
	};
	struct bench_table *table = bench_table(head, ARRAY_SIZE(head));
	unsigned int i, j;

	for (i = 0; i < nr; i++) {
		const struct bench_result *result = &report->result[first + i];

		bench_table_line(table);
		bench_cell(table, "%s", result->policy);
		bench_cell(table, "%.1f", 100 * result->short_due);
		bench_cell(table, "%.1f", 100 * result->short_own);
		bench_cell(table, "%.1f", 100 * result->over_due);
		for (j = 0; j < BENCH_PROMISES; j++)
			bench_cell(table, "%llu", (unsigned long long)result->violations[j]);
		bench_cell(table, "%.3f", result->wait_p50_ns / MS);
		bench_cell(table, "%.2f", result->wait_p99_ns / MS);
		if (result->frames)
			bench_cell(table, "%llu/%llu", (unsigned long long)result->missed,
				   (unsigned long long)result->frames);
		else
			bench_cell(table, "-");
		bench_cell(table, "%.0f", result->switches_per_s);
		bench_cell(table, "%.0f", result->pick_ns);
	}
	bench_table_print(table, rst);
}

static void show_use(const struct bench_report *report, unsigned int first,
		     unsigned int nr, bool rst)
{
	static const char *const head[] = {
		"policy", "useful %", "of it late %", "switch %", "drain %", "linger %",
		"idle %", "jobs/s",
	};
	struct bench_table *table = bench_table(head, ARRAY_SIZE(head));
	unsigned int i, j;

	for (i = 0; i < nr; i++) {
		const struct bench_result *result = &report->result[first + i];
		char jobs[BENCH_CELL] = "";
		size_t at = 0;

		bench_table_line(table);
		bench_cell(table, "%s", result->policy);
		bench_cell(table, "%.2f", 100 * result->use.useful);
		bench_cell(table, "%.2f", 100 * result->use.late);
		bench_cell(table, "%.2f", 100 * result->use.switching);
		bench_cell(table, "%.2f", 100 * result->use.drain);
		bench_cell(table, "%.2f", 100 * result->use.linger);
		bench_cell(table, "%.2f", 100 * result->use.idle);
		for (j = 0; j < result->nr_groups && at < sizeof(jobs); j++)
			if (!result->group[j].again)
				at += snprintf(jobs + at, sizeof(jobs) - at,
					       "%s%.0f", j ? "+" : "", result->group[j].jobs);
		bench_cell(table, "%s", jobs);
	}
	bench_table_print(table, rst);
}

/* Times from the submission of jobs to their ends. */
static void show_jobs(const struct bench_report *report, unsigned int first,
		      unsigned int nr, bool rst)
{
	const char *head[] = { "job p50/p99 ms" };
	struct bench_table *table = bench_table(head, ARRAY_SIZE(head));
	unsigned int i, j;

	for (i = 0; i < nr; i++)
		bench_cell(table, "%s", report->result[first + i].policy);
	for (j = 0; j < report->result[first].nr_groups; j++) {
		const struct bench_group *group = &report->result[first].group[j];

		if (group->again)
			continue;
		bench_table_line(table);
		bench_cell(table, "%s", group->name);
		for (i = 0; i < nr; i++) {
			group = &report->result[first + i].group[j];
			bench_cell(table, "%.2f/%.2f", group->job_p50_ns / MS,
				   group->job_p99_ns / MS);
		}
	}
	bench_table_print(table, rst);
}

/**
 * bench_show_scenario() - print the tables of a scenario
 * @report: the report
 * @first:  index of the scenario's first result; the others follow
 * @rst:    print reStructuredText
 */
void bench_show_scenario(const struct bench_report *report, unsigned int first, bool rst)
{
	const char *name = report->result[first].scenario;
	unsigned int nr = 0;

	while (first + nr < report->nr &&
	       !strcmp(report->result[first + nr].scenario, name))
		nr++;
	bench_title(name, rst);
	printf("%s\n\n", bench_scenario(name)->what);
	show_groups(report, first, nr, rst);
	show_policies(report, first, nr, rst);
	show_use(report, first, nr, rst);
	show_jobs(report, first, nr, rst);
}

/**
 * bench_show_summary() - print what all scenarios came to, a line for each policy
 * @report: the report
 * @rst:    print reStructuredText
 */
void bench_show_summary(const struct bench_report *report, bool rst)
{
	static const char *const head[] = {
		"policy", "worst short %", "mean short %", "worst own rule %",
		"G", "G2", "C", "W", "P", "L", "missed/frames", "useful %",
		"idle %",
	};
	struct bench_table *table = bench_table(head, ARRAY_SIZE(head));
	unsigned int i, j, policy;

	for (policy = 0; policy < BENCH_POLICIES; policy++) {
		double worst = 0, sum = 0, own = 0, useful = 0, idle = 0;
		u64 violations[BENCH_PROMISES] = {}, frames = 0, missed = 0;
		unsigned int nr = 0;

		for (i = 0; i < report->nr; i++) {
			const struct bench_result *result = &report->result[i];

			if (strcmp(result->policy, bench_policy_at(policy)->name))
				continue;
			nr++;
			worst = max(worst, result->short_due);
			own = max(own, result->short_own);
			sum += result->short_due;
			useful += result->use.useful;
			idle += result->use.idle;
			frames += result->frames;
			missed += result->missed;
			for (j = 0; j < BENCH_PROMISES; j++)
				violations[j] += result->violations[j];
		}
		if (!nr)
			continue;
		bench_table_line(table);
		bench_cell(table, "%s", bench_policy_at(policy)->name);
		bench_cell(table, "%.1f", 100 * worst);
		bench_cell(table, "%.1f", 100 * sum / nr);
		bench_cell(table, "%.1f", 100 * own);
		for (j = 0; j < BENCH_PROMISES; j++)
			bench_cell(table, "%llu", (unsigned long long)violations[j]);
		bench_cell(table, "%llu/%llu", (unsigned long long)missed,
			   (unsigned long long)frames);
		bench_cell(table, "%.1f", 100 * useful / nr);
		bench_cell(table, "%.1f", 100 * idle / nr);
	}
	bench_title("All scenarios", rst);
	bench_table_print(table, rst);
}

/**
 * bench_show_loads() - print what the random loads came to, a line for each policy
 * @report: the report, with the random loads
 * @rst:    print reStructuredText
 */
void bench_show_loads(const struct bench_report *report, bool rst)
{
	static const char *const head[] = {
		"policy", "G", "G2", "C", "W", "P", "L", "useful %", "idle %",
		"jobs/s", "runs/s",
	};
	struct bench_table *table = bench_table(head, ARRAY_SIZE(head));
	unsigned int i, j;
	char title[64];

	for (i = 0; i < BENCH_POLICIES; i++) {
		const struct bench_loads *sum = &report->loads[i];
		double seconds = (double)sum->length_ns / SEC;

		bench_table_line(table);
		bench_cell(table, "%s", sum->policy);
		for (j = DES_G; j <= DES_L; j++)
			bench_cell(table, "%llu/%llu", (unsigned long long)sum->broken[j],
				   (unsigned long long)sum->checked[j]);
		bench_cell(table, "%.2f", 100.0 * sum->worked_ns / sum->length_ns);
		bench_cell(table, "%.2f", 100 - 100.0 * sum->service_ns / sum->length_ns);
		bench_cell(table, "%.0f", sum->jobs / seconds);
		bench_cell(table, "%.0f", sum->runs / seconds);
	}
	snprintf(title, sizeof(title), "%u random loads", report->nr_loads);
	bench_title(title, rst);
	puts("Broken of what was checked. The policy does not change meanwhile, all else may.\n");
	bench_table_print(table, rst);
}
