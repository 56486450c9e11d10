// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps gr busy for some seconds, or until told, then has no work until told. Prints how many jobs
 * are done all the time, so that the host can see what each guest got.
 */
#include "guest.h"
#include "load.h"

#define RING_ORDER	12
#define TICK_NS		50000000ull

static void hog_says(const char *what, const struct load *load, uint64_t start)
{
	say("%s %llu at %llu ms", what, (unsigned long long)load->checked,
	    (unsigned long long)((clk_ns() - start) / 1000000));
}

static bool hog_work(struct load *load, const struct options *options, uint64_t start,
		     int port)
{
	bool ok = true;

	while (!tell_over(port, start, options->seconds, &ok)) {
		if (load_keep(load, load_room(load)))
			return failed("%s", load->text);
		hog_says("jobs", load, start);
		clk_sleep_ns(TICK_NS);
	}
	if (load_drain(load, WAIT_MS))
		return failed("%s", load->text);
	hog_says("idle after jobs", load, start);
	return ok && tell_wait(port, LOOK_S);
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
	int port = tell_open();
	struct load load;
	bool ok;

	if (port < 0)
		return false;
	if (load_init(&load, dev, &config))
		return failed("%s", load.text);
	say("working: jobs of %u MiB for %u s", options->mib, options->seconds);
	ok = hog_work(&load, options, start, port);
	if (ok) {
		say("engine %u packets %llu bytes %llu", load.chan->engine,
		    (unsigned long long)(load.checked * load_packets(&load)),
		    (unsigned long long)load.checked * (config.job_bytes + 8 * LOAD_SAMPLES));
		say("verified, checksum %016llx", (unsigned long long)load.sum);
	}
	load_exit(&load);
	return ok;
}
