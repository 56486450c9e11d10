// SPDX-License-Identifier: GPL-2.0
/* See des_check.h: G, G2, C, and all promises together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "des_check_impl.h"

/**
 * struct scan - a scan of f(t) = den * service - num * t
 * @num:     the share is @num / @den
 * @den:     see @num
 * @most:    largest f so far
 * @least:   smallest f so far
 * @most_ns: when f was @most
 * @least_ns: when f was @least
 * @lack:    by how much f fell at most
 * @surplus: by how much f rose at most
 * @out:     gets the intervals of these two
 */
struct scan {
	__int128 num, den;
	__int128 most, least;
	u64 most_ns, least_ns;
	__int128 lack, surplus;
	struct des_scan *out;
};

static void scan_point(struct scan *scan, u64 served_ns, u64 at_ns, u64 from_ns)
{
	__int128 f = scan->den * served_ns - scan->num * (at_ns - from_ns);

	if (scan->most - f > scan->lack) {
		scan->lack = scan->most - f;
		scan->out->lack_from_ns = scan->most_ns;
		scan->out->lack_to_ns = at_ns;
	}
	if (f - scan->least > scan->surplus) {
		scan->surplus = f - scan->least;
		scan->out->surplus_from_ns = scan->least_ns;
		scan->out->surplus_to_ns = at_ns;
	}
	if (f > scan->most) {
		scan->most = f;
		scan->most_ns = at_ns;
	}
	if (f < scan->least) {
		scan->least = f;
		scan->least_ns = at_ns;
	}
}

static void scan_spans(const struct des_spans *spans, u64 from_ns, u64 to_ns,
		       u64 num, u64 den, struct des_scan *out)
{
	struct scan scan = {
		.num = num, .den = den, .out = out,
		.most_ns = from_ns, .least_ns = from_ns,
	};
	u64 served_ns = 0;
	size_t i;

	*out = (struct des_scan){
		0, from_ns, from_ns, 0, from_ns, from_ns,
	};
	for (i = des_first_after(spans, end_ns, from_ns); i < spans->nr; i++) {
		u64 start_ns = max(spans->at[i].start_ns, from_ns);
		u64 end_ns = min(spans->at[i].end_ns, to_ns);

		if (start_ns >= to_ns)
			break;
		scan_point(&scan, served_ns, start_ns, from_ns);
		served_ns += end_ns - start_ns;
		scan_point(&scan, served_ns, end_ns, from_ns);
	}
	scan_point(&scan, served_ns, to_ns, from_ns);
	out->lack_ns = scan.lack / (s64)den;
	out->surplus_ns = scan.surplus / (s64)den;
}

/**
 * des_scan() - compare a client's service with a share in all intervals within one interval
 * @des:     record
 * @client:  index of the client
 * @engine:  index of the engine
 * @from_ns: begin of the interval
 * @to_ns:   end of the interval
 * @num:     the share is @num / @den
 * @den:     not 0
 * @out:     set to the largest lack and the largest surplus
 */
void des_scan(const struct des *des, unsigned int client, unsigned int engine,
	      u64 from_ns, u64 to_ns, u64 num, u64 den, struct des_scan *out)
{
	scan_spans(&des->client[client].track[engine].spans, from_ns, to_ns, num, den, out);
}

/*
 * Checks that the times in @spans are @num / @den, but for @slack_ns, of every interval within
 * @from_ns .. @to_ns. @v says of which client they are, and which promise that is.
 */
static void check_lack(struct des_report *report, struct des_violation v,
		       const struct des_spans *spans, u64 from_ns, u64 to_ns, u64 num, u64 den,
		       u64 slack_ns)
{
	struct des_scan scan;

	/* In an interval so short the promise would be kept without any service. */
	if ((to_ns - from_ns) / 1000 * num < slack_ns / 1000 * den) {
		report->checked[v.promise]++;
		return;
	}
	scan_spans(spans, from_ns, to_ns, num, den, &scan);
	v.from_ns = scan.lack_from_ns;
	v.to_ns = scan.lack_to_ns;
	v.got_ns = (v.to_ns - v.from_ns) * num / den - scan.lack_ns;
	v.bound_ns = v.got_ns + scan.lack_ns - (s64)slack_ns;
	des_verdict(report, &v, scan.lack_ns - (s64)slack_ns, slack_ns);
}

static void check_g(const struct des *des, struct des_report *report,
		    unsigned int client, unsigned int engine, const struct des_era *era)
{
	const struct des_track *track = &des->client[client].track[engine];
	struct des_violation v = {
		.promise = DES_G, .client = client, .engine = engine,
	};
	struct des_period period = {};
	u64 from_ns, to_ns;

	if (!era->share->guarantee)
		return;
	while (des_period(des, track, 0, &period)) {
		from_ns = max(period.from_ns, era->from_ns);
		to_ns = min(period.to_ns, era->to_ns);
		if (from_ns < to_ns)
			check_lack(report, v, &track->spans, from_ns, to_ns,
				   era->share->guarantee, 1000, 2 * era->q_ns);
	}
}

/* Whether G2 is about the client; then *num / *den is the share of the engine that G2 promises. */
static bool is_synchronous(const struct des *des, unsigned int client,
			   unsigned int engine, const struct des_era *era, u64 *num, u64 *den)
{
	const struct des_load *load = &des->config->client[client].load;
	const struct des_stage *stage = &load->stage[0];
	u64 think_ns = max(load->think_ns, load->think_max_ns);
	unsigned int i;

	for (i = 0; i < des->config->nr_actions; i++)
		if (des->config->action[i].kind == DES_LOAD &&
		    des->config->action[i].client == client)
			return false;
	if (load->kind != DES_CLOSED || load->nr_stages != 1 || load->off_ns ||
	    stage->engine != engine || load->hang_one_in || load->stall_every_ns ||
	    max(stage->job_ns, stage->job_max_ns) > era->params->slice_ns ||
	    think_ns >= era->params->linger_us * DES_US)
		return false;
	*num = stage->job_ns;
	*den = stage->job_ns + think_ns;
	if (*num * 1000 > *den * era->share->guarantee) {
		*num = era->share->guarantee;
		*den = 1000;
	}
	return *num;
}

/*
 * The service of a client, and the times in which neither the client had work nor anybody had the
 * engine. The caller frees spans->at.
 */
static void find_had_spans(const struct des *des, unsigned int client, unsigned int engine,
			   struct des_spans *spans)
{
	const struct des_track *track = &des->client[client].track[engine];
	const struct des_edge *edge = track->edges.at, *end = edge + track->edges.nr;
	size_t nr_idle, i = 0;
	struct des_span *idle = des_idle_spans(des, engine, &nr_idle);

	spans->room = track->spans.nr + nr_idle + track->edges.nr;
	spans->nr = track->spans.nr;
	spans->at = calloc(spans->room + 1, sizeof(*spans->at));
	BUG_ON(!spans->at);
	if (spans->nr)
		memcpy(spans->at, track->spans.at, spans->nr * sizeof(*spans->at));
	for (; edge < end; edge++) {
		u64 to_ns = edge + 1 < end ? edge[1].at_ns : des->end_ns;

		if (edge->runnable)
			continue;
		while (i < nr_idle && idle[i].end_ns <= edge->at_ns)
			i++;
		for (; i < nr_idle && idle[i].start_ns < to_ns; i++) {
			spans->at[spans->nr++] = (struct des_span){
				max(idle[i].start_ns, edge->at_ns), min(idle[i].end_ns, to_ns),
			};
			if (idle[i].end_ns > to_ns)
				break;
		}
	}
	free(idle);
	qsort(spans->at, spans->nr, sizeof(*spans->at), des_span_order);
}

static void check_g2(const struct des *des, struct des_report *report,
		     unsigned int client, unsigned int engine, const struct des_era *era)
{
	const struct des_track *track = &des->client[client].track[engine];
	struct des_violation v = {
		.promise = DES_G2, .client = client, .engine = engine,
	};
	struct des_period period = {};
	struct des_spans had;
	u64 from_ns, to_ns, num, den;

	if (!is_synchronous(des, client, engine, era, &num, &den))
		return;
	find_had_spans(des, client, engine, &had);
	/* A job that comes when the engine has just stopped lingering comes too late. */
	while (des_period(des, track, era->params->linger_us * DES_US - 1, &period)) {
		from_ns = max(period.from_ns, era->from_ns);
		to_ns = min(period.to_ns, era->to_ns);
		if (from_ns < to_ns)
			check_lack(report, v, &had, from_ns, to_ns, num, den, 3 * era->q_ns);
	}
	free(had.at);
}

static void check_c(const struct des *des, struct des_report *report,
		    unsigned int client, unsigned int engine, const struct des_era *era)
{
	struct des_violation v = {
		.promise = DES_C, .client = client, .engine = engine,
	};
	s64 slack_ns = 2 * era->q_ns;
	struct des_scan scan;

	des_scan(des, client, engine, era->from_ns, era->to_ns, era->share->cap, 1000, &scan);
	v.from_ns = scan.surplus_from_ns;
	v.to_ns = scan.surplus_to_ns;
	v.got_ns = des_service_ns(des, client, engine, v.from_ns, v.to_ns);
	v.bound_ns = v.got_ns - scan.surplus_ns + slack_ns;
	des_verdict(report, &v, scan.surplus_ns - slack_ns, slack_ns);
}

static void check_eras(const struct des *des, struct des_report *report,
		       unsigned int client, unsigned int engine)
{
	struct des_era era = {};

	while (des_era(des, client, engine, &era)) {
		check_g(des, report, client, engine, &era);
		check_g2(des, report, client, engine, &era);
		check_c(des, report, client, engine, &era);
	}
}

/**
 * des_check() - check all promises on a whole record
 * @des:    record
 * @report: set to what came of it
 */
void des_check(const struct des *des, struct des_report *report)
{
	unsigned int i, j, k;

	memset(report, 0, sizeof(*report));
	for (k = 0; k < des->config->nr_engines; k++) {
		for (i = 0; i < des->config->nr_clients; i++) {
			check_eras(des, report, i, k);
			for (j = 0; j < i; j++)
				des_check_p(des, report, i, j, k);
		}
		des_check_w(des, report, k);
		des_check_l(des, report, k);
		des_check_wall(des, report, k);
	}
	des_check_jobs(des, report);
}

/* How many cases of all promises together were broken, by a report of des_check(). */
u64 des_violations(const struct des_report *report)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < DES_NR_PROMISES; i++)
		sum += report->violations[i];
	return sum;
}

/**
 * des_report_print() - print the worst violation of each promise, as comments of TAP
 * @des:    record
 * @report: report of des_check() on that record
 */
void des_report_print(const struct des *des, const struct des_report *report)
{
	unsigned int i;

	for (i = 0; i < DES_NR_PROMISES; i++) {
		const struct des_violation *v = &report->worst[i];

		if (!report->violations[i])
			continue;
		printf("# %s: %llu of %llu violated; worst: client %u",
		       des_promise_name(i), report->violations[i], report->checked[i], v->client);
		if (i == DES_P)
			printf(" and %u", v->other);
		printf(" engine %u, %llu .. %llu: %lld ns, bound %lld ns, p %llu ns\n",
		       v->engine, v->from_ns, v->to_ns, v->got_ns, v->bound_ns,
		       des_overrun_ns(des, v->engine));
	}
	fflush(stdout);
}
