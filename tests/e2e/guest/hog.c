// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps gr busy for some seconds, then has no work for some. Prints how many jobs are done all
 * the time, so that the host can see what each guest got.
 */
#include "guest.h"
#include "load.h"

#define RING_ORDER	12
#define TICK_NS		50000000ull

static bool hog_says(const char *what, const struct load *load, uint64_t start)
{
	say("%s %llu at %llu ms", what, (unsigned long long)load->checked,
	    (unsigned long long)((clk_ns() - start) / 1000000));
	return true;
}

static bool hog_work(struct load *load, const struct options *options, uint64_t start)
{
	uint64_t end = start + options->seconds * 1000000000ull;

	while (clk_ns() < end) {
		if (load_keep(load, load_room(load)))
			return failed("%s", load->text);
		hog_says("jobs", load, start);
		clk_sleep_ns(TICK_NS);
	}
	if (load_drain(load, WAIT_MS))
		return failed("%s", load->text);
	return hog_says("idle after jobs", load, start);
}

bool hog_run(struct vgpu_dev *dev, const struct options *options)
{
	struct load_config config = {
		.engine_class = VGPU_HW_ENGINE_GR,
		.order = RING_ORDER,
		.job_bytes = options->mib * MIB,
		.seed = options->seed,
	};
	uint64_t start = clk_ns();
	struct load load;
	bool ok;

	if (load_init(&load, dev, &config))
		return failed("%s", load.text);
	say("working: jobs of %u MiB for %u s, then idle for %u s", options->mib,
	    options->seconds, options->idle);
	ok = hog_work(&load, options, start);
	if (ok) {
		clk_sleep_ns(options->idle * 1000000000ull);
		say("engine %u packets %llu bytes %llu", load.chan->engine,
		    (unsigned long long)(load.checked * load_packets(&load)),
		    (unsigned long long)load.checked * (config.job_bytes + 8 * LOAD_SAMPLES));
		say("verified, checksum %016llx", (unsigned long long)load.sum);
	}
	load_exit(&load);
	return ok;
}
