// SPDX-License-Identifier: GPL-2.0
/*
 * What a guest is told of its due (sched/due.c): against the rule of vgpuctl, which is written
 * another way and in doubles; by hand; and in virtual time, where the due of a vGPU that always has
 * work is the service that it gets.
 */
#include <math.h>

#include "vgpu_test.h"

#include "../../tools/vgpuctl/due.h"
#include "des_test.h"
#include "sched/due.h"

#define MAX_CLAIMS	1024u
#define WINDOW_NS	(100 * MS)

static struct vgpu_entity names[MAX_CLAIMS];

static void claim(struct vgpu_due_claim *claims, unsigned int i, unsigned int guarantee,
		  unsigned int cap, unsigned int weight, unsigned int demand)
{
	claims[i] = (struct vgpu_due_claim) {
		.entity = &names[i],
		.share = { guarantee, cap, weight, i, 1 },
		.demand = demand * (VGPU_DUE_WHOLE / 1000),
		.started = true,
		.due = 0xffff,
	};
}

/* The claims may have come in another order. */
static unsigned int due_of(const struct vgpu_due_claim *claims, unsigned int i)
{
	for (; claims->entity != &names[i]; claims++)
		;
	return claims->due;
}

static void check_dues(struct vgpu_due_claim *claims, unsigned int nr, const unsigned int *due)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		check_that(due_of(claims, i) == due[i], "%u: %u, not %u", i, due_of(claims, i),
			   due[i]);
}

#define CHECK_DUES(rule, ...) do {						\
	static const unsigned int due_[] = { __VA_ARGS__ };			\
										\
	vgpu_due_rule(rule, 16, claims, ARRAY_SIZE(due_));			\
	check_dues(claims, ARRAY_SIZE(due_), due_);				\
} while (0)

static void by_share(void **state)
{
	struct vgpu_due_claim claims[8];

	/* One that is alone has all; but for its cap. */
	claim(claims, 0, 0, 1000, 10, 0);
	CHECK_DUES(VGPU_DUE_SHARE, 1000);
	claim(claims, 0, 100, 300, 10, 0);
	CHECK_DUES(VGPU_DUE_SHARE, 300);
	/* Guarantees, and the rest by weight. The last one uses less than it may. */
	claim(claims, 0, 200, 1000, 10, 1000);
	claim(claims, 1, 100, 1000, 30, 1000);
	claim(claims, 2, 0, 1000, 30, 50);
	CHECK_DUES(VGPU_DUE_SHARE, 363, 588, 300);
	/* What guarantees leave is nothing; and nobody uses them. */
	claim(claims, 0, 500, 1000, 10, 1000);
	claim(claims, 1, 500, 1000, 10, 1000);
	claim(claims, 2, 0, 1000, 10, 1000);
	CHECK_DUES(VGPU_DUE_SHARE, 500, 500, 0);
	claim(claims, 0, 500, 1000, 10, 0);
	claim(claims, 1, 500, 1000, 10, 0);
	claim(claims, 2, 0, 1000, 10, 0);
	CHECK_DUES(VGPU_DUE_SHARE, 1000, 1000, 1000);
	/* Who is closed or in quarantine has nothing, and takes nothing. */
	claims[0].started = false;
	claims[1].held = true;
	claims[0].demand = VGPU_DUE_WHOLE;
	claims[1].demand = VGPU_DUE_WHOLE;
	CHECK_DUES(VGPU_DUE_SHARE, 0, 0, 1000);
}

static void by_other_kinds(void **state)
{
	struct vgpu_due_claim claims[8];

	claim(claims, 0, 900, 900, 10, 1000);
	claim(claims, 1, 0, 100, 20, 1000);
	claim(claims, 2, 0, 1000, 30, 100);
	CHECK_DUES(VGPU_DUE_EQUAL, 450, 450, 333);
	claim(claims, 0, 0, 1000, 10, 0);
	claim(claims, 1, 0, 1000, 20, 0);
	claim(claims, 2, 0, 1000, 30, 0);
	CHECK_DUES(VGPU_DUE_SLOT, 333, 333, 333);
	claims[1].held = true;
	CHECK_DUES(VGPU_DUE_SLOT, 333, 0, 333);
	claims[0].started = false;
	CHECK_DUES(VGPU_DUE_SLOT, 0, 0, 500);
	claims[0].started = true;
	claims[0].share.nr_slots = 4;
	claims[2].share.nr_slots = 17;
	CHECK_DUES(VGPU_DUE_SIZE, 250, 0, 1000);
	CHECK_DUES(VGPU_DUE_UNKNOWN, 0, 0, 0);
}

static unsigned int some(u64 *rng, unsigned int lo, unsigned int hi)
{
	if (random_one_in(rng, 4))
		return random_one_in(rng, 2) ? lo : hi;
	return (unsigned int)random_range(rng, lo, hi);
}

static void random_claims(u64 *rng, struct vgpu_due_claim *claims, unsigned int nr)
{
	unsigned int i, guarantee, left = 1000, scale = (unsigned int)random_range(rng, 1, 2 * nr);

	for (i = 0; i < nr; i++) {
		guarantee = random_one_in(rng, 3) ? some(rng, 0, left / (random_one_in(rng, 4) ?
								      1 : scale)) : 0;
		claim(claims, i, guarantee, some(rng, guarantee ?: 1, 1000), some(rng, 1, 1000),
		      some(rng, 0, 1000) / (random_one_in(rng, 2) ? 1 : scale));
		left -= guarantee;
		claims[i].started = !random_one_in(rng, 10);
		claims[i].held = random_one_in(rng, 10);
	}
}

static double oracle(const struct vgpu_due_claim *claims, unsigned int nr, unsigned int self,
		     enum vgpu_ctl_due rule)
{
	static struct due_claim theirs[MAX_CLAIMS];
	unsigned int i;

	for (i = 0; i < nr; i++)
		theirs[i] = (struct due_claim) {
			.guarantee = claims[i].share.guarantee,
			.cap = claims[i].share.cap,
			.weight = claims[i].share.weight,
			.demand = i == self ? 1000 :
				  claims[i].demand * 1000. / VGPU_DUE_WHOLE,
			.started = claims[i].started,
			.held = claims[i].held,
		};
	assert_true(due_by_rule(rule, theirs, nr, 1000));
	return theirs[self].due;
}

/* All that random claims are due is what the other rule says, to half a per mille. */
static void against_the_oracle(void **state)
{
	static struct vgpu_due_claim claims[MAX_CLAIMS + 1], before[MAX_CLAIMS];
	static const enum vgpu_ctl_due rules[] = { VGPU_DUE_SHARE, VGPU_DUE_EQUAL };
	u64 rng = test_seed();
	unsigned int n, i, nr;
	double due;

	for (n = 0; n < 3000; n++) {
		nr = n % 500 ? (unsigned int)random_range(&rng, 1, 24) : MAX_CLAIMS;
		random_claims(&rng, claims, nr);
		memcpy(before, claims, nr * sizeof(claims[0]));
		vgpu_due_rule(rules[n % 2], 1, claims, nr);
		for (i = 0; i < nr; i += 1 + nr / 100) {
			due = oracle(before, nr, i, rules[n % 2]);
			check_that(fabs(due_of(claims, i) - due) <= 0.501,
				   "load %u, %u of %u: %u, not %f", n, i, nr, due_of(claims, i),
				   due);
		}
	}
}

/* In virtual time */

/**
 * struct asked - a vGPU that has asked for its due at the begin of each window
 * @due:     the answers
 * @windows: number of windows
 */
struct asked {
	unsigned int due[64];
	unsigned int windows;
};

static void ask(struct des_config *config, unsigned int client, struct asked *asked)
{
	unsigned int i;

	asked->windows = (unsigned int)(config->length_ns / WINDOW_NS) - 1;
	assert_true(asked->windows <= ARRAY_SIZE(asked->due));
	for (i = 0; i < asked->windows; i++) {
		struct des_action *action = des_config_act(config, (i + 1) * WINDOW_NS, DES_DUE,
							   client);

		action->due = &asked->due[i];
	}
}

static void random_load(u64 *rng, struct des_client_config *client)
{
	u64 job_ns = random_range(rng, 100 * US, 3 * MS);

	switch (random_range(rng, 0, 3)) {
	case 0:
		client->load = des_busy();
		break;
	case 1:
		client->load = des_closed(job_ns, random_range(rng, 0, 20 * MS), 1);
		break;
	case 2:
		client->load = des_frames(job_ns, random_range(rng, 5 * MS, 40 * MS));
		break;
	default:
		client->load = des_poisson(job_ns, random_range(rng, 5 * MS, 40 * MS), 1);
	}
}

static void random_shares(u64 *rng, struct des_config *config)
{
	unsigned int i, guarantee, left = 1000;

	for (i = 0; i < config->nr_clients; i++) {
		guarantee = random_one_in(rng, 2) ? 0 :
			    (unsigned int)random_range(rng, 0, left / 2);
		left -= guarantee;
		des_test_share(config, i, guarantee, random_one_in(rng, 3) ?
			       (unsigned int)random_range(rng, guarantee + 20, 1000) : 1000,
			       (unsigned int)random_range(rng, 1, 20));
	}
}

/**
 * struct compared - what a client was told and what it got, over all windows but the first
 * @mean_ns: how far its service per window is from its due, on average
 * @most_ns: and at most
 * @due_ns:  its due per window, on average
 * @got_ns:  its service per window, on average
 */
struct compared {
	u64 mean_ns;
	u64 most_ns;
	u64 due_ns;
	u64 got_ns;
};

static u64 apart(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* Runs the simulation with client 0 asking, and always busy. */
static struct compared compare(struct des_config *config)
{
	struct compared compared = {};
	u64 due_ns, got_ns, all_due_ns = 0, all_got_ns = 0;
	struct asked asked;
	unsigned int i;
	struct des *des;

	config->length_ns = 4 * SEC;
	config->switch_ns = 0;
	ask(config, 0, &asked);
	des = des_run(config);
	for (i = 1; i < asked.windows; i++) {
		due_ns = asked.due[i] * WINDOW_NS / 1000;
		got_ns = des_service_ns(des, 0, 0, i * WINDOW_NS, (i + 1) * WINDOW_NS);
		compared.most_ns = max(compared.most_ns, apart(due_ns, got_ns));
		all_due_ns += due_ns;
		all_got_ns += got_ns;
	}
	compared.mean_ns = apart(all_due_ns, all_got_ns) / (asked.windows - 1);
	compared.due_ns = all_due_ns / (asked.windows - 1);
	compared.got_ns = all_got_ns / (asked.windows - 1);
	des_free(des);
	return compared;
}

/* Rounding to a per mille is far below a run. */
static void check_compared(const char *what, const struct compared *compared, u64 run_ns,
			   unsigned int mean_runs, unsigned int most_runs)
{
	check_that(compared->mean_ns <= mean_runs * run_ns &&
		   compared->most_ns <= most_runs * run_ns,
		   "%s: %llu ns, and %llu ns at most, with runs of %llu ns", what,
		   (unsigned long long)compared->mean_ns, (unsigned long long)compared->most_ns,
		   (unsigned long long)run_ns);
}

/* The due of client 0 if all always have work, in ns per window. */
static u64 least_due_ns(const struct des_config *config)
{
	struct vgpu_due_claim claims[8];
	unsigned int i;

	for (i = 0; i < config->nr_clients; i++)
		claim(claims, i, config->client[i].share.guarantee, config->client[i].share.cap,
		      config->client[i].share.weight, 1000);
	return (u64)(oracle(claims, i, 0, VGPU_DUE_SHARE) * WINDOW_NS / 1000);
}

/*
 * With a cap, the due is the most that a vGPU gets on average, to three runs, as qos keeps a cap to
 * two: while the others have no work it cannot catch up on the times in which they have more than
 * their average. It gets no less than when all always have work.
 */
static void check_capped(const char *what, const struct compared *compared, u64 run_ns,
			 u64 least_ns)
{
	check_that(compared->got_ns <= compared->due_ns + 3 * run_ns &&
		   compared->got_ns + 3 * run_ns >= least_ns,
		   "%s: %llu ns, due %llu to %llu ns, with runs of %llu ns", what,
		   (unsigned long long)compared->got_ns, (unsigned long long)least_ns,
		   (unsigned long long)compared->due_ns, (unsigned long long)run_ns);
}

/*
 * A vGPU that always has work gets its due: on average within a run of each window, as a window's
 * demand is known to a run.
 */
static void busy_gets_its_due(void **state)
{
	u64 rng = test_seed(), load;
	unsigned int n, i;

	for (n = 0; n < 300; n++) {
		struct des_config config;
		struct compared compared;
		bool capped;
		char what[64];

		load = random_next(&rng);
		snprintf(what, sizeof(what), "load %#llx", (unsigned long long)load);
		des_config_init(&config, &vgpu_policy_qos, (unsigned int)random_range(&load, 2, 8));
		config.params.slice_ns = random_range(&load, 1 * MS, 4 * MS);
		for (i = 1; i < config.nr_clients; i++)
			random_load(&load, &config.client[i]);
		random_shares(&load, &config);
		capped = config.client[0].share.cap < 1000;
		compared = compare(&config);
		if (capped)
			check_capped(what, &compared, config.params.slice_ns,
				     least_due_ns(&config));
		else
			check_compared(what, &compared, config.params.slice_ns, 1, 8);
		des_config_exit(&config);
	}
}

/* So it is under the other policies, whatever the others do. */
static void other_policies(void **state)
{
	static const struct vgpu_sched_policy * const policies[] = {
		&vgpu_policy_best_effort, &vgpu_policy_equal_share, &vgpu_policy_fixed_share,
	};
	u64 rng = test_seed();
	unsigned int n, i;

	for (n = 0; n < 60; n++) {
		struct des_config config;
		struct compared compared;

		des_config_init(&config, policies[n % 3],
				(unsigned int)random_range(&rng, 2, 8));
		config.params.nr_slots = config.nr_clients;
		for (i = 1; i < config.nr_clients; i++)
			random_load(&rng, &config.client[i]);
		compared = compare(&config);
		check_compared(policies[n % 3]->name, &compared, config.params.slice_ns, 1, 8);
		des_config_exit(&config);
	}
}

/* One that has been idle is told what it will get when it begins to work. */
static void idle_is_told(void **state)
{
	const u64 from_ns = 1 * SEC, to_ns = 3 * SEC;
	u64 rng = test_seed(), due_ns, got_ns;
	unsigned int n, i, due;

	for (n = 0; n < 100; n++) {
		struct des_config config;
		struct des_action *action;
		struct des *des;

		des_config_init(&config, n % 4 ? &vgpu_policy_qos : &vgpu_policy_best_effort,
				(unsigned int)random_range(&rng, 2, 8));
		config.length_ns = to_ns;
		config.switch_ns = 0;
		config.client[0].load.kind = DES_NONE;
		for (i = 1; i < config.nr_clients; i++)
			if (random_one_in(&rng, 2))
				config.client[i].load = des_frames(2 * MS, 20 * MS);
		for (i = 0; i < config.nr_clients; i++)
			des_test_share(&config, i, random_one_in(&rng, 2) ? 100 : 0, 1000,
				       (unsigned int)random_range(&rng, 1, 20));
		des_config_act(&config, from_ns, DES_DUE, 0)->due = &due;
		action = des_config_act(&config, from_ns, DES_LOAD, 0);
		action->load = des_busy();
		des = des_run(&config);
		due_ns = due * (to_ns - from_ns) / 1000;
		got_ns = des_service_ns(des, 0, 0, from_ns, to_ns);
		check_that(apart(due_ns, got_ns) <= (to_ns - from_ns) / 50,
			   "load %u: due %llu ns, got %llu ns", n, (unsigned long long)due_ns,
			   (unsigned long long)got_ns);
		des_free(des);
		des_config_exit(&config);
	}
}

/* More than are looked at without releasing the lock. Settings count at once, loads by windows. */
static void many_and_changes(void **state)
{
	const unsigned int nr = 100;
	unsigned int due[8], i;
	struct vgpu_share share = { .cap = 300, .weight = 50 };
	struct des_config config;
	struct des_action *action;

	des_config_init(&config, &vgpu_policy_qos, nr);
	des_test_share_all(&config, 0, 1000, 1);
	for (i = 0; i < ARRAY_SIZE(due); i++)
		due[i] = 0xffff;
	des_config_act(&config, 500 * MS, DES_DUE, nr - 1)->due = &due[0];
	des_config_act(&config, 510 * MS, DES_SHARE, nr - 1)->share = share;
	des_config_act(&config, 511 * MS, DES_DUE, nr - 1)->due = &due[1];
	des_config_act(&config, 512 * MS, DES_HOLD, nr - 1);
	des_config_act(&config, 513 * MS, DES_DUE, nr - 1)->due = &due[2];
	des_config_act(&config, 600 * MS, DES_DUE, nr - 1)->due = &due[3];
	des_config_act(&config, 610 * MS, DES_UNHOLD, nr - 1);
	des_config_act(&config, 611 * MS, DES_STOP, 0);
	des_config_act(&config, 612 * MS, DES_DUE, 0)->due = &due[4];
	action = des_config_act(&config, 613 * MS, DES_PARAMS, 0);
	action->params = config.params;
	action->params.policy = &vgpu_policy_equal_share;
	des_config_act(&config, 614 * MS, DES_DUE, nr - 1)->due = &due[5];
	des_config_act(&config, 615 * MS, DES_START, 0);
	des_config_act(&config, 616 * MS, DES_DUE, 0)->due = &due[6];
	des_free(des_run(&config));
	des_config_exit(&config);
	assert_int_equal(due[0], 10);
	/* 300 is the cap; 50 of 149 weights are more. */
	assert_int_equal(due[1], 300);
	/* A quarantine counts with the next window. */
	assert_int_equal(due[2], 300);
	assert_int_equal(due[3], 0);
	assert_int_equal(due[4], 0);
	assert_int_equal(due[5], 10);
	assert_int_equal(due[6], 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_share),
		cmocka_unit_test(by_other_kinds),
		cmocka_unit_test(against_the_oracle),
		cmocka_unit_test(busy_gets_its_due),
		cmocka_unit_test(other_policies),
		cmocka_unit_test(idle_is_told),
		cmocka_unit_test(many_and_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
