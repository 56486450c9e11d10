// SPDX-License-Identifier: GPL-2.0
/*
 * presenter SOCKET GID: shows on the vGPU's monitor what others have drawn. It runs as root;
 * whoever is in the group may hand it surfaces (screen.h), one program at a time.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libvgpu.h>
#include "libvgpu/node.h"

#include "screen.h"

#define RING_ORDER	4
#define WAIT_MS		60000
#define SLOT_BYTES	0x40000000ull	/* of addresses: what is shown, and what comes next */

/**
 * struct presenter - what is shown
 * @dev:    the device
 * @space:  address space with nothing but surfaces
 * @chan:   on gr, in that space
 * @handle: of the buffer that is shown; 0: none
 * @bytes:  of it that are mapped
 * @slot:   where: 0 or 1
 */
struct presenter {
	struct vgpu_dev *dev;
	struct vgpu_space *space;
	struct vgpu_chan *chan;
	uint32_t handle;
	uint64_t bytes;
	unsigned int slot;
};

static int die(const char *what, const char *why)
{
	fprintf(stderr, "presenter: %s: %s\n", what, why);
	return 1;
}

static uint64_t slot_va(unsigned int slot)
{
	return (slot + 1) * SLOT_BYTES;
}

/* @handle 0: nothing is mapped there any more. */
static int bind_slot(struct presenter *screen, unsigned int slot, uint32_t handle, uint64_t offset,
		     uint64_t bytes)
{
	struct drm_vgpu_bind_op op = {
		.type = handle ? DRM_VGPU_BIND_MAP : DRM_VGPU_BIND_UNMAP,
		.handle = handle,
		.offset = offset,
		.va = slot_va(slot),
		.size = bytes,
	};
	struct drm_vgpu_vm_bind bind = {
		.vm_id = screen->space->root,
		.ops = { .stride = sizeof(op), .count = 1, .pointer = (uintptr_t)&op },
	};

	return vgpu_node_ioctl(screen->dev, DRM_IOCTL_VGPU_VM_BIND, &bind);
}

static void drop(struct presenter *screen, unsigned int slot, uint32_t handle, uint64_t bytes)
{
	struct drm_gem_close close = { .handle = handle };

	bind_slot(screen, slot, 0, 0, bytes);
	vgpu_node_ioctl(screen->dev, DRM_IOCTL_GEM_CLOSE, &close);
}

/* Bytes to map, or 0 if the surface is not in the dma-buf. */
static uint64_t surface_bytes(const struct screen_surface *surface, int dmabuf)
{
	uint64_t bytes = (uint64_t)surface->pitch * surface->height;
	off_t end = lseek(dmabuf, 0, SEEK_END);

	if (end < 0 || surface->pad || surface->offset % VGPU_HW_PAGE_SIZE || surface->pitch % 4 ||
	    !surface->width || surface->width > SCREEN_SIDE_MAX || !surface->height ||
	    surface->height > SCREEN_SIDE_MAX || surface->pitch < 4 * surface->width)
		return 0;
	bytes = (bytes + VGPU_HW_PAGE_SIZE - 1) & ~(uint64_t)(VGPU_HW_PAGE_SIZE - 1);
	if (bytes > SLOT_BYTES || surface->offset > (uint64_t)end ||
	    bytes > (uint64_t)end - surface->offset)
		return 0;
	return bytes;
}

static int present(struct presenter *screen, const struct screen_surface *surface,
		   unsigned int slot)
{
	int ret = vgpu_chan_present(screen->chan, slot_va(slot), surface->width, surface->height,
				    surface->pitch);

	if (!ret)
		ret = vgpu_chan_wait_idle(screen->chan, WAIT_MS);
	if (ret) {
		/* Memory of the guest is a fault. The next surface is no worse for it. */
		fprintf(stderr, "presenter: %s\n", vgpu_dev_error(screen->dev));
		vgpu_chan_disable(screen->chan);
		vgpu_chan_enable(screen->chan);
	}
	return ret;
}

/* The buffer of the last surface goes when the next one is there. */
static int show(struct presenter *screen, const struct screen_surface *surface, int dmabuf)
{
	struct drm_prime_handle prime = { .fd = dmabuf };
	uint64_t bytes = surface_bytes(surface, dmabuf);
	unsigned int slot = !screen->slot;
	int ret;

	if (!bytes)
		return -EINVAL;
	ret = vgpu_node_ioctl(screen->dev, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
	if (ret)
		return ret;
	ret = bind_slot(screen, slot, prime.handle, surface->offset, bytes);
	if (!ret)
		ret = present(screen, surface, slot);
	/* One buffer has one handle, however often it comes. */
	if (prime.handle == screen->handle)
		bind_slot(screen, ret ? slot : screen->slot, 0, 0, ret ? bytes : screen->bytes);
	else if (ret)
		drop(screen, slot, prime.handle, bytes);
	else if (screen->handle)
		drop(screen, screen->slot, screen->handle, screen->bytes);
	if (ret)
		return ret;
	screen->handle = prime.handle;
	screen->bytes = bytes;
	screen->slot = slot;
	return 0;
}

/* Takes a surface of a program, and answers. Returns false when the program has gone. */
static bool serve(struct presenter *screen, int client)
{
	struct screen_surface surface;
	struct screen_message message;
	struct cmsghdr *file;
	int dmabuf = -1;
	int32_t answer;
	ssize_t got;

	screen_message_init(&message, &surface);
	got = recvmsg(client, &message.head, MSG_CMSG_CLOEXEC);
	if (got <= 0)
		return false;
	file = CMSG_FIRSTHDR(&message.head);
	if (file && file->cmsg_type == SCM_RIGHTS && file->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&dmabuf, CMSG_DATA(file), sizeof(dmabuf));
	answer = got == sizeof(surface) && dmabuf >= 0 ? show(screen, &surface, dmabuf) : -EINVAL;
	if (dmabuf >= 0)
		close(dmabuf);
	return send(client, &answer, sizeof(answer), MSG_NOSIGNAL) == sizeof(answer);
}

static int listen_at(const char *path, gid_t group)
{
	int fd;

	unlink(path);
	umask(0177);
	fd = screen_socket(path, bind);
	if (fd < 0 || chown(path, 0, group) || chmod(path, 0660) || listen(fd, 4))
		return -1;
	return fd;
}

int main(int argc, char **argv)
{
	struct presenter screen = { .slot = 1 };
	int fd, client, engine;

	if (argc != 3)
		return die("usage", "presenter SOCKET GID");
	if (vgpu_dev_open_node(&screen.dev, NULL))
		return die("device", vgpu_dev_error(NULL));
	engine = vgpu_dev_find_engine(screen.dev, VGPU_HW_ENGINE_GR, 0);
	if (engine < 0 || vgpu_space_create(screen.dev, &screen.space) ||
	    vgpu_chan_create_in(screen.space, (uint32_t)engine, RING_ORDER, 0, &screen.chan))
		return die("channel", vgpu_dev_error(screen.dev));
	fd = listen_at(argv[1], (gid_t)strtoul(argv[2], NULL, 10));
	if (fd < 0)
		return die(argv[1], strerror(errno));
	for (;;) {
		client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		while (client >= 0 && serve(&screen, client))
			;
		if (client >= 0)
			close(client);
	}
}
