// SPDX-License-Identifier: GPL-2.0
/* Results for programs. */
#include "report.h"
#include "rows.h"
#include "run.h"

static void json_group(FILE *out, const struct bench_group *group)
{
	fputs("{\"name\": ", out);
	bench_json_text(out, group->name);
	fprintf(out, ", \"clients\": %u, \"engine\": %u", group->nr, group->engine);
	fprintf(out, ", \"due\": %.6f, \"due_own_rule\": %.6f", group->due, group->promised);
	fprintf(out, ", \"got\": %.6f, \"got_min\": %.6f, \"got_max\": %.6f",
		group->got, group->got_min, group->got_max);
	fprintf(out, ", \"short\": %.6f, \"short_own_rule\": %.6f, \"over\": %.6f",
		group->short_due, group->short_own, group->over_due);
	fprintf(out, ", \"wait_p50_ns\": %.0f, \"wait_p99_ns\": %.0f",
		group->wait_p50_ns, group->wait_p99_ns);
	fprintf(out, ", \"job_p50_ns\": %.0f, \"job_p99_ns\": %.0f",
		group->job_p50_ns, group->job_p99_ns);
	fprintf(out, ", \"jobs_per_s\": %.2f, \"frames\": %llu, \"missed\": %llu}",
		group->jobs, (unsigned long long)group->frames,
		(unsigned long long)group->missed);
}

static void json_promises(FILE *out, const u64 *broken, const u64 *checked, const double *used)
{
	unsigned int i;

	fputs("\"violations\": {", out);
	for (i = 0; i < BENCH_PROMISES; i++)
		fprintf(out, "%s\"%s\": {\"broken\": %llu, \"checked\": %llu, \"bound_used\": %.3f}",
			i ? ", " : "", des_promise_name(i), (unsigned long long)broken[i],
			(unsigned long long)checked[i], used[i]);
	putc('}', out);
}

static void json_result(FILE *out, const struct bench_result *result)
{
	unsigned int i;

	fprintf(out, "{\"scenario\": \"%s\", \"policy\": \"%s\",\n   ",
		result->scenario, result->policy);
	fprintf(out, "\"short\": %.6f, \"short_own_rule\": %.6f, \"over\": %.6f,\n   ",
		result->short_due, result->short_own, result->over_due);
	json_promises(out, result->violations, result->checked, result->bound_used);
	fprintf(out, ",\n   \"useful\": %.6f, \"late\": %.6f, \"switch\": %.6f, \"drain\": %.6f, \"linger\": %.6f, \"idle\": %.6f,\n   ",
		result->use.useful, result->use.late, result->use.switching,
		result->use.drain, result->use.linger, result->use.idle);
	fprintf(out, "\"wait_p50_ns\": %.0f, \"wait_p99_ns\": %.0f, \"frames\": %llu, \"missed\": %llu, ",
		result->wait_p50_ns, result->wait_p99_ns, (unsigned long long)result->frames,
		(unsigned long long)result->missed);
	fprintf(out, "\"switches_per_s\": %.2f, \"pick_ns\": %.1f,\n   \"clients\": [",
		result->switches_per_s, result->pick_ns);
	for (i = 0; i < result->nr_groups; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		json_group(out, &result->group[i]);
	}
	fputs("]}", out);
}

static void json_loads(FILE *out, const struct bench_loads *loads, unsigned int nr)
{
	fprintf(out, "{\"policy\": \"%s\", \"loads\": %u, \"length_ns\": %llu, \"worked_ns\": %llu, \"service_ns\": %llu, \"runs\": %llu, \"jobs\": %llu, ",
		loads->policy, nr, (unsigned long long)loads->length_ns,
		(unsigned long long)loads->worked_ns, (unsigned long long)loads->service_ns,
		(unsigned long long)loads->runs, (unsigned long long)loads->jobs);
	json_promises(out, loads->broken, loads->checked, loads->used);
	fputs("}", out);
}

/**
 * bench_json() - write all results as one JSON object
 * @out:    file to write to
 * @report: the results
 */
void bench_json(FILE *out, const struct bench_report *report)
{
	unsigned int i;

	fprintf(out, "{\"date\": \"%s\", \"commit\": \"%s\", \"seed\": \"%#llx\",\n",
		report->date, report->commit, (unsigned long long)report->seed);
	fprintf(out, " \"slice_ns\": %llu, \"window_ns\": %llu, \"linger_us\": %u, \"switch_ns\": %llu, \"late_ns\": %llu, \"reset_ns\": %llu, \"poll_ns\": %llu, \"kick_ns\": %llu,\n",
		BENCH_SLICE_NS, VGPU_WINDOW_NS, VGPU_LINGER_US, BENCH_SWITCH_NS,
		BENCH_LATE_NS, BENCH_RESET_NS, BENCH_POLL_NS, BENCH_KICK_NS);
	fputs(" \"results\": [", out);
	for (i = 0; i < report->nr; i++) {
		fputs(i ? ",\n  " : "\n  ", out);
		json_result(out, &report->result[i]);
	}
	fputs("],\n \"random_loads\": [", out);
	for (i = 0; report->loads && i < BENCH_POLICIES; i++) {
		fputs(i ? ",\n  " : "\n  ", out);
		json_loads(out, &report->loads[i], report->nr_loads);
	}
	fputs("],\n \"rows\": [", out);
	for (i = 0; i < report->nr_rows; i++) {
		fputs(i ? ",\n  " : "\n  ", out);
		bench_row_json(out, &report->row[i]);
	}
	fputs("]}\n", out);
}
