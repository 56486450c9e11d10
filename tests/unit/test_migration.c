// SPDX-License-Identifier: GPL-2.0
/*
 * vgpuctl migration show and check, on a driver of /dev/vgpu that is this program: what one host
 * shows another one can check, what is no description is told, and drivers of other versions.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/vgpu_hw.h>

/* Before cmocka, which has a macro fail(). */
#include "about.h"
#include "command.h"
#include "ctl.h"

#include "json_test.h"
#include "vgpu_test.h"

#include "core/objects/about.h"

#define UUID	"0a000000-0000-0000-0000-000000000000"
#define NODE	42
#define LATER	24	/* bytes that a later driver adds to a description */
#define HEAD	16	/* bytes of a frame's head */

static struct {
	uint32_t minor;		/* of the ABI */
	uint32_t can;		/* VGPU_MIGRATION_* */
	uint32_t later;		/* bytes at the end that this tool does not know */
	int error;		/* of both calls */
	uint32_t lies;		/* about_bytes that it tells instead; 0: the truth */
	struct vgpu_stream_about mine;
	bool of_type;		/* the last call was about a type */
	struct vgpu_ctl_instance inst;
} driver;

static char said[1 << 16], told[1 << 16];

static struct vgpu_stream_about description(void)
{
	return (struct vgpu_stream_about){
		.magic = VGPU_STREAM_MAGIC,
		.version = htole16(VGPU_STREAM_VERSION),
		.least = htole16(VGPU_STREAM_VERSION),
		.hw_version = htole32(1 << 16 | 3),
		.board = "SG16",
		.type = "SG16-4Q",
		.fb_bytes = htole64(4ull << 30),
		.channels = htole32(64),
		.heads = htole32(4),
		.max_width = htole32(7680),
		.max_height = htole32(4320),
		.engines = htole32(3),
		.engine = { htole32(VGPU_HW_ENGINE_GR << 8), htole32(VGPU_HW_ENGINE_CE << 8),
			    htole32(VGPU_HW_ENGINE_CE << 8 | 1) },
	};
}

static void begin(void)
{
	memset(&driver, 0, sizeof(driver));
	driver.minor = VGPU_ABI_MINOR;
	driver.can = VGPU_MIGRATION_STOP_COPY | VGPU_MIGRATION_PRE_COPY;
	driver.mine = description();
}

static struct vgpu_stream_about about_of(uint32_t flags, const uint8_t *uuid, uint32_t gpu,
					 uint32_t type)
{
	struct vgpu_stream_about about = driver.mine;

	driver.of_type = flags & VGPU_MIGRATION_OF_TYPE;
	if (driver.of_type) {
		assert_int_equal(gpu, 0);
		assert_int_equal(type, 1);
		about.vga = htole32(VGPU_STREAM_VGA_ANY);
	} else {
		assert_int_equal(flags, 0);
		assert_int_equal(uuid[0], 0x0a);
	}
	return about;
}

static int answer_migration(struct vgpu_ctl_migration *call)
{
	uint8_t bytes[sizeof(driver.mine) + LATER];
	struct vgpu_stream_about about;
	uint32_t nr = sizeof(about) + driver.later;

	assert_int_equal(call->size, 64);
	about = about_of(call->flags, call->uuid, call->gpu, call->type_index);
	if (driver.error)
		return -driver.error;
	memset(bytes, 0x77, sizeof(bytes));
	memcpy(bytes, &about, sizeof(about));
	memcpy((void *)(uintptr_t)call->about, bytes,
	       nr < call->about_bytes ? nr : call->about_bytes);
	call->about_bytes = driver.lies ?: nr;
	call->can = driver.can;
	call->writes = 5;
	call->reads_from = 4;
	call->reads_to = 5;
	return 0;
}

static int answer_check(struct vgpu_ctl_migration_check *call)
{
	struct vgpu_stream_about mine, theirs = { .version = 0 };

	assert_int_equal(call->size, 240);
	mine = about_of(call->flags, call->uuid, call->gpu, call->type_index);
	if (driver.error)
		return -driver.error;
	if (call->about_bytes >= sizeof(theirs))
		memcpy(&theirs, (void *)(uintptr_t)call->about, sizeof(theirs));
	call->fits = vgpu_about_fits(&mine, &theirs, (char *)call->text, sizeof(call->text));
	return 0;
}

static int answer_gpus(struct vgpu_ctl_list *list)
{
	*(uint32_t *)(uintptr_t)list->ids = 0;
	list->count = 1;
	return 0;
}

static int answer_gpu(struct vgpu_ctl_gpu *gpu)
{
	strcpy((char *)gpu->address, "f000:00:00.0");
	gpu->types = 2;
	return 0;
}

static int answer_type(struct vgpu_ctl_type *type)
{
	if (type->index > 1)
		return -ENOENT;
	strcpy((char *)type->name, type->index ? "SG16-4Q" : "SG16-1Q");
	strcpy((char *)type->id, type->index ? "vgpu_soft-SG16-4Q" : "vgpu_soft-SG16-1Q");
	return 0;
}

static int answer_instance(struct vgpu_ctl_instance *inst)
{
	if (inst->uuid[0] != 0x0a)
		return -ENODEV;
	*inst = driver.inst;
	inst->uuid[0] = 0x0a;
	strcpy((char *)inst->type_name, "SG16-4Q");
	return 0;
}

static int answer_version(struct vgpu_ctl_version *version)
{
	version->abi_major = VGPU_ABI_MAJOR;
	version->abi_minor = driver.minor;
	strcpy((char *)version->driver_version, "0.0.9");
	return 0;
}

static int answer(unsigned long request, void *arg)
{
	switch (request) {
	case VGPU_IOC_VERSION:
		return answer_version(arg);
	case VGPU_IOC_GPUS:
		return answer_gpus(arg);
	case VGPU_IOC_GPU:
		return answer_gpu(arg);
	case VGPU_IOC_TYPE:
		return answer_type(arg);
	case VGPU_IOC_INSTANCE:
		return answer_instance(arg);
	case VGPU_IOC_MIGRATION:
		return driver.minor < 3 ? -ENOTTY : answer_migration(arg);
	case VGPU_IOC_MIGRATION_CHECK:
		return driver.minor < 3 ? -ENOTTY : answer_check(arg);
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

static void read_back(FILE *file, char *to)
{
	size_t length;

	rewind(file);
	length = fread(to, 1, sizeof(said) - 1, file);
	to[length] = 0;
	fclose(file);
}

/* Runs a command: @said gets what it prints, @told its errors. */
static enum exit_code run_words(int argc, char **argv)
{
	FILE *file = tmpfile();
	struct options options;
	char name[] = "vgpuctl";
	enum exit_code code;
	bool help = false;
	int words, keep;

	assert_non_null(file);
	message_file = tmpfile();
	assert_non_null(message_file);
	options.command = command_find(argc, argv, &words);
	assert_non_null(options.command);
	argv[words - 1] = name;
	fflush(stdout);
	keep = dup(STDOUT_FILENO);
	dup2(fileno(file), STDOUT_FILENO);
	code = options_parse(&options, options.command, argc - words + 1, argv + words - 1, &help);
	if (!code)
		code = options.command->run(&options);
	fflush(stdout);
	dup2(keep, STDOUT_FILENO);
	close(keep);
	options_free(&options);
	read_back(file, said);
	read_back(message_file, told);
	message_file = NULL;
	return code;
}

/* The words of a command; the first NULL ends them. */
#define run_as(...) ({								\
	const char *words_[] = { __VA_ARGS__ };					\
	int nr_ = 0;								\
										\
	while (words_[nr_])							\
		nr_++;								\
	run_words(nr_, (char **)words_);					\
})
#define run(...)	run_as("migration", __VA_ARGS__)

static const char *write_file(const void *bytes, size_t nr)
{
	static char path[] = "/tmp/vgpu-test-about-XXXXXX";
	int fd;

	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, nr), nr);
	close(fd);
	return path;
}

/* Checks the vGPU against a file of these bytes. */
static enum exit_code check(const void *bytes, size_t nr, const char *json)
{
	const char *path = write_file(bytes, nr);
	enum exit_code code = run("check", "-f", path, UUID, json, NULL);

	unlink(path);
	return code;
}

static void tells(const char *text)
{
	check_that(strstr(told, text), "%s instead of %s", told, text);
}

static void test_show(void **state)
{
	struct json_object *json;

	begin();
	assert_int_equal(run("show", UUID, NULL), EXIT_OK);
	assert_non_null(strstr(said, "UUID                " UUID "\n"));
	assert_non_null(strstr(said, "GPU                 0, f000:00:00.0\n"));
	assert_non_null(strstr(said, "Can move            while its guest works\n"));
	assert_non_null(strstr(said, "Stream versions     writes 5, reads 4 to 5\n"));
	assert_non_null(strstr(said, "Hardware version    1.3\n"));
	assert_non_null(strstr(said, "Heads               4, up to 7680x4320\n"));
	assert_non_null(strstr(said, "VGA card            no\n"));
	assert_non_null(strstr(said, "Engines             gr0 ce0 ce1\n"));
	driver.can = VGPU_MIGRATION_STOP_COPY;
	assert_int_equal(run("show", UUID, NULL), EXIT_OK);
	assert_non_null(strstr(said, "Can move            while its guest stands still\n"));
	driver.can = 0;
	assert_int_equal(run("show", "--type", "SG16-4Q", NULL), EXIT_OK);
	assert_true(driver.of_type);
	assert_null(strstr(said, "UUID"));
	assert_non_null(strstr(said, "Can move            no"));
	assert_non_null(strstr(said, "VGA card            as it is set\n"));

	begin();
	assert_int_equal(run("show", "--type", "vgpu_soft-SG16-4Q", "--gpu", "0", "--json", NULL),
			 EXIT_OK);
	json = json_tokener_parse(said);
	assert_non_null(json);
	assert_null(get(json, "uuid"));
	assert_null(get(json, "vga"));
	assert_true(json_object_get_boolean(get(json, "live")));
	assert_true(json_object_get_boolean(get(json, "save")));
	is(json, "stream_reads_from", 4);
	is(json, "fb_bytes", 4ull << 30);
	says(json, "hw_version", "1.3");
	says(json, "type", "SG16-4Q");
	says(at(get(json, "engines"), 2), "class", "ce");
	is(at(get(json, "engines"), 2), "instance", 1);
	json_object_put(json);
}

/* What is shown on one host fits on another one, and what is not the same is named. */
static void test_check(void **state)
{
	struct json_object *json;
	char shown[8192];

	begin();
	assert_int_equal(run("show", UUID, "--json", NULL), EXIT_OK);
	strcpy(shown, said);
	assert_int_equal(check(shown, strlen(shown), NULL), EXIT_OK);
	assert_string_equal(said, "vGPU " UUID " can take it over\n");
	assert_string_equal(told, "");
	assert_int_equal(check(shown, strlen(shown), "--json"), EXIT_OK);
	json = json_tokener_parse(said);
	assert_true(json_object_get_boolean(get(json, "fits")));
	assert_null(get(json, "reason"));
	json_object_put(json);

	driver.mine.hw_version = htole32(1 << 16 | 2);
	assert_int_equal(check(shown, strlen(shown), NULL), EXIT_FAILED);
	assert_string_equal(said, "");
	assert_string_equal(told, "vgpuctl: vGPU " UUID " cannot take it over: hardware version is 1.3 there, 1.2 here\n");
	assert_int_equal(check(shown, strlen(shown), "--json"), EXIT_FAILED);
	json = json_tokener_parse(said);
	assert_false(json_object_get_boolean(get(json, "fits")));
	says(json, "reason", "hardware version is 1.3 there, 1.2 here");
	says(json, "uuid", UUID);
	json_object_put(json);
}

static void test_check_type(void **state)
{
	struct vgpu_stream_about theirs = description();
	uint8_t stream[HEAD + sizeof(theirs)] = { 1, 0, 1, 0, sizeof(theirs) };
	const char *path;

	begin();
	theirs.vga = htole32(1);
	memcpy(stream + HEAD, &theirs, sizeof(theirs));
	path = write_file(stream, sizeof(stream));
	assert_int_equal(run("check", "-f", path, "--type", "SG16-4Q", NULL), EXIT_OK);
	assert_true(driver.of_type);
	assert_string_equal(said, "type SG16-4Q of GPU 0 can take it over\n");
	assert_int_equal(run("check", "-f", path, "--type", "SG16-4Q", UUID, NULL), EXIT_USAGE);
	assert_int_equal(run("check", "-f", path, NULL), EXIT_USAGE);
	assert_int_equal(run("check", UUID, NULL), EXIT_USAGE);
	assert_int_equal(run("check", "-f", path, UUID, "--gpu", "0", NULL), EXIT_USAGE);
	assert_int_equal(run("show", NULL), EXIT_USAGE);
	assert_int_equal(run("show", "nonsense", NULL), EXIT_USAGE);
	assert_int_equal(run("check", "-f", path, "--type", "SG16-3Q", NULL), EXIT_FAILED);
	tells("no GPU has a type SG16-3Q");
	assert_int_equal(run("show", "--type", "SG16-4Q", "--gpu", "3", NULL), EXIT_FAILED);
	tells("GPU 3: there is none");
	unlink(path);
	assert_int_equal(run("check", "-f", path, UUID, NULL), EXIT_FAILED);
	tells("cannot read it: No such file");
	assert_int_equal(run("check", "-f", "/tmp", UUID, NULL), EXIT_FAILED);
	tells("cannot read it: Is a directory");
}

/* A saved stream: its first frame tells, whatever follows it, or is missing. */
static void test_stream(void **state)
{
	static uint8_t stream[1 << 16];
	struct vgpu_stream_about theirs = description();
	size_t nr;

	begin();
	memcpy(stream, "\1\0\1\0", 4);
	stream[4] = sizeof(theirs) + LATER;
	memcpy(stream + HEAD, &theirs, sizeof(theirs));
	memset(stream + HEAD + sizeof(theirs), 0xee, sizeof(stream) - HEAD - sizeof(theirs));
	assert_int_equal(check(stream, sizeof(stream), NULL), EXIT_OK);
	assert_int_equal(check(stream, HEAD + sizeof(theirs) + LATER, NULL), EXIT_OK);
	for (nr = 1; nr < HEAD + sizeof(theirs) + LATER; nr++) {
		assert_int_equal(check(stream, nr, NULL), EXIT_FAILED);
		tells(nr < HEAD ? "neither the JSON" : "cut off, or damaged");
	}
	assert_int_equal(check(stream, 0, NULL), EXIT_FAILED);
	tells("it is empty");
	stream[4] = 8;
	assert_int_equal(check(stream, sizeof(stream), NULL), EXIT_FAILED);
	tells("not the state of a vGPU");
	memset(stream + 4, 0xff, 4);
	assert_int_equal(check(stream, sizeof(stream), NULL), EXIT_FAILED);
	tells("cut off, or damaged");
	memset(stream + 4, 0, 4);
	assert_int_equal(check(stream, sizeof(stream), NULL), EXIT_FAILED);
	tells("cut off, or damaged");
}

static void test_bad_json(void **state)
{
	static const char * const bad[] = {
		"{}", "{\"about\": 7}", "{\"about\": \"\"}", "{\"about\": \"123\"}",
		"{\"about\": \"0g\"}", "{\"about\": [\"00\"]}", "{\"about\": \"00 \"}",
	};
	static char large[5 << 20];
	size_t i;

	begin();
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(check(bad[i], strlen(bad[i]), NULL), EXIT_FAILED);
		tells("about: the hexadecimal digits");
	}
	assert_int_equal(check("{\"about\": ", 10, NULL), EXIT_FAILED);
	tells("is it cut off?");
	assert_int_equal(check("\n\t{\"about\": \"76\"}", 17, NULL), EXIT_FAILED);
	tells("not the state of a vGPU");
	memset(large, '0', sizeof(large));
	memcpy(large, "{\"about\": \"", 11);
	assert_int_equal(check(large, sizeof(large), NULL), EXIT_FAILED);
	tells("longer than 4194303 bytes");
	strcpy(large + (3 << 20), "\"}");
	assert_int_equal(check(large, strlen(large), NULL), EXIT_FAILED);
	tells("about: the hexadecimal digits");
}

/* How far a move has come, in the line of show, in its JSON, and in the state of list. */
static void test_phases(void **state)
{
	static const struct {
		uint32_t move, status;
		const char *line, *state;
	} cases[] = {
		{ VGPU_MOVE_NONE, 0, NULL, "" },
		{ VGPU_MOVE_NONE, VGPU_INSTANCE_PAUSED, NULL, ", paused" },
		{ VGPU_MOVE_SAVING, 0,
		  "is saved while its guest works, 3 MiB are read in 2.0 s (1.5 MiB/s), 5 KiB are left\n",
		  ", saving" },
		{ VGPU_MOVE_SAVING, VGPU_INSTANCE_PAUSED | VGPU_INSTANCE_QUARANTINED,
		  "is saved while its guest works, ", ", paused, saving, quarantined" },
		{ VGPU_MOVE_SAVING_STOPPED, VGPU_INSTANCE_PAUSED,
		  "is saved while it stands still, 3 MiB are read in 2.0 s (1.5 MiB/s), 5 KiB are left\n",
		  ", saving" },
		{ VGPU_MOVE_LOADING, VGPU_INSTANCE_PAUSED, "is loaded, 3 MiB are written in 2.0 s (1.5 MiB/s)\n",
		  ", loading" },
		{ 77, 0, NULL, "" },
	};
	struct vgpu_ctl_instance inst;
	char text[CTL_STATUS_LEN];
	struct json_object *json;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin();
		driver.inst.move = cases[i].move;
		driver.inst.status = cases[i].status;
		driver.inst.move_bytes = 3 << 20;
		driver.inst.move_left_bytes = 5 << 10;
		driver.inst.move_ns = 2000000000;
		assert_int_equal(run_as("show", UUID, NULL), EXIT_OK);
		if (cases[i].line)
			check_that(strstr(said, cases[i].line), "%s", said);
		else
			assert_null(strstr(said, "Move "));
		assert_int_equal(run_as("show", UUID, "--json", NULL), EXIT_OK);
		json = json_tokener_parse(said);
		says(json, "move", ctl_move_name(cases[i].move));
		is(json, "move_bytes", 3 << 20);
		is(json, "move_left_bytes", 5 << 10);
		is(json, "move_ns", 2000000000);
		is(json, "move_bytes_per_s", 3 << 19);
		json_object_put(json);
		inst = driver.inst;
		assert_string_equal(ctl_status_text(&inst, text), cases[i].state);
	}
	assert_string_equal(ctl_move_name(VGPU_MOVE_SAVING_STOPPED), "saving_stopped");
}

/* Texts of another host are shown as what a terminal does not obey. */
static void test_hostile(void **state)
{
	struct vgpu_stream_about theirs = description();
	uint8_t stream[HEAD + sizeof(theirs)] = { 1, 0, 1, 0, sizeof(theirs) };

	begin();
	memset(theirs.board, '\n', sizeof(theirs.board));
	memcpy(theirs.board, "\x1b[2J\xc3%s", 7);
	memcpy(stream + HEAD, &theirs, sizeof(theirs));
	assert_int_equal(check(stream, sizeof(stream), NULL), EXIT_FAILED);
	tells("board is ?[2J?%s????????????????????????? there, SG16 here");
}

/* A driver of a later version tells more; an earlier one cannot tell, and says so. */
static void test_other_drivers(void **state)
{
	char digits[2 * LATER + 3] = "";
	struct json_object *json;
	int i;

	begin();
	driver.later = LATER;
	for (i = 0; i < LATER; i++)
		strcat(digits, "77");
	assert_int_equal(run("show", UUID, "--json", NULL), EXIT_OK);
	json = json_tokener_parse(said);
	assert_non_null(strstr(json_object_get_string(get(json, "about")), digits));
	json_object_put(json);
	strcpy(told, said);
	assert_int_equal(check(told, strlen(told), NULL), EXIT_OK);

	driver.lies = ~0u;
	assert_int_equal(run("show", UUID, NULL), EXIT_FAILED);
	driver.lies = 0;
	driver.minor = 2;
	assert_int_equal(run("show", UUID, NULL), EXIT_FAILED);
	tells("0.0.9 with ABI 2.2, cannot do that");
	assert_int_equal(run("show", "--type", "SG16-4Q", NULL), EXIT_FAILED);
	tells("type SG16-4Q of GPU 0: the driver of /dev/vgpu, 0.0.9 with ABI 2.2, cannot do that");
	assert_int_equal(check("{\"about\": \"76\"}", 15, NULL), EXIT_FAILED);
	tells("cannot do that");
	begin();
	driver.error = ENODEV;
	assert_int_equal(run("show", UUID, NULL), EXIT_FAILED);
	tells("there is none");
	assert_int_equal(run("show", "0b000000-0000-0000-0000-000000000000", NULL), EXIT_FAILED);
	tells("there is none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_show),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_check_type),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_bad_json),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_other_drivers),
	};

	return cmocka_run_group_tests_name("migration", tests, NULL, NULL);
}
