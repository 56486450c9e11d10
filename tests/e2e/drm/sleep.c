// SPDX-License-Identifier: GPL-2.0
/* Tests of a guest that is suspended or hibernated. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/swap.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define SYSTEM		DRM_VGPU_PLACEMENT_SYSTEM
#define CE		1

/*
 * What a hibernated guest has in the framebuffer, and what else may have its memory: together they
 * are more than an image may have, so that some of the latter is swapped out for it.
 */
#define IMAGE_BYTES	(96 * MIB)
#define CROWD_BYTES	(208 * MIB)
#define TOO_MANY	6

#define DISK_NUMBER	"/sys/block/vda/dev"

int power_write(const char *file, const char *text)
{
	char path[64];
	int fd, ret;

	snprintf(path, sizeof(path), "/sys/power/%s", file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -errno;
	close(fd);
	return ret;
}

static void fill(int fd, uint32_t queue, uint64_t va, uint64_t bytes, uint32_t value)
{
	struct vgpu_hw_packet packet = packet_fill(va, bytes, value);

	CHECK_RET(exec_wait(fd, queue, &packet, 1), 0);
}

static bool has(const struct buf *buf, uint32_t value)
{
	const uint32_t *word = buf->ptr;
	size_t i;

	for (i = 0; i < buf->bytes / 4; i++)
		if (word[i] != value)
			return failed("word %zu is %u, not %u", i, word[i], value);
	return true;
}

/* Buffers keep what is in them, and queues go on, the one with a channel and the one without. */
static bool sleep_and_wake(const char *state, uint64_t bytes)
{
	uint32_t vm, queue, unused;
	struct buf fb, system;
	int fd = node_open();

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &unused), 0);
	CHECK_RET(buf_make(fd, bytes, FRAMEBUFFER, &fb), 0);
	CHECK_RET(buf_make(fd, MIB, SYSTEM, &system), 0);
	CHECK_RET(bind_map(fd, vm, fb.handle, 0, VA_DATA, bytes, DRM_VGPU_BIND_WRITE), 0);
	CHECK_RET(bind_map(fd, vm, system.handle, 0, VA_MORE, MIB, DRM_VGPU_BIND_WRITE), 0);
	fill(fd, queue, VA_DATA, bytes, 42);
	fill(fd, queue, VA_MORE, MIB, 43);
	CHECK_RET(power_write("state", state), 0);
	CHECK(has(&fb, 42) && has(&system, 43));
	fill(fd, queue, VA_DATA, bytes, 44);
	fill(fd, unused, VA_MORE, MIB, 45);
	CHECK(has(&fb, 44) && has(&system, 45));
	buf_end(fd, &fb);
	buf_end(fd, &system);
	close(fd);
	say("slept: %s", state);
	return others_work();
}

/* A job that does not end keeps the guest awake, and is at work afterwards. */
static bool stays_awake(const char *state)
{
	uint32_t queue, sync;
	int fd = begin_for_ever(&queue, &sync);

	CHECK(fd >= 0);
	CHECK_RET(power_write("state", state), -EBUSY);
	CHECK_RET(sync_wait(fd, sync, 10), -ETIME);
	CHECK(others_work());
	close(fd);
	return true;
}

/* What is in the framebuffer has no room in the guest's memory: it stays where it is. */
static bool too_much(void)
{
	struct buf buf[TOO_MANY];
	uint32_t vm, queue, i;
	int fd = node_open();

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
	for (i = 0; i < TOO_MANY; i++) {
		CHECK_RET(buf_make(fd, IMAGE_BYTES, FRAMEBUFFER, &buf[i]), 0);
		CHECK_RET(bind_map(fd, vm, buf[i].handle, 0, VA_DATA + i * IMAGE_BYTES,
				   IMAGE_BYTES, DRM_VGPU_BIND_WRITE), 0);
		fill(fd, queue, VA_DATA + i * IMAGE_BYTES, IMAGE_BYTES, 100 + i);
	}
	CHECK_RET(power_write("state", "disk"), -EBUSY);
	for (i = 0; i < TOO_MANY; i++) {
		fill(fd, queue, VA_DATA + i * IMAGE_BYTES, PAGE, 100 + i);
		CHECK(has(&buf[i], 100 + i));
		buf_end(fd, &buf[i]);
	}
	close(fd);
	return others_work();
}

/* The kernel suspends its devices and resumes them, and does no more. */
bool test_suspend_devices(void)
{
	CHECK(module_again(PATIENT));
	CHECK_RET(power_write("pm_test", "devices"), 0);
	CHECK(sleep_and_wake("mem", MIB));
	CHECK(sleep_and_wake("disk", MIB));
	CHECK(stays_awake("mem"));
	CHECK_RET(power_write("pm_test", "none"), 0);
	return module_again(NULL) && test_dispatch();
}

/* To memory (S3): the host wakes the guest. */
bool test_suspend(void)
{
	say("going to sleep");
	return sleep_and_wake("mem", MIB) && test_dispatch();
}

/*
 * The disk is where the kernel hibernates to. If a guest has done so there, this one ends and that
 * one goes on.
 */
bool disk_resume(void)
{
	char text[32];
	ssize_t n;
	int fd = open(DISK_NUMBER, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return true;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	CHECK(n > 0);
	text[n] = 0;
	CHECK_RET(power_write("resume", text), 0);
	return true;
}

/* A program that works on meanwhile: its calls wait, and are right. */
static void go_on(const bool *end)
{
	uint32_t vm, queue, value;
	struct buf buf;
	int fd = node_open();

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
	for (value = 1; !__atomic_load_n(end, __ATOMIC_RELAXED); value++) {
		CHECK_RET(buf_make(fd, MIB, FRAMEBUFFER, &buf), 0);
		CHECK_RET(bind_map(fd, vm, buf.handle, 0, VA_DATA, MIB, DRM_VGPU_BIND_WRITE), 0);
		fill(fd, queue, VA_DATA, MIB, value);
		fill(fd, queue, VA_DATA, MIB / 2, ~value);
		CHECK(has(&(struct buf){ .bytes = MIB / 2, .ptr = buf.ptr }, ~value));
		CHECK_RET(bind_unmap(fd, vm, VA_DATA, MIB), 0);
		buf_end(fd, &buf);
	}
	say("went on: %u times", value);
	_exit(0);
}

/* The same in a guest whose memory is full of what can be swapped out, and that has work to do. */
static bool hibernate_crowded(void)
{
	uint64_t *word = mmap(NULL, CROWD_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool *end = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;
	size_t i;

	CHECK(word != MAP_FAILED && end != MAP_FAILED);
	for (i = 0; i < CROWD_BYTES / 8; i++)
		word[i] = i + 1;
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		go_on(end);
	CHECK(sleep_and_wake("disk", IMAGE_BYTES));
	__atomic_store_n(end, true, __ATOMIC_RELAXED);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
	for (i = 0; i < CROWD_BYTES / 8; i++)
		CHECK(word[i] == i + 1);
	munmap(word, CROWD_BYTES);
	return true;
}

/*
 * To disk, by an image that another QEMU reads: first before it has the driver, and then by a
 * kernel that has it. A job that does not end, or buffers for which there is no memory, refuse.
 */
bool test_hibernate(void)
{
	CHECK(!swapon("/dev/vda", 0) && module_again(PATIENT));
	CHECK_RET(power_write("disk", "shutdown"), 0);
	CHECK(stays_awake("disk"));
	CHECK(too_much());
	CHECK(sleep_and_wake("disk", IMAGE_BYTES));
	CHECK(hibernate_crowded());
	return module_again(NULL) && test_dispatch();
}

/* The kernel that has the driver, too, ends for the one that was hibernated. */
bool test_awaken(void)
{
	CHECK(test_dispatch() && disk_resume());
	return failed("there is no image");
}
