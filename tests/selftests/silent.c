// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/userfaultfd.h>
#include <linux/vfio.h>

#include "silent.h"

static void *silent_memory;
static int silent_uffd = -1;
static pthread_t silent_holder;
static bool silent_holds;

void silent_need(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		ktap_skip("userfaultfd: %s", strerror(errno));
	close(fd);
}

int silent_map(struct fx_vgpu *v)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	silent_uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	CHECK(silent_uffd >= 0, "%s", strerror(errno));
	silent_memory = mmap(NULL, SILENT_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(silent_memory != MAP_FAILED, "%s", strerror(errno));
	CHECK(!ioctl(silent_uffd, UFFDIO_API, &api), "%s", strerror(errno));
	reg.range.start = (uintptr_t)silent_memory;
	reg.range.len = SILENT_BYTES;
	CHECK(!ioctl(silent_uffd, UFFDIO_REGISTER, &reg), "%s", strerror(errno));
	FX_OK(v->dev, vgpu_dma_map(v->dev, silent_memory, SILENT_BYTES, SILENT_IOVA));
	return silent_uffd;
}

void silent_answer(void)
{
	if (silent_uffd >= 0)
		close(silent_uffd);
	silent_uffd = -1;
	if (silent_holds)
		pthread_join(silent_holder, NULL);
	silent_holds = false;
}

void silent_unmap(void)
{
	silent_answer();
	munmap(silent_memory, SILENT_BYTES);
}

/* Whether somebody has touched the memory of the last silent_map(), and waits. */
static bool is_touched(void)
{
	struct pollfd fd = { .fd = silent_uffd, .events = POLLIN };

	return poll(&fd, 1, 0) == 1 && fd.revents & POLLIN;
}

/* VFIO writes the bitmap, to memory that does not answer, with the container's lock held. */
static void *silent_get_bitmap(void *container)
{
	struct {
		struct vfio_iommu_type1_dirty_bitmap head;
		struct vfio_iommu_type1_dirty_bitmap_get get;
	} arg = {
		.head = { .argsz = sizeof(arg), .flags = VFIO_IOMMU_DIRTY_PAGES_FLAG_GET_BITMAP },
		.get = {
			.iova = SILENT_IOVA, .size = SILENT_BYTES,
			.bitmap = { 4096, SILENT_BYTES / 4096 / 8, silent_memory },
		},
	};

	if (ioctl(*(int *)container, VFIO_IOMMU_DIRTY_PAGES, &arg))
		ktap_note("bitmap: %s", strerror(errno));
	return NULL;
}

void silent_lock(struct fx_vgpu *v)
{
	struct vfio_iommu_type1_dirty_bitmap start = {
		.argsz = sizeof(start), .flags = VFIO_IOMMU_DIRTY_PAGES_FLAG_START,
	};

	CHECK(!ioctl(v->dev->container, VFIO_IOMMU_DIRTY_PAGES, &start), "%s", strerror(errno));
	CHECK(!pthread_create(&silent_holder, NULL, silent_get_bitmap, &v->dev->container), "");
	silent_holds = true;
	FX_SOON(is_touched(), "the bitmap is not written");
}

struct vgpu_chan *silent_copy(struct fx_vgpu *v, uint32_t instance, uint32_t op_flags)
{
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_COPY,
		.op_flags = htole32(op_flags),
		.src = htole64(op_flags & VGPU_HW_OP_SRC_SYS ? SILENT_IOVA : FX_MIB),
		.dst = htole64(op_flags & VGPU_HW_OP_DST_SYS ? SILENT_IOVA : FX_MIB),
		.width = htole64(65536),
		.rows = htole32(1),
	};
	struct vgpu_chan *chan;

	chan = fx_chan(v, VGPU_HW_ENGINE_CE, instance, VGPU_RING_FB, 4);
	FX_OK(v->dev, vgpu_chan_submit(chan, &p, 1));
	return chan;
}

static bool has_stalled(struct fx_vgpu *v, uint32_t engine)
{
	struct vgpu_ctl_instance inst;

	fx_instance(v, &inst);
	return inst.engine[engine].stalls;
}

void silent_wait(struct fx_vgpu *v, uint32_t engine)
{
	FX_SOON(has_stalled(v, engine), "is not counted as stalled");
	/* On a busy host the engine's slice may be over before the worker has begun. */
	if (silent_uffd >= 0)
		FX_SOON(is_touched(), "the worker does not touch the memory");
}

struct vgpu_chan *silent_stall(struct fx_vgpu *v, uint32_t instance)
{
	struct vgpu_chan *chan;

	silent_need();
	silent_map(v);
	chan = silent_copy(v, instance, VGPU_HW_OP_SRC_SYS);
	silent_wait(v, chan->engine);
	return chan;
}

void silent_reset(void *fx_vgpu)
{
	struct fx_vgpu *v = fx_vgpu;

	if (ioctl(v->dev->fd, VFIO_DEVICE_RESET))
		ktap_note("reset: %s", strerror(errno));
}

void silent_disable(void *chan)
{
	struct vgpu_chan *c = chan;

	if (vgpu_chan_disable(c))
		ktap_note("disable: %s", vgpu_dev_error(c->dev));
}

void silent_close(void *fx_vgpu)
{
	struct fx_vgpu *v = fx_vgpu;

	close(v->dev->fd);
	v->dev->fd = -1;
}

struct silent_op {
	void (*op)(void *arg);
	void *arg;
	volatile bool done;
};

static void *silent_thread(void *arg)
{
	struct silent_op *op = arg;

	op->op(op->arg);
	op->done = true;
	return NULL;
}

bool silent_within(const char *what, void (*op)(void *arg), void *arg, unsigned int ms,
		   void (*way_out)(void *arg), void *out_arg)
{
	struct silent_op run = { .op = op, .arg = arg };
	uint64_t start = clk_ms();
	pthread_t thread;
	bool in_time;

	CHECK(!pthread_create(&thread, NULL, silent_thread, &run), "thread");
	while (!run.done && clk_ms() - start < ms)
		clk_sleep_ms(2);
	in_time = run.done;
	if (!in_time)
		way_out(out_arg);
	pthread_join(thread, NULL);
	ktap_note("%s took %llu ms", what, (unsigned long long)(clk_ms() - start));
	return in_time;
}

void silent_bounded(const char *what, void (*op)(void *arg), void *arg, unsigned int ms,
		    void (*way_out)(void *arg), void *out_arg)
{
	CHECK(silent_within(what, op, arg, ms, way_out, out_arg),
	      "%s waits for the guest's memory", what);
}

void silent_drop_mappings(struct fx_vgpu *v)
{
	munmap(v->dev->fb, v->dev->fb_bytes);
	munmap(v->dev->chan_pages, v->dev->channels * 4096ull);
	v->dev->fb = NULL;
	v->dev->chan_pages = NULL;
}

/* A message of one byte that can carry a file descriptor. */
struct silent_message {
	char control[CMSG_SPACE(sizeof(int))];
	char byte;
	struct iovec iov;
	struct msghdr head;
};

static void silent_message(struct silent_message *m)
{
	memset(m, 0, sizeof(*m));
	m->iov = (struct iovec){ &m->byte, 1 };
	m->head.msg_iov = &m->iov;
	m->head.msg_iovlen = 1;
	m->head.msg_control = m->control;
	m->head.msg_controllen = sizeof(m->control);
}

void silent_send_fd(int socket, int fd)
{
	struct silent_message m;
	struct cmsghdr *cmsg;

	silent_message(&m);
	cmsg = CMSG_FIRSTHDR(&m.head);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	CHECK_EQ(sendmsg(socket, &m.head, 0), 1);
}

int silent_receive_fd(int socket)
{
	struct silent_message m;
	struct cmsghdr *cmsg;
	int fd;

	silent_message(&m);
	CHECK_EQ(recvmsg(socket, &m.head, 0), 1, "the other process has failed");
	cmsg = CMSG_FIRSTHDR(&m.head);
	CHECK(cmsg, "no descriptor came");
	memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
}
