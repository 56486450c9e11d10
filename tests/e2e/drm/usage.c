// SPDX-License-Identifier: GPL-2.0
/* Tests of what the host tells: who the vGPU is, engine time of it and of each client, its due. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "clk.h"
#include "node.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define GR		0
#define CE		1
#define BYTES		(8 * MIB)
#define QUEUES_MAX	128
#define SOME_NS		20000000	/* twice what the host wants to see */

/* Of the engines' classes, in the order of enum vgpu_hw_engine_class. */
static const char * const keys[] = { "drm-engine-gr", "drm-engine-ce" };

#define CLASSES		(sizeof(keys) / sizeof(keys[0]))

static int usage_ask(int fd, struct drm_vgpu_usage *usage)
{
	struct drm_vgpu_usage_query query = {
		.size = sizeof(*usage),
		.pointer = (uintptr_t)usage,
	};
	int ret;

	memset(usage, 0xff, sizeof(*usage));
	ret = node_ioctl(fd, DRM_IOCTL_VGPU_USAGE_QUERY, &query);
	CHECK(ret || query.size == sizeof(*usage));
	return ret;
}

/* Engine time of the file by fdinfo, per class. */
static void times_of(int fd, uint64_t ns[CLASSES])
{
	char path[64], line[256];
	unsigned int i, found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	CHECK(file);
	while (fgets(line, sizeof(line), file))
		for (i = 0; i < CLASSES; i++)
			if (!strncmp(line, keys[i], strlen(keys[i])) &&
			    line[strlen(keys[i])] == ':') {
				ns[i] = strtoull(line + strlen(keys[i]) + 1, NULL, 10);
				CHECK(strstr(line, " ns\n"));
				found |= 1u << i;
			}
	fclose(file);
	CHECK(found == (1u << CLASSES) - 1);
}

/**
 * struct client - a file with a VM, in which a buffer is mapped, and queues
 * @fd:    of the node
 * @vm:    id
 * @queue: ids
 * @buf:   buffer
 */
struct client {
	int fd;
	uint32_t vm;
	uint32_t queue[QUEUES_MAX];
	struct buf buf;
};

static void begin(struct client *c)
{
	c->fd = node_open();
	CHECK(c->fd >= 0);
	CHECK_RET(vm_make(c->fd, &c->vm), 0);
	CHECK_RET(buf_make(c->fd, BYTES, FRAMEBUFFER, &c->buf), 0);
	CHECK_RET(bind_map(c->fd, c->vm, c->buf.handle, 0, VA_DATA, BYTES, DRM_VGPU_BIND_WRITE),
		  0);
}

static void work(const struct client *c, uint32_t queue)
{
	const struct vgpu_hw_packet packet = packet_fill(VA_DATA, BYTES, queue);

	CHECK_RET(exec_wait(c->fd, queue, &packet, 1), 0);
}

static bool is_text(const uint8_t *text, size_t room)
{
	size_t i;

	for (i = 0; i < room && text[i]; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	for (; i < room; i++)
		if (text[i])
			return false;
	return text[0];
}

/* The call, with all that may be wrong with its arguments. */
bool test_usage_query(void)
{
	struct drm_vgpu_usage_query query = { .size = 0 };
	struct drm_vgpu_usage usage, later, part;
	struct drm_vgpu_dev_info info;
	int fd = node_open();
	uint32_t i;

	CHECK(fd >= 0);
	CHECK_RET(node_info(fd, &info), 0);
	CHECK(info.uuid[0] | info.uuid[1] | info.uuid[15]);
	CHECK(is_text(info.type, sizeof(info.type)));
	say("this is %s", info.type);
	CHECK_RET(usage_ask(fd, &usage), 0);
	CHECK(usage.nr_engines == info.nr_engines && !usage.pad);
	for (i = 0; i < DRM_VGPU_ENGINES_MAX; i++) {
		CHECK(!usage.engine[i].pad);
		if (i < usage.nr_engines)
			CHECK(usage.engine[i].due_permille >= 1 &&
			      usage.engine[i].due_permille <= 1000);
		else
			CHECK(!usage.engine[i].service_ns && !usage.engine[i].due_permille);
	}
	usleep(20000);
	CHECK_RET(usage_ask(fd, &later), 0);
	CHECK(later.time_ns - usage.time_ns >= 20000000);
	CHECK(later.time_ns - usage.time_ns < 1ull << 40);
	/* Only the size; less room than there is; a bad pointer; what must be 0. */
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_USAGE_QUERY, &query), 0);
	CHECK(query.size == sizeof(usage));
	memset(&part, 0xff, sizeof(part));
	query = (struct drm_vgpu_usage_query){ .size = 8, .pointer = (uintptr_t)&part };
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_USAGE_QUERY, &query), 0);
	CHECK(query.size == sizeof(usage) && part.time_ns >= later.time_ns && !~part.nr_engines);
	query = (struct drm_vgpu_usage_query){ .size = 8, .pointer = 8 };
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_USAGE_QUERY, &query), -EFAULT);
	query = (struct drm_vgpu_usage_query){ .pad = 1 };
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_VGPU_USAGE_QUERY, &query), -EINVAL);
	close(fd);
	return true;
}

static uint64_t service_of(int fd, uint32_t engine)
{
	struct drm_vgpu_usage usage;

	CHECK_RET(usage_ask(fd, &usage), 0);
	return usage.engine[engine].service_ns;
}

/* The engine tells of its work a moment after the guest sees that it is done. */
static void time_grows(int fd, uint64_t *had_ns)
{
	uint64_t ns[CLASSES];
	unsigned int i = 0;

	do {
		times_of(fd, ns);
		CHECK(ns[1] >= *had_ns && !ns[0] && i++ < 6000);
		usleep(10000);
	} while (ns[1] == *had_ns);
	*had_ns = ns[1];
}

/* Waits until the engine has told all of its work, and sets @had_ns to the client's part. */
static void settle(int fd, uint64_t *had_ns)
{
	uint64_t ns[CLASSES], before, now = 0;

	do {
		before = now;
		usleep(200000);
		times_of(fd, ns);
		now = ns[CE] + service_of(fd, CE);
	} while (now != before);
	*had_ns = ns[CE];
}

/*
 * Works on queues of its own. Whether the client has got what the vGPU has, but for what begins and
 * ends runs.
 */
static bool gets_all(struct client *c, uint32_t nr, uint64_t *had_ns)
{
	uint64_t service = service_of(c->fd, CE), had = *had_ns;
	uint32_t i;

	for (i = 0; i < nr; i++) {
		CHECK_RET(queue_make(c->fd, c->vm, CE, 4, &c->queue[i]), 0);
		work(c, c->queue[i]);
		time_grows(c->fd, had_ns);
	}
	settle(c->fd, had_ns);
	had = *had_ns - had;
	service = service_of(c->fd, CE) - service;
	say("a client has used %llu us, the vGPU %llu us", (unsigned long long)had / 1000,
	    (unsigned long long)service / 1000);
	CHECK(had <= service);
	return had >= service - service / 20;
}

static void end_queues(const struct client *c, uint32_t nr)
{
	while (nr--)
		CHECK_RET(queue_end(c->fd, c->queue[nr]), 0);
}

/*
 * Time of two clients with more queues than there are channels: what is taken back, and what is
 * destroyed, is kept. While one works it is the vGPU's service, but for what begins and ends runs.
 * That is more if the host stands still meanwhile: then it is measured again.
 */
bool test_usage_time(void)
{
	uint64_t before, service[2], had_ns[2] = { 0, 0 }, ns[CLASSES];
	struct drm_vgpu_dev_info info;
	unsigned int tries;
	struct client c[2];
	uint32_t i, nr;

	begin(&c[0]);
	begin(&c[1]);
	CHECK_RET(node_info(c[0].fd, &info), 0);
	nr = info.channels / 2 + 2;
	CHECK(nr <= QUEUES_MAX);
	for (i = 0; i < 2; i++) {
		times_of(c[i].fd, ns);
		CHECK(!ns[0] && !ns[1]);
		before = service_of(c[0].fd, CE);
		for (tries = 1; !gets_all(&c[i], nr, &had_ns[i]); tries++) {
			CHECK(tries < 20);
			end_queues(&c[i], nr);
			settle(c[i].fd, &had_ns[i]);
		}
		service[i] = service_of(c[0].fd, CE) - before;
		CHECK(had_ns[i] <= service[i]);
	}
	/* Channels that were taken back have told the rest of what they had got. */
	times_of(c[0].fd, ns);
	CHECK(ns[CE] >= had_ns[0] && ns[CE] <= service[0]);
	had_ns[0] = ns[CE];
	end_queues(&c[0], nr);
	times_of(c[0].fd, ns);
	CHECK(ns[CE] >= had_ns[0] && ns[CE] <= service[0]);
	close(c[0].fd);
	close(c[1].fd);
	return true;
}

/* Works for so long, on one engine; then says how long it has worked, and keeps its queue. */
static void use(const char *name, uint32_t engine, unsigned int ms, unsigned int rest_ms)
{
	uint64_t ns[CLASSES], end = clk_ns() + ms * 1000000ull;
	struct client c;

	CHECK(!prctl(PR_SET_NAME, name));
	begin(&c);
	CHECK_RET(queue_make(c.fd, c.vm, engine, 4, &c.queue[0]), 0);
	/* For longer, if the host stands still: the host wants to see some work. */
	do {
		work(&c, c.queue[0]);
		usleep(rest_ms * 1000);
		times_of(c.fd, ns);
	} while (clk_ns() < end || ns[engine] < SOME_NS);
	settle(c.fd, &ns[engine]);
	say("process %d has used %llu ns of class %u", getpid(), (unsigned long long)ns[engine],
	    engine);
	for (;;)
		pause();
}

/* Two processes work; the host compares what fdinfo says of them with what it has measured. */
bool test_usage_beside(void)
{
	struct drm_vgpu_usage usage;
	int fd = node_open(), tell = tell_open();
	bool told;
	pid_t pid[2];
	unsigned int i;

	CHECK(fd >= 0 && tell >= 0);
	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		CHECK(pid[i] >= 0);
		if (!pid[i])
			use(i ? "seldom" : "often", CE, 2000, i ? 100 : 0);
	}
	told = tell_wait(tell, 2 * WAIT_MS / 1000);
	CHECK_RET(usage_ask(fd, &usage), 0);
	say("the vGPU has used %llu ns of class %u, its due is %u",
	    (unsigned long long)usage.engine[CE].service_ns, CE, usage.engine[CE].due_permille);
	for (i = 0; i < 2; i++)
		CHECK(!kill(pid[i], SIGKILL));
	return told;
}
