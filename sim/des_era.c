// SPDX-License-Identifier: GPL-2.0
/* See des_check_impl.h: what all checkers are made of. */
#include <stdlib.h>
#include <string.h>

#include "des_check_impl.h"

static const char * const promise_names[DES_NR_PROMISES] = {
	"G", "G2", "C", "W", "P", "L", "WALL", "JOBS",
};

/* The name of a promise, as in des_check.h. */
const char *des_promise_name(enum des_promise promise)
{
	return promise_names[promise];
}

/* p: the largest overrun of an engine in the record. */
u64 des_overrun_ns(const struct des *des, unsigned int engine)
{
	return des->engine[engine].overrun_ns;
}

/**
 * des_verdict() - report that one case of a promise was checked
 * @report: report to which it is added
 * @v:      the case, as it is reported if the promise was broken
 * @over:   by how much the promise was missed; up to 0: it was kept
 * @slack:  how much the promise allows; 0: nothing
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

/**
 * des_era() - the next time in which a client's share and the parameters do not change under qos
 * @des:    record
 * @client: index of the client
 * @engine: index of the engine, whose overruns count
 * @era:    the era before, or all 0; set to the next one
 *
 * Return: false if there is none.
 */
bool des_era(const struct des *des, unsigned int client, unsigned int engine, struct des_era *era)
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
 * @track:  track of the entity
 * @gap_ns: gaps of up to this, in which the entity is not runnable, do not end a period
 * @period: the period before, or all 0; set to the next one
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
		/* The device was closed or reset, and opened again at the same time. */
		if (track->edges.at[i + 1].at_ns == period->to_ns ||
		    track->edges.at[i + 1].at_ns - period->to_ns > gap_ns)
			break;
		i += 2;
	}
	period->index = i;
	return true;
}

/* For qsort(): times in the order of their begins. */
int des_span_order(const void *a, const void *b)
{
	const struct des_span *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/**
 * des_idle_spans() - all times in which an engine served no client
 * @des:     record
 * @engine:  index of the engine
 * @nr_idle: set to the number of these times
 *
 * Return: the times in order, which the caller frees.
 */
struct des_span *des_idle_spans(const struct des *des, unsigned int engine, size_t *nr_idle)
{
	struct des_span *spans;
	size_t nr = 0, i, n = 0;
	u64 at_ns = 0;

	for (i = 0; i < des->config->nr_clients; i++)
		nr += des->client[i].track[engine].spans.nr;
	spans = malloc((nr + 1) * sizeof(*spans));
	BUG_ON(!spans);
	for (i = 0; i < des->config->nr_clients; i++) {
		const struct des_track *track = &des->client[i].track[engine];

		if (track->spans.nr)
			memcpy(spans + n, track->spans.at, track->spans.nr * sizeof(*spans));
		n += track->spans.nr;
	}
	qsort(spans, nr, sizeof(*spans), des_span_order);
	for (i = 0, n = 0; i < nr; i++) {
		u64 end_ns = spans[i].end_ns;

		BUG_ON(spans[i].start_ns < at_ns);
		if (spans[i].start_ns > at_ns)
			spans[n++] = (struct des_span){ at_ns, spans[i].start_ns };
		at_ns = end_ns;
	}
	if (at_ns < des->end_ns)
		spans[n++] = (struct des_span){ at_ns, des->end_ns };
	*nr_idle = n;
	return spans;
}
