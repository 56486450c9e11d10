// SPDX-License-Identifier: GPL-2.0
/* MIG of libnvidia-ml.so.1 on the real driver, as its clients use it: partitions of the GPU. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <nvml.h>

#include "child.h"
#include "part.h"

#define OK(call)		CHECK_EQ(call, NVML_SUCCESS, "%s", #call)
#define IS(call, wanted)	CHECK_EQ(call, NVML_ERROR_##wanted, "%s", #call)
#define CHURN_MS		1500
#define PROFILES		5
#define TYPES			128
#define PLACES			64

static struct fx_vgpu v;
static nvmlDevice_t dev;
static nvmlGpuInstance_t gi;
static nvmlComputeInstance_t ci;

static void begin(void)
{
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByPciBusId_v2(fx_gpu(), &dev));
}

static void set_mode(unsigned int mode)
{
	nvmlReturn_t activation;

	OK(nvmlDeviceSetMigMode(dev, mode, &activation));
	OK(activation);
}

static void check_mode(unsigned int wanted)
{
	unsigned int current, pending;

	OK(nvmlDeviceGetMigMode(dev, &current, &pending));
	CHECK_EQ(current, wanted);
	CHECK_EQ(pending, wanted);
}

/* Skips the test on a GPU that cannot be divided, once it has said so. */
static void begin_on(void)
{
	unsigned int current, count;
	struct vgpu_ctl_gpu gpu;
	nvmlReturn_t activation;

	begin();
	fx_ctl_gpu(&gpu);
	if (!gpu.profiles) {
		IS(nvmlDeviceGetMigMode(dev, &current, &current), NOT_SUPPORTED);
		IS(nvmlDeviceSetMigMode(dev, 1, &activation), NOT_SUPPORTED);
		IS(nvmlDeviceCreateGpuInstance(dev, 0, &gi), NOT_SUPPORTED);
		OK(nvmlDeviceGetMaxMigDeviceCount(dev, &count));
		CHECK_EQ(count, 0);
		ktap_skip("the GPU cannot be divided");
	}
	check_mode(NVML_DEVICE_MIG_DISABLE);
	set_mode(NVML_DEVICE_MIG_ENABLE);
	check_mode(NVML_DEVICE_MIG_ENABLE);
}

static void cleanup(void)
{
	while (!nvmlShutdown())
		;
	part_cleanup();
}

static nvmlDevice_t mig_by_uuid(const char *uuid)
{
	nvmlDevice_t device;

	OK(nvmlDeviceGetHandleByUUID(uuid, &device));
	return device;
}

/* The MIG device of a GPU instance: there is one that has its number. */
static nvmlDevice_t mig_of(unsigned int id)
{
	unsigned int count, i, of;
	nvmlDevice_t device;

	OK(nvmlDeviceGetMaxMigDeviceCount(dev, &count));
	for (i = 0; i < count; i++) {
		OK(nvmlDeviceGetMigDeviceHandleByIndex(dev, i, &device));
		OK(nvmlDeviceGetGpuInstanceId(device, &of));
		if (of == id)
			return device;
	}
	FAIL("no MIG device of %u", id);
}

static unsigned int id_of(nvmlGpuInstance_t instance)
{
	nvmlGpuInstanceInfo_t info;

	OK(nvmlGpuInstanceGetInfo(instance, &info));
	CHECK(info.device == dev, "another GPU");
	return info.id;
}

/* The driver's profiles, and no others. */
static void profiles(void)
{
	nvmlGpuInstanceProfileInfo_v2_t info = {
		.version = NVML_STRUCT_VERSION(GpuInstanceProfileInfo, 2),
	};
	nvmlGpuInstancePlacement_t places[8];
	unsigned int i, k, count, nr = 0;
	struct vgpu_ctl_profile profile;
	nvmlReturn_t ret;
	uint32_t starts;

	begin_on();
	for (i = 0; i < NVML_GPU_INSTANCE_PROFILE_COUNT; i++) {
		ret = nvmlDeviceGetGpuInstanceProfileInfoV(dev, i, &info);
		if (ret == NVML_ERROR_NOT_SUPPORTED)
			continue;
		CHECK_EQ(ret, 0);
		nr++;
		CHECK_EQ(node_profile(fx_control(), fx_gpu_id(), i, &profile), 0);
		CHECK_EQ(info.sliceCount, profile.slices);
		CHECK_EQ(info.memorySizeMB, profile.fb_bytes >> 20);
		CHECK_EQ(info.instanceCount, (unsigned int)__builtin_popcount(profile.starts));
		CHECK(strstr(info.name, (char *)profile.name), "%s", info.name);
		OK(nvmlDeviceGetGpuInstanceRemainingCapacity(dev, info.id, &count));
		CHECK_EQ(count, info.instanceCount);
		OK(nvmlDeviceGetGpuInstancePossiblePlacements(dev, info.id, places, &count));
		CHECK_EQ(count, info.instanceCount);
		for (k = 0, starts = 0; k < count; k++) {
			starts |= 1u << places[k].start;
			CHECK_EQ(places[k].size, profile.eighths);
		}
		CHECK_EQ(starts, profile.starts);
	}
	CHECK_EQ(nr, PROFILES);
}

/* Of gr: also of a partition that shares CPUs in time, though it has all in its slots. */
static unsigned int slices_units(unsigned int slices)
{
	struct vgpu_ctl_gpu gpu;

	fx_ctl_gpu(&gpu);
	return gpu.engine[0].units * slices / 7 ?: 1;
}

/* What a partition manager, and then a device plugin, does. */
static void client(void)
{
	nvmlGpuInstancePlacement_t place = { .start = 4, .size = 4 };
	nvmlComputeInstanceProfileInfo_t profile;
	nvmlGpuInstanceProfileInfo_t info;
	nvmlGpuInstance_t list[2];
	nvmlDeviceAttributes_t attrs;
	struct vgpu_ctl_partition part;
	unsigned int count, id, is_mig;
	nvmlDevice_t device, parent;
	nvmlMemory_t memory;
	char uuid[96], name[96];

	begin_on();
	OK(nvmlDeviceGetGpuInstanceProfileInfo(dev, 2, &info));
	OK(nvmlDeviceCreateGpuInstanceWithPlacement(dev, 2, &place, &gi));
	OK(nvmlGpuInstanceGetComputeInstanceProfileInfo(gi, 2, 0, &profile));
	OK(nvmlGpuInstanceCreateComputeInstance(gi, profile.id, &ci));
	id = id_of(gi);
	CHECK_EQ(id, part_at("3g", 4));
	part_read(id, &part);

	OK(nvmlDeviceGetUUID(mig_of(id), uuid, sizeof(uuid)));
	device = mig_by_uuid(uuid);
	CHECK(device == mig_of(id), "another device");
	OK(nvmlDeviceIsMigDeviceHandle(device, &is_mig));
	CHECK_EQ(is_mig, 1);
	OK(nvmlDeviceGetName(device, name, sizeof(name)));
	CHECK(strstr(name, " MIG 3g."), "%s", name);
	OK(nvmlDeviceGetDeviceHandleFromMigDeviceHandle(device, &parent));
	CHECK(parent == dev, "another GPU");
	OK(nvmlDeviceGetMemoryInfo(device, &memory));
	CHECK_EQ(memory.total, part.fb_bytes);
	CHECK_EQ(memory.used, 0);
	OK(nvmlDeviceGetAttributes_v2(device, &attrs));
	CHECK_EQ(attrs.gpuInstanceSliceCount, 3);
	CHECK_EQ(attrs.memorySizeMB, part.fb_bytes >> 20);
	CHECK_EQ(attrs.multiprocessorCount, slices_units(3));
	CHECK_EQ(info.multiprocessorCount, slices_units(3));
	CHECK_EQ(profile.multiprocessorCount, slices_units(3));
	CHECK_EQ(part.engine[0].units, part.shared_time ? slices_units(7) : slices_units(3));

	OK(nvmlDeviceGetGpuInstances(dev, 2, list, &count));
	CHECK_EQ(count, 1);
	CHECK(list[0] == gi, "another instance");
	OK(nvmlComputeInstanceDestroy(ci));
	OK(nvmlGpuInstanceDestroy(gi));
	CHECK_EQ(part_at("3g", 4), 0);
	IS(nvmlDeviceGetHandleByUUID(uuid, &device), NOT_FOUND);
	set_mode(NVML_DEVICE_MIG_DISABLE);
	check_mode(NVML_DEVICE_MIG_DISABLE);
}

static void refusals(void)
{
	nvmlGpuInstancePlacement_t place = { .start = 1, .size = 2 };
	nvmlReturn_t activation;

	begin_on();
	set_mode(NVML_DEVICE_MIG_DISABLE);
	fx_create(&v, fx_default_type());
	IS(nvmlDeviceSetMigMode(dev, NVML_DEVICE_MIG_ENABLE, &activation), IN_USE);
	IS(activation, IN_USE);
	check_mode(NVML_DEVICE_MIG_DISABLE);
	IS(nvmlDeviceCreateGpuInstance(dev, 0, &gi), NOT_SUPPORTED);
	fx_remove(&v);
	set_mode(NVML_DEVICE_MIG_ENABLE);
	IS(nvmlDeviceCreateGpuInstanceWithPlacement(dev, 1, &place, &gi), INVALID_ARGUMENT);
	place.start = 2;
	OK(nvmlDeviceCreateGpuInstanceWithPlacement(dev, 1, &place, &gi));
	IS(nvmlDeviceCreateGpuInstanceWithPlacement(dev, 1, &place, &gi), INSUFFICIENT_RESOURCES);
	IS(nvmlDeviceCreateGpuInstance(dev, 4, &gi), INSUFFICIENT_RESOURCES);
	IS(nvmlDeviceSetMigMode(dev, NVML_DEVICE_MIG_DISABLE, &activation), IN_USE);
	IS(activation, IN_USE);
	check_mode(NVML_DEVICE_MIG_ENABLE);
}

struct places {
	unsigned int nr;
	unsigned int id[PLACES];
};

/* With the first version: what lies behind as many places as its maximum stays as it is. */
static void places_of(nvmlVgpuTypeId_t type, bool creatable, struct places *out)
{
	nvmlVgpuPlacementList_v1_t list = {
		.version = NVML_STRUCT_VERSION(VgpuPlacementList, 1),
		.placementIds = out->id,
	};
	unsigned int most, i;

	memset(out->id, 0xee, sizeof(out->id));
	OK(nvmlVgpuTypeGetMaxInstances(dev, type, &most));
	OK(creatable ? nvmlDeviceGetVgpuTypeCreatablePlacements(dev, type, (void *)&list) :
		       nvmlDeviceGetVgpuTypeSupportedPlacements(dev, type, (void *)&list));
	out->nr = list.count;
	CHECK(out->nr <= most, "%u of %u", out->nr, most);
	for (i = out->nr; i < PLACES; i++)
		CHECK_EQ(out->id[i], 0xeeeeeeee);
}

/* Of each type as many are creatable as the driver says that fit, among those it can have. */
static void check_places(void)
{
	unsigned int count = TYPES, i, k, n;
	struct places all, some;
	struct vgpu_ctl_type type;
	nvmlVgpuTypeId_t ids[TYPES];

	OK(nvmlDeviceGetSupportedVgpus(dev, &count, ids));
	for (i = 0; i < count; i++) {
		memset(&type, 0, sizeof(type));
		type.size = sizeof(type);
		type.gpu = fx_gpu_id();
		type.index = i;
		CHECK(!ioctl(fx_control(), VGPU_IOC_TYPE, &type), "%s", strerror(errno));
		places_of(ids[i], false, &all);
		CHECK_EQ(all.nr, type.max_instances, "%s", (char *)type.name);
		places_of(ids[i], true, &some);
		CHECK_EQ(some.nr, type.available, "%s", (char *)type.name);
		for (k = 0; k < some.nr; k++) {
			for (n = 0; n < all.nr && all.id[n] != some.id[k]; n++)
				;
			CHECK(n < all.nr, "%s at %u", (char *)type.name, some.id[k]);
		}
	}
}

static void places(void)
{
	nvmlVgpuPlacementId_t place = { .version = NVML_STRUCT_VERSION(VgpuPlacementId, 1) };
	struct places before, after;
	nvmlVgpuInstance_t vgpu;
	nvmlVgpuTypeId_t type;
	unsigned int count = 1, i;

	begin_on();
	set_mode(NVML_DEVICE_MIG_DISABLE);
	check_places();
	set_mode(NVML_DEVICE_MIG_ENABLE);
	check_places();
	part_new("2g", 2);
	check_places();
	part_new("3g", 4);
	check_places();
	fx_create_open(&v, "3-4C");
	check_places();
	OK(nvmlDeviceGetActiveVgpus(dev, &count, &vgpu));
	OK(nvmlVgpuInstanceGetType(vgpu, &type));
	OK(nvmlVgpuInstanceGetPlacementId(vgpu, &place));
	places_of(type, true, &after);
	fx_close(&v);
	fx_remove(&v);
	places_of(type, true, &before);
	CHECK_EQ(before.nr, after.nr + 1);
	for (i = 0; i < before.nr && before.id[i] != place.placementId; i++)
		;
	CHECK(i < before.nr, "was placed at %u", place.placementId);
	for (i = 0; i < after.nr; i++)
		CHECK(after.id[i] != place.placementId, "%u is taken", after.id[i]);
}

/* A vGPU in an instance keeps it, and is told of there. */
static void in_use(void)
{
	unsigned int count = 4, value, profile;
	nvmlProcessInfo_t infos[4];
	nvmlVgpuInstance_t vgpu;
	nvmlDevice_t device;
	nvmlMemory_t memory;
	nvmlVgpuTypeId_t type;

	begin_on();
	OK(nvmlDeviceCreateGpuInstance(dev, 2, &gi));
	OK(nvmlGpuInstanceCreateComputeInstance(gi, 2, &ci));
	device = mig_of(id_of(gi));
	fx_create_open(&v, "3-4C");
	OK(nvmlDeviceGetActiveVgpus(dev, (count = 1, &count), &vgpu));
	OK(nvmlVgpuInstanceGetGpuInstanceId(vgpu, &value));
	CHECK_EQ(value, id_of(gi));
	CHECK_EQ(value, part_of(&v));
	OK(nvmlVgpuInstanceGetType(vgpu, &type));
	OK(nvmlVgpuTypeGetGpuInstanceProfileId(type, &profile));
	CHECK_EQ(profile, 2);
	OK(nvmlDeviceGetMemoryInfo(device, &memory));
	CHECK_EQ(memory.used, 4 * FX_GIB);
	OK(nvmlDeviceGetComputeRunningProcesses_v3(device, (count = 4, &count), infos));
	CHECK_EQ(count, 1);
	CHECK_EQ(infos[0].pid, (unsigned int)getpid());
	CHECK_EQ(infos[0].gpuInstanceId, value);
	IS(nvmlComputeInstanceDestroy(ci), IN_USE);
	IS(nvmlGpuInstanceDestroy(gi), IN_USE);
	fx_close(&v);
	IS(nvmlGpuInstanceDestroy(gi), IN_USE);
	fx_remove(&v);
	OK(nvmlGpuInstanceDestroy(gi));
	IS(nvmlGpuInstanceDestroy(gi), INVALID_ARGUMENT);
}

/* Partitions that others create and remove, and handles that outlive them. */
static void of_others(void)
{
	char uuid[96], again[96];
	nvmlDevice_t device;
	uint32_t id;

	begin_on();
	id = part_new("2g", 2);
	OK(nvmlDeviceGetGpuInstanceById(dev, id, &gi));
	CHECK_EQ(id_of(gi), id);
	device = mig_of(id);
	OK(nvmlDeviceGetUUID(device, uuid, sizeof(uuid)));
	part_remove(id);
	IS(nvmlDeviceGetUUID(device, again, sizeof(again)), INVALID_ARGUMENT);
	IS(nvmlGpuInstanceDestroy(gi), INVALID_ARGUMENT);
	IS(nvmlDeviceGetGpuInstanceById(dev, id, &gi), NOT_FOUND);
	IS(nvmlDeviceGetHandleByUUID(uuid, &device), NOT_FOUND);
	/* At the same place it has the same UUID. */
	id = part_new("2g", 2);
	OK(nvmlDeviceGetUUID(mig_of(id), again, sizeof(again)));
	CHECK(!strcmp(uuid, again), "%s, then %s", uuid, again);
	OK(nvmlDeviceGetGpuInstanceById(dev, id, &gi));
	OK(nvmlGpuInstanceDestroy(gi));
	CHECK_EQ(part_at("2g", 2), 0);
}

/* Somebody who has been given the open node reads, and changes nothing. */
static void as_nobody(void *unused)
{
	nvmlReturn_t activation;
	nvmlGpuInstance_t other;

	(void)unused;
	CHECK(!setgid(65534) && !setuid(65534), "setuid");
	check_mode(NVML_DEVICE_MIG_ENABLE);
	id_of(gi);
	IS(nvmlDeviceSetMigMode(dev, NVML_DEVICE_MIG_DISABLE, &activation), NO_PERMISSION);
	IS(nvmlDeviceCreateGpuInstance(dev, 0, &other), NO_PERMISSION);
	IS(nvmlGpuInstanceDestroy(gi), NO_PERMISSION);
}

static void rights(void)
{
	int status;
	pid_t pid;

	begin_on();
	OK(nvmlDeviceCreateGpuInstance(dev, 0, &gi));
	pid = child_start(as_nobody, NULL);
	CHECK(child_ends(pid, FX_TIMEOUT_MS, &status), "hangs");
	CHECK_EQ(status, 0);
	OK(nvmlGpuInstanceDestroy(gi));
}

struct shared {
	uint32_t stop;
	uint32_t looks;
};

/* Looks at all MIG devices: each is there, or is told to be gone. */
static void look(void *arg)
{
	struct shared *shared = arg;
	unsigned int count, i, id;
	nvmlDevice_t device;
	nvmlReturn_t ret;
	char text[96];

	while (!__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE)) {
		OK(nvmlDeviceGetMaxMigDeviceCount(dev, &count));
		CHECK_EQ(count, PART_MANY);
		for (i = 0; i < count; i++) {
			ret = nvmlDeviceGetMigDeviceHandleByIndex(dev, i, &device);
			CHECK(!ret || ret == NVML_ERROR_NOT_FOUND, "%d", ret);
			if (ret)
				continue;
			ret = nvmlDeviceGetName(device, text, sizeof(text));
			CHECK(!ret || ret == NVML_ERROR_INVALID_ARGUMENT, "%d", ret);
			CHECK(ret || strstr(text, " MIG 1g."), "%s", text);
			ret = nvmlDeviceGetGpuInstanceId(device, &id);
			CHECK(!ret || ret == NVML_ERROR_INVALID_ARGUMENT, "%d", ret);
		}
		__atomic_add_fetch(&shared->looks, 1, __ATOMIC_RELAXED);
	}
}

static void while_they_come_and_go(void)
{
	struct shared *shared = child_shared(sizeof(*shared));
	nvmlGpuInstance_t gis[PART_MANY];
	uint64_t start_ms;
	unsigned int i;
	int status;
	pid_t pid;

	begin_on();
	pid = child_start(look, shared);
	for (start_ms = clk_ms(); clk_ms() < start_ms + CHURN_MS ||
	     !__atomic_load_n(&shared->looks, __ATOMIC_RELAXED);) {
		CHECK(clk_ms() < start_ms + FX_TIMEOUT_MS, "no answer");
		for (i = 0; i < PART_MANY; i++)
			OK(nvmlDeviceCreateGpuInstance(dev, 0, &gis[i]));
		for (i = 0; i < PART_MANY; i++)
			OK(nvmlGpuInstanceDestroy(gis[i]));
	}
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	CHECK(child_ends(pid, FX_TIMEOUT_MS, &status), "hangs");
	CHECK_EQ(status, 0);
	set_mode(NVML_DEVICE_MIG_DISABLE);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(profiles),
	KTAP_TEST(client),
	KTAP_TEST(refusals),
	KTAP_TEST(places),
	KTAP_TEST(in_use),
	KTAP_TEST(of_others),
	KTAP_TEST(rights),
	KTAP_TEST(while_they_come_and_go),
};

KTAP_MAIN(tests, cleanup)
