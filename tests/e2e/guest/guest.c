// SPDX-License-Identifier: GPL-2.0
/*
 * First and only process of a guest:
 *
 *	JOB [--seconds N] [--load PERCENT] [--mib N] [--seed N]
 *	    [--each MS] [--title TEXT]
 *
 * Finds the vGPU, does the job, prints "guest: END pass" or "guest: END fail" on the console and
 * switches the machine off.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest.h"

static const struct job {
	const char *name;
	bool (*run)(struct vgpu_dev *dev, const struct options *options);
} jobs[] = {
	{ "load", load_run },
	{ "secret", secret_run },
	{ "scan", scan_run },
	{ "hold", hold_run },
	{ "escape", escape_run },
	{ "eject", eject_run },
	{ "hog", hog_run },
	{ "present", present_run },
	{ "compute", compute_run },
	{ "draw", draw_run },
	{ "samples", samples_run },
	{ "small", samples_run_small },
	{ "crowd", crowd_run },
	{ "memory", memory_run },
};

static const struct job *find_job(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		if (!strcmp(jobs[i].name, name))
			return &jobs[i];
	}
	return NULL;
}

static bool parse(int argc, char **argv, struct options *options)
{
	unsigned long long value;
	char *end;
	int i;

	for (i = 2; i < argc; i += 2) {
		if (i + 1 == argc)
			return failed("%s needs a value", argv[i]);
		if (!strcmp(argv[i], "--title")) {
			options->title = argv[i + 1];
			continue;
		}
		errno = 0;
		value = strtoull(argv[i + 1], &end, 0);
		if (errno || *end || end == argv[i + 1])
			return failed("%s: no number: %s", argv[i], argv[i + 1]);
		if (!strcmp(argv[i], "--seconds") && value <= 3600)
			options->seconds = (unsigned int)value;
		else if (!strcmp(argv[i], "--load") && value >= 1 && value <= 100)
			options->load = (unsigned int)value;
		else if (!strcmp(argv[i], "--mib") && value >= 1 && value <= 4096)
			options->mib = (unsigned int)value;
		else if (!strcmp(argv[i], "--each") && value <= 60000)
			options->each = (unsigned int)value;
		else if (!strcmp(argv[i], "--seed"))
			options->seed = value;
		else
			return failed("bad argument: %s %s", argv[i], argv[i + 1]);
	}
	return true;
}

static bool run(int argc, char **argv)
{
	struct options options = { .seconds = 3, .load = 100, .mib = 8, .seed = 1 };
	const struct job *job;
	struct vgpu_dev *dev;
	uint64_t start;
	bool ok;

	job = argc > 1 ? find_job(argv[1]) : NULL;
	if (!job)
		return failed("no such job: %s", argc > 1 ? argv[1] : "(none)");
	if (!parse(argc, argv, &options))
		return false;
	/* Alone it needs no vGPU: it is what others are compared with. */
	if (job->run == memory_run)
		return job->run(NULL, &options);
	start = clk_ns();
	if (vgpu_dev_open_pci(&dev, NULL))
		return failed("open: %s", vgpu_dev_error(NULL));
	say("%s: %s has %llu MiB, %u channels, %u engines (%llu ms to open)", job->name, dev->name,
	    (unsigned long long)(dev->fb_bytes / MIB), dev->channels, dev->engines,
	    (unsigned long long)((clk_ns() - start) / 1000000));
	ok = job->run(dev, &options);
	vgpu_dev_close(dev);
	return ok;
}

static bool mount_all(void)
{
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL) || mount("sys", "/sys", "sysfs", 0, NULL))
		return failed("mount: %s", strerror(errno));
	return true;
}

int main(int argc, char **argv)
{
	bool ok;

	if (getpid() != 1) {
		fputs("This is the first process of a test guest.\n", stderr);
		return 2;
	}
	ok = mount_all() && run(argc, argv);
	say("END %s", ok ? "pass" : "fail");
	/* The serial port still has to send what was printed. */
	clk_sleep_ns(100000000);
	reboot(RB_AUTOBOOT);
	return 1;
}
