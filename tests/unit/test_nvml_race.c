// SPDX-License-Identifier: GPL-2.0
/* tools/libnvml: a thousand threads, vGPUs that come and go meanwhile, children by fork(). */
#include "vgpu_test.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvml.h"
#include "nvml_fake.h"

#define OK(call)	assert_int_equal(call, NVML_SUCCESS)
#define THREADS		1000
#define ROUNDS		8
#define STACK_BYTES	(256 << 10)
#define IDS		65536
#define BOUND_S		1200	/* make check leaves it little processor time */

static nvmlDevice_t dev;
static int allocations;
static bool stop;
static unsigned int wrong;

/* The last group of the UUID that a number of a vGPU has been seen with. */
static unsigned int uuid_of[IDS];

/* Two processes in each guest. */
static const struct vgpu_ctl_channel channels[] = {
	{ .channel = 0, .state = VGPU_HW_STATE_AWAKE, .flags = VGPU_CHANNEL_LABEL, .pid = 7 },
	{ .channel = 1, .state = VGPU_HW_STATE_AWAKE, .flags = VGPU_CHANNEL_LABEL, .pid = 8 },
	{ .channel = 5, .state = VGPU_HW_STATE_AWAKE, .flags = VGPU_CHANNEL_LABEL, .pid = 7 },
};

static int begin(void **state)
{
	unsigned int i;

	fake_reset();
	for (i = 0; i < 16; i++)
		fake.guest[i] = (struct fake_guest) { channels, ARRAY_SIZE(channels), NULL };
	allocations = fake_allocations();
	stop = false;
	wrong = 0;
	memset(uuid_of, 0, sizeof(uuid_of));
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
	return 0;
}

static int end(void **state)
{
	OK(nvmlShutdown());
	assert_int_equal(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
	assert_int_equal(fake_files(), 0);
	assert_int_equal(fake_allocations(), allocations);
	return 0;
}

/* Says that something is wrong; the thread of the test finds it. */
static bool need(bool right, const char *what, int ret)
{
	if (right)
		return true;
	__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	printf("# %s: %d\n", what, ret);
	return false;
}

static void look_at(nvmlVgpuInstance_t v)
{
	unsigned int type, tail, before;
	unsigned long long bytes;
	char uuid[80];
	nvmlReturn_t ret;

	ret = nvmlVgpuInstanceGetType(v, &type);
	need(!ret || ret == NVML_ERROR_NOT_FOUND, "type", ret);
	ret = nvmlVgpuInstanceGetFbUsage(v, &bytes);
	need(!ret || ret == NVML_ERROR_NOT_FOUND, "memory", ret);
	ret = nvmlVgpuInstanceGetUUID(v, uuid, sizeof(uuid));
	if (!need(!ret || ret == NVML_ERROR_NOT_FOUND, "UUID", ret) || ret || v >= IDS)
		return;
	tail = strtoul(uuid + 34, NULL, 16) + 1;
	before = __atomic_exchange_n(&uuid_of[v], tail, __ATOMIC_RELAXED);
	need(!before || before == tail, "a number of two vGPUs", v);
}

static void look_at_guests(void)
{
	nvmlVgpuProcessUtilizationSample_t s[64];
	unsigned int count = ARRAY_SIZE(s), i;
	nvmlReturn_t ret;

	ret = nvmlDeviceGetVgpuProcessUtilization(dev, 0, &count, s);
	need(!ret || ret == NVML_ERROR_NOT_FOUND, "processes in guests", ret);
	for (i = 0; !ret && i < count; i++)
		need(s[i].vgpuInstance && (s[i].pid == 7 || s[i].pid == 8), "pid", s[i].pid);
}

static void *client(void *unused)
{
	static const unsigned int room = 64;
	unsigned int round, count, i;
	nvmlVgpuInstance_t v[64];
	nvmlUtilization_t rates;
	nvmlReturn_t ret;

	for (round = 0; round < ROUNDS; round++) {
		need(!nvmlInit_v2(), "init", 0);
		count = room;
		ret = nvmlDeviceGetActiveVgpus(dev, &count, v);
		need(!ret, "active vGPUs", ret);
		for (i = 0; !ret && i < count; i++)
			look_at(v[i]);
		ret = nvmlDeviceGetUtilizationRates(dev, &rates);
		need(!ret, "utilization", ret);
		look_at_guests();
		count = room;
		ret = nvmlDeviceGetCreatableVgpus(dev, &count, v);
		need(!ret, "creatable types", ret);
		need(!nvmlShutdown(), "shutdown", 0);
	}
	return unused;
}

/* vGPUs that come and go, those of one UUID one after the other. */
static void *churn(void *unused)
{
	unsigned int nr = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		nr = (nr + 1) % 16;
		fake_remove(nr);
		fake_create(nr, 0, 0, nr);
		fake_start(nr, 1 + nr);
		sched_yield();
	}
	return unused;
}

static void start(pthread_t *thread, void *(*run)(void *unused))
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	assert_int_equal(pthread_create(thread, &attr, run, NULL), 0);
	pthread_attr_destroy(&attr);
}

static void test_threads(void **state)
{
	static pthread_t threads[THREADS];
	pthread_t churner;
	unsigned int i;

	start(&churner, churn);
	for (i = 0; i < THREADS; i++)
		start(&threads[i], client);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(churner, NULL);
	assert_int_equal(wrong, 0);
}

static void *starter(void *unused)
{
	unsigned int i, count;

	for (i = 0; i < 50; i++) {
		need(!nvmlInit_v2(), "init", 0);
		need(!nvmlDeviceGetCount_v2(&count) && count == FAKE_GPUS, "count", 0);
		need(!nvmlShutdown(), "shutdown", 0);
	}
	return unused;
}

/* The library is initialized for the first time, and no more, again and again. */
static void test_init_and_shutdown(void **state)
{
	pthread_t threads[64];
	unsigned int i;

	OK(nvmlShutdown());
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		start(&threads[i], starter);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(wrong, 0);
	assert_int_equal(fake_files(), 0);
	OK(nvmlInit_v2());
}

static void *reader(void *unused)
{
	nvmlUtilization_t rates;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		need(!nvmlDeviceGetUtilizationRates(dev, &rates), "utilization", 0);
	return unused;
}

/* A child goes on with the state that it got, and what it ends is its own. */
static int child(nvmlEventSet_t set)
{
	nvmlEventData_t data;
	unsigned int count;
	nvmlMemory_t memory;

	alarm(BOUND_S);
	if (nvmlDeviceGetCount_v2(&count) || nvmlDeviceGetMemoryInfo(dev, &memory))
		return 1;
	if (nvmlEventSetWait_v2(set, &data, 0) != NVML_ERROR_TIMEOUT)
		return 2;
	if (nvmlShutdown() || nvmlInit_v2() || nvmlShutdown())
		return 3;
	return 0;
}

static void test_fork(void **state)
{
	pthread_t threads[8];
	nvmlEventData_t data;
	nvmlEventSet_t set;
	unsigned int i;
	int status;
	pid_t pid;

	OK(nvmlEventSetCreate(&set));
	OK(nvmlDeviceRegisterEvents(dev, nvmlEventTypeXidCriticalError, set));
	fake_event(VGPU_EVENT_FAULT, 0, 1);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		start(&threads[i], reader);
	for (i = 0; i < 20; i++) {
		fflush(stdout);
		pid = fork();
		if (!pid)
			_exit(child(set));
		assert_true(pid > 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(wrong, 0);
	/* No child has read the parent's event. */
	OK(nvmlEventSetWait_v2(set, &data, 0));
	assert_int_equal(data.eventData, 13);
}

/* The child of a client that knows its vGPUs: neither misses what the other one has seen. */
static void test_fork_events(void **state)
{
	unsigned int count = 1, type;
	nvmlVgpuInstance_t v, w;
	int status;
	pid_t pid;

	fake_create(1, 0, 0, 0);
	fake_start(1, 1);
	OK(nvmlDeviceGetActiveVgpus(dev, &count, &v));
	OK(nvmlVgpuInstanceGetType(v, &type));
	fflush(stdout);
	fake_remove(1);
	pid = fork();
	if (!pid) {
		if (nvmlVgpuInstanceGetType(v, &type) != NVML_ERROR_NOT_FOUND)
			_exit(1);
		fake_create(2, 0, 0, 0);
		fake_start(2, 2);
		if (nvmlDeviceGetActiveVgpus(dev, &count, &w) || count != 1 || w == v)
			_exit(2);
		fake_remove(2);
		_exit(nvmlVgpuInstanceGetType(w, &type) == NVML_ERROR_NOT_FOUND ? 0 : 3);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(nvmlVgpuInstanceGetType(v, &type), NVML_ERROR_NOT_FOUND);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_threads, begin, end),
		cmocka_unit_test_setup_teardown(test_init_and_shutdown, begin, end),
		cmocka_unit_test_setup_teardown(test_fork, begin, end),
		cmocka_unit_test_setup_teardown(test_fork_events, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
