// SPDX-License-Identifier: GPL-2.0
/* Of node_kernel.h: the program's calls, which go to the kernel of the test or to the real one. */
#include "vgpu_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node_kernel.h"
#include "node_kernel_file.h"

#define DENIED	"denied"	/* in the file of a node that may not be opened */

static char world[64];
static char driver[64];
static int node_fd = -1;

int __real_open(const char *path, int flags, ...);
int __real_close(int fd);
int __real_ioctl(int fd, unsigned long request, ...);
void *__real_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
FILE *__real_fopen(const char *path, const char *mode);
ssize_t __real_readlink(const char *path, char *to, size_t room);
int __real_stat(const char *path, struct stat *st);
int __real_scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **));

/* Where the file of that path is instead; @room has 512 bytes. */
static const char *moved(const char *path, char *room)
{
	if (strncmp(path, "/dev/dri", 8) && strncmp(path, "/sys/", 5))
		return path;
	snprintf(room, 512, "%s%s", world, path);
	return room;
}

static void make_way(char *path)
{
	char *slash;

	for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
}

void node_world_put(const char *path, const char *text)
{
	char room[512];
	FILE *file;

	moved(path, room);
	make_way(room);
	file = __real_fopen(room, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

void node_world_link(const char *path, const char *to)
{
	char room[512];

	moved(path, room);
	make_way(room);
	assert_int_equal(symlink(to, room), 0);
}

void node_world_remove(const char *path)
{
	char room[512];

	assert_int_equal(unlink(moved(path, room)), 0);
}

int node_world_make(void)
{
	snprintf(world, sizeof(world), "/tmp/test_node.XXXXXX");
	return mkdtemp(world) ? 0 : -1;
}

void node_world_drop(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", world);
	assert_int_equal(system(command), 0);
}

const char *node_file_driver(void)
{
	return driver;
}

uint8_t *node_file_map(int fd, uint64_t bytes)
{
	uint8_t *ptr = __real_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_ptr_not_equal(ptr, MAP_FAILED);
	return ptr;
}

static int open_node(const char *path)
{
	int fd = __real_open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, driver, sizeof(driver) - 1);

	if (fd >= 0)
		__real_close(fd);
	if (n < 0)
		return -1;
	driver[n] = 0;
	if (!strcmp(driver, DENIED)) {
		errno = EACCES;
		return -1;
	}
	assert_int_equal(node_fd, -1);
	node_fd = memfd_create("node", MFD_CLOEXEC);
	assert_true(node_fd >= 0);
	node_kernel.open++;
	node_file_opened(node_fd);
	return node_fd;
}

int __wrap_open(const char *path, int flags, int mode)
{
	char room[512];

	if (!strncmp(path, "/dev/dri/", 9)) {
		assert_int_equal(flags, O_RDWR | O_CLOEXEC);
		return open_node(moved(path, room));
	}
	return __real_open(moved(path, room), flags, mode);
}

int __wrap_close(int fd)
{
	if (fd >= 0 && fd == node_fd) {
		node_file_closed();
		node_kernel.open--;
		node_fd = -1;
	}
	return __real_close(fd);
}

static int result(int ret)
{
	if (!ret)
		return 0;
	errno = -ret;
	return -1;
}

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	return fd >= 0 && fd == node_fd ? result(node_file_ioctl(request, arg)) :
		__real_ioctl(fd, request, arg);
}

void *__wrap_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	int ret = fd >= 0 && fd == node_fd ? node_file_fails(NODE_MMAP) : 0;

	if (!ret && fd >= 0 && fd == node_fd)
		ret = node_file_may_map(bytes, prot, flags, (uint64_t)offset);
	return result(ret) ? MAP_FAILED : __real_mmap(at, bytes, prot, flags, fd, offset);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	char room[512];

	return __real_fopen(moved(path, room), mode);
}

ssize_t __wrap_readlink(const char *path, char *to, size_t bytes)
{
	char room[512];

	return __real_readlink(moved(path, room), to, bytes);
}

int __wrap_stat(const char *path, struct stat *st)
{
	char room[512];

	return __real_stat(moved(path, room), st);
}

int __wrap_scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **))
{
	char room[512];

	return __real_scandir(moved(path, room), names, filter, compare);
}
