// SPDX-License-Identifier: GPL-2.0
/*
 * tools/libnvml: how functions refuse, by a table of all that are implemented: not initialized, bad
 * and stale handles, null pointers, wrong versions of structures, short buffers, a driver that
 * refuses, memory that is short.
 */
#include "vgpu_test.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nvml_part.h"
#include "nvml_rows.h"

#define OK(call)	assert_int_equal(call, NVML_SUCCESS)
static int allocations;

static int begin(void **state)
{
	static const unsigned int percent[FAKE_ENGINES] = { 50 };
	unsigned int i, count = 1;

	fake_reset();
	fake_divisible();
	fake_part_mode(0, true);
	allocations = fake_allocations();
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
	row_instance();
	for (i = 0; i < fake_types(0); i++) {
		struct vgpu_ctl_type type = { .size = sizeof(type) };

		fake_type(0, i, &type);
		if (!strcmp((char *)type.name, "SG16-4Q"))
			fake_create(1, 0, i, 0);
	}
	fake_start(1, getpid());
	fake_sample(0, -1, 0, percent);
	fake_sample(0, 1, 0, percent);
	fake_run(0, 1, 1, 1);
	OK(nvmlDeviceGetActiveVgpus(dev, &count, &vgpu));
	OK(nvmlEventSetCreate(&set));
	return 0;
}

static int end(void **state)
{
	OK(nvmlShutdown());
	assert_int_equal(fake_files(), 0);
	assert_int_equal(fake_allocations(), allocations);
	return 0;
}

/* The manual names each function. */
static void test_manual_is_complete(void **state)
{
	static char manual[1 << 17];
	FILE *file = fopen(NVML_MANUAL, "r");
	unsigned int i;
	char name[80];

	assert_non_null(file);
	assert_true(fread(manual, 1, sizeof(manual) - 1, file) < sizeof(manual) - 1);
	fclose(file);
	for (i = 0; i < rows_nr; i++) {
		snprintf(name, sizeof(name), "``%s``", rows[i].name);
		check_that(strstr(manual, name), "%s is not in the manual", rows[i].name);
	}
}

static void test_table_is_complete(void **state)
{
	char line[128], name[64], what[64];
	FILE *list = fopen(NVML_LIST, "r");
	unsigned int i, nr = 0;

	assert_non_null(list);
	while (fgets(line, sizeof(line), list)) {
		if (sscanf(line, "%63s %63s", name, what) != 2 || line[0] == '#' ||
		    strcmp(what, "implemented"))
			continue;
		for (i = 0; i < rows_nr; i++)
			if (!strcmp(rows[i].name, name))
				break;
		check_that(i < rows_nr || !strncmp(name, "nvmlInit", 8) ||
			   !strcmp(name, "nvmlShutdown") || !strcmp(name, "nvmlErrorString"),
			   "%s is not in the table", name);
		nr += i < rows_nr;
	}
	fclose(list);
	assert_int_equal(nr, rows_nr);
}

/* With right arguments each has something to say: a result, or what this product has not. */
static void test_right(void **state)
{
	uintptr_t arg[ARGS];
	nvmlReturn_t ret;
	unsigned int i;

	for (i = 0; i < rows_nr; i++) {
		row_prepare(&rows[i], arg);
		ret = row_call(&rows[i], arg);
		check_that(ret != NVML_ERROR_UNKNOWN && ret != NVML_ERROR_UNINITIALIZED &&
			   ret != NVML_ERROR_ARGUMENT_VERSION_MISMATCH &&
			   ret != NVML_ERROR_NO_PERMISSION, "%s: %d", rows[i].name, ret);
	}
}

static void test_uninitialized(void **state)
{
	uintptr_t arg[ARGS];
	unsigned int i, k;

	OK(nvmlShutdown());
	for (i = 0; i < rows_nr; i++) {
		if (row_is(&rows[i], nvmlSystemGetNVMLVersion))
			continue;
		row_prepare(&rows[i], arg);
		row_check(&rows[i], arg, NVML_ERROR_UNINITIALIZED);
		for (k = 0; k < ARGS; k++)
			arg[k] = 0;
		row_check(&rows[i], arg, NVML_ERROR_UNINITIALIZED);
	}
	assert_int_equal(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
	OK(nvmlInit_v2());
}

static void test_bad_handles(void **state)
{
	uintptr_t bad[] = { 0, 1, ~0ul, (uintptr_t)dev + 1, (uintptr_t)dev - 8,
			    (uintptr_t)set + 8, (uintptr_t)buffers, vgpu + 1 };
	uintptr_t arg[ARGS];
	nvmlReturn_t ret;
	unsigned int i, k, b;

	for (i = 0; i < rows_nr; i++)
		for (k = 0; rows[i].args[k]; k++) {
			if (!strchr("dtvegc", rows[i].args[k]))
				continue;
			for (b = 0; b < ARRAY_SIZE(bad); b++) {
				row_prepare(&rows[i], arg);
				arg[k] = bad[b];
				if (rows[i].args[k] == 'v' && arg[k] == vgpu)
					continue;
				ret = NVML_ERROR_INVALID_ARGUMENT;
				if (rows[i].args[k] == 'v' && (unsigned int)bad[b])
					ret = NVML_ERROR_NOT_FOUND;
				row_check(&rows[i], arg, ret);
			}
		}
}

static void test_stale_vgpu(void **state)
{
	uintptr_t arg[ARGS];
	unsigned int i;

	fake_remove(1);
	for (i = 0; i < rows_nr; i++)
		if (strchr(rows[i].args, 'v')) {
			row_prepare(&rows[i], arg);
			row_check(&rows[i], arg, NVML_ERROR_NOT_FOUND);
		}
}

static void test_null(void **state)
{
	uintptr_t arg[ARGS];
	unsigned int i, k;

	for (i = 0; i < rows_nr; i++)
		for (k = 0; rows[i].args[k]; k++)
			if (strchr("pws", rows[i].args[k])) {
				row_prepare(&rows[i], arg);
				arg[k] = 0;
				row_check(&rows[i], arg, NVML_ERROR_INVALID_ARGUMENT);
			}
}

static void test_versions(void **state)
{
	uintptr_t arg[ARGS];
	unsigned int i, k, b;

	for (i = 0; i < rows_nr; i++) {
		unsigned int v = rows[i].version, bad[] = { 0, v + 1, v - 1, v + (1 << 24), ~v };
		const char *at = strchr(rows[i].args, 'w');

		if (!at)
			continue;
		k = at - rows[i].args;
		for (b = 0; b < ARRAY_SIZE(bad); b++) {
			row_prepare(&rows[i], arg);
			memcpy(buffers[k], &bad[b], sizeof(bad[b]));
			row_check(&rows[i], arg, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
		}
	}
}

/* Arrays and texts without room: nothing is written there, and what is needed is told. */
static void test_short(void **state)
{
	void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t arg[ARGS];
	nvmlReturn_t ret;
	unsigned int i, k;

	assert_ptr_not_equal(page, MAP_FAILED);
	for (i = 0; i < rows_nr; i++)
		for (k = 0; rows[i].args[k]; k++) {
			row_prepare(&rows[i], arg);
			arg[k] = (uintptr_t)page;
			if (rows[i].args[k] == 's') {
				arg[k + 1] = 0;
				ret = NVML_ERROR_INSUFFICIENT_SIZE;
				if (row_is(&rows[i], nvmlDeviceGetVbiosVersion))
					ret = NVML_ERROR_NOT_SUPPORTED;
				row_check(&rows[i], arg, ret);
			} else if (rows[i].args[k] == 'o') {
				ret = row_call(&rows[i], arg);
				check_that(!ret || ret == NVML_ERROR_INSUFFICIENT_SIZE ||
					   ret == NVML_ERROR_NOT_SUPPORTED ||
					   ret == NVML_ERROR_NOT_FOUND, "%s: %d", rows[i].name,
					   ret);
			}
		}
	munmap(page, 4096);
}

/*
 * What an earlier driver does not know of guests is as if they had not told it, and none of its
 * vGPUs can move.
 */
static bool is_of_later(const struct row *row)
{
	return row_is(row, nvmlVgpuInstanceGetVmDriverVersion) ||
	       row_is(row, nvmlVgpuInstanceGetMetadata) ||
	       row_is(row, nvmlDeviceGetVgpuMetadata) ||
	       row_is(row, nvmlDeviceGetPgpuMetadataString);
}

/* Whatever the driver answers, nothing is lost, and no function calls it a success. */
static void test_driver_refuses(void **state)
{
	static const int errors[] = { EPERM, ENODEV, ENOMEM, ENOTTY, EIO, EINVAL, EFAULT };
	nvmlReturn_t right, ret;
	uintptr_t arg[ARGS];
	unsigned int i, e, k;
	unsigned long calls;

	for (e = 0; e < ARRAY_SIZE(errors); e++)
		for (i = 0; i < rows_nr; i++) {
			row_prepare(&rows[i], arg);
			right = row_call(&rows[i], arg);
			calls = fake_calls();
			for (k = 0; k < ARRAY_SIZE(fake.refuse); k++)
				fake.refuse[k] = errors[e];
			row_prepare(&rows[i], arg);
			ret = rows[i].call(arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
			memset(fake.refuse, 0, sizeof(fake.refuse));
			if (row_is(&rows[i], nvmlEventSetFree))
				OK(nvmlEventSetCreate(&set));
			if (fake_calls() == calls || (errors[e] == ENOTTY && is_of_later(&rows[i])))
				check_that(ret == right, "%s: %d", rows[i].name, ret);
			else if (!row_is(&rows[i], nvmlEventSetFree))
				check_that(ret, "%s, errno %d", rows[i].name, errors[e]);
		}
}

/* Each allocation fails once. */
static void test_no_memory(void **state)
{
	uintptr_t arg[ARGS];
	nvmlReturn_t ret;
	unsigned int i;
	int nr, before;

	for (i = 0; i < rows_nr; i++)
		for (nr = 1; ; nr++) {
			if (row_is(&rows[i], nvmlEventSetFree) ||
			    row_is(&rows[i], nvmlEventSetCreate))
				break;
			row_prepare(&rows[i], arg);
			before = fake_allocations();
			fake.fail_allocation = nr;
			ret = row_call(&rows[i], arg);
			check_that(fake_allocations() == before, "%s", rows[i].name);
			if (fake.fail_allocation) {
				fake.fail_allocation = 0;
				break;
			}
			check_that(ret == NVML_ERROR_MEMORY, "%s: %d", rows[i].name, ret);
		}
	OK(nvmlShutdown());
	for (nr = 1; ; nr++) {
		fake.fail_allocation = nr;
		ret = nvmlInit_v2();
		if (fake.fail_allocation)
			break;
		assert_int_equal(ret, NVML_ERROR_MEMORY);
		assert_int_equal(fake_allocations(), allocations);
		assert_int_equal(fake_files(), 0);
	}
	fake.fail_allocation = 0;
	OK(ret);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_is_complete),
		cmocka_unit_test(test_manual_is_complete),
		cmocka_unit_test_setup_teardown(test_right, begin, end),
		cmocka_unit_test_setup_teardown(test_uninitialized, begin, end),
		cmocka_unit_test_setup_teardown(test_bad_handles, begin, end),
		cmocka_unit_test_setup_teardown(test_stale_vgpu, begin, end),
		cmocka_unit_test_setup_teardown(test_null, begin, end),
		cmocka_unit_test_setup_teardown(test_versions, begin, end),
		cmocka_unit_test_setup_teardown(test_short, begin, end),
		cmocka_unit_test_setup_teardown(test_driver_refuses, begin, end),
		cmocka_unit_test_setup_teardown(test_no_memory, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
