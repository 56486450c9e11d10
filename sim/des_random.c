// SPDX-License-Identifier: GPL-2.0
/* See des.h: configurations by seed. */
#include "des_sim.h"
#include "sched/sched.h"

static bool one_in(u64 *random, u64 n)
{
	return random_range(random, 1, n) == 1;
}

/* One of @lo .. @hi, each power of two of @lo as likely as the next. */
static u64 random_scale(u64 *random, u64 lo, u64 hi)
{
	u64 octaves = 0;

	while (lo << (octaves + 1) <= hi)
		octaves++;
	lo <<= random_range(random, 0, octaves);
	return random_range(random, lo, min(2 * lo, hi));
}

static u64 random_slice(u64 *random)
{
	if (one_in(random, 2))
		return random_range(random, 1, 2) * DES_MS;
	return one_in(random, 6) ? random_scale(random, 1, 30) * DES_MS :
				   random_range(random, DES_MS, 4 * DES_MS);
}

/* A period that may resonate with a time of the scheduler, or any period. */
static u64 random_period(u64 *random, const struct des_config *config)
{
	u64 slice_ns = config->params.slice_ns, ns;

	switch (random_range(random, 0, 4)) {
	case 0:
		ns = slice_ns;
		break;
	case 1:
		ns = slice_ns * config->nr_clients;
		break;
	case 2:
		ns = config->params.window_ns;
		break;
	case 3:
		return 16667 * DES_US;
	default:
		return random_scale(random, 200 * DES_US, 50 * DES_MS);
	}
	return ns + random_range(random, 0, 200) * DES_US - 100 * DES_US;
}

static struct des_load random_load(u64 *random, const struct des_config *config)
{
	u64 slice_ns = config->params.slice_ns, ns;
	struct des_load load;

	switch (random_range(random, 0, 9)) {
	case 0:
	case 1:
		return des_busy();
	case 2:
		/* Synchronous. */
		load = des_closed(random_scale(random, 20 * DES_US, slice_ns),
				  random_range(random, 0, 100) * DES_US, 1);
		break;
	case 3:
		load = des_closed(random_scale(random, 20 * DES_US, 4 * slice_ns),
				  random_scale(random, 1 * DES_US, 20 * DES_MS),
				  random_range(random, 1, 4));
		load.stage[0].job_max_ns = load.stage[0].job_ns *
					   random_range(random, 1, 8);
		load.think_max_ns = load.think_ns * random_range(random, 1, 8);
		break;
	case 4:
		/* On and off. */
		load = des_closed(random_scale(random, 50 * DES_US, 2 * DES_MS), 0, 2);
		load.on_ns = random_scale(random, DES_MS, 100 * DES_MS);
		load.off_ns = random_scale(random, DES_MS, 100 * DES_MS);
		break;
	case 5:
		ns = random_scale(random, 50 * DES_US, 4 * DES_MS);
		load = des_poisson(ns, ns * random_range(random, 1, 12),
				   random_range(random, 1, 10));
		load.stage[0].job_max_ns = 2 * ns;
		break;
	case 6:
	case 7:
		ns = random_period(random, config);
		load = des_frames(ns * random_range(random, 1, 60) / 100, ns);
		load.depth = random_range(random, 1, 3);
		if (one_in(random, 3))
			load.jitter_ns = ns / 10;
		break;
	case 8:
		/* The client sleeps just before its slice ends. */
		load = des_closed(slice_ns - config->switch_ns -
				  random_range(random, 1, 50) * DES_US,
				  random_range(random, 1, 120) * DES_US, 1);
		break;
	default:
		/* A flood of small jobs. */
		load = des_closed(20 * DES_US, 0, random_range(random, 1, 8));
		break;
	}
	if (one_in(random, 2))
		load.phase_ns = random_range(random, 0, 20 * DES_MS);
	return load;
}

static void random_overrun(u64 *random, const struct des_config *config, struct des_load *load)
{
	u64 timeout_ns = config->params.preempt_timeout_us * DES_US;

	switch (random_range(random, 0, 3)) {
	case 0:
		load->overrun_ns = random_range(random, 1, 100) * DES_US;
		break;
	case 1:
		load->overrun_ns = random_scale(random, 50 * DES_US, timeout_ns * 9 / 10);
		load->overrun_always = one_in(random, 2);
		break;
	case 2:
		load->chunk_ns = random_scale(random, 50 * DES_US, timeout_ns / 4);
		break;
	}
}

/* The guarantee is all of @rest per mille (@all), or some of it, or nothing. */
static struct vgpu_share random_share(u64 *random, unsigned int rest, bool all)
{
	struct vgpu_share share = { .cap = 1000, .weight = 1, .nr_slots = 1 };

	share.guarantee = all ? rest : one_in(random, 3) ? 0 :
			  random_range(random, 0, rest);
	if (!all && one_in(random, 16))
		share.guarantee = min(rest, 1U);
	if (one_in(random, 5))
		share.cap = share.guarantee ?: 1;
	else if (one_in(random, 4))
		share.cap = random_range(random, share.guarantee ?: 1, 1000);
	if (one_in(random, 2))
		share.weight = random_range(random, 1, 10);
	else if (one_in(random, 3))
		share.weight = random_scale(random, 1, 1000);
	return share;
}

static void random_reshare(u64 *random, struct des_config *config, u64 at_ns)
{
	unsigned int i = random_range(random, 0, config->nr_clients - 1), j, k;
	unsigned int sum = 0;
	struct vgpu_share share;

	/* The most that the other clients have as guarantees at any time. */
	for (j = 0; j < config->nr_clients; j++) {
		unsigned int most = config->client[j].share.guarantee;

		if (j == i)
			continue;
		for (k = 0; k < config->nr_actions; k++)
			if (config->action[k].kind == DES_SHARE &&
			    config->action[k].client == j)
				most = max(most, (unsigned int)config->action[k]
							.share.guarantee);
		sum += most;
	}
	share = random_share(random, sum < 1000 ? 1000 - sum : 0, false);
	des_config_act(config, at_ns, DES_SHARE, i)->share = share;
}

static void random_action(u64 *random, struct des_config *config)
{
	u64 at_ns = random_range(random, 0, config->length_ns);
	u64 back_ns = at_ns + random_scale(random, 10 * DES_US, 200 * DES_MS);
	unsigned int i = random_range(random, 0, config->nr_clients - 1);
	struct vgpu_sched_params params = config->params;

	switch (random_range(random, 0, 7)) {
	case 0:
	case 1:
	case 2:
		random_reshare(random, config, at_ns);
		break;
	case 3:
		des_config_act(config, at_ns, DES_STOP, i);
		des_config_act(config, back_ns, DES_START, i);
		break;
	case 4:
		des_config_act(config, at_ns, DES_RESET, i);
		break;
	case 5:
		des_config_act(config, at_ns, DES_HOLD, i);
		des_config_act(config, back_ns, DES_UNHOLD, i);
		break;
	case 6:
		params.slice_ns = random_slice(random);
		des_config_act(config, at_ns, DES_PARAMS, 0)->params = params;
		des_config_act(config, back_ns, DES_PARAMS, 0);
		break;
	case 7:
		/* Another policy for a while. */
		params.policy = vgpu_sched_policy_at(one_in(random, 2));
		des_config_act(config, at_ns, DES_PARAMS, 0)->params = params;
		des_config_act(config, back_ns, DES_PARAMS, 0);
		break;
	}
}

/**
 * des_config_random() - make a configuration with any load and all that may happen
 * @config: set to the configuration, which the caller frees by des_config_exit()
 * @policy: policy of the timelines at the beginning
 * @seed:   seed from which it is made, and of the simulation
 */
void des_config_random(struct des_config *config,
		       const struct vgpu_sched_policy *policy, u64 seed)
{
	u64 state = seed, *random = &state;
	bool overruns, full;
	unsigned int i, nr, rest = 1000;

	nr = one_in(random, 12) ? random_range(random, 8, 24) :
				  random_range(random, 1, 7);
	des_config_init(config, policy, nr);
	config->seed = seed;
	config->params.slice_ns = random_slice(random);
	config->params.linger_us = one_in(random, 4) ?
				   random_range(random, 0, 1000) : VGPU_LINGER_US;
	config->length_ns = config->params.slice_ns *
			    random_range(random, 50, 250);
	config->switch_ns = random_range(random, 0, 20) * DES_US;
	if (one_in(random, 2))
		config->save_ns = random_range(random, 1, 20) * DES_US;
	if (one_in(random, 4))
		config->poll_ns = random_range(random, 0, 200) * DES_US;
	if (one_in(random, 8))
		config->sloppy_wakes = 4;
	config->drain = one_in(random, 4);

	overruns = one_in(random, 3);
	full = one_in(random, 3);
	for (i = 0; i < nr; i++) {
		struct des_client_config *client = &config->client[i];

		client->share = random_share(random, rest, full && i == nr - 1);
		client->share.first_slot = i;
		rest -= client->share.guarantee;
		client->load = random_load(random, config);
		if (overruns && one_in(random, 2))
			random_overrun(random, config, &client->load);
		if (one_in(random, 24)) {
			client->stopped = true;
			des_config_act(config, random_range(random, 0, config->length_ns),
				       DES_START, i);
		}
	}
	if (one_in(random, 2))
		for (i = random_range(random, 1, 6); i; i--)
			random_action(random, config);
}

/* Work stalls again and again in the middle, also so briefly that the engine may linger. */
static void random_stalls(u64 *random, const struct des_config *config, struct des_load *load)
{
	u64 linger_ns = config->params.linger_us * DES_US;

	load->stall_every_ns = random_scale(random, 10 * DES_US, 2 * config->params.slice_ns);
	if (one_in(random, 2))
		load->stall_ns = random_range(random, 1, 3 * linger_ns + 1);
	else
		load->stall_ns = random_scale(random, DES_US, 20 * DES_MS);
	if (one_in(random, 3))
		load->stall_max_ns = load->stall_ns * 4;
	load->stall_holds = one_in(random, 2);
}

/**
 * des_config_hostile() - make a configuration with any load, and guests that want more than is due
 * @config: set to the configuration, which the caller frees by des_config_exit()
 * @policy: policy of the timelines at the beginning
 * @seed:   seed from which it is made, and of the simulation
 *
 * The configuration of des_config_random() with the same seed, and with most seeds: clients whose
 * work stalls or whose devices are held at moments of their own choice, up to some time from which
 * on they are busy; and overruns that begin all at once.
 */
void des_config_hostile(struct des_config *config,
			const struct vgpu_sched_policy *policy, u64 seed)
{
	u64 state = seed ^ 0x8f3b6a1c5d2e4907ULL, *random = &state, from_ns, p_ns;
	bool stalls = !one_in(random, 4), jump = one_in(random, 3), all, always;
	unsigned int i;

	des_config_random(config, policy, seed);
	from_ns = random_range(random, 1, config->length_ns);
	p_ns = random_scale(random, 50 * DES_US,
			    config->params.preempt_timeout_us * DES_US * 9 / 10);
	all = one_in(random, 2);
	always = one_in(random, 2);
	for (i = 0; i < config->nr_clients; i++) {
		struct des_load *load = &config->client[i].load;

		if (jump && (all || one_in(random, 2))) {
			load->overrun_ns = p_ns;
			load->overrun_always = always;
			load->overrun_from_ns = from_ns;
			load->chunk_ns = 0;
		}
		if (!stalls || !one_in(random, 2))
			continue;
		if (one_in(random, 2))
			*load = des_busy();
		random_stalls(random, config, load);
		if (one_in(random, 2))
			des_config_act(config, random_range(random, 0, config->length_ns),
				       DES_LOAD, i)->load = des_busy();
	}
}
