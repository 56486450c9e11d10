// SPDX-License-Identifier: GPL-2.0
#include "vgpu_test.h"

#include "nvml_mig_world.h"

static int allocations;

static int begin(bool divisible, bool on)
{
	fake_reset();
	if (divisible)
		fake_divisible();
	fake_part_mode(0, on);
	fake_part_mode(1, on);
	allocations = fake_allocations();
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
	return 0;
}

int mig_begin(void **state)
{
	return begin(true, true);
}

int mig_begin_off(void **state)
{
	return begin(true, false);
}

int mig_begin_whole(void **state)
{
	return begin(false, false);
}

int mig_end(void **state)
{
	OK(nvmlShutdown());
	assert_int_equal(fake_files(), 0);
	assert_int_equal(fake_allocations(), allocations);
	return 0;
}
