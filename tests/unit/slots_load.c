// SPDX-License-Identifier: GPL-2.0
/* See slots_load.h. */
#include "slots_load.h"

/* Any load but an idle one. */
static void load_random(struct load *load, u64 *rnd, u64 slice_ns, u64 now_ns)
{
	load->kind = random_range(rnd, LOAD_HOG, LOAD_JOBS);
	load->over_ns = random_one_in(rnd, 3) ? random_range(rnd, 1, 9 * MS) :
					     random_range(rnd, 1, 100 * US);
	if (random_one_in(rnd, 10))
		load->over_ns = random_range(rnd, slice_ns, 20 * slice_ns);
	load->period_ns = random_range(rnd, 10 * US, 10 * slice_ns);
	load->job_ns = random_one_in(rnd, 4) ? random_range(rnd, 1, 3 * slice_ns) :
					    random_range(rnd, 1, slice_ns);
	load->next_ns = now_ns + random_range(rnd, 0, load->period_ns);
	load->backlog_ns = 0;
	load->rnd = random_next(rnd);
}

bool load_overruns(const struct load *load)
{
	return load->kind == LOAD_OVERRUNS || load->kind == LOAD_CHRONIC;
}

/* Whether the vGPU has work at any time. */
bool load_always(const struct load *load)
{
	return load->kind != LOAD_JOBS && load->kind != LOAD_IDLE;
}

static bool load_has_work(const struct load *load)
{
	return load->kind == LOAD_JOBS ? load->backlog_ns : load->kind != LOAD_IDLE;
}

/* How long the vGPU holds the engine, where its run is to stop after @slice_ns. */
static u64 load_run_ns(struct load *load, u64 slice_ns)
{
	switch (load->kind) {
	case LOAD_CHRONIC:
		return slice_ns + load->over_ns;
	case LOAD_OVERRUNS:
		return slice_ns + (random_one_in(&load->rnd, 3) ? 0 :
				   random_range(&load->rnd, 0, load->over_ns));
	case LOAD_FLICKERS:
		return random_range(&load->rnd, 0, slice_ns);
	case LOAD_JOBS:
		return min(load->backlog_ns, slice_ns);
	default:
		return slice_ns;
	}
}

static void load_arrive(struct load *load, u64 now_ns)
{
	while (load->kind == LOAD_JOBS && load->next_ns <= now_ns) {
		load->backlog_ns += load->job_ns;
		load->next_ns += random_range(&load->rnd, 1, 2 * load->period_ns);
	}
}

static void loads_pick(struct loads *loads)
{
	struct world *w = &loads->w;
	int i;

	if (loads->running != NOBODY)
		return;
	i = world_pick(w);
	loads->running = i;
	if (i == NOBODY)
		return;
	loads->start_ns = w->now_ns;
	loads->done_ns = w->now_ns + load_run_ns(&loads->load[i], w->deadline_ns - w->now_ns);
}

static void loads_done(struct loads *loads)
{
	u64 ran_ns = loads->done_ns - loads->start_ns;
	unsigned int i = loads->running;

	loads->w.now_ns = loads->start_ns;
	world_ran(&loads->w, i, ran_ns);
	if (loads->load[i].kind == LOAD_JOBS)
		loads->load[i].backlog_ns -= ran_ns;
	loads->running = NOBODY;
	if (load_has_work(&loads->load[i]))
		world_requeue(&loads->w, i);
}

/* The next event: work comes, a run is over, or the policy is to be asked again. */
static void loads_step(struct loads *loads, u64 next_ns)
{
	struct world *w = &loads->w;
	unsigned int i;

	if (loads->running != NOBODY)
		next_ns = loads->done_ns;
	else if (w->rq.nr_queued && w->until_ns)
		next_ns = w->until_ns;
	for (i = 0; i < w->nr; i++)
		if (loads->load[i].kind == LOAD_JOBS)
			next_ns = min(next_ns, loads->load[i].next_ns);
	w->now_ns = max(w->now_ns, next_ns);

	if (loads->running != NOBODY && loads->done_ns <= w->now_ns)
		loads_done(loads);
	for (i = 0; i < w->nr; i++) {
		load_arrive(&loads->load[i], w->now_ns);
		if (i != loads->running && !w->entity[i].queued && w->entity[i].started &&
		    load_has_work(&loads->load[i]))
			world_wake(w, i);
	}
	loads_pick(loads);
	for (i = 0; i < w->nr; i++)
		loads->service_ns[i] = w->service_ns[i];
	if (loads->running != NOBODY)
		loads->service_ns[loads->running] += w->now_ns - loads->start_ns;
	if (loads->see)
		loads->see(loads);
}

/**
 * loads_run() - simulate
 * @loads:  loads
 * @events: how many events at most; the first one is at once
 * @end_ns: until when
 */
void loads_run(struct loads *loads, unsigned int events, u64 end_ns)
{
	unsigned int event;

	for (event = 0; event < events && loads->w.now_ns < end_ns; event++)
		loads_step(loads, event ? end_ns : loads->w.now_ns);
}

void loads_begin(struct loads *loads, const struct vgpu_sched_policy *policy, u32 nr_slots,
		 u64 slice_ns)
{
	memset(loads, 0, sizeof(*loads));
	slots_begin(&loads->w, policy, nr_slots, slice_ns);
	loads->running = NOBODY;
}

/* The run under way goes on to its end, and then the world ends. */
void loads_end(struct loads *loads)
{
	if (loads->running != NOBODY)
		loads_done(loads);
	world_exit(&loads->w);
}

/**
 * loads_populate() - fill the GPU with vGPUs at random
 * @loads: loads; for equal_share the number of slots says how many vGPUs fit
 * @rnd:   source of random numbers
 */
void loads_populate(struct loads *loads, u64 *rnd)
{
	struct world *w = &loads->w;
	u32 first = 0, size, slots = w->rq.nr_slots;

	while (first < slots && w->nr < LOADS_MAX) {
		for (size = random_range(rnd, 1, slots); slots % size; size--)
			;
		/* It lies at a multiple of its size, and not over the end. */
		while (first % size || first + size > slots)
			for (size--; slots % size; size--)
				;
		if ((first + size == slots && !w->nr) || !random_one_in(rnd, 4)) {
			load_random(&loads->load[w->nr], rnd, w->rq.slice_ns, w->now_ns);
			world_start(w, world_join(w, first, size));
		}
		first += size;
	}
}

/* The overrun of entity @i that is not yet paid back, with that of the run under way. */
u64 loads_debt_ns(const struct loads *loads, unsigned int i)
{
	u64 debt_ns = vgpu_slots_of(&loads->w.entity[i])->debt_ns;

	if (i == loads->running && loads->w.now_ns > loads->w.deadline_ns)
		debt_ns += loads->w.now_ns - loads->w.deadline_ns;
	return debt_ns;
}

/* The sum of the overruns of all entities that are not yet paid back. */
u64 loads_debts_ns(const struct loads *loads)
{
	u64 debts_ns = 0;
	unsigned int i;

	for (i = 0; i < loads->w.nr; i++)
		debts_ns += loads_debt_ns(loads, i);
	return debts_ns;
}
