// SPDX-License-Identifier: GPL-2.0
/* tools/libnvml in a guest: the processes that use the GPU, as /proc tells the caller. */
#include "vgpu_test.h"

#include "internal.h"
#include "nvml_guest.h"

#define NONE(call)	assert_int_equal(call, NVML_ERROR_NOT_FOUND)
#define LIST		64
#define HERE		"0000:00:04.0"
#define THERE		"0000:00:05.0"

static nvmlProcessInfo_t list[LIST];
static nvmlProcessUtilizationSample_t s[LIST];
static unsigned int count;

static int begin(void **state)
{
	nvml_guest_begin(state);
	fake_node_add(1, "SG16-4C");
	nvml_guest_init();
	return 0;
}

/* An open file of a process, of the GPU at the address. */
static void file(unsigned int pid, unsigned int fd, const char *address, unsigned int client,
		 unsigned int kib, uint64_t gr_ns, uint64_t ce_ns)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "pos:\t0\nflags:\t02100002\nmnt_id:\t25\nino:\t312\n"
		 "drm-driver:\tvgpu_guest\ndrm-client-id:\t%u\ndrm-pdev:\t%s\n"
		 "drm-engine-gr:\t%llu ns\ndrm-engine-ce:\t%llu ns\ndrm-engine-capacity-ce:\t2\n"
		 "drm-engine-enc:\t0 ns\n"
		 "drm-total-system:\t77 MiB\ndrm-resident-system:\t77 MiB\n"
		 "drm-total-vram:\t%u KiB\ndrm-shared-vram:\t0\ndrm-resident-vram:\t%u KiB\n",
		 client, address, (unsigned long long)gr_ns, (unsigned long long)ce_ns, 2 * kib,
		 kib);
	fake_proc(pid, fd, text);
}

static void processes(void)
{
	count = LIST;
	OK(nvmlDeviceGetGraphicsRunningProcesses_v3(dev, &count, list));
}

static nvmlReturn_t samples(unsigned long long last_us)
{
	count = LIST;
	return nvmlDeviceGetProcessUtilization(dev, s, &count, last_us);
}

static void test_list(void **state)
{
	nvmlProcessInfo_v1_t old[LIST];

	processes();
	assert_int_equal(count, 0);
	file(30, 3, HERE, 1, 100, 0, 0);
	file(30, 4, HERE, 2, 20, 5, 0);
	file(9, 5, HERE, 3, 7, 0, 0);
	/* Nothing of it, something else, another GPU, only looks, no process. */
	fake_proc(30, 0, NULL);
	fake_proc(31, 0, NULL);
	fake_proc(32, 3, "pos:\t0\ndrm-driver:\tamdgpu\ndrm-pdev:\t" HERE "\n"
		  "drm-client-id:\t8\ndrm-resident-vram:\t9 MiB\n");
	file(33, 3, THERE, 4, 55, 0, 0);
	file(34, 3, HERE, 5, 0, 0, 0);
	processes();
	assert_int_equal(count, 2);
	assert_true(list[0].pid == 9 && list[0].usedGpuMemory == 7 << 10);
	assert_true(list[1].pid == 30 && list[1].usedGpuMemory == 120 << 10);
	assert_int_equal(list[0].gpuInstanceId, NVML_NO_INSTANCE);
	count = LIST;
	OK(nvmlDeviceGetGraphicsRunningProcesses(dev, &count, old));
	assert_true(count == 2 && old[1].pid == 30 && old[1].usedGpuMemory == 120 << 10);
	count = 1;
	assert_int_equal(nvmlDeviceGetGraphicsRunningProcesses_v3(dev, &count, list),
			 NVML_ERROR_INSUFFICIENT_SIZE);
	assert_int_equal(count, 2);
	count = LIST;
	OK(nvmlDeviceGetComputeRunningProcesses_v3(dev, &count, list));
	assert_int_equal(count, 0);
	/* It is what is there now. */
	fake_proc_end(9);
	processes();
	assert_int_equal(count, 1);
	/* The other one's type is for computing. */
	OK(nvmlDeviceGetHandleByIndex_v2(1, &dev));
	processes();
	assert_int_equal(count, 0);
	count = LIST;
	OK(nvmlDeviceGetComputeRunningProcesses_v3(dev, &count, list));
	assert_true(count == 1 && list[0].pid == 33 && list[0].usedGpuMemory == 55 << 10);
}

/* A file that several descriptors stand for, in one process or after fork(), counts once. */
static void test_same_file(void **state)
{
	file(500, 3, HERE, 1, 100, 1000 * MS, 0);
	file(500, 4, HERE, 1, 100, 1000 * MS, 0);
	file(40, 3, HERE, 1, 100, 1000 * MS, 0);
	file(500, 5, HERE, 2, 30, 0, 0);
	processes();
	assert_int_equal(count, 2);
	assert_true(list[0].pid == 40 && list[0].usedGpuMemory == 100 << 10);
	assert_true(list[1].pid == 500 && list[1].usedGpuMemory == 30 << 10);
	NONE(samples(~0ull));
	fake_clock(SEC);
	file(500, 3, HERE, 1, 100, 1500 * MS, 0);
	file(500, 4, HERE, 1, 100, 1500 * MS, 0);
	/* Who has the file may change; what was used before does not count again. */
	fake_proc_end(40);
	OK(samples(0));
	assert_int_equal(count, 1);
	assert_true(s[0].pid == 500 && s[0].smUtil == 45);	/* 500 ms of 1.1 s */
}

static void test_loads(void **state)
{
	unsigned long long first_us, second_us;

	file(20, 3, HERE, 1, 100, 70000 * MS, 0);
	file(20, 4, HERE, 2, 100, 0, 500 * MS);
	file(21, 3, HERE, 3, 100, 1 * MS, 0);
	/* The first one waits for a time to tell of; in that nothing was done. */
	OK(samples(0));
	assert_int_equal(fake_sleeps, 1);
	assert_int_equal(count, 2);
	assert_true(s[0].pid == 20 && s[1].pid == 21);
	assert_true(!s[0].smUtil && !s[0].memUtil && !s[1].smUtil);
	first_us = s[0].timeStamp;
	assert_int_equal(s[1].timeStamp, first_us);
	NONE(samples(first_us));
	fake_clock(2 * SEC);
	file(20, 3, HERE, 1, 100, 70600 * MS, 0);
	file(20, 4, HERE, 2, 100, 400 * MS, 1300 * MS);
	file(22, 3, HERE, 4, 100, 100 * MS, 0);	/* it has come since then */
	OK(samples(first_us));
	assert_int_equal(count, 3);
	assert_true(s[0].smUtil == 50 && s[0].memUtil == 20);
	assert_true(s[1].pid == 21 && !s[1].smUtil);
	assert_true(s[2].pid == 22 && s[2].smUtil == 5);
	second_us = s[0].timeStamp;
	assert_true(second_us == first_us + 2000000);
	/* To ask how much room is needed, and then for it, is one look. */
	fake_clock(2 * SEC);
	file(20, 3, HERE, 1, 100, 70800 * MS, 0);
	count = 0;
	assert_int_equal(nvmlDeviceGetProcessUtilization(dev, NULL, &count, second_us),
			 NVML_ERROR_INSUFFICIENT_SIZE);
	assert_in_range(count, 3, 6);
	fake_clock(50 * MS);
	file(20, 3, HERE, 1, 100, 79900 * MS, 0);
	OK(samples(second_us));
	assert_int_equal(s[0].smUtil, 10);
	/* For who has not seen the look before. */
	OK(samples(first_us));
	assert_int_equal(s[0].smUtil, 30);
	assert_int_equal(fake_sleeps, 1);
}

/* Files that are not what they should be; the last one of these is of no process that lives. */
static void test_bad_files(void **state)
{
	static const char * const texts[] = {
		"", "\n\n\n", "drm-driver", "drm-driver:", "drm-driver:\tvgpu_guest\n",
		"drm-driver:\tvgpu_guest_and_more_of_it\ndrm-pdev:\t" HERE "\n",
		"drm-driver:\tvgpu_guest\ndrm-pdev:\t" HERE "\ndrm-client-id:\n"
		"drm-resident-vram:\tmuch\ndrm-engine-gr:\t-\n",
	};
	char text[20000] = "drm-driver:\tvgpu_guest\ndrm-pdev:\t" HERE "\ndrm-client-id:\t7\n"
			   "drm-resident-vram:\t99999999999999999999 MiB\ndrm-engine-gr:\t12 ns\n";
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		fake_proc(50 + i, 3, texts[i]);
	processes();
	assert_int_equal(count, 0);
	/* Longer than what is read: the head counts. */
	memset(text + strlen(text), 'x', sizeof(text) - strlen(text) - 1);
	fake_proc(80, 3, text);
	processes();
	assert_int_equal(count, 1);
	assert_true(list[0].pid == 80 && list[0].usedGpuMemory == UINT64_MAX);
	NONE(samples(~0ull));
	OK(samples(0));
	assert_true(count == 1 && s[0].smUtil == 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_list, begin, nvml_guest_end),
		cmocka_unit_test_setup_teardown(test_same_file, begin, nvml_guest_end),
		cmocka_unit_test_setup_teardown(test_loads, begin, nvml_guest_end),
		cmocka_unit_test_setup_teardown(test_bad_files, begin, nvml_guest_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
