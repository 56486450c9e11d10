/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The adversarial search: clients that behave so as to get more of an engine than
 * is due to them, or to leave a neighbour with less, found by hill climbing, against
 * the policies and timeline.c as they are in the kernel, in virtual time.
 */
#ifndef BENCH_ATTACK_H
#define BENCH_ATTACK_H

#include "attack_sim.h"

#define ATTACK_TEXT	1024

/* What is called a gain or a loss is one over at least so long. */
#define ATTACK_WINDOW_NS	(2 * SEC)
/* What an attack may gain or cost beyond the bound, in per cent of an engine. */
#define ATTACK_GOAL	0.05

/**
 * struct attack_env - the machine, and what the host has set
 * @slice_ns:   S
 * @attackers:  clients that follow the plan, one after the other
 * @others:     busy clients, neither attacker nor victim
 * @victim_job_ns: the victim submits jobs of this, one at a time; 0: it is busy
 * @victim_gap_ns: and thinks so long after each
 * @a_guarantee: each attacker's share, per mille, and so on
 * @a_cap:      only attackers have one; 0: none
 * @a_weight:   weight
 * @a_slots:    of a cycle of fixed_share
 * @nr_slots:   of that cycle
 * @late_ns:    everybody's engine stops so late
 * @kick_ns:    the kthread comes up to so late
 * @timer_ns:   a timer's interrupt comes up to so late
 * @switch_ns:  to restore a client other than the one before
 * @poll_ns:    the engine looks so long for work before it says idle
 * @stall_ns:   the engine waits so long for guest memory before it says stalled
 * @all_overrun: victim and others follow the attackers' overruns, in their phases
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
	u64 late_ns;
	u64 kick_ns;
	u64 timer_ns;
	u64 switch_ns;
	u64 poll_ns;
	u64 stall_ns;
	u64 all_overrun;
};

/**
 * struct attack - all there is to one: same attack, same run
 * @policy: under which
 * @env:    against what
 * @plan:   what the attackers do
 */
struct attack {
	const struct vgpu_sched_policy *policy;
	struct attack_env env;
	struct attack_plan plan;
};

/**
 * struct attack_honest - the same machine with busy clients in the attackers' place
 * @attacker: their service, all of them, as a fraction of the engine
 * @victim:   its service
 * @capped:   the attackers would get more without their cap
 */
struct attack_honest {
	double attacker;
	double victim;
	bool capped;
};

/**
 * struct attack_score - what the attackers got, or the victim lost
 * @raw:    the most in any interval of up to ATTACK_WINDOW_NS, in per cent of the
 *          engine over ATTACK_WINDOW_NS
 * @beyond: the most in any interval, less what the policy's promise allows, in per
 *          cent of the engine over that interval, but ATTACK_WINDOW_NS at least;
 *          negative: the promise has so much left
 * @bound_ns: what the promise allows
 * @honest: as @raw, but of honest clients; attack_compare() sets it
 */
struct attack_score {
	double raw;
	double honest;
	double beyond;
	double bound_ns;
};

/**
 * struct attack_result - what came of an attack
 * @gain:   the attackers' service beyond what is due to honest ones in their place
 * @loss:   what the victim lacks of its service beside honest ones
 * @short_of_guarantee: what it lacks of its guarantee (qos)
 * @events: simulated
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
void attack_compare(const struct attack *attack, u64 length_ns,
		    struct attack_result *result);
double attack_worst_loss(const struct attack_result *result);

/**
 * struct attack_found - the worst of a search
 * @gain:      the attack with the largest gain beyond the bound; if there is none
 *             beyond it, the one that gains most over honest clients
 * @gain_result: what came of it
 * @gain_rank: the search's
 * @loss:      likewise with the largest loss
 * @loss_result: what came of it
 * @loss_rank: the search's
 * @climbs:    restarts
 * @runs:      attacks tried
 * @events:    simulated
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
void attack_shorten(struct attack *attack, bool gain,
		    struct attack_result *result);
void attack_search(const struct vgpu_sched_policy *policy, u64 seed, u64 events,
		   u64 seconds, struct attack_found *found);
extern void (*attack_on_climb)(const struct attack *attack,
			       const struct attack_result *result, bool gain);

/**
 * struct attack_known - an attack that worked once
 * @name: of it
 * @text: for attack_parse()
 */
struct attack_known {
	const char *name;
	const char *text;
};

/* attack_known.c */
extern const struct attack_known attack_known[];
extern const unsigned int attack_nr_known;

#endif /* BENCH_ATTACK_H */
