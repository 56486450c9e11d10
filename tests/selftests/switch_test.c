// SPDX-License-Identifier: GPL-2.0
/*
 * The policy, its parameters and shares are changed again and again while vGPUs work and
 * others come and go: every packet completes exactly once, in the order of its ring, and what
 * it wrote is right.
 *
 * Each packet signals a word of its own and raises an interrupt. Of three packets the first
 * fills memory; the second copies the word that the first one signals, which is only there if
 * the first one has completed; the third copies from what the first one filled.
 */
#include <endian.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "load.h"
#include "tune.h"

#define VGPUS		4
#define STREAMS		(2 * VGPUS)
#define ORDER		8
#define RING		(1u << ORDER)
#define SWITCH_MS	50
#define FILL_MAX	(1u << 20)
#define PAGE		4096u

/**
 * struct stream - packets of one channel
 * @v:       the vGPU
 * @chan:    the channel
 * @fd:      eventfd of the channel's interrupt
 * @area:    offset in the framebuffer of what is filled
 * @fence:   offset of the words that packets signal, one per packet of the ring
 * @seen:    offset of the words that packets copy, one per packet of the ring
 * @filled:  per packet of the ring: bytes, if it is a FILL
 * @put:     packets submitted
 * @checked: packets verified
 * @irqs:    interrupts counted so far
 */
struct stream {
	struct fx_vgpu *v;
	struct vgpu_chan *chan;
	int fd;
	uint64_t area;
	uint64_t fence;
	uint64_t seen;
	uint32_t filled[RING];
	uint64_t put;
	uint64_t checked;
	uint64_t irqs;
};

static struct fx_vgpu vgpu[VGPUS], guest;
static struct stream stream[STREAMS];
static volatile uint64_t *progress;	/* rounds of change_parameters(), of come_and_go() */

static unsigned int seconds(void)
{
	return (unsigned int)fx_env("VGPU_TEST_SECONDS", 4);
}

static uint64_t *fb_words(const struct stream *s, uint64_t offset)
{
	return (uint64_t *)(s->v->dev->fb + offset);
}

static uint32_t fill_value(uint64_t index)
{
	return (uint32_t)(index * 2654435761u) | 1;
}

static void open_stream(struct stream *s, struct fx_vgpu *v, uint32_t class)
{
	memset(s, 0, sizeof(*s));
	s->v = v;
	s->chan = fx_chan(v, class, 0, VGPU_RING_FB, ORDER);
	CHECK(s->chan->vector != VGPU_NO_VECTOR);
	s->fd = v->dev->irq_fds[s->chan->vector];
	FX_OK(v->dev, vgpu_fb_alloc(v->dev, 8 * RING, PAGE, &s->fence));
	FX_OK(v->dev, vgpu_fb_alloc(v->dev, 8 * RING, PAGE, &s->seen));
	FX_OK(v->dev, vgpu_fb_alloc(v->dev, FILL_MAX, PAGE, &s->area));
}

static void write_packet(struct stream *s, uint64_t i)
{
	uint64_t slot = i % RING, before = (i - 1) % RING;
	struct vgpu_hw_packet *p = &s->chan->ring[slot];

	memset(p, 0, sizeof(*p));
	p->flags = VGPU_HW_PKT_SIGNAL | VGPU_HW_PKT_IRQ;
	p->vector = htole16((uint16_t)s->chan->vector);
	p->signal_addr = htole64(s->fence + 8 * slot);
	p->signal_value = htole64(i + 1);
	p->rows = htole32(1);
	if (i % 3 == 0) {
		/* Most fills are small, some take longer than a slice. */
		s->filled[slot] = PAGE + 4 * (uint32_t)
			fx_random_below(i % 21 ? 8192 : (FILL_MAX - PAGE) / 4);
		p->type = VGPU_HW_PKT_FILL;
		p->dst = htole64(s->area);
		p->value = htole32(fill_value(i));
		p->width = htole64(s->filled[slot]);
		return;
	}
	p->type = VGPU_HW_PKT_COPY;
	p->dst = htole64(s->seen + 8 * slot);
	p->width = htole64(8);
	if (i % 3 == 1)
		p->src = htole64(s->fence + 8 * before);
	else
		p->src = htole64(s->area + s->filled[(i - 2) % RING] - 8);
}

static void check_packet(const struct stream *s, uint64_t i)
{
	uint64_t seen = le64toh(fb_words(s, s->seen)[i % RING]);
	uint64_t fence = le64toh(fb_words(s, s->fence)[i % RING]);

	CHECK_EQ(fence, i + 1, "%s: signal of packet %llu", s->v->uuid, (unsigned long long)i);
	if (i % 3 == 1)
		CHECK_EQ(seen, i, "%s: packet %llu did not see the one before",
			 s->v->uuid, (unsigned long long)i);
	if (i % 3 == 2)
		CHECK_EQ(seen, (uint64_t)fill_value(i - 2) << 32 | fill_value(i - 2),
			 "%s: packet %llu, %u bytes filled", s->v->uuid, (unsigned long long)i,
			 s->filled[(i - 2) % RING]);
}

/* A packet signals only after all packets before it have completed. */
static void check_order(const struct stream *s)
{
	uint64_t i, done;

	for (i = s->put; i > s->checked; i--)
		if (le64toh(__atomic_load_n(&fb_words(s, s->fence)[(i - 1) % RING],
					    __ATOMIC_ACQUIRE)) == i)
			break;
	done = vgpu_chan_get(s->chan);
	/* The driver may be about to count the newest packet that has signalled. */
	CHECK(done + 1 >= i, "%s: packet %llu has signalled, get is %llu",
	      s->v->uuid, (unsigned long long)i - 1, (unsigned long long)done);
	CHECK(done <= s->put, "%s: get %llu, put %llu", s->v->uuid,
	      (unsigned long long)done, (unsigned long long)s->put);
}

static void count_irqs(struct stream *s)
{
	uint64_t count;

	if (read(s->fd, &count, sizeof(count)) == sizeof(count))
		s->irqs += count;
}

static void check_stream(struct stream *s)
{
	uint64_t done;

	check_order(s);
	CHECK(vgpu_chan_state(s->chan) != VGPU_HW_STATE_FAULTED, "%s: fault", s->v->uuid);
	done = vgpu_chan_get(s->chan);
	for (; s->checked < done; s->checked++)
		check_packet(s, s->checked);
	count_irqs(s);
}

/* Keeps the ring full most of the time, and now and then lets it run empty. */
static void refill(struct stream *s)
{
	uint64_t want = fx_random_below(8) ? RING : fx_random_below(4);
	uint64_t put = s->put;

	while (s->put - s->checked < want)
		write_packet(s, s->put++);
	if (s->put != put)
		CHECK(vgpu_chan_kick(s->chan, s->put) >= 0, "%s", vgpu_dev_error(s->v->dev));
}

static void open_all(void)
{
	unsigned int i;

	tune_begin();
	progress = child_shared(PAGE);
	for (i = 0; i < VGPUS; i++) {
		fx_create_open(&vgpu[i], i ? "2Q" : "4Q");
		FX_OK(vgpu[i].dev, vgpu_irq_enable(vgpu[i].dev, 3));
		open_stream(&stream[2 * i], &vgpu[i], VGPU_HW_ENGINE_GR);
		open_stream(&stream[2 * i + 1], &vgpu[i], VGPU_HW_ENGINE_CE);
		CHECK(stream[2 * i].fd != stream[2 * i + 1].fd);
	}
}

/* All that was submitted has completed once: get, signals, interrupts and statistics agree. */
static void finish(void)
{
	struct vgpu_ctl_instance inst;
	unsigned int i;
	uint64_t total = 0;

	for (i = 0; i < STREAMS; i++) {
		struct stream *s = &stream[i];

		/* vgpu_chan_wait_idle() would read the interrupts that are counted below. */
		FX_SOON(vgpu_chan_get(s->chan) == s->put, "%s: get %llu of %llu", s->v->uuid,
			(unsigned long long)vgpu_chan_get(s->chan), (unsigned long long)s->put);
		check_stream(s);
		CHECK_EQ(s->checked, s->put);
		/* Several interrupts may become one on the way, but none comes without a packet. */
		FX_SOON((count_irqs(s), s->irqs), "no interrupts");
		CHECK(s->irqs <= s->put, "%llu interrupts of %llu packets",
		      (unsigned long long)s->irqs, (unsigned long long)s->put);
		fx_instance(s->v, &inst);
		CHECK_EQ(inst.engine[s->chan->engine].packets, s->put, "the driver's count");
		CHECK_EQ(inst.faults, 0);
		CHECK_EQ(inst.engine[s->chan->engine].resets, 0);
		CHECK(s->put > 3, "%s has done nothing", s->v->uuid);
		total += s->put;
	}
	ktap_note("%llu packets", (unsigned long long)total);
}

/* The first @nr of the child processes have been through more than once. */
static bool have_progressed(unsigned int nr)
{
	while (nr--)
		if (progress[nr] <= 1)
			return false;
	return true;
}

/*
 * Keeps the streams at work; with @switching the policy changes every SWITCH_MS. Takes longer on a
 * machine that is slow: until that has been often, and @children of them have progressed.
 */
static void work(bool switching, unsigned int children)
{
	unsigned int i, switches = 0, last = 0, now, nr = tune_nr_policies();
	unsigned int least = switching ? 4 * seconds() + 1 : 0;
	uint64_t end = clk_ms() + 1000 * seconds(), next = 0;
	const char *policy;

	while (clk_ms() < end || switches < least || !have_progressed(children)) {
		CHECK(clk_ms() < end + FX_TIMEOUT_MS, "%u switches, %llu and %llu rounds", switches,
		      (unsigned long long)progress[0], (unsigned long long)progress[1]);
		for (i = 0; i < STREAMS; i++) {
			check_stream(&stream[i]);
			refill(&stream[i]);
		}
		if (switching && clk_ms() >= next) {
			next = clk_ms() + SWITCH_MS;
			/* From each policy to each, and then at random, also to the same. */
			now = switches < nr * nr ? switches / nr + switches % nr :
			      last + (unsigned int)fx_random_below(nr);
			last = now % nr;
			policy = tune_policy_at(last);
			tune_policy(policy);
			switches++;
		}
		clk_sleep_ms(1);
	}
	if (switching)
		ktap_note("%u switches", switches);
}

/* A child process: sets the GPU's parameters and all shares, to anything that is allowed. */
static void change_parameters(void *arg)
{
	struct vgpu_ctl_share share[VGPUS];
	struct vgpu_ctl_sched sched;
	unsigned int i;

	(void)arg;
	for (;;) {
		memset(&sched, 0, sizeof(sched));
		sched.slice_ns = 1000000 + fx_random_below(29000001);
		sched.window_ns = 300000000 + fx_random_below(700000001);
		sched.preempt_timeout_us = 100000 +
					   (uint32_t)fx_random_below(900001);
		sched.linger_us = (uint32_t)fx_random_below(1001);
		tune_set(&sched, VGPU_SCHED_SLICE | VGPU_SCHED_WINDOW |
			 VGPU_SCHED_PREEMPT_TIMEOUT | VGPU_SCHED_LINGER);
		for (i = 0; i < VGPUS; i++) {
			/* Caps are not so small that nothing gets done in the test. */
			share[i] = tune_entry(&vgpu[i], TUNE_TRIPLE | VGPU_SHARE_FRL,
					      (uint32_t)fx_random_below(219),
					      250 + (uint32_t)fx_random_below(751),
					      1 + (uint32_t)fx_random_below(1000));
			share[i].frl = fx_random_below(2) ? VGPU_FRL_DEFAULT :
				       (uint32_t)fx_random_below(200);
		}
		tune_set_shares(share, VGPUS);
		progress[0]++;
		clk_sleep_ms(3);
	}
}

/* A child process: opens a vGPU, gives it work, and closes it while it may still work. */
static void come_and_go(void *arg)
{
	struct load_config config = {
		.engine_class = VGPU_HW_ENGINE_GR,
		.order = 6,
		.job_bytes = 64 * PAGE,
	};
	struct load load;

	(void)arg;
	for (;;) {
		fx_open(&guest);
		config.seed = fx_random();
		CHECK(!load_init(&load, guest.dev, &config), "%s", load.text);
		CHECK(!load_keep(&load, load_room(&load)), "%s", load.text);
		clk_sleep_ms((unsigned int)fx_random_below(20));
		CHECK(!load_check(&load), "%s", load.text);
		if (fx_random_below(2))
			CHECK(!load_drain(&load, FX_TIMEOUT_MS), "%s", load.text);
		load_exit(&load);
		fx_close(&guest);
		progress[1]++;
	}
}

static void child_alive(pid_t pid)
{
	int status;

	CHECK(!child_ends(pid, 0, &status), "a child has ended: %#x", status);
}

static void policy_switched_under_load(void)
{
	open_all();
	work(true, 0);
	finish();
}

static void parameters_changed_under_load(void)
{
	const char *policy;
	unsigned int i;
	pid_t child;

	open_all();
	child = child_start(change_parameters, NULL);
	for (i = 0; (policy = tune_policy_at(i)); i++) {
		progress[0] = 0;
		tune_policy(policy);
		work(false, 1);
		child_alive(child);
		ktap_note("%s: parameters changed %llu times", policy,
			  (unsigned long long)progress[0]);
	}
	finish();
}

static void all_at_once(void)
{
	pid_t changes, churn;

	open_all();
	fx_create(&guest, "1Q");
	progress[0] = 0;
	progress[1] = 0;
	changes = child_start(change_parameters, NULL);
	churn = child_start(come_and_go, NULL);
	work(true, 2);
	child_alive(changes);
	child_alive(churn);
	ktap_note("parameters changed %llu times, %llu opens and closes beside",
		  (unsigned long long)progress[0], (unsigned long long)progress[1]);
	finish();
}

/* Device resets drop the work of their vGPU, and nothing of the other vGPUs. */
static void resets_between_switches(void)
{
	struct load_config config = {
		.engine_class = VGPU_HW_ENGINE_GR,
		.order = 6,
		.job_bytes = 64 * PAGE,
		.seed = 7,
	};
	unsigned int i, round = 0, nr = tune_nr_policies();
	struct load load;
	uint64_t end;

	open_all();
	fx_create_open(&guest, "1Q");
	end = clk_ms() + 1000 * seconds();
	/* Each policy twice at least. */
	while (clk_ms() < end || round < 2 * nr) {
		CHECK(clk_ms() < end + FX_TIMEOUT_MS, "%u resets", round);
		CHECK(!load_init(&load, guest.dev, &config), "%s", load.text);
		CHECK(!load_keep(&load, load_room(&load)), "%s", load.text);
		tune_policy(tune_policy_at(round++ % nr));
		for (i = 0; i < STREAMS; i++) {
			check_stream(&stream[i]);
			refill(&stream[i]);
		}
		clk_sleep_ms(2);
		FX_OK(guest.dev, vgpu_dev_reset(guest.dev));
		load_exit(&load);
	}
	ktap_note("%u resets", round);
	finish();
}

static void cleanup(void)
{
	unsigned int i;

	for (i = 0; i < STREAMS; i++)
		vgpu_chan_destroy(stream[i].chan);
	memset(stream, 0, sizeof(stream));
	tune_cleanup();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(policy_switched_under_load),
	KTAP_TEST(parameters_changed_under_load),
	KTAP_TEST(all_at_once),
	KTAP_TEST(resets_between_switches),
};

KTAP_MAIN(tests, cleanup)
