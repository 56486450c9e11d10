/* SPDX-License-Identifier: GPL-2.0 */
/* For tests of equal_share and fixed_share: loads of vGPUs on a world (slots_world.h). */
#ifndef _SLOTS_LOAD_H
#define _SLOTS_LOAD_H

#include "slots_world.h"

#define LOADS_MAX	16

enum load_kind {
	LOAD_IDLE,
	LOAD_HOG,	/* always has work, and stops in time */
	LOAD_OVERRUNS,	/* always has work, and stops late at times, by up to over_ns */
	LOAD_CHRONIC,	/* always has work, and stops late each time, by over_ns */
	LOAD_FLICKERS,	/* always has work, but ends its runs early */
	LOAD_JOBS,	/* gets work now and then */
};

/**
 * struct load - what a vGPU does
 * @kind:       how it behaves
 * @over_ns:    by how much it stops late, if it does
 * @period_ns:  mean time between two of its jobs; they are up to twice that apart
 * @job_ns:     work of a job
 * @next_ns:    when its next job comes
 * @backlog_ns: work that has come and is not done
 * @rnd:        its own source of random numbers
 */
struct load {
	enum load_kind kind;
	u64 over_ns;
	u64 period_ns;
	u64 job_ns;
	u64 next_ns;
	u64 backlog_ns;
	u64 rnd;
};

/**
 * struct loads - loads on a world, simulated event by event
 * @w:          the world
 * @load:       what each entity of it does, by number
 * @running:    the entity that runs, or NOBODY
 * @start_ns:   when its run began
 * @done_ns:    when it will be over
 * @service_ns: of each entity, with that of the run under way
 * @see:        called after each event; may be NULL
 * @data:       @see's own
 */
struct loads {
	struct world w;
	struct load load[LOADS_MAX];
	int running;
	u64 start_ns;
	u64 done_ns;
	u64 service_ns[LOADS_MAX];
	void (*see)(struct loads *loads);
	void *data;
};

void loads_begin(struct loads *loads, const struct vgpu_sched_policy *policy, u32 nr_slots,
		 u64 slice_ns);
void loads_end(struct loads *loads);
void loads_populate(struct loads *loads, u64 *rnd);
void loads_run(struct loads *loads, unsigned int events, u64 end_ns);

bool load_overruns(const struct load *load);
bool load_always(const struct load *load);
u64 loads_debt_ns(const struct loads *loads, unsigned int i);
u64 loads_debts_ns(const struct loads *loads);

#endif /* _SLOTS_LOAD_H */
