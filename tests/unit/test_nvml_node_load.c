// SPDX-License-Identifier: GPL-2.0
/* tools/libnvml in a guest: loads of the engines, and of what is due, by looks. */
#include "vgpu_test.h"

#include "internal.h"
#include "nvml_guest.h"

static void test_load(void **state)
{
	unsigned int percent, period_us, i;

	fake_node[0].percent[0] = 40;
	fake_node[0].percent[2] = 30;
	fake_node[0].percent[3] = 7;
	nvml_guest_init();
	/* Who asks at once waits until there is a load to tell, and only once. */
	nvml_guest_rates(40, 15);
	nvml_guest_rates(40, 15);
	assert_int_equal(fake_sleeps, 1);
	OK(nvmlDeviceGetEncoderUtilization(dev, &percent, &period_us));
	assert_int_equal(percent, 7);
	OK(nvmlDeviceGetDecoderUtilization(dev, &percent, &period_us));
	assert_int_equal(percent, 0);
	/* Of the last second, for who asks often; else since the last call. */
	for (i = 0; i < 8; i++) {
		fake_clock(200 * MS);
		nvml_guest_rates(40, 15);
	}
	fake_node[0].percent[0] = 90;
	fake_clock(200 * MS);
	nvml_guest_rates(50, 15);
	fake_clock(800 * MS);
	nvml_guest_rates(90, 15);
	fake_node[0].percent[0] = 0;
	fake_clock(50 * MS);
	nvml_guest_rates(90, 15);
	fake_clock(5 * SEC);
	nvml_guest_rates(0, 15);
	fake_clock(5 * SEC);
	nvml_guest_rates(0, 15);
	assert_int_equal(fake_sleeps, 1);
	/* An engine cannot be more than busy, whatever the host says. */
	fake_node[0].percent[0] = 1000;
	fake_clock(5 * SEC);
	nvml_guest_rates(100, 15);
}

/* What a reset of the vGPU has taken away is not counted; the clock of another host begins anew. */
static void test_counters_go_back(void **state)
{
	unsigned int i;

	fake_node[0].percent[0] = 50;
	nvml_guest_init();
	nvml_guest_rates(50, 0);
	fake_node[0].usage.engine[0].service_ns = 0;
	fake_clock(SEC);
	nvml_guest_rates(45, 0);	/* 500 ms of 1.1 s */
	fake_node[0].usage.time_ns = 7;
	fake_node[0].usage.engine[0].service_ns = 1000 * SEC;
	fake_clock(200 * MS);
	nvml_guest_rates(50, 0);
	assert_int_equal(fake_sleeps, 2);
	/* One that always does so is not waited for. */
	for (i = 0; i < 20; i++) {
		nvmlUtilization_t rates;
		unsigned int sleeps = fake_sleeps;

		fake_clock(200 * MS);
		fake_node[0].usage.time_ns = 1000 - i;
		assert_int_equal(nvmlDeviceGetUtilizationRates(dev, &rates), NVML_SUCCESS);
		assert_in_range(fake_sleeps - sleeps, 1, 3);
	}
}

static void check_due(unsigned int gpu, unsigned int fb, unsigned int video)
{
	nvmlGpuDynamicPstatesInfo_t info;
	unsigned int i;

	memset(&info, 0xff, sizeof(info));
	OK(nvmlDeviceGetDynamicPstatesInfo(dev, &info));
	assert_int_equal(info.flags, 0);
	for (i = 0; i < NVML_MAX_GPU_UTILIZATIONS; i++)
		assert_int_equal(info.utilization[i].bIsPresent, i < 3);
	check_that(info.utilization[NVML_GPU_UTILIZATION_DOMAIN_GPU].percentage == gpu &&
		   info.utilization[NVML_GPU_UTILIZATION_DOMAIN_FB].percentage == fb &&
		   info.utilization[NVML_GPU_UTILIZATION_DOMAIN_VID].percentage == video,
		   "%u, %u, %u", info.utilization[0].percentage, info.utilization[1].percentage,
		   info.utilization[2].percentage);
}

/* Of what the vGPU may use: all of a quarter of an engine is all. */
static void test_load_of_due(void **state)
{
	struct drm_vgpu_engine_usage *engine = fake_node[0].usage.engine;

	fake_node[0].percent[0] = 20;
	fake_node[0].percent[1] = 30;
	fake_node[0].percent[3] = 5;
	fake_node[0].percent[4] = 10;
	engine[0].due_permille = 250;
	engine[1].due_permille = 500;
	engine[2].due_permille = 100;
	engine[3].due_permille = 500;
	nvml_guest_init();
	check_due(80, 50, 10);
	nvml_guest_rates(20, 15);
	/* More than is due, which the host gives while nobody else wants it; and nothing is due. */
	engine[0].due_permille = 100;
	engine[1].due_permille = 0;
	engine[2].due_permille = 0;
	fake_node[0].percent[1] = 0;
	fake_clock(5 * SEC);
	check_due(100, 0, 10);
	fake_node[0].percent[1] = 1;
	engine[0].due_permille = ~0u;
	fake_clock(5 * SEC);
	check_due(0, 100, 10);
}

static void test_samples(void **state)
{
	unsigned long long last_us = 0;
	nvmlSample_t samples[NV_LOOKS];
	nvmlValueType_t type;
	unsigned int count, i;

	fake_node[0].percent[0] = 10;
	nvml_guest_init();
	for (i = 0; i < 12; i++) {
		count = NV_LOOKS;
		OK(nvmlDeviceGetSamples(dev, NVML_GPU_UTILIZATION_SAMPLES, last_us, &type, &count,
					samples));
		assert_int_equal(count, 1);
		assert_int_equal(samples[0].sampleValue.uiVal, i ? i : 10);
		assert_true(samples[0].timeStamp > last_us);
		last_us = samples[0].timeStamp;
		assert_int_equal(nvmlDeviceGetSamples(dev, NVML_GPU_UTILIZATION_SAMPLES, last_us,
						      &type, &count, samples),
				 NVML_ERROR_NOT_FOUND);
		fake_node[0].percent[0] = i + 1;
		fake_clock(100 * MS);
	}
	/* All that are kept, in the order of time. */
	count = 0;
	assert_int_equal(nvmlDeviceGetSamples(dev, NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &count,
					      NULL), NVML_ERROR_INSUFFICIENT_SIZE);
	assert_in_range(count, NV_LOOKS - 1, NV_LOOKS + 1);
	count = NV_LOOKS;
	OK(nvmlDeviceGetSamples(dev, NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &count, samples));
	assert_int_equal(count, NV_LOOKS - 1);
	for (i = 0; i < count; i++) {
		assert_int_equal(samples[i].sampleValue.uiVal, 12 - (count - 1) + i);
		assert_true(!i || samples[i].timeStamp == samples[i - 1].timeStamp + 100000);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_GUEST(test_load),
		IN_GUEST(test_counters_go_back),
		IN_GUEST(test_load_of_due),
		IN_GUEST(test_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
