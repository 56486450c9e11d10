// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "event.h"
#include "fixture.h"

static int events = -1;

int event_open(void)
{
	int fd, ret;

	fd = open("/dev/vgpu", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		FAIL("/dev/vgpu: %s", strerror(errno));
	ret = node_events(fd);
	CHECK(!ret, "VGPU_IOC_EVENTS: %s", strerror(-ret));
	return fd;
}

void event_begin(void)
{
	event_cleanup();
	events = event_open();
}

void event_next(uint32_t type, struct vgpu_ctl_event *event)
{
	struct pollfd pfd = { .fd = events, .events = POLLIN };

	do {
		CHECK_EQ(poll(&pfd, 1, FX_TIMEOUT_MS), 1, "no event %u", type);
		CHECK_EQ(read(events, event, sizeof(*event)), sizeof(*event));
	} while (event->type != type);
}

void event_cleanup(void)
{
	if (events >= 0)
		close(events);
	events = -1;
}
