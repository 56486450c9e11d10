// SPDX-License-Identifier: GPL-2.0
/*
 * What the host tells the guest of its vGPU: UUID and type, engine time in registers and in channel
 * pages, and its due.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "service.h"
#include "tune.h"

#define CE		VGPU_HW_ENGINE_CE
#define NAMES		(VGPU_HW_DEV_BASE + VGPU_HW_UUID(0))
#define NAMES_END	(VGPU_HW_DEV_BASE + VGPU_HW_TYPE(VGPU_HW_TYPE_BYTES / 4))
#define TYPE_AT		(VGPU_HW_TYPE(0) - VGPU_HW_UUID(0))
#define USAGE(reg)	(VGPU_HW_USAGE_BASE + (reg))

static struct fx_vgpu v[3];

static ssize_t rd(const struct fx_vgpu *vgpu, uint64_t offset, void *buf, size_t count)
{
	return vgpu_region_read(vgpu->dev, 2, offset, buf, count);
}

static uint64_t counter(const struct fx_vgpu *vgpu, uint64_t reg)
{
	uint64_t value;

	FX_OK(vgpu->dev, vgpu_reg_read64(vgpu->dev, USAGE(reg), &value));
	return value;
}

static uint32_t due(const struct fx_vgpu *vgpu, unsigned int engine)
{
	uint32_t value;

	FX_OK(vgpu->dev, vgpu_reg_read32(vgpu->dev, USAGE(VGPU_HW_USAGE_DUE(engine)), &value));
	return value;
}

static unsigned int engines(const struct fx_vgpu *vgpu)
{
	uint32_t nr;

	FX_OK(vgpu->dev, vgpu_reg_read32(vgpu->dev, VGPU_HW_DEV_BASE + VGPU_HW_ENGINES, &nr));
	return nr;
}

/* Whose registers these are; by all widths, and nothing between them. */
static void uuid_and_type(void)
{
	uint8_t bytes[NAMES_END - NAMES], want[sizeof(bytes)] = {};
	struct vgpu_ctl_instance inst;
	unsigned int width, i;
	ssize_t ret;

	fx_need("names in registers");
	fx_create_open(&v[0], "1Q");
	fx_instance(&v[0], &inst);
	memcpy(want, v[0].id, VGPU_HW_UUID_BYTES);
	memcpy(want + TYPE_AT, inst.type_name, strlen((const char *)inst.type_name));
	for (width = 1; width <= 8; width *= 2) {
		memset(bytes, 0, sizeof(bytes));
		for (i = 0; i < sizeof(bytes); i += width) {
			ret = rd(&v[0], NAMES + i, bytes + i, width);
			if (i >= VGPU_HW_UUID_BYTES && i < TYPE_AT)
				CHECK_EQ(ret, -ENXIO, "at %#x", i);
			else
				CHECK_EQ(ret, width, "at %#x", i);
		}
		CHECK(!memcmp(bytes, want, sizeof(bytes)), "by %u bytes", width);
	}
	CHECK_EQ(rd(&v[0], NAMES_END, bytes, 4), -ENXIO);
	/* Before them lies the end of GUEST_INFO, which the guest writes. */
	CHECK_EQ(rd(&v[0], NAMES - 4, bytes, 4), 4);
	for (i = 0; i < sizeof(bytes); i += 4)
		CHECK_EQ(vgpu_region_write(v[0].dev, 2, NAMES + i, bytes, 4), -ENXIO);
	CHECK_EQ(vgpu_region_write(v[0].dev, 2, NAMES, bytes, 8), -EINVAL);
	CHECK_EQ(rd(&v[0], NAMES, bytes, 8), 8);
	CHECK(!memcmp(bytes, want, 8), "a write has changed it");
}

/* Bytes of the register that begins there; 0: none does. */
static unsigned int usage_bytes(uint64_t reg, unsigned int nr_engines)
{
	unsigned int i;

	if (reg == VGPU_HW_USAGE_TIME)
		return 8;
	for (i = 0; i < nr_engines; i++) {
		if (reg == VGPU_HW_USAGE_SERVICE(i))
			return 8;
		if (reg == VGPU_HW_USAGE_DUE(i))
			return 4;
	}
	return 0;
}

static void usage_page(void)
{
	unsigned int nr, bytes;
	uint64_t reg, word = 0;

	fx_need("usage registers");
	fx_create_open(&v[0], "1Q");
	nr = engines(&v[0]);
	for (reg = 0; reg < VGPU_HW_PAGE_SIZE; reg += 8) {
		bytes = usage_bytes(reg, nr);
		CHECK_EQ(rd(&v[0], USAGE(reg), &word, 8), bytes == 8 ? 8 : -ENXIO, "%#llx",
			 (unsigned long long)reg);
		CHECK_EQ(rd(&v[0], USAGE(reg), &word, 4), bytes ? 4 : -ENXIO);
		CHECK_EQ(rd(&v[0], USAGE(reg) + 3, &word, 1), bytes ? 1 : -ENXIO);
		CHECK_EQ(rd(&v[0], USAGE(reg) + 4, &word, 4), bytes == 8 ? 4 : -ENXIO);
		CHECK_EQ(vgpu_region_write(v[0].dev, 2, USAGE(reg), &word, 4), -ENXIO);
		CHECK_EQ(vgpu_region_write(v[0].dev, 2, USAGE(reg), &word, 8), -EINVAL);
	}
	CHECK_EQ(rd(&v[0], VGPU_HW_USAGE_BASE - 4, &word, 4), 4, "the pending bits");
	CHECK_EQ(rd(&v[0], USAGE(VGPU_HW_PAGE_SIZE), &word, 4), -ENXIO);
}

static void work(struct vgpu_chan *chan)
{
	FX_OK(chan->dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), 1, 64 * FX_MIB));
}

static uint64_t busy_ns(const struct fx_vgpu *vgpu, unsigned int engine)
{
	struct vgpu_ctl_instance inst;

	fx_instance(vgpu, &inst);
	return inst.engine[engine].busy_ns;
}

/* SERVICE is what the host shows, but for what was before a reset, whoever does it. */
static void service_and_time(void)
{
	uint64_t before, time, had = 0;
	struct vgpu_chan *chan;
	unsigned int i, engine;

	fx_need("execute packets");
	fx_create_open(&v[0], "1Q");
	for (i = 0; i < 3; i++) {
		for (engine = 0; engine < engines(&v[0]); engine++)
			CHECK_EQ(counter(&v[0], VGPU_HW_USAGE_SERVICE(engine)), 0);
		chan = fx_chan(&v[0], CE, 1, VGPU_RING_FB, 4);
		/* In this order, as the machine may stand still between the two. */
		before = clk_ns();
		time = counter(&v[0], VGPU_HW_USAGE_TIME);
		work(chan);
		fx_finish(chan);
		service_settle(&v[0]);
		clk_sleep_ms(10);
		time = counter(&v[0], VGPU_HW_USAGE_TIME) - time;
		CHECK(time >= 10000000 && time <= clk_ns() - before + 1000000, "%llu ns",
		      (unsigned long long)time);
		CHECK_EQ(counter(&v[0], VGPU_HW_USAGE_SERVICE(chan->engine)),
			 busy_ns(&v[0], chan->engine) - had);
		CHECK(counter(&v[0], VGPU_HW_USAGE_SERVICE(chan->engine)), "no service");
		CHECK_EQ(counter(&v[0], VGPU_HW_USAGE_SERVICE(0)), 0);
		had = busy_ns(&v[0], chan->engine);
		time = counter(&v[0], VGPU_HW_USAGE_TIME);
		if (i == 0)
			FX_OK(v[0].dev, vgpu_dev_reset(v[0].dev));
		else if (i == 1)
			FX_OK(v[0].dev, vgpu_reg_write32(v[0].dev, VGPU_HW_DEV_BASE + VGPU_HW_RESET,
							 VGPU_HW_RESET_MAGIC));
		else
			break;
		CHECK(counter(&v[0], VGPU_HW_USAGE_TIME) < time, "");
	}
	fx_close(&v[0]);
	fx_open(&v[0]);
	CHECK_EQ(counter(&v[0], VGPU_HW_USAGE_SERVICE(chan->engine)), 0);
}

static uint64_t told(const struct vgpu_chan *chan)
{
	return le64toh(__atomic_load_n(&chan->page->service_ns, __ATOMIC_RELAXED));
}

/* Returns what the channel's page has when the engine has left the channel. */
static uint64_t told_at_last(const struct vgpu_chan *chan)
{
	uint64_t before = told(chan), now;
	unsigned int same;

	for (same = 0; same < 5;) {
		clk_sleep_ms(10);
		now = told(chan);
		same = now == before ? same + 1 : 0;
		before = now;
	}
	return before;
}

/* A channel's page has the channel's time: nearly so at once, and all of it when it is charged. */
static void channel_pages(void)
{
	struct vgpu_ctl_channel now;
	struct vgpu_chan *chan[3];
	struct service_base base;
	uint64_t first, last, sum = 0, service, end;
	unsigned int i, k;

	fx_need("execute packets");
	fx_create_open(&v[0], "1Q");
	service_begin(&v[0], &base);
	for (i = 0; i < 3; i++) {
		chan[i] = fx_chan(&v[0], CE, i == 2, VGPU_RING_FB, 4);
		CHECK_EQ(told(chan[i]), 0);
	}
	for (k = 0; k < 20; k++) {
		for (i = 0; i < 3; i++) {
			first = told(chan[i]);
			work(chan[i]);
			if (k % 2)
				fx_finish(chan[i]);
			CHECK(told(chan[i]) >= first, "has gone back");
		}
	}
	for (i = 0; i < 3; i++)
		fx_finish(chan[i]);
	for (i = 0; i < 3; i++) {
		first = told_at_last(chan[i]);
		service_of(&v[0], chan[i]->id, &now);
		last = told(chan[i]);
		ktap_note("channel %u: the guest is told %llu us, then %llu, the host %llu", i,
			  (unsigned long long)first / 1000, (unsigned long long)last / 1000,
			  (unsigned long long)now.busy_ns / 1000);
		CHECK_EQ(last, now.busy_ns);
		CHECK(first <= last && first >= last - last / 10, "");
		sum += last;
	}
	service_check(&v[0], &base);
	service = counter(&v[0], VGPU_HW_USAGE_SERVICE(chan[0]->engine)) +
		  counter(&v[0], VGPU_HW_USAGE_SERVICE(chan[2]->engine));
	CHECK(sum <= service && service - sum <= service / 1000, "%llu ns of %llu",
	      (unsigned long long)sum, (unsigned long long)service);
	/*
	 * It stays when the channel is disabled, and begins anew with the next one. What the
	 * machine stands still after the guest was told is missing, but not each time.
	 */
	end = clk_ms() + FX_TIMEOUT_MS;
	for (k = 0; k < 10;) {
		work(chan[0]);
		fx_finish(chan[0]);
		FX_OK(v[0].dev, vgpu_chan_disable(chan[0]));
		last = told(chan[0]);
		service_settle(&v[0]);
		service_of(&v[0], chan[0]->id, &now);
		CHECK_EQ(told(chan[0]), last, "after it was disabled");
		CHECK(last <= now.busy_ns && clk_ms() < end, "%llu ns of %llu",
		      (unsigned long long)last, (unsigned long long)now.busy_ns);
		k += last >= now.busy_ns - now.busy_ns / 10;
		FX_OK(v[0].dev, vgpu_chan_enable(chan[0]));
		CHECK_EQ(told(chan[0]), 0);
	}
}

/* What the guest writes there deceives only itself. */
static void written_over(void)
{
	struct vgpu_ctl_channel now;
	struct vgpu_chan *chan;
	unsigned int i;

	fx_need("execute packets");
	fx_create_open(&v[0], "1Q");
	chan = fx_chan(&v[0], CE, 0, VGPU_RING_FB, 4);
	for (i = 0; i < 50; i++) {
		chan->page->service_ns = htole64(~0ull / (i + 1));
		work(chan);
		fx_finish(chan);
	}
	service_settle(&v[0]);
	service_of(&v[0], chan->id, &now);
	work(chan);
	fx_finish(chan);
	CHECK(told_at_last(chan) > now.busy_ns, "");
	service_of(&v[0], chan->id, &now);
	CHECK_EQ(told(chan), now.busy_ns);
}

/* By the settings alone: nobody works. */
static void due_by_policy(void)
{
	unsigned int i;

	fx_need("usage registers");
	tune_begin();
	for (i = 0; i < 3; i++)
		fx_create_open(&v[i], "1Q");
	tune_policy("equal_share");
	for (i = 0; i < 3; i++)
		CHECK_EQ(due(&v[i], i), 333);
	fx_close(&v[2]);
	CHECK_EQ(due(&v[0], 0), 500);
	tune_policy("fixed_share");
	CHECK(due(&v[0], 1) > 0 && due(&v[0], 1) < 500, "%u", due(&v[0], 1));
	CHECK_EQ(due(&v[0], 1), due(&v[1], 2));
	tune_policy("best_effort");
	CHECK_EQ(due(&v[0], 0), 1000);
	tune_policy("qos");
	tune_share(&v[0], 100, 400, 10);
	tune_share(&v[1], 300, 1000, 20);
	CHECK_EQ(due(&v[0], 0), 400);
	CHECK_EQ(due(&v[1], 0), 1000);
	tune_share(&v[0], 100, 1000, 10);
	CHECK_EQ(due(&v[0], 0), 1000);
}

/* By what another one uses: it always has work, and its part of what is left over counts. */
static void due_by_load(void)
{
	struct vgpu_ctl_sched sched = { .slice_ns = 1000000, .window_ns = 50000000 };
	struct vgpu_chan *chan;
	unsigned int i, seen = 0;
	uint64_t end;
	uint32_t now;

	fx_need("execute packets");
	tune_begin();
	fx_create_open(&v[0], "1Q");
	fx_create_open(&v[1], "1Q");
	tune_policy("qos");
	tune_set(&sched, VGPU_SCHED_SLICE | VGPU_SCHED_WINDOW);
	tune_share(&v[0], 100, 1000, 30);
	tune_share(&v[1], 200, 1000, 40);
	chan = fx_chan(&v[1], CE, 0, VGPU_RING_FB, 4);
	CHECK_EQ(due(&v[0], chan->engine), 1000);
	/* 100 and 3 of 7 parts of the other 700; seen in some windows, if this machine is busy. */
	end = clk_ns() + FX_TIMEOUT_MS * 1000000ull;
	for (i = 0; seen < 5 && clk_ns() < end; i++) {
		if (chan->put - vgpu_chan_get(chan) < 8)
			work(chan);
		now = due(&v[0], chan->engine);
		CHECK(now >= 400 && now <= 1000, "%u", now);
		seen += now == 400;
		CHECK_EQ(due(&v[0], 0), 1000, "on an engine where nobody works");
	}
	CHECK(seen == 5, "%u times of %u", seen, i);
	fx_finish(chan);
	/* Nothing counts that is long ago. */
	clk_sleep_ms(120);
	CHECK_EQ(due(&v[0], chan->engine), 1000);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(uuid_and_type),
	KTAP_TEST(usage_page),
	KTAP_TEST(service_and_time),
	KTAP_TEST(channel_pages),
	KTAP_TEST(written_over),
	KTAP_TEST(due_by_policy),
	KTAP_TEST(due_by_load),
};

KTAP_MAIN(tests, tune_cleanup)
