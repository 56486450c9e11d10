// SPDX-License-Identifier: GPL-2.0
/*
 * A vGPU that is removed, or whose GPU is unbound, in each state of a move: that waits for its
 * user, who can go on meanwhile, and afterwards the vGPU is gone as a whole. And one whose user is
 * killed there.
 *
 * The GPU has another number afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "child.h"
#include "compute.h"
#include "hop.h"
#include "irqs.h"
#include "space.h"

static struct fx_vgpu beside;
static struct hop_stream stream;

/* A thread that writes to a file of sysfs, which may take until the vGPU is closed. */
static struct goer {
	pthread_t thread;
	bool begun;
	volatile bool over;
	int ret;
	const char *text;
	char path[160];
} goer;

static void *go(void *unused)
{
	goer.ret = file_write(goer.path, goer.text);
	goer.over = true;
	return unused;
}

static void go_begin(void)
{
	goer.over = false;
	CHECK(!pthread_create(&goer.thread, NULL, go, NULL), "thread");
	goer.begun = true;
}

static void go_end(void)
{
	if (goer.begun)
		pthread_join(goer.thread, NULL);
	goer.begun = false;
}

static struct vgpu_ctl_gpu gpu;

static int bind_gpu(const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/%.32s/%s", (char *)gpu.driver, file);
	return file_write(path, fx_gpu());
}

/* The administrator wants it back meanwhile. */
static void check_goes(unsigned int state)
{
	int data = hop_enter(&v, state), asked = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	char group[96], link[160];
	ssize_t n;

	snprintf(group, sizeof(group), "/sys/bus/mdev/devices/%s/iommu_group", v.uuid);
	n = readlink(group, link, sizeof(link) - 1);
	CHECK(n > 0, "%s", group);
	link[n] = '\0';
	snprintf(group, sizeof(group), "/dev/vfio%.16s", strrchr(link, '/'));
	CHECK(open(group, O_RDWR | O_CLOEXEC) < 0 && errno == EBUSY, "a second open of %s", group);
	CHECK(!irqs_set_request(v.dev, asked), "the request interrupt");
	go_begin();
	FX_SOON(eventfd_read(asked, &(eventfd_t){ 0 }) == 0, "its user is not asked");
	CHECK(!goer.over, "%s does not wait", goer.path);
	/* Until its user lets go of it, it goes on with what it is at, and the next time, too. */
	if (state != VFIO_DEVICE_STATE_RESUMING) {
		if (data >= 0)
			hop_read_some(data);
		hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
		if (data >= 0)
			hop_check_ended(data);
		data = hop_enter(&v, state);
	}
	fx_close(&v);
	go_end();
	CHECK_EQ(goer.ret, 0, "%s", goer.path);
	v.created = false;
	close(asked);
	if (data >= 0)
		hop_check_ended(data);
}

static const unsigned int all_states[] = {
	VFIO_DEVICE_STATE_RUNNING, VFIO_DEVICE_STATE_RUNNING_P2P, HOP_PRE_COPY, HOP_PRE_COPY_P2P,
	VFIO_DEVICE_STATE_STOP, VFIO_DEVICE_STATE_STOP_COPY, VFIO_DEVICE_STATE_RESUMING,
};

#define NR_STATES	(sizeof(all_states) / sizeof(all_states[0]))

static void begin_endless(void)
{
	struct vgpu_chan *gr = compute_chan(&v);

	COMPUTE_LOAD(&v, compute_loop);
	compute_dispatch(gr, COMPUTE_SIZE(20, 1, 1), COMPUTE_SIZE(20, 1, 1), 64);
}

static void removed_in_each_state(void)
{
	unsigned int i, available = fx_available(fx_default_type());

	for (i = 0; i < NR_STATES; i++) {
		begin_endless();
		snprintf(goer.path, sizeof(goer.path), "/sys/bus/mdev/devices/%s/remove", v.uuid);
		goer.text = "1";
		check_goes(all_states[i]);
		CHECK_EQ(fx_available(fx_default_type()), available);
	}
}

/* What was removed with its GPU cannot be found by cleaning up, but the GPU can be bound. */
static void unbound_in_each_state(void)
{
	unsigned int i;

	fx_ctl_gpu(&gpu);
	for (i = 0; i < NR_STATES; i++) {
		begin_endless();
		snprintf(goer.path, sizeof(goer.path), "/sys/bus/pci/drivers/%.32s/unbind",
			 (char *)gpu.driver);
		goer.text = fx_gpu();
		check_goes(all_states[i]);
		CHECK_EQ(bind_gpu("bind"), 0);
	}
	compute_check_sum(compute_neighbour(&v), 3, 4);
}

/**
 * struct user - a process that is killed
 * @state: in which it leaves the vGPU
 * @ready: it is
 */
struct user {
	unsigned int state;
	volatile bool ready;
};

/* A child process: a monitor that moves its vGPU, and is at it when it is killed. */
static void use(void *arg)
{
	struct user *user = arg;
	int data;

	fx_open(&v);
	begin_endless();
	data = hop_enter(&v, user->state);
	if (user->state == VFIO_DEVICE_STATE_RESUMING)
		CHECK_EQ(hop_write(data, stream.bytes, stream.nr / 2, true), 0);
	else if (data >= 0)
		hop_read_some(data);
	user->ready = true;
	for (;;)
		pause();
}

/* Its user is killed: the next one finds it as new, and whoever was beside it notices nothing. */
static void killed_in_each_state(void)
{
	struct user *user = child_shared(sizeof(*user));
	struct vgpu_ctl_instance inst;
	struct vgpu_chan *neighbour;
	unsigned int i;
	pid_t pid;

	neighbour = compute_neighbour(&beside);
	fx_create_open(&v, fx_default_type());
	memset(v.dev->fb + 8 * FX_MIB, 0x44, FX_MIB);
	hop_save(&v, 0, &stream);
	fx_close(&v);
	for (i = 0; i < NR_STATES; i++) {
		user->state = all_states[i];
		user->ready = false;
		pid = child_start(use, user);
		FX_SOON(user->ready, "%u", user->state);
		compute_check_sum(neighbour, i, 1);
		child_kill(pid);
		FX_SOON((fx_instance(&v, &inst), inst.state == VGPU_STATE_CREATED));
		CHECK_EQ(inst.fb_backed_bytes, 0);
		CHECK(!(inst.status & VGPU_INSTANCE_PAUSED), "it is paused");
		fx_open(&v);
		CHECK_EQ(hop_get_state(&v), VFIO_DEVICE_STATE_RUNNING);
		compute_check_sum(compute_neighbour(&v), i, 2);
		fx_close(&v);
	}
	compute_check_sum(neighbour, 3, 4);
}

static void gone_cleanup(void)
{
	hop_stream_free(&stream);
	space_cleanup();
	go_end();
	/* It is bound unless the test has failed. */
	if (gpu.driver[0])
		bind_gpu("bind");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(killed_in_each_state),
	KTAP_TEST(removed_in_each_state),
	KTAP_TEST(unbound_in_each_state),
};

KTAP_MAIN(tests, gone_cleanup)
