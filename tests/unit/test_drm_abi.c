// SPDX-License-Identifier: GPL-2.0
/*
 * The ABI of the guest's driver: programs of 32 bits see the same as others. Where the compiler
 * adds no padding for 64 bits, each __u64 is where those of 32 bits have it, too. Sizes are part of
 * the numbers of calls: one that changes is another call.
 */
#include "vgpu_test.h"

#include <drm/drm.h>
#include <linux/types.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"
#include <drm/vgpu_drm.h>
#pragma GCC diagnostic pop

#define SIZE(type, size)		{ #type, sizeof(struct type), size }
#define PLACE(type, member, place)	{ #type "." #member, offsetof(struct type, member), place }
#define CALL(name, nr, dir, size)	{ #name, name, _IOC(dir, 'd', 0x40 + (nr), size) }
#define OUT	_IOC_WRITE
#define BOTH	(_IOC_READ | _IOC_WRITE)

static const struct {
	const char *what;
	unsigned long is;
	unsigned long wanted;
} facts[] = {
	SIZE(drm_vgpu_array, 16),
	SIZE(drm_vgpu_sync, 16),
	SIZE(drm_vgpu_bind_op, 40),
	PLACE(drm_vgpu_bind_op, offset, 16),
	SIZE(drm_vgpu_dev_info, 232),
	PLACE(drm_vgpu_dev_info, fb_bytes, 24),
	PLACE(drm_vgpu_dev_info, engine, 40),
	PLACE(drm_vgpu_dev_info, uuid, 168),
	PLACE(drm_vgpu_dev_info, system_bytes, 216),
	SIZE(drm_vgpu_engine_usage, 16),
	SIZE(drm_vgpu_usage, 528),
	PLACE(drm_vgpu_usage, engine, 16),
	PLACE(drm_vgpu_bo_create, flags, 20),
	PLACE(drm_vgpu_queue_create, priority, 20),
	PLACE(drm_vgpu_queue_query, fault_id, 28),
	PLACE(drm_vgpu_queue_query, fault_pc, 56),
	CALL(DRM_IOCTL_VGPU_DEV_QUERY, 0, BOTH, 16),
	CALL(DRM_IOCTL_VGPU_VM_CREATE, 1, BOTH, 8),
	CALL(DRM_IOCTL_VGPU_VM_DESTROY, 2, OUT, 8),
	CALL(DRM_IOCTL_VGPU_VM_BIND, 3, OUT, 40),
	CALL(DRM_IOCTL_VGPU_BO_CREATE, 4, BOTH, 24),
	CALL(DRM_IOCTL_VGPU_BO_MMAP_OFFSET, 5, BOTH, 16),
	CALL(DRM_IOCTL_VGPU_QUEUE_CREATE, 6, BOTH, 24),
	CALL(DRM_IOCTL_VGPU_QUEUE_DESTROY, 7, OUT, 8),
	CALL(DRM_IOCTL_VGPU_QUEUE_QUERY, 8, BOTH, 64),
	CALL(DRM_IOCTL_VGPU_EXEC, 9, OUT, 40),
	CALL(DRM_IOCTL_VGPU_USAGE_QUERY, 10, BOTH, 16),
};

static void test_facts(void **state)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(facts); i++)
		check_that(facts[i].is == facts[i].wanted, "%s: %lu", facts[i].what, facts[i].is);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
