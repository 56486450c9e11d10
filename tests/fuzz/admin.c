// SPDX-License-Identifier: GPL-2.0
/*
 * The administrator: makes all calls of /dev/vgpu and reads all files, with right and with wrong
 * arguments, while the others run; but leaves the victim's share alone.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fuzz.h"
#include "node.h"

static const unsigned long admin_read[] = {
	VGPU_IOC_VERSION, VGPU_IOC_GPUS, VGPU_IOC_GPU, VGPU_IOC_TYPE,
	VGPU_IOC_INSTANCES, VGPU_IOC_INSTANCE, VGPU_IOC_REFUSAL, VGPU_IOC_SCHED,
	VGPU_IOC_SCHED_LOG, VGPU_IOC_HIST, VGPU_IOC_STATS, VGPU_IOC_SAMPLES,
	VGPU_IOC_SESSIONS, VGPU_IOC_MIGRATION, VGPU_IOC_MIGRATION_CHECK,
	VGPU_IOC_PROFILE, VGPU_IOC_PARTITIONS, VGPU_IOC_PARTITION,
};

/* Any call that changes nothing, with any argument. */
static void admin_ask(int fd, struct rng *rng)
{
	static _Thread_local uint64_t words[2048], lists[2048];
	unsigned long command = admin_read[rng_below(rng, sizeof(admin_read) /
						     sizeof(admin_read[0]))];
	uint32_t *head = (uint32_t *)words;

	memset(words, 0, sizeof(words));
	head[0] = fuzz_chance(rng, 70) ? _IOC_SIZE(command) :
					 (uint32_t)fuzz_value(rng) % sizeof(words);
	head[2] = (uint32_t)rng_below(rng, 3);
	head[3] = (uint32_t)rng_below(rng, 8);
	words[2] = (uintptr_t)lists;
	if (fuzz_chance(rng, 50))
		fuzz_bytes(rng, words + 1, 40);
	if (fuzz_chance(rng, 5))
		head[0] = (uint32_t)fuzz_value(rng);
	ioctl(fd, command, fuzz_chance(rng, 95) ? (void *)words :
	      (void *)(uintptr_t)fuzz_value(rng));
}

/* Calls that fill arrays, with arguments of which most are right. */
static void admin_arrays(int fd, struct rng *rng)
{
	static const unsigned long command[] = {
		VGPU_IOC_STATS, VGPU_IOC_SAMPLES, VGPU_IOC_SESSIONS,
	};
	/* Room for as much as a call gives: 1024 entries of 16384 bytes. */
	static uint8_t entries[1024 * 16384];
	/* What follows the entries differs: it is since_ns or first_id here. */
	union {
		struct vgpu_ctl_stats stats;
		struct vgpu_ctl_samples samples;
		struct vgpu_ctl_sessions sessions;
	} ctl;
	unsigned int i = (unsigned int)rng_below(rng, 3);

	memset(&ctl, 0, sizeof(ctl));
	ctl.sessions.size = _IOC_SIZE(command[i]);
	ctl.sessions.gpu = (uint32_t)rng_below(rng, 3);
	ctl.sessions.count = fuzz_chance(rng, 80) ? (uint32_t)rng_below(rng, 5000) :
						    (uint32_t)fuzz_value(rng);
	if (fuzz_chance(rng, 50))
		ctl.sessions.entry_size = (uint32_t)rng_below(rng, 16500);
	else
		ctl.sessions.entry_size = (uint32_t)rng_below(rng, 1000);
	if (fuzz_chance(rng, 5))
		ctl.sessions.entry_size = (uint32_t)fuzz_value(rng);
	ctl.sessions.entries = fuzz_chance(rng, 90) ? (uintptr_t)entries : fuzz_value(rng);
	if (fuzz_chance(rng, 50))
		ctl.sessions.first_id = fuzz_chance(rng, 50) ? rng_below(rng, 5000) :
							       fuzz_value(rng);
	ioctl(fd, command[i], &ctl);
}

/* What a type's vGPUs are for a move, and whether they fit that with some bytes changed. */
static void admin_moves(int fd, struct rng *rng)
{
	struct vgpu_ctl_migration_check check = { .size = sizeof(check) };
	struct vgpu_ctl_migration ask = { .size = sizeof(ask) };
	static uint8_t about[512];

	ask.flags = VGPU_MIGRATION_OF_TYPE;
	ask.gpu = (uint32_t)rng_below(rng, 3);
	ask.type_index = (uint32_t)rng_below(rng, 30);
	ask.about = fuzz_chance(rng, 95) ? (uintptr_t)about : fuzz_value(rng);
	ask.about_bytes = fuzz_chance(rng, 90) ? sizeof(about) : (uint32_t)fuzz_value(rng);
	ioctl(fd, VGPU_IOC_MIGRATION, &ask);
	if (fuzz_chance(rng, 50))
		fuzz_bytes(rng, about + rng_below(rng, sizeof(about) - 8), 8);
	check.flags = ask.flags;
	check.gpu = ask.gpu;
	check.type_index = fuzz_chance(rng, 90) ? ask.type_index : (uint32_t)fuzz_value(rng);
	check.about = fuzz_chance(rng, 95) ? (uintptr_t)about : fuzz_value(rng);
	check.about_bytes = fuzz_chance(rng, 80) ? (uint32_t)rng_below(rng, sizeof(about)) :
						   (uint32_t)fuzz_value(rng);
	ioctl(fd, VGPU_IOC_MIGRATION_CHECK, &check);
}

/* A policy that the driver lists, or something that is none. */
static const char *admin_policy(struct rng *rng, char names[256])
{
	char path[128], *name, *at;
	uint64_t nr = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/mdev_bus/%.64s/vgpu/policies",
		 fuzz.gpu[0].address);
	file = fuzz_chance(rng, 67) ? fopen(path, "r") : NULL;
	if (!file)
		return fuzz_chance(rng, 50) ? "qos " : "";
	names = fgets(names, 256, file);
	fclose(file);
	if (!names)
		return "";
	/* Each of them with the same chance: of the n-th one in n. */
	for (name = strtok_r(names, "\n ", &at); name; name = strtok_r(NULL, "\n ", &at))
		if (!rng_below(rng, ++nr))
			names = name;
	return names;
}

static void admin_sched(int fd, struct rng *rng)
{
	struct vgpu_ctl_sched set = { .size = sizeof(set) };
	char names[256];

	set.gpu = (uint32_t)rng_below(rng, 4);
	set.valid = (uint32_t)rng_below(rng, 0x100);
	if (fuzz_chance(rng, 90)) /* a frequency beside a slice is refused */
		set.valid &= ~VGPU_SCHED_FREQUENCY;
	snprintf((char *)set.policy, sizeof(set.policy), "%s", admin_policy(rng, names));
	set.slice_ns = 1000000 * (1 + rng_below(rng, 10));
	set.window_ns = 100000000 + rng_below(rng, 900000000);
	set.frequency_hz = (uint32_t)rng_below(rng, 1000);
	/* Not shorter: on a slow machine the victim needs that long to stop. */
	set.preempt_timeout_us = 50000 + (uint32_t)rng_below(rng, 950000);
	set.linger_us = (uint32_t)rng_below(rng, 1000);
	set.quarantine_faults = fuzz_chance(rng, 80) ? 0 : (uint32_t)rng_below(rng, 17);
	set.quarantine_backoff_ms = 1 + (uint32_t)rng_below(rng, 1000);
	if (fuzz_chance(rng, 50)) {
		set.flags = VGPU_SCHED_OF_PARTITION;
		set.partition = (uint32_t)rng_below(rng, 100);
	}
	if (fuzz_chance(rng, 10))
		set.slice_ns = fuzz_value(rng);
	if (fuzz_chance(rng, 10))
		set.window_ns = fuzz_value(rng);
	if (fuzz_chance(rng, 5))
		set.flags = (uint32_t)fuzz_value(rng);
	ioctl(fd, VGPU_IOC_SCHED_SET, &set);
}

/* Divides GPUs and joins them again, but not the first: the victim is there. */
static void admin_partitions(int fd, struct rng *rng)
{
	uint32_t gpu = 1 + (uint32_t)rng_below(rng, 3), ids[8], nr = 8, start, id;
	char text[VGPU_TEXT_LEN];

	switch (rng_below(rng, 6)) {
	case 0:
		/* Mostly off: a divided GPU has no vGPUs with a display. */
		node_partition_mode(fd, gpu, fuzz_chance(rng, 90) ? fuzz_chance(rng, 25) :
				    (uint32_t)fuzz_value(rng), text);
		break;
	case 1 ... 3:
		start = fuzz_chance(rng, 50) ? VGPU_PARTITION_ANYWHERE :
			fuzz_chance(rng, 90) ? (uint32_t)rng_below(rng, 8) :
					       (uint32_t)fuzz_value(rng);
		id = fuzz_chance(rng, 90) ? (uint32_t)rng_below(rng, 5) :
					    (uint32_t)fuzz_value(rng);
		node_partition_create(fd, gpu, id, &start, &id, text);
		break;
	default:
		if (node_partitions(fd, gpu, ids, &nr) || !nr)
			break;
		id = fuzz_chance(rng, 90) ? ids[rng_below(rng, nr)] : (uint32_t)fuzz_value(rng);
		node_partition_remove(fd, gpu, id, text);
	}
}

/* Finds the vGPUs that there are, without the victim; returns how many. */
static unsigned int admin_instances(int fd, uint8_t ids[][VGPU_UUID_LEN], unsigned int room)
{
	struct vgpu_ctl_list list = { .size = sizeof(list), .gpu = ~0u };
	struct vgpu_ctl_instance inst;
	unsigned int i, nr = 0;

	list.count = room;
	list.ids = (uintptr_t)ids;
	if (ioctl(fd, VGPU_IOC_INSTANCES, &list))
		return 0;
	for (i = 0; i < list.count && i < room; i++) {
		/* The victim is the first vGPU that was made on the first GPU. */
		if (node_instance(fd, ids[i], &inst) || (!inst.placement_gb && !inst.first_channel))
			continue;
		memmove(ids[nr++], ids[i], VGPU_UUID_LEN);
	}
	return nr;
}

static void admin_shares(int fd, struct rng *rng)
{
	uint8_t ids[64][VGPU_UUID_LEN];
	struct vgpu_ctl_share entry[8];
	char text[VGPU_TEXT_LEN];
	unsigned int i, nr;
	uint32_t count;

	nr = admin_instances(fd, ids, 64);
	if (!nr)
		return;
	memset(entry, 0, sizeof(entry));
	count = 1 + (uint32_t)rng_below(rng, 8);
	for (i = 0; i < count; i++) {
		memcpy(entry[i].uuid, ids[rng_below(rng, nr)], VGPU_UUID_LEN);
		entry[i].valid = (uint32_t)rng_below(rng, 32);
		entry[i].guarantee = (uint32_t)rng_below(rng, 300);
		entry[i].cap = 300 + (uint32_t)rng_below(rng, 701);
		entry[i].weight = 1 + (uint32_t)rng_below(rng, 1000);
		entry[i].frl = (uint32_t)rng_below(rng, 1001);
		entry[i].vga = (uint32_t)rng_below(rng, 2);
		if (fuzz_chance(rng, 10))
			fuzz_mutate(rng, &entry[i].valid, sizeof(entry[i]) - VGPU_UUID_LEN);
	}
	node_shares_set(fd, entry, count, text);
	if (fuzz_chance(rng, 30))
		node_release(fd, ids[rng_below(rng, nr)]);
}

static void admin_events(int fd, struct rng *rng)
{
	char buf[4096];

	if (fuzz_chance(rng, 95))
		(void)!read(fd, buf, rng_below(rng, sizeof(buf)));
	else
		(void)!read(fd, (void *)(uintptr_t)fuzz_value(rng), 4096);
}

static int admin_read_file(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	char buf[4096];
	int fd;

	(void)st;
	(void)ftw;
	/* hang is for writing: it makes an engine hang. */
	if (flag != FTW_F || strstr(path, "/hang"))
		return fuzz_over();
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		while (read(fd, buf, sizeof(buf)) > 0)
			;
		close(fd);
		if (!strncmp(path, "/sys/class/", 11))
			fuzz_count(FUZZ_FILES);
	}
	return fuzz_over();
}

static void admin_files(struct rng *rng)
{
	char path[128];

	switch (rng_below(rng, 4)) {
	case 0:
		nftw("/sys/kernel/debug/vgpu", admin_read_file, 8, FTW_PHYS);
		break;
	case 1:
		nftw("/sys/kernel/debug/vgpu_soft", admin_read_file, 8, FTW_PHYS);
		break;
	default:
		/*
		 * Behind a link (nftw() strips slashes) is the GPU. Links in there lead to all of
		 * sysfs.
		 */
		snprintf(path, sizeof(path), "/sys/class/mdev_bus/%s/.",
			 fuzz.gpu[rng_below(rng, fuzz.nr_gpus)].address);
		nftw(path, admin_read_file, 8, FTW_PHYS);
	}
}

/**
 * fuzz_admin() - be the administrator until the run is over
 *
 * Return: exit status of this process.
 */
int fuzz_admin(void)
{
	struct rng rng = rng_seed(fuzz.seed ^ 0x61646d696e);
	int fd = open("/dev/vgpu", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		fuzz_wrong("/dev/vgpu: %s", strerror(errno));
		return 1;
	}
	while (!fuzz_over()) {
		switch (rng_below(&rng, 20)) {
		case 0 ... 7:
			admin_ask(fd, &rng);
			break;
		case 8:
			admin_arrays(fd, &rng);
			break;
		case 9:
			admin_moves(fd, &rng);
			break;
		case 10 ... 12:
			admin_sched(fd, &rng);
			break;
		case 13 ... 15:
			admin_shares(fd, &rng);
			break;
		case 16:
			admin_partitions(fd, &rng);
			break;
		case 17 ... 18:
			admin_events(fd, &rng);
			break;
		default:
			admin_files(&rng);
		}
		fuzz_count(FUZZ_ADMIN);
		if (fuzz_chance(&rng, 20))
			clk_sleep_ms((unsigned int)rng_below(&rng, 20));
	}
	close(fd);
	return 0;
}

/**
 * fuzz_binder() - take GPUs away and bring them back, all but the first
 *
 * Return: exit status of this process.
 */
int fuzz_binder(void)
{
	struct rng rng = rng_seed(fuzz.seed ^ 0x62696e64);
	const struct fuzz_gpu *gpu;
	int ret;

	while (!fuzz_over()) {
		clk_sleep_ms(500 + (unsigned int)rng_below(&rng, 3000));
		gpu = &fuzz.gpu[1 + rng_below(&rng, fuzz.nr_gpus - 1)];
		ret = file_write("/sys/bus/pci/drivers/vgpu_soft/unbind", gpu->address);
		if (!ret) {
			clk_sleep_ms((unsigned int)rng_below(&rng, 200));
			ret = file_write("/sys/bus/pci/drivers/vgpu_soft/bind", gpu->address);
		}
		if (ret) {
			fuzz_wrong("GPU %s cannot be unbound and bound: %s", gpu->address,
				   strerror(-ret));
			return 1;
		}
		fuzz_count(FUZZ_BINDS);
	}
	return 0;
}
