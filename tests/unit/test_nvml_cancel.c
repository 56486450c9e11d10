// SPDX-License-Identifier: GPL-2.0
/* tools/libnvml: a client cancels its threads wherever they are in the library. */
#include "vgpu_test.h"

#include <pthread.h>
#include <unistd.h>

#include "nvml.h"
#include "nvml_fake.h"

#define OK(call)	assert_int_equal(call, NVML_SUCCESS)
#define THREADS		64
#define BOUND_S		1200	/* make check leaves it little processor time */

static int allocations;

static int begin(void **state)
{
	fake_reset();
	allocations = fake_allocations();
	OK(nvmlInit_v2());
	alarm(BOUND_S);
	return 0;
}

static int end(void **state)
{
	OK(nvmlShutdown());
	assert_int_equal(fake_files(), 0);
	assert_int_equal(fake_allocations(), allocations);
	alarm(0);
	return 0;
}

static void cancel(pthread_t thread)
{
	unsigned int count;
	void *result;

	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	OK(nvmlDeviceGetCount_v2(&count));
}

/* It opens, reads and closes a file, where a thread can be cancelled. */
static void *ask_names(void *unused)
{
	char name[64];

	while (!nvmlSystemGetProcessName(getpid(), name, sizeof(name)))
		pthread_testcancel();
	return unused;
}

/* The lock is not left behind. */
static void test_calls(void **state)
{
	pthread_t thread;
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_create(&thread, NULL, ask_names, NULL), 0);
		usleep(random() % 1000);
		cancel(thread);
	}
}

static void *wait_events(void *set)
{
	nvmlEventData_t data;

	while (nvmlEventSetWait_v2(set, &data, 1000) == NVML_ERROR_TIMEOUT)
		;
	return set;
}

/* Nor is a set that is freed after its waits have ended. */
static void test_waits(void **state)
{
	pthread_t threads[THREADS];
	nvmlEventSet_t set;
	unsigned int i;

	OK(nvmlEventSetCreate(&set));
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_events, set), 0);
	for (i = 0; i < THREADS; i++) {
		usleep(random() % 1000);
		cancel(threads[i]);
	}
	assert_int_equal(fake_files(), 2);
	OK(nvmlEventSetFree(set));
	assert_int_equal(fake_files(), 1);
}

/* A client may forbid that its thread is cancelled: it stays so. */
static void test_state(void **state)
{
	unsigned int count;
	int old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	OK(nvmlDeviceGetCount_v2(&count));
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
	assert_int_equal(old, PTHREAD_CANCEL_DISABLE);
	OK(nvmlDeviceGetCount_v2(&count));
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
	assert_int_equal(old, PTHREAD_CANCEL_ENABLE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_calls, begin, end),
		cmocka_unit_test_setup_teardown(test_waits, begin, end),
		cmocka_unit_test_setup_teardown(test_state, begin, end),
	};

	return cmocka_run_group_tests_name("nvml_cancel", tests, NULL, NULL);
}
