// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/userfaultfd.h>

#include "silent.h"

/* Memory without a page, whose first touch waits for us; NULL: not possible. */
void *silent_make(int *uffd)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	void *ptr;

	*uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (*uffd < 0)
		return NULL;
	ptr = mmap(NULL, SILENT_BYTES, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ptr == MAP_FAILED || ioctl(*uffd, UFFDIO_API, &api)) {
		close(*uffd);
		return NULL;
	}
	reg.range.start = (uintptr_t)ptr;
	reg.range.len = SILENT_BYTES;
	if (ioctl(*uffd, UFFDIO_REGISTER, &reg)) {
		close(*uffd);
		return NULL;
	}
	return ptr;
}

void silent_need(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		ktap_skip("userfaultfd: %s", strerror(errno));
	close(fd);
}

/* A channel that waits for silent memory. */
struct vgpu_chan *silent_stall(struct fx_vgpu *who, uint32_t instance)
{
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_COPY,
		.op_flags = htole32(VGPU_HW_OP_SRC_SYS),
		.dst = htole64(FX_MIB), .src = htole64(SILENT_IOVA),
		.width = htole64(65536), .rows = htole32(1),
	};
	struct vgpu_chan *chan;

	chan = fx_chan(who, VGPU_HW_ENGINE_CE, instance, VGPU_RING_FB, 4);
	FX_OK(who->dev, vgpu_chan_submit(chan, &p, 1));
	return chan;
}

/* Until the engine has left the stuck chunk behind. */
void silent_wait(struct fx_vgpu *who, uint32_t engine)
{
	uint64_t end = fx_now_ms() + FX_TIMEOUT_MS;
	struct vgpu_ctl_instance inst;

	do {
		CHECK(fx_now_ms() < end, "is not counted as stalled");
		fx_sleep_ms(5);
		fx_instance(who, &inst);
	} while (!inst.engine[engine].stalls);
}

void silent_send_fd(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, c = 'x';
	struct iovec iov = { &c, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	CHECK_EQ(sendmsg(socket, &msg, 0), 1);
}

int silent_receive_fd(int socket)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, c;
	struct iovec iov = { &c, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg;
	int fd;

	CHECK_EQ(recvmsg(socket, &msg, 0), 1, "the child has failed");
	cmsg = CMSG_FIRSTHDR(&msg);
	CHECK(cmsg, "no descriptor came");
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
}
