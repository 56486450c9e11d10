// SPDX-License-Identifier: GPL-2.0
/*
 * The search for attacks of tests/fuzz/sched: no attack that is known, and none that a short search
 * finds, gains or costs more than the goal; and the arithmetic of the search.
 */
#include "vgpu_test.h"

#include "attack.h"

#define KNOWN_LENGTH_NS	(8 * SEC)
#define SEARCH_SEED	5ULL
#define SEARCH_EVENTS	(12 * 1000 * 1000ULL)

static void check_result(const char *name, const struct attack *attack,
			 const struct attack_result *result, unsigned int *bad)
{
	char text[ATTACK_TEXT];

	if (result->gain.beyond <= ATTACK_GOAL && attack_worst_loss(result) <= ATTACK_GOAL)
		return;
	attack_print(attack, text, sizeof(text));
	printf("# %s: gain %.4f %%, loss %.4f %% beyond the bound: %s\n", name,
	       result->gain.beyond, attack_worst_loss(result), text);
	++*bad;
}

static void test_known(void **state)
{
	struct attack_honest honest;
	struct attack_result result;
	struct attack attack;
	unsigned int i, bad = 0;

	for (i = 0; i < attack_nr_known; i++) {
		assert_true(attack_parse(&attack, attack_known[i].text));
		attack_honest_run(&attack, &honest);
		attack_run(&attack, &honest, KNOWN_LENGTH_NS, &result);
		check_result(attack_known[i].name, &attack, &result, &bad);
	}
	assert_int_equal(bad, 0);
}

static void search(const struct vgpu_sched_policy *policy)
{
	struct attack_found found;
	unsigned int bad = 0;

	attack_search(policy, SEARCH_SEED, SEARCH_EVENTS, 0, &found);
	printf("# %s: %u attacks in %u climbs\n", policy->name, found.runs, found.climbs);
	check_result("gain", &found.gain, &found.gain_result, &bad);
	check_result("loss", &found.loss, &found.loss_result, &bad);
	assert_int_equal(bad, 0);
}

static void test_best_effort(void **state)
{
	search(&vgpu_policy_best_effort);
}

static void test_equal_share(void **state)
{
	search(&vgpu_policy_equal_share);
}

static void test_fixed_share(void **state)
{
	search(&vgpu_policy_fixed_share);
}

static void test_qos(void **state)
{
	search(&vgpu_policy_qos);
}

/* An attack has the same outcome each time, and its text says all of it. */
static void test_text(void **state)
{
	struct attack_result result, again;
	char text[ATTACK_TEXT], more[ATTACK_TEXT];
	struct attack_honest honest;
	struct attack attack, copy;
	unsigned int i;

	for (i = 0; i < attack_nr_known; i++) {
		assert_true(attack_parse(&attack, attack_known[i].text));
		attack_print(&attack, text, sizeof(text));
		assert_true(attack_parse(&copy, text));
		assert_memory_equal(&attack, &copy, sizeof(attack));
		attack_print(&copy, more, sizeof(more));
		assert_string_equal(text, more);
	}
	attack_honest_run(&attack, &honest);
	attack_run(&attack, &honest, 2 * SEC, &result);
	attack_run(&copy, &honest, 2 * SEC, &again);
	assert_memory_equal(&result, &again, sizeof(result));
	assert_false(attack_parse(&attack, "qos slice=1ms"));
	assert_false(attack_parse(&attack, "qos slice=1ms attackers=1 v.weight=1 a.weight=1 a.guarantee=600 v.guarantee=401"));
	assert_false(attack_parse(&attack, "best_effort slice=1ms attackers=1 0.job=1xs"));
	assert_false(attack_parse(&attack, "none slice=1ms attackers=1"));
	assert_true(attack_parse(&attack, "best_effort slice=1ms attackers=1 0.job=1s"));
}

/* Where all are honest, gain and loss are within the bound, and small. */
static void test_honest(void **state)
{
	static const char *const texts[] = {
		"best_effort slice=1ms attackers=3 others=2",
		"equal_share slice=1ms attackers=3 others=2",
		"fixed_share slice=1ms attackers=2 others=1 a.slots=2 v.slots=4 o.slots=1 slots=16",
		"qos slice=2ms attackers=2 others=1 a.guarantee=200 a.weight=3 v.guarantee=300 v.weight=1 o.weight=2",
		"qos slice=1ms attackers=1 others=1 a.guarantee=100 a.cap=200 a.weight=1 v.guarantee=300 v.weight=1 o.weight=2",
	};
	struct attack_honest honest;
	struct attack_result result;
	struct attack attack;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_true(attack_parse(&attack, texts[i]));
		attack_honest_run(&attack, &honest);
		attack_run(&attack, &honest, 16 * SEC, &result);
		assert_true(result.gain.beyond < 0);
		assert_true(attack_worst_loss(&result) < 0);
		/* Per cent of ATTACK_WINDOW_NS: 12 ms. */
		assert_true(result.gain.raw < 0.6 && result.loss.raw < 0.6);
	}
}

/* attack_most_ns() finds how much service is beyond a rate that is too high or too low. */
static void test_rates(void **state)
{
	struct attack_sim_config config = {
		.params = {
			.policy = &vgpu_policy_best_effort,
			.slice_ns = 1 * MS,
			.window_ns = VGPU_WINDOW_NS,
			.preempt_timeout_us = 10000,
			.linger_us = VGPU_LINGER_US,
			.nr_slots = 1,
		},
		.length_ns = 4 * SEC,
		.nr = 2,
		.client[1].group = ATTACK_VICTIM,
	};
	struct attack_sim_result result;
	const struct attack_record *record;

	config.client[0].share.cap = VGPU_PER_MILLE;
	config.client[1].share.cap = VGPU_PER_MILLE;
	attack_sim_run(&config, &result);
	record = &result.record[ATTACK_VICTIM];
	assert_int_equal(result.record[ATTACK_ATTACKER].service_ns +
			 record->service_ns, config.length_ns);
	assert_in_range(record->service_ns, 1998 * MS, 2002 * MS);
	assert_true(attack_most_ns(record, 0.6, -1, 4 * SEC, 2 * SEC) > 195 * MS);
	assert_true(attack_most_ns(record, 0.6, -1, 4 * SEC, 4 * SEC) > 395 * MS);
	assert_true(attack_most_ns(record, 0.4, 1, 4 * SEC, 1 * SEC) < 105 * MS);
	assert_true(attack_most_ns(record, 0.6, 1, 4 * SEC, 4 * SEC) < 1 * MS);
	attack_sim_free(&result);
}

static double clip_ns(const struct attack_record *record, u64 from_ns, u64 to_ns)
{
	u64 sum_ns = 0;
	size_t i;

	for (i = 0; i < record->nr; i++) {
		u64 start_ns = max(record->span[i].start_ns, from_ns);
		u64 end_ns = min(record->span[i].end_ns, to_ns);

		if (end_ns > start_ns)
			sum_ns += end_ns - start_ns;
	}
	return sum_ns;
}

/* attack_most_ns() on random spans finds what a look at every pair of edges does. */
static void test_every_interval(void **state)
{
	u64 seed = test_seed();
	unsigned int round, i, j;

	for (round = 0; round < 200; round++) {
		struct attack_span span[30];
		struct attack_record record = { .span = span };
		u64 edge[62], now = bench_random(&seed, 3), length, window;
		double rate = bench_random(&seed, 100) / 100.0, most = 0, value;
		int sign = bench_random(&seed, 2) ? 1 : -1;
		unsigned int edges = 0;

		edge[edges++] = 0;
		for (i = bench_random(&seed, 30); i; i--) {
			edge[edges++] = now;
			span[record.nr].start_ns = now;
			now += 1 + bench_random(&seed, 20);
			edge[edges++] = now;
			span[record.nr++].end_ns = now;
			now += 1 + bench_random(&seed, 20);
		}
		length = now + bench_random(&seed, 10);
		edge[edges++] = length;
		window = 1 + bench_random(&seed, length + 10);
		for (i = 0; i < edges; i++) {
			for (j = i; j < edges; j++) {
				if (edge[j] - edge[i] > window)
					continue;
				value = clip_ns(&record, edge[i], edge[j]) -
					rate * (edge[j] - edge[i]);
				most = max(most, sign * value);
			}
		}
		value = attack_most_ns(&record, rate, sign, length, window);
		assert_true(value > most - 0.001 && value < most + 0.001);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_every_interval),
		cmocka_unit_test(test_honest),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_best_effort),
		cmocka_unit_test(test_equal_share),
		cmocka_unit_test(test_fixed_share),
		cmocka_unit_test(test_qos),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
