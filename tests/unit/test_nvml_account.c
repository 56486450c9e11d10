// SPDX-License-Identifier: GPL-2.0
/* tools/libnvml: accounting of processes in guests, those that have ended as well. */
#include "vgpu_test.h"

#include "internal.h"
#include "nvml_channels.h"

#define OK(call)	assert_int_equal(call, NVML_SUCCESS)
#define SHORT(call)	assert_int_equal(call, NVML_ERROR_INSUFFICIENT_SIZE)
#define NONE(call)	assert_int_equal(call, NVML_ERROR_NOT_FOUND)
#define ROOM		2048

static unsigned int count;

static void test_accounting(void **state)
{
	nvmlAccountingStats_t stats;
	unsigned int pids[ROOM], i;
	nvmlVgpuInstance_t vgpu;

	count = 1;
	OK(nvmlDeviceGetActiveVgpus(dev, &count, &vgpu));
	/* As long as none is named it is who has the vGPU open. */
	count = ROOM;
	OK(nvmlVgpuInstanceGetAccountingPids(vgpu, &count, pids));
	assert_true(count == 1 && pids[0] == 500);
	channels_of_two();
	channel_work(0, 0, 300 * MS);
	channel_work(1, 1, 400 * MS);
	channel_work(2, 0, 50 * MS);
	channel_work(3, 0, 50 * MS);
	count = 1;
	SHORT(nvmlVgpuInstanceGetAccountingPids(vgpu, &count, pids));
	assert_int_equal(count, 2);
	OK(nvmlVgpuInstanceGetAccountingPids(vgpu, &count, pids));
	assert_true(count == 2 && pids[0] == 10 && pids[1] == 11);
	OK(nvmlVgpuInstanceGetAccountingStats(vgpu, 10, &stats));
	assert_true(stats.gpuUtilization == 30 && stats.memoryUtilization == 20);
	assert_true(stats.isRunning && !stats.time);
	assert_true(stats.maxMemoryUsage == NVML_VALUE_NOT_AVAILABLE);
	assert_true(stats.startTime == nv_time_us(channel[0].enabled_ns));
	NONE(nvmlVgpuInstanceGetAccountingStats(vgpu, 500, &stats));
	NONE(nvmlVgpuInstanceGetAccountingStats(vgpu, 0, &stats));
	/* Another second of it, in which the other one ends; its channels are given to others. */
	fake.now_ns += SEC;
	channel_work(0, 0, 900 * MS);
	channel[2].flags = 0;
	channel[2].state = VGPU_HW_STATE_DISABLED;
	OK(nvmlVgpuInstanceGetAccountingStats(vgpu, 11, &stats));
	assert_true(!stats.isRunning && stats.time == 1000 && stats.gpuUtilization == 5);
	OK(nvmlVgpuInstanceGetAccountingStats(vgpu, 10, &stats));
	assert_true(stats.isRunning && stats.gpuUtilization == 60 && stats.memoryUtilization == 10);
	fake.now_ns += SEC;
	for (i = 0; i < 2; i++) {
		channel_label(i, 20 + i, "new");
		channel[i].enabled_ns = fake.now_ns - SEC / 2;
		channel[i].busy_ns = 0;
	}
	channel_work(0, 0, 100 * MS);
	count = ROOM;
	OK(nvmlVgpuInstanceGetAccountingPids(vgpu, &count, pids));
	assert_int_equal(count, 4);
	OK(nvmlVgpuInstanceGetAccountingStats(vgpu, 10, &stats));
	assert_true(!stats.isRunning && stats.time == 2000 && stats.gpuUtilization == 60);
	OK(nvmlVgpuInstanceGetAccountingStats(vgpu, 20, &stats));
	assert_true(stats.isRunning && stats.gpuUtilization == 20);
	/* One that had no channel for a while goes on. */
	fake.now_ns += SEC;
	channel_label(2, 10, "game");
	channel[2].enabled_ns = fake.now_ns - SEC / 2;
	channel[2].busy_ns = 0;
	channel[2].state = VGPU_HW_STATE_SLEEPING;
	channel_work(2, 0, 400 * MS);
	OK(nvmlVgpuInstanceGetAccountingStats(vgpu, 10, &stats));
	assert_true(stats.isRunning && stats.gpuUtilization == 40);	/* 1.6 of 4 s */
	/* When all are gone, they are still told; of a vGPU that is gone nothing is. */
	fake.now_ns += SEC;
	channels_are(NULL, 0, NULL);
	count = ROOM;
	OK(nvmlVgpuInstanceGetAccountingPids(vgpu, &count, pids));
	assert_int_equal(count, 4);
	OK(nvmlVgpuInstanceGetAccountingStats(vgpu, 10, &stats));
	assert_true(!stats.isRunning && stats.time == 4000);
	fake_stop(1);
	fake_remove(1);
	NONE(nvmlVgpuInstanceGetAccountingPids(vgpu, &count, pids));
}

/* A program of the host that has the vGPU open itself: it is known better than by its channels. */
static void test_accounting_of_owner(void **state)
{
	nvmlAccountingStats_t stats;
	nvmlVgpuInstance_t vgpu;
	unsigned int pid;

	count = 1;
	OK(nvmlDeviceGetActiveVgpus(dev, &count, &vgpu));
	channel_label(0, 500, "vm500");
	channels_are(channel, 1, NULL);
	channel_work(0, 0, 100 * MS);
	OK(nvmlVgpuInstanceGetAccountingPids(vgpu, &count, &pid));
	assert_true(count == 1 && pid == 500);
	OK(nvmlVgpuInstanceGetAccountingStats(vgpu, 500, &stats));
	assert_true(stats.isRunning && stats.maxMemoryUsage == 500ull << 21);
	fake_stop(1);
	OK(nvmlVgpuInstanceGetAccountingStats(vgpu, 500, &stats));
	assert_true(!stats.isRunning && stats.time == 1000 && stats.gpuUtilization == 50);
	/* Of a guest's process of that number it says nothing. */
	fake_start(1, 501);
	channel_label(0, 501, "game");
	channels_are(channel, 1, NULL);
	fake.now_ns += SEC;
	OK(nvmlVgpuInstanceGetAccountingStats(vgpu, 501, &stats));
	assert_true(stats.maxMemoryUsage == NVML_VALUE_NOT_AVAILABLE);
}

/* A guest that makes up thousands of processes has those that it made up last. */
static void test_accounting_is_bounded(void **state)
{
	nvmlAccountingStats_t stats;
	nvmlVgpuInstance_t vgpu;
	unsigned int i, round;

	count = 1;
	OK(nvmlDeviceGetActiveVgpus(dev, &count, &vgpu));
	channels_are(channel, CHANNELS, NULL);
	for (round = 0; round < 4; round++) {
		fake.now_ns += SEC;
		for (i = 0; i < CHANNELS; i++)
			channel_label(i, 1 + round * CHANNELS + i, "x");
		OK(nvmlVgpuInstanceGetAccountingStats(vgpu, 1 + round * CHANNELS, &stats));
	}
	fake.now_ns += SEC;
	count = 0;
	SHORT(nvmlVgpuInstanceGetAccountingPids(vgpu, &count, NULL));
	assert_int_equal(count, CHANNELS + 1000);
	NONE(nvmlVgpuInstanceGetAccountingStats(vgpu, 1, &stats));
	OK(nvmlVgpuInstanceGetAccountingStats(vgpu, 4 * CHANNELS, &stats));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_accounting, channels_begin, channels_end),
		cmocka_unit_test_setup_teardown(test_accounting_of_owner, channels_begin,
						channels_end),
		cmocka_unit_test_setup_teardown(test_accounting_is_bounded, channels_begin,
						channels_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
