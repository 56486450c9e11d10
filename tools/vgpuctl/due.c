// SPDX-License-Identifier: GPL-2.0
/* What is due to each vGPU of an engine; due.h has the terms. */
#include <stddef.h>

#include "due.h"

static double due_limit(const struct due_claim *claim)
{
	return claim->demand < claim->cap ? claim->demand : claim->cap;
}

/**
 * due_by_level() - share an engine by guarantee, cap, weight and demand
 * @claims: the claims of all vGPUs; @limited and @due are written
 * @nr:     length of @claims
 * @whole:  how much an engine is
 *
 * Due to a vGPU is min(demand, cap, guarantee + level * weight), with the one level at which the
 * sum over all vGPUs is the whole engine, or infinity if demands and caps do not reach this sum.
 * The level only rises when vGPUs that it lifts over their limits are taken out, so after at most
 * @nr rounds none is left.
 */
void due_by_level(struct due_claim *claims, unsigned int nr, double whole)
{
	double rest = whole, weights = 0, level = 0;
	struct due_claim *claim;
	bool again = true;

	for (claim = claims; claim < claims + nr; claim++) {
		claim->limited = !claim->started || claim->held;
		if (claim->limited)
			continue;
		rest -= claim->guarantee;
		weights += claim->weight;
	}
	while (again) {
		again = false;
		level = weights > 0 && rest > 0 ? rest / weights : 0;
		for (claim = claims; claim < claims + nr; claim++) {
			if (claim->limited ||
			    claim->guarantee + level * claim->weight <= due_limit(claim))
				continue;
			claim->limited = true;
			again = true;
			rest -= due_limit(claim) - claim->guarantee;
			weights -= claim->weight;
		}
	}
	for (claim = claims; claim < claims + nr; claim++) {
		if (!claim->started || claim->held)
			claim->due = 0;
		else
			claim->due = claim->limited ? due_limit(claim) :
				claim->guarantee + level * claim->weight;
	}
}

/*
 * A fixed part of the engine, also while the vGPU is in quarantine; idle time in it goes to nobody.
 */
static void due_fix(struct due_claim *claim, double part)
{
	claim->guarantee = part;
	claim->cap = part;
	claim->weight = 0;
	claim->held = false;
}

/* The same to all, and idle time of one goes to the others. */
static void due_even(struct due_claim *claims, unsigned int nr, double whole)
{
	struct due_claim *claim;

	for (claim = claims; claim < claims + nr; claim++) {
		claim->guarantee = 0;
		claim->cap = whole;
		claim->weight = 1;
	}
}

/* The same fixed part for each. */
static void due_slot(struct due_claim *claims, unsigned int nr, double whole)
{
	struct due_claim *claim;
	unsigned int started = 0;

	for (claim = claims; claim < claims + nr; claim++)
		started += claim->started;
	for (claim = claims; claim < claims + nr; claim++)
		due_fix(claim, started ? whole / started : 0);
}

/* The fixed part that comes with the type. */
static void due_size(struct due_claim *claims, unsigned int nr, double whole)
{
	struct due_claim *claim;

	(void)whole;
	for (claim = claims; claim < claims + nr; claim++)
		due_fix(claim, claim->part);
}

/*
 * By kind of policy: rewrites the claims into guarantees, caps and weights by which due_by_level()
 * shares as such a policy does. NULL: the policy goes by the claims as they were set.
 */
static void (* const due_rewrite[])(struct due_claim *claims, unsigned int nr, double whole) = {
	[VGPU_DUE_EQUAL] = due_even,
	[VGPU_DUE_SLOT] = due_slot,
	[VGPU_DUE_SIZE] = due_size,
	[VGPU_DUE_SHARE] = NULL,
};

/**
 * due_by_rule() - share an engine like a policy
 * @rule:   the kind of the policy
 * @claims: the claims of all vGPUs; @due is written, and guarantee, cap, weight, held and limited
 *          may be
 * @nr:     length of @claims
 * @whole:  how much an engine is
 *
 * Return: true, or false if the kind is not known.
 */
bool due_by_rule(enum vgpu_ctl_due rule, struct due_claim *claims, unsigned int nr, double whole)
{
	if (rule == VGPU_DUE_UNKNOWN || rule >= sizeof(due_rewrite) / sizeof(due_rewrite[0]))
		return false;
	if (due_rewrite[rule])
		due_rewrite[rule](claims, nr, whole);
	due_by_level(claims, nr, whole);
	return true;
}
