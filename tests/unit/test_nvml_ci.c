// SPDX-License-Identifier: GPL-2.0
/*
 * tools/libnvml: MIG: compute instances, MIG devices, handles of what is gone, and what other
 * functions tell of GPU instances.
 */
#include "vgpu_test.h"

#include "nvml_mig_world.h"

#define ROUNDS	50

static void check_ci_count(unsigned int profile, unsigned int there, unsigned int more)
{
	nvmlComputeInstance_t *list = malloc(sizeof(*list));
	unsigned int count = 77;
	nvmlDevice_t device;

	OK(nvmlGpuInstanceGetComputeInstances(gi, profile, NULL, &count));
	assert_int_equal(count, there);
	count = 0;
	OK(nvmlGpuInstanceGetComputeInstances(gi, profile, list, &count));
	assert_int_equal(count, there);
	OK(nvmlGpuInstanceGetComputeInstanceRemainingCapacity(gi, profile, &count));
	assert_int_equal(count, more);
	assert_int_equal(nvmlGpuInstanceGetComputeInstanceById(gi, 0, &ci),
			 there ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND);
	if (there)
		assert_ptr_equal(list[0], ci);
	assert_int_equal(nvmlGpuInstanceGetComputeInstanceById(gi, 1, &ci),
			 NVML_ERROR_NOT_FOUND);
	assert_int_equal(nvmlDeviceGetMigDeviceHandleByIndex(dev, 0, &device),
			 there ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND);
	free(list);
}

static void test_profiles(void **state)
{
	nvmlComputeInstanceProfileInfo_v3_t *third = calloc(1, sizeof(*third));
	nvmlComputeInstanceProfileInfo_v2_t *second = calloc(1, sizeof(*second));
	nvmlComputeInstancePlacement_t *place = malloc(sizeof(*place));
	nvmlComputeInstanceProfileInfo_t info;
	unsigned int i, count = 0;

	OK(nvmlDeviceCreateGpuInstance(dev, NVML_GPU_INSTANCE_PROFILE_3_SLICE, &gi));
	for (i = 0; i < NVML_COMPUTE_INSTANCE_PROFILE_COUNT; i++)
		if (i != NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE) {
			UNSUPPORTED(nvmlGpuInstanceGetComputeInstanceProfileInfo(gi, i, 0, &info));
			UNSUPPORTED(nvmlGpuInstanceCreateComputeInstance(gi, i, &ci));
		}
	INVALID(nvmlGpuInstanceGetComputeInstanceProfileInfo(gi, i, 0, &info));
	INVALID(nvmlGpuInstanceGetComputeInstanceProfileInfo(gi, 2, 1, &info));
	memset(&info, 0x77, sizeof(info));
	OK(nvmlGpuInstanceGetComputeInstanceProfileInfo(gi, 2, 0, &info));
	assert_int_equal(info.id, 2);
	assert_int_equal(info.sliceCount, 3);
	assert_int_equal(info.instanceCount, 1);
	assert_int_equal(info.multiprocessorCount, FAKE_UNITS * 3 / 7);
	assert_int_equal(info.sharedCopyEngineCount, 2);
	assert_int_equal(info.sharedDecoderCount, 1);
	assert_int_equal(info.sharedEncoderCount, 1);
	assert_int_equal(info.sharedJpegCount + info.sharedOfaCount, 0);
	second->version = NVML_STRUCT_VERSION(ComputeInstanceProfileInfo, 2);
	INVALID(nvmlGpuInstanceGetComputeInstanceProfileInfoV(gi, 2, 1, second));
	OK(nvmlGpuInstanceGetComputeInstanceProfileInfoV(gi, 2, 0, second));
	assert_memory_equal(&second->id, &info, sizeof(info));
	assert_string_equal(second->name, "MIG 3g.8gb");
	third->version = NVML_STRUCT_VERSION(ComputeInstanceProfileInfo, 3);
	third->capabilities = 77;
	OK(nvmlGpuInstanceGetComputeInstanceProfileInfoV(gi, 2, 0, (void *)third));
	assert_memory_equal(&third->id, &info, sizeof(info));
	assert_string_equal(third->name, second->name);
	assert_int_equal(third->capabilities, 0);
	OK(nvmlGpuInstanceGetComputeInstancePossiblePlacements(gi, 2, NULL, &count));
	assert_int_equal(count, 1);
	OK(nvmlGpuInstanceGetComputeInstancePossiblePlacements(gi, 2, place, &count));
	assert_true(place->start == 0 && place->size == 3);
	free(place);
	free(second);
	free(third);
}

/* One is there; this process creates it once, or destroys it and creates it again. */
static void test_one(void **state)
{
	nvmlComputeInstancePlacement_t place = { 0, 2 };
	nvmlComputeInstanceInfo_t info, old;
	nvmlComputeInstance_t first, second;
	nvmlDevice_t device, other;
	unsigned int id;
	char uuid[80];

	OK(nvmlDeviceCreateGpuInstance(dev, 1, &gi));
	check_ci_count(1, 1, 1);
	OK(nvmlGpuInstanceGetComputeInstanceById(gi, 0, &first));
	place.size = 1;
	INVALID(nvmlGpuInstanceCreateComputeInstanceWithPlacement(gi, 1, &place, &ci));
	place = (nvmlComputeInstancePlacement_t){ 1, 2 };
	INVALID(nvmlGpuInstanceCreateComputeInstanceWithPlacement(gi, 1, &place, &ci));
	INVALID(nvmlGpuInstanceCreateComputeInstanceWithPlacement(gi, 1, NULL, &ci));
	OK(nvmlGpuInstanceCreateComputeInstance(gi, 1, &second));
	assert_ptr_equal(first, second);
	check_ci_count(1, 1, 0);
	assert_int_equal(nvmlGpuInstanceCreateComputeInstance(gi, 1, &ci),
			 NVML_ERROR_INSUFFICIENT_RESOURCES);
	memset(&info, 0x77, sizeof(info));
	OK(nvmlComputeInstanceGetInfo_v2(first, &info));
	assert_ptr_equal(info.device, dev);
	assert_ptr_equal(info.gpuInstance, gi);
	assert_int_equal(info.id, 0);
	assert_int_equal(info.profileId, 1);
	assert_true(info.placement.start == 0 && info.placement.size == 2);
	memset(&old, 0x77, sizeof(old));
	OK(nvmlComputeInstanceGetInfo(first, &old));
	assert_memory_equal(&old, &info, offsetof(nvmlComputeInstanceInfo_t, placement));
	assert_int_equal(old.placement.size, 0x77777777);
	OK(nvmlDeviceGetMigDeviceHandleByIndex(dev, 0, &device));
	OK(nvmlDeviceGetUUID(device, uuid, sizeof(uuid)));

	fake_create(1, 0, 0, 0);
	fake_put(1, 1, 0);
	assert_int_equal(nvmlComputeInstanceDestroy(first), NVML_ERROR_IN_USE);
	fake_remove(1);
	OK(nvmlComputeInstanceDestroy(first));
	INVALID(nvmlComputeInstanceDestroy(first));
	INVALID(nvmlComputeInstanceGetInfo_v2(first, &info));
	INVALID(nvmlDeviceGetGpuInstanceId(device, &id));
	assert_int_equal(nvmlDeviceGetHandleByUUID(uuid, &other), NVML_ERROR_NOT_FOUND);
	check_ci_count(1, 0, 1);
	place = (nvmlComputeInstancePlacement_t){ 0, 2 };
	OK(nvmlGpuInstanceCreateComputeInstanceWithPlacement(gi, 1, &place, &second));
	assert_ptr_not_equal(first, second);
	check_ci_count(1, 1, 0);
	INVALID(nvmlComputeInstanceGetInfo_v2(first, &info));
	INVALID(nvmlDeviceGetGpuInstanceId(device, &id));
	OK(nvmlDeviceGetHandleByUUID(uuid, &other));
	assert_ptr_not_equal(other, device);
	/* It goes with its GPU instance. */
	OK(nvmlGpuInstanceDestroy(gi));
	INVALID(nvmlComputeInstanceDestroy(second));
}

/* What two runs of a program do: each knows nothing of the other's. */
static void test_two_runs(void **state)
{
	OK(nvmlDeviceCreateGpuInstance(dev, 0, &gi));
	OK(nvmlShutdown());
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
	INVALID(nvmlGpuInstanceCreateComputeInstance(gi, 0, &ci));
	OK(nvmlDeviceGetGpuInstanceById(dev, 1, &gi));
	OK(nvmlGpuInstanceCreateComputeInstance(gi, 0, &ci));
	OK(nvmlComputeInstanceDestroy(ci));
	OK(nvmlShutdown());
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
	OK(nvmlDeviceGetGpuInstanceById(dev, 1, &gi));
	check_ci_count(0, 1, 1);
	OK(nvmlGpuInstanceDestroy(gi));
}

static nvmlDevice_t by_index(unsigned int index)
{
	nvmlDevice_t device;

	OK(nvmlDeviceGetMigDeviceHandleByIndex(dev, index, &device));
	return device;
}

static void check_device(nvmlDevice_t device, unsigned int id, const char *wanted,
			 unsigned int slices, unsigned int gb)
{
	nvmlMemory_v2_t second = { .version = NVML_STRUCT_VERSION(Memory, 2) };
	nvmlDeviceAttributes_t attrs, old;
	char text[80];
	nvmlDevice_t other;
	nvmlMemory_t memory;
	unsigned int value;

	OK(nvmlDeviceIsMigDeviceHandle(device, &value));
	assert_int_equal(value, 1);
	OK(nvmlDeviceGetGpuInstanceId(device, &value));
	assert_int_equal(value, id);
	OK(nvmlDeviceGetComputeInstanceId(device, &value));
	assert_int_equal(value, 0);
	OK(nvmlDeviceGetDeviceHandleFromMigDeviceHandle(device, &other));
	assert_ptr_equal(other, dev);
	OK(nvmlDeviceGetName(device, text, sizeof(text)));
	assert_string_equal(text, wanted);
	assert_int_equal(nvmlDeviceGetName(device, text, strlen(wanted)),
			 NVML_ERROR_INSUFFICIENT_SIZE);
	OK(nvmlDeviceGetUUID(device, text, sizeof(text)));
	assert_true(!strncmp(text, "MIG-", 4) && strlen(text) == 40);
	OK(nvmlDeviceGetHandleByUUID(text, &other));
	assert_ptr_equal(other, device);
	OK(nvmlDeviceGetMemoryInfo(device, &memory));
	assert_int_equal(memory.total, (unsigned long long)gb << 30);
	assert_int_equal(memory.used + memory.free, memory.total);
	OK(nvmlDeviceGetMemoryInfo_v2(device, &second));
	assert_int_equal(second.total, memory.total);
	memset(&attrs, 0x77, sizeof(attrs));
	OK(nvmlDeviceGetAttributes_v2(device, &attrs));
	assert_int_equal(attrs.multiprocessorCount, FAKE_UNITS * slices / 7);
	assert_int_equal(attrs.sharedCopyEngineCount, 2);
	assert_int_equal(attrs.sharedDecoderCount, 1);
	assert_int_equal(attrs.sharedEncoderCount, 1);
	assert_int_equal(attrs.sharedJpegCount + attrs.sharedOfaCount, 0);
	assert_int_equal(attrs.gpuInstanceSliceCount, slices);
	assert_int_equal(attrs.computeInstanceSliceCount, slices);
	assert_int_equal(attrs.memorySizeMB, gb << 10);
	memset(&old, 0x77, sizeof(old));
	OK(nvmlDeviceGetAttributes(device, &old));
	assert_memory_equal(&old, &attrs, 24);
	assert_int_equal(old.gpuInstanceSliceCount, 0x77777777);
}

static void test_devices(void **state)
{
	nvmlDevice_t device = NULL;
	unsigned int value;

	assert_int_equal(nvmlDeviceGetMigDeviceHandleByIndex(dev, 0, &device),
			 NVML_ERROR_NOT_FOUND);
	fake_part_new(0, "3g", 4);
	fake_part_new(0, "1g", 2);
	fake_part_new(0, "2g", 0);
	/* In the order of their places. */
	check_device(by_index(0), 3, "SG16 MIG 2g.4gb", 2, 4);
	check_device(by_index(1), 2, "SG16 MIG 1g.2gb", 1, 2);
	check_device(by_index(2), 1, "SG16 MIG 3g.8gb", 3, 8);
	assert_int_equal(nvmlDeviceGetMigDeviceHandleByIndex(dev, 3, &device),
			 NVML_ERROR_NOT_FOUND);
	assert_int_equal(nvmlDeviceGetMigDeviceHandleByIndex(dev, ~0u, &device),
			 NVML_ERROR_NOT_FOUND);
	device = by_index(2);
	fake_part_remove(0, 2);
	assert_ptr_equal(by_index(1), device);
	OK(nvmlDeviceIsMigDeviceHandle(dev, &value));
	assert_int_equal(value, 0);
	UNSUPPORTED(nvmlDeviceGetGpuInstanceId(dev, &value));
	UNSUPPORTED(nvmlDeviceGetComputeInstanceId(dev, &value));
	INVALID(nvmlDeviceGetDeviceHandleFromMigDeviceHandle(dev, &device));
}

/* What a profile says of units is what its compute instance and its MIG device have. */
static void check_units(unsigned int profile, unsigned int slices)
{
	unsigned int wanted = fake.units * slices / 7 ?: 1;
	nvmlComputeInstanceProfileInfo_t of_ci;
	nvmlGpuInstanceProfileInfo_t of_gi;
	nvmlDeviceAttributes_t attrs;

	OK(nvmlDeviceGetGpuInstanceProfileInfo(dev, profile, &of_gi));
	assert_int_equal(of_gi.multiprocessorCount, wanted);
	OK(nvmlDeviceCreateGpuInstance(dev, profile, &gi));
	OK(nvmlGpuInstanceGetComputeInstanceProfileInfo(gi, profile, 0, &of_ci));
	assert_int_equal(of_ci.multiprocessorCount, wanted);
	OK(nvmlDeviceGetAttributes_v2(by_index(0), &attrs));
	assert_int_equal(attrs.multiprocessorCount, wanted);
	OK(nvmlGpuInstanceDestroy(gi));
}

/* Also of partitions that share CPUs in time, of which the driver tells all units. */
static void test_units(void **state)
{
	static const unsigned int slices[] = { 1, 2, 3, 4, 7 };
	unsigned int units, i;

	for (units = 1; units <= FAKE_UNITS; units++) {
		OK(nvmlShutdown());
		fake.units = units;
		OK(nvmlInit_v2());
		OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
		for (i = 0; i < 2 * ARRAY_SIZE(slices); i++) {
			fake.share_time = i % 2;
			check_units(i / 2, slices[i / 2]);
		}
	}
}

/* It is that of the place, on each GPU another one, and not of what is not there. */
static void test_uuid(void **state)
{
	char first[80], text[80];
	nvmlDevice_t device, old, second;

	fake_part_new(0, "3g", 4);
	old = by_index(0);
	OK(nvmlDeviceGetUUID(old, first, sizeof(first)));
	fake_part_remove(0, 1);
	assert_int_equal(nvmlDeviceGetHandleByUUID(first, &device), NVML_ERROR_NOT_FOUND);
	fake_part_new(0, "3g", 0);
	OK(nvmlDeviceGetUUID(by_index(0), text, sizeof(text)));
	assert_string_not_equal(text, first);
	fake_part_new(0, "3g", 4);
	OK(nvmlDeviceGetHandleByUUID(first, &device));
	assert_ptr_equal(device, by_index(1));
	assert_ptr_not_equal(device, old);
	OK(nvmlDeviceGetHandleByIndex_v2(1, &dev));
	fake_part_new(1, "3g", 4);
	OK(nvmlDeviceGetUUID(by_index(0), text, sizeof(text)));
	assert_string_not_equal(text, first);
	OK(nvmlDeviceGetHandleByUUID(text, &second));
	OK(nvmlDeviceGetDeviceHandleFromMigDeviceHandle(second, &device));
	assert_ptr_equal(device, dev);
	/* The same for a process that begins anew. */
	OK(nvmlShutdown());
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByUUID(first, &device));
	assert_int_equal(nvmlDeviceGetHandleByUUID("MIG-", &device), NVML_ERROR_NOT_FOUND);
	assert_int_equal(nvmlDeviceGetHandleByUUID(first + 4, &device), NVML_ERROR_NOT_FOUND);
}

static bool takes_mig_device(const struct row *row)
{
	return row_is(row, nvmlDeviceGetName) || row_is(row, nvmlDeviceGetUUID) ||
	       row_is(row, nvmlDeviceGetMemoryInfo) || row_is(row, nvmlDeviceGetMemoryInfo_v2) ||
	       row_is(row, nvmlDeviceIsMigDeviceHandle) ||
	       row_is(row, nvmlDeviceGetGpuInstanceId) ||
	       row_is(row, nvmlDeviceGetComputeInstanceId) ||
	       row_is(row, nvmlDeviceGetDeviceHandleFromMigDeviceHandle) ||
	       row_is(row, nvmlDeviceGetAttributes_v2) || row_is(row, nvmlDeviceGetAttributes) ||
	       row_is(row, nvmlDeviceGetGraphicsRunningProcesses_v3) ||
	       row_is(row, nvmlDeviceGetGraphicsRunningProcesses) ||
	       row_is(row, nvmlDeviceGetComputeRunningProcesses_v3) ||
	       row_is(row, nvmlDeviceGetComputeRunningProcesses);
}

/* Calls all functions of GPUs with that handle. */
static void call_all(nvmlDevice_t device, nvmlReturn_t of_some, nvmlReturn_t of_others)
{
	uintptr_t arg[ARGS];
	unsigned int i;

	for (i = 0; i < rows_nr; i++)
		if (rows[i].args[0] == 'd') {
			row_prepare(&rows[i], arg);
			arg[0] = (uintptr_t)device;
			row_check(&rows[i], arg, takes_mig_device(&rows[i]) ? of_some : of_others);
		}
}

/* What is not of MIG devices is not supported; what is gone is invalid. */
static void test_device_everywhere(void **state)
{
	nvmlDevice_t device;

	OK(nvmlEventSetCreate(&set));
	fake_part_new(0, "2g", 2);
	device = by_index(0);
	call_all(device, NVML_SUCCESS, NVML_ERROR_NOT_SUPPORTED);
	fake_part_remove(0, 1);
	call_all(device, NVML_ERROR_INVALID_ARGUMENT, NVML_ERROR_INVALID_ARGUMENT);
}

/* Handles of one kind are none of another, and those of what is gone are nobody's. */
static void test_handles(void **state)
{
	uintptr_t bad[5], arg[ARGS];
	nvmlDevice_t device;
	unsigned int i, k;

	OK(nvmlDeviceCreateGpuInstance(dev, 1, &gi));
	OK(nvmlGpuInstanceGetComputeInstanceById(gi, 0, &ci));
	device = by_index(0);
	bad[0] = (uintptr_t)device;
	bad[1] = (uintptr_t)dev;
	OK(nvmlGpuInstanceDestroy(gi));
	bad[2] = (uintptr_t)gi;
	bad[3] = (uintptr_t)ci;
	bad[4] = 0;
	OK(nvmlDeviceCreateGpuInstance(dev, 1, &gi));
	for (i = 0; i < rows_nr; i++) {
		if (!strchr("gc", rows[i].args[0]))
			continue;
		for (k = 0; k < ARRAY_SIZE(bad); k++) {
			row_prepare(&rows[i], arg);
			arg[0] = bad[k];
			row_check(&rows[i], arg, NVML_ERROR_INVALID_ARGUMENT);
		}
		/* The other kind of an instance that is there. */
		OK(nvmlGpuInstanceGetComputeInstanceById(gi, 0, &ci));
		arg[0] = (uintptr_t)(rows[i].args[0] == 'g' ? (void *)ci : (void *)gi);
		row_check(&rows[i], arg, NVML_ERROR_INVALID_ARGUMENT);
	}
	call_all((nvmlDevice_t)gi, NVML_ERROR_INVALID_ARGUMENT, NVML_ERROR_INVALID_ARGUMENT);
}

/* However many there were, none has a handle of an earlier one. */
static void test_many(void **state)
{
	static nvmlGpuInstance_t all[ROUNDS * 7];
	nvmlGpuInstanceInfo_t info;
	unsigned int i, k, nr = 0;

	for (i = 0; i < ROUNDS; i++) {
		for (k = 0; k < 7; k++)
			OK(nvmlDeviceCreateGpuInstance(dev, 0, &all[nr++]));
		assert_int_equal(nvmlDeviceCreateGpuInstance(dev, 0, &gi),
				 NVML_ERROR_INSUFFICIENT_RESOURCES);
		by_index(6);
		for (k = nr - 7; k < nr; k++) {
			OK(nvmlGpuInstanceGetInfo(all[k], &info));
			assert_int_equal(info.id, k + 1);
			if (k % 2)
				OK(nvmlGpuInstanceDestroy(all[k]));
			else
				fake_part_remove(0, k + 1);
		}
	}
	for (i = 0; i < nr; i++)
		INVALID(nvmlGpuInstanceGetInfo(all[i], &info));
}

/* What other functions tell of vGPUs in instances. */
static void test_vgpus(void **state)
{
	nvmlProcessInfo_t infos[4];
	nvmlProcessInfo_v1_t old[4];
	unsigned int count = 4, value, i, of_whole = 0;
	nvmlVgpuInstance_t ids[4];
	nvmlVgpuTypeId_t types[64];
	nvmlEventData_t data;
	nvmlMemory_t memory;
	char name[64], wanted[8];

	fake_part_new(0, "3g", 0);
	fake_part_new(0, "1g", 4);
	fake_create(1, 0, 0, 0);
	fake_put(1, 2, 0);
	fake_start(1, 101);
	fake_create(2, 0, 0, 0);
	fake_start(2, 102);
	OK(nvmlDeviceGetActiveVgpus(dev, &count, ids));
	OK(nvmlVgpuInstanceGetGpuInstanceId(ids[0], &value));
	assert_int_equal(value, 2);
	OK(nvmlVgpuInstanceGetGpuInstanceId(ids[1], &value));
	assert_int_equal(value, NVML_NO_INSTANCE);
	count = 4;
	OK(nvmlDeviceGetGraphicsRunningProcesses_v3(dev, &count, infos));
	assert_int_equal(count, 2);
	assert_true(infos[0].gpuInstanceId == 2 && infos[0].computeInstanceId == 0);
	assert_true(infos[1].gpuInstanceId == NVML_NO_INSTANCE &&
		    infos[1].computeInstanceId == NVML_NO_INSTANCE);
	/* Of MIG devices their own. */
	OK(nvmlDeviceGetGraphicsRunningProcesses_v3(by_index(1), &count, infos));
	assert_int_equal(count, 1);
	assert_int_equal(infos[0].pid, 101);
	OK(nvmlDeviceGetGraphicsRunningProcesses(by_index(0), &count, old));
	assert_int_equal(count, 0);
	OK(nvmlDeviceGetMemoryInfo(by_index(1), &memory));
	assert_int_equal(memory.used, 1 << 30);

	OK(nvmlEventSetCreate(&set));
	OK(nvmlDeviceRegisterEvents(dev, nvmlEventTypeXidCriticalError, set));
	fake_fault(1);
	fake_fault(2);
	OK(nvmlEventSetWait_v2(set, &data, 1000));
	assert_true(data.gpuInstanceId == 2 && data.computeInstanceId == 0);
	OK(nvmlEventSetWait_v2(set, &data, 1000));
	assert_true(data.gpuInstanceId == NVML_NO_INSTANCE &&
		    data.computeInstanceId == NVML_NO_INSTANCE);

	count = 64;
	OK(nvmlDeviceGetSupportedVgpus(dev, &count, types));
	for (i = 0; i < count; i++) {
		static const unsigned int slices[] = { 1, 2, 3, 4, 7 };
		unsigned int size = sizeof(name);

		OK(nvmlVgpuTypeGetName(types[i], name, &size));
		OK(nvmlVgpuTypeGetGpuInstanceProfileId(types[i], &value));
		of_whole += value == NVML_NO_INSTANCE;
		if (value == NVML_NO_INSTANCE)
			continue;
		sprintf(wanted, "-%u-", slices[value]);
		check_that(strstr(name, wanted), "%s: %u", name, value);
	}
	assert_in_range(of_whole, 5, count - 5);
	OK(nvmlDeviceGetVgpuCapabilities(dev, NVML_DEVICE_VGPU_CAP_MIG_TIMESLICING_SUPPORTED,
					 &value));
	assert_int_equal(value, 1);
}

#define MIG(test)	cmocka_unit_test_setup_teardown(test, mig_begin, mig_end)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		MIG(test_profiles),
		MIG(test_one),
		MIG(test_two_runs),
		MIG(test_devices),
		MIG(test_units),
		MIG(test_uuid),
		MIG(test_device_everywhere),
		MIG(test_handles),
		MIG(test_many),
		MIG(test_vgpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
