// SPDX-License-Identifier: GPL-2.0
/* How vgpuctl reads the vGPUs of a GPU, from drivers of several ages: ioctl() ends here. */
#include <errno.h>

/* Before cmocka, which has a macro fail(). */
#include "ctl.h"

#include "vgpu_test.h"

#define MOST	100
#define GONE	7	/* a vGPU that is removed between list and read */

static struct {
	bool old;		/* before ABI 1.6 */
	bool by_gpu;		/* since ABI 1.7 */
	uint32_t nr;		/* vGPUs */
	uint32_t growth;	/* by so much with every call */
	unsigned int calls;
	int error;
} driver;

static void fill(struct vgpu_ctl_instance *inst, uint32_t i)
{
	memset(inst, 0, sizeof(*inst));
	inst->size = sizeof(*inst);
	inst->uuid[0] = (uint8_t)i;
	inst->frames = 1000 + i;
}

static int answer_stats(struct vgpu_ctl_stats *stats)
{
	struct vgpu_ctl_instance *inst = (void *)(uintptr_t)stats->entries;
	uint32_t i, room = stats->count;

	if (driver.old)
		return -ENOTTY;
	assert_int_equal(stats->size, sizeof(*stats));
	assert_int_equal(stats->entry_size, sizeof(*inst));
	assert_int_equal(stats->gpu, 3);
	for (i = 0; i < driver.nr && i < room; i++)
		fill(&inst[i], i);
	stats->count = driver.nr;
	stats->frames = 5;
	return 0;
}

static int answer_list(struct vgpu_ctl_list *list)
{
	uint8_t (*uuids)[VGPU_UUID_LEN] = (void *)(uintptr_t)list->ids;
	uint32_t i, room = list->count;

	assert_int_equal(list->gpu, 3);
	for (i = 0; i < driver.nr && i < room; i++) {
		memset(uuids[i], 0, VGPU_UUID_LEN);
		uuids[i][0] = (uint8_t)i;
	}
	list->count = driver.nr;
	return 0;
}

static int answer_instance(struct vgpu_ctl_instance *inst)
{
	if (inst->uuid[0] == GONE)
		return -ENODEV;
	fill(inst, inst->uuid[0]);
	return 0;
}

static int answer_version(struct vgpu_ctl_version *version)
{
	version->abi_major = 1;
	version->abi_minor = driver.by_gpu ? 7 : 5;
	strcpy((char *)version->driver_version, "0.0.9");
	return 0;
}

static int answer_refusal(struct vgpu_ctl_refusal *refusal)
{
	assert_int_equal(refusal->size, sizeof(*refusal));
	assert_int_equal(refusal->uuid[0], 9);
	assert_int_equal(refusal->flags, driver.by_gpu ? VGPU_REFUSAL_OF_GPU : 0);
	assert_int_equal(refusal->gpu, driver.by_gpu ? 3 : 0);
	refusal->error = ENOSPC;
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, void *arg);
int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	int error = -driver.error;

	assert_int_equal(fd, 42);
	driver.calls++;
	assert_true(driver.calls < 1000);
	if (!error && request == VGPU_IOC_STATS)
		error = answer_stats(arg);
	else if (!error && request == VGPU_IOC_INSTANCES)
		error = answer_list(arg);
	else if (!error && request == VGPU_IOC_INSTANCE)
		error = answer_instance(arg);
	else if (!error && request == VGPU_IOC_VERSION)
		error = answer_version(arg);
	else if (!error && request == VGPU_IOC_REFUSAL)
		error = answer_refusal(arg);
	else if (!error && driver.old && request == VGPU_IOC_SESSIONS)
		error = -ENOTTY;
	else if (!error && driver.old && request == VGPU_IOC_EVENTS)
		error = -EINVAL;
	driver.nr += driver.growth;
	errno = -error;
	return error ? -1 : 0;
}

static int visit(const struct vgpu_ctl_instance *inst, void *arg)
{
	uint32_t *nr = arg, i = *nr;

	if (driver.old && i >= GONE)
		i++;
	assert_int_equal(inst->uuid[0], i);
	assert_int_equal(inst->frames, 1000 + i);
	++*nr;
	return *nr == MOST ? -EINTR : 0;
}

static int visit_all(uint32_t *nr)
{
	*nr = 0;
	driver.calls = 0;
	return ctl_visit_instances(42, 3, nr, visit);
}

static void test_one_call(void **state)
{
	uint32_t nr;

	memset(&driver, 0, sizeof(driver));
	assert_int_equal(visit_all(&nr), 0);
	assert_int_equal(nr, 0);
	driver.nr = 32;
	assert_int_equal(visit_all(&nr), 0);
	assert_int_equal(nr, 32);
	assert_int_equal(driver.calls, 1);
	/* A driver that has room for more vGPUs than this one. */
	driver.nr = 90;
	assert_int_equal(visit_all(&nr), 0);
	assert_int_equal(nr, 90);
	assert_int_equal(driver.calls, 2);
	/* What @each says ends the visit. */
	driver.nr = MOST + 5;
	assert_int_equal(visit_all(&nr), -EINTR);
	assert_int_equal(nr, MOST);
}

/* More vGPUs with every call: it is asked again, with room for some more. */
static void test_growing(void **state)
{
	uint32_t nr;

	memset(&driver, 0, sizeof(driver));
	driver.nr = 40;
	driver.growth = 1;
	assert_int_equal(visit_all(&nr), 0);
	assert_int_equal(nr, 41);
	assert_int_equal(driver.calls, 2);
}

static void test_old_driver(void **state)
{
	struct vgpu_ctl_instance *inst;
	struct vgpu_ctl_stats stats;
	uint32_t nr;

	memset(&driver, 0, sizeof(driver));
	driver.old = true;
	assert_int_equal(visit_all(&nr), 0);
	assert_int_equal(nr, 0);
	driver.nr = 20;
	assert_int_equal(visit_all(&nr), 0);
	assert_int_equal(nr, 19);
	assert_int_equal(ctl_snapshot(42, 3, &stats, &inst), 0);
	assert_int_equal(stats.count, 19);
	assert_int_equal(stats.frames, 0);
	free(inst);
}

/* What an old driver does not know: which version knows it, and which the driver's is. */
static void test_old_driver_error(void **state)
{
	struct vgpu_ctl_version version;
	struct vgpu_ctl_session session;
	uint64_t first = 0, now_ns;
	uint32_t count = 1;
	size_t size = 80;

	memset(&driver, 0, sizeof(driver));
	driver.old = true;
	assert_int_equal(ctl_version(42, &version), 0);
	assert_int_equal(ctl_sessions(42, 3, &first, &session, &count, &now_ns), -ENOTTY);
	assert_string_equal(ctl_error(-ENOTTY),
			    "needs a driver with ABI 1.6; that of /dev/vgpu, 0.0.9, has 1.5");
	assert_int_equal(ctl_events(42, VGPU_EVENTS_KEPT, &size, &first), -ENOTTY);
	assert_string_equal(ctl_error(-ENOTTY),
			    "needs a driver with ABI 1.5; that of /dev/vgpu, 0.0.9, has 1.5");
	assert_string_equal(ctl_error(-ENODEV), strerror(ENODEV));
}

/* A driver is asked for the refusal of one GPU only if it keeps them by GPU. */
static void test_refusal_of_a_gpu(void **state)
{
	const uint8_t uuid[VGPU_UUID_LEN] = { 9 };
	struct vgpu_ctl_version version;
	struct vgpu_ctl_refusal refusal;
	int by_gpu;

	for (by_gpu = 0; by_gpu < 2; by_gpu++) {
		memset(&driver, 0, sizeof(driver));
		driver.by_gpu = by_gpu;
		assert_int_equal(ctl_version(42, &version), 0);
		assert_int_equal(ctl_knows_refusals(), by_gpu);
		assert_int_equal(ctl_refusal_of(42, uuid, 3, &refusal), 0);
		assert_int_equal(refusal.error, ENOSPC);
	}
}

static void test_errors(void **state)
{
	static const int errors[] = { ENODEV, EPERM, ENOMEM, ENOTTY };
	uint32_t nr;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		memset(&driver, 0, sizeof(driver));
		driver.nr = 4;
		driver.error = errors[i];
		assert_int_equal(visit_all(&nr), -errors[i]);
		assert_int_equal(nr, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_call),
		cmocka_unit_test(test_growing),
		cmocka_unit_test(test_old_driver),
		cmocka_unit_test(test_old_driver_error),
		cmocka_unit_test(test_refusal_of_a_gpu),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests_name("ctl", tests, NULL, NULL);
}
