// SPDX-License-Identifier: GPL-2.0
/*
 * First and only process of a guest with a distribution's kernel. Loads the kernel's own drivers
 * (the files in /modules, in their order), says "guest: ready" on the first serial port, and does
 * what it is told on the second one, a line at a time:
 *
 *	NUMBER COMMAND [ARGUMENT...]
 *
 * It answers "guest: done NUMBER" or "guest: not done NUMBER". The console is left to the kernel:
 * it is the screen that is tested.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "clk.h"
#include "display.h"

#define MAX_WORDS	8

static uint32_t number(const char *word)
{
	return word ? (uint32_t)strtoul(word, NULL, 0) : 0;
}

static bool do_text(char **word)
{
	return text_show(word[1]) && text_report(word[0]);
}

static bool do_report(char **word)
{
	return text_report(word[0]);
}

static bool do_modes(char **word)
{
	return kms_modes(word[0]);
}

static bool do_draw(char **word)
{
	return kms_draw(word[0], number(word[1]), number(word[2]), number(word[3]),
			number(word[4]));
}

static bool do_flip(char **word)
{
	return kms_flip(word[0], number(word[1]), number(word[2]));
}

static bool do_dark(char **word)
{
	return kms_off(word[0]);
}

static bool do_close(char **word)
{
	return kms_close(word[0]);
}

static bool do_storm(char **word)
{
	return storm_run(word[0], number(word[1]), number(word[2]));
}

/* Has the function's driver found again, after a storm. */
static bool do_probe(char **word)
{
	return node_write("/sys/bus/pci/drivers_probe", word[0]);
}

/* Waits until the function has a driver that has made a console of it. */
static bool do_await(char **word)
{
	char path[256];
	int i;

	node_path(path, sizeof(path), word[0], "graphics");
	for (i = 0; i < 3000; i++) {
		if (!access(path, F_OK))
			return true;
		clk_sleep_ms(100);
	}
	return failed("no console on %s", word[0]);
}

static bool do_reset(char **word)
{
	char path[256];

	node_path(path, sizeof(path), word[0], "reset");
	return node_write(path, "1");
}

static bool do_reboot(char **word)
{
	(void)word;
	reboot(RB_AUTOBOOT);
	return failed("reboot: %s", strerror(errno));
}

static bool do_off(char **word)
{
	(void)word;
	reboot(RB_POWER_OFF);
	return failed("power off: %s", strerror(errno));
}

static const struct command {
	const char *name;
	int min_words;
	bool (*run)(char **word);
} commands[] = {
	{ "text", 2, do_text },		/* PCI WORD */
	{ "report", 1, do_report },	/* PCI */
	{ "modes", 1, do_modes },	/* PCI */
	{ "draw", 4, do_draw },		/* PCI WIDTH HEIGHT SEED [PAD] */
	{ "flip", 3, do_flip },		/* PCI TIMES SEED */
	{ "dark", 1, do_dark },		/* PCI */
	{ "close", 1, do_close },	/* PCI */
	{ "storm", 3, do_storm },	/* PCI SECONDS SEED */
	{ "probe", 1, do_probe },	/* PCI */
	{ "await", 1, do_await },	/* PCI */
	{ "reset", 1, do_reset },	/* PCI */
	{ "reboot", 0, do_reboot },
	{ "off", 0, do_off },
};

static bool obey(int words, char **word)
{
	size_t i;

	for (i = 0; words > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strcmp(word[1], commands[i].name) && words - 2 >= commands[i].min_words)
			return commands[i].run(word + 2);
	}
	return failed("no such command, or it needs more: %s", words > 1 ? word[1] : "");
}

static void obey_all(FILE *in)
{
	char line[256], *word[MAX_WORDS + 1], *rest;
	int words;
	bool ok;

	while (fgets(line, sizeof(line), in)) {
		words = 0;
		for (rest = line; words < MAX_WORDS; words++) {
			word[words] = strtok_r(rest, " \t\r\n", &rest);
			if (!word[words])
				break;
		}
		word[words] = NULL;
		if (!words)
			continue;
		ok = obey(words, word);
		say("%s %s", ok ? "done" : "not done", word[0]);
	}
}

static bool load_modules(void)
{
	struct dirent **entry;
	int nr = scandir("/modules", &entry, NULL, alphasort), i, fd;
	char path[512];

	if (nr < 0)
		return failed("/modules: %s", strerror(errno));
	for (i = 0; i < nr; i++) {
		if (entry[i]->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/modules/%s", entry[i]->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
			return failed("%s: %s", path, strerror(errno));
		close(fd);
	}
	return true;
}

static bool mount_all(void)
{
	static const char * const type[] = { "proc", "sysfs", "devtmpfs" };
	static const char * const at[] = { "/proc", "/sys", "/dev" };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		mkdir(at[i], 0755);
		if (mount(type[i], at[i], type[i], 0, NULL))
			return false;
	}
	return true;
}

static int open_serial(const char *path)
{
	int fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct termios raw;

	if (fd >= 0 && !tcgetattr(fd, &raw)) {
		cfmakeraw(&raw);
		raw.c_cflag |= CLOCAL;
		tcsetattr(fd, TCSANOW, &raw);
	}
	return fd;
}

int main(void)
{
	FILE *in;
	int fd;

	if (getpid() != 1) {
		fputs("This is the first process of a test guest.\n", stderr);
		return 2;
	}
	if (!mount_all())
		return 1;
	fd = open_serial("/dev/ttyS0");
	if (fd < 0 || dup2(fd, 1) < 0)
		return 1;
	in = fdopen(open_serial("/dev/ttyS1"), "r");
	if (!in)
		failed("/dev/ttyS1: %s", strerror(errno));
	else if (load_modules())
		say("ready after %llu ms", (unsigned long long)(clk_ns() / 1000000));
	if (in)
		obey_all(in);
	failed("no more commands");
	for (;;)
		pause();
}
