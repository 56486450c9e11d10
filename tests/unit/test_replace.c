// SPDX-License-Identifier: GPL-2.0
/* Files of vgpuctl --file: whole or not at all, and in the place of files only. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Before cmocka, which has a macro fail(). */
#include "replace.h"

#include "vgpu_test.h"

#define BYTES	100000

static char dir[] = "/tmp/vgpu-replace-XXXXXX";
static char path[64];
static char *said;
static size_t said_bytes;

static const char *in_dir(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_text(FILE *out, const void *arg)
{
	fputs(arg, out);
}

/* More than a buffer, so that an error may come before the end. */
static void write_much(FILE *out, const void *arg)
{
	unsigned int i;

	for (i = 0; i < BYTES; i++)
		putc('x', out);
	/* What a writer does after an error says nothing of it. */
	errno = 0;
}

static enum exit_code replace(const char *name, void (*write)(FILE *out, const void *arg),
			      const char *text)
{
	enum exit_code code;

	free(said);
	message_file = open_memstream(&said, &said_bytes);
	code = replace_file(in_dir(name), 0640, write, text);
	fclose(message_file);
	message_file = NULL;
	return code;
}

/* Is that all that is in the file? */
static bool has(const char *name, const char *text)
{
	char buf[64] = "";
	int fd = open(in_dir(name), O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, buf, sizeof(buf) - 1);

	close(fd);
	return n >= 0 && !strcmp(buf, text);
}

/* Nothing of the attempt is left: the directory has so many files. */
static void check_files(unsigned int wanted)
{
	char command[96];

	snprintf(command, sizeof(command), "test $(ls -A %s | wc -l) = %u", dir, wanted);
	assert_int_equal(system(command), 0);
}

static int begin(void **state)
{
	return !mkdtemp(dir);
}

static int end(void **state)
{
	char command[96];

	free(said);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static void test_files(void **state)
{
	struct stat st;

	assert_int_equal(replace("a", write_text, "one"), EXIT_OK);
	assert_true(has("a", "one"));
	assert_int_equal(replace("a", write_text, "two"), EXIT_OK);
	assert_true(has("a", "two"));
	assert_int_equal(stat(in_dir("a"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(replace("none/a", write_text, "x"), EXIT_FAILED);
	assert_non_null(strstr(said, "none/a: cannot write it: No such file"));
	check_files(1);
}

/* /dev/null, /dev/stdout, a pipe, a directory: they stay what they are. */
static void test_no_files(void **state)
{
	static const char * const names[] = { "pipe", "directory", "link", "nowhere" };
	mode_t before[ARRAY_SIZE(names)];
	struct stat st;
	unsigned int i;

	assert_int_equal(mkfifo(in_dir("pipe"), 0600), 0);
	assert_int_equal(mkdir(in_dir("directory"), 0700), 0);
	assert_int_equal(symlink("a", in_dir("link")), 0);
	assert_int_equal(symlink("b", in_dir("nowhere")), 0);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(lstat(in_dir(names[i]), &st), 0);
		before[i] = st.st_mode;
		check_that(replace(names[i], write_text, "x") == EXIT_FAILED, "%s", names[i]);
		check_that(strstr(said, "no regular file"), "%s", said);
		assert_int_equal(lstat(in_dir(names[i]), &st), 0);
		assert_int_equal(st.st_mode, before[i]);
	}
	assert_true(has("a", "two"));
	check_files(1 + ARRAY_SIZE(names));
}

/* No room: the old file stays, and the message says why, whatever came after the error. */
static void test_no_room(void **state)
{
	struct rlimit old, none;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	none = old;
	none.rlim_cur = BYTES / 2;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_int_equal(replace("a", write_much, NULL), EXIT_FAILED);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	check_that(strstr(said, "a: cannot write it: ") && !strstr(said, "Success"), "%s", said);
	assert_true(has("a", "two"));
	check_files(5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_no_files),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests_name("replace", tests, begin, end);
}
