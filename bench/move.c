// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/vfio.h>

#include "bench.h"
#include "move.h"

#define FEATURE_DATA_SIZE	9	/* of linux/vfio.h since 6.2 */

/* Of Documentation/migration.rst. */
#define FRAME_HEAD	16
#define FRAME_MEMORY	2

#define PUMP_BYTES	(1u << 20)

static void feature(struct vgpu_dev *dev, uint32_t flags, void *data, size_t bytes)
{
	union {
		struct vfio_device_feature head;
		uint8_t bytes[64];
	} u = { .head = { .argsz = (uint32_t)(sizeof(u.head) + bytes), .flags = flags } };

	memcpy(u.head.data, data, bytes);
	if (ioctl(dev->fd, VFIO_DEVICE_FEATURE, &u.head) < 0)
		bench_die("VFIO_DEVICE_FEATURE %#x of %s: %s", flags, dev->name, strerror(errno));
	memcpy(data, u.head.data, bytes);
}

void move_state(struct vgpu_dev *dev, unsigned int state, int *data)
{
	struct vfio_device_feature_mig_state arg = { .device_state = state, .data_fd = -1 };

	feature(dev, VFIO_DEVICE_FEATURE_SET | VFIO_DEVICE_FEATURE_MIG_DEVICE_STATE, &arg,
		sizeof(arg));
	if (data ? arg.data_fd < 0 : arg.data_fd >= 0)
		bench_die("state %u: stream %d", state, arg.data_fd);
	if (data)
		*data = arg.data_fd;
}

uint64_t move_left(struct vgpu_dev *dev)
{
	uint64_t bytes = 0;

	feature(dev, VFIO_DEVICE_FEATURE_GET | FEATURE_DATA_SIZE, &bytes, sizeof(bytes));
	return bytes;
}

/* The pages of a frame whose beginning is in @head. */
static void pump_sent(struct pump *pump)
{
	uint64_t first;
	uint32_t nr, i;

	memcpy(&first, pump->head + FRAME_HEAD, sizeof(first));
	memcpy(&nr, pump->head + FRAME_HEAD + sizeof(first), sizeof(nr));
	for (i = 0; i < le32toh(nr); i++)
		atomic_store_explicit(&pump->sent[le64toh(first) + i], 1, memory_order_relaxed);
}

/* So many bytes of a frame's beginning are there as were wanted. */
static void pump_head(struct pump *pump)
{
	uint32_t length;
	uint16_t type;

	memcpy(&type, pump->head, sizeof(type));
	memcpy(&length, pump->head + 4, sizeof(length));
	if (le16toh(type) == FRAME_MEMORY && pump->want == FRAME_HEAD) {
		pump->want = sizeof(pump->head);
		return;
	}
	if (le16toh(type) == FRAME_MEMORY)
		pump_sent(pump);
	pump->skip = le32toh(length) - (pump->want - FRAME_HEAD);
	pump->want = FRAME_HEAD;
	pump->got = 0;
}

static void pump_look(struct pump *pump, const uint8_t *from, size_t bytes)
{
	size_t part;

	for (; bytes; from += part, bytes -= part) {
		part = pump->skip ? pump->skip : pump->want - pump->got;
		if (part > bytes)
			part = bytes;
		if (pump->skip) {
			pump->skip -= part;
			continue;
		}
		memcpy(pump->head + pump->got, from, part);
		pump->got += part;
		if (pump->got == pump->want)
			pump_head(pump);
	}
}

void pump_begin(struct pump *pump, int from, int to, atomic_uchar *sent)
{
	*pump = (struct pump){ .from = from, .to = to, .sent = sent, .want = FRAME_HEAD };
}

void pump_run(struct pump *pump)
{
	static uint8_t buffer[PUMP_BYTES];
	double start = bench_now_ns();
	ssize_t n;

	while ((n = read(pump->from, buffer, sizeof(buffer))) > 0) {
		if (pump->sent)
			pump_look(pump, buffer, (size_t)n);
		if (pump->to >= 0 && write(pump->to, buffer, (size_t)n) != n)
			bench_die("the stream was not taken: %s", strerror(errno));
		pump->bytes += (uint64_t)n;
	}
	if (n && errno != ENOMSG)
		bench_die("stream: %s", strerror(errno));
	pump->ns += bench_now_ns() - start;
}
