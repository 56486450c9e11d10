// SPDX-License-Identifier: GPL-2.0
/* What units need of memory for dispatches of channels that do nothing any more. */
#include "compute.h"
#include "soft.h"

#define CHANNELS	5u
#define BIG_GROUPS	16u	/* one for each unit that there may be */
#define BIG_ITEMS	1024u	/* with COMPUTE_LOAD() such a group takes more than 4 MiB */
#define TRIED_AGAIN_MS	1500	/* flights for which there was no room */

static struct fx_vgpu v;
static struct vgpu_chan *chans[CHANNELS];

static void begin(void)
{
	uint64_t helpers;
	unsigned int i;

	if (soft_counter(NULL, "gr", "helpers", &helpers) || !helpers)
		ktap_skip("the GPU has one unit");
	chans[0] = compute_chan(&v);
	for (i = 1; i < CHANNELS; i++)
		chans[i] = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
}

static void run_big(unsigned int i)
{
	compute_dispatch_head(chans[i], COMPUTE_HEAD, COMPUTE_OUT,
			      COMPUTE_SIZE(BIG_GROUPS * BIG_ITEMS, 1, 1),
			      COMPUTE_SIZE(BIG_ITEMS, 1, 1), 0);
	fx_finish(chans[i]);
}

/* Another channel gets the room, or it would have one unit for ever. */
static void idle_channels_give_way(void)
{
	static const uint32_t words[] = { RV_RET };
	uint64_t share;
	unsigned int i;

	begin();
	COMPUTE_LOAD(&v, words);
	run_big(0);
	share = compute_counter(&v, "flight_bytes ");
	CHECK(share, "");
	for (i = 1; i < CHANNELS; i++)
		run_big(i);
	clk_sleep_ms(TRIED_AGAIN_MS);
	run_big(CHANNELS - 1);
	for (i = 0; i < CHANNELS - 1; i++)
		FX_OK(v.dev, vgpu_chan_disable(chans[i]));
	FX_SOON(compute_counter(&v, "flight_bytes ") == share, "the last one has no such share");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(idle_channels_give_way),
};

KTAP_MAIN(tests, fx_cleanup)
