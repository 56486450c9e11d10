// SPDX-License-Identifier: GPL-2.0
/*
 * tools/libnvml: arrays and texts of each length from nothing to more than is needed. They are on
 * the heap, just as long as the library is told, so that ASan sees each byte too many.
 */
#include "vgpu_test.h"

#include "nvml.h"
#include "nvml_fake.h"

#define OK(call)	assert_int_equal(call, NVML_SUCCESS)
#define VGPUS		5
#define TYPE		49909	/* SG16-4Q */
#define MOST		1200	/* elements */

static nvmlDevice_t dev;
static nvmlVgpuInstance_t vgpu;

typedef nvmlReturn_t (*call_t)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static nvmlReturn_t instances_info(unsigned int *room, void *to)
{
	nvmlVgpuInstancesUtilizationInfo_t info = {
		.version = NVML_STRUCT_VERSION(VgpuInstancesUtilizationInfo, 1),
		.vgpuInstanceCount = *room,
		.vgpuUtilArray = to,
	};
	nvmlReturn_t ret = nvmlDeviceGetVgpuInstancesUtilizationInfo(dev, &info);

	*room = info.vgpuInstanceCount;
	return ret;
}

static nvmlReturn_t processes_info(unsigned int *room, void *to)
{
	nvmlVgpuProcessesUtilizationInfo_t info = {
		.version = NVML_STRUCT_VERSION(VgpuProcessesUtilizationInfo, 1),
		.vgpuProcessCount = *room,
		.vgpuProcUtilArray = to,
	};
	nvmlReturn_t ret = nvmlDeviceGetVgpuProcessesUtilizationInfo(dev, &info);

	*room = info.vgpuProcessCount;
	return ret;
}

static nvmlReturn_t places(unsigned int *room, void *to)
{
	nvmlVgpuPlacementList_v2_t list = {
		.version = NVML_STRUCT_VERSION(VgpuPlacementList, 2),
		.count = *room,
		.placementIds = to,
		.mode = NVML_VGPU_PGPU_HETEROGENEOUS_MODE,
	};
	nvmlReturn_t ret = nvmlDeviceGetVgpuTypeSupportedPlacements(dev, TYPE, &list);

	*room = list.count;
	return ret;
}

/*
 * A letter for each argument: the GPU (d), the vGPU (v), the type (t), the array or text (a), a
 * pointer to its length (r), its length (n), a pointer to something else (x), what is sampled (1),
 * or 0.
 */
static const struct row {
	const char *name;
	call_t function;
	const char *args;
	size_t size;	/* of an element */
} rows[] = {
#define F(function, args, type)	{ #function, (call_t)(void *)function, args, sizeof(type) }
	F(nvmlDeviceGetSupportedVgpus, "dra", nvmlVgpuTypeId_t),
	F(nvmlDeviceGetCreatableVgpus, "dra", nvmlVgpuTypeId_t),
	F(nvmlDeviceGetActiveVgpus, "dra", nvmlVgpuInstance_t),
	F(nvmlDeviceGetGraphicsRunningProcesses_v3, "dra", nvmlProcessInfo_t),
	F(nvmlDeviceGetGraphicsRunningProcesses, "dra", nvmlProcessInfo_v1_t),
	F(nvmlDeviceGetComputeRunningProcesses_v3, "dra", nvmlProcessInfo_t),
	F(nvmlDeviceGetComputeRunningProcesses, "dra", nvmlProcessInfo_v1_t),
	F(nvmlDeviceGetMPSComputeRunningProcesses_v3, "dra", nvmlProcessInfo_t),
	F(nvmlDeviceGetFBCSessions, "dra", nvmlFBCSessionInfo_t),
	F(nvmlVgpuInstanceGetFBCSessions, "vra", nvmlFBCSessionInfo_t),
	F(nvmlDeviceGetAccountingPids, "dra", unsigned int),
	F(nvmlVgpuInstanceGetAccountingPids, "vra", unsigned int),
	F(nvmlDeviceGetSamples, "d10xra", nvmlSample_t),
	F(nvmlDeviceGetVgpuUtilization, "d0xra", nvmlVgpuInstanceUtilizationSample_t),
	F(nvmlDeviceGetProcessUtilization, "dar0", nvmlProcessUtilizationSample_t),
	F(nvmlDeviceGetVgpuProcessUtilization, "d0ra", nvmlVgpuProcessUtilizationSample_t),
	F(instances_info, "ra", nvmlVgpuInstanceUtilizationInfo_v1_t),
	F(processes_info, "ra", nvmlVgpuProcessUtilizationInfo_v1_t),
	F(places, "ra", unsigned int),
	F(nvmlVgpuTypeGetClass, "tar", char),
	F(nvmlVgpuTypeGetName, "tar", char),
	F(nvmlVgpuInstanceGetGpuPciId, "var", char),
	F(nvmlDeviceGetPgpuMetadataString, "dar", char),
	F(nvmlVgpuInstanceGetMetadata, "var", char),
	F(nvmlDeviceGetVgpuMetadata, "dar", char),
	F(nvmlSystemGetDriverVersion, "an", char),
	F(nvmlSystemGetNVMLVersion, "an", char),
	F(nvmlDeviceGetName, "dan", char),
	F(nvmlDeviceGetUUID, "dan", char),
	F(nvmlVgpuTypeGetLicense, "tan", char),
	F(nvmlVgpuInstanceGetUUID, "van", char),
	F(nvmlVgpuInstanceGetMdevUUID, "van", char),
	F(nvmlVgpuInstanceGetVmDriverVersion, "van", char),
	F(nvmlVgpuInstanceGetVmID, "vanx", char),
#undef F
};

static nvmlReturn_t call(const struct row *row, unsigned int given, unsigned int *room)
{
	uintptr_t arg[6] = { 0 }, out[2];
	void *to = given ? malloc(given * row->size) : NULL;
	nvmlReturn_t ret;
	unsigned int i;

	*room = given;
	for (i = 0; row->args[i]; i++) {
		const uintptr_t values[] = {
			['d'] = (uintptr_t)dev, ['v'] = vgpu, ['t'] = TYPE, ['a'] = (uintptr_t)to,
			['r'] = (uintptr_t)room, ['n'] = given, ['x'] = (uintptr_t)out,
			['1'] = NVML_GPU_UTILIZATION_SAMPLES,
		};

		arg[i] = values[(unsigned char)row->args[i]];
	}
	ret = row->function(arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	free(to);
	return ret;
}

/* What does not fit is not written, and how much would is told; from there on it fits. */
static void check_row(const struct row *row)
{
	unsigned int given, room, needed = 0, fits = MOST;
	bool fixed = strchr(row->args, 'n');
	nvmlReturn_t ret;

	for (given = 0; given < MOST; given++) {
		ret = call(row, given, &room);
		if (!ret && fits == MOST)
			fits = given;
		if (ret == NVML_ERROR_INSUFFICIENT_SIZE)
			needed = room;
		check_that(!ret || (fits == MOST && (ret == NVML_ERROR_INSUFFICIENT_SIZE ||
						     (!given && fixed))),
			   "%s with room for %u: %d", row->name, given, ret);
		check_that(fixed || ret || room <= given, "%s: %u of %u", row->name, room,
			   given);
	}
	check_that(fits < MOST, "%s never fits", row->name);
	check_that(fixed || needed >= fits, "%s: %u is told to suffice, %u does", row->name,
		   needed, fits);
}

static int begin(void **state)
{
	static const unsigned int percent[FAKE_ENGINES] = { 50 };
	unsigned int i, k, of_4q = 0, count = VGPUS;
	nvmlVgpuInstance_t ids[VGPUS];
	struct vgpu_ctl_type type;

	fake_reset();
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
	for (i = 0; i < fake_types(0); i++) {
		memset(&type, 0, sizeof(type));
		fake_type(0, i, &type);
		if (!strcmp((char *)type.name, "SG16-4Q"))
			of_4q = i;
	}
	for (i = 0; i < VGPUS; i++) {
		fake_create(i, 0, of_4q, i < 3 ? i * 4 : 12);
		fake_start(i, 100 + i);
	}
	for (k = 4; k--;) {
		fake_sample(0, -1, k, percent);
		for (i = 0; i < VGPUS; i++)
			fake_sample(0, i, k, percent);
	}
	OK(nvmlDeviceGetActiveVgpus(dev, &count, ids));
	vgpu = ids[0];
	return 0;
}

static int end(void **state)
{
	OK(nvmlShutdown());
	return 0;
}

static void test_rooms(void **state)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		check_row(&rows[i]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rooms, begin, end),
	};

	return cmocka_run_group_tests_name("nvml_rooms", tests, NULL, NULL);
}
