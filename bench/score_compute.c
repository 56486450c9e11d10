// SPDX-License-Identifier: GPL-2.0
/*
 * Four vGPUs under qos with a quarter each, whose channels always have programs: switches, and how
 * long programs take to stop. Each vGPU has another program that is hard to stop. What a program
 * leaves is compared with what the CPU computes, for each dispatch.
 */
#include <endian.h>
#include <math.h>
#include <string.h>

#include "place.h"
#include "score.h"
#include "stats.h"

#define JOB_NS		(3 * MS)	/* longer than a slice */
#define ALONE_SLICE_NS	(10 * MS)
#define ALONE_JOBS	100
#define TRIAL_ROUNDS	8
#define ITEMS		256
#define PAGES		1024
#define SLOTS		64
#define RING_ORDER	8
#define SECONDS		11
#define SAMPLE_NS	(25 * MS)
#define COLLECT		5		/* the log is read with each such sample */
#define STOPS		8000
#define DRAIN_MS	60000

/**
 * struct worker - a tenant's client
 * @program:  what it dispatches
 * @start:    offset of its first byte of framebuffer
 * @place:    where the program is
 * @chan:     the channel
 * @rounds:   of a job
 * @result:   what each work-item of a job is to leave
 * @put:      jobs submitted
 * @checked:  jobs verified
 * @alone_ns: service of a job with nothing else on the engine
 * @stops:    how long the program took to stop, us
 * @nr_stops: number of these
 */
struct worker {
	const struct program *program;
	uint64_t start;
	struct place place;
	struct vgpu_chan *chan;
	uint64_t rounds;
	uint64_t result[ITEMS];
	uint64_t put;
	uint64_t checked;
	double alone_ns;
	double stops[STOPS];
	unsigned int nr_stops;
};

static struct worker workers[TENANTS] = {
	{ .program = &program_diverged }, { .program = &program_slow },
	{ .program = &program_misses }, { .program = &program_atomics },
};

static void check_job(struct worker *w, uint64_t job)
{
	uint64_t *out = place_out(&w->place, job % SLOTS);
	unsigned int i;

	for (i = 0; i < ITEMS; i++)
		if (le64toh(out[i]) != w->result[i])
			bench_die("%s: job %llu, work-item %u: %#llx, not %#llx", w->program->name,
				  (unsigned long long)job, i, (unsigned long long)le64toh(out[i]),
				  (unsigned long long)w->result[i]);
	memset(out, 0, sizeof(w->result));
}

/* Verifies jobs that have completed, and submits so many that @depth are under way. */
static void worker_keep(struct worker *w, uint64_t depth)
{
	struct vgpu_chan *chan = w->chan;
	uint64_t put = w->put;

	if (vgpu_chan_state(chan) == VGPU_HW_STATE_FAULTED)
		bench_die("%s: the channel has faulted", w->program->name);
	while (w->checked < vgpu_chan_get(chan))
		check_job(w, w->checked++);
	for (; w->put < w->checked + depth; w->put++)
		chan->ring[w->put & ((1ull << chan->order) - 1)] =
			place_packet(&w->place, w->put % SLOTS, w->rounds);
	if (w->put != put && vgpu_chan_kick(chan, w->put) < 0)
		bench_die("doorbell: %s", vgpu_dev_error(chan->dev));
}

static void worker_drain(struct worker *w)
{
	if (vgpu_chan_wait_idle(w->chan, DRAIN_MS))
		bench_die("%s: %s", w->program->name, vgpu_dev_error(w->chan->dev));
	worker_keep(w, 0);
	if (w->checked != w->put)
		bench_die("%s: not all jobs have completed", w->program->name);
}

static void set_rounds(struct worker *w, uint64_t rounds)
{
	unsigned int i;

	w->rounds = rounds;
	for (i = 0; i < ITEMS; i++)
		w->result[i] = w->program->result(i, rounds);
}

/* Service of one of so many jobs with nothing else on the engine. */
static double time_jobs(struct worker *w, unsigned int tenant, unsigned int jobs)
{
	uint64_t end = w->put + jobs;
	struct score_reading a, b;

	score_take(&a);
	while (w->put < end) {
		worker_keep(w, end - w->put < SLOTS ? end - w->put : SLOTS);
		clk_sleep_ns(MS);
	}
	worker_drain(w);
	score_take(&b);
	return (double)(b.service_ns[tenant] - a.service_ns[tenant]) / jobs;
}

static void worker_start(unsigned int tenant)
{
	struct worker *w = &workers[tenant];
	struct vgpu_dev *dev;
	int engine;

	score_open(tenant);
	dev = score.tenant[tenant].dev;
	w->start = dev->fb_next;
	w->place = (struct place) {
		.dev = dev, .items = ITEMS, .pages = PAGES, .slots = SLOTS,
	};
	engine = vgpu_dev_find_engine(dev, VGPU_HW_ENGINE_GR, 0);
	if (engine < 0 ||
	    vgpu_chan_create(dev, (uint32_t)engine, VGPU_RING_FB, RING_ORDER, &w->chan))
		bench_die("channel: %s", vgpu_dev_error(dev));
	place_program(&w->place, w->program);
	/* The first job finds the program not decoded, and the context not there. */
	set_rounds(w, TRIAL_ROUNDS);
	time_jobs(w, tenant, 1);
	set_rounds(w, fmax(1, TRIAL_ROUNDS * JOB_NS / time_jobs(w, tenant, 4)));
	w->alone_ns = time_jobs(w, tenant, ALONE_JOBS);
}

static void worker_stop(unsigned int tenant)
{
	struct worker *w = &workers[tenant];

	worker_drain(w);
	vgpu_chan_destroy(w->chan);
	vgpu_fb_release(score.tenant[tenant].dev, w->start);
}

static void keep_all(uint64_t for_ns)
{
	unsigned int i;

	for (i = 0; i < TENANTS; i++)
		worker_keep(&workers[i], SLOTS);
	clk_sleep_ns(for_ns);
}

/* Adds how long the last runs of the engine took to stop, or, without @keep, passes over them. */
static void collect_stops(bool keep)
{
	static struct vgpu_ctl_switch entry[VGPU_SCHED_LOG];
	static uint64_t seen;
	uint64_t total, fresh;
	uint32_t i, count = score_log(entry, &total);
	unsigned int k;

	fresh = total - seen;
	seen = total;
	if (!keep)
		return;
	if (fresh > count)
		bench_die("the log was read too late");
	for (i = count - (uint32_t)fresh; i < count; i++) {
		for (k = 0; k < TENANTS; k++) {
			struct worker *w = &workers[k];

			if (!memcmp(entry[i].uuid, score.tenant[k].id, VGPU_UUID_LEN) &&
			    entry[i].preempt_ns && w->nr_stops < STOPS)
				w->stops[w->nr_stops++] = (double)entry[i].preempt_ns / US;
		}
	}
}

/* The four work for a while; switches are counted, and stops collected. */
static void share(struct score_reading *a, struct score_reading *b, uint64_t *jobs,
		  uint64_t *switches, uint64_t *switch_ns)
{
	uint64_t end;
	unsigned int i;

	keep_all(300 * MS);
	collect_stops(false);
	*switches = score_counter("switches");
	*switch_ns = score_counter("switch_ns");
	score_take(a);
	for (i = 0; i < TENANTS; i++)
		jobs[i] = vgpu_chan_get(workers[i].chan);
	end = clk_ns() + SECONDS * 1000 * MS;
	for (i = 1; clk_ns() < end; i++) {
		keep_all(SAMPLE_NS);
		if (i % COLLECT == 0)
			collect_stops(true);
	}
	score_take(b);
	for (i = 0; i < TENANTS; i++)
		jobs[i] = vgpu_chan_get(workers[i].chan) - jobs[i];
	*switches = score_counter("switches") - *switches;
	*switch_ns = score_counter("switch_ns") - *switch_ns;
}

static void result_loss(const struct score_reading *a, const struct score_reading *b,
			const uint64_t *jobs, uint64_t switches, uint64_t switch_ns)
{
	struct score_result loss = { 0 };
	unsigned int i;
	double ns;

	score_switch_loss(&loss, a, b, switches, switch_ns);
	score_add(&loss, "; service of a job, longer than a slice, beside the others in times of that alone:");
	for (i = 0; i < TENANTS; i++) {
		ns = (double)(b->service_ns[i] - a->service_ns[i]) / fmax(1, (double)jobs[i]);
		score_add(&loss, "%s %s %.4f (%llu jobs)", i ? "," : "", workers[i].program->name,
			  ns / workers[i].alone_ns, (unsigned long long)jobs[i]);
	}
	score_result("switch_loss_compute", &loss);
}

static void result_stops(const char *row, double quantile)
{
	struct score_result stop = { 0 };
	unsigned int i;
	double us;

	score_add(&stop, "from a slice's end, or the request, until the engine was free; four vGPUs with programs, the worst counts");
	for (i = 0; i < TENANTS; i++) {
		struct worker *w = &workers[i];

		if (!w->nr_stops)
			bench_die("%s was not stopped", w->program->name);
		us = stats_quantile(w->stops, w->nr_stops, quantile);
		stop.value = fmax(stop.value, us);
		score_add(&stop, "; %s (%s) %.1f us, largest of %u %.1f us", w->program->name,
			  w->program->brief, us, w->nr_stops, w->stops[w->nr_stops - 1]);
	}
	score_result(row, &stop);
}

void score_rows_compute(void)
{
	static const unsigned int quarter[TENANTS][3] = {
		{ 250, 1000, 250 }, { 250, 1000, 250 }, { 250, 1000, 250 },
		{ 250, 1000, 250 },
	};
	uint64_t slice_ns = score.slice_ns, jobs[TENANTS], switches, switch_ns;
	struct score_result pauses = { 0 }, reloads = { 0 };
	struct score_reading a, b;
	unsigned int i;

	if (!score_wanted("switch_loss_compute") && !score_wanted("compute_stop_p50") &&
	    !score_wanted("compute_stop_p99") && !score_wanted("compute_pause_p99") &&
	    !score_wanted("state_reload"))
		return;
	score_progress("programs, each alone");
	score.slice_ns = ALONE_SLICE_NS;
	score_policy("best_effort");
	for (i = 0; i < TENANTS; i++)
		worker_start(i);
	score.slice_ns = slice_ns;
	score_shares(quarter);
	score_policy("qos");
	score_progress("four vGPUs with programs for %u s, slices of %llu us", SECONDS,
		       (unsigned long long)(slice_ns / US));
	share(&a, &b, jobs, &switches, &switch_ns);
	score_progress("pauses of them");
	score_pauses(&pauses, keep_all);
	score_progress("and moves");
	score_reloads(&reloads, keep_all);
	for (i = 0; i < TENANTS; i++)
		worker_stop(i);
	result_loss(&a, &b, jobs, switches, switch_ns);
	result_stops("compute_stop_p50", 0.5);
	result_stops("compute_stop_p99", 0.99);
	score_result("compute_pause_p99", &pauses);
	score_result("state_reload", &reloads);
}
