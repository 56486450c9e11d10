// SPDX-License-Identifier: GPL-2.0
/* See des_check.h. */
#include <stdio.h>
#include <string.h>

#include "des_check_impl.h"

static const char * const promise_names[DES_NR_PROMISES] = {
	"G", "G2", "C", "W", "P", "L", "WALL", "JOBS",
};

/**
 * des_promise_name() - as users write it
 * @promise: which
 *
 * Return: that.
 */
const char *des_promise_name(enum des_promise promise)
{
	return promise_names[promise];
}

/**
 * des_overrun_ns() - p
 * @des:    record
 * @engine: which
 *
 * Return: the largest overrun.
 */
u64 des_overrun_ns(const struct des *des, unsigned int engine)
{
	return des->engine[engine].overrun_ns;
}

/**
 * des_verdict() - one thing was checked
 * @report: where to
 * @v:      as a violation, if it is one
 * @over:   by how much; <= 0: it is not
 * @slack:  by how much it might have been off
 */
void des_verdict(struct des_report *report, const struct des_violation *v,
		 double over, double slack)
{
	double use = slack > 0 ? 1000 * (1 + over / slack) : 0;

	report->checked[v->promise]++;
	if (use > report->use[v->promise])
		report->use[v->promise] = use;
	if (over <= 0)
		return;
	if (!report->violations[v->promise]++ ||
	    over > report->worst[v->promise].over) {
		report->worst[v->promise] = *v;
		report->worst[v->promise].over = over;
	}
}

/* The first span that ends after @at_ns. */
size_t des_first_span(const struct des_track *track, u64 at_ns)
{
	size_t lo = 0, hi = track->spans.nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (track->spans.at[mid].end_ns > at_ns)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/**
 * struct scan - f(t) = den * service - num * t, and what it did so far
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

/**
 * des_scan() - look at all intervals within one
 * @des:     record
 * @client:  whose service
 * @engine:  where
 * @from_ns: of the interval
 * @to_ns:   of the interval
 * @num:     the share is @num / @den
 * @den:     not 0
 * @out:     set to what was seen
 */
void des_scan(const struct des *des, unsigned int client, unsigned int engine,
	      u64 from_ns, u64 to_ns, u64 num, u64 den, struct des_scan *out)
{
	const struct des_track *track = &des->client[client].track[engine];
	struct scan scan = {
		.num = num, .den = den, .out = out,
		.most_ns = from_ns, .least_ns = from_ns,
	};
	u64 served_ns = 0;
	size_t i;

	*out = (struct des_scan){
		0, from_ns, from_ns, 0, from_ns, from_ns,
	};
	for (i = des_first_span(track, from_ns); i < track->spans.nr; i++) {
		u64 start_ns = max(track->spans.at[i].start_ns, from_ns);
		u64 end_ns = min(track->spans.at[i].end_ns, to_ns);

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
 * des_era() - the next time in which a client's parameters do not change
 * @des:    record
 * @client: whose
 * @engine: where
 * @era:    the one before, or all 0; set to the next one
 *
 * Return: false if there is none.
 */
bool des_era(const struct des *des, unsigned int client, unsigned int engine,
	     struct des_era *era)
{
	const struct des_record *record = &des->client[client];
	u64 p_ns = des_overrun_ns(des, engine), start_ns;

	do {
		const struct des_params_at *params;
		const struct des_share_at *share;
		u64 share_end_ns, params_end_ns;

		if (era->share_index >= record->shares.nr ||
		    era->params_index >= des->params.nr)
			return false;
		params = &des->params.at[era->params_index];
		share = &record->shares.at[era->share_index];
		params_end_ns = era->params_index + 1 < des->params.nr ?
				params[1].at_ns : des->end_ns;
		share_end_ns = era->share_index + 1 < record->shares.nr ?
			       share[1].at_ns : des->end_ns;

		era->slice_ns = max(era->slice_ns, params->params.slice_ns);
		era->q_ns = era->slice_ns + p_ns;
		start_ns = max(params->at_ns, share->at_ns);
		era->at_ns = start_ns;
		era->from_ns = start_ns ? start_ns + era->q_ns : 0;
		era->to_ns = min(params_end_ns, share_end_ns);
		era->share = &share->share;
		era->params = &params->params;
		if (params_end_ns <= share_end_ns)
			era->params_index++;
		if (share_end_ns <= params_end_ns)
			era->share_index++;
	} while (era->to_ns <= era->from_ns ||
		 strcmp(era->params->policy->name, "qos"));
	return true;
}

/**
 * des_period() - the next time in which an entity is runnable
 * @des:    record
 * @track:  its
 * @gap_ns: it may not be for so long in between
 * @period: the one before, or all 0; set to the next one
 *
 * Return: false if there is none.
 */
bool des_period(const struct des *des, const struct des_track *track, u64 gap_ns,
		struct des_period *period)
{
	size_t i = period->index;

	while (i < track->edges.nr && !track->edges.at[i].runnable)
		i++;
	if (i >= track->edges.nr)
		return false;
	period->from_ns = track->edges.at[i++].at_ns;
	for (;;) {
		period->to_ns = i < track->edges.nr ? track->edges.at[i].at_ns :
						      des->end_ns;
		if (i + 1 >= track->edges.nr)
			break;
		/* Closed or reset in no time. */
		if (track->edges.at[i + 1].at_ns == period->to_ns ||
		    track->edges.at[i + 1].at_ns - period->to_ns > gap_ns)
			break;
		i += 2;
	}
	period->index = i;
	return true;
}

static void check_lack(const struct des *des, struct des_report *report,
		       enum des_promise promise, unsigned int client,
		       unsigned int engine, u64 from_ns, u64 to_ns, u64 num,
		       u64 den, u64 slack_ns)
{
	struct des_violation v = {
		.promise = promise, .client = client, .engine = engine,
	};
	struct des_scan scan;

	/* Too short to say anything: it would be all right without service. */
	if ((to_ns - from_ns) / 1000 * num < slack_ns / 1000 * den) {
		report->checked[promise]++;
		return;
	}
	des_scan(des, client, engine, from_ns, to_ns, num, den, &scan);
	v.from_ns = scan.lack_from_ns;
	v.to_ns = scan.lack_to_ns;
	v.got_ns = des_service_ns(des, client, engine, v.from_ns, v.to_ns);
	v.bound_ns = v.got_ns + scan.lack_ns - (s64)slack_ns;
	des_verdict(report, &v, scan.lack_ns - (s64)slack_ns, slack_ns);
}

static void check_g(const struct des *des, struct des_report *report,
		    unsigned int client, unsigned int engine,
		    const struct des_era *era)
{
	const struct des_track *track = &des->client[client].track[engine];
	struct des_period period = {};
	u64 from_ns, to_ns;

	if (!era->share->guarantee)
		return;
	while (des_period(des, track, 0, &period)) {
		from_ns = max(period.from_ns, era->from_ns);
		to_ns = min(period.to_ns, era->to_ns);
		if (from_ns < to_ns)
			check_lack(des, report, DES_G, client, engine, from_ns,
				   to_ns, era->share->guarantee, 1000,
				   2 * era->q_ns);
	}
}

/* A client that G2 is about; the share that it would use alone is *num / *den. */
static bool is_synchronous(const struct des *des, unsigned int client,
			   unsigned int engine, const struct des_era *era,
			   u64 *num, u64 *den)
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

static void check_g2(const struct des *des, struct des_report *report,
		     unsigned int client, unsigned int engine,
		     const struct des_era *era)
{
	const struct des_track *track = &des->client[client].track[engine];
	struct des_period period = {};
	u64 from_ns, to_ns, num, den;

	if (!is_synchronous(des, client, engine, era, &num, &den))
		return;
	/* What comes when the engine has just given up comes too late. */
	while (des_period(des, track, era->params->linger_us * DES_US - 1,
			  &period)) {
		from_ns = max(period.from_ns, era->from_ns);
		to_ns = min(period.to_ns, era->to_ns);
		if (from_ns < to_ns)
			check_lack(des, report, DES_G2, client, engine, from_ns,
				   to_ns, num, den, 3 * era->q_ns);
	}
}

static void check_c(const struct des *des, struct des_report *report,
		    unsigned int client, unsigned int engine,
		    const struct des_era *era)
{
	struct des_violation v = {
		.promise = DES_C, .client = client, .engine = engine,
	};
	s64 slack_ns = 2 * era->q_ns;
	struct des_scan scan;

	des_scan(des, client, engine, era->from_ns, era->to_ns, era->share->cap,
		 1000, &scan);
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
 * des_check() - all promises, on all of a record
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

/**
 * des_violations() - of all promises
 * @report: by des_check()
 *
 * Return: how many.
 */
u64 des_violations(const struct des_report *report)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < DES_NR_PROMISES; i++)
		sum += report->violations[i];
	return sum;
}

/**
 * des_report_print() - what was violated worst, as comments of TAP
 * @des:    record
 * @report: of it
 */
void des_report_print(const struct des *des, const struct des_report *report)
{
	unsigned int i;

	for (i = 0; i < DES_NR_PROMISES; i++) {
		const struct des_violation *v = &report->worst[i];

		if (!report->violations[i])
			continue;
		printf("# %s: %llu of %llu violated; worst: client %u",
		       promise_names[i], report->violations[i],
		       report->checked[i], v->client);
		if (i == DES_P)
			printf(" and %u", v->other);
		printf(" engine %u, %llu .. %llu: %lld ns, bound %lld ns, p %llu ns\n",
		       v->engine, v->from_ns, v->to_ns, v->got_ns, v->bound_ns,
		       des_overrun_ns(des, v->engine));
	}
	fflush(stdout);
}
