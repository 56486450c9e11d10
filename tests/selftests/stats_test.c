// SPDX-License-Identifier: GPL-2.0
/*
 * VGPU_IOC_STATS: a GPU and all its vGPUs in one call. What it says adds up at any time, and never
 * goes back. And what calls with arrays do with bad arguments.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "fixture.h"
#include "load.h"
#include "soft.h"

#define NR_VGPUS	4
#define ROOM		32
#define KNOWN		128
#define ROUNDS		12
#define ROUNDS_MAX	100	/* each has one vGPU more that readers know */
#define JOB_BYTES	(512 * 1024)

static struct fx_vgpu v[NR_VGPUS];
static struct load load[NR_VGPUS][2];
static uint32_t gpu_id;

/* What a reader knows of the vGPUs it has seen, and of the GPU. */
struct seen {
	struct vgpu_ctl_stats stats;
	struct vgpu_ctl_instance entries[ROOM];
	struct vgpu_ctl_instance known[KNOWN];
	unsigned int nr_known;
};

/* What the test shares with the process that reads all the time. */
struct shared {
	uint32_t stop;
	uint64_t reads;
	uint64_t gone;	/* reads that found another number of vGPUs than the one before */
};

static struct seen seen;

#define NOT_LESS(new, old, field)					\
	CHECK((new)->field >= (old)->field, "%llu after %llu",		\
	      (unsigned long long)(new)->field, (unsigned long long)(old)->field)

/* The vGPU as it was seen the last time; as it is now if it was not seen before. */
static struct vgpu_ctl_instance *known(struct seen *s, const struct vgpu_ctl_instance *now)
{
	unsigned int i;

	for (i = 0; i < s->nr_known; i++)
		if (!memcmp(s->known[i].uuid, now->uuid, sizeof(now->uuid)))
			return &s->known[i];
	CHECK(s->nr_known < KNOWN);
	s->known[s->nr_known] = *now;
	return &s->known[s->nr_known++];
}

static void check_instance(struct seen *s, const struct vgpu_ctl_instance *now)
{
	struct vgpu_ctl_instance *old = known(s, now);
	unsigned int e;

	CHECK_EQ(now->size, offsetof(struct vgpu_ctl_instance, engine[now->engines]));
	CHECK_EQ(now->gpu, gpu_id);
	CHECK_EQ(now->state == VGPU_STATE_STARTED, !!now->session);
	CHECK_EQ(!!now->started_ns, !!now->session);
	NOT_LESS(now, old, frames);
	NOT_LESS(now, old, faults);
	NOT_LESS(now, old, resets);
	NOT_LESS(now, old, interrupts);
	NOT_LESS(now, old, doorbells);
	NOT_LESS(now, old, now_ns);
	for (e = 0; e < now->engines; e++) {
		const struct vgpu_ctl_instance_engine *a = &now->engine[e], *b = &old->engine[e];

		NOT_LESS(a, b, busy_ns);
		NOT_LESS(a, b, wait_ns);
		NOT_LESS(a, b, runs);
		NOT_LESS(a, b, switches);
		NOT_LESS(a, b, preemptions);
		NOT_LESS(a, b, faults);
		NOT_LESS(a, b, resets);
		NOT_LESS(a, b, packets);
		NOT_LESS(a, b, bytes);
		NOT_LESS(now, old, engine[e].linger_ns);
	}
	*old = *now;
}

static void check_engine(const struct vgpu_ctl_stats_engine *now,
			 const struct vgpu_ctl_stats_engine *old)
{
	NOT_LESS(now, old, busy_ns);
	NOT_LESS(now, old, gone_ns);
	NOT_LESS(now, old, linger_ns);
	NOT_LESS(now, old, wall_ns);
	NOT_LESS(now, old, runs);
	NOT_LESS(now, old, switches);
	NOT_LESS(now, old, resets);
	CHECK(now->busy_ns <= now->wall_ns, "%llu of %llu", (unsigned long long)now->busy_ns,
	      (unsigned long long)now->wall_ns);
}

/* Reads the GPU, and checks the numbers against each other and those of the last time. */
static void look(struct seen *s)
{
	struct vgpu_ctl_stats old = s->stats, *now = &s->stats;
	uint64_t frames, faults, backed = 0, busy;
	unsigned int i, e;

	CHECK_EQ(node_stats(fx_control(), gpu_id, now, s->entries, ROOM), 0);
	frames = now->gone_frames;
	faults = now->gone_faults;
	for (i = 0; i < now->count; i++) {
		check_instance(s, &s->entries[i]);
		frames += s->entries[i].frames;
		faults += s->entries[i].faults;
		backed += s->entries[i].fb_backed_bytes;
	}
	CHECK_EQ(now->frames, frames);
	CHECK_EQ(now->faults, faults);
	CHECK_EQ(now->fb_backed_bytes, backed);
	for (e = 0; e < now->engines; e++) {
		busy = now->engine[e].gone_ns;
		for (i = 0; i < now->count; i++)
			busy += s->entries[i].engine[e].busy_ns;
		CHECK_EQ(now->engine[e].busy_ns, busy, "engine %u", e);
		check_engine(&now->engine[e], &old.engine[e]);
	}
	NOT_LESS(now, &old, frames);
	NOT_LESS(now, &old, gone_frames);
	NOT_LESS(now, &old, faults);
	NOT_LESS(now, &old, gone_faults);
	CHECK(now->now_ns > old.now_ns, "the clock stands still");
}

static void reader(void *arg)
{
	struct shared *shared = arg;
	uint32_t count;

	do {
		count = seen.stats.count;
		look(&seen);
		shared->gone += seen.stats.count != count;
		shared->reads++;
	} while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED));
}

static void begin_load(unsigned int i)
{
	struct load_config config = {
		.order = 6,
		.job_bytes = JOB_BYTES,
		.seed = fx_random(),
	};
	unsigned int k;

	for (k = 0; k < 2; k++) {
		config.engine_class = k ? VGPU_HW_ENGINE_CE : VGPU_HW_ENGINE_GR;
		if (load_init(&load[i][k], v[i].dev, &config))
			FAIL("%s", load[i][k].text);
	}
}

static void keep_load(unsigned int i)
{
	unsigned int k;

	for (k = 0; k < 2; k++)
		if (load_keep(&load[i][k], load_room(&load[i][k])))
			FAIL("%s", load[i][k].text);
}

static void end_load(unsigned int i)
{
	load_exit(&load[i][1]);
	load_exit(&load[i][0]);
}

static void begin(void)
{
	memset(&seen, 0, sizeof(seen));
	gpu_id = fx_gpu_id();
}

/* The process has read more than twice, and has seen vGPUs come or go. */
static bool has_looked(const struct shared *shared)
{
	return __atomic_load_n(&shared->reads, __ATOMIC_RELAXED) > 2 &&
	       __atomic_load_n(&shared->gone, __ATOMIC_RELAXED);
}

/* vGPUs work, go and come, while two processes read, which may need a while to begin. */
static void sums_add_up_while_vgpus_come_and_go(void)
{
	struct shared *shared = child_shared(2 * sizeof(*shared));
	unsigned int round, i, k;
	uint64_t end;
	pid_t pid[2];
	int status;

	fx_need("execution");
	begin();
	/* Before any vGPU is open, which these processes would then hold open, too. */
	for (k = 0; k < 2; k++)
		pid[k] = child_start(reader, &shared[k]);
	for (i = 0; i < NR_VGPUS; i++) {
		fx_create_open(&v[i], fx_default_type());
		begin_load(i);
	}
	for (round = 0; round < ROUNDS ||
	     (round < ROUNDS_MAX && !(has_looked(&shared[0]) && has_looked(&shared[1]))); round++) {
		end = clk_ms() + (round < ROUNDS ? 30 : 300);
		for (; clk_ms() < end; clk_sleep_ms(1))
			for (i = 0; i < NR_VGPUS; i++)
				keep_load(i);
		i = (unsigned int)fx_random_below(NR_VGPUS);
		end_load(i);
		fx_close(&v[i]);
		look(&seen);
		fx_remove(&v[i]);
		look(&seen);
		v[i].uuid[0] = 0;
		CHECK_EQ(fx_try_create(&v[i], fx_default_type()), 0);
		fx_open(&v[i]);
		begin_load(i);
	}
	for (k = 0; k < 2; k++) {
		__atomic_store_n(&shared[k].stop, 1, __ATOMIC_RELAXED);
		CHECK(child_ends(pid[k], FX_TIMEOUT_MS, &status), "hangs");
		CHECK_EQ(status, 0);
		ktap_note("%llu reads, %llu of them with another number of vGPUs",
			  (unsigned long long)shared[k].reads, (unsigned long long)shared[k].gone);
		CHECK(has_looked(&shared[k]), "looked at nothing");
	}
	CHECK(seen.stats.engine[load[0][0].chan->engine].busy_ns > 0, "no service");
}

/* What a vGPU did goes on as what gone ones did, to the ns. */
static void removed_vgpus_are_counted_as_gone(void)
{
	struct vgpu_ctl_instance last;
	struct vgpu_ctl_stats before;
	unsigned int e;

	fx_need("execution");
	begin();
	fx_create_open(&v[0], fx_default_type());
	begin_load(0);
	keep_load(0);
	CHECK(!load_drain(&load[0][0], FX_TIMEOUT_MS), "%s", load[0][0].text);
	end_load(0);
	fx_close(&v[0]);
	look(&seen);
	before = seen.stats;
	CHECK_EQ(before.count, 1);
	last = seen.entries[0];
	CHECK(last.engine[0].busy_ns, "no service");
	fx_remove(&v[0]);
	look(&seen);
	CHECK_EQ(seen.stats.count, 0);
	for (e = 0; e < before.engines; e++) {
		CHECK_EQ(seen.stats.engine[e].busy_ns, before.engine[e].busy_ns);
		CHECK_EQ(seen.stats.engine[e].gone_ns,
			 before.engine[e].gone_ns + last.engine[e].busy_ns);
		CHECK_EQ(seen.stats.engine[e].busy_ns, seen.stats.engine[e].gone_ns);
	}
}

/* A fault, an engine's reset, the device's, a close and an open: nothing is counted anew. */
static void counters_survive_reset_and_reopen(void)
{
	struct vgpu_chan *chan;
	struct vgpu_fault fault;
	struct vgpu_ctl_instance inst;
	unsigned int n;

	fx_need("execution");
	begin();
	fx_create_open(&v[0], fx_default_type());
	for (n = 1; n <= 3; n++) {
		begin_load(0);
		keep_load(0);
		look(&seen);
		CHECK_EQ(vgpu_dev_reset(v[0].dev), 0);
		end_load(0);
		look(&seen);
		CHECK_EQ(seen.entries[0].resets, n);
		chan = fx_chan(&v[0], VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
		fx_fill_fails(chan, v[0].dev->fb_bytes, &fault);
		/* Counted after the guest is told. */
		FX_SOON(fx_faults(&v[0]) == n);
		vgpu_chan_destroy(chan);
		look(&seen);
		CHECK_EQ(seen.entries[0].faults, n);
		fx_close(&v[0]);
		look(&seen);
		CHECK_EQ(seen.entries[0].session, 0);
		CHECK_EQ(seen.entries[0].max_fb_bytes, 0);
		CHECK_EQ(seen.entries[0].owner_comm[0], 0);
		fx_open(&v[0]);
		look(&seen);
	}
	/* The engine hangs, and is reset. */
	chan = fx_chan(&v[0], VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	CHECK_EQ(soft_hang(fx_gpu(), "gr", VGPU_HW_PKT_FILL), 0);
	FX_OK(v[0].dev, vgpu_chan_fill(chan, VGPU_FB(0), 1, 4096));
	FX_SOON((fx_instance(&v[0], &inst), inst.engine[chan->engine].resets == 1), "no reset");
	look(&seen);
	CHECK(seen.stats.engine[chan->engine].resets >= 1, "no reset");
	vgpu_chan_destroy(chan);
	look(&seen);
}

/* One call says what many say. */
static void same_as_one_by_one(void)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_gpu gpu;
	unsigned int i, e;

	begin();
	for (i = 0; i < NR_VGPUS; i++)
		fx_create(&v[i], fx_default_type());
	fx_open(&v[1]);
	look(&seen);
	CHECK_EQ(seen.stats.count, NR_VGPUS);
	fx_ctl_gpu(&gpu);
	CHECK_EQ(seen.stats.engines, gpu.engines);
	for (e = 0; e < gpu.engines; e++)
		CHECK_EQ(seen.stats.engine[e].busy_ns, gpu.engine[e].busy_ns);
	for (i = 0; i < NR_VGPUS; i++) {
		CHECK(!memcmp(seen.entries[i].uuid, v[i].id, sizeof(v[i].id)), "order");
		fx_instance(&v[i], &inst);
		inst.now_ns = seen.entries[i].now_ns;
		for (e = 0; e < gpu.engines; e++)
			inst.engine[e].window_ns = seen.entries[i].engine[e].window_ns;
		inst.size = offsetof(struct vgpu_ctl_instance, engine[gpu.engines]);
		CHECK(!memcmp(&inst, &seen.entries[i], inst.size), "vGPU %u", i);
	}
}

/* The three calls have the same beginning, up to entries. */
union arrays {
	struct vgpu_ctl_stats stats;
	struct vgpu_ctl_samples samples;
	struct vgpu_ctl_sessions sessions;
};

static const struct call {
	const char *name;
	unsigned long request;
	uint32_t size;
	uint32_t entry_size;	/* of an entry without engine[] */
	uint32_t each;		/* of an element of that */
} calls[] = {
#define CALL(request, type, entry)						\
	{ #request, VGPU_IOC_##request, sizeof(struct type),			\
	  offsetof(struct entry, engine), sizeof(((struct entry *)0)->engine[0]) }
	CALL(STATS, vgpu_ctl_stats, vgpu_ctl_instance),
	CALL(SAMPLES, vgpu_ctl_samples, vgpu_ctl_sample),
	CALL(SESSIONS, vgpu_ctl_sessions, vgpu_ctl_session),
};

#define NR_CALLS	(sizeof(calls) / sizeof(calls[0]))

static uint8_t entries[VGPU_SAMPLES_ROOM * 16384 + 64];

static void prepare(const struct call *call, union arrays *arg, uint32_t entry_size)
{
	memset(arg, 0, sizeof(*arg));
	arg->stats.size = call->size;
	arg->stats.gpu = gpu_id;
	arg->stats.count = VGPU_SAMPLES_ROOM;
	arg->stats.entry_size = entry_size;
	arg->stats.entries = (uintptr_t)entries;
}

static int call_with(const struct call *call, union arrays *arg)
{
	return ioctl(fx_control(), call->request, arg) ? -errno : 0;
}

/* There is an entry of each kind: an open vGPU, its session, and samples of it. */
static void begin_entries(void)
{
	union arrays arg;

	begin();
	fx_create_open(&v[0], fx_default_type());
	FX_SOON((prepare(&calls[1], &arg, calls[1].entry_size), call_with(&calls[1], &arg) == 0 &&
		 arg.samples.count), "no sample");
}

/* Of each entry the engines that there are get filled, as far as there is room. */
static void entry_sizes(void)
{
	static const uint32_t bad[] = { 0, 1, 4, 16385, 0x01000000, 0x80000000, ~0u };
	uint32_t filled, engines;
	union arrays arg;
	unsigned int i, k;

	begin_entries();
	for (i = 0; i < NR_CALLS; i++) {
		const struct call *c = &calls[i];
		const uint32_t good[] = {
			c->entry_size, c->entry_size + 4, c->entry_size + c->each,
			c->entry_size + VGPU_MAX_ENGINES * c->each, 8192, 16384,
		};

		for (k = 0; k < sizeof(good) / sizeof(good[0]); k++) {
			memset(entries, 0xee, sizeof(entries));
			prepare(c, &arg, good[k]);
			CHECK_EQ(call_with(c, &arg), 0, "%s of %u", c->name, good[k]);
			CHECK(arg.stats.count >= 1, "%s has nothing", c->name);
			engines = arg.stats.engines;
			CHECK(engines >= 1 && engines <= VGPU_MAX_ENGINES, "%u", engines);
			filled = c->entry_size + engines * c->each;
			if (filled < good[k])
				CHECK_EQ(entries[filled], 0xee, "%s wrote too much", c->name);
			else
				filled = good[k];
			CHECK(entries[filled - 1] != 0xee, "%s of %u", c->name, good[k]);
			CHECK_EQ(entries[(size_t)arg.stats.count * good[k]], 0xee,
				 "%s wrote too much", c->name);
			if (c->request == VGPU_IOC_STATS)
				CHECK_EQ(*(uint32_t *)entries, filled);
		}
		for (k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
			prepare(c, &arg, bad[k]);
			CHECK_EQ(call_with(c, &arg), bad[k] > 16384 ? -E2BIG : -EINVAL,
				 "%s of %u", c->name, bad[k]);
		}
		prepare(c, &arg, c->entry_size - 1);
		CHECK_EQ(call_with(c, &arg), -EINVAL, "%s", c->name);
	}
}

static void bad_arguments(void)
{
	union arrays arg;
	unsigned int i;

	begin_entries();
	for (i = 0; i < NR_CALLS; i++) {
		const struct call *c = &calls[i];

		prepare(c, &arg, c->entry_size);
		arg.stats.gpu = 0x7fffffff;
		CHECK_EQ(call_with(c, &arg), -ENODEV, "%s", c->name);
		prepare(c, &arg, c->entry_size);
		arg.stats.entries = 8;
		CHECK_EQ(call_with(c, &arg), -EFAULT, "%s", c->name);
		prepare(c, &arg, c->entry_size);
		arg.stats.entries = ~0ull - 100;
		CHECK_EQ(call_with(c, &arg), -EFAULT, "%s", c->name);
		prepare(c, &arg, 4096);
		arg.stats.entries = ~0ull << 12;
		CHECK_EQ(call_with(c, &arg), -EFAULT, "%s", c->name);
		prepare(c, &arg, c->entry_size);
		arg.stats.size = 63;
		CHECK_EQ(call_with(c, &arg), -EINVAL, "%s", c->name);
		prepare(c, &arg, c->entry_size);
		arg.stats.count = ~0u;
		CHECK_EQ(call_with(c, &arg), 0, "%s", c->name);
		CHECK(arg.stats.count >= 1 && arg.stats.count <= 1024, "%s", c->name);
		/* No room: the number of vGPUs alone, no session, and no sample for ever. */
		prepare(c, &arg, c->entry_size);
		arg.stats.count = 0;
		arg.stats.entries = 0;
		CHECK_EQ(call_with(c, &arg), c->request == VGPU_IOC_SAMPLES ? -EINVAL : 0);
		CHECK_EQ(arg.stats.count, c->request == VGPU_IOC_STATS);
	}
	prepare(&calls[1], &arg, calls[1].entry_size);
	arg.samples.count = VGPU_SAMPLES_ROOM - 1;
	CHECK_EQ(call_with(&calls[1], &arg), -EINVAL);
	prepare(&calls[1], &arg, calls[1].entry_size);
	arg.samples.pad = 1;
	CHECK_EQ(call_with(&calls[1], &arg), -EINVAL);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(same_as_one_by_one),
	KTAP_TEST(removed_vgpus_are_counted_as_gone),
	KTAP_TEST(counters_survive_reset_and_reopen),
	KTAP_TEST(sums_add_up_while_vgpus_come_and_go),
	KTAP_TEST(entry_sizes),
	KTAP_TEST(bad_arguments),
};

KTAP_MAIN(tests, fx_cleanup)
