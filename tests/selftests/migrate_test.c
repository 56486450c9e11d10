// SPDX-License-Identifier: GPL-2.0
/*
 * Migration of a vGPU into another one of the same GPU, through VFIO: its states, and work that goes
 * on at random moments of a move.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "compute.h"
#include "hop.h"
#include "moving.h"
#include "space.h"

/* The state of a vGPU without a dispatch is smaller, that of one with a warp is larger. */
#define STATE_RUNNING	3000

static bool step(void)
{
	uint64_t bytes = hop(&v, fx_random_below(3));

	clk_sleep_ms(fx_random_below(3));
	return bytes > STATE_RUNNING;
}

static void pause_vgpu(void)
{
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING_P2P, NULL);
}

static void resume_vgpu(void)
{
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
}

static const struct moving how = { step, pause_vgpu, resume_vgpu };

static void barriers_and_reservations(void)
{
	moving_barriers(&how, 60);
}

static void several_channels(void)
{
	moving_channels(&how, 60);
}

static void text_that_was_overwritten(void)
{
	moving_text(&how);
}

static void signals_are_written_once(void)
{
	moving_signals(&how, 60);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(signals_are_written_once),
	KTAP_TEST(barriers_and_reservations),
	KTAP_TEST(several_channels),
	KTAP_TEST(text_that_was_overwritten),
};

KTAP_MAIN(tests, space_cleanup)
