// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hop.h"

/* Of Documentation/migration.rst: the head of a frame, and frames that have a part of the state. */
#define FRAME_HEAD	16
#define FRAME_STATE	6

void hop_stream_free(struct hop_stream *stream)
{
	free(stream->bytes);
	memset(stream, 0, sizeof(*stream));
}

static int feature(int device, uint32_t flags, void *data, size_t bytes)
{
	union {
		struct vfio_device_feature head;
		uint8_t bytes[64];
	} u = { .head = { .argsz = (uint32_t)(sizeof(u.head) + bytes), .flags = flags } };
	int ret;

	memcpy(u.head.data, data, bytes);
	ret = ioctl(device, VFIO_DEVICE_FEATURE, &u.head) < 0 ? -errno : 0;
	memcpy(data, u.head.data, bytes);
	return ret;
}

int hop_try_state(struct fx_vgpu *v, unsigned int state, int *data)
{
	struct vfio_device_feature_mig_state arg = { .device_state = state, .data_fd = -1 };
	int ret;

	ret = feature(v->dev->fd, VFIO_DEVICE_FEATURE_SET |
		      VFIO_DEVICE_FEATURE_MIG_DEVICE_STATE, &arg, sizeof(arg));
	if (data)
		*data = ret ? -1 : arg.data_fd;
	else if (!ret)
		CHECK_EQ(arg.data_fd, -1, "state %u", state);
	return ret;
}

void hop_state(struct fx_vgpu *v, unsigned int state, int *data)
{
	int ret = hop_try_state(v, state, data);

	CHECK(!ret, "state %u: %s", state, strerror(-ret));
	CHECK(!data || *data >= 0, "state %u: no stream", state);
}

int hop_enter(struct fx_vgpu *v, unsigned int state)
{
	bool has = state == VFIO_DEVICE_STATE_STOP_COPY || state == HOP_PRE_COPY ||
		   state == HOP_PRE_COPY_P2P || state == VFIO_DEVICE_STATE_RESUMING;
	int data = -1;

	hop_state(v, state, has ? &data : NULL);
	return data;
}

void hop_read_some(int data)
{
	static uint8_t bytes[300000];

	CHECK(read(data, bytes, 1 + fx_random_below(sizeof(bytes))) > 0, "%s", strerror(errno));
}

void hop_check_ended(int data)
{
	char byte = 0;

	CHECK_EQ(read(data, &byte, 1), -1);
	CHECK(errno == ENODEV || errno == EBADF, "%s", strerror(errno));
	CHECK_EQ(write(data, &byte, 1), -1);
	CHECK(errno == ENODEV || errno == EBADF, "%s", strerror(errno));
	close(data);
}

unsigned int hop_get_state(struct fx_vgpu *v)
{
	struct vfio_device_feature_mig_state arg = { 0 };
	int ret;

	ret = feature(v->dev->fd, VFIO_DEVICE_FEATURE_GET |
		      VFIO_DEVICE_FEATURE_MIG_DEVICE_STATE, &arg, sizeof(arg));
	CHECK(!ret, "%s", strerror(-ret));
	return arg.device_state;
}

uint64_t hop_data_size(struct fx_vgpu *v)
{
	struct hop_data_size arg = { 0 };
	int ret;

	ret = feature(v->dev->fd, VFIO_DEVICE_FEATURE_GET | HOP_FEATURE_DATA_SIZE,
		      &arg, sizeof(arg));
	CHECK(!ret, "%s", strerror(-ret));
	return arg.stop_copy_length;
}

void hop_read(int data, struct hop_stream *stream)
{
	ssize_t n;

	do {
		if (stream->room - stream->nr < FX_MIB) {
			stream->room = 2 * stream->room + 4 * FX_MIB;
			stream->bytes = realloc(stream->bytes, stream->room);
			CHECK(stream->bytes, "memory");
		}
		n = read(data, stream->bytes + stream->nr,
			 1 + fx_random_below(stream->room - stream->nr));
		if (n > 0)
			stream->nr += (size_t)n;
	} while (n > 0);
	CHECK(!n || errno == ENOMSG, "%s", strerror(errno));
}

int hop_write(int data, const void *bytes, size_t nr, bool pieces)
{
	const uint8_t *from = bytes;
	ssize_t n;

	while (nr) {
		n = write(data, from, pieces ? 1 + fx_random_below(nr) : nr);
		if (n < 0)
			return -errno;
		from += n;
		nr -= (size_t)n;
	}
	return 0;
}

void hop_save(struct fx_vgpu *v, unsigned int passes, struct hop_stream *stream)
{
	unsigned int i;
	int data;

	if (passes)
		hop_state(v, HOP_PRE_COPY, &data);
	for (i = 0; i < passes; i++) {
		/* A pass is empty that begins sooner than 100 ms after the last one. */
		if (i && !fx_random_below(8))
			clk_sleep_ms(110);
		hop_read(data, stream);
	}
	hop_state(v, VFIO_DEVICE_STATE_STOP_COPY, passes ? NULL : &data);
	hop_read(data, stream);
	close(data);
}

uint64_t hop_state_bytes(const struct hop_stream *stream)
{
	uint64_t bytes = 0;
	uint32_t length;
	uint16_t type;
	size_t at;

	for (at = 0; at + FRAME_HEAD <= stream->nr; at += FRAME_HEAD + le32toh(length)) {
		memcpy(&type, stream->bytes + at, sizeof(type));
		memcpy(&length, stream->bytes + at + 4, sizeof(length));
		if (le16toh(type) == FRAME_STATE)
			bytes += le32toh(length);
	}
	return bytes;
}

/* As vgpu_dev_open_vfio(), but in a container that there is. */
void hop_create_beside(struct fx_vgpu *v, const char *type, struct fx_vgpu *beside)
{
	struct vgpu_dev *dev = calloc(1, sizeof(*dev));
	char path[128], link[256];
	ssize_t n;

	CHECK(dev, "memory");
	fx_create(v, type);
	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/iommu_group", v->uuid);
	n = readlink(path, link, sizeof(link) - 1);
	CHECK(n > 0, "%s", path);
	link[n] = 0;
	snprintf(path, sizeof(path), "/dev/vfio%.16s", strrchr(link, '/'));
	*dev = *beside->dev;
	/* To be closed by itself: what both would free it has not got. */
	dev->fb = NULL;
	dev->chan_pages = NULL;
	dev->chan_used = NULL;
	dev->irq_fds = NULL;
	dev->irqs = 0;
	dev->config_fd = -1;
	dev->lock_fd = -1;
	dev->pagemap_fd = -1;
	dev->container = fcntl(beside->dev->container, F_DUPFD_CLOEXEC, 0);
	CHECK(dev->container >= 0, "%s", strerror(errno));
	FX_SOON((dev->group = open(path, O_RDWR | O_CLOEXEC)) >= 0 || errno != ENOENT, "%s", path);
	CHECK(dev->group >= 0, "%s: %s", path, strerror(errno));
	CHECK(!ioctl(dev->group, VFIO_GROUP_SET_CONTAINER, &dev->container), "%s",
	      strerror(errno));
	dev->fd = ioctl(dev->group, VFIO_GROUP_GET_DEVICE_FD, v->uuid);
	CHECK(dev->fd >= 0, "%s", strerror(errno));
	v->dev = dev;
}

/* The interrupts of @from go to the same eventfds from @to, too. */
static void share_irqs(const struct vgpu_dev *from, const struct vgpu_dev *to)
{
	size_t bytes = sizeof(struct vfio_irq_set) + from->irqs * sizeof(int32_t);
	struct vfio_irq_set *set;

	if (!from->irqs)
		return;
	set = calloc(1, bytes);
	CHECK(set, "memory");
	set->argsz = (uint32_t)bytes;
	set->flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
	set->index = VFIO_PCI_MSIX_IRQ_INDEX;
	set->count = from->irqs;
	memcpy(set->data, from->irq_fds, from->irqs * sizeof(int32_t));
	CHECK(!ioctl(to->fd, VFIO_DEVICE_SET_IRQS, set), "%s", strerror(errno));
	free(set);
}

static void take_map(const struct vgpu_dev *dev, void *at, unsigned int bar, size_t bytes)
{
	void *ptr = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, dev->fd,
			 (off_t)dev->region[bar].offset);

	CHECK(ptr == at, "BAR %u: %s", bar, strerror(errno));
}

static void take_fd(int from, int to)
{
	CHECK(dup3(from, to, O_CLOEXEC) == to, "%s", strerror(errno));
	close(from);
}

static struct hop_counts gone;

static void add_counts(const struct fx_vgpu *v, struct hop_counts *to)
{
	struct vgpu_ctl_instance inst;
	unsigned int i;

	fx_instance(v, &inst);
	for (i = 0; i < inst.engines; i++)
		to->packets += inst.engine[i].packets;
	to->frames += inst.frames;
	to->faults += inst.faults;
}

void hop_count_begin(void)
{
	memset(&gone, 0, sizeof(gone));
}

void hop_count(const struct fx_vgpu *v, bool moved, struct hop_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	if (moved)
		*counts = gone;
	add_counts(v, counts);
}

uint64_t hop(struct fx_vgpu *v, unsigned int passes)
{
	static struct hop_stream stream;
	static struct fx_vgpu next;
	struct vgpu_dev *dev = v->dev;
	char uuid[sizeof(v->uuid)];
	uint8_t id[sizeof(v->id)];
	int data, ret;

	hop_create_beside(&next, v->suffix, v);
	stream.nr = 0;
	hop_save(v, passes, &stream);
	hop_state(&next, VFIO_DEVICE_STATE_RESUMING, &data);
	share_irqs(dev, next.dev);
	ret = hop_write(data, stream.bytes, stream.nr, true);
	CHECK(!ret, "%s", strerror(-ret));
	close(data);
	hop_state(&next, VFIO_DEVICE_STATE_STOP, NULL);

	take_map(next.dev, dev->fb, VFIO_PCI_BAR0_REGION_INDEX, dev->fb_bytes);
	take_map(next.dev, dev->chan_pages, VFIO_PCI_BAR4_REGION_INDEX,
		 dev->channels * VGPU_HW_PAGE_SIZE);
	take_fd(next.dev->fd, dev->fd);
	take_fd(next.dev->group, dev->group);
	close(next.dev->container);
	free(next.dev);
	next.dev = NULL;
	hop_state(v, VFIO_DEVICE_STATE_RUNNING, NULL);

	/* From here on @next is the old one. */
	memcpy(uuid, v->uuid, sizeof(uuid));
	memcpy(id, v->id, sizeof(id));
	memcpy(v->uuid, next.uuid, sizeof(uuid));
	memcpy(v->id, next.id, sizeof(id));
	memcpy(next.uuid, uuid, sizeof(uuid));
	memcpy(next.id, id, sizeof(id));
	add_counts(&next, &gone);
	fx_remove(&next);
	return hop_state_bytes(&stream);
}
