// SPDX-License-Identifier: GPL-2.0
/* What is due to each vGPU of an engine. */
#include <stddef.h>
#include <string.h>

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

static void due_even(struct due_claim *claims, unsigned int nr, double whole)
{
	struct due_claim *claim;

	for (claim = claims; claim < claims + nr; claim++) {
		claim->guarantee = 0;
		claim->cap = whole;
		claim->weight = 1;
	}
}

static void due_equal(struct due_claim *claims, unsigned int nr, double whole)
{
	struct due_claim *claim;
	unsigned int started = 0;

	for (claim = claims; claim < claims + nr; claim++)
		started += claim->started;
	for (claim = claims; claim < claims + nr; claim++)
		due_fix(claim, started ? whole / started : 0);
}

static void due_part(struct due_claim *claims, unsigned int nr, double whole)
{
	struct due_claim *claim;

	(void)whole;
	for (claim = claims; claim < claims + nr; claim++)
		due_fix(claim, claim->part);
}

static void due_weight(struct due_claim *claims, unsigned int nr, double whole)
{
	struct due_claim *claim;
	double weights = 0;

	for (claim = claims; claim < claims + nr; claim++)
		weights += claim->started ? claim->weight : 0;
	for (claim = claims; claim < claims + nr; claim++)
		due_fix(claim, weights > 0 ? whole * claim->weight / weights : 0);
}

/**
 * struct due_rule - a rule by which a policy shares an engine
 * @name:    the word by which a policy names its rule
 * @rewrite: turns claims as they were set into the guarantees, caps and weights that say the same
 *           as the rule; NULL: they are those that were set
 */
struct due_rule {
	const char *name;
	void (*rewrite)(struct due_claim *claims, unsigned int nr, double whole);
};

static const struct due_rule due_rules[] = {
	{ "even", due_even },		/* all alike; idle time goes to those that have work */
	{ "equal", due_equal },		/* each the same fixed part */
	{ "part", due_part },		/* each the part that comes with its type */
	{ "weight", due_weight },	/* each a fixed part by weight */
	{ "guarantee", NULL },		/* guarantee, cap and weight as they were set */
};

/**
 * due_by_rule() - share an engine by the rule of a policy
 * @rule:   name of the rule
 * @claims: the claims of all vGPUs; @due is written, and all but @part, @demand and @started may be
 * @nr:     length of @claims
 * @whole:  how much an engine is
 *
 * Return: true, or false if the rule is not known.
 */
bool due_by_rule(const char *rule, struct due_claim *claims, unsigned int nr, double whole)
{
	size_t i;

	for (i = 0; i < sizeof(due_rules) / sizeof(due_rules[0]); i++) {
		if (strcmp(due_rules[i].name, rule))
			continue;
		if (due_rules[i].rewrite)
			due_rules[i].rewrite(claims, nr, whole);
		due_by_level(claims, nr, whole);
		return true;
	}
	return false;
}
