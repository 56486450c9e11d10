// SPDX-License-Identifier: GPL-2.0
#include "vgpu_test.h"

#include <errno.h>

#include "nvml_guest.h"

int nvml_guest_allocations;

void nvml_guest_init(void)
{
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
}

int nvml_guest_begin(void **state)
{
	fake_reset();
	fake.open_error = ENOENT;
	nvml_guest_allocations = fake_allocations();
	fake_node_setup();
	return 0;
}

int nvml_guest_end(void **state)
{
	while (!nvmlShutdown())
		;
	assert_int_equal(fake_node_files(), 0);
	assert_int_equal(fake_files(), 0);
	assert_int_equal(fake_allocations(), nvml_guest_allocations);
	fake_node_teardown();
	return 0;
}

void nvml_guest_rates(unsigned int gpu, unsigned int memory)
{
	nvmlUtilization_t rates = { 777, 777 };

	OK(nvmlDeviceGetUtilizationRates(dev, &rates));
	check_that(rates.gpu == gpu && rates.memory == memory, "%u, %u", rates.gpu, rates.memory);
}
