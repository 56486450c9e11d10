// SPDX-License-Identifier: GPL-2.0
/*
 * libnvidia-ml.so.1 as it is built: it exports the names of functions.list and no others, each can
 * be called, and a driver is not there.
 */
#include "vgpu_test.h"

#include <dlfcn.h>
#include <unistd.h>

#include "nvml.h"

#define NAMES	1024

typedef nvmlReturn_t (*call_t)(void);

static char names[NAMES][64], kinds[NAMES][64];
static unsigned int nr;
static void *library;

static int load(void **state)
{
	char line[160];
	FILE *list = fopen(NVML_LIST, "r");

	assert_non_null(list);
	while (fgets(line, sizeof(line), list))
		if (line[0] != '#' && sscanf(line, "%63s %63s", names[nr], kinds[nr]) == 2)
			nr++;
	fclose(list);
	assert_true(nr > 400);
	library = dlopen(NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		printf("# %s\n", dlerror());
	assert_non_null(library);
	return 0;
}

static int unload(void **state)
{
	return dlclose(library);
}

static unsigned int find(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(names[i], name))
			break;
	return i;
}

static void test_exported(void **state)
{
	FILE *nm = popen("nm -D --defined-only " NVML_LIBRARY, "r");
	unsigned int exported = 0;
	char name[128];

	assert_non_null(nm);
	while (fscanf(nm, "%*s %*s %127s", name) == 1) {
		check_that(find(name) < nr, "%s is exported", name);
		exported++;
	}
	assert_int_equal(pclose(nm), 0);
	assert_int_equal(exported, nr);
}

static void test_soname(void **state)
{
	assert_int_equal(system("readelf -d " NVML_LIBRARY
				" | grep -q 'SONAME.*\\[libnvidia-ml.so.1\\]'"), 0);
}

/* Those that are not supported say so, once the library is initialized: here it never is. */
static void test_callable(void **state)
{
	unsigned int i;
	call_t call;

	for (i = 0; i < nr; i++) {
		call = (call_t)dlsym(library, names[i]);
		check_that(call, "%s", names[i]);
		if (!strcmp(kinds[i], "not_supported"))
			check_that(call() == NVML_ERROR_UNINITIALIZED, "%s", names[i]);
		else if (strcmp(kinds[i], "implemented"))
			check_that((void *)call == dlsym(library, kinds[i]), "%s", names[i]);
	}
}

static void test_driver_is_not_there(void **state)
{
	call_t init = (call_t)dlsym(library, "nvmlInit");
	call_t end = (call_t)dlsym(library, "nvmlShutdown");

	if (!access("/dev/vgpu", F_OK))
		skip();
	assert_int_equal(init(), NVML_ERROR_DRIVER_NOT_LOADED);
	assert_int_equal(end(), NVML_ERROR_UNINITIALIZED);
}

/* Names that well-known clients do not start without, as they ask for them. */
static void test_clients(void **state)
{
	static const char * const wanted[] = {
		"nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags", "nvmlShutdown", "nvmlErrorString",
		"nvmlDeviceGetCount", "nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex",
		"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByPciBusId_v2",
		"nvmlDeviceGetName", "nvmlDeviceGetPciInfo", "nvmlDeviceGetPciInfo_v2",
		"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetMaxPcieLinkGeneration",
		"nvmlDeviceGetMaxPcieLinkWidth", "nvmlDeviceGetTemperatureThreshold",
		"nvmlDeviceGetClockInfo", "nvmlDeviceGetMaxClockInfo",
		"nvmlDeviceGetUtilizationRates", "nvmlDeviceGetMemoryInfo",
		"nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetCurrPcieLinkGeneration",
		"nvmlDeviceGetCurrPcieLinkWidth", "nvmlDeviceGetPcieThroughput",
		"nvmlDeviceGetFanSpeed", "nvmlDeviceGetTemperature", "nvmlDeviceGetPowerUsage",
		"nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit",
		"nvmlDeviceGetEncoderUtilization", "nvmlDeviceGetDecoderUtilization",
		"nvmlDeviceGetGraphicsRunningProcesses", "nvmlDeviceGetPowerState",
		"nvmlDeviceGetGraphicsRunningProcesses_v2", "nvmlDeviceGetMigMode",
		"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetProcessUtilization",
		"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlSystemGetDriverVersion",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++)
		check_that(find(wanted[i]) < nr, "%s", wanted[i]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exported),
		cmocka_unit_test(test_soname),
		cmocka_unit_test(test_callable),
		cmocka_unit_test(test_driver_is_not_there),
		cmocka_unit_test(test_clients),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
