// SPDX-License-Identifier: GPL-2.0
/* Programs of ordinary users in a guest that moves: see moved.h. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <drm/drm.h>

#include "moved.h"
#include "picture.h"
#include "process.h"
#include "user.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define SYSTEM		DRM_VGPU_PLACEMENT_SYSTEM
#define GR		0
#define CE		1
#define VA_SURFACE(i)	(VA_MORE + (i) * MOVED_SURFACE)
#define DRAWS		1	/* its place among those who are started */
#define PAUSE_US	100000	/* between two pictures, or samples: others work, too */

/* The user that draws says which surface is to be shown, and root that it is. */
static int ask[2], answer[2];

static bool is_over(const struct moved_users *users)
{
	return __atomic_load_n(&users->stop, __ATOMIC_SEQ_CST);
}

static void compute(struct moved_users *users)
{
	static char *const name[] = {
		"mandelbrot", "sgemm", "blur", "sha256", "reduce", "triad", "copy", "latency",
		"bandwidth",
	};
	char *argv[] = { "/vgpu-samples", NULL, NULL };
	unsigned int i;

	for (i = 0; !is_over(users); i++) {
		argv[1] = name[i % (sizeof(name) / sizeof(name[0]))];
		CHECK(process_runs(argv, user_become, 0, argv[1]));
		__atomic_add_fetch(&users->samples, 1, __ATOMIC_SEQ_CST);
		usleep(PAUSE_US);
	}
}

/**
 * struct drawer - who draws
 * @fd:      its file
 * @vm:      its VM
 * @queue:   of the copy engine
 * @drawn:   what it has drawn, in the guest's memory
 * @surface: what is shown in turns
 */
struct drawer {
	int fd;
	uint32_t vm;
	uint32_t queue;
	struct buf drawn;
	struct buf surface[2];
};

static void drawer_begin(struct drawer *d, int dmabuf[2])
{
	struct drm_prime_handle args;
	struct buf *buf;
	uint32_t i;

	d->fd = node_open();
	CHECK(d->fd >= 0);
	CHECK_RET(vm_make(d->fd, &d->vm), 0);
	CHECK_RET(buf_make(d->fd, MOVED_SURFACE, SYSTEM, &d->drawn), 0);
	CHECK_RET(bind_map(d->fd, d->vm, d->drawn.handle, 0, VA_DATA, MOVED_SURFACE, 0), 0);
	CHECK_RET(queue_make(d->fd, d->vm, CE, 4, &d->queue), 0);
	for (i = 0; i < 2; i++) {
		buf = &d->surface[i];
		CHECK_RET(bo_make_piece(d->fd, MOVED_SURFACE, 0, &buf->handle), 0);
		CHECK_RET(bo_map(d->fd, buf->handle, MOVED_SURFACE, &buf->ptr), 0);
		CHECK_RET(bind_map(d->fd, d->vm, buf->handle, 0, VA_SURFACE(i), MOVED_SURFACE,
				   DRM_VGPU_BIND_WRITE), 0);
		args = (struct drm_prime_handle){ .handle = buf->handle, .flags = O_RDWR };
		CHECK_RET(node_ioctl(d->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &args), 0);
		dmabuf[i] = args.fd;
	}
}

static bool is_drawn(const struct buf *buf, uint32_t seed)
{
	uint32_t nr = picture_differs(buf->ptr, MOVED_WIDTH, MOVED_HEIGHT, PITCH, seed);

	return !nr || failed("%u pixels of a picture are wrong", nr);
}

static bool shown(uint8_t i)
{
	return write(ask[1], &i, 1) == 1 && read(answer[0], &i, 1) == 1;
}

static void draw(struct moved_users *users)
{
	struct vgpu_hw_packet packet;
	uint32_t seed = 0x17913, i;
	struct drawer d;

	CHECK(!close(ask[0]) && !close(answer[1]));
	user_become();
	drawer_begin(&d, users->dmabuf);
	for (i = 0; !is_over(users); i = !i) {
		seed += 0x10101;
		picture_draw(d.drawn.ptr, MOVED_WIDTH, MOVED_HEIGHT, PITCH, seed);
		packet = packet_copy(VA_SURFACE(i), VA_DATA, MOVED_SURFACE);
		CHECK_RET(exec_wait(d.fd, d.queue, &packet, 1), 0);
		CHECK(shown(i));
		/* Also the one before, which may have been elsewhere meanwhile. */
		CHECK(is_drawn(&d.surface[i], seed));
		CHECK(!users->pictures || is_drawn(&d.surface[!i], seed - 0x10101));
		users->seed = seed;
		__atomic_add_fetch(&users->pictures, 1, __ATOMIC_SEQ_CST);
		usleep(PAUSE_US);
	}
}

static int file_of(pid_t pid, int fd)
{
	int process = syscall(SYS_pidfd_open, pid, 0);

	CHECK(process >= 0);
	fd = syscall(SYS_pidfd_getfd, process, fd, 0);
	CHECK(fd >= 0);
	close(process);
	return fd;
}

/* Root: shows what the user has drawn, by a file of its own. */
static void show(struct moved_users *users)
{
	uint32_t vm, queue, handle[2] = {}, i;
	int fd = node_open();
	uint8_t which;

	CHECK(!close(ask[1]) && !close(answer[0]));
	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, GR, 4, &queue), 0);
	while (read(ask[0], &which, 1) == 1) {
		for (i = 0; i < 2 && !handle[i]; i++) {
			CHECK_RET(import(fd, file_of(users->pid[DRAWS], users->dmabuf[i]),
					 &handle[i]), 0);
			CHECK_RET(bind_map(fd, vm, handle[i], 0, VA_SURFACE(i), MOVED_SURFACE, 0),
				  0);
		}
		CHECK_RET(present(fd, queue, VA_SURFACE(which), MOVED_HEIGHT), 0);
		CHECK(write(answer[1], &which, 1) == 1);
	}
}

struct moved_users *moved_users_begin(void)
{
	static void (*const user[MOVED_USERS])(struct moved_users *) = {
		compute, [DRAWS] = draw, show,
	};
	struct moved_users *users = mmap(NULL, sizeof(*users), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int i;
	pid_t pid;

	CHECK(users != MAP_FAILED && user_box() && !pipe(ask) && !pipe(answer));
	for (i = 0; i < MOVED_USERS; i++) {
		pid = fork();
		CHECK(pid >= 0);
		if (!pid) {
			CHECK(!prctl(PR_SET_PDEATHSIG, SIGKILL));
			user[i](users);
			_exit(0);
		}
		users->pid[i] = pid;
	}
	for (i = 0; i < 2; i++)
		CHECK(!close(ask[i]) && !close(answer[i]));
	return users;
}

bool moved_users_are_well(const struct moved_users *users)
{
	int i, status;

	for (i = 0; i < MOVED_USERS; i++)
		if (waitpid(users->pid[i], &status, WNOHANG))
			return failed("a user's program has ended");
	return true;
}

bool moved_users_end(struct moved_users *users)
{
	int i, status;

	__atomic_store_n(&users->stop, true, __ATOMIC_SEQ_CST);
	for (i = 0; i < MOVED_USERS; i++)
		CHECK(waitpid(users->pid[i], &status, 0) == users->pid[i] && !status);
	return true;
}
