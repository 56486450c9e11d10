// SPDX-License-Identifier: GPL-2.0
/* See des_check.h: WALL, JOBS, T2. */
#include "des_check_impl.h"

static void check_equal(struct des_report *report, struct des_violation *v, u64 got, u64 bound)
{
	v->got_ns = got;
	v->bound_ns = bound;
	des_verdict(report, v, got > bound ? got - bound : bound - got, 0);
}

/**
 * des_check_wall() - check WALL
 * @des:    record
 * @report: report to which the cases are added
 * @engine: index of the engine
 */
void des_check_wall(const struct des *des, struct des_report *report, unsigned int engine)
{
	const struct des_engine_record *record = &des->engine[engine];
	struct des_violation v = { .promise = DES_WALL, .engine = engine };
	u64 at_ns = 0, busy_ns = 0, idle_ns = 0, linger_ns = 0, all_ns = 0;
	u64 ended_ns = 0;
	unsigned int j;
	size_t i;

	for (i = 0; i < record->runs.nr; i++) {
		const struct des_run *run = &record->runs.at[i];

		BUG_ON(run->start_ns < at_ns);
		idle_ns += run->start_ns - at_ns + run->idle_ns;
		all_ns += run->end_ns - run->start_ns - run->idle_ns;
		at_ns = run->end_ns;
		if (!run->ended)
			continue;
		/*
		 * Of a run that was reset the timeline does not learn how long the engine polled.
		 */
		ended_ns += run->end_ns - run->start_ns -
			    (run->reset ? 0 : run->idle_ns);
		linger_ns += run->reset ? 0 : run->linger_ns;
	}
	idle_ns += des->end_ns - at_ns;
	for (j = 0; j < des->config->nr_clients; j++)
		busy_ns += des->client[j].track[engine].busy_ns;
	v.to_ns = des->end_ns;
	check_equal(report, &v, record->busy_ns, ended_ns);
	check_equal(report, &v, record->linger_ns, linger_ns);
	check_equal(report, &v, busy_ns, all_ns);
	check_equal(report, &v, busy_ns + idle_ns, des->end_ns);
	if (record->worked_ns > busy_ns)
		check_equal(report, &v, record->worked_ns, busy_ns);
}

/**
 * des_check_jobs() - check JOBS
 * @des:    record
 * @report: report to which the cases are added
 */
void des_check_jobs(const struct des *des, struct des_report *report)
{
	struct des_violation v = { .promise = DES_JOBS, .to_ns = des->end_ns };
	unsigned int i;
	size_t j;

	for (i = 0; i < des->config->nr_clients; i++) {
		const struct des_record *record = &des->client[i];

		v.client = i;
		check_equal(report, &v, record->completed + record->dropped +
			    record->faulted + record->left, record->submitted);
		check_equal(report, &v, record->jobs.nr, record->completed);
		for (j = 0; j < record->jobs.nr; j++)
			BUG_ON(record->jobs.at[j].end_ns < record->jobs.at[j].submit_ns);
	}
	v.client = 0;
	check_equal(report, &v, des->stuck, 0);
}

static u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/**
 * des_shift_jobs_ns() - by how much a client's jobs end at other times in another record
 * @a:      record
 * @b:      record with other neighbours of the client
 * @client: index of the client, which submits the same jobs in both
 *
 * Return: the largest difference between the ends of a job; DES_NEVER: one record has more than one
 * job more.
 */
u64 des_shift_jobs_ns(const struct des *a, const struct des *b, unsigned int client)
{
	const struct des_record *x = &a->client[client], *y = &b->client[client];
	u64 most_ns = 0;
	size_t i;

	if (distance(x->jobs.nr, y->jobs.nr) > 1)
		return DES_NEVER;
	for (i = 0; i < min(x->jobs.nr, y->jobs.nr); i++)
		most_ns = max(most_ns, distance(x->jobs.at[i].end_ns, y->jobs.at[i].end_ns));
	return most_ns;
}

static const struct des_run *next_run(const struct des_engine_record *record,
				      unsigned int client, size_t *i)
{
	while (*i < record->runs.nr)
		if (record->runs.at[(*i)++].client == client)
			return &record->runs.at[*i - 1];
	return NULL;
}

/**
 * des_shift_runs_ns() - by how much a client's runs begin at other times in another record
 * @a:        record
 * @client_a: index of the client in @a
 * @b:        record with other neighbours of the client
 * @client_b: index of the client in @b
 * @engine:   index of the engine
 *
 * Return: the largest difference between the begins of a run; DES_NEVER: one record has more than
 * one run more.
 */
u64 des_shift_runs_ns(const struct des *a, unsigned int client_a,
		      const struct des *b, unsigned int client_b, unsigned int engine)
{
	size_t i = 0, j = 0;
	u64 most_ns = 0;

	for (;;) {
		const struct des_run *x = next_run(&a->engine[engine], client_a, &i);
		const struct des_run *y = next_run(&b->engine[engine], client_b, &j);

		if (!x || !y) {
			if ((x && next_run(&a->engine[engine], client_a, &i)) ||
			    (y && next_run(&b->engine[engine], client_b, &j)))
				return DES_NEVER;
			return most_ns;
		}
		most_ns = max(most_ns, distance(x->start_ns, y->start_ns));
	}
}
