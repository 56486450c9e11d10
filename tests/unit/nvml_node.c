// SPDX-License-Identifier: GPL-2.0
#include "vgpu_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "nvml_node.h"

#define NODE_DIR	"/dev/dri/"
#define OWN_FDINFO	"/proc/self/fdinfo/"
#define PCI		"/sys/bus/pci/devices/"
#define FILES		16
#define REALTIME_NS	1700000000000000000ull	/* later than CLOCK_MONOTONIC */

struct fake_node fake_node[FAKE_NODES];
bool fake_has_proc, fake_has_sysfs;
unsigned int fake_sleeps;

static char world[32];
static uint64_t clock_ns;	/* 0: the real one */
static unsigned long calls;

/* Open nodes; fd is -1 in those that are free. */
static struct node_file {
	int fd;
	unsigned int node;
} files[FILES];
static int nr_files;

int __real_open(const char *path, int flags, ...);
int __real_openat(int directory, const char *path, int flags, ...);
int __wrap_openat(int directory, const char *path, int flags, ...);
int __real_close(int fd);
ssize_t __real_readlink(const char *path, char *to, size_t room);
DIR *__real_opendir(const char *path);
int __real_fstatat(int directory, const char *path, struct stat *st, int flags);
int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __real_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
			   struct timespec *left);
ssize_t __wrap_readlink(const char *path, char *to, size_t room);
DIR *__wrap_opendir(const char *path);
int __wrap_fstatat(int directory, const char *path, struct stat *st, int flags);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
			   struct timespec *left);
int __wrap_scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **));

/* ---- time ---- */

void fake_clock(uint64_t ns)
{
	unsigned int i, e;

	clock_ns += ns;
	for (i = 0; i < FAKE_NODES; i++) {
		fake_node[i].usage.time_ns += ns;
		for (e = 0; e < FAKE_NODE_ENGINES; e++)
			fake_node[i].usage.engine[e].service_ns +=
				ns * fake_node[i].percent[e] / 100;
	}
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	uint64_t ns = clock == CLOCK_REALTIME ? clock_ns + REALTIME_NS : clock_ns;

	if (!clock_ns)
		return __real_clock_gettime(clock, ts);
	ts->tv_sec = (time_t)(ns / SEC);
	ts->tv_nsec = (long)(ns % SEC);
	return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
			   struct timespec *left)
{
	uint64_t ns = (uint64_t)until->tv_sec * SEC + (uint64_t)until->tv_nsec;

	assert_true(clock_ns && clock == CLOCK_MONOTONIC && flags == TIMER_ABSTIME && !left);
	fake_sleeps++;
	if (ns > clock_ns)
		fake_clock(ns - clock_ns);
	return 0;
}

/* ---- the world ---- */

void fake_node_add(unsigned int nr, const char *type)
{
	static const char * const addresses[] = { "0000:00:04.0", "0000:00:05.0", "0000:00:06.0" };
	static const uint32_t engines[FAKE_NODE_ENGINES] = {
		VGPU_HW_ENGINE_GR << 8, VGPU_HW_ENGINE_CE << 8, VGPU_HW_ENGINE_CE << 8 | 1,
		VGPU_HW_ENGINE_ENC << 8, VGPU_HW_ENGINE_DEC << 8,
	};
	struct fake_node *node = &fake_node[nr];
	unsigned int e;

	memset(node, 0, sizeof(*node));
	node->there = true;
	node->driver = "vgpu_guest";
	node->major = 1;
	node->minor = 1;
	node->address = addresses[nr];
	node->info_bytes = sizeof(node->info);
	node->info.hw_version = VGPU_HW_VERSION_CURRENT;
	node->info.nr_engines = FAKE_NODE_ENGINES;
	node->info.fb_bytes = 4ull << 30;
	node->info.fb_free = 3ull << 30;
	memcpy(node->info.engine, engines, sizeof(engines));
	node->info.uuid[0] = 0xfb;
	node->info.uuid[15] = (uint8_t)nr;
	strncpy((char *)node->info.type, type, sizeof(node->info.type));
	node->usage.time_ns = (nr + 5) * SEC;
	node->usage.nr_engines = FAKE_NODE_ENGINES;
	for (e = 0; e < FAKE_NODE_ENGINES; e++)
		node->usage.engine[e].due_permille = 1000;
}

void fake_node_setup(void)
{
	memset(fake_node, 0, sizeof(fake_node));
	snprintf(world, sizeof(world), "/tmp/test_nvml.XXXXXX");
	assert_non_null(mkdtemp(world));
	fake_has_proc = true;
	fake_has_sysfs = true;
	fake_sleeps = 0;
	clock_ns = 100 * SEC;
	fake_node_add(0, "SG16-4Q");
}

void fake_node_teardown(void)
{
	char command[192];

	memset(fake_node, 0, sizeof(fake_node));
	fake_has_proc = false;
	fake_has_sysfs = false;
	clock_ns = 0;
	snprintf(command, sizeof(command), "rm -r %s", world);
	assert_int_equal(system(command), 0);
	world[0] = 0;
}

static void put(const char *path, const char *text)
{
	int fd = __real_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	__real_close(fd);
}

void fake_proc(unsigned int pid, unsigned int fd, const char *fdinfo)
{
	char path[192];

	snprintf(path, sizeof(path), "mkdir -p %s/%u/fd %s/%u/fdinfo", world, pid, world, pid);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/%u/fd/%u", world, pid, fd);
	put(path, fdinfo ? "node" : "");
	snprintf(path, sizeof(path), "%s/%u/fdinfo/%u", world, pid, fd);
	put(path, fdinfo ? fdinfo : "pos:\t0\n");
}

void fake_proc_end(unsigned int pid)
{
	char command[192];

	snprintf(command, sizeof(command), "rm -r %s/%u", world, pid);
	assert_int_equal(system(command), 0);
}

/* ---- files ---- */

int fake_node_files(void)
{
	return nr_files;
}

unsigned long fake_node_calls(void)
{
	return calls;
}

static struct node_file *file_of(int fd)
{
	unsigned int i;

	for (i = 0; i < FILES; i++)
		if (fd >= 0 && nr_files && files[i].fd == fd)
			return &files[i];
	return NULL;
}

bool fake_node_is(int fd)
{
	return file_of(fd);
}

static int error(int number)
{
	errno = number;
	return -1;
}

static int open_nr(unsigned int nr)
{
	unsigned int i = 0;

	if (nr >= FAKE_NODES || !fake_node[nr].there)
		return error(ENOENT);
	if (fake_node[nr].open_error)
		return error(fake_node[nr].open_error);
	if (!nr_files)
		memset(files, 0xff, sizeof(files));
	while (files[i].fd >= 0)
		assert_true(++i < FILES);
	files[i].fd = memfd_create("node", MFD_CLOEXEC);
	assert_true(files[i].fd >= 0);
	files[i].node = nr;
	nr_files++;
	return files[i].fd;
}

static int open_text(const char *text)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* What the kernel says of the program's own file, which is no use of the GPU. */
static int open_own_fdinfo(const struct node_file *file)
{
	char text[256];

	if (!fake_has_proc)
		return error(ENOENT);
	snprintf(text, sizeof(text), "pos:\t0\nflags:\t02100002\ndrm-driver:\t%s\n"
		 "drm-client-id:\t%d\ndrm-pdev:\t%s\n", fake_node[file->node].driver,
		 1000 + file->fd, fake_node[file->node].address);
	return open_text(text);
}

int fake_node_open(const char *path, int flags)
{
	if (!strncmp(path, NODE_DIR, strlen(NODE_DIR))) {
		assert_int_equal(flags, O_RDWR | O_CLOEXEC);
		assert_int_equal(strncmp(path, NODE_DIR "renderD", strlen(NODE_DIR "renderD")), 0);
		return open_nr((unsigned int)atoi(path + strlen(NODE_DIR "renderD")) -
			       FAKE_NODE_MINOR);
	}
	if (*world && !strncmp(path, PCI, strlen(PCI)))
		return fake_has_sysfs ? open_text("0x1100\n") : error(ENOENT);
	return __real_open(path, flags);
}

int __wrap_openat(int directory, const char *path, int flags, ...)
{
	const struct node_file *file;

	assert_true(flags & O_CLOEXEC);
	if (strncmp(path, OWN_FDINFO, strlen(OWN_FDINFO)))
		return __real_openat(directory, path, flags);
	file = file_of(atoi(path + strlen(OWN_FDINFO)));
	return file ? open_own_fdinfo(file) : error(ENOENT);
}

int fake_node_close(int fd)
{
	file_of(fd)->fd = -1;
	nr_files--;
	return __real_close(fd);
}

static void fill(void *to, uint32_t *room, const void *from, uint32_t bytes)
{
	memcpy(to, from, *room < bytes ? *room : bytes);
	*room = bytes;
}

static int tell_version(const struct fake_node *node, struct drm_version *version)
{
	memcpy(version->name, node->driver, strlen(node->driver) < version->name_len ?
	       strlen(node->driver) : version->name_len);
	version->name_len = strlen(node->driver);
	version->version_major = node->major;
	version->version_minor = node->minor;
	version->version_patchlevel = node->patch;
	return 0;
}

int fake_node_ioctl(int fd, unsigned long request, void *arg)
{
	struct fake_node *node = &fake_node[file_of(fd)->node];
	struct drm_vgpu_usage_query *usage = arg;
	struct drm_vgpu_dev_query *query = arg;

	calls++;
	if (node->error && (!node->fail || node->fail == request))
		return error(node->error);
	if (request == DRM_IOCTL_VERSION)
		return tell_version(node, arg);
	/* Another driver takes the number for a call of its own. */
	assert_string_equal(node->driver, "vgpu_guest");
	if (request == DRM_IOCTL_VGPU_DEV_QUERY) {
		assert_int_equal(query->pad, 0);
		fill((void *)(uintptr_t)query->pointer, &query->size, &node->info,
		     node->info_bytes);
		return 0;
	}
	assert_int_equal(request, DRM_IOCTL_VGPU_USAGE_QUERY);
	assert_int_equal(usage->pad, 0);
	fill((void *)(uintptr_t)usage->pointer, &usage->size, &node->usage, sizeof(node->usage));
	return 0;
}

/* ---- directories ---- */

/* Names of nodes, of the heap that is counted. */
int __wrap_scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **))
{
	struct dirent **list, *entry;
	unsigned int i;
	int n = 0;

	assert_string_equal(path, "/dev/dri");
	list = calloc(FAKE_NODES + 1, sizeof(*list));
	if (!list)
		return error(ENOMEM);
	for (i = 0; i < FAKE_NODES; i++) {
		if (!fake_node[i].there)
			continue;
		entry = calloc(1, sizeof(*entry));
		if (!entry) {
			while (n)
				free(list[--n]);
			free(list);
			return error(ENOMEM);
		}
		snprintf(entry->d_name, sizeof(entry->d_name), "renderD%u", FAKE_NODE_MINOR + i);
		assert_true(filter(entry));
		list[n++] = entry;
	}
	*names = list;
	return n;
}

/* The link to the driver of a node. */
ssize_t __wrap_readlink(const char *path, char *to, size_t room)
{
	unsigned int nr;
	int n;

	if (sscanf(path, "/sys/class/drm/renderD%u/device/driver", &nr) != 1)
		return __real_readlink(path, to, room);
	nr -= FAKE_NODE_MINOR;
	if (!fake_has_sysfs || nr >= FAKE_NODES)
		return error(ENOENT);
	n = snprintf(to, room, "../../../bus/pci/drivers/%s", fake_node[nr].driver);
	return n;
}

DIR *__wrap_opendir(const char *path)
{
	if (strcmp(path, "/proc"))
		return __real_opendir(path);
	if (fake_has_proc)
		return __real_opendir(world);
	errno = ENOENT;
	return NULL;
}

/* A file with a content stands for a node. */
int __wrap_fstatat(int directory, const char *path, struct stat *st, int flags)
{
	int ret = __real_fstatat(directory, path, st, flags);

	if (!ret && S_ISREG(st->st_mode) && st->st_size) {
		st->st_mode = S_IFCHR | 0660;
		st->st_rdev = makedev(226, FAKE_NODE_MINOR);
	}
	return ret;
}
