// SPDX-License-Identifier: GPL-2.0
/*
 * First process of the VM of the rows guest_*: bench PAIRS ROW... Of the VM's two vGPUs the first
 * one gets the guest's driver.
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
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "clk.h"
#include "node.h"
#include "rows.h"

#define FUNCTIONS	"/sys/bus/pci/devices"
#define IRQ_MODULE	"/irq/vgpu_bench_irq.ko"
#define IRQ_NAME	"vgpu_bench_irq"
#define IRQ_VECTOR	1
#define SECONDS		600

static void row_unmap(void)
{
	if (!test_unmap())
		exit(1);
}

static const struct {
	const char *name;
	void (*run)(void);
} rows[] = {
	{ "guest_exec", row_exec },
	{ "guest_clients", row_clients },
	{ "guest_unmap", row_unmap },
	{ "guest_evict", row_evict },
	{ "guest_cost", row_cost },
};

static void load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		bench_die("%s: %s", path, strerror(errno));
	close(fd);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		bench_die("%s: %s", path, strerror(errno));
	close(fd);
}

static bool is_vgpu(const char *function)
{
	unsigned int vendor = 0, device = 0;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), FUNCTIONS "/%s/uevent", function);
	file = fopen(path, "re");
	while (file && fgets(path, sizeof(path), file))
		if (sscanf(path, "PCI_ID=%x:%x", &vendor, &device) == 2)
			break;
	if (file)
		fclose(file);
	return vendor == VGPU_HW_VENDOR_ID && device == VGPU_HW_DEVICE_ID;
}

static void find_second(char *second, size_t room)
{
	struct dirent **entry;
	int nr = scandir(FUNCTIONS, &entry, NULL, alphasort), i, found = 0;

	for (i = 0; i < nr; i++)
		if (is_vgpu(entry[i]->d_name) && ++found == 2)
			snprintf(second, room, "%s", entry[i]->d_name);
	if (found != 2)
		bench_die("%d vGPUs, not 2", found);
}

/* The second vGPU is left to the driver of interrupts, which a row loads when it needs it. */
static void set_second_aside(void)
{
	char second[256], path[512];

	find_second(second, sizeof(second));
	snprintf(path, sizeof(path), FUNCTIONS "/%s/driver_override", second);
	write_file(path, IRQ_NAME);
}

/* In the order of the files' names. */
static void load_all(void)
{
	struct dirent **entry;
	int nr = scandir("/modules", &entry, NULL, alphasort), i;
	char path[512];

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "/modules/%s", entry[i]->d_name);
		if (entry[i]->d_name[0] != '.')
			load(path);
	}
}

void direct_open(struct direct *direct)
{
	char second[256];
	int engine, i;

	find_second(second, sizeof(second));
	/* A driver that is bound before makes libvgpu refuse the function. */
	if (vgpu_dev_open_pci(&direct->dev, second))
		bench_die("%s: %s", second, vgpu_dev_error(NULL));
	load(IRQ_MODULE);
	for (i = 0; i < 100; i++) {
		direct->uio = open("/dev/uio0", O_RDONLY | O_CLOEXEC);
		if (direct->uio >= 0)
			break;
		clk_sleep_ms(20);
	}
	if (direct->uio < 0)
		bench_die("no interrupts: %s", strerror(errno));
	engine = vgpu_dev_find_engine(direct->dev, VGPU_HW_ENGINE_CE, 0);
	if (engine < 0 || vgpu_chan_create(direct->dev, (uint32_t)engine, VGPU_RING_FB, 8,
					   &direct->chan))
		bench_die("channel: %s", vgpu_dev_error(direct->dev));
	direct->rings = 0;
	direct->total = 0;
}

void direct_run(struct direct *direct, struct vgpu_hw_packet packet)
{
	struct vgpu_chan *chan = direct->chan;
	uint64_t put = chan->put;
	uint32_t count;
	int rung;

	packet.flags |= VGPU_HW_PKT_IRQ;
	packet.vector = IRQ_VECTOR;
	chan->ring[put & ((1ull << chan->order) - 1)] = packet;
	rung = vgpu_chan_kick(chan, put + 1);
	if (rung < 0)
		bench_die("doorbell: %s", vgpu_dev_error(chan->dev));
	direct->rings += (unsigned int)rung;
	direct->total++;
	do {
		if (read(direct->uio, &count, sizeof(count)) != sizeof(count))
			bench_die("interrupt: %s", strerror(errno));
		if (vgpu_chan_state(chan) == VGPU_HW_STATE_FAULTED)
			bench_die("a packet of the direct side has faulted");
	} while (vgpu_chan_get(chan) != chan->put);
}

void direct_close(struct direct *direct)
{
	vgpu_chan_destroy(direct->chan);
	close(direct->uio);
	vgpu_dev_close(direct->dev);
	if (syscall(SYS_delete_module, IRQ_NAME, O_NONBLOCK))
		bench_die(IRQ_NAME ": %s", strerror(errno));
}

void host_answers(const char *line)
{
	static int port = -1;

	if (port < 0)
		port = tell_open();
	say("%s end", line);
	if (!tell_wait(port, SECONDS))
		bench_die("the host does not answer");
}

/* In a process of its own: what it leaves open or mapped goes with it. */
static bool run(void (*row)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		row();
		exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static bool run_all(int argc, char **argv)
{
	bool ok = true;
	size_t k;
	int i;

	for (i = 2; i < argc; i++) {
		for (k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
			if (!strcmp(argv[i], rows[k].name))
				break;
		ok = k < sizeof(rows) / sizeof(rows[0]) && run(rows[k].run) && ok;
	}
	return ok;
}

static bool prepare(void)
{
	static const char * const type[] = { "proc", "sysfs", "devtmpfs" };
	static const char * const at[] = { "/proc", "/sys", "/dev" };
	unsigned int i;
	pid_t pid;
	int status;

	for (i = 0; i < 3; i++) {
		mkdir(at[i], 0755);
		if (mount(type[i], at[i], type[i], 0, NULL) && errno != EBUSY)
			return failed("%s: %s", at[i], strerror(errno));
	}
	/* bench_die() ends a process, which must not be the first one. */
	pid = fork();
	if (!pid) {
		set_second_aside();
		load_all();
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return false;
	return true;
}

int main(int argc, char **argv)
{
	bool ok;

	if (getpid() != 1) {
		fputs("This is the first process of a VM of the bench.\n", stderr);
		return 2;
	}
	bench_pairs = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0;
	say("up after %llu ms", (unsigned long long)(clk_ns() / 1000000));
	ok = bench_pairs && bench_pairs <= MAX_PAIRS && prepare() && run_all(argc, argv);
	say("END %s", ok ? "pass" : "fail");
	sync();
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}
