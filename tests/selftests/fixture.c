// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"

#define MDEV_BUS	"/sys/class/mdev_bus"
#define CHILDREN	16

static char gpu_name[64];
static char gpu_board[64];	/* prefix of type directories: driver-board */
static struct fx_vgpu *vgpus;
static pid_t children[CHILDREN];
static int control_fd = -1;
static int events = -1;

int fx_write_file(const char *path, const char *text)
{
	ssize_t n;
	int fd, ret = 0;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	if (n < 0)
		ret = -errno;
	else if ((size_t)n != strlen(text))
		ret = -EIO;
	close(fd);
	return ret;
}

int fx_read_file(const char *path, char *text, size_t room)
{
	ssize_t n;
	int fd, error;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, room - 1);
	error = errno;
	close(fd);
	if (n < 0)
		return -error;
	text[n] = 0;
	return (int)n;
}

int fx_control(void)
{
	if (control_fd < 0) {
		control_fd = open("/dev/vgpu", O_RDWR | O_CLOEXEC);
		if (control_fd < 0)
			FAIL("/dev/vgpu: %s", strerror(errno));
	}
	return control_fd;
}

/* VGPU_TEST_GPU chooses; else the first GPU of this driver. */
static void find_gpu(void)
{
	struct vgpu_ctl_list list = { .size = sizeof(list), .count = 1 };
	const char *wanted = getenv("VGPU_TEST_GPU");
	struct vgpu_ctl_gpu gpu = { .size = sizeof(gpu) };
	uint32_t id;

	if (access("/dev/vgpu", F_OK))
		ktap_skip_all("no /dev/vgpu: the module vgpu is not loaded");
	if (geteuid())
		ktap_skip_all("not root");
	list.ids = (uintptr_t)&id;
	if (ioctl(fx_control(), VGPU_IOC_GPUS, &list) || !list.count)
		ktap_skip_all("no GPU: is vgpu_soft loaded?");
	gpu.gpu = id;
	if (ioctl(fx_control(), VGPU_IOC_GPU, &gpu))
		ktap_skip_all("GPU %u: %s", id, strerror(errno));
	snprintf(gpu_name, sizeof(gpu_name), "%.32s",
		 wanted ? wanted : (char *)gpu.address);
	snprintf(gpu_board, sizeof(gpu_board), "%.30s-%.30s", gpu.driver,
		 gpu.board);
}

const char *fx_gpu(void)
{
	if (!gpu_name[0])
		find_gpu();
	return gpu_name;
}

void fx_ctl_gpu(struct vgpu_ctl_gpu *gpu)
{
	struct vgpu_ctl_list list = { .size = sizeof(list), .count = 16 };
	uint32_t ids[16], i;

	list.ids = (uintptr_t)ids;
	CHECK(!ioctl(fx_control(), VGPU_IOC_GPUS, &list), "%s", strerror(errno));
	for (i = 0; i < list.count && i < 16; i++) {
		memset(gpu, 0, sizeof(*gpu));
		gpu->size = sizeof(*gpu);
		gpu->gpu = ids[i];
		CHECK(!ioctl(fx_control(), VGPU_IOC_GPU, gpu), "%s",
		      strerror(errno));
		if (!strcmp((char *)gpu->address, fx_gpu()))
			return;
	}
	FAIL("GPU %s is not listed", fx_gpu());
}

void fx_type_path(const char *suffix, const char *file, char *path, size_t room)
{
	fx_gpu();
	snprintf(path, room, MDEV_BUS "/%s/mdev_supported_types/%s-%s/%s",
		 gpu_name, gpu_board, suffix, file);
}

/* The size the tests use where any will do. */
const char *fx_default_type(void)
{
	const char *type = getenv("VGPU_TEST_TYPE");

	return type ? type : "1Q";
}

unsigned int fx_available(const char *suffix)
{
	char path[256], text[32];

	fx_type_path(suffix, "available_instances", path, sizeof(path));
	CHECK(fx_read_file(path, text, sizeof(text)) > 0, "%s", path);
	return (unsigned int)strtoul(text, NULL, 10);
}

void fx_new_uuid(struct fx_vgpu *v)
{
	char *to = v->uuid;
	int i;

	if (getrandom(v->id, sizeof(v->id), 0) != sizeof(v->id))
		FAIL("getrandom: %s", strerror(errno));
	v->id[6] = (uint8_t)((v->id[6] & 0x0f) | 0x40);
	v->id[8] = (uint8_t)((v->id[8] & 0x3f) | 0x80);
	for (i = 0; i < VGPU_UUID_LEN; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*to++ = '-';
		to += sprintf(to, "%02x", v->id[i]);
	}
}

int fx_try_create(struct fx_vgpu *v, const char *suffix)
{
	struct fx_vgpu *known;
	char path[256];
	int ret;

	if (!v->uuid[0])
		fx_new_uuid(v);
	fx_type_path(suffix, "create", path, sizeof(path));
	ret = fx_write_file(path, v->uuid);
	if (ret)
		return ret;
	v->created = true;
	for (known = vgpus; known; known = known->next)
		if (known == v)
			return 0;
	v->next = vgpus;
	vgpus = v;
	return 0;
}

void fx_create(struct fx_vgpu *v, const char *suffix)
{
	int ret;

	memset(v, 0, sizeof(*v));
	ret = fx_try_create(v, suffix);
	if (ret)
		FAIL("create a %s: %s", suffix, strerror(-ret));
}

int fx_try_remove(struct fx_vgpu *v)
{
	char path[128];
	int ret;

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/remove", v->uuid);
	ret = fx_write_file(path, "1");
	if (!ret)
		v->created = false;
	return ret;
}

void fx_remove(struct fx_vgpu *v)
{
	int ret = fx_try_remove(v);

	if (ret)
		FAIL("remove %s: %s", v->uuid, strerror(-ret));
}

void fx_open(struct fx_vgpu *v)
{
	int ret = vgpu_dev_open_vfio(&v->dev, v->uuid);

	if (ret)
		FAIL("open: %s", vgpu_dev_error(NULL));
}

void fx_close(struct fx_vgpu *v)
{
	vgpu_dev_close(v->dev);
	v->dev = NULL;
}

void fx_create_open(struct fx_vgpu *v, const char *suffix)
{
	fx_create(v, suffix);
	fx_open(v);
}

/* Runs after each test, failed or not; tests' vGPUs are static. */
void fx_cleanup(void)
{
	struct fx_vgpu *v;
	int i, ret;

	if (events >= 0)
		close(events);
	events = -1;
	for (i = 0; i < CHILDREN; i++) {
		if (!children[i])
			continue;
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
		children[i] = 0;
	}
	while (vgpus) {
		v = vgpus;
		vgpus = v->next;
		v->next = NULL;
		fx_close(v);
		if (!v->created)
			continue;
		ret = fx_try_remove(v);
		if (ret)
			ktap_note("cleanup: remove %s: %s", v->uuid,
				  strerror(-ret));
		v->created = false;
	}
}

void fx_instance(const struct fx_vgpu *v, struct vgpu_ctl_instance *inst)
{
	memset(inst, 0, sizeof(*inst));
	inst->size = sizeof(*inst);
	memcpy(inst->uuid, v->id, sizeof(v->id));
	if (ioctl(fx_control(), VGPU_IOC_INSTANCE, inst))
		FAIL("VGPU_IOC_INSTANCE %s: %s", v->uuid, strerror(errno));
}

/* Channel faults; the host counts one a moment after the guest sees it. */
uint64_t fx_faults(const struct fx_vgpu *v)
{
	struct vgpu_ctl_instance inst;

	fx_instance(v, &inst);
	return inst.faults;
}

uint64_t fx_backed_bytes(const struct fx_vgpu *who)
{
	struct vgpu_ctl_instance inst;

	fx_instance(who, &inst);
	return inst.fb_backed_bytes;
}

/* Lift a quarantine, if there is one: faults made on purpose add up. */
void fx_release(const struct fx_vgpu *v)
{
	struct vgpu_ctl_instance_op op = { .size = sizeof(op) };

	memcpy(op.uuid, v->id, sizeof(v->id));
	if (ioctl(fx_control(), VGPU_IOC_RELEASE, &op) && errno != EINVAL)
		FAIL("VGPU_IOC_RELEASE: %s", strerror(errno));
}

/* Tests that fault on purpose run with the module's quarantine_faults=0. */
void fx_need_no_quarantine(void)
{
	char text[16];

	if (fx_read_file("/sys/module/vgpu/parameters/quarantine_faults", text,
			 sizeof(text)) > 0 && text[0] != '0')
		ktap_skip("vgpu is loaded with quarantine_faults=%s", text);
}

static bool is_reserved(void)
{
	char text[8];

	return fx_read_file("/sys/module/vgpu_soft/parameters/fb_reserve",
			    text, sizeof(text)) > 0 && text[0] == 'Y';
}

void fx_need_no_reserve(void)
{
	fx_gpu();
	if (is_reserved())
		ktap_skip("vgpu_soft is loaded with fb_reserve=1");
}

void fx_need_reserve(void)
{
	fx_gpu();
	if (!is_reserved())
		ktap_skip("vgpu_soft is loaded with fb_reserve=0");
}

void fx_ok(struct vgpu_dev *dev, int ret, const char *what)
{
	if (ret < 0)
		FAIL("%s: %s (%s)", what, strerror(-ret), vgpu_dev_error(dev));
}

struct vgpu_chan *fx_chan(struct fx_vgpu *v, uint32_t engine_class,
			  uint32_t instance, enum vgpu_ring where,
			  uint32_t order)
{
	struct vgpu_chan *chan;
	int engine;

	engine = vgpu_dev_find_engine(v->dev, engine_class, instance);
	FX_OK(v->dev, engine);
	FX_OK(v->dev, vgpu_chan_create(v->dev, (uint32_t)engine, where, order,
				       &chan));
	return chan;
}

/*
 * All that was queued has completed, and a fence behind it has signalled. The
 * fence itself has completed when get says so; then it is counted, too.
 */
void fx_finish(struct vgpu_chan *chan)
{
	uint64_t fence;

	FX_OK(chan->dev, vgpu_chan_fence(chan, &fence));
	FX_OK(chan->dev, vgpu_chan_wait(chan, fence, FX_TIMEOUT_MS));
	FX_OK(chan->dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
}

/* Whether a fence passes in time; a fault or a dead channel is a failure. */
bool fx_wait_fence(struct vgpu_chan *chan, uint64_t fence, int timeout_ms)
{
	int ret = vgpu_chan_wait(chan, fence, timeout_ms);

	if (ret && ret != -ETIMEDOUT)
		FAIL("%s", vgpu_dev_error(chan->dev));
	return !ret;
}

pid_t fx_fork(void (*child)(void *arg), void *arg)
{
	pid_t parent = getpid(), pid;
	int i;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		FAIL("fork: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		child(arg);
		fflush(stdout);
		_exit(0);
	}
	for (i = 0; i < CHILDREN; i++) {
		if (!children[i]) {
			children[i] = pid;
			return pid;
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	FAIL("more than %d children", CHILDREN);
}

bool fx_wait_child(pid_t pid, int timeout_ms, int *status)
{
	uint64_t end = fx_now_ms() + (uint64_t)timeout_ms;
	int i;

	while (waitpid(pid, status, WNOHANG) != pid) {
		if (fx_now_ms() > end)
			return false;
		fx_sleep_ms(2);
	}
	for (i = 0; i < CHILDREN; i++)
		if (children[i] == pid)
			children[i] = 0;
	return true;
}

/* A new reader of events as large as struct vgpu_ctl_event. */
int fx_open_events(void)
{
	struct vgpu_ctl_events setup = {
		.size = sizeof(setup),
		.event_size = sizeof(struct vgpu_ctl_event),
	};
	int fd;

	fd = open("/dev/vgpu", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		FAIL("/dev/vgpu: %s", strerror(errno));
	CHECK(!ioctl(fd, VGPU_IOC_EVENTS, &setup), "%s", strerror(errno));
	CHECK_EQ(setup.known_size, sizeof(struct vgpu_ctl_event));
	return fd;
}

/* Events are read from here on. */
void fx_events_begin(void)
{
	events = fx_open_events();
}

/* The next event of a type; what else there was is passed over. */
void fx_next_event(uint32_t type, struct vgpu_ctl_event *event)
{
	struct pollfd pfd = { .fd = events, .events = POLLIN };

	do {
		CHECK_EQ(poll(&pfd, 1, FX_TIMEOUT_MS), 1, "no event %u", type);
		CHECK_EQ(read(events, event, sizeof(*event)), sizeof(*event));
	} while (event->type != type);
}

uint64_t fx_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

void fx_sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

uint64_t fx_env(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* Memory of the machine that can be used now. */
uint64_t fx_memory_bytes(void)
{
	unsigned long long kib = 0;
	char line[128];
	FILE *f;

	f = fopen("/proc/meminfo", "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
			break;
	fclose(f);
	return kib << 10;
}

/* xorshift64* (Vigna 2016) */
uint64_t fx_random(void)
{
	static uint64_t state;

	if (!state) {
		state = fx_env("VGPU_TEST_SEED",
			       (fx_now_ms() << 16 ^ (uint64_t)getpid()) | 1);
		ktap_note("VGPU_TEST_SEED=%llu", (unsigned long long)state);
	}
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dull;
}

uint64_t fx_random_below(uint64_t limit)
{
	return limit ? (fx_random() >> 11) % limit : 0;
}

bool fx_is_zero(const void *bytes, size_t count)
{
	const unsigned char *p = bytes;

	return !count || (!p[0] && !memcmp(p, p + 1, count - 1));
}
