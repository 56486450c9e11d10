// SPDX-License-Identifier: GPL-2.0
/* tools/libnvml on a driver that nvml_fake.h is: what each function answers. */
#include "vgpu_test.h"

#include <errno.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "nvml.h"
#include "nvml_fake.h"

#define OK(call)	assert_int_equal(call, NVML_SUCCESS)

static nvmlDevice_t dev[FAKE_GPUS];
static int allocations;

/* Types of the catalogue that tests use, by their index: SG16-4Q and SG16-4C. */
static unsigned int of_4q, of_4c;

static unsigned int find_type(const char *name)
{
	struct vgpu_ctl_type type;
	unsigned int i;

	for (i = 0; i < fake_types(0); i++) {
		memset(&type, 0, sizeof(type));
		fake_type(0, i, &type);
		if (!strcmp((char *)type.name, name))
			return i;
	}
	fail();
	return 0;
}

static int begin(void **state)
{
	fake_reset();
	allocations = fake_allocations();
	of_4q = find_type("SG16-4Q");
	of_4c = find_type("SG16-4C");
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev[0]));
	OK(nvmlDeviceGetHandleByIndex_v2(1, &dev[1]));
	return 0;
}

/* Nothing is left behind: no memory, no file. */
static int end(void **state)
{
	OK(nvmlShutdown());
	assert_int_equal(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
	assert_int_equal(fake_files(), 0);
	assert_int_equal(fake_allocations(), allocations);
	return 0;
}

static nvmlVgpuInstance_t instance(unsigned int gpu, unsigned int nr)
{
	nvmlVgpuInstance_t ids[FAKE_VGPUS];
	char text[80], wanted[80];
	unsigned int count = FAKE_VGPUS, i;

	sprintf(wanted, "fa000000-0000-0000-0000-0000000000%02x", nr);
	OK(nvmlDeviceGetActiveVgpus(dev[gpu], &count, ids));
	for (i = 0; i < count; i++) {
		OK(nvmlVgpuInstanceGetUUID(ids[i], text, sizeof(text)));
		if (!strcmp(text, wanted))
			return ids[i];
	}
	return 0;
}

static void test_init(void **state)
{
	char text[80], name[16];
	unsigned int count;
	int version;

	OK(nvmlInitWithFlags(NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH));
	assert_int_equal(nvmlInitWithFlags(4), NVML_ERROR_INVALID_ARGUMENT);
	OK(nvmlShutdown());
	OK(nvmlDeviceGetCount_v2(&count));
	assert_int_equal(count, FAKE_GPUS);
	assert_int_equal(fake_files(), 1);
	OK(nvmlSystemGetDriverVersion(text, sizeof(text)));
	assert_string_equal(text, "0.1.0");
	OK(nvmlSystemGetNVMLVersion(text, sizeof(text)));
	assert_int_equal(nvmlSystemGetCudaDriverVersion_v2(&version), NVML_ERROR_NOT_SUPPORTED);
	OK(nvmlSystemGetProcessName(getpid(), text, sizeof(text)));
	prctl(PR_GET_NAME, name);
	assert_string_equal(text, name);
	assert_int_equal(nvmlSystemGetProcessName(~0u, text, sizeof(text)), NVML_ERROR_NOT_FOUND);
}

static void test_init_refused(void **state)
{
	static const struct {
		int error;
		nvmlReturn_t ret;
	} opens[] = {
		{ ENOENT, NVML_ERROR_DRIVER_NOT_LOADED }, { ENXIO, NVML_ERROR_DRIVER_NOT_LOADED },
		{ ENODEV, NVML_ERROR_DRIVER_NOT_LOADED }, { EACCES, NVML_ERROR_NO_PERMISSION },
		{ EPERM, NVML_ERROR_NO_PERMISSION }, { EMFILE, NVML_ERROR_INSUFFICIENT_RESOURCES },
		{ ENOMEM, NVML_ERROR_MEMORY }, { EIO, NVML_ERROR_UNKNOWN },
	};
	static const unsigned long calls[] = {
		VGPU_IOC_VERSION, VGPU_IOC_GPUS, VGPU_IOC_GPU, VGPU_IOC_TYPE,
	};
	unsigned int i, k;

	OK(nvmlShutdown());
	for (i = 0; i < ARRAY_SIZE(opens); i++) {
		fake.open_error = opens[i].error;
		assert_int_equal(nvmlInit_v2(), opens[i].ret);
		assert_int_equal(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
	}
	fake.open_error = 0;
	/* Of a driver of another major version nothing but its version is asked. */
	for (i = 0; i < 2; i++) {
		unsigned long before = fake_calls();

		fake.abi_major = VGPU_ABI_MAJOR + (i ? 1 : -1);
		assert_int_equal(nvmlInit_v2(), NVML_ERROR_LIB_RM_VERSION_MISMATCH);
		assert_int_equal(fake_calls(), before + 1);
		assert_int_equal(fake_files(), 0);
	}
	fake.abi_major = VGPU_ABI_MAJOR;
	for (k = 0; k < ARRAY_SIZE(calls); k++) {
		fake.refuse[_IOC_NR(calls[k]) - 0xb0] = ENOMEM;
		assert_int_equal(nvmlInit_v2(), NVML_ERROR_MEMORY);
		fake.refuse[_IOC_NR(calls[k]) - 0xb0] = 0;
		assert_int_equal(fake_files(), 0);
		assert_int_equal(fake_allocations(), allocations);
	}
	fake.gpus = 0;
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetCount_v2(&k));
	assert_int_equal(k, 0);
}

static void test_device(void **state)
{
	char text[96], other[96];
	unsigned int value;
	nvmlPciInfo_t pci;
	nvmlDevice_t same;
	nvmlMemory_t memory;
	nvmlMemory_v2_t memory2 = { .version = NVML_STRUCT_VERSION(Memory, 2) };

	OK(nvmlDeviceGetName(dev[0], text, sizeof(text)));
	assert_string_equal(text, "SG16");
	OK(nvmlDeviceGetIndex(dev[1], &value));
	assert_int_equal(value, 1);
	OK(nvmlDeviceGetMinorNumber(dev[1], &value));
	assert_int_equal(value, 1);
	OK(nvmlDeviceGetUUID(dev[0], text, sizeof(text)));
	OK(nvmlDeviceGetUUID(dev[1], other, sizeof(other)));
	assert_int_equal(strlen(text), 40);
	assert_int_equal(strncmp(text, "GPU-", 4), 0);
	assert_string_not_equal(text, other);
	OK(nvmlDeviceGetHandleByUUID(other, &same));
	assert_ptr_equal(same, dev[1]);
	assert_int_equal(nvmlDeviceGetHandleByUUID("GPU-1", &same), NVML_ERROR_NOT_FOUND);
	OK(nvmlDeviceGetPciInfo_v3(dev[1], &pci));
	assert_string_equal(pci.busId, "0000F000:00:01.0");
	assert_string_equal(pci.busIdLegacy, "F000:00:01.0");
	assert_int_equal(pci.domain, 0xf000);
	assert_int_equal(pci.device, 1);
	OK(nvmlDeviceGetHandleByPciBusId_v2(pci.busId, &same));
	assert_ptr_equal(same, dev[1]);
	OK(nvmlDeviceGetHandleByPciBusId_v2("f000:0:1.0", &same));
	assert_ptr_equal(same, dev[1]);
	assert_int_equal(nvmlDeviceGetHandleByPciBusId_v2("00:01.0", &same), NVML_ERROR_NOT_FOUND);
	assert_int_equal(nvmlDeviceGetHandleByPciBusId_v2("1.0", &same),
			 NVML_ERROR_INVALID_ARGUMENT);
	assert_int_equal(nvmlDeviceGetHandleByPciBusId_v2("f000:00:01.0 ", &same),
			 NVML_ERROR_INVALID_ARGUMENT);
	memset(&pci, 0xee, sizeof(pci));
	OK(nvmlDeviceGetPciInfo(dev[0], &pci));
	assert_int_equal(pci.pciSubSystemId, 0xeeeeeeee);
	OK(nvmlDeviceGetPciInfo_v2(dev[0], &pci));
	assert_int_equal((unsigned char)pci.busId[0], 0xee);
	fake_create(1, 0, of_4q, 4);
	OK(nvmlDeviceGetMemoryInfo(dev[0], &memory));
	OK(nvmlDeviceGetMemoryInfo_v2(dev[0], &memory2));
	assert_int_equal(memory.total, 16ull << 30);
	assert_int_equal(memory.used, 4ull << 30);
	assert_int_equal(memory.free, 12ull << 30);
	assert_int_equal(memory2.used, memory.used);
	assert_int_equal(memory2.total, memory.total);
	assert_int_equal(memory2.free, memory.free);
	memory2.version = NVML_STRUCT_VERSION(Memory, 2) + 1;
	assert_int_equal(nvmlDeviceGetMemoryInfo_v2(dev[0], &memory2),
			 NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	OK(nvmlDeviceIsMigDeviceHandle(dev[0], &value));
	assert_int_equal(value, 0);
}

static void test_lost_gpu(void **state)
{
	unsigned int value = 0;
	nvmlMemory_t memory;

	fake_create(1, 1, of_4q, 0);
	fake_start(1, 100);
	value = instance(1, 1);
	assert_true(value);
	fake.gone[1] = true;
	fake_event(VGPU_EVENT_GPU_REMOVED, 1, 0);
	assert_int_equal(nvmlDeviceGetMemoryInfo(dev[1], &memory), NVML_ERROR_GPU_IS_LOST);
	assert_int_equal(nvmlVgpuInstanceGetType(value, &value), NVML_ERROR_NOT_FOUND);
	value = 0;
	assert_int_equal(nvmlDeviceGetActiveVgpus(dev[1], &value, NULL), NVML_ERROR_GPU_IS_LOST);
	assert_int_equal(nvmlDeviceGetCreatableVgpus(dev[1], &value, NULL),
			 NVML_ERROR_GPU_IS_LOST);
	OK(nvmlDeviceGetMemoryInfo(dev[0], &memory));
	OK(nvmlDeviceGetCount_v2(&value));
	assert_int_equal(value, 2);
}

static void test_types(void **state)
{
	nvmlVgpuTypeBar1Info_t bar = { .version = NVML_STRUCT_VERSION(VgpuTypeBar1Info, 1) };
	unsigned int ids[64], more[64], count = 0, i, k, x, y;
	unsigned long long bytes, other;
	char text[64];

	assert_int_equal(nvmlDeviceGetSupportedVgpus(dev[0], &count, NULL),
			 NVML_ERROR_INSUFFICIENT_SIZE);
	assert_int_equal(count, fake_types(0));
	OK(nvmlDeviceGetSupportedVgpus(dev[0], &count, ids));
	/* All GPUs have the same ones, under the same numbers. */
	OK(nvmlDeviceGetSupportedVgpus(dev[1], &count, more));
	assert_memory_equal(ids, more, count * sizeof(ids[0]));
	for (i = 0; i < count; i++) {
		struct vgpu_ctl_type type = { .size = sizeof(type) };

		fake_type(0, i, &type);
		assert_true(ids[i] && ids[i] <= 0xffff);
		for (k = 0; k < i; k++)
			assert_int_not_equal(ids[i], ids[k]);
		k = sizeof(text);
		OK(nvmlVgpuTypeGetName(ids[i], text, &k));
		assert_string_equal(text, type.name);
		k = sizeof(text);
		OK(nvmlVgpuTypeGetClass(ids[i], text, &k));
		assert_true(text[0]);
		OK(nvmlVgpuTypeGetLicense(ids[i], text, sizeof(text)));
		assert_string_equal(text, type.edition);
		OK(nvmlVgpuTypeGetFramebufferSize(ids[i], &bytes));
		assert_int_equal(bytes, type.fb_bytes);
		OK(nvmlVgpuTypeGetBAR1Info(ids[i], &bar));
		assert_int_equal(bar.bar1Size << 20, type.fb_bytes);
		OK(nvmlVgpuTypeGetNumDisplayHeads(ids[i], &k));
		assert_int_equal(k, type.num_heads);
		OK(nvmlVgpuTypeGetResolution(ids[i], k - 1, &x, &y));
		assert_true(x == type.max_width && y == type.max_height);
		assert_int_equal(nvmlVgpuTypeGetResolution(ids[i], k, &x, &y),
				 NVML_ERROR_INVALID_ARGUMENT);
		OK(nvmlVgpuTypeGetFrameRateLimit(ids[i], &k));
		assert_int_equal(k, type.frl_fps);
		OK(nvmlVgpuTypeGetMaxInstances(dev[0], ids[i], &k));
		assert_int_equal(k, type.max_instances);
		OK(nvmlVgpuTypeGetMaxInstancesPerVm(ids[i], &k));
		assert_true(k);
		OK(nvmlVgpuTypeGetDeviceID(ids[i], &bytes, &other));
		assert_int_equal(bytes, 0x10f11af4);
		OK(nvmlVgpuTypeGetGspHeapSize(ids[i], &bytes));
		assert_int_equal(bytes, 0);
		OK(nvmlVgpuTypeGetFbReservation(ids[i], &bytes));
		assert_int_equal(bytes, 0);
		OK(nvmlVgpuTypeGetGpuInstanceProfileId(ids[i], &k));
		assert_int_equal(k, NVML_NO_INSTANCE);
	}
	/* The number is made from the name, by FNV-1a; clients may have stored it. */
	i = 64;
	OK(nvmlVgpuTypeGetName(49909, text, &i));
	assert_string_equal(text, "SG16-4Q");
}

static void test_creatable(void **state)
{
	unsigned int ids[64], count = 0, all = fake_types(0), k;
	struct vgpu_ctl_type type;
	unsigned int i, nr = 0;

	OK(nvmlDeviceGetCreatableVgpus(dev[0], (count = 64, &count), ids));
	assert_int_equal(count, all);
	fake_create(1, 0, find_type("SG16-8Q"), 0);
	for (i = 0; i < all; i++) {
		memset(&type, 0, sizeof(type));
		fake_type(0, i, &type);
		nr += type.available != 0;
	}
	assert_true(nr < all);
	count = nr - 1;
	assert_int_equal(nvmlDeviceGetCreatableVgpus(dev[0], &count, ids),
			 NVML_ERROR_INSUFFICIENT_SIZE);
	assert_int_equal(count, nr);
	OK(nvmlDeviceGetCreatableVgpus(dev[0], &count, ids));
	assert_int_equal(count, nr);
	/* A full GPU has an empty list, which fits anywhere. */
	fake_create(2, 0, find_type("SG16-8Q"), 8);
	count = 0;
	OK(nvmlDeviceGetCreatableVgpus(dev[0], &count, NULL));
	assert_int_equal(count, 0);
	OK(nvmlVgpuTypeGetCapabilities(ids[0], NVML_VGPU_CAP_EXCLUSIVE_SIZE, &k));
	assert_int_equal(k, 0);
}

static void test_capabilities(void **state)
{
	nvmlGpuVirtualizationMode_t mode;
	nvmlVgpuVersion_t range, current;
	nvmlGridLicensableFeatures_t features;
	nvmlHostVgpuMode_t host;
	unsigned int value, i;

	OK(nvmlDeviceGetVirtualizationMode(dev[0], &mode));
	assert_int_equal(mode, NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU);
	OK(nvmlDeviceSetVirtualizationMode(dev[0], mode));
	assert_int_equal(nvmlDeviceSetVirtualizationMode(dev[0], 0), NVML_ERROR_NOT_SUPPORTED);
	assert_int_equal(nvmlDeviceSetVirtualizationMode(dev[0], 5), NVML_ERROR_INVALID_ARGUMENT);
	OK(nvmlDeviceGetHostVgpuMode(dev[0], &host));
	assert_int_equal(host, NVML_HOST_VGPU_MODE_NON_SRIOV);
	OK(nvmlGetVgpuDriverCapabilities(0, &value));
	assert_int_equal(value, 1);
	assert_int_equal(nvmlGetVgpuDriverCapabilities(2, &value), NVML_ERROR_INVALID_ARGUMENT);
	for (i = 0; i < NVML_DEVICE_VGPU_CAP_COUNT; i++) {
		nvmlReturn_t ret = nvmlDeviceGetVgpuCapabilities(dev[0], i, &value);

		assert_int_equal(ret, i == 3 || i == 4 ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS);
		if (!ret)
			assert_int_equal(value, i <= 2);
		assert_int_equal(nvmlDeviceSetVgpuCapabilities(dev[0], i, 1),
				 NVML_ERROR_NOT_SUPPORTED);
	}
	assert_int_equal(nvmlDeviceGetVgpuCapabilities(dev[0], i, &value),
			 NVML_ERROR_INVALID_ARGUMENT);
	assert_int_equal(nvmlDeviceSetVgpuCapabilities(dev[0], 0, 2), NVML_ERROR_INVALID_ARGUMENT);
	OK(nvmlGetVgpuVersion(&range, &current));
	assert_memory_equal(&range, &current, sizeof(range));
	OK(nvmlSetVgpuVersion(&range));
	range.maxVersion++;
	assert_int_equal(nvmlSetVgpuVersion(&range), NVML_ERROR_INVALID_ARGUMENT);
	memset(&features, 0xee, sizeof(features));
	OK(nvmlDeviceGetGridLicensableFeatures_v4(dev[0], &features));
	assert_int_equal(features.isGridLicenseSupported, 0);
	assert_int_equal(features.licensableFeaturesCount, 0);
}

static void test_instances(void **state)
{
	nvmlVgpuPlacementId_t place = { .version = NVML_STRUCT_VERSION(VgpuPlacementId, 1) };
	nvmlVgpuInstance_t ids[4], v;
	unsigned int count = 0, value, types[64];
	nvmlVgpuLicenseInfo_t license;
	unsigned long long bytes;
	nvmlVgpuVmIdType_t id_type;
	nvmlEnableState_t ecc;
	char text[80];

	OK(nvmlDeviceGetActiveVgpus(dev[0], &count, NULL));
	fake_create(1, 0, of_4q, 8);
	OK(nvmlDeviceGetActiveVgpus(dev[0], &count, NULL));
	fake_start(1, 77);
	assert_int_equal(nvmlDeviceGetActiveVgpus(dev[0], &count, ids),
			 NVML_ERROR_INSUFFICIENT_SIZE);
	assert_int_equal(count, 1);
	OK(nvmlDeviceGetActiveVgpus(dev[0], &count, ids));
	v = ids[0];
	OK(nvmlVgpuInstanceGetUUID(v, text, sizeof(text)));
	assert_string_equal(text, "fa000000-0000-0000-0000-000000000001");
	OK(nvmlVgpuInstanceGetMdevUUID(v, text, sizeof(text)));
	assert_int_equal(nvmlVgpuInstanceGetUUID(v, text, 36), NVML_ERROR_INSUFFICIENT_SIZE);
	OK(nvmlVgpuInstanceGetVmID(v, text, sizeof(text), &id_type));
	assert_string_equal(text, "77");
	assert_int_equal(id_type, NVML_VGPU_VM_ID_DOMAIN_ID);
	OK(nvmlVgpuInstanceGetVmDriverVersion(v, text, sizeof(text)));
	assert_string_equal(text, "Not Available");
	count = 5;
	assert_int_equal(nvmlVgpuInstanceGetGpuPciId(v, text, &count),
			 NVML_ERROR_INSUFFICIENT_SIZE);
	assert_int_equal(count, 17);
	OK(nvmlVgpuInstanceGetGpuPciId(v, text, &count));
	assert_string_equal(text, "00000000:00:00.0");
	OK(nvmlVgpuInstanceGetFbUsage(v, &bytes));
	assert_int_equal(bytes, 77ull << 20);
	OK(nvmlVgpuInstanceGetType(v, &value));
	OK(nvmlDeviceGetSupportedVgpus(dev[0], (count = 64, &count), types));
	assert_int_equal(value, types[of_4q]);
	OK(nvmlVgpuInstanceGetFrameRateLimit(v, &value));
	assert_int_equal(value, 60);
	OK(nvmlVgpuInstanceGetEccMode(v, &ecc));
	assert_int_equal(ecc, NVML_FEATURE_DISABLED);
	OK(nvmlVgpuInstanceGetGpuInstanceId(v, &value));
	assert_int_equal(value, NVML_NO_INSTANCE);
	OK(nvmlVgpuInstanceGetPlacementId(v, &place));
	assert_int_equal(place.placementId, 8);
	OK(nvmlVgpuInstanceGetLicenseStatus(v, &value));
	OK(nvmlVgpuInstanceGetLicenseInfo_v2(v, &license));
	assert_int_equal(license.currentState, NVML_GRID_LICENSE_STATE_UNLICENSED_UNRESTRICTED);
	fake_stop(1);
	assert_int_equal(nvmlVgpuInstanceGetVmID(v, text, sizeof(text), &id_type),
			 NVML_ERROR_NOT_FOUND);
	OK(nvmlVgpuInstanceGetUUID(v, text, sizeof(text)));
}

/* A number belongs to one vGPU only, also when another one gets its UUID, or after a restart. */
static void test_stale_instances(void **state)
{
	nvmlVgpuInstance_t v, w;
	unsigned int type, i;

	fake_create(1, 0, of_4q, 0);
	fake_start(1, 1);
	v = instance(0, 1);
	assert_int_equal(instance(0, 1), v);
	fake_remove(1);
	assert_int_equal(nvmlVgpuInstanceGetType(v, &type), NVML_ERROR_NOT_FOUND);
	fake_create(1, 0, of_4q, 0);
	fake_start(1, 2);
	assert_int_equal(nvmlVgpuInstanceGetType(v, &type), NVML_ERROR_NOT_FOUND);
	w = instance(0, 1);
	assert_int_not_equal(v, w);
	OK(nvmlVgpuInstanceGetType(w, &type));
	assert_int_equal(nvmlVgpuInstanceGetType(v, &type), NVML_ERROR_NOT_FOUND);
	OK(nvmlShutdown());
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev[0]));
	assert_int_equal(nvmlVgpuInstanceGetType(w, &type), NVML_ERROR_NOT_FOUND);
	/* What is gone takes no memory. */
	for (i = 0; i < 1000; i++) {
		fake_remove(1);
		fake_create(1, 0, of_4q, 0);
		fake_start(1, 2);
		assert_true(instance(0, 1) > w);
	}
}

/* What only events change is asked for once, memory each time; what events tell is seen at once. */
static void test_calls(void **state)
{
	nvmlVgpuInstance_t v[2];
	unsigned int count, type, i;
	unsigned long long bytes;
	unsigned long calls;
	char text[80];

	for (i = 0; i < 2; i++) {
		fake_create(i, 0, of_4q, 4 * i);
		fake_start(i, 100 + i);
	}
	instance(0, 0);
	calls = fake_calls();
	for (i = 0; i < 3; i++) {
		count = 2;
		OK(nvmlDeviceGetActiveVgpus(dev[0], &count, v));
		OK(nvmlVgpuInstanceGetUUID(v[0], text, sizeof(text)));
		OK(nvmlVgpuInstanceGetType(v[1], &type));
	}
	assert_int_equal(fake_calls(), calls);
	for (i = 0; i < 3; i++) {
		OK(nvmlVgpuInstanceGetFbUsage(v[1], &bytes));
		assert_int_equal(bytes, 101ull << 20);
	}
	assert_int_equal(fake_calls(), calls + 3);
	/* Something has happened, if only on the other GPU. */
	fake_create(5, 1, of_4q, 0);
	OK(nvmlVgpuInstanceGetUUID(v[0], text, sizeof(text)));
	assert_int_equal(fake_calls(), calls + 4);
	OK(nvmlDeviceGetActiveVgpus(dev[0], &count, v));
	OK(nvmlVgpuInstanceGetUUID(v[0], text, sizeof(text)));
	assert_int_equal(fake_calls(), calls + 5);
	fake_remove(1);
	assert_int_equal(nvmlVgpuInstanceGetType(v[1], &type), NVML_ERROR_NOT_FOUND);
	OK(nvmlVgpuInstanceGetType(v[0], &type));
	fake_stop(0);
	OK(nvmlDeviceGetActiveVgpus(dev[0], &count, v));
	assert_int_equal(count, 0);
}

static void test_placements(void **state)
{
	nvmlVgpuHeterogeneousMode_t mode = {
		.version = NVML_STRUCT_VERSION(VgpuHeterogeneousMode, 1),
	};
	unsigned int ids[64], types[64], count = 64;
	nvmlVgpuPlacementList_v2_t list = {
		.version = NVML_STRUCT_VERSION(VgpuPlacementList, 2),
	};

	OK(nvmlDeviceGetVgpuHeterogeneousMode(dev[0], &mode));
	assert_int_equal(mode.mode, 1);
	OK(nvmlDeviceSetVgpuHeterogeneousMode(dev[0], &mode));
	mode.mode = 0;
	assert_int_equal(nvmlDeviceSetVgpuHeterogeneousMode(dev[0], &mode),
			 NVML_ERROR_NOT_SUPPORTED);
	mode.mode = 2;
	assert_int_equal(nvmlDeviceSetVgpuHeterogeneousMode(dev[0], &mode),
			 NVML_ERROR_INVALID_ARGUMENT);
	OK(nvmlDeviceGetSupportedVgpus(dev[0], &count, types));
	assert_int_equal(nvmlDeviceGetVgpuTypeSupportedPlacements(dev[0], types[of_4q], &list),
			 NVML_ERROR_INSUFFICIENT_SIZE);
	assert_int_equal(list.count, 4);
	assert_int_equal(list.placementSize, 4);
	list.placementIds = ids;
	OK(nvmlDeviceGetVgpuTypeSupportedPlacements(dev[0], types[of_4q], &list));
	assert_true(ids[0] == 0 && ids[1] == 4 && ids[2] == 8 && ids[3] == 12);
	fake_create(1, 0, find_type("SG16-2Q"), 6);
	list.count = 3;
	OK(nvmlDeviceGetVgpuTypeCreatablePlacements(dev[0], types[of_4q], &list));
	assert_int_equal(list.count, 3);
	assert_true(ids[0] == 0 && ids[1] == 8 && ids[2] == 12);
	list.mode = NVML_VGPU_PGPU_HOMOGENEOUS_MODE;
	assert_int_equal(nvmlDeviceGetVgpuTypeSupportedPlacements(dev[0], types[of_4q], &list),
			 NVML_ERROR_NOT_SUPPORTED);
	list.version = NVML_STRUCT_VERSION(VgpuPlacementList, 1);
	OK(nvmlDeviceGetVgpuTypeCreatablePlacements(dev[0], types[of_4q],
						    (nvmlVgpuPlacementList_t *)&list));
	/* Its count is no room. */
	list.count = 0;
	OK(nvmlDeviceGetVgpuTypeSupportedPlacements(dev[0], types[of_4q], &list));
	assert_int_equal(list.count, 4);
	assert_int_equal(nvmlDeviceGetVgpuTypeSupportedPlacements(dev[0], 0, &list),
			 NVML_ERROR_INVALID_ARGUMENT);
	/* Where all vGPUs have one size. */
	OK(nvmlShutdown());
	fake.homogeneous = true;
	fake_load();
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev[0]));
	OK(nvmlDeviceGetVgpuHeterogeneousMode(dev[0], &mode));
	assert_int_equal(mode.mode, 0);
	OK(nvmlDeviceGetVgpuTypeCreatablePlacements(dev[0], types[of_4q], &list));
	assert_int_equal(list.count, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_init, begin, end),
		cmocka_unit_test_setup_teardown(test_init_refused, begin, end),
		cmocka_unit_test_setup_teardown(test_device, begin, end),
		cmocka_unit_test_setup_teardown(test_lost_gpu, begin, end),
		cmocka_unit_test_setup_teardown(test_types, begin, end),
		cmocka_unit_test_setup_teardown(test_creatable, begin, end),
		cmocka_unit_test_setup_teardown(test_capabilities, begin, end),
		cmocka_unit_test_setup_teardown(test_instances, begin, end),
		cmocka_unit_test_setup_teardown(test_stale_instances, begin, end),
		cmocka_unit_test_setup_teardown(test_calls, begin, end),
		cmocka_unit_test_setup_teardown(test_placements, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
