// SPDX-License-Identifier: GPL-2.0
/*
 * The scenarios. A "hog" has two jobs of 10 ms queued at any time. Frames are
 * periodic jobs at 60 Hz, missed when they end after the next one is due.
 */
#include <string.h>

#include "scenarios.h"

#define S_NS		BENCH_SLICE_NS
#define WINDOW_NS	VGPU_WINDOW_NS
#define ANY_DEPTH	(1U << 20)	/* no job is refused */
#define OVERRUN_NS	(9 * MS)	/* 0.9 of the preemption timeout */

/* @jobs jobs of @ns are queued at any time. */
#define HOG(ns, jobs) {							\
	.kind = DES_CLOSED, .stage = { { 0, ns, 0 } }, .nr_stages = 1,	\
	.depth = jobs,							\
}

/* One job of @ns at a time, with @think .. @think_max ns between two. */
#define CLOSED(ns, think, think_max) {					\
	.kind = DES_CLOSED, .stage = { { 0, ns, 0 } }, .nr_stages = 1,	\
	.depth = 1, .think_ns = think, .think_max_ns = think_max,	\
}

#define BURSTS(low, high, every, jobs) {				\
	.kind = DES_POISSON, .stage = { { 0, low, high } },		\
	.nr_stages = 1, .depth = ANY_DEPTH, .period_ns = every,		\
	.burst = jobs,							\
}

#define FRAMES(ns, every) {						\
	.kind = DES_PERIODIC, .stage = { { 0, ns, 0 } },		\
	.nr_stages = 1, .depth = 2, .period_ns = every, .burst = 1,	\
}

#define OVERRUNNER(ns) {						\
	.kind = DES_CLOSED, .stage = { { 0, ns, 0 } },			\
	.nr_stages = 1, .depth = 2,					\
	.overrun_ns = OVERRUN_NS, .overrun_always = true,		\
}

/* Every 5 ms one of the visitors comes or goes, in turn. */
static void act_churn(struct des_config *config)
{
	unsigned int visitors = config->nr_clients - 1, i = 0;
	u64 at_ns;

	for (i = 0; i < visitors; i += 2)
		config->client[1 + i].stopped = true;
	i = 0;
	for (at_ns = 5 * MS; at_ns < config->length_ns; at_ns += 5 * MS) {
		struct des_client_config *client;
		unsigned int index = 1 + i % visitors;
		bool odd = i / visitors % 2;

		client = &config->client[index];
		des_config_act(config, at_ns, client->stopped != odd ? DES_START : DES_STOP,
			       index);
		i++;
	}
}

/* Every 15 ms the first client resets its device, and the second closes and opens its device. */
static void act_shed(struct des_config *config)
{
	u64 at_ns;

	for (at_ns = 15 * MS; at_ns < config->length_ns; at_ns += 15 * MS) {
		des_config_act(config, at_ns, DES_RESET, 0);
		des_config_act(config, at_ns, DES_STOP, 1);
		des_config_act(config, at_ns, DES_START, 1);
	}
}

/* Gives the clients weights of all sizes, and some of them a small guarantee. */
static void act_many(struct des_config *config)
{
	u64 seed = 1024;
	unsigned int i;

	for (i = 0; i < config->nr_clients; i++) {
		struct vgpu_share *share = &config->client[i].share;

		share->weight = 1 + bench_random(&seed, VGPU_WEIGHT_MAX);
		share->guarantee = i < 500 ? 1 : 0;
	}
}

const struct bench_scenario bench_scenarios[] = {
	{
		.name = "equal",
		.what = "two busy clients with equal shares",
		.length_ns = 4 * SEC,
		.kind = {
			{ "first", 1, 300, 0, 1, HOG(2500 * US, 4) },
			{ "second", 1, 300, 0, 1, HOG(2500 * US, 4) },
		},
	},
	{
		.name = "priority",
		.what = "two busy clients, one with three times the share",
		.length_ns = 4 * SEC,
		.kind = {
			{ "high", 1, 600, 0, 3, HOG(2500 * US, 4) },
			{ "low", 1, 200, 0, 1, HOG(2500 * US, 4) },
		},
	},
	{
		.name = "hog_interactive",
		.what = "a hog beside 0.5 ms jobs with 0.5 .. 2.5 ms of thought",
		.length_ns = 4 * SEC,
		.kind = {
			{ "hog", 1, 200, 0, 1, HOG(10 * MS, 2) },
			{ "interactive", 1, 400, 0, 1,
			  CLOSED(500 * US, 500 * US, 2500 * US) },
		},
	},
	{
		.name = "heavy_interactive",
		.what = "eight jobs of 50 ms queued at any time beside 0.5 ms jobs each 10 ms",
		.length_ns = 4 * SEC,
		.kind = {
			{ "heavy", 1, 200, 0, 1, HOG(50 * MS, 8) },
			{ "interactive", 1, 200, 0, 1,
			  CLOSED(500 * US, 9 * MS, 10 * MS) },
		},
	},
	{
		.name = "desktops",
		.what = "eight desktops, each 8 jobs of 0.5 .. 1.5 ms at a time, every 110 ms",
		.length_ns = 8 * SEC,
		.kind = {
			{ "desktop", 8, 125, 0, 1,
			  BURSTS(500 * US, 1500 * US, 110 * MS, 8) },
		},
	},
	{
		.name = "inference",
		.what = "four servers with bursts of 8 requests of 1 .. 2 ms, and training",
		.length_ns = 8 * SEC,
		.kind = {
			{ "server", 4, 175, 0, 2,
			  BURSTS(1 * MS, 2 * MS, 100 * MS, 8) },
			{ "training", 1, 200, 0, 1, HOG(10 * MS, 2) },
		},
	},
	{
		.name = "hog_and_31",
		.what = "one hog, 31 small ones with 0.2 ms jobs each 20 ms",
		.length_ns = 4 * SEC,
		.kind = {
			{ "hog", 1, 100, 0, 1, HOG(10 * MS, 2) },
			{ "small", 31, 20, 0, 1,
			  CLOSED(200 * US, 15 * MS, 25 * MS) },
		},
		.slice_ns = 1 * MS,
	},
	{
		.name = "closed_100us",
		.what = "0.1 ms jobs with 0 .. 50 us of thought, beside three hogs",
		.length_ns = 2 * SEC,
		.kind = {
			{ "closed", 1, 250, 0, 1, CLOSED(100 * US, 1, 50 * US) },
			{ "hog", 3, 150, 0, 1, HOG(10 * MS, 2) },
		},
	},
	{
		.name = "closed_500us",
		.what = "the same with 0.5 ms jobs",
		.length_ns = 2 * SEC,
		.kind = {
			{ "closed", 1, 250, 0, 1, CLOSED(500 * US, 1, 50 * US) },
			{ "hog", 3, 150, 0, 1, HOG(10 * MS, 2) },
		},
	},
	{
		.name = "closed_1ms",
		.what = "the same with 1 ms jobs",
		.length_ns = 2 * SEC,
		.kind = {
			{ "closed", 1, 250, 0, 1, CLOSED(1 * MS, 1, 50 * US) },
			{ "hog", 3, 150, 0, 1, HOG(10 * MS, 2) },
		},
	},
	{
		.name = "resonance",
		.what = "jobs of one slice, a little less, a little more; one each cycle; 20 ms each window",
		.length_ns = 4 * SEC,
		.kind = {
			{ "job S", 1, 190, 0, 1, HOG(S_NS, 2) },
			{ "job S-20us", 1, 190, 0, 1, HOG(S_NS - 20 * US, 2) },
			{ "job S+20us", 1, 190, 0, 1, HOG(S_NS + 20 * US, 2) },
			{ "S each 5 S", 1, 190, 0, 1, FRAMES(S_NS, 5 * S_NS) },
			{ "per window", 1, 190, 0, 1,
			  FRAMES(20 * MS, WINDOW_NS) },
		},
	},
	{
		.name = "sleepers",
		.what = "two sleep for 10 us just before each slice ends, beside two hogs",
		.length_ns = 4 * SEC,
		.kind = {
			{ "sleeper", 2, 200, 0, 1,
			  CLOSED(S_NS - 30 * US, 10 * US, 0) },
			{ "hog", 2, 200, 0, 1, HOG(10 * MS, 2) },
		},
	},
	{
		.name = "overrunner",
		.what = "one runs 9 ms past the end of each slice, beside three hogs",
		.length_ns = 8 * SEC,
		.kind = {
			{ "overrunner", 1, 200, 0, 1, OVERRUNNER(20 * MS) },
			{ "hog", 3, 200, 0, 1, HOG(20 * MS, 2) },
		},
	},
	{
		.name = "overrun_all",
		.what = "four that all run 9 ms past the end of each slice",
		.length_ns = 8 * SEC,
		.kind = {
			{ "first", 1, 400, 0, 1, OVERRUNNER(20 * MS) },
			{ "others", 3, 150, 0, 1, OVERRUNNER(20 * MS) },
		},
	},
	{
		.name = "flood",
		.what = "64 jobs of 20 us queued at any time by one with a guarantee, beside three hogs",
		.length_ns = 2 * SEC,
		.kind = {
			{ "flood", 1, 250, 0, 1, HOG(20 * US, 64) },
			{ "hog", 3, 200, 0, 1, HOG(10 * MS, 2) },
		},
	},
	{
		.name = "frames_2ms",
		.what = "60 Hz frames of 2 ms beside a 90 % compute hog",
		.length_ns = 8 * SEC,
		.kind = {
			{ "frames", 1, 150, 0, 1, FRAMES(2 * MS, BENCH_FRAME_NS) },
			{ "hog", 1, 100, 0, 1, CLOSED(9 * MS, 1 * MS, 0) },
		},
	},
	{
		.name = "frames_4ms",
		.what = "the same with frames of 4 ms",
		.length_ns = 8 * SEC,
		.kind = {
			{ "frames", 1, 300, 0, 1, FRAMES(4 * MS, BENCH_FRAME_NS) },
			{ "hog", 1, 100, 0, 1, CLOSED(9 * MS, 1 * MS, 0) },
		},
	},
	{
		.name = "frames_8ms",
		.what = "the same with frames of 8 ms",
		.length_ns = 8 * SEC,
		.kind = {
			{ "frames", 1, 550, 0, 1, FRAMES(8 * MS, BENCH_FRAME_NS) },
			{ "hog", 1, 100, 0, 1, CLOSED(9 * MS, 1 * MS, 0) },
		},
	},
	{
		.name = "copy_then_gr",
		.what = "0.5 ms on ce0, then 1 ms on gr, two in flight; a hog on each engine",
		.length_ns = 4 * SEC,
		.nr_engines = 2,
		.kind = {
			{ "pipeline", 1, 400, 0, 1, {
				.kind = DES_CLOSED,
				.stage = { { 1, 500 * US, 0 },
					   { 0, 1 * MS, 0 } },
				.nr_stages = 2, .depth = 2,
			} },
			{ "hog on ce0", 1, 200, 0, 1, {
				.kind = DES_CLOSED,
				.stage = { { 1, 10 * MS, 0 } },
				.nr_stages = 1, .depth = 2,
			} },
			{ "hog on gr", 1, 200, 0, 1, HOG(10 * MS, 2) },
		},
	},
	{
		.name = "churn",
		.what = "every 5 ms one of 15 hogs comes or goes, one stays",
		.length_ns = 4 * SEC,
		.slice_ns = 1 * MS,
		.kind = {
			{ "resident", 1, 200, 0, 1, HOG(1 * MS, 4) },
			{ "visitor", 15, 50, 0, 1, HOG(1 * MS, 4) },
		},
		.act = act_churn,
	},
	{
		.name = "shed_debt",
		.what = "two with a cap run 9 ms over and reset or reopen the device each 15 ms",
		.length_ns = 8 * SEC,
		.kind = {
			{ "resets", 1, 100, 200, 1, OVERRUNNER(5 * MS) },
			{ "reopens", 1, 100, 200, 1, OVERRUNNER(5 * MS) },
			{ "hog", 2, 300, 0, 1, HOG(10 * MS, 2) },
		},
		.act = act_shed,
	},
	{
		.name = "wake_32",
		.what = "32 wake at once every 100 ms, each for 2 ms",
		.length_ns = 4 * SEC,
		.slice_ns = 1 * MS,
		.kind = {
			{ "waker", 32, 31, 0, 1, FRAMES(2 * MS, 100 * MS) },
		},
	},
	{
		.name = "wake_1024",
		.what = "1024 wake at once every 2 s, each for 1.5 ms",
		.length_ns = 4 * SEC,
		.slice_ns = 1 * MS,
		.kind = {
			{ "waker", 1024, 0, 0, 1, FRAMES(1500 * US, 2 * SEC) },
		},
	},
	{
		.name = "busy_1024",
		.what = "1024 busy clients with weights 1 .. 1000, 500 with a guarantee of 1 per mille",
		.length_ns = 30 * SEC,
		.slice_ns = 1 * MS,
		.kind = {
			{ "guaranteed", 500, 1, 0, 1, HOG(5 * MS, 2) },
			{ "others", 524, 0, 0, 1, HOG(5 * MS, 2) },
		},
		.act = act_many,
	},
};

const unsigned int bench_nr_scenarios = ARRAY_SIZE(bench_scenarios);

const struct bench_scenario *bench_scenario(const char *name)
{
	unsigned int i;

	for (i = 0; i < bench_nr_scenarios; i++)
		if (!strcmp(bench_scenarios[i].name, name))
			return &bench_scenarios[i];
	return NULL;
}
