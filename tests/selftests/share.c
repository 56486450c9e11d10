// SPDX-License-Identifier: GPL-2.0
#include <sys/prctl.h>

#include "due.h"
#include "share.h"

#define JOB_NS		100000
#define RING_NS		400000000ull	/* what the ring of a vGPU that gets its due lasts for */
#define RING_MAX_NS	3200000000ull	/* the same, on a host that is busy */
#define TICK_NS		20000000	/* from one refill of the rings to the next */
#define DEPTH_MIN	64		/* jobs */

struct share_world share;
static uint64_t ring_ns = RING_NS;

void share_ok(struct load *l, int ret)
{
	if (ret)
		FAIL("%s", l->text);
}

void share_open(const char *types)
{
	char type[16];
	int used;

	share.nr = 0;
	while (sscanf(types, "%15s%n", type, &used) == 1) {
		CHECK(share.nr < SHARE_VGPUS);
		fx_create_open(&share.vgpu[share.nr], type);
		share.set[share.nr] = tune_entry(&share.vgpu[share.nr], 0, 0, 0, 0);
		share.nr++;
		types += used;
	}
}

static void start_loads(void)
{
	struct load_config config = {
		.engine_class = VGPU_HW_ENGINE_GR,
		.order = SHARE_RING_ORDER,
	};
	uint64_t took_ns;
	unsigned int i;

	share_ok(&share.load[0], load_size(&share.load[0], share.vgpu[0].dev, &config,
					   JOB_NS, &config.job_bytes, &took_ns));
	for (i = 0; i < share.nr; i++) {
		config.seed = fx_random();
		share_ok(&share.load[i], load_init(&share.load[i], share.vgpu[i].dev, &config));
	}
}

static void tick(void)
{
	uint64_t start = clk_ns();

	clk_sleep_ns(TICK_NS);
	share.late_ns += clk_ns() - start - TICK_NS;
	share.ticks++;
}

/*
 * As many jobs as last for ring_ns at the speed that is due, so that a client that is late leaves
 * no vGPU without work. More of them would only have to be waited for at the end.
 */
static uint64_t depth(unsigned int i)
{
	uint64_t jobs = (uint64_t)(share.due[i] * (double)ring_ns / JOB_NS);
	uint64_t room = load_room(&share.load[i]);

	return jobs < DEPTH_MIN ? DEPTH_MIN : jobs < room ? jobs : room;
}

/* After a ring has run empty all last longer: this machine's processors are lost for longer. */
static void look_at_rings(void)
{
	unsigned int i;

	for (i = 0; i < share.nr && ring_ns < RING_MAX_NS; i++) {
		if (!share.busy[i] || !share.load[i].put ||
		    load_jobs(&share.load[i]) < share.load[i].put)
			continue;
		ring_ns *= 2;
		ktap_note("the ring of vGPU %u has run empty; rings last for %llu ms from here on",
			  i, (unsigned long long)ring_ns / 1000000);
		return;
	}
}

void share_keep_busy(unsigned int ms)
{
	uint64_t end = clk_ms() + ms;
	unsigned int i;

	do {
		look_at_rings();
		for (i = 0; i < share.nr; i++)
			if (share.busy[i])
				share_ok(&share.load[i], load_keep(&share.load[i], depth(i)));
		if (share.beside.dev)
			share_ok(&share.beside, load_keep(&share.beside, load_room(&share.beside)));
		tick();
	} while (clk_ms() < end);
}

void share_finish(void)
{
	unsigned int i;

	for (i = 0; i < share.nr; i++)
		share_ok(&share.load[i], load_drain(&share.load[i], FX_TIMEOUT_MS));
	if (share.beside.dev)
		share_ok(&share.beside, load_drain(&share.beside, FX_TIMEOUT_MS));
}

void share_find_due(enum vgpu_ctl_due rule)
{
	struct due_claim claims[SHARE_VGPUS];
	struct vgpu_ctl_gpu gpu;
	unsigned int i;

	fx_ctl_gpu(&gpu);
	CHECK_EQ(gpu.due, rule, "%s", (char *)gpu.policy);
	for (i = 0; i < share.nr; i++)
		claims[i] = (struct due_claim){
			.guarantee = share.set[i].guarantee / 1000.0,
			.cap = share.set[i].cap / 1000.0,
			.weight = share.set[i].weight,
			.part = (double)share.vgpu[i].dev->fb_bytes / (double)gpu.fb_bytes,
			.demand = share.busy[i],
			.started = true,
		};
	CHECK(due_by_rule(rule, claims, share.nr, 1));
	for (i = 0; i < share.nr; i++)
		share.due[i] = claims[i].due;
}

void share_want(const unsigned int triple[][3])
{
	unsigned int i;

	for (i = 0; i < share.nr; i++)
		share.set[i] = tune_entry(&share.vgpu[i], TUNE_TRIPLE, triple[i][0],
					  triple[i][1], triple[i][2]);
	tune_set_shares(share.set, share.nr);
}

void share_prepare(const struct share_scenario *s)
{
	struct vgpu_ctl_sched sched = { .slice_ns = s->slice_ns };
	unsigned int i;

	share_open(s->types);
	if (s->due == VGPU_DUE_SHARE)
		share_want(s->share);
	for (i = 0; i < share.nr; i++)
		share.busy[i] = !(s->idle & 1u << i);
	start_loads();
	prctl(PR_SET_TIMERSLACK, 1);
	if (!sched.slice_ns)
		sched.slice_ns = share.nr > 8 ? 1000000 : 2000000;
	share.slice_ns = sched.slice_ns;
	snprintf((char *)sched.policy, sizeof(sched.policy), "%s", s->policy);
	tune_set(&sched, VGPU_SCHED_POLICY | VGPU_SCHED_SLICE);
	share_find_due(s->due);
}

void share_cleanup(void)
{
	unsigned int i;

	load_exit(&share.beside);
	for (i = 0; i < SHARE_VGPUS; i++)
		load_exit(&share.load[i]);
	tune_cleanup();
}
