// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a vGPU, saved, given up and built anew (debugfs file reload) while dispatches run:
 * they go on with the registers, the memory and the program that they had, and all that the guest
 * can read of its device stays the same. pause_test does the same to other packets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute.h"
#include "moving.h"
#include "service.h"
#include "space.h"

#define DEBUGFS		"/sys/kernel/debug/vgpu"

/* The state of a vGPU without a dispatch is smaller, that of one with a warp is larger. */
#define STATE_RUNNING	3000

static void control(const char *file)
{
	int ret = fx_debugfs(&v, file);

	CHECK(!ret, "%s: %s", file, strerror(-ret));
}

/* Bytes of the state that was saved last. */
static uint64_t state_bytes(void)
{
	static char text[1 << 18];
	char path[128], *at;
	int ret;

	snprintf(path, sizeof(path), DEBUGFS "/%s/instances", fx_gpu());
	ret = file_read(path, text, sizeof(text));
	CHECK(ret > 0, "%s: %d", path, ret);
	at = strstr(text, v.uuid);
	at = at ? strstr(at, "state_bytes ") : NULL;
	CHECK(at, "%s", path);
	return strtoull(at + strlen("state_bytes "), NULL, 10);
}

/*
 * Builds the state anew, and leaves the engine some time: a pause that follows at once may come
 * before an engine has begun again. Returns whether a dispatch was running.
 */
static bool reload(void)
{
	bool running;

	control("pause");
	control("reload");
	running = state_bytes() > STATE_RUNNING;
	control("resume");
	clk_sleep_ms(fx_random_below(3));
	return running;
}

#define DEV_WORDS	((VGPU_HW_MSIX_TABLE - VGPU_HW_DEV_BASE) / 4)

static void read_words(uint64_t offset, uint32_t *words, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (vgpu_reg_read32(v.dev, offset + 4 * i, &words[i]))
			words[i] = 0xdead0000 + i;
}

/* What a guest reads of its device, whatever registers there are, and of the first channels. */
static void read_all(uint32_t *words, unsigned int nr)
{
	read_words(VGPU_HW_DEV_BASE, words, DEV_WORDS);
	read_words(VGPU_HW_CHAN_BASE, words + DEV_WORDS, nr - DEV_WORDS);
}

/* Channels in each state, and registers of disabled ones: all is there afterwards. */
static void registers(void)
{
	enum { CHANS = 6, NR = DEV_WORDS + CHANS * VGPU_HW_CHAN_STRIDE / 4 };
	static struct vgpu_ctl_channel shown[2][CHANS + 1];
	static uint32_t before[NR], after[NR];
	struct vgpu_chan *ce[CHANS - 1];
	struct vgpu_fault fault;
	unsigned int i;

	fx_need("execute packets");
	fx_create_open(&v, fx_default_type());
	for (i = 0; i < CHANS - 1; i++)
		ce[i] = fx_chan(&v, VGPU_HW_ENGINE_CE, i % 2, i & 2 ? VGPU_RING_SYS : VGPU_RING_FB,
				4 + i);
	FX_OK(v.dev, vgpu_chan_fill(ce[0], VGPU_FB(COMPUTE_OUT), 1, 4096));
	fx_finish(ce[0]);
	fx_fill_fails(ce[1], v.dev->fb_bytes, &fault);
	fx_fill_fails(ce[2], v.dev->fb_bytes, &fault);
	FX_OK(v.dev, vgpu_chan_disable(ce[2]));
	FX_OK(v.dev, vgpu_chan_disable(ce[3]));
	i = VGPU_HW_CHAN_BASE + ce[3]->id * VGPU_HW_CHAN_STRIDE;
	FX_OK(v.dev, vgpu_reg_write32(v.dev, i + VGPU_HW_CHAN_RING + 4, 0x12345678));
	FX_OK(v.dev, vgpu_reg_write32(v.dev, i + VGPU_HW_CHAN_ROOT, VGPU_HW_ROOT_VALID | 5));
	FX_OK(v.dev, vgpu_reg_write32(v.dev, i + VGPU_HW_CHAN_CTRL, 0x00ffff02));
	for (i = 0; i < 32; i++)
		FX_OK(v.dev, vgpu_reg_write32(v.dev, VGPU_HW_DEV_BASE + VGPU_HW_GUEST_INFO(i),
					      0x41424344 + i));
	FX_SOON(vgpu_chan_state(ce[0]) == VGPU_HW_STATE_SLEEPING);

	control("pause");
	/* Awake with a packet that no engine has seen. */
	FX_OK(v.dev, vgpu_chan_fill(ce[4], VGPU_FB(COMPUTE_OUT), 2, 4096));
	read_all(before, NR);
	CHECK_EQ(service_list(&v, shown[0], CHANS + 1), CHANS - 1);
	for (i = 0; i < 3; i++)
		control("reload");
	read_all(after, NR);
	/* And what the host shows of them: also the engine on which a disabled one has worked. */
	CHECK_EQ(service_list(&v, shown[1], CHANS + 1), CHANS - 1);
	for (i = 0; i < CHANS - 1; i++)
		CHECK(!memcmp(&shown[0][i], &shown[1][i], sizeof(shown[0][i])), "channel %u", i);
	for (i = 0; i < NR; i++)
		CHECK_EQ(after[i], before[i], "word %u", i);
	CHECK_EQ(after[VGPU_HW_INTR / 4], VGPU_HW_INTR_FAULT);
	CHECK_EQ(after[VGPU_HW_FAULT_CHANNEL / 4], ce[2]->id);
	for (i = 0; i < 32; i++)
		CHECK_EQ(after[VGPU_HW_GUEST_INFO(i) / 4], 0x41424344 + i);
	fx_check_words(v.dev->fb + COMPUTE_OUT, 4096, 1);
	control("resume");
	fx_finish(ce[4]);
	fx_check_words(v.dev->fb + COMPUTE_OUT, 4096, 2);
	fx_again(ce[1]);
	fx_finish(ce[1]);
}

static void pause_vgpu(void)
{
	control("pause");
}

static void resume_vgpu(void)
{
	control("resume");
}

static const struct moving how = { reload, pause_vgpu, resume_vgpu };

static void barriers_and_reservations(void)
{
	moving_barriers(&how, 200);
}

static void several_channels(void)
{
	moving_channels(&how, 200);
}

static void text_that_was_overwritten(void)
{
	moving_text(&how);
}

static void signals_are_written_once(void)
{
	moving_signals(&how, 500);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(registers),
	KTAP_TEST(signals_are_written_once),
	KTAP_TEST(barriers_and_reservations),
	KTAP_TEST(several_channels),
	KTAP_TEST(text_that_was_overwritten),
};

KTAP_MAIN(tests, space_cleanup)
