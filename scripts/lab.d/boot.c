// SPDX-License-Identifier: GPL-2.0
/*
 * The first program of a stock lab machine: loads the modules that it needs,
 * mounts the image's disk under a fresh overlay and the checkout in it, and
 * goes on there with lab.d/init. (A shell takes a second for that under TCG.)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEW "/new"

static void die(const char *what)
{
	printf("lab: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void load(const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "/modules/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
		printf("lab: module %s: %s\n", name, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void mount_at(const char *what, const char *dir, const char *type,
		     unsigned long flags, const char *options)
{
	char path[4096];
	char *slash;

	snprintf(path, sizeof(path), "%s", dir);
	for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	mkdir(path, 0755);
	if (mount(what, path, type, flags, options))
		die(path);
}

/* The value of KEY=VALUE on the kernel's command line. */
static char *argument(char *cmdline, const char *key)
{
	char *at = strstr(cmdline, key);
	char *value;

	if (!at)
		die(key);
	at += strlen(key);
	value = strndup(at, strcspn(at, " \n"));
	if (!value)
		die(key);
	return value;
}

int main(void)
{
	static const char p9[] = "trans=virtio,version=9p2000.L,msize=512000";
	char cmdline[4096] = "", line[512], dir[4096], options[256];
	char *run, *checkout;
	FILE *file;
	int fd;

	mount_at("dev", "/dev", "devtmpfs", 0, NULL);
	fd = open("/dev/console", O_RDWR);
	if (fd >= 0) {
		dup2(fd, 0);
		dup2(fd, 1);
		dup2(fd, 2);
	}
	mount_at("proc", "/proc", "proc", 0, NULL);
	file = fopen("/proc/cmdline", "r");
	if (!file || !fgets(cmdline, sizeof(cmdline), file))
		die("/proc/cmdline");
	fclose(file);
	run = argument(cmdline, "lab.run=");
	checkout = argument(cmdline, "lab.checkout=");

	file = fopen("/modules/order", "r");
	if (!file)
		die("/modules/order");
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		load(line);
	}
	fclose(file);

	mount_at("/dev/vda", "/disk", "ext4", MS_RDONLY, NULL);
	mount_at("overlay", "/tmpfs", "tmpfs", 0, "mode=755,size=75%");
	mkdir("/tmpfs/upper", 0755);
	mkdir("/tmpfs/work", 0755);
	mount_at("overlay", NEW, "overlay", 0,
		 "lowerdir=/disk,upperdir=/tmpfs/upper,workdir=/tmpfs/work");
	mkdir(NEW "/.lab", 0755);
	mkdir(NEW "/.lab/root", 0755);
	snprintf(options, sizeof(options), "%s,cache=mmap", p9);
	snprintf(dir, sizeof(dir), NEW "%s", checkout);
	mount_at("checkout", dir, "9p", 0, options);
	snprintf(options, sizeof(options), "%s,cache=none", p9);
	snprintf(dir, sizeof(dir), NEW "%s", run);
	mount_at("run", dir, "9p", 0, options);

	umount("/proc");
	if (mount("/dev", NEW "/dev", NULL, MS_MOVE, NULL) || chdir(NEW) ||
	    mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		die("the new root");
	snprintf(dir, sizeof(dir), "%s/scripts/lab.d/init", checkout);
	execl("/bin/bash", "bash", dir, run, NULL);
	die(dir);
}
