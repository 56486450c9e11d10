// SPDX-License-Identifier: GPL-2.0
/*
 * The first program of a Debian guest, in its initramfs: loads the modules that the disk needs,
 * mounts the disk, with the tree /add of the initramfs and a fresh tmpfs over it, leaves the
 * guest's job in /run/job there, and goes on with init of this directory, or with systemd if that
 * is the job's first word.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEW "/new"

static void die(const char *what)
{
	printf("guest: %s: %s\nguest: END fail\n", what, strerror(errno));
	fflush(stdout);
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

/* Some are for processors that this one is not (ENODEV). */
static void load_all(void)
{
	glob_t list;
	size_t i;
	int fd;

	if (glob("/modules/*", 0, NULL, &list))
		die("/modules");
	for (i = 0; i < list.gl_pathc; i++) {
		fd = open(list.gl_pathv[i], O_RDONLY | O_CLOEXEC);
		if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST &&
			       errno != ENODEV))
			die(list.gl_pathv[i]);
		close(fd);
	}
	globfree(&list);
}

static void mount_at(const char *what, const char *dir, const char *type, unsigned long flags,
		     const char *options)
{
	mkdir(dir, 0755);
	if (mount(what, dir, type, flags, options))
		die(dir);
}

/* One word a line. */
static void leave_job(char **words)
{
	FILE *file = fopen(NEW "/run/job", "w");

	if (!file)
		die(NEW "/run/job");
	for (; *words; words++)
		fprintf(file, "%s\n", *words);
	if (fclose(file))
		die(NEW "/run/job");
}

int main(int argc, char **argv)
{
	bool systemd = argc > 1 && !strcmp(argv[1], "systemd");
	const char *init = systemd ? "/sbin/init" : "/opt/vgpu/init";

	if (getpid() != 1) {
		fputs("This is the first program of a test guest.\n", stderr);
		return 2;
	}
	mount_at("dev", "/dev", "devtmpfs", 0, NULL);
	load_all();
	mount_at("/dev/vda", "/disk", "ext4", MS_RDONLY, NULL);
	mount_at("top", "/top", "tmpfs", 0, "mode=755,size=75%");
	if (mkdir("/top/upper", 0755) || mkdir("/top/work", 0755))
		die("/top");
	mount_at("root", NEW, "overlay", 0,
		 "lowerdir=/add:/disk,upperdir=/top/upper,workdir=/top/work");
	/* systemd leaves mounts as they are. */
	mount_at("run", NEW "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=20%");
	leave_job(argv + 1 + systemd);
	if (mount("/dev", NEW "/dev", NULL, MS_MOVE, NULL) || chdir(NEW) ||
	    mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		die("the new root");
	execl(init, init, NULL);
	die(init);
}
