// SPDX-License-Identifier: GPL-2.0
/*
 * The row about attaching a device to a VM: from the start of QEMU until the VM's driver has used
 * the device, which bench/guest/init.c says on its serial port.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define KERNEL		"build/lab/guest-small/bzImage"
#define INITRAMFS	"build/bench/guest/initramfs"
#define SAYS		"guest: attached"
#define START_MS	300000
#define CONSOLE_BYTES	65536

/**
 * struct attached - a device that is attached to a VM again and again
 * @uuid:    the mdev
 * @console: what the VM that runs has said
 * @length:  of that, without the NUL
 */
struct attached {
	const char *uuid;
	char console[CONSOLE_BYTES];
	size_t length;
};

/* Starts QEMU with the VM's serial port on its standard output; returns its process. */
static pid_t start(const char *uuid, int *console)
{
	char device[128];
	int fds[2], null;
	pid_t pid;

	snprintf(device, sizeof(device), "vfio-pci,sysfsdev=/sys/bus/mdev/devices/%s", uuid);
	if (pipe2(fds, O_CLOEXEC))
		bench_die("pipe: %s", strerror(errno));
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		bench_die("fork: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		null = open("/dev/null", O_RDONLY | O_CLOEXEC);
		dup2(null, 0);
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		execlp("qemu-system-x86_64", "qemu-system-x86_64", "-nodefaults",
		       "-no-user-config", "-display", "none", "-no-reboot",
		       "-machine", "pc,accel=tcg", "-smp", "1", "-m", "128",
		       "-kernel", KERNEL, "-initrd", INITRAMFS,
		       "-append", "console=ttyS0 quiet panic=-1 reboot=t",
		       "-serial", "stdio", "-device", device, NULL);
		_exit(127);
	}
	close(fds[1]);
	*console = fds[0];
	return pid;
}

/* Reads the console until the VM says that its device works. */
static void wait_attached(struct attached *a, int console)
{
	struct pollfd pfd = { .fd = console, .events = POLLIN };
	ssize_t n;

	a->length = 0;
	do {
		a->console[a->length] = 0;
		if (strstr(a->console, SAYS))
			return;
		if (poll(&pfd, 1, START_MS) != 1)
			break;
		n = read(console, a->console + a->length, CONSOLE_BYTES - 1 - a->length);
		a->length += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	bench_die("%s: the VM does not use its device: %s", a->uuid,
		  a->length < 600 ? a->console : a->console + a->length - 600);
}

static double block_attach(void *arg)
{
	double begin = bench_now_ns(), spent;
	struct attached *a = arg;
	int console;
	pid_t pid;

	pid = start(a->uuid, &console);
	wait_attached(a, console);
	spent = bench_now_ns() - begin;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(console);
	return spent / 1e6;
}

void row_attach(const char *ours, const char *mbochs)
{
	static struct attached a, b;
	struct bench_row row = {
		.name = "attach", .unit = "ms", .reach = 1.2,
		.ours = { block_attach, &a }, .peer = { block_attach, &b },
		.detail = "from the start of QEMU (TCG) until the VM's first packet has completed, against its first register write to mbochs; the same kernel and init",
	};

	a.uuid = ours;
	b.uuid = mbochs;
	bench_compare(&row);
}
