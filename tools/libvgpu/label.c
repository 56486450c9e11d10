// SPDX-License-Identifier: GPL-2.0
/* What the host shows beside measured times: whose a channel is, which driver and OS this is. */
#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "internal.h"

#define LABEL_SINCE	VGPU_HW_VERSION_1_2

static void label_os(struct vgpu_hw_guest_info *info)
{
	struct utsname uts;
	char text[sizeof(uts.sysname) + sizeof(uts.release)] = "";

	static_assert(sizeof(info->os) <= sizeof(text), "all of it is copied");
	if (!uname(&uts))
		snprintf(text, sizeof(text), "%s %s", uts.sysname, uts.release);
	memcpy(info->os, text, sizeof(info->os));
}

/* Tells the driver and the OS, unless a driver has told already. */
static int label_driver(struct vgpu_dev *dev, uint32_t version)
{
	const uint64_t base = VGPU_HW_DEV_BASE + VGPU_HW_GUEST_INFO(0);
	struct vgpu_hw_guest_info info = { .name = "libvgpu", .version = "0.1.0" };
	const uint32_t nr = version < VGPU_HW_VERSION_1_3 ?
			    offsetof(struct vgpu_hw_guest_info, os) / 4 : sizeof(info) / 4;
	uint32_t value, i;
	int ret = 0;

	for (i = 0; !ret && i < nr; i++) {
		ret = vgpu_reg_read32(dev, base + 4 * i, &value);
		if (ret || value)
			return ret;
	}
	label_os(&info);
	for (i = 0; !ret && i < nr; i++) {
		memcpy(&value, (const char *)&info + 4 * i, 4);
		ret = vgpu_reg_write32(dev, base + 4 * i, le32toh(value));
	}
	return ret;
}

/* The name of the process, not of the thread that happens to make the channel. */
static void label_comm(uint8_t *comm, size_t room)
{
	FILE *file = fopen("/proc/self/comm", "re");
	size_t length = file ? fread(comm, 1, room, file) : 0;

	if (length && comm[length - 1] == '\n')
		comm[length - 1] = 0;
	if (file)
		fclose(file);
}

static struct vgpu_hw_label *label_of(const struct vgpu_chan *chan)
{
	return (void *)((uint8_t *)chan->page + VGPU_HW_LABEL);
}

int vgpu_label_chan(struct vgpu_chan *chan)
{
	struct vgpu_hw_label *to = label_of(chan);
	struct vgpu_hw_label label = {
		.pid = htole32((uint32_t)getpid()),
		.uid = htole32(getuid()),
		.client = htole64((uint64_t)getpid()),
	};
	uint32_t version;
	int ret;

	ret = vgpu_reg_read32(chan->dev, VGPU_HW_DEV_BASE + VGPU_HW_VERSION, &version);
	if (ret || version < LABEL_SINCE)
		return ret;
	label_comm(label.comm, sizeof(label.comm));
	/* The host may read it at any time: without the magic it is none. */
	__atomic_store_n(&to->magic, 0, __ATOMIC_SEQ_CST);
	memcpy((uint8_t *)to + sizeof(to->magic), (uint8_t *)&label + sizeof(label.magic),
	       sizeof(label) - sizeof(label.magic));
	__atomic_store_n(&to->magic, htole32(VGPU_HW_LABEL_MAGIC), __ATOMIC_RELEASE);
	return label_driver(chan->dev, version);
}

int vgpu_label_chan_again(struct vgpu_chan *chan)
{
	uint32_t magic = __atomic_load_n(&label_of(chan)->magic, __ATOMIC_RELAXED);

	return magic == htole32(VGPU_HW_LABEL_MAGIC) ? 0 : vgpu_label_chan(chan);
}
