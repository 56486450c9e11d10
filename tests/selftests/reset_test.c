// SPDX-License-Identifier: GPL-2.0
/* The three ways to reset a vGPU, at rest and under load. */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/pci_regs.h>
#include <linux/vfio.h>

#include "fixture.h"

static struct fx_vgpu v;

static void enable_function(void)
{
	FX_OK(v.dev, vgpu_dev_command(v.dev, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 0));
}

static void reset_ioctl(void)
{
	CHECK(!ioctl(v.dev->fd, VFIO_DEVICE_RESET), "%s", strerror(errno));
	enable_function();
}

/* The reset may end after the write to the register: when channels are disabled. */
static void reset_register(void)
{
	uint32_t ctrl;

	FX_OK(v.dev, vgpu_reg_write32(v.dev, VGPU_HW_DEV_BASE + VGPU_HW_RESET,
				      VGPU_HW_RESET_MAGIC));
	FX_SOON((FX_OK(v.dev, vgpu_reg_read32(v.dev, vgpu_chan_reg(0, VGPU_HW_CHAN_CTRL), &ctrl)),
		 !(ctrl & VGPU_HW_CTRL_ENABLE)), "the reset does not end");
	/* Memory is dropped last. */
	FX_SOON(fx_is_zero(v.dev->fb, 4096), "memory is kept");
	enable_function();
}

static void reset_flr(void)
{
	unsigned int exp = fx_find_cap(&v, PCI_CAP_ID_EXP);
	uint16_t control;
	uint32_t cap = 0;

	if (exp)
		FX_OK(v.dev, vgpu_config_read(v.dev, exp + PCI_EXP_DEVCAP, &cap, 4));
	if (!(le32toh(cap) & PCI_EXP_DEVCAP_FLR))
		ktap_skip("the function has no FLR");
	FX_OK(v.dev, vgpu_config_read(v.dev, exp + PCI_EXP_DEVCTL, &control, 2));
	control |= htole16(PCI_EXP_DEVCTL_BCR_FLR);
	FX_OK(v.dev, vgpu_config_write(v.dev, exp + PCI_EXP_DEVCTL, &control, 2));
	enable_function();
}

static void check_reset(void (*reset)(void))
{
	struct vgpu_ctl_instance before, after;
	struct vgpu_chan *chan;
	uint32_t value, i;
	uint64_t ring;

	fx_need("execution");
	fx_create_open(&v, fx_default_type());
	fx_instance(&v, &before);
	chan = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	CHECK_EQ(chan->id, 0);
	memset(v.dev->fb, 0x5a, 1 << 20);
	memset(v.dev->fb + v.dev->fb_bytes - 4096, 0x5a, 4096);
	/* That has overwritten the ring of the channel, which is not used. */
	reset();
	/* The mapping is still the old one, and shows new pages. */
	CHECK(fx_is_zero(v.dev->fb, 1 << 20), "memory is kept");
	CHECK(fx_is_zero(v.dev->fb + v.dev->fb_bytes - 4096, 4096), "the end");
	for (i = 0; i < v.dev->channels; i++) {
		FX_OK(v.dev, vgpu_reg_read32(v.dev, vgpu_chan_reg(i, VGPU_HW_CHAN_STATE), &value));
		CHECK_EQ(value, VGPU_HW_STATE_DISABLED, "channel %u", i);
		FX_OK(v.dev, vgpu_reg_read32(v.dev, vgpu_chan_reg(i, VGPU_HW_CHAN_CTRL), &value));
		CHECK_EQ(value, 0, "channel %u", i);
		FX_OK(v.dev, vgpu_reg_read64(v.dev, vgpu_chan_reg(i, VGPU_HW_CHAN_RING), &ring));
		CHECK_EQ(ring, 0, "channel %u", i);
	}
	CHECK_EQ(vgpu_chan_state(chan), VGPU_HW_STATE_DISABLED);
	/* And the vGPU works again. */
	FX_OK(v.dev, vgpu_chan_enable(chan));
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(1 << 19), ~0u, 4096));
	fx_finish(chan);
	CHECK_EQ(v.dev->fb[1 << 19], 0xff);
	fx_instance(&v, &after);
	CHECK(after.resets > before.resets, "not counted");
	vgpu_chan_destroy(chan);
}

static void by_ioctl(void)
{
	check_reset(reset_ioctl);
}

static void by_register(void)
{
	check_reset(reset_register);
}

static void by_flr(void)
{
	check_reset(reset_flr);
}

/* COMMAND, BARs and MSI-X enable are as after power-on. */
static void config_is_reset(void)
{
	uint32_t bar = htole32(0xfe000000), value;
	uint16_t command;

	fx_create_open(&v, fx_default_type());
	FX_OK(v.dev, vgpu_config_write(v.dev, PCI_BASE_ADDRESS_2, &bar, 4));
	CHECK(!ioctl(v.dev->fd, VFIO_DEVICE_RESET), "%s", strerror(errno));
	FX_OK(v.dev, vgpu_config_read(v.dev, PCI_COMMAND, &command, 2));
	CHECK_EQ(command, 0);
	FX_OK(v.dev, vgpu_config_read(v.dev, PCI_BASE_ADDRESS_2, &value, 4));
	CHECK_EQ(le32toh(value) & ~0xfu, 0);
}

/* Fills that would take seconds, for a reset in their midst. */
static void queue_load(struct vgpu_chan **chans, unsigned int nr)
{
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_FILL, .value = htole32(0x11111111),
		.dst = htole64(1 << 20), .width = htole64(16 << 20),
		.rows = htole32(1),
	};
	unsigned int i, k;

	for (i = 0; i < nr; i++)
		for (k = 0; k < 16; k++)
			FX_OK(v.dev, vgpu_chan_submit(chans[i], &p, 1));
}

static void under_load_by(void (*reset)(void), unsigned int rounds)
{
	struct vgpu_chan *chans[3];
	unsigned int i, round;

	fx_need("execution");
	fx_create_open(&v, fx_default_type());
	chans[0] = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	chans[1] = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 4);
	chans[2] = fx_chan(&v, VGPU_HW_ENGINE_CE, 1, VGPU_RING_FB, 4);
	for (round = 0; round < rounds; round++) {
		queue_load(chans, 3);
		clk_sleep_ms((unsigned int)fx_random_below(5));
		reset();
		CHECK(fx_is_zero(v.dev->fb + (1 << 20), 16 << 20),
		      "an engine wrote after the reset");
		for (i = 0; i < 3; i++) {
			CHECK_EQ(vgpu_chan_state(chans[i]), VGPU_HW_STATE_DISABLED);
			FX_OK(v.dev, vgpu_chan_enable(chans[i]));
			fx_finish(chans[i]);
		}
		/* Drops the pages that the comparison has touched. */
		reset();
		for (i = 0; i < 3; i++)
			FX_OK(v.dev, vgpu_chan_enable(chans[i]));
	}
	for (i = 0; i < 3; i++)
		vgpu_chan_destroy(chans[i]);
}

static void under_load(void)
{
	under_load_by(reset_ioctl, 20);
}

static void under_load_by_register(void)
{
	under_load_by(reset_register, 10);
}

static pthread_t touching;
static bool is_touching;	/* the thread is to be joined */
static volatile bool stop_touching;

/* Writes to page after page of a window as fast as it can. */
static void *toucher(void *arg)
{
	volatile uint8_t *fb = arg;
	uint64_t at;

	for (at = 0; !stop_touching; at = (at + 4096) % (8 << 20))
		fb[at]++;
	return NULL;
}

static void touching_end(void)
{
	if (!is_touching)
		return;
	stop_touching = true;
	pthread_join(touching, NULL);
	is_touching = false;
}

/* Page faults and resets at once: after the last reset all memory is zero. */
static void faults_during_reset(void)
{
	unsigned int i;

	fx_create_open(&v, fx_default_type());
	stop_touching = false;
	CHECK(!pthread_create(&touching, NULL, toucher, v.dev->fb), "thread");
	is_touching = true;
	for (i = 0; i < 50; i++) {
		reset_ioctl();
		clk_sleep_ms(1);
	}
	touching_end();
	reset_ioctl();
	CHECK(fx_is_zero(v.dev->fb, 8 << 20), "not zero");
}

/*
 * A copy whose guest memory is the function's own BAR, at the time of a reset that removes the
 * mappings of that BAR: the container's lock, mmap_lock and the driver's map_lock meet.
 */
static void copy_aimed_at_own_bar(void)
{
	const uint64_t iova = 0x100000000ull, bytes = 64 << 20;
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_COPY,
		.op_flags = htole32(VGPU_HW_OP_DST_SYS),
		.src = htole64(128 << 20), .width = htole64(8 << 20),
		.rows = htole32(1),
	};
	struct vgpu_chan *chan;
	unsigned int i, k;
	int ret;

	fx_need("execution");
	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 5);
	ret = vgpu_dma_map(v.dev, v.dev->fb, bytes, iova);
	if (ret)
		ktap_skip("the BAR cannot be mapped for DMA: %s", strerror(-ret));
	for (i = 0; i < 30; i++) {
		for (k = 0; k < 16; k++) {
			p.dst = htole64(iova + (8ull << 20) + fx_random_below(40 << 20));
			FX_OK(v.dev, vgpu_chan_submit(chan, &p, 1));
		}
		clk_sleep_ms((unsigned int)fx_random_below(10));
		reset_ioctl();
		FX_OK(v.dev, vgpu_chan_enable(chan));
		fx_finish(chan);
	}
	/* Without a reset it is a copy like any other. */
	memset(v.dev->fb + (128 << 20), 0x66, 4096);
	FX_OK(v.dev, vgpu_chan_disable(chan));
	FX_OK(v.dev, vgpu_chan_enable(chan));
	p.dst = htole64(iova + (16 << 20));
	p.width = htole64(4096);
	FX_OK(v.dev, vgpu_chan_submit(chan, &p, 1));
	fx_finish(chan);
	CHECK_EQ(v.dev->fb[16 << 20], 0x66);
	FX_OK(v.dev, vgpu_dma_unmap(v.dev, bytes, iova));
	vgpu_chan_destroy(chan);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(by_ioctl),
	KTAP_TEST(by_register),
	KTAP_TEST(by_flr),
	KTAP_TEST(config_is_reset),
	KTAP_TEST(under_load),
	KTAP_TEST(under_load_by_register),
	KTAP_TEST(faults_during_reset),
	KTAP_TEST(copy_aimed_at_own_bar),
};

/* Before the framebuffer is unmapped, to which the thread of a test that failed still writes. */
static void cleanup(void)
{
	touching_end();
	fx_cleanup();
}

KTAP_MAIN(tests, cleanup)
