// SPDX-License-Identifier: GPL-2.0
/* See des_check.h: W, P, L. */
#include <stdlib.h>
#include <string.h>

#include "des_check_impl.h"

/* After a policy chose nobody it is not asked again for 10 us; that can happen twice. */
#define W_SLACK_NS	(2 * 10 * DES_US)

/**
 * struct walk - a walk along the service of an entity
 * @track:  track of the entity
 * @from_ns: where the walk begins; service before that does not count
 * @i:      index of the span in which the walk is, or which is next
 * @sum_ns: service in the spans before
 */
struct walk {
	const struct des_track *track;
	u64 from_ns;
	size_t i;
	u64 sum_ns;
};

static void walk_begin(struct walk *walk, const struct des_track *track, u64 from_ns)
{
	*walk = (struct walk){
		track, from_ns, des_first_after(&track->spans, end_ns, from_ns), 0,
	};
}

/* Service from the begin of the walk to @at_ns, which is no less than in the call before. */
static u64 walk_to(struct walk *walk, u64 at_ns)
{
	const struct des_span *span = walk->track->spans.at + walk->i;
	const struct des_span *end = walk->track->spans.at +
				     walk->track->spans.nr;

	for (; span < end && span->end_ns <= at_ns; span++, walk->i++)
		walk->sum_ns += span->end_ns - max(span->start_ns, walk->from_ns);
	if (span < end && span->start_ns < at_ns)
		return walk->sum_ns + at_ns - max(span->start_ns, walk->from_ns);
	return walk->sum_ns;
}

/* When service begins or ends next, after walk_to(@at_ns). */
static u64 walk_next(const struct walk *walk, u64 at_ns)
{
	const struct des_span *span = walk->track->spans.at + walk->i;

	if (walk->i >= walk->track->spans.nr)
		return DES_NEVER;
	return span->start_ns > at_ns ? span->start_ns : span->end_ns;
}

static void scan_pair(const struct des *des, struct des_report *report,
		      const struct des_violation *pair, u64 from_ns, u64 to_ns,
		      const struct vgpu_share *a, const struct vgpu_share *b, u64 q_ns)
{
	__int128 most = 0, least = 0, slack = (__int128)3000 * q_ns *
					      (a->weight + b->weight), f;
	struct des_violation v = *pair, worst = *pair;
	struct walk walk_a, walk_b;
	u64 most_ns = from_ns, least_ns = from_ns, at_ns = from_ns;
	__int128 over = -slack;

	walk_begin(&walk_a, &des->client[v.client].track[v.engine], from_ns);
	walk_begin(&walk_b, &des->client[v.other].track[v.engine], from_ns);
	while (at_ns < to_ns) {
		walk_to(&walk_a, at_ns);
		walk_to(&walk_b, at_ns);
		at_ns = min(min(walk_next(&walk_a, at_ns), walk_next(&walk_b, at_ns)), to_ns);
		/* w_a w_b (y_a / w_a - y_b / w_b) */
		f = (__int128)b->weight *
		    ((__int128)1000 * walk_to(&walk_a, at_ns) -
		     (__int128)a->guarantee * (at_ns - from_ns)) -
		    (__int128)a->weight *
		    ((__int128)1000 * walk_to(&walk_b, at_ns) -
		     (__int128)b->guarantee * (at_ns - from_ns));
		if (most - f - slack > over || f - least - slack > over) {
			over = max(most - f, f - least) - slack;
			worst.from_ns = most - f > f - least ? most_ns : least_ns;
			worst.to_ns = at_ns;
		}
		if (f > most) {
			most = f;
			most_ns = at_ns;
		}
		if (f < least) {
			least = f;
			least_ns = at_ns;
		}
	}
	/* In the report these are times of the client with the lower weight. */
	worst.bound_ns = slack / 1000 / max(a->weight, b->weight);
	worst.got_ns = (over + slack) / 1000 / max(a->weight, b->weight);
	des_verdict(report, &worst, worst.got_ns - worst.bound_ns, worst.bound_ns);
}

/**
 * des_check_p() - check P
 * @des:    record
 * @report: report to which the cases are added
 * @i:      index of a client
 * @j:      index of another client
 * @engine: index of the engine
 */
void des_check_p(const struct des *des, struct des_report *report,
		 unsigned int i, unsigned int j, unsigned int engine)
{
	struct des_violation pair = {
		.promise = DES_P, .client = i, .other = j, .engine = engine,
	};
	const struct des_track *track_a = &des->client[i].track[engine];
	const struct des_track *track_b = &des->client[j].track[engine];
	struct des_era era_a = {}, era_b;

	while (des_era(des, i, engine, &era_a)) {
		era_b = (struct des_era){};
		while (des_era(des, j, engine, &era_b)) {
			u64 from_ns = max(era_a.from_ns, era_b.from_ns);
			u64 to_ns = min(era_a.to_ns, era_b.to_ns);
			struct des_period a = {}, b = {};
			bool more;

			if (from_ns >= to_ns || era_a.share->cap < 1000 ||
			    era_b.share->cap < 1000)
				continue;
			more = des_period(des, track_a, 0, &a) &&
			       des_period(des, track_b, 0, &b);
			while (more) {
				u64 start_ns = max(max(a.from_ns, b.from_ns), from_ns);
				u64 end_ns = min(min(a.to_ns, b.to_ns), to_ns);

				/* In a shorter time no client can get so much more. */
				if (start_ns + 3 * era_a.q_ns < end_ns)
					scan_pair(des, report, &pair, start_ns,
						  end_ns, era_a.share, era_b.share, era_a.q_ns);
				more = a.to_ns < b.to_ns ?
				       des_period(des, track_a, 0, &a) :
				       des_period(des, track_b, 0, &b);
			}
		}
	}
}

/**
 * struct bucket - by how much a client has had more than its guarantee, or its cap, in that
 *                 interval up to now in which it had most more
 * @des:      record
 * @record:   record of the client
 * @client:   index of the client
 * @engine:   index of the engine
 * @cap:      the bucket is about the cap, not about the guarantee
 * @walk:     walk along the client's service
 * @at_ns:    time up to which the bucket has come
 * @served_ns: service up to there
 * @level:    that excess, in thousandths of a ns
 * @share:    index of the share in force in the record of shares
 * @params:   index of the parameters in force in the record of parameters
 */
struct bucket {
	const struct des *des;
	const struct des_record *record;
	unsigned int client;
	unsigned int engine;
	bool cap;
	struct walk walk;
	u64 at_ns;
	u64 served_ns;
	s64 level;
	size_t share;
	size_t params;
};

static void bucket_begin(struct bucket *bucket, const struct des *des,
			 unsigned int client, unsigned int engine, bool cap)
{
	*bucket = (struct bucket){
		.des = des, .record = &des->client[client], .client = client,
		.engine = engine, .cap = cap,
	};
	walk_begin(&bucket->walk, &des->client[client].track[engine], 0);
}

static u64 bucket_rate(const struct bucket *bucket)
{
	const struct vgpu_share *share;

	share = &bucket->record->shares.at[bucket->share].share;
	return bucket->cap ? share->cap : share->guarantee;
}

/*
 * Goes on to @to_ns. An excess is kept when the share changes; but where a cap is raised, which
 * holds at once, and where a policy begins, which knows of no service before, there is none.
 */
static void bucket_to(struct bucket *bucket, u64 to_ns)
{
	const struct des *des = bucket->des;

	for (;;) {
		const struct des_params_at *params;
		const struct des_share_at *share;
		u64 next_ns, served_ns;

		while (bucket->share + 1 < bucket->record->shares.nr &&
		       bucket->record->shares.at[bucket->share + 1].at_ns <= bucket->at_ns) {
			share = &bucket->record->shares.at[bucket->share++];
			if (bucket->cap && share[1].share.cap > share->share.cap)
				bucket->level = 0;
		}
		while (bucket->params + 1 < des->params.nr &&
		       des->params.at[bucket->params + 1].at_ns <= bucket->at_ns) {
			params = &des->params.at[bucket->params++];
			if (params[1].params.policy != params->params.policy)
				bucket->level = 0;
		}
		if (bucket->at_ns >= to_ns)
			return;
		next_ns = min(to_ns, walk_next(&bucket->walk, bucket->at_ns));
		share = bucket->record->shares.at + bucket->share + 1;
		if (bucket->share + 1 < bucket->record->shares.nr)
			next_ns = min(next_ns, share->at_ns);
		params = des->params.at + bucket->params + 1;
		if (bucket->params + 1 < des->params.nr)
			next_ns = min(next_ns, params->at_ns);
		served_ns = walk_to(&bucket->walk, next_ns);
		bucket->level += 1000 * (served_ns - bucket->served_ns) -
				 bucket_rate(bucket) * (next_ns - bucket->at_ns);
		bucket->level = max(bucket->level, 0);
		bucket->served_ns = served_ns;
		bucket->at_ns = next_ns;
	}
}

/* Whether the clock jumps in the interval: the scheduler can do nothing in the time skipped. */
static bool jumps_in(const struct des *des, u64 from_ns, u64 to_ns)
{
	unsigned int i;

	for (i = 0; i < des->config->nr_actions; i++) {
		const struct des_action *action = &des->config->action[i];

		if (action->kind == DES_JUMP && action->at_ns < to_ns &&
		    action->at_ns + action->jump_ns > from_ns)
			return true;
	}
	return false;
}

/*
 * Checks one idle time of the engine against one client: it was not to be idle while the client
 * waits.
 */
static void check_idle(const struct des *des, struct des_report *report,
		       struct bucket *bucket, const struct des_span *idle,
		       const struct des_era *era, struct des_period *period,
		       bool *more, struct des_violation *v)
{
	const struct des_track *track = bucket->walk.track;
	u64 from_ns, to_ns, slack_ns;

	slack_ns = W_SLACK_NS + 2 * des->config->kick_ns;
	while (*more && period->to_ns <= idle->start_ns)
		*more = des_period(des, track, 0, period);
	if (!*more)
		return;
	from_ns = max(max(idle->start_ns, period->from_ns), era->at_ns);
	to_ns = min(min(idle->end_ns, period->to_ns), era->to_ns);
	if (from_ns >= to_ns)
		return;
	bucket_to(bucket, from_ns);
	from_ns += (bucket->level + era->share->cap - 1) / era->share->cap;
	if (from_ns >= to_ns || jumps_in(des, from_ns, to_ns))
		return;
	v->from_ns = from_ns;
	v->to_ns = to_ns;
	v->got_ns = to_ns - from_ns;
	v->bound_ns = slack_ns;
	des_verdict(report, v, v->got_ns - (s64)slack_ns, slack_ns);
}

/**
 * des_check_w() - check W
 * @des:    record
 * @report: report to which the cases are added
 * @engine: index of the engine
 */
void des_check_w(const struct des *des, struct des_report *report, unsigned int engine)
{
	size_t nr_idle, k;
	struct des_span *idle = des_idle_spans(des, engine, &nr_idle);
	unsigned int i;

	for (i = 0; i < des->config->nr_clients; i++) {
		const struct des_track *track = &des->client[i].track[engine];
		struct des_violation v = {
			.promise = DES_W, .client = i, .engine = engine,
		};
		struct des_era era = {};
		struct bucket bucket;

		bucket_begin(&bucket, des, i, engine, true);
		for (k = 0; des_era(des, i, engine, &era); ) {
			struct des_period period = {};
			bool more = des_period(des, track, 0, &period);

			report->checked[DES_W]++;
			while (k < nr_idle && idle[k].end_ns <= era.at_ns)
				k++;
			for (; k < nr_idle && idle[k].start_ns < era.to_ns; k++)
				check_idle(des, report, &bucket, &idle[k], &era,
					   &period, &more, &v);
			/* The next era may begin within the idle time that came last. */
			k -= k > 0;
		}
	}
	free(idle);
}

/* Whether an entity was runnable at some time of [@from_ns, @to_ns). */
static bool was_runnable(const struct des_track *track, u64 from_ns, u64 to_ns)
{
	size_t next = des_first_after(&track->edges, at_ns, from_ns);

	if (next && track->edges.at[next - 1].runnable)
		return true;
	return next < track->edges.nr && track->edges.at[next].at_ns < to_ns;
}

/* The share of @client at @at_ns. */
static const struct vgpu_share *share_at(const struct des *des, unsigned int client, u64 at_ns)
{
	const struct des_record *record = &des->client[client];
	size_t i = record->shares.nr - 1;

	while (i && record->shares.at[i].at_ns > at_ns)
		i--;
	return &record->shares.at[i].share;
}

/* Whether @client was runnable at a moment of @v's interval at which it had a guarantee. */
static bool was_guaranteed(const struct des *des, unsigned int client,
			   const struct des_violation *v)
{
	const struct des_record *record = &des->client[client];
	size_t i;

	for (i = 0; i < record->shares.nr; i++) {
		const struct des_share_at *share = &record->shares.at[i];
		u64 from_ns = max(share->at_ns, v->from_ns);
		u64 to_ns = i + 1 < record->shares.nr ?
			    min(share[1].at_ns, v->to_ns) : v->to_ns;

		if (share->share.guarantee && from_ns < to_ns &&
		    was_runnable(&record->track[v->engine], from_ns, to_ns))
			return true;
	}
	return false;
}

/*
 * Whether the client of @run had a guarantee when the run was chosen. That may have been before or
 * after a change of shares at the time at which the run begins: the record does not tell.
 */
static bool run_is_guaranteed(const struct des *des, const struct des_run *run)
{
	u64 before_ns = run->start_ns ? run->start_ns - 1 : 0;

	return share_at(des, run->client, run->start_ns)->guarantee ||
	       share_at(des, run->client, before_ns)->guarantee;
}

/* The first run in @v's interval of another client that has a guarantee, or that has none. */
static const struct des_run *first_other(const struct des *des, const struct des_violation *v,
					 bool guaranteed)
{
	const struct des_engine_record *record = &des->engine[v->engine];
	size_t i = des_first_after(&record->runs, start_ns, v->from_ns);

	for (; i < record->runs.nr; i++) {
		const struct des_run *run = &record->runs.at[i];

		if (run->start_ns >= v->to_ns)
			break;
		if (run->client != v->client && run_is_guaranteed(des, run) == guaranteed)
			return run;
	}
	return NULL;
}

/*
 * Whether @v's client is the only one with a guarantee that can want the engine in the interval. A
 * client that gets its guarantee in the interval counts, too. And a client without work may have a
 * run by its guarantee: an engine that stops at a deadline or on request reports that there may be
 * work left, and lingers on that client in its next run as on one that is runnable.
 */
static bool is_alone(const struct des *des, const struct des_violation *v)
{
	unsigned int i;

	for (i = 0; i < des->config->nr_clients; i++)
		if (i != v->client && was_guaranteed(des, i, v))
			return false;
	return !first_other(des, v, true);
}

/* Whether a client without a guarantee had a run while @v's client waited. */
static bool was_passed(const struct des *des, struct des_violation *v)
{
	const struct des_run *run = first_other(des, v, false);

	if (run)
		v->other = run->client;
	return run;
}

static void check_wait(const struct des *des, struct des_report *report,
		       const struct des_era *era, struct des_violation *v)
{
	u64 bound_ns = era->q_ns + des->config->kick_ns;

	if (jumps_in(des, v->from_ns, v->to_ns))
		return;
	v->got_ns = v->to_ns - v->from_ns;
	if (v->got_ns > bound_ns && !is_alone(des, v))
		bound_ns += era->q_ns * 1000 / era->share->guarantee + 1;
	v->bound_ns = bound_ns;
	des_verdict(report, v, v->got_ns - (s64)bound_ns, bound_ns);
	if (!was_passed(des, v))
		return;
	v->bound_ns = 0;
	des_verdict(report, v, v->got_ns, bound_ns);
}

static void check_waits(const struct des *des, struct des_report *report,
			unsigned int client, unsigned int engine)
{
	const struct des_track *track = &des->client[client].track[engine];
	struct des_era era = {};
	struct bucket guarantee, cap;
	size_t i = 0;

	bucket_begin(&guarantee, des, client, engine, false);
	bucket_begin(&cap, des, client, engine, true);
	while (des_era(des, client, engine, &era)) {
		if (!era.share->guarantee)
			continue;
		while (i < track->waits.nr &&
		       track->waits.at[i].wake_ns < era.from_ns)
			i++;
		for (; i < track->waits.nr; i++) {
			const struct des_wait *wait = &track->waits.at[i];
			struct des_violation v = {
				.promise = DES_L, .client = client,
				.engine = engine, .from_ns = wait->wake_ns,
				.to_ns = min(wait->run_ns, era.to_ns),
			};

			if (wait->wake_ns >= era.to_ns)
				break;
			bucket_to(&guarantee, wait->wake_ns);
			bucket_to(&cap, wait->wake_ns);
			if (!guarantee.level && !cap.level)
				check_wait(des, report, &era, &v);
		}
	}
}

/**
 * des_check_l() - check L
 * @des:    record
 * @report: report to which the cases are added
 * @engine: index of the engine
 */
void des_check_l(const struct des *des, struct des_report *report, unsigned int engine)
{
	unsigned int i;

	for (i = 0; i < des->config->nr_clients; i++)
		check_waits(des, report, i, engine);
}
