/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The adversarial search: it finds, by hill climbing, clients that behave so as to get more of an
 * engine than is due to them, or to leave a neighbour with less, under the policies and timeline.c
 * as they are in the kernel, in virtual time.
 */
#ifndef BENCH_ATTACK_H
#define BENCH_ATTACK_H

#include "attack_sim.h"

#define ATTACK_TEXT	1024

/* A gain or a loss is one over at least this time. */
#define ATTACK_WINDOW_NS	(2 * SEC)
/* The goal: no attack gains or costs more than this beyond the bound, in per cent of an engine. */
#define ATTACK_GOAL	0.05

/**
 * struct attack_env - the machine, and what the host has set; all 64 bits wide for attack_text.c
 * @slice_ns:   length of a slice: S
 * @attackers:  number of clients that follow the plan
 * @others:     number of busy clients that are neither attacker nor victim
 * @victim_job_ns: the victim submits jobs of this length, one at a time; 0: it is busy
 * @victim_gap_ns: the victim thinks for so long after each job
 * @a_guarantee: guarantee of each attacker, per mille
 * @a_cap:      cap of each attacker, per mille; 0: none. Only attackers have one
 * @a_weight:   weight of each attacker
 * @a_slots:    slots of each attacker in a cycle of fixed_share
 * @v_guarantee: guarantee of the victim
 * @v_weight:   weight of the victim
 * @v_slots:    slots of the victim
 * @o_guarantee: guarantee of each of the others
 * @o_weight:   weight of each of the others
 * @o_slots:    slots of each of the others
 * @nr_slots:   number of slots of a cycle of fixed_share
 * @machine:    latencies
 * @all_overrun: victim and others overrun as the attackers do, in the same phases
 */
struct attack_env {
	u64 slice_ns;
	u64 attackers;
	u64 others;
	u64 victim_job_ns;
	u64 victim_gap_ns;
	u64 a_guarantee;
	u64 a_cap;
	u64 a_weight;
	u64 a_slots;
	u64 v_guarantee;
	u64 v_weight;
	u64 v_slots;
	u64 o_guarantee;
	u64 o_weight;
	u64 o_slots;
	u64 nr_slots;
	struct attack_machine machine;
	u64 all_overrun;
};

/**
 * struct attack - all there is to an attack: same attack, same result
 * @policy: the policy that is attacked
 * @env:    the machine and the settings
 * @plan:   what the attackers do
 */
struct attack {
	const struct vgpu_sched_policy *policy;
	struct attack_env env;
	struct attack_plan plan;
};

/**
 * struct attack_honest - what honest, busy clients in the attackers' place would get
 * @attacker: service of all of them, as a fraction of the engine
 * @victim:   service of the victim beside them, as a fraction of the engine
 * @capped:   they would get more without their cap
 */
struct attack_honest {
	double attacker;
	double victim;
	bool capped;
};

/**
 * struct attack_score - what the attackers gained, or what the victim lost
 * @raw:    the most in any interval of up to ATTACK_WINDOW_NS, in per cent of the engine over
 *          ATTACK_WINDOW_NS
 * @honest: @raw with honest clients in the attackers' place; only attack_compare() sets it
 * @beyond: the most in any interval, less what the policy's promise allows, in per cent of the
 *          engine over that interval, but ATTACK_WINDOW_NS at least; negative: so much of it is
 *          left
 * @bound_ns: what the promise allows
 */
struct attack_score {
	double raw;
	double honest;
	double beyond;
	double bound_ns;
};

/**
 * struct attack_result - what came of an attack
 * @gain:   the attackers' service beyond what is due to honest clients in their place
 * @loss:   what the victim lacks of its service beside honest clients
 * @short_of_guarantee: what the victim lacks of its guarantee (qos)
 * @events: number of things that happened in the simulation
 */
struct attack_result {
	struct attack_score gain;
	struct attack_score loss;
	struct attack_score short_of_guarantee;
	u64 events;
};

/* attack_text.c */
void attack_print(const struct attack *attack, char *text, size_t size);
bool attack_simplify(struct attack *attack, unsigned int step);
bool attack_parse(struct attack *attack, const char *text);

/* attack_score.c */
bool attack_possible(const struct attack *attack);
u64 attack_honest_run(const struct attack *attack, struct attack_honest *honest);
void attack_run(const struct attack *attack, const struct attack_honest *honest,
		u64 length_ns, struct attack_result *result);
double attack_most_ns(const struct attack_record *record, double rate, int sign,
		      u64 length_ns, u64 window_ns);
void attack_compare(const struct attack *attack, u64 length_ns, struct attack_result *result);
double attack_worst_loss(const struct attack_result *result);

/**
 * struct attack_found - the worst attacks of a search
 * @gain:      the attack with the largest gain beyond the bound; if no gain is beyond it, the
 *             attack that gains most over honest clients
 * @gain_result: what came of @gain
 * @gain_rank: by this @gain was chosen
 * @loss:      the attack with the largest loss, likewise
 * @loss_result: what came of @loss
 * @loss_rank: by this @loss was chosen
 * @climbs:    number of restarts
 * @runs:      number of attacks tried
 * @events:    number of things that happened in all simulations
 */
struct attack_found {
	struct attack gain;
	struct attack_result gain_result;
	double gain_rank;
	struct attack loss;
	struct attack_result loss_result;
	double loss_rank;
	unsigned int climbs;
	unsigned int runs;
	u64 events;
};

/* attack_search.c */
void attack_shorten(struct attack *attack, bool gain, struct attack_result *result);
void attack_search(const struct vgpu_sched_policy *policy, u64 seed, u64 events,
		   u64 seconds, struct attack_found *found);
extern void (*attack_on_climb)(const struct attack *attack,
			       const struct attack_result *result, bool gain);

/**
 * struct attack_known - an attack that worked once
 * @name: what it does
 * @text: the attack, for attack_parse()
 */
struct attack_known {
	const char *name;
	const char *text;
};

/* attack_known.c */
extern const struct attack_known attack_known[];
extern const unsigned int attack_nr_known;

#endif /* BENCH_ATTACK_H */
