// SPDX-License-Identifier: GPL-2.0
/* Runs samples and compares what they have done with what the CPU does. */
#include <samples.h>

#include "guest.h"

#define RING_ORDER	4
#define TIMES		2	/* of a sample, before the CPU, which is slow here, does the same */
#define LOOK_S		600	/* for the host to begin */
#define DEPTH		2	/* dispatches that are queued */

bool sample_check(struct vgpu_dev *dev, struct vgpu_chan *chan, const struct sample *sample)
{
	struct sample_run run;
	unsigned int i;
	uint64_t ns;
	int64_t at = -1;

	for (i = 0; i < TIMES && at == -1; i++) {
		if (sample_load(dev, sample, &run) || sample_run(&run, chan, WAIT_MS, &ns))
			return failed("%s: %s", sample->name, vgpu_dev_error(dev));
		if (i == TIMES - 1)
			at = sample_compare(&run, &ns);
		sample_unload(&run);
	}
	if (at != -1)
		return failed("%s: the CPU computes something else at %lld", sample->name,
			      (long long)at);
	return true;
}

static bool samples_check(struct vgpu_dev *dev, struct vgpu_chan *chan,
			  const struct sample *(*at)(size_t i))
{
	const struct sample *sample;
	uint64_t start = clk_ns();
	size_t i;

	for (i = 0; (sample = at(i)); i++)
		if (!sample_check(dev, chan, sample))
			return false;
	say("samples: %zu are right, in %llu ms", i,
	    (unsigned long long)((clk_ns() - start) / 1000000));
	return true;
}

/* For so long, or once; some are always queued, for gr to do next. @ns: when the last one ended. */
static int repeat(struct sample_run *run, struct vgpu_chan *chan, uint64_t for_ns, uint64_t *runs,
		  uint64_t *ns)
{
	uint64_t start = clk_ns(), now = start, fence[DEPTH], queued = 0;
	int ret = 0;

	for (*runs = 0, *ns = 0; !ret && (now - start < for_ns || !*runs); now = clk_ns()) {
		if (queued - *runs == DEPTH) {
			ret = vgpu_chan_wait(chan, fence[(*runs)++ % DEPTH], WAIT_MS);
			*ns = clk_ns() - start;
		}
		if (!ret)
			ret = vgpu_chan_dispatch(chan, &run->launch);
		if (!ret)
			ret = vgpu_chan_fence(chan, &fence[queued++ % DEPTH]);
	}
	return ret ? ret : vgpu_chan_wait_idle(chan, WAIT_MS);
}

static bool show(struct vgpu_dev *dev, struct vgpu_chan *chan, const struct sample *sample,
		 unsigned int ms, int port)
{
	struct sample_run run;
	uint64_t runs, ns, rate;
	int ret;

	if (sample_load(dev, sample, &run))
		return failed("%s: %s", sample->name, vgpu_dev_error(dev));
	sample_prepare(&run);
	say("sample %s: ready", sample->name);
	if (!tell_wait(port, LOOK_S))
		return false;
	ret = repeat(&run, chan, ms * 1000000ull, &runs, &ns);
	sample_unload(&run);
	if (ret)
		return failed("%s: %s", sample->name, vgpu_dev_error(dev));
	if (!sample_check(dev, chan, sample))
		return false;
	rate = runs * 100 * 1000000000 / (ns + 1);
	say("sample %s: %llu runs, %llu.%02llu a second, right", sample->name,
	    (unsigned long long)runs, (unsigned long long)(rate / 100),
	    (unsigned long long)(rate % 100));
	return true;
}

bool samples_show(struct vgpu_dev *dev, struct vgpu_chan *chan, unsigned int ms, int port)
{
	const struct sample *sample;
	size_t i;

	for (i = 0; (sample = small_at(i)); i++)
		if (!show(dev, chan, sample, ms, port))
			return false;
	return true;
}

static bool run_all(struct vgpu_dev *dev, const struct sample *(*at)(size_t i))
{
	int engine = vgpu_dev_find_engine(dev, VGPU_HW_ENGINE_GR, 0), port;
	struct vgpu_chan *chan;
	bool ok;

	if (engine < 0 ||
	    vgpu_chan_create(dev, (uint32_t)engine, VGPU_RING_FB, RING_ORDER, &chan))
		return failed("a channel: %s", vgpu_dev_error(dev));
	port = tell_open();
	say("ready");
	if (port < 0 || !tell_wait(port, LOOK_S))
		return false;
	ok = samples_check(dev, chan, at);
	vgpu_chan_destroy(chan);
	return ok;
}

bool samples_run(struct vgpu_dev *dev, const struct options *options)
{
	(void)options;
	return run_all(dev, sample_at);
}

bool samples_run_small(struct vgpu_dev *dev, const struct options *options)
{
	(void)options;
	return run_all(dev, small_at);
}
