// SPDX-License-Identifier: GPL-2.0
/* tools/libnvml in a guest: the GPU behind a render node, and all that a vGPU has not. */
#include "vgpu_test.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"
#include "nvml_guest.h"

static nvmlReturn_t try_init(void)
{
	nvmlReturn_t ret = nvmlInit_v2();

	assert_int_equal(nvmlShutdown(), ret ? NVML_ERROR_UNINITIALIZED : NVML_SUCCESS);
	assert_int_equal(fake_node_files(), 0);
	assert_int_equal(fake_allocations(), nvml_guest_allocations);
	return ret;
}

static void test_init(void **state)
{
	static const struct {
		int error;
		nvmlReturn_t ret;
	} opens[] = {
		{ EACCES, NVML_ERROR_NO_PERMISSION }, { EPERM, NVML_ERROR_NO_PERMISSION },
		{ ENOENT, NVML_ERROR_DRIVER_NOT_LOADED }, { ENODEV, NVML_ERROR_DRIVER_NOT_LOADED },
		{ EMFILE, NVML_ERROR_INSUFFICIENT_RESOURCES }, { ENOMEM, NVML_ERROR_MEMORY },
	};
	unsigned int i, count;
	char text[80];

	for (i = 0; i < ARRAY_SIZE(opens); i++) {
		fake_node[0].open_error = opens[i].error;
		assert_int_equal(try_init(), opens[i].ret);
	}
	fake_node[0].open_error = 0;
	fake_node[0].major = 2;
	assert_int_equal(try_init(), NVML_ERROR_LIB_RM_VERSION_MISMATCH);
	fake_node[0].major = 1;
	fake_node[0].minor = 7;
	fake_node[0].patch = 3;
	OK(nvmlInit_v2());
	OK(nvmlInitWithFlags(NVML_INIT_FLAG_NO_GPUS));
	assert_int_equal(fake_node_files(), 1);
	OK(nvmlSystemGetDriverVersion(text, sizeof(text)));
	assert_string_equal(text, "1.7.3");
	OK(nvmlDeviceGetCount_v2(&count));
	assert_int_equal(count, 1);
	OK(nvmlShutdown());
	/* A host's GPUs come first, and so do its errors. */
	fake.open_error = EACCES;
	OK(nvmlShutdown());
	assert_int_equal(try_init(), NVML_ERROR_NO_PERMISSION);
	fake.open_error = 0;
	nvml_guest_init();
	OK(nvmlDeviceGetName(dev, text, sizeof(text)));
	assert_string_equal(text, "SG16");
	assert_int_equal(fake_node_files(), 0);
}

/* Nodes of others are not taken, and not opened where sysfs says whose they are. */
static void test_other_nodes(void **state)
{
	unsigned int count, nr;
	char text[80];

	fake_node[0].driver = "amdgpu";
	fake_node[0].open_error = EACCES;
	assert_int_equal(try_init(), NVML_ERROR_DRIVER_NOT_LOADED);
	fake_has_sysfs = false;
	assert_int_equal(try_init(), NVML_ERROR_NO_PERMISSION);
	fake_node[0].open_error = 0;
	for (nr = 0; nr < 3; nr++) {
		static const char * const names[] = { "vgpu_gues", "vgpu_guest2", "" };

		fake_node[0].driver = names[nr];
		assert_int_equal(try_init(), NVML_ERROR_DRIVER_NOT_LOADED);
	}
	/* Two vGPUs, of three nodes. */
	fake_node_add(1, "SG16-1Q");
	fake_node_add(2, "SG16-8C");
	nvml_guest_init();
	OK(nvmlDeviceGetCount_v2(&count));
	assert_int_equal(count, 2);
	OK(nvmlDeviceGetName(dev, text, sizeof(text)));
	assert_string_equal(text, "SG16-1Q");
	OK(nvmlDeviceGetMinorNumber(dev, &nr));
	assert_int_equal(nr, 129);
	OK(nvmlDeviceGetHandleByIndex_v2(1, &dev));
	OK(nvmlDeviceGetName(dev, text, sizeof(text)));
	assert_string_equal(text, "SG16-8C");
	OK(nvmlDeviceGetIndex(dev, &nr));
	assert_int_equal(nr, 1);
	assert_int_equal(nvmlDeviceGetHandleByIndex_v2(2, &dev), NVML_ERROR_INVALID_ARGUMENT);
	/* If one cannot be used, the others can. */
	OK(nvmlShutdown());
	fake_node[1].open_error = EACCES;
	nvml_guest_init();
	OK(nvmlDeviceGetName(dev, text, sizeof(text)));
	assert_string_equal(text, "SG16-8C");
}

static void test_device(void **state)
{
	nvmlMemory_v2_t memory2 = { .version = NVML_STRUCT_VERSION(Memory, 2) };
	nvmlDevice_t same;
	nvmlMemory_t memory;
	nvmlPciInfo_t pci;
	unsigned int nr;
	char text[80];

	nvml_guest_init();
	OK(nvmlDeviceGetName(dev, text, sizeof(text)));
	assert_string_equal(text, "SG16-4Q");
	OK(nvmlDeviceGetUUID(dev, text, sizeof(text)));
	assert_string_equal(text, "GPU-fb000000-0000-0000-0000-000000000000");
	OK(nvmlDeviceGetHandleByUUID(text, &same));
	assert_ptr_equal(same, dev);
	OK(nvmlDeviceGetMinorNumber(dev, &nr));
	assert_int_equal(nr, 128);
	OK(nvmlDeviceGetPciInfo_v3(dev, &pci));
	assert_string_equal(pci.busId, "00000000:00:04.0");
	assert_int_equal(pci.pciDeviceId, 0x10f11af4);
	assert_int_equal(pci.pciSubSystemId, 0x11001100);
	OK(nvmlDeviceGetHandleByPciBusId_v2("0000:00:04.0", &same));
	assert_ptr_equal(same, dev);
	OK(nvmlDeviceGetMemoryInfo(dev, &memory));
	assert_true(memory.total == 4ull << 30 && memory.free == 3ull << 30 &&
		    memory.used == 1ull << 30);
	/* Of now, not of the beginning. */
	fake_node[0].info.fb_free = 1ull << 30;
	OK(nvmlDeviceGetMemoryInfo_v2(dev, &memory2));
	assert_true(memory2.used == 3ull << 30 && memory2.free == 1ull << 30 && !memory2.reserved);
}

/* What the vendor's guide says of a vGPU in its VM. */
static void test_vendor_table(void **state)
{
	static const char * const unsupported[] = {
		"nvmlDeviceGetSerial", "nvmlDeviceGetInforomVersion",
		"nvmlDeviceGetInforomImageVersion", "nvmlDeviceGetInforomConfigurationChecksum",
		"nvmlDeviceValidateInforom", "nvmlDeviceGetMaxPcieLinkGeneration",
		"nvmlDeviceGetMaxPcieLinkWidth", "nvmlDeviceGetCurrPcieLinkGeneration",
		"nvmlDeviceGetCurrPcieLinkWidth", "nvmlDeviceGetPcieThroughput",
		"nvmlDeviceGetPcieReplayCounter", "nvmlDeviceGetPcieSpeed",
		"nvmlDeviceGetFanSpeed", "nvmlDeviceGetFanSpeed_v2", "nvmlDeviceGetNumFans",
		"nvmlDeviceGetClock", "nvmlDeviceGetClockInfo", "nvmlDeviceGetMaxClockInfo",
		"nvmlDeviceGetApplicationsClock", "nvmlDeviceGetSupportedMemoryClocks",
		"nvmlDeviceGetSupportedGraphicsClocks", "nvmlDeviceGetTemperature",
		"nvmlDeviceGetTemperatureThreshold", "nvmlDeviceGetPowerState",
		"nvmlDeviceGetPowerUsage", "nvmlDeviceGetPowerManagementMode",
		"nvmlDeviceGetPowerManagementLimit", "nvmlDeviceGetEnforcedPowerLimit",
		"nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetEccMode",
		"nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetDetailedEccErrors",
		"nvmlDeviceGetMemoryErrorCounter", "nvmlDeviceGetRetiredPages",
		"nvmlDeviceGetBridgeChipInfo", "nvmlDeviceGetBoardPartNumber",
		"nvmlDeviceGetMultiGpuBoard", "nvmlDeviceSetComputeMode",
		"nvmlDeviceGetNvLinkState",
	};
	char line[160], name[64], what[64], text[80];
	FILE *list = fopen(NVML_LIST, "r");
	unsigned int i, nr = 0;
	nvmlGpuVirtualizationMode_t mode;
	nvmlComputeMode_t compute;

	/* Which functions these are: test_nvml_symbols calls the library as it is built. */
	assert_non_null(list);
	while (fgets(line, sizeof(line), list)) {
		if (sscanf(line, "%63s %63s", name, what) != 2)
			continue;
		for (i = 0; i < ARRAY_SIZE(unsupported); i++)
			if (!strcmp(name, unsupported[i])) {
				assert_string_equal(what, "not_supported");
				nr++;
			}
	}
	fclose(list);
	assert_int_equal(nr, ARRAY_SIZE(unsupported));
	nvml_guest_init();
	OK(nvmlDeviceGetVirtualizationMode(dev, &mode));
	assert_int_equal(mode, NVML_GPU_VIRTUALIZATION_MODE_VGPU);
	OK(nvmlDeviceSetVirtualizationMode(dev, mode));
	UNSUPPORTED(nvmlDeviceSetVirtualizationMode(dev, NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU));
	UNSUPPORTED(nvmlDeviceGetMigMode(dev, &nr, &nr));
	OK(nvmlDeviceGetVbiosVersion(dev, text, sizeof(text)));
	assert_string_equal(text, "00.00.00.00.00");
	OK(nvmlDeviceGetComputeMode(dev, &compute));
	assert_int_equal(compute, NVML_COMPUTEMODE_PROHIBITED);
	assert_int_equal(compute, 2);
}

/* The third word of the list of functions, or 0. */
static bool is_of_hosts(const char *wanted)
{
	char line[160], name[64], what[64], where[64];
	FILE *list = fopen(NVML_LIST, "r");
	bool found = false;

	assert_non_null(list);
	while (fgets(line, sizeof(line), list))
		if (sscanf(line, "%63s %63s %63s", name, what, where) == 3 && line[0] != '#') {
			assert_string_equal(what, "implemented");
			assert_string_equal(where, "host");
			found |= !strcmp(name, wanted);
		}
	fclose(list);
	return found;
}

/* What only a host has is NOT_SUPPORTED here, and nothing else that is implemented. */
static void test_of_hosts(void **state)
{
	uintptr_t arg[ARGS];
	unsigned int i, hosts = 0;
	nvmlReturn_t ret;

	nvml_guest_init();
	OK(nvmlEventSetCreate(&set));
	vgpu = 1;
	for (i = 0; i < rows_nr; i++) {
		row_prepare(&rows[i], arg);
		ret = row_call(&rows[i], arg);
		if (is_of_hosts(rows[i].name)) {
			hosts++;
			check_that(ret == NVML_ERROR_NOT_SUPPORTED, "%s: %d", rows[i].name, ret);
			continue;
		}
		/* There is no CUDA, no power and no other mode; and it has a wrong argument. */
		if (row_is(&rows[i], nvmlSystemGetCudaDriverVersion_v2) ||
		    row_is(&rows[i], nvmlDeviceGetSamples) ||
		    row_is(&rows[i], nvmlDeviceSetVirtualizationMode))
			check_that(ret == NVML_ERROR_NOT_SUPPORTED, "%s: %d", rows[i].name, ret);
		else if (row_is(&rows[i], nvmlDeviceGetHandleByPciBusId_v2))
			check_that(ret == NVML_ERROR_INVALID_ARGUMENT, "%s: %d", rows[i].name, ret);
		else if (row_is(&rows[i], nvmlDeviceGetHandleByUUID) ||
			 row_is(&rows[i], nvmlDeviceGetProcessUtilization))
			check_that(ret == NVML_ERROR_NOT_FOUND, "%s: %d", rows[i].name, ret);
		else if (row_is(&rows[i], nvmlEventSetWait) ||
			 row_is(&rows[i], nvmlEventSetWait_v2))
			check_that(ret == NVML_ERROR_TIMEOUT, "%s: %d", rows[i].name, ret);
		else
			check_that(!ret, "%s: %d", rows[i].name, ret);
	}
	assert_in_range(hosts, 60, rows_nr);
	OK(nvmlEventSetFree(set));
}

/* As health checks of clusters ask: a GPU without events is in order, one without sets is not. */
static void test_no_events(void **state)
{
	unsigned long long types = ~0ull;
	nvmlEventSet_t first, left;
	nvmlEventData_t data;

	nvml_guest_init();
	OK(nvmlEventSetCreate(&first));
	OK(nvmlEventSetCreate(&left));
	OK(nvmlDeviceGetSupportedEventTypes(dev, &types));
	assert_int_equal(types, nvmlEventTypeNone);
	OK(nvmlDeviceRegisterEvents(dev, nvmlEventTypeXidCriticalError & types, first));
	UNSUPPORTED(nvmlDeviceRegisterEvents(dev, nvmlEventTypeXidCriticalError, first));
	assert_int_equal(nvmlEventSetWait_v2(first, &data, 0), NVML_ERROR_TIMEOUT);
	OK(nvmlEventSetFree(first));
	assert_int_equal(nvmlEventSetWait_v2(first, &data, 0), NVML_ERROR_INVALID_ARGUMENT);
	/* The last nvmlShutdown() frees the other one. */
}

/* A guest of few engines, and one of a host that tells nothing of 1.3. */
static void test_old_host(void **state)
{
	nvmlGpuDynamicPstatesInfo_t info;
	char text[80], again[80];
	unsigned int i, period_us;
	nvmlUtilization_t rates;
	nvmlMemory_t memory;

	fake_node[0].info.nr_engines = 1;
	fake_node[0].usage.nr_engines = 1;
	nvml_guest_init();
	nvml_guest_rates(0, 0);
	UNSUPPORTED(nvmlDeviceGetEncoderUtilization(dev, &i, &period_us));
	OK(nvmlShutdown());
	memset(fake_node[0].info.uuid, 0, sizeof(fake_node[0].info.uuid));
	memset(fake_node[0].info.type, 0, sizeof(fake_node[0].info.type));
	fake_node[0].fail = DRM_IOCTL_VGPU_USAGE_QUERY;
	fake_node[0].error = EOPNOTSUPP;
	for (i = 0; i < 2; i++) {
		nvml_guest_init();
		OK(nvmlDeviceGetName(dev, text, sizeof(text)));
		assert_string_equal(text, "vGPU");
		OK(nvmlDeviceGetUUID(dev, text, sizeof(text)));
		/* Of its own, and the same at the next time; a driver of 1.0 has no room for it. */
		assert_string_not_equal(text, "GPU-00000000-0000-0000-0000-000000000000");
		if (i)
			assert_string_equal(text, again);
		strcpy(again, text);
		UNSUPPORTED(nvmlDeviceGetUtilizationRates(dev, &rates));
		UNSUPPORTED(nvmlDeviceGetDynamicPstatesInfo(dev, &info));
		OK(nvmlDeviceGetMemoryInfo(dev, &memory));
		OK(nvmlShutdown());
		fake_node[0].info_bytes = offsetof(struct drm_vgpu_dev_info, uuid);
		fake_node[0].error = ENOTTY;
	}
	fake_node[0].info_bytes--;
	assert_int_equal(try_init(), NVML_ERROR_UNKNOWN);
}

/* Without /proc and sysfs there is no address. */
static void test_node_only(void **state)
{
	nvmlDevice_t found;
	unsigned int count = 0;
	nvmlPciInfo_t pci;
	char text[80];

	fake_has_proc = false;
	fake_has_sysfs = false;
	fake_node[0].percent[0] = 33;
	nvml_guest_init();
	OK(nvmlDeviceGetName(dev, text, sizeof(text)));
	OK(nvmlDeviceGetUUID(dev, text, sizeof(text)));
	assert_string_equal(text, "GPU-fb000000-0000-0000-0000-000000000000");
	nvml_guest_rates(33, 0);
	OK(nvmlDeviceGetPciInfo_v3(dev, &pci));
	assert_string_equal(pci.busId, "00000000:00:00.0");
	assert_int_equal(pci.pciDeviceId, 0x10f11af4);
	assert_int_equal(nvmlDeviceGetHandleByPciBusId_v2("0000:00:00.0", &found),
			 NVML_ERROR_NOT_FOUND);
	UNSUPPORTED(nvmlDeviceGetGraphicsRunningProcesses_v3(dev, &count, NULL));
	UNSUPPORTED(nvmlDeviceGetProcessUtilization(dev, NULL, &count, 0));
}

/* Numbers that would lead astray. */
static void test_lies(void **state)
{
	nvmlUtilization_t rates;
	nvmlMemory_t memory;
	char text[80];

	fake_node[0].info.nr_engines = 33;
	assert_int_equal(try_init(), NVML_ERROR_UNKNOWN);
	fake_node[0].info.nr_engines = ~0u;
	assert_int_equal(try_init(), NVML_ERROR_UNKNOWN);
	fake_node_add(0, "");
	memset(fake_node[0].info.type, '\33', sizeof(fake_node[0].info.type));
	memset(fake_node[0].info.uuid, 0xff, sizeof(fake_node[0].info.uuid));
	fake_node[0].address = "a very long text that is the address of nothing at all";
	nvml_guest_init();
	OK(nvmlDeviceGetName(dev, text, sizeof(text)));
	assert_string_equal(text, "???????????????????????????????");
	fake_node[0].info.fb_free = fake_node[0].info.fb_bytes + 1;
	assert_int_equal(nvmlDeviceGetMemoryInfo(dev, &memory), NVML_ERROR_UNKNOWN);
	fake_clock(SEC);
	fake_node[0].usage.nr_engines = 32;
	assert_int_equal(nvmlDeviceGetUtilizationRates(dev, &rates), NVML_ERROR_UNKNOWN);
	fake_node[0].usage.nr_engines = FAKE_NODE_ENGINES;
	fake_node[0].usage.engine[0].service_ns = ~0ull;
	fake_node[0].usage.time_ns = ~0ull;
	OK(nvmlDeviceGetUtilizationRates(dev, &rates));
	assert_in_range(rates.gpu, 0, 100);
}

/* Whatever the driver answers, nothing is lost, and no function calls it a success. */
static void test_driver_refuses(void **state)
{
	static const int errors[] = { ENODEV, EPERM, ENOMEM, EIO, EFAULT };
	nvmlReturn_t right, ret;
	uintptr_t arg[ARGS];
	unsigned long calls;
	unsigned int i, e;

	nvml_guest_init();
	for (e = 0; e < ARRAY_SIZE(errors); e++)
		for (i = 0; i < rows_nr; i++) {
			fake_clock(SEC);
			row_prepare(&rows[i], arg);
			right = row_call(&rows[i], arg);
			fake_clock(SEC);
			calls = fake_node_calls();
			fake_node[0].error = errors[e];
			row_prepare(&rows[i], arg);
			ret = row_call(&rows[i], arg);
			fake_node[0].error = 0;
			if (fake_node_calls() == calls)
				check_that(ret == right, "%s: %d", rows[i].name, ret);
			else
				check_that(errors[e] == ENODEV ?
					   ret == NVML_ERROR_GPU_IS_LOST : ret,
					   "%s: %d", rows[i].name, ret);
		}
}

/* Each allocation fails once. */
static void test_no_memory(void **state)
{
	uintptr_t arg[ARGS];
	nvmlReturn_t ret;
	unsigned int i;
	int nr, before;

	fake_node_add(1, "SG16-1Q");
	fake_proc(10, 3, "drm-driver:\tvgpu_guest\ndrm-pdev:\t0000:00:04.0\n"
		  "drm-client-id:\t9\ndrm-resident-vram:\t5 KiB\n");
	for (nr = 1; ; nr++) {
		fake.fail_allocation = nr;
		ret = nvmlInit_v2();
		if (fake.fail_allocation)
			break;
		assert_int_equal(ret, NVML_ERROR_MEMORY);
		assert_int_equal(fake_allocations(), nvml_guest_allocations);
		assert_int_equal(fake_node_files(), 0);
	}
	assert_in_range(nr, 6, 100);
	fake.fail_allocation = 0;
	OK(ret);
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
	for (i = 0; i < rows_nr; i++)
		for (nr = 1; ; nr++) {
			/* What is kept from before is not needed again. */
			fake_clock(SEC);
			row_prepare(&rows[i], arg);
			before = fake_allocations();
			fake.fail_allocation = nr;
			ret = row_call(&rows[i], arg);
			check_that(fake_allocations() <= before + 2, "%s", rows[i].name);
			if (fake.fail_allocation) {
				fake.fail_allocation = 0;
				break;
			}
			check_that(ret == NVML_ERROR_MEMORY, "%s: %d", rows[i].name, ret);
		}
}

static void test_fork(void **state)
{
	int status = -1;
	pid_t pid;

	nvml_guest_init();
	fake_node[0].percent[0] = 60;
	pid = fork();
	if (!pid) {
		nvmlUtilization_t rates = { 0, 0 };

		fake_clock(SEC);
		_exit(nvmlDeviceGetUtilizationRates(dev, &rates) || rates.gpu != 60 ||
		      nvmlShutdown() || fake_node_files());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	fake_clock(SEC);
	nvml_guest_rates(60, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_GUEST(test_init),
		IN_GUEST(test_other_nodes),
		IN_GUEST(test_device),
		IN_GUEST(test_vendor_table),
		IN_GUEST(test_of_hosts),
		IN_GUEST(test_no_events),
		IN_GUEST(test_old_host),
		IN_GUEST(test_node_only),
		IN_GUEST(test_lies),
		IN_GUEST(test_driver_refuses),
		IN_GUEST(test_no_memory),
		IN_GUEST(test_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
