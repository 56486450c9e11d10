// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "score.h"

#define TICK_NS		(25 * MS)
#define UNIT_NS		(50 * US)
#define UNITS		1024	/* FILLs by which their length is measured */

void score_check(const struct load *load, int ret)
{
	if (ret)
		bench_die("%s (%s)", load->text, strerror(-ret));
}

/* How many ns a FILL of that size takes, with nothing else on the engine. */
static uint64_t time_unit(struct load *load, struct vgpu_dev *dev,
			  const struct load_config *like, uint64_t bytes)
{
	struct load_config config = *like;
	uint64_t start;

	config.job_bytes = bytes;
	config.fills = UNITS;
	config.order = ALL_ORDER;
	score_check(load, load_init(load, dev, &config));
	/* The first job finds the engine asleep, so it is not timed. */
	score_check(load, load_keep(load, 1));
	while (load_jobs(load) < load->put)
		clk_sleep_ns(MS);
	start = clk_ns();
	score_check(load, load_keep(load, 4));
	/* Sleeps in between, as polling takes processor time, perhaps from the engine. */
	while (load_jobs(load) < load->put)
		clk_sleep_ns(MS);
	start = clk_ns() - start;
	score_check(load, load_check(load));
	load_exit(load);
	return start / 4 / UNITS;
}

/* The size of a FILL that takes UNIT_NS, to the nearest page. */
static uint64_t size_unit(struct load *load, struct vgpu_dev *dev, const struct load_config *config)
{
	uint64_t one_ns = time_unit(load, dev, config, 4 * PAGE) / 4, took_ns;
	uint64_t bytes = PAGE;
	unsigned int round;

	for (round = 0; round < 3; round++) {
		bytes = (UNIT_NS + one_ns / 2) / one_ns * PAGE;
		bytes = bytes < PAGE ? PAGE : bytes;
		took_ns = time_unit(load, dev, config, bytes);
		one_ns = took_ns / (bytes / PAGE) + 1;
	}
	printf("# jobs are FILLs of %llu KiB, of %.1f us each, and a check of what is there then\n",
	       (unsigned long long)(bytes >> 10), (double)took_ns / US);
	return bytes;
}

void score_stop(unsigned int i)
{
	struct score_tenant *t = &score.tenant[i];

	t->busy = false;
	load_exit(&t->load);
}

void score_open(unsigned int i)
{
	struct score_tenant *t = &score.tenant[i];

	if (t->dev)
		return;
	if (vgpu_dev_open_vfio(&t->dev, t->uuid))
		bench_die("%s", vgpu_dev_error(NULL));
	if (vgpu_irq_enable(t->dev, 2))
		bench_die("%s", vgpu_dev_error(t->dev));
}

void score_close(unsigned int i)
{
	struct score_tenant *t = &score.tenant[i];

	score_stop(i);
	vgpu_dev_close(t->dev);
	t->dev = NULL;
}

/*
 * A job consists of FILLs of UNIT_NS of the same memory, so that a longer job does not touch more
 * memory. The size of a FILL is found once, on an idle engine, under a policy that gives one vGPU
 * all of it.
 */
void score_start(unsigned int i, uint64_t job_ns, unsigned int order, bool irq)
{
	static uint64_t unit_bytes;
	struct load_config config = {
		.engine_class = VGPU_HW_ENGINE_GR,
		.order = order,
		.irq = irq,
		.seed = score_random_below(~0ull),
	};
	struct score_tenant *t = &score.tenant[i];

	score_open(i);
	score_stop(i);
	if (!unit_bytes) {
		score_policy("best_effort");
		unit_bytes = size_unit(&t->load, t->dev, &config);
	}
	config.job_bytes = unit_bytes;
	config.fills = (uint32_t)(job_ns / UNIT_NS);
	score_check(&t->load, load_init(&t->load, t->dev, &config));
}

void score_keep(uint64_t for_ns)
{
	uint64_t end = clk_ns() + for_ns, now;
	unsigned int i;

	for (;;) {
		for (i = 0; i < TENANTS; i++) {
			struct score_tenant *t = &score.tenant[i];

			if (t->busy)
				score_check(&t->load, load_keep(&t->load, load_room(&t->load)));
		}
		now = clk_ns();
		if (now >= end)
			return;
		clk_sleep_ns(end - now < TICK_NS ? end - now : TICK_NS);
	}
}

void score_idle(unsigned int i)
{
	struct score_tenant *t = &score.tenant[i];

	t->busy = false;
	while (load_jobs(&t->load) < t->load.put)
		score_keep(MS);
	score_check(&t->load, load_check(&t->load));
}
