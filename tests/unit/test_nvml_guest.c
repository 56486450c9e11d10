// SPDX-License-Identifier: GPL-2.0
/*
 * tools/libnvml: processes in guests, and the guests' drivers. Labels are the guest's, and hostile;
 * loads are those between two looks of the library.
 */
#include "vgpu_test.h"

#include <errno.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "internal.h"
#include "nvml_channels.h"

#define OK(call)	assert_int_equal(call, NVML_SUCCESS)
#define SHORT(call)	assert_int_equal(call, NVML_ERROR_INSUFFICIENT_SIZE)
#define NONE(call)	assert_int_equal(call, NVML_ERROR_NOT_FOUND)
#define ROOM		2048

typedef nvmlVgpuProcessUtilizationSample_t sample_t;

static sample_t s[ROOM];
static unsigned int count;

static nvmlReturn_t get(unsigned long long last_us)
{
	count = ROOM;
	return nvmlDeviceGetVgpuProcessUtilization(dev, last_us, &count, s);
}

static void test_loads(void **state)
{
	unsigned long long first_us, second_us;

	channels_of_two();
	channel_work(0, 0, 300 * MS);
	channel_work(1, 1, 500 * MS);
	channel_work(2, 3, 120 * MS);
	channel_work(3, 0, 50 * MS);
	/* At first it is the mean since it was opened; what has no label has no pid and no name. */
	OK(get(0));
	assert_int_equal(count, 3);
	assert_true(s[0].pid == 10 && s[1].pid == 11 && s[2].pid == 0);
	assert_string_equal(s[0].processName, "game");
	assert_string_equal(s[2].processName, "");
	assert_int_equal(s[0].smUtil, 30);
	assert_int_equal(s[0].memUtil, 25);	/* one of two copy engines */
	assert_int_equal(s[1].encUtil, 12);
	assert_int_equal(s[2].smUtil, 5);
	assert_true(s[0].vgpuInstance && s[0].vgpuInstance == s[2].vgpuInstance);
	first_us = s[0].timeStamp;
	assert_int_equal(first_us, nv_time_us(fake.now_ns));
	/* Nothing is new, whoever asks how often. */
	NONE(get(first_us));
	/* Since then. */
	fake.now_ns += SEC / 2;
	channel_work(0, 0, 400 * MS);
	OK(get(first_us));
	assert_int_equal(count, 3);
	assert_int_equal(s[0].smUtil, 80);
	assert_true(!s[0].memUtil && !s[1].encUtil && !s[2].smUtil);
	second_us = s[0].timeStamp;
	assert_true(second_us > first_us);
	/* A client that has not seen the look before it has the mean since the one that it has. */
	fake.now_ns += SEC / 2;
	OK(get(first_us));
	assert_int_equal(s[0].smUtil, 40);
	OK(get(second_us));
	assert_int_equal(s[0].smUtil, 0);
	NONE(get(s[0].timeStamp));
	NONE(get(~0ull));
	/* The processes of the host are the same as ever. */
	assert_int_equal(nvmlDeviceGetProcessUtilization(dev, NULL, (count = 0, &count), 0),
			 NVML_ERROR_INSUFFICIENT_SIZE);
}

/* To ask how much room is needed, and to take as long as one likes, changes nothing. */
static void test_two_calls(void **state)
{
	unsigned long long last_us;
	unsigned int i;

	channel_label(0, 10, "game");
	channels_are(channel, 1, NULL);
	OK(get(0));
	last_us = s[0].timeStamp;
	for (i = 0; i < 4; i++) {
		fake.now_ns += SEC;
		channel_work(0, 0, 250 * MS);
		count = 0;
		SHORT(nvmlDeviceGetVgpuProcessUtilization(dev, last_us, &count, NULL));
		assert_true(count >= 1);
		if (i % 2)
			fake.now_ns += SEC;
		OK(nvmlDeviceGetVgpuProcessUtilization(dev, last_us, &count, s));
		assert_int_equal(count, 1);
		assert_int_equal(s[0].smUtil, i % 2 ? 13 : 25);
		last_us = s[0].timeStamp;
	}
	/* Who was away for longer than looks are kept has the mean of those. */
	for (i = 0; i < 20; i++) {
		fake.now_ns += SEC;
		channel_work(0, 0, 100 * MS);
		OK(get(s[0].timeStamp));
	}
	OK(get(last_us));
	assert_int_equal(s[0].smUtil, 10);
}

/* Channels are disabled, enabled again for others, and go. */
static void test_changes(void **state)
{
	unsigned long long last_us;

	channel_label(0, 10, "game");
	channel_label(1, 11, "video");
	channels_are(channel, 2, NULL);
	channel_work(0, 0, 600 * MS);
	OK(get(0));
	last_us = s[0].timeStamp;
	/* The channel is another process's now: none of the time before is its own. */
	fake.now_ns += SEC;
	channel_label(0, 12, "other");
	channel[0].enabled_ns = fake.now_ns - 100 * MS;
	channel[0].busy_ns = 50 * MS;
	channel[1].state = VGPU_HW_STATE_DISABLED;
	OK(get(last_us));
	assert_int_equal(count, 1);
	assert_int_equal(s[0].pid, 12);
	assert_int_equal(s[0].smUtil, 5);
	last_us = s[0].timeStamp;
	/* A process that has ended had some time at least once more. */
	fake.now_ns += SEC;
	channel_work(0, 0, 20 * MS);
	channel[0].state = VGPU_HW_STATE_DISABLED;
	OK(get(last_us));
	assert_int_equal(count, 1);
	assert_int_equal(s[0].smUtil, 2);
	fake.now_ns += SEC;
	NONE(get(s[0].timeStamp));
	/* A time that runs backwards, and an engine that is none, are no reason to fail. */
	channel[0].busy_ns = 1;
	channel[0].engine = UINT32_MAX;
	channel[0].state = VGPU_HW_STATE_FAULTED;
	fake.now_ns += SEC;
	OK(get(last_us));
	assert_int_equal(s[0].smUtil, 0);
}

/* Another session: what the guest before it did is not the next one's. */
static void test_sessions(void **state)
{
	nvmlVgpuInstance_t before;

	channel_label(0, 10, "game");
	channels_are(channel, 1, NULL);
	channel_work(0, 0, 500 * MS);
	OK(get(0));
	before = s[0].vgpuInstance;
	fake_stop(1);
	/* The look is not an old one yet, but the vGPU is closed. */
	NONE(get(1));
	fake_start(1, 501);
	fake.now_ns += SEC;
	channels_are(channel, 1, NULL);
	channel[0].busy_ns = 0;
	OK(get(1));
	assert_int_equal(s[0].vgpuInstance, before);
	assert_int_equal(s[0].smUtil, 0);
	/* Without a guest that names processes, it is the process that has the vGPU open. */
	channel[0].flags = 0;
	fake.now_ns += SEC;
	fake_sample(0, -1, 0, idle);
	fake_sample(0, 1, 0, idle);
	OK(get(1));
	assert_int_equal(s[0].pid, 501);
	assert_string_equal(s[0].processName, "vm501");
	fake_remove(1);
	NONE(get(1));
}

static void test_hostile_names(void **state)
{
	static const struct {
		const char *bytes, *shown;
	} cases[] = {
		{ "\033[2J\033]0;x\a\r\n\t..", "?[2J?]0;x????.." },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
			"????????????????" },
		{ "\xc2\x9b_\xc0\xaf\xed\xa0\x80\x7f_____\xe2\x82", "??_??????_____??" },
		{ "\xc3\xa4\xf0\x9f\x98\x80 0123456789", "\xc3\xa4\xf0\x9f\x98\x80 012345678" },
		{ "%s%n%s%n%s%n%s%n", "%s%n%s%n%s%n%s%n" },
		{ "\xe2\x80\25612\xe2\x81\xa6\xd8\x9c\xe2\x80\xa8___", "???12????????___" },
		{ "\0hidden by a 0..", "" },
	};
	nvmlVgpuProcessUtilizationInfo_v1_t info;
	nvmlVgpuProcessesUtilizationInfo_t call = {
		.version = NVML_STRUCT_VERSION(VgpuProcessesUtilizationInfo, 1),
		.vgpuProcUtilArray = &info,
	};
	unsigned int i;

	channels_are(channel, 1, NULL);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		channel_label(0, UINT32_MAX, "");
		memcpy(channel[0].comm, cases[i].bytes, 16);
		fake.now_ns += SEC;
		OK(get(0));
		assert_int_equal(s[0].pid, UINT32_MAX);
		assert_string_equal(s[0].processName, cases[i].shown);
		call.vgpuProcessCount = 1;
		OK(nvmlDeviceGetVgpuProcessesUtilizationInfo(dev, &call));
		assert_string_equal(info.processName, cases[i].shown);
		assert_int_equal(info.pid, UINT32_MAX);
	}
}

/* All channels that there can be, each of another process, or all of one. */
static void test_many(void **state)
{
	unsigned int i, needed = 0;

	for (i = 0; i < CHANNELS; i++) {
		channel_label(i, CHANNELS - i, "many");
		channel_work(i, 0, i * US);
	}
	channels_are(channel, CHANNELS, NULL);
	SHORT(nvmlDeviceGetVgpuProcessUtilization(dev, 0, &needed, NULL));
	assert_true(needed >= CHANNELS && needed < ROOM);
	count = CHANNELS - 1;
	SHORT(nvmlDeviceGetVgpuProcessUtilization(dev, 0, &count, s));
	OK(get(0));
	assert_int_equal(count, CHANNELS);
	for (i = 0; i < CHANNELS; i++)
		assert_int_equal(s[i].pid, i + 1);
	for (i = 0; i < CHANNELS; i++)
		channel_label(i, 7, i % 2 ? "odd" : "even");
	fake.now_ns += SEC;
	OK(get(1));
	assert_int_equal(count, 1);
	assert_string_equal(s[0].processName, "even");
}

/* Arrays and rooms of all kinds: nothing is written where it does not fit. */
static void test_rooms(void **state)
{
	nvmlVgpuProcessesUtilizationInfo_t call = { .vgpuProcUtilArray = NULL };
	nvmlVgpuProcessUtilizationInfo_v1_t info[4];
	unsigned int i;

	for (i = 0; i < 3; i++)
		channel_label(i, i + 1, "game");
	channels_are(channel, 3, NULL);
	assert_int_equal(nvmlDeviceGetVgpuProcessUtilization(dev, 0, NULL, s),
			 NVML_ERROR_INVALID_ARGUMENT);
	assert_int_equal(nvmlDeviceGetVgpuProcessUtilization(NULL, 0, &count, s),
			 NVML_ERROR_INVALID_ARGUMENT);
	assert_int_equal(nvmlDeviceGetVgpuProcessesUtilizationInfo(dev, NULL),
			 NVML_ERROR_INVALID_ARGUMENT);
	for (i = 0; i < 5; i++) {
		call.version = NVML_STRUCT_VERSION(VgpuProcessesUtilizationInfo, 1);
		call.version ^= i ? 1u << 6 * i : 0;
		assert_int_equal(nvmlDeviceGetVgpuProcessesUtilizationInfo(dev, &call), i ?
				 NVML_ERROR_ARGUMENT_VERSION_MISMATCH :
				 NVML_ERROR_INSUFFICIENT_SIZE);
	}
	call.version = NVML_STRUCT_VERSION(VgpuProcessesUtilizationInfo, 1);
	for (i = 0; i < 6; i++) {
		memset(s, 0xee, sizeof(s[0]) * 4);
		memset(info, 0xee, sizeof(info));
		count = i;
		call.vgpuProcessCount = i;
		call.vgpuProcUtilArray = info;
		assert_int_equal(nvmlDeviceGetVgpuProcessUtilization(dev, 0, &count, s), i < 3 ?
				 NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS);
		assert_int_equal(nvmlDeviceGetVgpuProcessesUtilizationInfo(dev, &call), i < 3 ?
				 NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS);
		assert_int_equal(count, call.vgpuProcessCount);
		assert_true(i < 3 ? count >= 3 : count == 3);
		assert_int_equal(s[0].pid, i < 3 ? 0xeeeeeeee : 1);
		assert_int_equal(info[2].pid, i < 3 ? 0xeeeeeeee : 3);
		assert_int_equal(s[3].pid, 0xeeeeeeee);
		assert_int_equal(info[3].pid, 0xeeeeeeee);
	}
	/* No array has room, whatever is said of it. */
	count = ROOM;
	SHORT(nvmlDeviceGetVgpuProcessUtilization(dev, 0, &count, NULL));
	call.vgpuProcessCount = ROOM;
	call.vgpuProcUtilArray = NULL;
	SHORT(nvmlDeviceGetVgpuProcessesUtilizationInfo(dev, &call));
	/* Nothing is new: none is needed. */
	call.lastSeenTimeStamp = ~0ull;
	NONE(nvmlDeviceGetVgpuProcessesUtilizationInfo(dev, &call));
	assert_int_equal(call.vgpuProcessCount, 0);
}

/* A host's process is no better than a guest's. */
static void test_hostile_owner(void **state)
{
	char before[16], text[64];

	fake_stop(1);
	fake.owner = "\033[2J\xff\xc2\x9b\nx";
	fake_start(1, 500);
	fake.now_ns += SEC;
	fake_sample(0, -1, 0, idle);
	fake_sample(0, 1, 0, idle);
	OK(get(0));
	assert_int_equal(s[0].pid, 500);
	assert_string_equal(s[0].processName, "?[2J????x");
	/* Nor is one whose name is read in /proc. */
	prctl(PR_GET_NAME, before);
	prctl(PR_SET_NAME, "a\xff\n\033[2J\xc3\xa4");
	assert_int_equal(nvmlSystemGetProcessName(getpid(), text, sizeof(text)), NVML_SUCCESS);
	assert_string_equal(text, "a???[2J\xc3\xa4");
	SHORT(nvmlSystemGetProcessName(getpid(), text, 5));
	prctl(PR_SET_NAME, before);
}

static void test_driver(void **state)
{
	uint8_t version[VGPU_GUEST_NAME_LEN] = "0.1.0-guest";
	nvmlVgpuInstance_t v;
	char text[80];

	count = 1;
	OK(nvmlDeviceGetActiveVgpus(dev, &count, &v));
	OK(nvmlVgpuInstanceGetVmDriverVersion(v, text, sizeof(text)));
	assert_string_equal(text, "Not Available");
	channels_are(NULL, 0, version);
	OK(nvmlVgpuInstanceGetVmDriverVersion(v, text, 12));
	assert_string_equal(text, "0.1.0-guest");
	SHORT(nvmlVgpuInstanceGetVmDriverVersion(v, text, 11));
	/* Whatever it is, it has room where clients have 80 bytes. */
	memset(version, 0x9b, sizeof(version));
	OK(nvmlVgpuInstanceGetVmDriverVersion(v, text, sizeof(text)));
	assert_string_equal(text, "????????????????????????????????");
	fake_stop(1);
	OK(nvmlVgpuInstanceGetVmDriverVersion(v, text, sizeof(text)));
	assert_string_equal(text, "Not Available");
}

static void test_metadata(void **state)
{
	uint8_t version[VGPU_GUEST_NAME_LEN] = "0.1.0";
	union {
		nvmlVgpuMetadata_t data;
		char bytes[4096];
	} meta;
	nvmlVgpuInstance_t v;

	count = 1;
	OK(nvmlDeviceGetActiveVgpus(dev, &count, &v));
	count = sizeof(meta);
	OK(nvmlVgpuInstanceGetMetadata(v, &meta.data, &count));
	assert_int_equal(meta.data.guestInfoState,
			 NVML_VGPU_INSTANCE_GUEST_INFO_STATE_UNINITIALIZED);
	assert_string_equal(meta.data.guestDriverVersion, "");
	channels_are(NULL, 0, version);
	OK(nvmlVgpuInstanceGetMetadata(v, &meta.data, &count));
	assert_int_equal(meta.data.guestInfoState,
			 NVML_VGPU_INSTANCE_GUEST_INFO_STATE_INITIALIZED);
	assert_string_equal(meta.data.guestDriverVersion, "0.1.0");
}

/* A driver without the call has none of it, and all else. */
static void test_older_driver(void **state)
{
	nvmlVgpuInstance_t v;
	char text[80];

	fake.refuse[_IOC_NR(VGPU_IOC_CHANNELS) - 0xb0] = ENOTTY;
	channel_label(0, 10, "game");
	channels_are(channel, 1, NULL);
	OK(get(0));
	assert_int_equal(s[0].pid, 500);
	count = 1;
	OK(nvmlDeviceGetActiveVgpus(dev, &count, &v));
	OK(nvmlVgpuInstanceGetVmDriverVersion(v, text, sizeof(text)));
	assert_string_equal(text, "Not Available");
	/* Another error is one. */
	fake.refuse[_IOC_NR(VGPU_IOC_CHANNELS) - 0xb0] = EPERM;
	assert_int_equal(get(0), NVML_ERROR_NO_PERMISSION);
	assert_int_equal(nvmlVgpuInstanceGetVmDriverVersion(v, text, sizeof(text)),
			 NVML_ERROR_NO_PERMISSION);
}

/* Each allocation fails once; what was looked at before stays. */
static void test_no_memory(void **state)
{
	nvmlReturn_t ret;
	unsigned int i;
	int nr;

	for (i = 0; i < 300; i++)
		channel_label(i, i, "game");
	channels_are(channel, 300, NULL);
	OK(get(0));
	for (nr = 1; ; nr++) {
		fake.now_ns += SEC;
		fake.fail_allocation = nr;
		ret = get(0);
		if (fake.fail_allocation)
			break;
		assert_int_equal(ret, NVML_ERROR_MEMORY);
	}
	fake.fail_allocation = 0;
	OK(ret);
	assert_int_equal(count, 300);
	assert_true(nr > 5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_loads, channels_begin, channels_end),
		cmocka_unit_test_setup_teardown(test_two_calls, channels_begin, channels_end),
		cmocka_unit_test_setup_teardown(test_changes, channels_begin, channels_end),
		cmocka_unit_test_setup_teardown(test_sessions, channels_begin, channels_end),
		cmocka_unit_test_setup_teardown(test_hostile_names, channels_begin, channels_end),
		cmocka_unit_test_setup_teardown(test_many, channels_begin, channels_end),
		cmocka_unit_test_setup_teardown(test_rooms, channels_begin, channels_end),
		cmocka_unit_test_setup_teardown(test_hostile_owner, channels_begin, channels_end),
		cmocka_unit_test_setup_teardown(test_driver, channels_begin, channels_end),
		cmocka_unit_test_setup_teardown(test_metadata, channels_begin, channels_end),
		cmocka_unit_test_setup_teardown(test_older_driver, channels_begin, channels_end),
		cmocka_unit_test_setup_teardown(test_no_memory, channels_begin, channels_end),
	};

	return cmocka_run_group_tests_name("nvml_guest", tests, NULL, NULL);
}
