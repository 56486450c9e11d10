// SPDX-License-Identifier: GPL-2.0
/* The rows: what a decision costs, whether promises hold, how well the engine's time is used. */
#include <stdlib.h>

#include "apart.h"
#include "pick.h"
#include "rows.h"
#include "run.h"

#define PICK_FEW	8
#define PICK_MANY	1024
#define PICK_PAIRS	40
#define TABLE_LOADS	1000U
#define USE_SEEDS	20
#define APART_PERIODS	1000

static struct bench_row *row_add(struct bench_report *report, const char *name,
				 const char *unit, double reach, bool higher)
{
	struct bench_row *row = &report->row[report->nr_rows++];

	if (report->nr_rows > BENCH_ROWS)
		bench_die("more than %d rows", BENCH_ROWS);
	row->name = name;
	row->unit = unit;
	row->reach = reach;
	row->higher = higher;
	return row;
}

static void row_pick(struct bench_report *report)
{
	struct bench_row *row = row_add(report, "pick_scaling", "ns", 4, false);
	struct bench_pick_cost cost;
	unsigned int i;

	bench_progress("pick_scaling");
	bench_pick_pairs(&vgpu_policy_qos, PICK_FEW, PICK_MANY, report->seed, PICK_PAIRS, &cost);
	row->value = cost.many_ns;
	row->peer = cost.few_ns;
	row->has_peer = true;
	bench_row_detail(row, "pick + charge + enqueue under qos, %d entities against %d, random guarantees, caps and weights, seed %#llx, natively; %d pairs (A B B A) after one that is dropped; of their ratios: median %.3f, quartiles %.3f to %.3f; entities of %zu bytes, trees are the simulator's red-black ones",
			 PICK_MANY, PICK_FEW, (unsigned long long)report->seed,
			 PICK_PAIRS, cost.ratio, cost.ratio_low, cost.ratio_high,
			 sizeof(struct vgpu_entity));
	bench_pick_pairs(&bench_policy_scan, PICK_FEW, PICK_MANY, report->seed,
			 PICK_PAIRS, &cost);
	bench_row_detail(row, "; a linear scan with the same tags: %.0f against %.0f ns, ratio %.0f",
			 cost.many_ns, cost.few_ns, cost.ratio);
	for (i = 0; i < BENCH_POLICIES; i++) {
		const struct vgpu_sched_policy *policy = bench_policy_at(i);

		if (policy == &vgpu_policy_qos)
			continue;
		bench_pick_pairs(policy, PICK_FEW, PICK_MANY, report->seed, PICK_PAIRS, &cost);
		bench_row_detail(row, "; %s: %.0f, %.0f", policy->name, cost.many_ns, cost.few_ns);
	}
}

/* The row has the size at which qos is the furthest from std::set. */
static void row_pick_set(struct bench_report *report)
{
	static const unsigned int sizes[] = { 8, 32, 256, 1024 };
	const struct vgpu_sched_policy *policies[] = {
		&vgpu_policy_qos, &bench_policy_scan, bench_policy_set,
	};
	struct bench_row *row = row_add(report, "pick_set", "ns", 2, false);
	unsigned int nr = bench_policy_set ? 3 : 2, i;
	double ns[ARRAY_SIZE(policies)] = {};

	bench_progress("pick_set");
	bench_row_detail(row, "pick + charge + enqueue, natively, medians of %d batches in turn; std::set has one order and one tag to charge; value and peer are of the size with the worst ratio",
			 PICK_PAIRS);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		bench_pick_beside(policies, nr, sizes[i], report->seed, PICK_PAIRS, ns);
		bench_row_detail(row, "; %u entities: qos %.0f, linear scan with the same tags %.0f",
				 sizes[i], ns[0], ns[1]);
		if (!bench_policy_set) {
			row->value = ns[0];
			continue;
		}
		bench_row_detail(row, ", std::set %.0f, ratio %.2f", ns[2], ns[0] / ns[2]);
		if (!row->peer || ns[0] / ns[2] > row->value / row->peer) {
			row->value = ns[0];
			row->peer = ns[2];
		}
		row->has_peer = true;
	}
	if (!bench_policy_set)
		bench_row_detail(row, "; no C++ compiler here, so no std::set");
}

static void row_violations(struct bench_report *report, unsigned int loads)
{
	struct bench_row *row = row_add(report, "qos_violations", "1", 0, false);
	struct bench_loads sum;
	unsigned int i;

	bench_loads_qos(report->seed, loads, &sum);
	bench_row_detail(row, "%u random loads with stalls, holds at the worst moment and sudden overruns, seeds from %#llx on, %.0f s of virtual time, %llu runs, %llu jobs; every interval, constants of DESIGN 6; broken of what was checked, and the largest part of the bound that was used:",
			 loads, (unsigned long long)report->seed,
			 (double)sum.length_ns / SEC, (unsigned long long)sum.runs,
			 (unsigned long long)sum.jobs);
	for (i = 0; i < DES_NR_PROMISES; i++) {
		row->value += sum.broken[i];
		bench_row_detail(row, "%s %s %llu of %llu, %.2f", i ? ";" : "",
				 des_promise_name(i), (unsigned long long)sum.broken[i],
				 (unsigned long long)sum.checked[i], sum.used[i]);
	}
	if (sum.nr_bad)
		bench_row_detail(row, "; in %u loads, the first has seed %#llx",
				 sum.nr_bad, (unsigned long long)sum.first_bad);
}

/* From @at_ns on so many more clients are runnable (in thousands), or served. */
struct change {
	u64 at_ns;
	int more;
};

static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return 0;
}

/*
 * Adds the time in which a client was runnable, and the part of it in which the engine also served
 * one. No client has a cap.
 */
static void use_of(const struct des *des, u64 *wanted_ns, u64 *served_ns)
{
	unsigned int clients = des->config->nr_clients, i;
	size_t nr = 0, j, room = 0;
	struct change *changes;
	int runnable = 0, service = 0;

	for (i = 0; i < clients; i++)
		room += des->client[i].track[0].edges.nr +
			2 * des->client[i].track[0].spans.nr;
	changes = bench_alloc(room * sizeof(*changes));
	for (i = 0; i < clients; i++) {
		const struct des_track *track = &des->client[i].track[0];

		for (j = 0; j < track->edges.nr; j++)
			changes[nr++] = (struct change){
				track->edges.at[j].at_ns,
				track->edges.at[j].runnable ? 1000 : -1000,
			};
		for (j = 0; j < track->spans.nr; j++) {
			changes[nr++] = (struct change){
				track->spans.at[j].start_ns, 1 };
			changes[nr++] = (struct change){
				track->spans.at[j].end_ns, -1 };
		}
	}
	qsort(changes, nr, sizeof(*changes), compare_changes);
	for (j = 0; j < nr; j++) {
		u64 next_ns = j + 1 < nr ? changes[j + 1].at_ns : des->end_ns;

		if (changes[j].more == 1 || changes[j].more == -1)
			service += changes[j].more;
		else
			runnable += changes[j].more / 1000;
		if (runnable <= 0)
			continue;
		*wanted_ns += next_ns - changes[j].at_ns;
		if (service > 0)
			*served_ns += next_ns - changes[j].at_ns;
	}
	free(changes);
}

static double use_under(const struct bench_scenario *scenario,
			const struct vgpu_sched_policy *policy, u64 seed, struct bench_use *sum)
{
	u64 wanted_ns = 0, served_ns = 0;
	struct bench_result result;
	unsigned int i;

	for (i = 0; i < USE_SEEDS; i++) {
		struct bench_case *bcase = bench_case_create(scenario, seed + i);
		struct des_config config;
		struct des *des;

		bench_progress("qos_use: %s, %u of %d", policy->name, i, USE_SEEDS);
		bench_case_config(bcase, policy, &config);
		des = des_run(&config);
		use_of(des, &wanted_ns, &served_ns);
		bench_measure(bcase, policy, des, &result);
		sum->useful += result.use.useful / USE_SEEDS;
		sum->switching += result.use.switching / USE_SEEDS;
		sum->drain += result.use.drain / USE_SEEDS;
		sum->linger += result.use.linger / USE_SEEDS;
		sum->idle += result.use.idle / USE_SEEDS;
		free(result.span);
		des_free(des);
		des_config_exit(&config);
		bench_case_destroy(bcase);
	}
	return 100.0 * served_ns / wanted_ns;
}

static void row_use(struct bench_report *report)
{
	struct bench_row *row = row_add(report, "qos_use", "%", 99, true);
	const struct bench_scenario *scenario = bench_scenario("desktops");
	unsigned int i;

	row->has_peer = true;
	row->absolute = true;
	bench_row_detail(row, "service in the time in which a client is runnable (no client has a cap), %s: %s; %d seeds from %#llx on, %.0f s each, the same arrivals for all",
			 scenario->name, scenario->what, USE_SEEDS,
			 (unsigned long long)report->seed, (double)scenario->length_ns / SEC);
	for (i = 0; i < BENCH_POLICIES; i++) {
		const struct vgpu_sched_policy *policy = bench_policy_at(i);
		struct bench_use use = {};
		double value = use_under(scenario, policy, report->seed, &use);

		if (policy == &vgpu_policy_qos)
			row->value = value;
		else if (policy->due == VGPU_DUE_SLOT || policy->due == VGPU_DUE_SIZE)
			row->peer = max(row->peer, value);
		bench_row_detail(row, "; %s %.2f %% (of wall time useful %.2f, switch %.2f, drain %.2f, linger %.2f, idle %.2f)",
				 policy->name, value, 100 * use.useful, 100 * use.switching,
				 100 * use.drain, 100 * use.linger, 100 * use.idle);
	}
}

static void apart_under(const struct vgpu_sched_policy *policy, enum apart_neighbour neighbour,
			bool slots, u64 seed, struct apart_result *result)
{
	const struct apart_config config = {
		.seed = seed,
		.policy = policy,
		.neighbour = neighbour,
		.slots = slots,
		.length_ns = APART_PERIODS * (u64)VGPU_SLOTS_PERIOD_NS,
	};

	apart_run(&config, result);
}

/* What is left to the victim, in %; what it gets more counts as if it were missing. */
static double apart_left(const struct vgpu_sched_policy *policy, bool slots, u64 seed,
			 const char **worst)
{
	struct apart_result alone, beside;
	double left, least = 100;
	unsigned int i;

	apart_under(policy, APART_NONE, slots, seed, &alone);
	for (i = APART_IDLE; i < APART_NEIGHBOURS; i++) {
		apart_under(policy, i, slots, seed, &beside);
		left = 100.0 * beside.service_ns / alone.service_ns;
		left = min(min(left, 200 - left), 100.0 * beside.work_ns / alone.work_ns);
		if (left < least)
			*worst = apart_name(i);
		least = min(least, left);
	}
	return least;
}

static void row_apart(struct bench_report *report)
{
	struct bench_row *row = row_add(report, "partition_apart", "%", 99.9, true);
	const struct vgpu_sched_policy *policy;
	const char *worst;
	unsigned int i;
	double left;

	bench_progress("partition_apart");
	row->value = 100;
	row->peer = 100;
	row->has_peer = true;
	row->absolute = true;
	bench_row_detail(row, "service of a partition's vGPUs beside a neighbour in another one (worst of idle, hogs, doorbells without work, closing and opening, switching of policy, holds and shares, hangs), of that without it; one CPU, %u periods of slots of %u us; the peer is without slots",
			 APART_PERIODS, VGPU_SLOT_NS / 1000);
	for (i = 0; (policy = vgpu_sched_policy_at(i)); i++) {
		worst = "none";
		left = apart_left(policy, true, report->seed, &worst);
		row->value = min(row->value, left);
		bench_row_detail(row, "; %s %.4f (%s)", policy->name, left, worst);
		left = apart_left(policy, false, report->seed, &worst);
		row->peer = min(row->peer, left);
		bench_row_detail(row, ", without slots %.1f (%s)", left, worst);
	}
}

/**
 * bench_rows() - run the random loads and print what they came to, and make the rows for
 * build/bench.json
 * @report: the report, to which both are added
 * @loads:  number of random loads for the row qos_violations
 * @rst:    print reStructuredText
 */
void bench_rows(struct bench_report *report, unsigned int loads, bool rst)
{
	report->nr_loads = min(loads, TABLE_LOADS);
	report->loads = bench_alloc(BENCH_POLICIES * sizeof(*report->loads));
	bench_loads_all(report->seed, report->nr_loads, report->loads);
	bench_progress("%s", "");
	bench_show_loads(report, rst);
	row_pick(report);
	row_pick_set(report);
	row_violations(report, loads);
	row_use(report);
	row_apart(report);
}
