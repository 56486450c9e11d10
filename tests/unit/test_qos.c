// SPDX-License-Identifier: GPL-2.0
/*
 * qos keeps what it promises (des_check.h) over every interval of thousands of random loads in
 * virtual time. VGPU_SEED replays all of them, VGPU_LOAD the one load whose seed a failure prints.
 * test_qos_edge.c and test_qos_hostile.c have the hard cases. Checkers that find nothing are no
 * proof, so they are shown policies that were spoilt on purpose, too.
 */
#include "vgpu_test.h"

#include "des_test.h"

#define NR_LOADS	3000

static void check_load(u64 load, bool hostile, u64 *checked, u64 *used)
{
	struct des_report report;
	struct des_config config;
	unsigned int i;
	struct des *des;

	if (hostile)
		des_config_hostile(&config, &vgpu_policy_qos, load);
	else
		des_config_random(&config, &vgpu_policy_qos, load);
	des = des_run(&config);
	des_check(des, &report);
	for (i = 0; i < DES_NR_PROMISES; i++) {
		checked[i] += report.checked[i];
		used[i] = max(used[i], report.use[i]);
	}
	if (des_violations(&report)) {
		printf("# VGPU_LOAD=%#llx\n", load);
		check_des(des);
	}
	des_test_end(des, &config);
}

/* Loads that broke a promise once. */
static void test_known(void **state)
{
	static const u64 loads[] = {
		/* think times in which a tag forgot what its entity was owed (G2) */
		0x03479fb192df43feULL, 0x1cbe4e1078a764f9ULL,
		0x135824fa6fd9fd27ULL, 0xf11cff988d3b6da9ULL,
		0xa5cc16cb8dfddfbbULL, 0x62a32eaa7e381cf9ULL,
		/* sleeps just before each slice ends (G2) */
		0xe263183773ef6508ULL, 0x388495061eb06ce1ULL,
		/* what a client with synchronous work was owed hurt others (G, L) */
		0xcc82eb501c709d5eULL, 0xea990396a3293fb3ULL,
		0xaa2dc6ddcf86d9f4ULL, 0x3257327ecb984846ULL,
		0xfa08030e22129f94ULL, 0xdcdaa76732b49f11ULL,
		/* a longer slice with the deadline of a short one (G) */
		0xf6bfb037e668abbbULL,
		/* the engine waited twice for the end of one gap (L) */
		0x744e2ee5ee1b14aaULL,
		/* the deadline of an entity that its cap held back (G) */
		0x48a4353373dccf78ULL,
		/* a gap longer than linger_us, taken for a short one (G) */
		0xdf3, 0xe249,
		/* a guarantee taken away at the time at which a run for it begins (L) */
		0xa137b2336a54281fULL,
	};
	static const u64 hostile[] = {
		/* p in deadlines rounded up: late by a 16th of Q / 25 per mille (G) */
		0x31000019e1,
		/* another client is given a guarantee after the wake-up (L) */
		0x31000004b1, 0x2100003534, 0x51002cdf,
		/* the engine waits for another client, without work, after the wake-up (L) */
		0x31000192d2,
		/* a guest that thinks, beside one that comes and goes: never made good (G2) */
		0xcc61d67cf9084c12ULL,
	};
	u64 checked[DES_NR_PROMISES] = {}, used[DES_NR_PROMISES] = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(loads); i++)
		check_load(loads[i], false, checked, used);
	for (i = 0; i < ARRAY_SIZE(hostile); i++)
		check_load(hostile[i], true, checked, used);
}

/* Each promise must have been looked at. */
static void test_random(void **state)
{
	u64 checked[DES_NR_PROMISES] = {}, used[DES_NR_PROMISES] = {};
	const char *one = getenv("VGPU_LOAD");
	u64 seed = test_seed(), load;
	unsigned int i, j;

	for (i = 0; i < (one ? 1 : NR_LOADS); i++) {
		load = one ? strtoull(one, NULL, 0) : random_next(&seed);
		check_load(load, true, checked, used);
	}
	for (j = 0; j < DES_NR_PROMISES; j++) {
		printf("# %s: %llu checks, at most %llu per mille of the bound used\n",
		       des_promise_name(j), checked[j], used[j]);
		assert_true(one || checked[j]);
	}
}

/* Field by field, as what is between two fields may be anything. */
static bool same_run(const struct des_run *a, const struct des_run *b)
{
	return a->client == b->client && a->start_ns == b->start_ns && a->end_ns == b->end_ns &&
	       a->deadline_ns == b->deadline_ns && a->stop_ns == b->stop_ns &&
	       a->idle_ns == b->idle_ns && a->linger_ns == b->linger_ns &&
	       a->switch_ns == b->switch_ns && a->end == b->end && a->reset == b->reset &&
	       a->ended == b->ended;
}

static bool same_record(const struct des *a, const struct des *b)
{
	const struct des_runs *x = &a->engine[0].runs, *y = &b->engine[0].runs;
	size_t i;

	if (a->events != b->events || x->nr != y->nr)
		return false;
	for (i = 0; i < x->nr; i++)
		if (!same_run(&x->at[i], &y->at[i]))
			return false;
	return true;
}

/* The same configuration gives the same record; another seed does not. */
static void test_replay(void **state)
{
	struct des_config config;
	struct des *a, *b;

	des_config_random(&config, &vgpu_policy_qos, 5);
	config.client[0].load = des_poisson(MS, 2 * MS, 2);
	config.client[0].stopped = false;
	a = des_run(&config);
	b = des_run(&config);
	assert_true(same_record(a, b));
	des_free(b);
	config.seed++;
	b = des_run(&config);
	assert_false(same_record(a, b));
	des_free(a);
	des_free(b);
	des_config_exit(&config);
}

/* The tests that follow show that each checker finds what it is there to find. */

/* The promises that a simulation of @config breaks; a mask. */
static unsigned int broken(const struct des_config *config)
{
	struct des *des = des_run(config);
	struct des_report report;
	unsigned int i, mask = 0;

	des_check(des, &report);
	des_free(des);
	for (i = 0; i < DES_NR_PROMISES; i++)
		if (report.violations[i])
			mask |= BIT(i);
	return mask;
}

/*
 * Client 0 has a guarantee of 500 and is always busy; 1 has a cap of 100 and is always busy; 2
 * waits for each job; 3 wakes now and then; 4 is always busy, and has the same weight as 1.
 */
static void mixed_config(struct des_config *config, const struct vgpu_sched_policy *policy)
{
	des_config_init(config, policy, 5);
	config->client[0].share.guarantee = 500;
	config->client[1].share.cap = 100;
	config->client[1].share.weight = 10;
	config->client[2].share.guarantee = 250;
	config->client[2].load = des_closed(100 * US, 50 * US, 1);
	config->client[3].share.guarantee = 20;
	config->client[3].load = des_poisson(100 * US, 50 * MS, 1);
	config->client[4].share.weight = 10;
}

static void test_sound(void **state)
{
	struct des_config config;

	mixed_config(&config, &vgpu_policy_qos);
	des_test_once(&config);
}

/* What @policy, taken for qos, breaks with these clients. */
static unsigned int broken_by(struct vgpu_sched_policy policy)
{
	struct des_config config;
	unsigned int mask;

	policy.name = "qos";
	mixed_config(&config, &policy);
	mask = broken(&config);
	des_config_exit(&config);
	return mask;
}

/* best_effort, taken for qos, breaks most promises, and no others. */
static void test_finds_best_effort(void **state)
{
	assert_int_equal(broken_by(vgpu_policy_best_effort),
			 BIT(DES_G) | BIT(DES_G2) | BIT(DES_C) | BIT(DES_P) | BIT(DES_L));
}

static void test_finds_idle_slots(void **state)
{
	assert_true(broken_by(vgpu_policy_equal_share) & BIT(DES_W));
}

static void spoilt_charge(struct vgpu_rq *rq, struct vgpu_entity *entity, u64 ran_ns, u64 now_ns)
{
	/* An entity with a cap is charged for half of each slice only. */
	vgpu_policy_qos.charge(rq, entity, entity->share.cap < 1000 ? ran_ns / 2 : ran_ns, now_ns);
}

static void test_finds_leak(void **state)
{
	struct vgpu_sched_policy spoilt = vgpu_policy_qos;

	spoilt.charge = spoilt_charge;
	assert_int_equal(broken_by(spoilt) & (BIT(DES_C) | BIT(DES_G)), BIT(DES_C));
}

static struct vgpu_entity *spoilt_pick(struct vgpu_rq *rq, u64 now_ns, struct vgpu_pick *pick)
{
	struct vgpu_entity *entity = vgpu_policy_qos.pick(rq, now_ns, pick);

	pick->linger_ns = 0;
	return entity;
}

static void test_finds_no_linger(void **state)
{
	struct vgpu_sched_policy spoilt = vgpu_policy_qos;

	spoilt.pick = spoilt_pick;
	assert_true(broken_by(spoilt) & BIT(DES_G2));
}

static struct vgpu_entity *lazy_pick(struct vgpu_rq *rq, u64 now_ns, struct vgpu_pick *pick)
{
	u64 rest_ns = now_ns % (10 * MS);

	/* One ms of ten is a rest. */
	if (rest_ns >= MS)
		return vgpu_policy_qos.pick(rq, now_ns, pick);
	pick->until_ns = now_ns - rest_ns + MS;
	return NULL;
}

static void test_finds_lazy(void **state)
{
	struct vgpu_sched_policy spoilt = vgpu_policy_qos;

	spoilt.pick = lazy_pick;
	assert_int_equal(broken_by(spoilt) & (BIT(DES_W) | BIT(DES_C)), BIT(DES_W));
}

/* Deadlines are counted with a guarantee of 1, so that an entity that wakes comes last. */
static bool late_enqueue(struct vgpu_rq *rq, struct vgpu_entity *entity, bool woken, u64 now_ns)
{
	struct vgpu_share share = entity->share;
	bool preempt;

	entity->share.guarantee = entity->share.guarantee ? 1 : 0;
	preempt = vgpu_policy_qos.enqueue(rq, entity, woken, now_ns);
	entity->share = share;
	return preempt;
}

static void test_finds_late(void **state)
{
	struct vgpu_sched_policy spoilt = vgpu_policy_qos;
	struct des_config config;
	unsigned int i;

	spoilt.enqueue = late_enqueue;
	des_config_init(&config, &spoilt, 12);
	config.length_ns = 4 * SEC;
	for (i = 0; i < 11; i++)
		config.client[i].share.guarantee = 20;
	config.client[11].share.guarantee = 700;
	config.client[11].load = des_poisson(100 * US, 7 * MS, 1);
	assert_true(broken(&config) & BIT(DES_L));
	config.params.policy = &vgpu_policy_qos;
	assert_false(broken(&config) & BIT(DES_L));
	des_config_exit(&config);
}

/* Nobody is preempted. */
static bool deaf_enqueue(struct vgpu_rq *rq, struct vgpu_entity *entity, bool woken, u64 now_ns)
{
	vgpu_policy_qos.enqueue(rq, entity, woken, now_ns);
	return false;
}

/* Slices of the excess are three times as long. */
static struct vgpu_entity *long_pick(struct vgpu_rq *rq, u64 now_ns, struct vgpu_pick *pick)
{
	struct vgpu_entity *entity = vgpu_policy_qos.pick(rq, now_ns, pick);

	if (entity && !entity->share.guarantee)
		pick->slice_ns = 3 * rq->slice_ns;
	return entity;
}

/*
 * Client 1 is the only one with a guarantee, as client 2 never has work: then a wait of 3 S is too
 * long. If client 2 works it is not, as then the bound is 5 Q + Q.
 */
static void test_finds_alone(void **state)
{
	struct vgpu_sched_policy spoilt = vgpu_policy_qos;
	struct des_config config;

	spoilt.enqueue = deaf_enqueue;
	spoilt.pick = long_pick;
	des_config_init(&config, &spoilt, 3);
	config.client[1].share.guarantee = 200;
	config.client[1].load = des_poisson(100 * US, 7 * MS, 1);
	config.client[2].share.guarantee = 300;
	config.client[2].load.kind = DES_NONE;
	assert_true(broken(&config) & BIT(DES_L));
	config.client[2].load = des_busy();
	assert_false(broken(&config) & BIT(DES_L));
	config.client[2].load.kind = DES_NONE;
	config.params.policy = &vgpu_policy_qos;
	assert_false(broken(&config) & BIT(DES_L));
	des_config_exit(&config);
}

static void test_finds_bad_records(void **state)
{
	struct des_config config;
	struct des_report report;
	struct des *des;

	mixed_config(&config, &vgpu_policy_qos);
	des = des_run(&config);
	des_check(des, &report);
	assert_int_equal(report.violations[DES_WALL], 0);
	assert_int_equal(report.violations[DES_JOBS], 0);

	des->engine[0].busy_ns++;
	des_check(des, &report);
	assert_int_equal(report.violations[DES_WALL], 1);
	des->engine[0].busy_ns--;

	des->client[2].completed--;
	des_check(des, &report);
	assert_int_equal(report.violations[DES_JOBS], 2);
	des->client[2].completed++;

	des->stuck = true;
	des_check(des, &report);
	assert_int_equal(report.violations[DES_JOBS], 1);
	des_test_end(des, &config);
}

/* To break the promise two of the five clients are enough, and a part of the time. */
static void test_shrinks(void **state)
{
	struct vgpu_sched_policy spoilt = vgpu_policy_best_effort;
	struct des_config config;

	spoilt.name = "qos";
	mixed_config(&config, &spoilt);
	des_config_act(&config, 300 * MS, DES_RESET, 1);
	assert_true(broken(&config) & BIT(DES_G));
	des_shrink(&config, DES_G);
	assert_true(broken(&config) & BIT(DES_G));
	assert_int_equal(config.nr_actions, 0);
	assert_in_range(config.nr_clients, 2, 3);
	assert_in_range(config.length_ns, 1, 200 * MS);
	des_config_exit(&config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_finds_best_effort),
		cmocka_unit_test(test_finds_idle_slots),
		cmocka_unit_test(test_finds_leak),
		cmocka_unit_test(test_finds_no_linger),
		cmocka_unit_test(test_finds_lazy),
		cmocka_unit_test(test_finds_late),
		cmocka_unit_test(test_finds_alone),
		cmocka_unit_test(test_finds_bad_records),
		cmocka_unit_test(test_shrinks),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
