// SPDX-License-Identifier: GPL-2.0
/* tools/libnvml: MIG: the mode, profiles, GPU instances. Compute instances: test_nvml_ci.c. */
#include "vgpu_test.h"

#include <errno.h>

#include "core/objects/profile.h"

#include "nvml_mig_world.h"

/* What there is only while the GPU is divided. */
static void check_off(void)
{
	nvmlGpuInstanceProfileInfo_t info;
	unsigned int count = 77;
	nvmlDevice_t device;

	UNSUPPORTED(nvmlDeviceGetGpuInstanceProfileInfo(dev, 0, &info));
	UNSUPPORTED(nvmlDeviceGetGpuInstancePossiblePlacements_v2(dev, 0, NULL, &count));
	UNSUPPORTED(nvmlDeviceGetGpuInstanceRemainingCapacity(dev, 0, &count));
	UNSUPPORTED(nvmlDeviceCreateGpuInstance(dev, 0, &gi));
	UNSUPPORTED(nvmlDeviceGetGpuInstances(dev, 0, NULL, &count));
	UNSUPPORTED(nvmlDeviceGetGpuInstanceById(dev, 1, &gi));
	UNSUPPORTED(nvmlDeviceGetMigDeviceHandleByIndex(dev, 0, &device));
	OK(nvmlDeviceGetMaxMigDeviceCount(dev, &count));
	assert_int_equal(count, 0);
}

static void check_mode(unsigned int wanted)
{
	unsigned int current = 77, pending = 77;

	OK(nvmlDeviceGetMigMode(dev, &current, &pending));
	assert_int_equal(current, wanted);
	assert_int_equal(pending, wanted);
}

/* Refusals are returned, and are what the activation says. */
static void refuse_mode(unsigned int mode, nvmlReturn_t wanted)
{
	nvmlReturn_t activation = 77;

	assert_int_equal(nvmlDeviceSetMigMode(dev, mode, &activation), wanted);
	assert_int_equal(activation, wanted);
}

static void set_mode(unsigned int mode)
{
	refuse_mode(mode, NVML_SUCCESS);
	check_mode(mode);
}

static void test_mode(void **state)
{
	nvmlReturn_t activation;

	check_mode(NVML_DEVICE_MIG_DISABLE);
	check_off();
	assert_int_equal(nvmlDeviceSetMigMode(dev, 2, &activation), NVML_ERROR_INVALID_ARGUMENT);
	fake.set_error = EPERM;
	refuse_mode(NVML_DEVICE_MIG_ENABLE, NVML_ERROR_NO_PERMISSION);
	fake.set_error = 0;
	fake_create(1, 0, 0, 0);
	refuse_mode(NVML_DEVICE_MIG_ENABLE, NVML_ERROR_IN_USE);
	check_mode(NVML_DEVICE_MIG_DISABLE);
	fake_remove(1);
	set_mode(NVML_DEVICE_MIG_ENABLE);
	set_mode(NVML_DEVICE_MIG_ENABLE);
	OK(nvmlDeviceCreateGpuInstance(dev, NVML_GPU_INSTANCE_PROFILE_2_SLICE, &gi));
	refuse_mode(NVML_DEVICE_MIG_DISABLE, NVML_ERROR_IN_USE);
	check_mode(NVML_DEVICE_MIG_ENABLE);
	OK(nvmlGpuInstanceDestroy(gi));
	set_mode(NVML_DEVICE_MIG_DISABLE);
	check_off();
	/* Others change it, too. */
	fake_part_mode(0, true);
	check_mode(NVML_DEVICE_MIG_ENABLE);
}

/* A back end without partitions, and a driver that does not know of them. */
static void test_cannot(void **state)
{
	unsigned int current, pending;

	UNSUPPORTED(nvmlDeviceGetMigMode(dev, &current, &pending));
	refuse_mode(NVML_DEVICE_MIG_ENABLE, NVML_ERROR_NOT_SUPPORTED);
	refuse_mode(NVML_DEVICE_MIG_DISABLE, NVML_ERROR_NOT_SUPPORTED);
	check_off();
	fake.refuse[_IOC_NR(VGPU_IOC_PARTITION_MODE) - 0xb0] = ENOTTY;
	refuse_mode(NVML_DEVICE_MIG_ENABLE, NVML_ERROR_NOT_SUPPORTED);
}

static void check_v1(unsigned int profile, const struct vgpu_profile *wanted)
{
	nvmlGpuInstanceProfileInfo_t info;

	memset(&info, 0x77, sizeof(info));
	OK(nvmlDeviceGetGpuInstanceProfileInfo(dev, profile, &info));
	assert_int_equal(info.id, profile);
	assert_int_equal(info.isP2pSupported, 0);
	assert_int_equal(info.sliceCount, wanted->slices);
	assert_int_equal(info.instanceCount, __builtin_popcount(wanted->starts));
	assert_int_equal(info.multiprocessorCount, vgpu_profile_units(wanted, fake.units));
	assert_int_equal(info.copyEngineCount, 2);
	assert_int_equal(info.decoderCount, 1);
	assert_int_equal(info.encoderCount, 1);
	assert_int_equal(info.jpegCount + info.ofaCount, 0);
	assert_int_equal(info.memorySizeMB, wanted->eighths * 2048);
}

/* On the heap, as long as the version says. */
static void check_versions(unsigned int profile, const struct vgpu_profile *wanted)
{
	nvmlGpuInstanceProfileInfo_v3_t *third = calloc(1, sizeof(*third));
	nvmlGpuInstanceProfileInfo_v2_t *second = calloc(1, sizeof(*second));
	char name[32];

	sprintf(name, "MIG %s.%ugb", wanted->name, wanted->eighths * 2);
	second->version = NVML_STRUCT_VERSION(GpuInstanceProfileInfo, 2);
	OK(nvmlDeviceGetGpuInstanceProfileInfoV(dev, profile, second));
	assert_int_equal(second->version, NVML_STRUCT_VERSION(GpuInstanceProfileInfo, 2));
	assert_int_equal(second->id, profile);
	assert_int_equal(second->sliceCount, wanted->slices);
	assert_int_equal(second->memorySizeMB, wanted->eighths * 2048);
	assert_string_equal(second->name, name);
	third->version = NVML_STRUCT_VERSION(GpuInstanceProfileInfo, 3);
	OK(nvmlDeviceGetGpuInstanceProfileInfoByIdV(dev, second->id, (void *)third));
	assert_int_equal(third->version, NVML_STRUCT_VERSION(GpuInstanceProfileInfo, 3));
	assert_int_equal(third->id, profile);
	assert_int_equal(third->sliceCount, wanted->slices);
	assert_int_equal(third->instanceCount, second->instanceCount);
	assert_int_equal(third->multiprocessorCount, vgpu_profile_units(wanted, fake.units));
	assert_int_equal(third->copyEngineCount, 2);
	assert_int_equal(third->decoderCount, 1);
	assert_int_equal(third->encoderCount, 1);
	assert_int_equal(third->memorySizeMB, wanted->eighths * 2048);
	assert_string_equal(third->name, name);
	assert_int_equal(third->capabilities, 0);
	second->version = NVML_STRUCT_VERSION(GpuInstanceProfileInfo, 2) + 1;
	assert_int_equal(nvmlDeviceGetGpuInstanceProfileInfoV(dev, profile, second),
			 NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	free(second);
	free(third);
}

static void test_profiles(void **state)
{
	nvmlGpuInstanceProfileInfo_t info;
	unsigned int i;

	for (i = 0; i < VGPU_PROFILES; i++) {
		check_v1(i, &vgpu_profiles[i]);
		check_versions(i, &vgpu_profiles[i]);
	}
	for (; i < NVML_GPU_INSTANCE_PROFILE_COUNT; i++) {
		UNSUPPORTED(nvmlDeviceGetGpuInstanceProfileInfo(dev, i, &info));
		UNSUPPORTED(nvmlDeviceCreateGpuInstance(dev, i, &gi));
	}
	INVALID(nvmlDeviceGetGpuInstanceProfileInfo(dev, i, &info));
	INVALID(nvmlDeviceGetGpuInstanceProfileInfo(dev, ~0u, &info));
	INVALID(nvmlDeviceCreateGpuInstance(dev, ~0u, &gi));
	OK(nvmlDeviceGetMaxMigDeviceCount(dev, &i));
	assert_int_equal(i, 7);
}

/* Some profiles of a GPU with few units have as many, and none has nothing. */
static void test_few_units(void **state)
{
	unsigned int i;

	for (i = 1; i <= 7; i += 2) {
		OK(nvmlShutdown());
		fake.units = i;
		OK(nvmlInit_v2());
		OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
		test_profiles(state);
	}
}

/* A GPU with profiles that would not be whole GiB has not these. */
static void test_odd_memory(void **state)
{
	nvmlGpuInstanceProfileInfo_t info;
	unsigned int count;

	OK(nvmlShutdown());
	fake.fb_gb = 4;
	fake_load();
	fake_part_mode(0, true);
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
	UNSUPPORTED(nvmlDeviceGetGpuInstanceProfileInfo(dev, 0, &info));
	UNSUPPORTED(nvmlDeviceCreateGpuInstance(dev, 0, &gi));
	OK(nvmlDeviceGetGpuInstanceProfileInfo(dev, 1, &info));
	assert_int_equal(info.memorySizeMB, 1024);
	OK(nvmlDeviceGetMaxMigDeviceCount(dev, &count));
	assert_int_equal(count, 3);
}

static void test_placements(void **state)
{
	unsigned int i, k, count, nr, places;
	nvmlGpuInstancePlacement_t *p;

	for (i = 0; i < VGPU_PROFILES; i++) {
		places = __builtin_popcount(vgpu_profiles[i].starts);
		count = 77;
		OK(nvmlDeviceGetGpuInstancePossiblePlacements_v2(dev, i, NULL, &count));
		assert_int_equal(count, places);
		p = malloc(count * sizeof(*p));
		count = 0;
		OK(nvmlDeviceGetGpuInstancePossiblePlacements_v2(dev, i, p, &count));
		assert_int_equal(count, places);
		for (k = nr = 0; k < VGPU_PROFILE_EIGHTHS; k++) {
			if (!(vgpu_profiles[i].starts & 1 << k))
				continue;
			assert_int_equal(p[nr].start, k);
			assert_int_equal(p[nr++].size, vgpu_profiles[i].eighths);
		}
		free(p);
	}
	/* They are told also if none is free. */
	OK(nvmlDeviceCreateGpuInstance(dev, NVML_GPU_INSTANCE_PROFILE_7_SLICE, &gi));
	OK(nvmlDeviceGetGpuInstancePossiblePlacements_v2(dev, 0, NULL, &count));
	assert_int_equal(count, 7);
}

static void check_capacity(const unsigned int *wanted)
{
	unsigned int i, count;

	for (i = 0; i < VGPU_PROFILES; i++) {
		OK(nvmlDeviceGetGpuInstanceRemainingCapacity(dev, i, &count));
		check_that(count == wanted[i], "%s: %u, not %u", vgpu_profiles[i].name, count,
			   wanted[i]);
	}
}

static void test_capacity(void **state)
{
	static const unsigned int all[] = { 7, 3, 2, 1, 1 }, beside_3g[] = { 4, 2, 1, 1, 0 },
				  none[] = { 0, 0, 0, 0, 0 };
	nvmlGpuInstancePlacement_t place = { 4, 4 };
	nvmlGpuInstance_t second;

	check_capacity(all);
	OK(nvmlDeviceCreateGpuInstanceWithPlacement(dev, 2, &place, &gi));
	check_capacity(beside_3g);
	OK(nvmlDeviceCreateGpuInstance(dev, 3, &second));
	check_capacity(none);
	assert_int_equal(nvmlDeviceCreateGpuInstance(dev, 0, &second),
			 NVML_ERROR_INSUFFICIENT_RESOURCES);
	OK(nvmlGpuInstanceDestroy(second));
	check_capacity(beside_3g);
	fake_part_remove(0, 1);
	check_capacity(all);
}

static void test_create_refused(void **state)
{
	static const nvmlGpuInstancePlacement_t bad[] = {
		{ 1, 2 }, { 6, 2 }, { 8, 2 }, { ~0u, 2 }, { 0, 1 }, { 0, 3 }, { 0, 0 }, { 0, ~0u },
	};
	nvmlGpuInstancePlacement_t place = { 2, 2 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		INVALID(nvmlDeviceCreateGpuInstanceWithPlacement(dev, 1, &bad[i], &gi));
	INVALID(nvmlDeviceCreateGpuInstanceWithPlacement(dev, 1, NULL, &gi));
	INVALID(nvmlDeviceCreateGpuInstanceWithPlacement(dev, 1, &place, NULL));
	fake.set_error = EPERM;
	assert_int_equal(nvmlDeviceCreateGpuInstance(dev, 1, &gi), NVML_ERROR_NO_PERMISSION);
	fake.set_error = ENOMEM;
	assert_int_equal(nvmlDeviceCreateGpuInstance(dev, 1, &gi), NVML_ERROR_MEMORY);
	fake.set_error = 0;
	OK(nvmlDeviceCreateGpuInstanceWithPlacement(dev, 1, &place, &gi));
	assert_int_equal(nvmlDeviceCreateGpuInstanceWithPlacement(dev, 1, &place, &gi),
			 NVML_ERROR_INSUFFICIENT_RESOURCES);
	/* Somebody removes it as soon as it is there. */
	fake_part_flees = 2;
	assert_int_equal(nvmlDeviceCreateGpuInstance(dev, 1, &gi), NVML_ERROR_NOT_FOUND);
}

static void check_info(nvmlGpuInstance_t which, unsigned int id, unsigned int profile,
		       unsigned int start, unsigned int size)
{
	nvmlGpuInstanceInfo_t info;
	nvmlGpuInstance_t same;

	memset(&info, 0x77, sizeof(info));
	OK(nvmlGpuInstanceGetInfo(which, &info));
	assert_ptr_equal(info.device, dev);
	assert_int_equal(info.id, id);
	assert_int_equal(info.profileId, profile);
	assert_int_equal(info.placement.start, start);
	assert_int_equal(info.placement.size, size);
	OK(nvmlDeviceGetGpuInstanceById(dev, id, &same));
	assert_ptr_equal(same, which);
}

/* Its own, and others'; the count that is given means nothing. */
static void test_instances(void **state)
{
	nvmlGpuInstance_t *list = malloc(3 * sizeof(*list));
	unsigned int count = 0;

	OK(nvmlDeviceGetGpuInstances(dev, 1, list, &count));
	assert_int_equal(count, 0);
	assert_int_equal(fake_part_new(0, "2g", 4), 1);
	OK(nvmlDeviceCreateGpuInstance(dev, 2, &gi));
	check_info(gi, 2, 2, 0, 4);
	OK(nvmlDeviceGetGpuInstances(dev, 1, list, &count));
	assert_int_equal(count, 1);
	check_info(list[0], 1, 1, 4, 2);
	assert_int_equal(fake_part_new(0, "1g", 6), 3);
	count = ~0u;
	OK(nvmlDeviceGetGpuInstances(dev, 0, list, &count));
	assert_int_equal(count, 1);
	check_info(list[0], 3, 0, 6, 1);
	count = 0;
	OK(nvmlDeviceGetGpuInstances(dev, 2, NULL, &count));
	assert_int_equal(count, 1);
	OK(nvmlDeviceGetGpuInstances(dev, 2, list, &count));
	assert_ptr_equal(list[0], gi);
	OK(nvmlDeviceGetGpuInstances(dev, 3, list, &count));
	assert_int_equal(count, 0);
	assert_int_equal(nvmlDeviceGetGpuInstanceById(dev, 0, &gi), NVML_ERROR_NOT_FOUND);
	assert_int_equal(nvmlDeviceGetGpuInstanceById(dev, 4, &gi), NVML_ERROR_NOT_FOUND);
	fake_part_flees = 2;
	OK(nvmlDeviceGetGpuInstances(dev, 2, list, &count));
	assert_int_equal(count, 0);
	free(list);
}

static void test_destroy(void **state)
{
	nvmlGpuInstance_t kept;

	OK(nvmlDeviceCreateGpuInstance(dev, 1, &gi));
	fake.set_error = EPERM;
	assert_int_equal(nvmlGpuInstanceDestroy(gi), NVML_ERROR_NO_PERMISSION);
	fake.set_error = 0;
	fake_create(1, 0, 0, 0);
	fake_put(1, 1, 0);
	assert_int_equal(nvmlGpuInstanceDestroy(gi), NVML_ERROR_IN_USE);
	check_info(gi, 1, 1, 4, 2);
	fake_remove(1);
	OK(nvmlGpuInstanceDestroy(gi));
	INVALID(nvmlGpuInstanceDestroy(gi));
	INVALID(nvmlGpuInstanceDestroy(NULL));
	kept = gi;
	OK(nvmlDeviceCreateGpuInstance(dev, 1, &gi));
	assert_ptr_not_equal(gi, kept);
	INVALID(nvmlGpuInstanceDestroy(kept));
	fake_part_remove(0, 2);
	INVALID(nvmlGpuInstanceDestroy(gi));
}

/* The whole GPU's scheduler has no vGPUs while there are partitions, and is not touched. */
static void test_sched(void **state)
{
	nvmlVgpuSchedulerState_v2_t set2 = { .schedulerPolicy = 3, .frequency = 100 };
	nvmlVgpuSchedulerSetState_t set = { .schedulerPolicy = 2 };
	nvmlVgpuSchedulerLogInfo_v2_t *log2 = calloc(1, sizeof(*log2));
	nvmlVgpuSchedulerLog_t *log = calloc(1, sizeof(*log));
	nvmlVgpuSchedulerStateInfo_v2_t get2 = { 0 };
	struct vgpu_ctl_sched before = fake.sched[0];
	nvmlVgpuSchedulerGetState_t get;

	UNSUPPORTED(nvmlDeviceSetVgpuSchedulerState(dev, &set));
	UNSUPPORTED(nvmlDeviceSetVgpuSchedulerState_v2(dev, &set2));
	UNSUPPORTED(nvmlDeviceGetVgpuSchedulerState(dev, &get));
	UNSUPPORTED(nvmlDeviceGetVgpuSchedulerState_v2(dev, &get2));
	UNSUPPORTED(nvmlDeviceGetVgpuSchedulerLog(dev, log));
	UNSUPPORTED(nvmlDeviceGetVgpuSchedulerLog_v2(dev, log2));
	assert_memory_equal(&fake.sched[0], &before, sizeof(before));
	/* What is wrong on any GPU is that still. */
	set.schedulerPolicy = 77;
	INVALID(nvmlDeviceSetVgpuSchedulerState(dev, &set));
	set.schedulerPolicy = 2;
	fake_part_mode(0, false);
	OK(nvmlDeviceSetVgpuSchedulerState(dev, &set));
	OK(nvmlDeviceGetVgpuSchedulerState(dev, &get));
	assert_int_equal(get.schedulerPolicy, NVML_VGPU_SCHEDULER_POLICY_EQUAL_SHARE);
	OK(nvmlDeviceGetVgpuSchedulerLog(dev, log));
	free(log2);
	free(log);
}

/* Each partition has engines of its own. */
static void test_load(void **state)
{
	unsigned int percent, period_us, count = 0;
	nvmlUtilization_t rates;
	nvmlValueType_t type;

	UNSUPPORTED(nvmlDeviceGetUtilizationRates(dev, &rates));
	UNSUPPORTED(nvmlDeviceGetEncoderUtilization(dev, &percent, &period_us));
	UNSUPPORTED(nvmlDeviceGetSamples(dev, NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &count,
					 NULL));
	fake_part_mode(0, false);
	OK(nvmlDeviceGetUtilizationRates(dev, &rates));
	OK(nvmlDeviceGetEncoderUtilization(dev, &percent, &period_us));
}

static void test_lost(void **state)
{
	nvmlGpuInstanceInfo_t info;
	nvmlDevice_t device;
	char uuid[80];

	OK(nvmlDeviceCreateGpuInstance(dev, 1, &gi));
	OK(nvmlDeviceGetMigDeviceHandleByIndex(dev, 0, &device));
	OK(nvmlDeviceGetUUID(device, uuid, sizeof(uuid)));
	fake.gone[0] = true;
	assert_int_equal(nvmlGpuInstanceGetInfo(gi, &info), NVML_ERROR_GPU_IS_LOST);
	assert_int_equal(nvmlGpuInstanceDestroy(gi), NVML_ERROR_GPU_IS_LOST);
	assert_int_equal(nvmlDeviceGetName(device, uuid, sizeof(uuid)), NVML_ERROR_GPU_IS_LOST);
	assert_int_equal(nvmlDeviceCreateGpuInstance(dev, 1, &gi), NVML_ERROR_GPU_IS_LOST);
	assert_int_equal(nvmlDeviceGetHandleByUUID(uuid, &device), NVML_ERROR_NOT_FOUND);
}

#define MIG(test)	cmocka_unit_test_setup_teardown(test, mig_begin, mig_end)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_mode, mig_begin_off, mig_end),
		cmocka_unit_test_setup_teardown(test_cannot, mig_begin_whole, mig_end),
		MIG(test_profiles),
		MIG(test_few_units),
		MIG(test_odd_memory),
		MIG(test_placements),
		MIG(test_capacity),
		MIG(test_create_refused),
		MIG(test_instances),
		MIG(test_destroy),
		MIG(test_sched),
		MIG(test_load),
		MIG(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
