// SPDX-License-Identifier: GPL-2.0
/* How vgpuctl reads the vGPUs of a GPU, and drivers of other versions: ioctl() ends here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Before cmocka, which has a macro fail(). */
#include "ctl.h"

#include "vgpu_test.h"

#define MOST	100

static struct {
	uint32_t major, minor;
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

	assert_int_equal(stats->size, sizeof(*stats));
	assert_int_equal(stats->entry_size, sizeof(*inst));
	assert_int_equal(stats->gpu, 3);
	for (i = 0; i < driver.nr && i < room; i++)
		fill(&inst[i], i);
	stats->count = driver.nr;
	stats->frames = 5;
	return 0;
}

static int answer_version(struct vgpu_ctl_version *version)
{
	assert_int_equal(version->size, 80);
	version->abi_major = driver.major;
	version->abi_minor = driver.minor;
	strcpy((char *)version->driver_version, "0.0.9");
	return 0;
}

static int answer_refusal(struct vgpu_ctl_refusal *refusal)
{
	assert_int_equal(refusal->size, sizeof(*refusal));
	assert_int_equal(refusal->uuid[0], 9);
	assert_int_equal(refusal->flags, VGPU_REFUSAL_OF_GPU);
	assert_int_equal(refusal->gpu, 3);
	refusal->error = ENOSPC;
	return 0;
}

/* The node is there, whatever the machine has. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	return strcmp(path, "/dev/vgpu") ? __real_open(path, flags) : dup2(0, 42);
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
	else if (!error && request == VGPU_IOC_VERSION)
		error = answer_version(arg);
	else if (!error && request == VGPU_IOC_REFUSAL)
		error = answer_refusal(arg);
	else if (!error)
		error = -ENOTTY;
	driver.nr += driver.growth;
	errno = -error;
	return error ? -1 : 0;
}

static int visit(const struct vgpu_ctl_instance *inst, void *arg)
{
	uint32_t *nr = arg, i = *nr;

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

/* Opens the node; @said gets what is said on standard error. */
static int open_node(char *said, size_t room)
{
	char *text;
	size_t bytes;
	int fd;

	message_file = open_memstream(&text, &bytes);
	fd = ctl_open();
	fclose(message_file);
	message_file = NULL;
	snprintf(said, room, "%s", text);
	free(text);
	return fd;
}

/* One line names both versions, and nothing but the version is asked. */
static void test_other_major(void **state)
{
	static const uint32_t majors[] = { VGPU_ABI_MAJOR - 1, VGPU_ABI_MAJOR + 1, 0, UINT32_MAX };
	char said[256], want[256];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(majors); i++) {
		memset(&driver, 0, sizeof(driver));
		driver.major = majors[i];
		driver.minor = 7;
		assert_int_equal(open_node(said, sizeof(said)), -EPROTO);
		snprintf(want, sizeof(want), "%s/dev/vgpu: driver 0.0.9 speaks ABI %u.7, this tool, %s, %u.%u\n",
			 message_prefix, majors[i], VGPUCTL_VERSION, VGPU_ABI_MAJOR,
			 VGPU_ABI_MINOR);
		assert_string_equal(said, want);
		assert_int_equal(driver.calls, 1);
	}
}

/* Another minor version is none of its business; what the driver cannot do names the driver. */
static void test_other_minor(void **state)
{
	struct vgpu_ctl_sched sched;
	char said[256];
	uint32_t minor;

	for (minor = 0; minor < 3; minor++) {
		memset(&driver, 0, sizeof(driver));
		driver.major = VGPU_ABI_MAJOR;
		driver.minor = minor;
		assert_int_equal(open_node(said, sizeof(said)), 42);
		assert_string_equal(said, "");
	}
	assert_int_equal(ctl_sched(42, 3, 0, &sched), -ENOTTY);
	assert_string_equal(ctl_error(-ENOTTY),
			    "the driver of /dev/vgpu, 0.0.9 with ABI 2.2, cannot do that");
	assert_string_equal(ctl_error(-ENODEV), strerror(ENODEV));
}

static void test_refusal_of_a_gpu(void **state)
{
	const uint8_t uuid[VGPU_UUID_LEN] = { 9 };
	struct vgpu_ctl_refusal refusal;

	memset(&driver, 0, sizeof(driver));
	assert_int_equal(ctl_refusal_of(42, uuid, 3, &refusal), 0);
	assert_int_equal(refusal.error, ENOSPC);
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
		cmocka_unit_test(test_other_major),
		cmocka_unit_test(test_other_minor),
		cmocka_unit_test(test_refusal_of_a_gpu),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests_name("ctl", tests, NULL, NULL);
}
