// SPDX-License-Identifier: GPL-2.0
/*
 * Guest memory in a file of a FUSE file system whose server never answers a read. It stalls the
 * vGPU that accesses it and no other, and reset and close end all the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/fuse.h>

#include "child.h"
#include "silent.h"

#define FILE_ID		2
#define BOUND_MS	FX_TIMEOUT_MS	/* for reset and close: without an answer they never end */

static struct fx_vgpu v, other;
static char dir[] = "/tmp/vgpu-fuse-XXXXXX";
static bool mounted;
static int silent_fd = -1;
static void *silent;

/* The server, a child process, has a root directory with one file, "memory". */

static void fill_attr(struct fuse_attr *attr, uint64_t node)
{
	attr->ino = node;
	attr->mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0600;
	attr->nlink = 1;
	attr->size = node == FUSE_ROOT_ID ? 0 : SILENT_BYTES;
	attr->blksize = 4096;
}

static void answer(int fd, const struct fuse_in_header *in, int error,
		   const void *body, size_t bytes)
{
	struct {
		struct fuse_out_header head;
		char body[256];
	} out = { .head = { .error = -error, .unique = in->unique } };

	out.head.len = (uint32_t)(sizeof(out.head) + bytes);
	if (bytes)
		memcpy(out.body, body, bytes);
	if (write(fd, &out, out.head.len) < 0 && errno != ENOENT)
		_exit(1);
}

static void serve_one(int fd, const struct fuse_in_header *in, const char *arg)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.flags = FUSE_ASYNC_READ,
		.max_readahead = 65536, .max_write = 65536,
	};
	struct fuse_entry_out entry = { .nodeid = FILE_ID };
	struct fuse_attr_out attr = { .attr_valid = 3600 };
	struct fuse_open_out opened = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		answer(fd, in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		if (strcmp(arg, "memory")) {
			answer(fd, in, ENOENT, NULL, 0);
			break;
		}
		fill_attr(&entry.attr, FILE_ID);
		answer(fd, in, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		fill_attr(&attr.attr, in->nodeid);
		answer(fd, in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(fd, in, 0, &opened, sizeof(opened));
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		answer(fd, in, 0, NULL, 0);
		break;
	case FUSE_READ:		/* never */
	case FUSE_FORGET:	/* has no answer, nor have the next */
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(fd, in, ENOSYS, NULL, 0);
	}
}

static void server(void *arg)
{
	static char request[FUSE_MIN_READ_BUFFER + 65536];
	const struct fuse_in_header *in = (const void *)request;
	int fd = *(int *)arg;

	while (read(fd, request, sizeof(request)) >= (ssize_t)sizeof(*in) ||
	       errno == EINTR || errno == EAGAIN || errno == ENOENT)
		serve_one(fd, in, request + sizeof(*in));
}

/* Returns the server, a child. */
static pid_t mount_silent(void)
{
	char options[96], path[64];
	pid_t pid;
	int fd;

	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		ktap_skip("/dev/fuse: %s", strerror(errno));
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	CHECK(mkdtemp(dir), "%s", strerror(errno));
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	CHECK(!mount("vgpu-test", dir, "fuse", MS_NOSUID | MS_NODEV, options),
	      "%s", strerror(errno));
	mounted = true;
	pid = child_start(server, &fd);
	close(fd);
	snprintf(path, sizeof(path), "%s/memory", dir);
	silent_fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(silent_fd >= 0, "%s: %s", path, strerror(errno));
	silent = mmap(NULL, SILENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, silent_fd, 0);
	CHECK(silent != MAP_FAILED, "%s", strerror(errno));
	return pid;
}

static void cleanup(void)
{
	fx_cleanup();	/* kills the server */
	if (silent && silent != MAP_FAILED)
		munmap(silent, SILENT_BYTES);
	silent = NULL;
	if (silent_fd >= 0)
		close(silent_fd);
	silent_fd = -1;
	if (mounted && umount2(dir, MNT_FORCE | MNT_DETACH))
		ktap_note("umount %s: %s", dir, strerror(errno));
	if (mounted)
		rmdir(dir);
	mounted = false;
}

/* A channel that waits for the file; @op_flags as of silent_copy(). */
static struct vgpu_chan *stall(uint32_t op_flags)
{
	struct vgpu_chan *chan;

	FX_OK(v.dev, vgpu_dma_map(v.dev, silent, SILENT_BYTES, SILENT_IOVA));
	chan = silent_copy(&v, 0, op_flags);
	silent_wait(&v, chan->engine);
	return chan;
}

/* The server's death aborts the connection, and every access that waits for it fails. */
static void end_server(void *pid)
{
	kill(*(pid_t *)pid, SIGKILL);
}

static void check_neighbour(void)
{
	struct vgpu_chan *chan;
	uint32_t i;

	chan = fx_chan(&other, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 4);
	for (i = 1; i <= 100; i++) {
		FX_OK(other.dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), i, 65536));
		fx_finish(chan);
		CHECK_EQ(*(uint32_t *)(other.dev->fb + FX_MIB), i);
	}
	vgpu_chan_destroy(chan);
}

/* Neither a read of the file's memory nor a write to it makes another vGPU wait. */
static void neighbour_goes_on(void)
{
	struct vgpu_fault fault;
	struct vgpu_chan *stuck;
	uint32_t way;
	pid_t pid;

	for (way = VGPU_HW_OP_DST_SYS; way <= VGPU_HW_OP_SRC_SYS; way <<= 1) {
		pid = mount_silent();
		fx_create_open(&v, fx_default_type());
		fx_create_open(&other, fx_default_type());
		stuck = stall(way);
		check_neighbour();
		CHECK_EQ(vgpu_chan_get(stuck), 0);
		CHECK_EQ(vgpu_chan_state(stuck), VGPU_HW_STATE_AWAKE);
		/* Without its server the memory is mapped, but the host cannot provide it. */
		child_kill(pid);
		FX_OK(v.dev, vgpu_chan_wait_fault(stuck, FX_TIMEOUT_MS, &fault));
		CHECK_EQ(fault.code, VGPU_HW_FAULT_MEMORY);
		CHECK_EQ(fault.addr, SILENT_IOVA);
		cleanup();
	}
}

static void reset_ends(void)
{
	struct vgpu_chan *stuck;
	pid_t pid = mount_silent();

	fx_create_open(&v, fx_default_type());
	stuck = stall(VGPU_HW_OP_SRC_SYS);
	silent_bounded("reset", silent_reset, &v, BOUND_MS, end_server, &pid);
	FX_OK(v.dev, vgpu_dev_command(v.dev, 6, 0));
	FX_OK(v.dev, vgpu_chan_enable(stuck));
	fx_finish(stuck);
}

static void close_ends(void)
{
	pid_t pid = mount_silent();

	fx_create_open(&v, fx_default_type());
	fx_create_open(&other, fx_default_type());
	stall(VGPU_HW_OP_DST_SYS);
	silent_drop_mappings(&v);
	silent_bounded("close", silent_close, &v, BOUND_MS, end_server, &pid);
	check_neighbour();
	fx_close(&v);
	fx_open(&v);
	fx_finish(fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4));
}

static const struct ktap_test tests[] = {
	KTAP_TEST(neighbour_goes_on),
	KTAP_TEST(reset_ends),
	KTAP_TEST(close_ends),
};

KTAP_MAIN(tests, cleanup)
