// SPDX-License-Identifier: GPL-2.0
/*
 * What vgpuctl shows of guests: process and show, on a driver of /dev/vgpu that is this program.
 * Guests are hostile: their labels are any bytes, and change while they are read.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

#include <linux/vgpu_hw.h>

/* Before cmocka, which has a macro fail(). */
#include "command.h"
#include "ctl.h"
#include "guest.h"
#include "utf8.h"

#include "json_test.h"
#include "vgpu_test.h"

#define MOST		1024
#define UUID		"0a000000-0000-0000-0000-000000000000"
#define BAD		UTF8_REPLACEMENT
#define NODE		42

static struct {
	uint32_t minor;		/* of the ABI */
	uint32_t nr;		/* channels */
	struct vgpu_ctl_channel channel[MOST];
	char name[VGPU_GUEST_NAME_LEN];
	char version[VGPU_GUEST_NAME_LEN];
	char os[VGPU_GUEST_OS_LEN];
	int error;		/* of VGPU_IOC_CHANNELS */
	uint32_t calls;		/* of it */
	uint32_t gone_after;	/* so many of them the vGPU is gone; 0: it stays */
	bool stuck;		/* it never gets on */
	bool unknown;		/* the process that has the vGPU open */
	const char *owner;	/* its name of 16 bytes; NULL: "qemu" */
	u64 *changes;		/* labels change with each call, by these random numbers */
} driver;

static char said[4 << 20];

static void put_label(uint32_t i, uint64_t client, uint32_t pid, const void *comm)
{
	struct vgpu_ctl_channel *channel = &driver.channel[i];

	channel->flags = VGPU_CHANNEL_LABEL;
	channel->client = client;
	channel->pid = pid;
	channel->uid = 1000;
	memcpy(channel->comm, comm, sizeof(channel->comm));
}

/* @nr channels, on gr and ce0 in turns, without labels. */
static void begin(uint32_t nr)
{
	uint32_t i;

	memset(&driver, 0, sizeof(driver));
	driver.minor = VGPU_ABI_MINOR;
	driver.nr = nr;
	for (i = 0; i < nr; i++) {
		driver.channel[i] = (struct vgpu_ctl_channel) {
			.channel = i, .engine = i % 2, .state = VGPU_HW_STATE_SLEEPING,
			.enabled_ns = 1000, .busy_ns = 1000000, .total_busy_ns = 3000000,
		};
	}
}

static int answer_channels(struct vgpu_ctl_channels *call)
{
	struct vgpu_ctl_channel *to = (void *)(uintptr_t)call->entries;
	uint32_t i, nr = 0;

	assert_int_equal(call->size, sizeof(*call));
	assert_int_equal(call->entry_size, sizeof(*to));
	assert_int_equal(call->uuid[0], 0x0a);
	if (driver.error)
		return -driver.error;
	if (driver.gone_after && driver.calls == driver.gone_after)
		return -ENODEV;
	driver.calls++;
	assert_true(driver.calls < 100);
	for (i = 0; driver.changes && i < driver.nr; i++) {
		u64 bytes[] = { random_next(driver.changes), random_next(driver.changes) };

		put_label(i, bytes[0], (uint32_t)bytes[1], bytes);
	}
	for (i = driver.stuck ? 0 : call->first; i < driver.nr && nr < call->count && nr < 256; i++)
		to[nr++] = driver.channel[i];
	call->count = nr;
	call->next = driver.stuck ? 0 : i;
	call->now_ns = 5000000;
	memcpy(call->driver_name, driver.name, sizeof(driver.name));
	memcpy(call->driver_version, driver.version, sizeof(driver.version));
	memcpy(call->os, driver.os, sizeof(driver.os));
	return 0;
}

static int answer_gpu(struct vgpu_ctl_gpu *gpu)
{
	assert_int_equal(gpu->gpu, 0);
	strcpy((char *)gpu->address, "f000:00:00.0");
	gpu->engines = 2;
	strcpy((char *)gpu->engine[0].name, "gr");
	strcpy((char *)gpu->engine[1].name, "ce0");
	return 0;
}

static int answer_instance(struct vgpu_ctl_instance *inst)
{
	memset(inst, 0, sizeof(*inst));
	inst->uuid[0] = 0x0a;
	inst->state = VGPU_STATE_STARTED;
	inst->owner_pid = driver.unknown ? 0 : 77;
	inst->session = 1;
	inst->engines = 2;
	strcpy((char *)inst->type_name, "SG16-4Q");
	memcpy(inst->owner_comm, driver.owner ?: "qemu\0...........", VGPU_COMM_LEN);
	return 0;
}

static int answer_stats(struct vgpu_ctl_stats *stats)
{
	answer_instance((void *)(uintptr_t)stats->entries);
	stats->count = 1;
	return 0;
}

static int answer_gpus(struct vgpu_ctl_list *list)
{
	*(uint32_t *)(uintptr_t)list->ids = 0;
	list->count = 1;
	return 0;
}

static int answer(unsigned long request, void *arg)
{
	struct vgpu_ctl_version *version = arg;

	switch (request) {
	case VGPU_IOC_VERSION:
		version->abi_major = VGPU_ABI_MAJOR;
		version->abi_minor = driver.minor;
		strcpy((char *)version->driver_version, "0.0.9");
		return 0;
	case VGPU_IOC_GPUS:
		return answer_gpus(arg);
	case VGPU_IOC_GPU:
		return answer_gpu(arg);
	case VGPU_IOC_INSTANCE:
		return answer_instance(arg);
	case VGPU_IOC_STATS:
		return answer_stats(arg);
	case VGPU_IOC_SCHED:
		return 0;
	case VGPU_IOC_CHANNELS:
		return driver.minor ? answer_channels(arg) : -ENOTTY;
	}
	return -ENOTTY;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	return strcmp(path, "/dev/vgpu") ? __real_open(path, flags) : dup2(0, NODE);
}

int __wrap_ioctl(int fd, unsigned long request, void *arg);
int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	int ret;

	if (fd != NODE) {
		errno = ENOTTY;
		return -1;
	}
	ret = answer(request, arg);
	errno = -ret;
	return ret ? -1 : 0;
}

/*
 * Runs a command with up to two arguments; @said gets what it prints, which is UTF-8 and has no
 * control character but newlines.
 */
static enum exit_code run(const char *name, const char *first, const char *second)
{
	char *argv[] = { (char *)name, (char *)first, (char *)second, NULL };
	const struct command *command;
	FILE *file = tmpfile();
	int keep, words, argc = 1 + !!first + !!second;
	struct options options;
	enum exit_code code;
	size_t length, i, n;
	bool help = false;

	command = command_find(argc, argv, &words);
	assert_non_null(command);
	code = options_parse(&options, command, argc, argv, &help);
	assert_non_null(file);
	fflush(stdout);
	keep = dup(STDOUT_FILENO);
	dup2(fileno(file), STDOUT_FILENO);
	if (!code)
		code = command->run(&options);
	fflush(stdout);
	dup2(keep, STDOUT_FILENO);
	close(keep);
	options_free(&options);
	rewind(file);
	length = fread(said, 1, sizeof(said), file);
	assert_true(length < sizeof(said));
	said[length] = 0;
	fclose(file);
	for (i = 0; i < length; i += n) {
		n = said[i] == '\n' ? 1 : utf8_shown_length((unsigned char *)said + i, length - i);
		check_that(n, "byte %#x at %zu", (unsigned char)said[i], i);
	}
	return code;
}

static struct json_object *run_json(const char *name, const char *first, const char *second)
{
	struct json_object *json;
	enum json_tokener_error error;

	assert_int_equal(run(name, first, second), EXIT_OK);
	json = json_tokener_parse_verbose(said, &error);
	check_that(json, "%s: %s", json_tokener_error_desc(error), said);
	return json;
}

static void has_line(const char *line)
{
	const char *s = strstr(said, line);

	check_that(s && (s == said || s[-1] == '\n') && s[strlen(line)] == '\n', "\"%s\" in:\n%s",
		   line, said);
}

static uint32_t count_of(const char *text)
{
	uint32_t nr = 0;
	const char *s;

	for (s = strstr(said, text); s; s = strstr(s + 1, text))
		nr++;
	return nr;
}

/* Two clients with three channels, and one channel without a label. */
static void some_channels(void)
{
	begin(4);
	put_label(0, 7, 100, "game\0leftovers..");
	put_label(1, 7, 100, "game\0other rest.");
	put_label(2, 9, 101, "a name of 16 byt");
	driver.channel[2].busy_ns = 50000000;
	strcpy(driver.name, "vgpu_guest");
	strcpy(driver.version, "0.1.0");
}

static void test_processes(void **state)
{
	struct json_object *json, *guest, *all;

	some_channels();
	json = run_json("process", "--json", NULL);
	guest = get(at(json, 0), "guest");
	says(guest, "driver_name", "vgpu_guest");
	says(guest, "driver_version", "0.1.0");
	assert_false(json_object_object_get_ex(guest, "channels", NULL));
	all = get(guest, "processes");
	assert_int_equal(json_object_array_length(all), 3);
	/* The busiest first. */
	says(at(all, 0), "command", "a name of 16 byt");
	says(at(all, 0), "told_by", "guest");
	is(at(all, 0), "client", 9);
	is(at(get(at(all, 0), "engines"), 0), "busy_ns", 50000000);
	says(at(all, 1), "command", "game");
	is(at(all, 1), "pid", 100);
	is(at(all, 1), "uid", 1000);
	assert_int_equal(json_object_array_length(get(at(all, 1), "engines")), 2);
	says(at(get(at(all, 1), "engines"), 1), "name", "ce0");
	is(at(get(at(all, 1), "engines"), 1), "channels", 1);
	is(at(get(at(all, 1), "engines"), 1), "total_busy_ns", 3000000);
	assert_null(get(at(all, 2), "told_by"));
	assert_null(get(at(all, 2), "command"));
	json_object_put(json);

	assert_int_equal(run("process", NULL, NULL), EXIT_OK);
	has_line("In the guests: names and numbers of processes are each guest's word, times are measured.");
	has_line("UUID                                  GUEST PID  GUEST COMMAND     GUEST UID  GUEST CLIENT  CHANNELS  ENGINE  BUSY ms  TOTAL ms");
	has_line(UUID "        101  a name of 16 byt       1000             9         1  gr           50         3");
	has_line(UUID "        100  game                   1000             7         1  ce0           1         3");
	has_line(UUID "          -  -                         -             -         1  ce0           1         3");
	/* A part of the table is the host's. */
	assert_int_equal(run("process", "--noheadings", NULL), EXIT_OK);
	assert_null(strstr(said, "game"));
	assert_int_equal(run("process", "--output=pid", NULL), EXIT_OK);
	assert_string_equal(said, "PID\n 77\n 77\n");
	driver.calls = 0;
	assert_int_equal(run("process", "--noheadings", NULL), EXIT_OK);
	assert_int_equal(driver.calls, 0);
	assert_int_equal(run("metrics", NULL, NULL), EXIT_OK);
	assert_non_null(strstr(said, ",guest_command=\"game\","));
	driver.calls = 0;
	assert_int_equal(run("metrics", "--no-guests", NULL), EXIT_OK);
	assert_null(strstr(said, "game"));
	assert_null(strstr(said, "0.1.0"));
	assert_int_equal(driver.calls, 0);
}

static void test_channels(void **state)
{
	struct json_object *json, *all;

	some_channels();
	driver.channel[3].state = VGPU_HW_STATE_FAULTED;
	driver.channel[1].state = 1234;
	driver.channel[1].engine = 1234;
	json = run_json("process", "--channels", "--json");
	all = get(get(at(json, 0), "guest"), "channels");
	assert_int_equal(json_object_array_length(all), 4);
	is(at(all, 2), "channel", 2);
	says(at(all, 2), "engine", "gr");
	says(at(all, 2), "state", "sleeping");
	is(at(all, 2), "enabled_ns", 1000);
	is(at(all, 2), "pid", 101);
	says(at(all, 3), "state", "faulted");
	assert_null(get(at(all, 3), "told_by"));
	says(at(all, 1), "state", "unknown");
	says(at(all, 1), "engine", "");
	json_object_put(json);
	assert_int_equal(run("process", "--channels", NULL), EXIT_OK);
	assert_non_null(strstr(said, "CHANNEL  STATE"));
	assert_non_null(strstr(said, "4.9 ms ago"));
	message_file = tmpfile();
	assert_int_equal(run("process", "--channels", "--noheadings"), EXIT_USAGE);
	fclose(message_file);
	message_file = NULL;
}

/* Bytes that move the cursor, that are no UTF-8, that have no end. */
static void test_hostile_labels(void **state)
{
	static const struct {
		const char *bytes, *shown;
	} cases[] = {
		{ "\033[2J\033]0;x\a\r\n\t..", BAD "[2J" BAD "]0;x" BAD BAD BAD BAD ".." },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
			BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD },
		{ "\"}],\\u0000<&'`$(", "\"}],\\u0000<&'`$(" },
		/* C1's CSI, an overlong slash, a surrogate, a letter cut in two by the end. */
		{ "\xc2\x9b!\xc0\xaf\xed\xa0\x80\x7f_____\xe2\x82",
			BAD BAD "!" BAD BAD BAD BAD BAD BAD "_____" BAD BAD },
		{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 a b c", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 a b c" },
		/* What turns the rest of the line round (U+202E, U+2066, U+061C), or ends it. */
		{ "\xe2\x80\25612\xe2\x81\xa6\xd8\x9c\xe2\x80\xa8___",
			BAD BAD BAD "12" BAD BAD BAD BAD BAD BAD BAD BAD "___" },
		/* Their neighbours are shown. */
		{ "\xe2\x80\xaf\xe2\x80\xa7\xe2\x81\xaa\xd8\x9b\xe2\x80\x90..",
			"\xe2\x80\xaf\xe2\x80\xa7\xe2\x81\xaa\xd8\x9b\xe2\x80\x90.." },
		{ "\0hidden by a 0..", "" },
	};
	struct json_object *json, *process;
	char line[256];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin(1);
		put_label(0, UINT64_MAX, UINT32_MAX, cases[i].bytes);
		driver.owner = cases[i].bytes;
		memcpy(driver.name, cases[i].bytes, 16);
		memcpy(driver.version, cases[i].bytes, 16);
		memcpy(driver.os, cases[i].bytes, 16);
		json = run_json("process", "--channels", "--json");
		process = at(get(get(at(json, 0), "guest"), "processes"), 0);
		says(process, "command", cases[i].shown);
		is(process, "client", UINT64_MAX);
		is(process, "pid", UINT32_MAX);
		process = at(get(get(at(json, 0), "guest"), "channels"), 0);
		says(process, "command", cases[i].shown);
		json_object_put(json);
		assert_int_equal(run("process", NULL, NULL), EXIT_OK);
		assert_int_equal(run("process", "--channels", NULL), EXIT_OK);
		assert_int_equal(run("show", UUID, NULL), EXIT_OK);
		snprintf(line, sizeof(line), "Guest driver          %s %s (the guest's word)",
			 cases[i].shown, cases[i].shown);
		if (*cases[i].shown) {
			has_line(line);
			snprintf(line, sizeof(line), "Guest OS              %s (the guest's word)",
				 cases[i].shown);
			has_line(line);
		} else {
			assert_null(strstr(said, "Guest driver"));
			assert_null(strstr(said, "Guest OS"));
		}
	}
}

static void test_driver(void **state)
{
	struct json_object *json;

	begin(0);
	json = run_json("show", UUID, "--json");
	assert_null(get(json, "guest_driver"));
	json_object_put(json);
	assert_int_equal(run("show", UUID, NULL), EXIT_OK);
	assert_null(strstr(said, "Guest driver"));
	/* Without an end, and one of all only. */
	memset(driver.name, 'n', sizeof(driver.name));
	json = run_json("show", UUID, "--json");
	says(get(json, "guest_driver"), "told_by", "guest");
	says(get(json, "guest_driver"), "name", "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn");
	says(get(json, "guest_driver"), "version", "");
	says(get(json, "guest_driver"), "os", "");
	json_object_put(json);
	memset(driver.name, 0, sizeof(driver.name));
	memset(driver.os, 'o', sizeof(driver.os));
	json = run_json("show", UUID, "--json");
	says(get(json, "guest_driver"), "name", "");
	says(get(json, "guest_driver"), "os",
	     "oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo");
	json_object_put(json);
	assert_int_equal(run("show", UUID, NULL), EXIT_OK);
	assert_null(strstr(said, "Guest driver"));
	assert_non_null(strstr(said, "\nGuest OS              oooo"));
	memset(driver.os, 0xff, sizeof(driver.os));
	memset(driver.version, 0xff, sizeof(driver.version));
	assert_int_equal(run("show", UUID, NULL), EXIT_OK);
	assert_non_null(strstr(said, "\nGuest driver          " BAD BAD BAD));
	assert_non_null(strstr(said, "\nGuest OS              " BAD BAD BAD));
}

/* What a command says of an error, in @said; the caller closes message_file. */
static void read_messages(void)
{
	size_t length;

	rewind(message_file);
	length = fread(said, 1, sizeof(said) - 1, message_file);
	said[length] = 0;
}

/* A driver that does not know the call: it is said what is missing, and all else is as before. */
static void test_older_driver(void **state)
{
	struct json_object *json;

	some_channels();
	driver.minor = 0;
	message_file = tmpfile();
	json = run_json("process", "--json", "--channels");
	is(at(json, 0), "pid", 77);
	assert_null(get(at(json, 0), "guest"));
	json_object_put(json);
	json = run_json("show", UUID, "--json");
	assert_null(get(json, "guest_driver"));
	json_object_put(json);
	assert_int_equal(run("process", NULL, NULL), EXIT_OK);
	assert_non_null(strstr(said, "qemu"));
	assert_null(strstr(said, "guest"));
	assert_null(strstr(said, "GUEST"));
	read_messages();
	assert_string_equal(said, "vgpuctl: processes in guests: the driver of /dev/vgpu, 0.0.9 with ABI 2.0, cannot do that\n");
	assert_int_equal(run("process", "--noheadings", NULL), EXIT_OK);
	assert_int_equal(run("process", "--channels", NULL), EXIT_OK);
	read_messages();
	assert_int_equal(count_of("\n"), 2);
	assert_non_null(strstr(said, "vgpuctl: channels of guests: "));
	assert_int_equal(run("show", UUID, NULL), EXIT_OK);
	has_line("Guest driver          not known: the driver of /dev/vgpu, 0.0.9 with ABI 2.0, cannot do that");
	fclose(message_file);
	message_file = NULL;
}

/* A vGPU whose process is not known is open all the same, and its guest has processes. */
static void test_unknown_owner(void **state)
{
	struct json_object *json;

	some_channels();
	driver.unknown = true;
	json = run_json("process", "--json", NULL);
	assert_null(get(at(json, 0), "pid"));
	says(at(json, 0), "command", "qemu");
	assert_int_equal(json_object_array_length(get(get(at(json, 0), "guest"), "processes")), 3);
	json_object_put(json);
	assert_int_equal(run("process", NULL, NULL), EXIT_OK);
	assert_non_null(strstr(said, "\n  -  qemu"));
	assert_non_null(strstr(said, "101  a name of 16 byt"));
}

/* All channels that there can be, with one label or each with another one. */
static void test_many(void **state)
{
	struct json_object *json, *all;
	uint32_t i;

	begin(MOST);
	for (i = 0; i < MOST; i++)
		put_label(i, 1, 2, "the same........");
	json = run_json("process", "--json", NULL);
	all = get(get(at(json, 0), "guest"), "processes");
	assert_int_equal(json_object_array_length(all), 1);
	is(at(get(at(all, 0), "engines"), 0), "channels", MOST / 2);
	is(at(get(at(all, 0), "engines"), 1), "busy_ns", MOST / 2 * 1000000ull);
	json_object_put(json);
	assert_int_equal(driver.calls, MOST / 256 + 1);
	for (i = 0; i < MOST; i++)
		put_label(i, 1, i, "another one.....");
	json = run_json("process", "--json", NULL);
	all = get(get(at(json, 0), "guest"), "processes");
	assert_int_equal(json_object_array_length(all), MOST);
	json_object_put(json);
	assert_int_equal(run("process", NULL, NULL), EXIT_OK);
	assert_int_equal(count_of(UUID), MOST + 2);
	/* Labels that differ only in what is not shown are one, as they look the same. */
	for (i = 0; i < MOST; i++)
		put_label(i, 1, 2, i % 2 ? "\001\xff............." : "\033\xfe.............");
	json = run_json("process", "--json", NULL);
	assert_int_equal(json_object_array_length(get(get(at(json, 0), "guest"), "processes")), 1);
	json_object_put(json);
}

/* Labels change with each call, and channels come and go. */
static void test_changes(void **state)
{
	u64 rnd = test_seed();
	unsigned int round;

	for (round = 0; round < 20; round++) {
		begin((uint32_t)random_range(&rnd, 0, MOST));
		driver.changes = &rnd;
		json_object_put(run_json("process", "--json", "--channels"));
		driver.calls = 0;
		assert_int_equal(run("process", NULL, NULL), EXIT_OK);
		driver.calls = 0;
		assert_int_equal(run("process", "--channels", NULL), EXIT_OK);
	}
}

static void test_gone_and_errors(void **state)
{
	struct json_object *json;

	/* Gone in the middle: nothing is known of its guest, and that is no error. */
	begin(600);
	driver.gone_after = 2;
	json = run_json("process", "--json", NULL);
	assert_null(get(at(json, 0), "guest"));
	json_object_put(json);
	/* A driver that never gets on is not asked for ever. */
	begin(MOST);
	driver.stuck = true;
	json = run_json("process", "--json", NULL);
	json_object_put(json);
	assert_true(driver.calls < 3);
	begin(1);
	driver.error = EPERM;
	message_file = tmpfile();
	assert_int_equal(run("process", NULL, NULL), EXIT_FAILED);
	assert_int_equal(run("show", UUID, NULL), EXIT_FAILED);
	fclose(message_file);
	message_file = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_channels),
		cmocka_unit_test(test_hostile_labels),
		cmocka_unit_test(test_driver),
		cmocka_unit_test(test_older_driver),
		cmocka_unit_test(test_unknown_owner),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_gone_and_errors),
	};

	setenv("LC_ALL", "C.UTF-8", 1);
	setlocale(LC_CTYPE, "");
	return cmocka_run_group_tests_name("guest", tests, NULL, NULL);
}
