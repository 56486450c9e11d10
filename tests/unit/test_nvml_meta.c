// SPDX-License-Identifier: GPL-2.0
/*
 * tools/libnvml on a driver that nvml_fake.h is: metadata of a vGPU and of a GPU, which may be of
 * two hosts, and what a VM can do there: start anew, be saved, move while it works.
 */
#include "vgpu_test.h"

#include <errno.h>

#include "nvml.h"
#include "nvml_fake.h"

#define OK(call)	assert_int_equal(call, NVML_SUCCESS)
#define COLD		NVML_VGPU_VM_COMPATIBILITY_COLD
#define STOPPED		(COLD | NVML_VGPU_VM_COMPATIBILITY_SLEEP | \
			 NVML_VGPU_VM_COMPATIBILITY_HIBERNATE)
#define LIVE		(STOPPED | NVML_VGPU_VM_COMPATIBILITY_LIVE)

static union {
	nvmlVgpuMetadata_t m;
	char room[1024];
} v;

static union {
	nvmlVgpuPgpuMetadata_t m;
	char room[1024];
} p;

static nvmlDevice_t dev[FAKE_GPUS];
static nvmlVgpuInstance_t vgpu;
static int allocations;

static int begin(void **state)
{
	struct vgpu_ctl_type type;
	unsigned int i, count = 1;

	fake_reset();
	allocations = fake_allocations();
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev[0]));
	OK(nvmlDeviceGetHandleByIndex_v2(1, &dev[1]));
	for (i = 0; i < fake_types(0); i++) {
		memset(&type, 0, sizeof(type));
		fake_type(0, i, &type);
		if (!strcmp((char *)type.name, "SG16-4Q"))
			fake_create(1, 0, i, 0);
	}
	fake_start(1, 1);
	OK(nvmlDeviceGetActiveVgpus(dev[0], &count, &vgpu));
	return 0;
}

static int end(void **state)
{
	OK(nvmlShutdown());
	assert_int_equal(fake_allocations(), allocations);
	return 0;
}

/* Reads both: of the vGPU on the one host, and of the other's GPU. */
static void read_both(void)
{
	unsigned int size = sizeof(v);

	OK(nvmlVgpuInstanceGetMetadata(vgpu, &v.m, &size));
	size = sizeof(p);
	OK(nvmlDeviceGetVgpuMetadata(dev[1], &p.m, &size));
}

static void fits(unsigned int can, unsigned int limit)
{
	nvmlVgpuPgpuCompatibility_t fit;

	OK(nvmlGetVgpuCompatibility(&v.m, &p.m, &fit));
	check_that(fit.vgpuVmCompatibility == can && fit.compatibilityLimitCode == limit,
		   "%#x, limit %#x instead of %#x, %#x", fit.vgpuVmCompatibility,
		   fit.compatibilityLimitCode, can, limit);
}

static void test_rooms(void **state)
{
	unsigned int size = 100;

	assert_int_equal(nvmlVgpuInstanceGetMetadata(vgpu, &v.m, &size),
			 NVML_ERROR_INSUFFICIENT_SIZE);
	assert_true(size > 212 && size < 1024);
	memset(&v, 0xee, sizeof(v));
	OK(nvmlVgpuInstanceGetMetadata(vgpu, &v.m, &size));
	assert_int_equal((unsigned char)v.room[size], 0xee);
	assert_int_not_equal((unsigned char)v.room[size - 1], 0xee);
	assert_string_equal(v.m.hostDriverVersion, "0.1.0");
	assert_int_equal(v.m.vgpuVirtualizationCaps, 1);
	size = 0;
	assert_int_equal(nvmlDeviceGetVgpuMetadata(dev[1], NULL, &size),
			 NVML_ERROR_INSUFFICIENT_SIZE);
	OK(nvmlDeviceGetVgpuMetadata(dev[1], &p.m, &size));
	assert_int_equal(p.m.pgpuVirtualizationCaps, 1);
	/* nvidia-ml-py has room for so much, and gives the library the length that this wants. */
	assert_true(v.m.opaqueDataSize <= 256 + sizeof(unsigned int));
	assert_true(p.m.opaqueDataSize <= 256);
	fits(LIVE, NVML_VGPU_COMPATIBILITY_LIMIT_NONE);
	v.m.opaqueDataSize++;
	assert_int_equal(nvmlGetVgpuCompatibility(&v.m, &p.m, (void *)&size),
			 NVML_ERROR_INVALID_ARGUMENT);
}

/* Another GPU, or another major version of the hardware: not even a start anew. */
static void test_not_at_all(void **state)
{
	read_both();
	p.m.hostSupportedVgpuRange.minVersion++;
	fits(NVML_VGPU_VM_COMPATIBILITY_NONE, NVML_VGPU_COMPATIBILITY_LIMIT_HOST_DRIVER);
	p.m.hostSupportedVgpuRange.minVersion--;
	v.m.opaqueData[0] ^= 1;
	fits(NVML_VGPU_VM_COMPATIBILITY_NONE, NVML_VGPU_COMPATIBILITY_LIMIT_GPU);
}

/* What a vGPU cannot take along is a limit only for what takes it along. */
static void test_limits(void **state)
{
	fake.move[1].version = 2;
	read_both();
	fits(LIVE, 0);
	fake.move[0].version = 3;
	read_both();
	fits(COLD, NVML_VGPU_COMPATIBILITY_LIMIT_HOST_DRIVER);
	memset(fake.move, 0, sizeof(fake.move));
	fake.move[1].hw_version = VGPU_HW_VERSION_CURRENT - 1;
	read_both();
	fits(COLD, NVML_VGPU_COMPATIBILITY_LIMIT_HOST_DRIVER);
	fake.move[1].hw_version = VGPU_HW_VERSION_CURRENT + 1;
	read_both();
	fits(LIVE, 0);
	fake.move[1].less_engines = 1;
	read_both();
	fits(COLD, NVML_VGPU_COMPATIBILITY_LIMIT_GPU);
	memset(fake.move, 0, sizeof(fake.move));
	fake.move[1].more_channels = 1;
	read_both();
	fits(COLD, NVML_VGPU_COMPATIBILITY_LIMIT_GPU);
}

/* Each end has to be able to do it; a driver that does not know the call cannot. */
static void test_ability(void **state)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		memset(fake.move, 0, sizeof(fake.move));
		fake.move[i].cannot = 1 + VGPU_MIGRATION_STOP_COPY;
		read_both();
		fits(STOPPED, 0);
		fake.move[i].cannot = 1;
		read_both();
		assert_int_equal(i ? p.m.pgpuVirtualizationCaps : v.m.vgpuVirtualizationCaps, 0);
		fits(COLD, NVML_VGPU_COMPATIBILITY_LIMIT_HOST_DRIVER);
	}
	memset(fake.move, 0, sizeof(fake.move));
	fake.refuse[_IOC_NR(VGPU_IOC_MIGRATION) - 0xb0] = ENOTTY;
	read_both();
	fits(COLD, NVML_VGPU_COMPATIBILITY_LIMIT_HOST_DRIVER);
}

/* VGA is a setting of the new vGPU. */
static void test_vga_card(void **state)
{
	unsigned int i, index = fake_types(0);
	struct vgpu_ctl_type type;
	nvmlVgpuInstance_t ids[2];
	unsigned int count = 2;

	for (i = 0; i < fake_types(0); i++) {
		memset(&type, 0, sizeof(type));
		fake_type(0, i, &type);
		if (!strcmp((char *)type.name, "SG16-1B"))
			index = i;
	}
	fake_create(2, 0, index, 4);
	fake_start(2, 2);
	OK(nvmlDeviceGetActiveVgpus(dev[0], &count, ids));
	vgpu = ids[1];
	read_both();
	fits(LIVE, 0);
}

/* GPUs with the same text take each other's vGPUs while they work, others perhaps not. */
static void test_text(void **state)
{
	char text[128], other[128];
	unsigned int size = sizeof(text);

	OK(nvmlDeviceGetPgpuMetadataString(dev[0], text, &size));
	size = sizeof(other);
	OK(nvmlDeviceGetPgpuMetadataString(dev[1], other, &size));
	assert_string_equal(text, other);
	fake.move[1].less_engines = 1;
	OK(nvmlDeviceGetPgpuMetadataString(dev[1], other, &size));
	assert_string_not_equal(text, other);
	memset(fake.move, 0, sizeof(fake.move));
	fake.move[1].more_channels = 1;
	OK(nvmlDeviceGetPgpuMetadataString(dev[1], other, &size));
	assert_string_not_equal(text, other);
}

/* Any bytes are compared, and nothing else is done with them. */
static void test_any_bytes(void **state)
{
	nvmlVgpuPgpuCompatibility_t fit;
	u64 seed = test_seed();
	unsigned int i, k, at;

	for (i = 0; i < 20000; i++) {
		if (i % 16 == 0)
			read_both();
		for (k = 0; k < 4; k++) {
			at = random_next(&seed) % 1000;
			if (i & 1)
				v.room[offsetof(nvmlVgpuMetadata_t, opaqueData) +
				       at % v.m.opaqueDataSize] = random_next(&seed);
			else
				p.room[offsetof(nvmlVgpuPgpuMetadata_t, opaqueData) +
				       at % p.m.opaqueDataSize] = random_next(&seed);
		}
		OK(nvmlGetVgpuCompatibility(&v.m, &p.m, &fit));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rooms, begin, end),
		cmocka_unit_test_setup_teardown(test_not_at_all, begin, end),
		cmocka_unit_test_setup_teardown(test_limits, begin, end),
		cmocka_unit_test_setup_teardown(test_ability, begin, end),
		cmocka_unit_test_setup_teardown(test_vga_card, begin, end),
		cmocka_unit_test_setup_teardown(test_text, begin, end),
		cmocka_unit_test_setup_teardown(test_any_bytes, begin, end),
	};

	return cmocka_run_group_tests_name("nvml_meta", tests, NULL, NULL);
}
