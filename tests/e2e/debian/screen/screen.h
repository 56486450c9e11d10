/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How programs of ordinary users get to the vGPU's monitor: PRESENT needs CAP_SYS_ADMIN, so they
 * hand the presenter a dma-buf of what they have drawn. One message is a surface with its dma-buf,
 * the answer to it is 0 when it is shown, or a negative errno.
 */
#ifndef E2E_DEBIAN_SCREEN_H
#define E2E_DEBIAN_SCREEN_H

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SCREEN_SIDE_MAX	8192u

/**
 * struct screen_surface - a picture, XRGB8888
 * @offset: of its first byte in the dma-buf, whole pages
 * @width:  pixels of a row
 * @height: rows
 * @pitch:  bytes from row to row
 * @pad:    0
 */
struct screen_surface {
	uint64_t offset;
	uint32_t width;
	uint32_t height;
	uint32_t pitch;
	uint32_t pad;
};

/* A message with a file, in a buffer that is aligned for its control data. */
struct screen_message {
	struct iovec part;
	struct msghdr head;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
};

static inline void screen_message_init(struct screen_message *message,
				       struct screen_surface *surface)
{
	memset(message, 0, sizeof(*message));
	message->part.iov_base = surface;
	message->part.iov_len = sizeof(*surface);
	message->head.msg_iov = &message->part;
	message->head.msg_iovlen = 1;
	message->head.msg_control = message->control.bytes;
	message->head.msg_controllen = sizeof(message->control.bytes);
}

/* A socket, connected or bound to @path. Returns the file, or -1 with errno. */
static inline int screen_socket(const char *path, int (*use)(int, const struct sockaddr *,
							     socklen_t))
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strncpy(at.sun_path, path, sizeof(at.sun_path) - 1);
	return fd < 0 || use(fd, (const struct sockaddr *)&at, sizeof(at)) ? -1 : fd;
}

#endif /* E2E_DEBIAN_SCREEN_H */
