// SPDX-License-Identifier: GPL-2.0
/* What all transports share: errors and identity. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

/*
 * The text of the last open that failed in this thread: it has left no device to keep the text in.
 */
static _Thread_local char open_error[VGPU_ERROR_LEN];

uint64_t vgpu_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int vgpu_fail(struct vgpu_dev *dev, int error, const char *fmt, ...)
{
	char *to = dev ? dev->error : open_error;
	va_list ap;
	int n;

	n = snprintf(to, VGPU_ERROR_LEN, "%s%s", dev ? dev->name : "",
		     dev ? ": " : "");
	va_start(ap, fmt);
	vsnprintf(to + n, VGPU_ERROR_LEN - (size_t)n, fmt, ap);
	va_end(ap);
	return error;
}

const char *vgpu_dev_error(const struct vgpu_dev *dev)
{
	return dev ? dev->error : open_error;
}

struct vgpu_dev *vgpu_dev_new(const struct vgpu_transport *transport,
			      const char *name)
{
	struct vgpu_dev *dev = calloc(1, sizeof(*dev));

	if (!dev)
		return NULL;
	dev->transport = transport;
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	dev->fd = -1;
	dev->container = -1;
	dev->group = -1;
	dev->config_fd = -1;
	dev->lock_fd = -1;
	dev->pagemap_fd = -1;
	dev->next_iova = 0x10000000;
	return dev;
}

int vgpu_dev_open_failed(struct vgpu_dev *dev, int error)
{
	memcpy(open_error, dev->error, sizeof(open_error));
	vgpu_dev_close(dev);
	return error;
}

void vgpu_dev_close(struct vgpu_dev *dev)
{
	if (!dev)
		return;
	dev->transport->close(dev);
	free(dev);
}

int vgpu_dev_reset(struct vgpu_dev *dev)
{
	return dev->transport->reset(dev);
}

int vgpu_dev_find_engine(struct vgpu_dev *dev, uint32_t engine_class,
			 uint32_t instance)
{
	uint32_t i;

	for (i = 0; i < dev->engines; i++)
		if (dev->engine[i] == (engine_class << 8 | instance))
			return (int)i;
	return vgpu_fail(dev, -ENOENT, "has no engine of class %u, instance %u",
			 engine_class, instance);
}
