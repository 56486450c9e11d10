// SPDX-License-Identifier: GPL-2.0
/* Sessions: who had a vGPU open, and what was done meanwhile; and who cannot push out whom. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/vfio.h>

#include "child.h"
#include "fixture.h"

#define ROOM	(VGPU_SESSIONS_KEPT + 64)
#define CHUNK	256
#define UID	1234

static struct fx_vgpu v, neighbour;
static uint32_t gpu_id;
static struct vgpu_ctl_session all[ROOM];

/* Reads all sessions from @first_id on, a few at a time; returns how many. */
static unsigned int sessions(uint64_t first_id, uint32_t room)
{
	struct vgpu_ctl_sessions ctl = { .first_id = first_id };
	unsigned int i, nr = 0;

	do {
		CHECK(nr < ROOM, "too many");
		if (room > ROOM - nr)
			room = ROOM - nr;
		CHECK_EQ(node_sessions(fx_control(), gpu_id, &ctl, &all[nr], room), 0);
		CHECK(ctl.count <= room && ctl.engines > 0, "%u sessions", ctl.count);
		nr += ctl.count;
		CHECK_EQ(ctl.next_id, ctl.count ? all[nr - 1].id + 1 : ctl.first_id);
		ctl.first_id = ctl.next_id;
	} while (ctl.count);
	for (i = 0; i < nr; i++) {
		CHECK(all[i].id >= (i ? all[i - 1].id + 1 : first_id), "order of ids");
		CHECK(all[i].id <= ctl.last_id, "after the last");
		CHECK(!all[i].end_ns || all[i].end_ns >= all[i].start_ns, "ends before it starts");
		CHECK_EQ(all[i].kind, VGPU_SESSION_VM);
		CHECK_EQ(all[i].parent, 0);
	}
	return nr;
}

/* The newest session of @vgpu, and how many there are of it. */
static unsigned int sessions_of(const struct fx_vgpu *vgpu, struct vgpu_ctl_session *newest)
{
	unsigned int i, nr = sessions(0, CHUNK), its = 0;

	for (i = 0; i < nr; i++) {
		if (memcmp(all[i].uuid, vgpu->id, sizeof(vgpu->id)))
			continue;
		its++;
		*newest = all[i];
	}
	return its;
}

static void begin(void)
{
	gpu_id = fx_gpu_id();
	fx_create(&v, fx_default_type());
}

static void work(struct fx_vgpu *vgpu, uint64_t bytes)
{
	struct vgpu_chan *chan = fx_chan(vgpu, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);

	FX_OK(vgpu->dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), 0x5e55, bytes));
	fx_finish(chan);
	vgpu_chan_destroy(chan);
}

static void tenant(void *arg)
{
	struct vgpu_ctl_session *running = arg;
	struct vgpu_ctl_instance inst;
	struct vgpu_fault fault;
	struct vgpu_chan *chan;

	/* Who the process is, and not what it may do. */
	CHECK(!setresuid(UID, 0, 0), "setresuid: %s", strerror(errno));
	prctl(PR_SET_NAME, "tenant");
	fx_open(&v);
	work(&v, 4 * FX_MIB);
	CHECK_EQ(sessions_of(&v, running), 1);
	fx_instance(&v, &inst);
	CHECK_EQ(inst.session, running->id);
	CHECK_EQ(inst.owner_uid, UID);
	CHECK_EQ(inst.owner_pid, getpid());
	CHECK(!strcmp((char *)inst.owner_comm, "tenant"), "%s", inst.owner_comm);
	CHECK_EQ(inst.started_ns, running->start_ns);
	CHECK_EQ(inst.max_fb_bytes, running->max_fb_bytes);
	/* What is given back counts still, what is used again does not count twice. */
	CHECK_EQ(inst.max_fb_bytes, inst.fb_backed_bytes);
	CHECK_EQ(vgpu_dev_reset(v.dev), 0);
	chan = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	fx_fill_fails(chan, v.dev->fb_bytes, &fault);
	vgpu_chan_destroy(chan);
	work(&v, 2 * FX_MIB);
	fx_instance(&v, &inst);
	CHECK(inst.fb_backed_bytes < running->max_fb_bytes, "backed after the reset");
	CHECK_EQ(inst.max_fb_bytes, running->max_fb_bytes);
	fx_close(&v);
}

/* Another process opens the vGPU, twice; each session has its own numbers. */
static void who_had_it_open(void)
{
	struct vgpu_ctl_session *running, ended, first = {};
	struct vgpu_ctl_instance before, after;
	unsigned int round, e;
	int status;
	pid_t pid;

	fx_need("execution");
	begin();
	for (round = 1; round <= 2; round++) {
		running = child_shared(sizeof(*running));
		fx_instance(&v, &before);
		if (round == 1) {
			pid = child_start(tenant, running);
			CHECK(child_ends(pid, FX_TIMEOUT_MS, &status), "hangs");
			CHECK_EQ(status, 0);
		} else {
			pid = getpid();
			fx_open(&v);
			work(&v, 8 * FX_MIB);
			CHECK_EQ(sessions_of(&v, running), 2);
			fx_close(&v);
		}
		fx_instance(&v, &after);
		CHECK_EQ(sessions_of(&v, &ended), round);
		CHECK_EQ(ended.id, running->id);
		CHECK_EQ(running->end_ns, 0);
		CHECK(ended.end_ns && ended.end_ns <= after.now_ns, "end");
		CHECK(ended.start_ns == running->start_ns && ended.start_ns >= before.now_ns &&
		      ended.start_ns < ended.end_ns, "start");
		CHECK_EQ(ended.pid, pid);
		CHECK_EQ(ended.uid, round == 1 ? UID : getuid());
		CHECK(!strcmp((char *)ended.type_name, (char *)after.type_name), "type %s",
		      ended.type_name);
		for (e = 0; e < after.engines; e++) {
			CHECK_EQ(ended.engine[e].busy_ns,
				 after.engine[e].busy_ns - before.engine[e].busy_ns);
			CHECK(running->engine[e].busy_ns <= ended.engine[e].busy_ns, "went back");
		}
		CHECK(running->engine[0].busy_ns, "no service");
		CHECK_EQ(ended.faults, after.faults - before.faults);
		CHECK_EQ(ended.resets, after.resets - before.resets);
		CHECK_EQ(ended.max_fb_bytes, running->max_fb_bytes);
		CHECK(ended.max_fb_bytes >= (round == 1 ? 4 : 8) * FX_MIB, "framebuffer");
		if (round == 1)
			first = ended;
	}
	CHECK(!strcmp((char *)first.comm, "tenant"), "%s", first.comm);
	CHECK_EQ(first.faults, 1);
	CHECK_EQ(first.resets, 1);
	CHECK(ended.id > first.id && ended.start_ns >= first.end_ns, "order");
}

/* Any room gives the same sessions, from any id on. */
static void read_in_pieces(void)
{
	static struct vgpu_ctl_session whole[64];
	unsigned int i, nr, room;
	uint64_t from;

	begin();
	fx_create_open(&neighbour, fx_default_type());
	nr = sessions(0, CHUNK);
	from = all[nr - 1].id;
	for (i = 0; i < 20; i++) {
		fx_open(&v);
		fx_close(&v);
	}
	nr = sessions(from, CHUNK);
	CHECK_EQ(nr, 21);
	CHECK_EQ(all[0].end_ns, 0);
	memcpy(whole, all, nr * sizeof(whole[0]));
	for (room = 1; room < 30; room++) {
		CHECK_EQ(sessions(from, room), nr);
		CHECK(!memcmp(whole, all, nr * sizeof(whole[0])), "room %u", room);
	}
	for (i = 1; i < nr; i++) {
		CHECK_EQ(sessions(from + i, CHUNK), nr - i);
		CHECK_EQ(all[0].id, from + i);
	}
	CHECK_EQ(sessions(from + nr, CHUNK), 0);
	CHECK_EQ(sessions(~0ull, CHUNK), 0);
}

/* Opens and closes the vGPU @nr times, as fast as VFIO lets it. */
static void flood(const struct fx_vgpu *vgpu, unsigned int nr)
{
	char path[128], link[256];
	int container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC), group, fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/iommu_group", vgpu->uuid);
	n = readlink(path, link, sizeof(link) - 1);
	CHECK(n > 0, "%s: %s", path, strerror(errno));
	link[n] = 0;
	snprintf(path, sizeof(path), "/dev/vfio/%.16s", strrchr(link, '/') + 1);
	FX_SOON((group = open(path, O_RDWR | O_CLOEXEC)) >= 0, "%s", path);
	CHECK(!ioctl(group, VFIO_GROUP_SET_CONTAINER, &container) &&
	      !ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU), "%s", strerror(errno));
	while (nr--) {
		fd = ioctl(group, VFIO_GROUP_GET_DEVICE_FD, vgpu->uuid);
		CHECK(fd >= 0, "open: %s", strerror(errno));
		close(fd);
	}
	close(group);
	close(container);
}

/* A vGPU that is opened more often than sessions are kept leaves its neighbour's alone. */
static void flood_leaves_others_sessions(void)
{
	struct vgpu_ctl_session newest;
	unsigned int i, nr, of_v;
	uint64_t last;

	begin();
	fx_create(&neighbour, fx_default_type());
	for (i = 0; i < 5; i++) {
		fx_open(&neighbour);
		fx_close(&neighbour);
	}
	fx_remove(&neighbour);
	CHECK_EQ(sessions_of(&neighbour, &newest), 5);
	last = newest.id;
	flood(&v, VGPU_SESSIONS_KEPT + 100);
	fx_open(&v);
	CHECK_EQ(sessions_of(&neighbour, &newest), 5);
	CHECK_EQ(newest.id, last);
	of_v = sessions_of(&v, &newest);
	nr = sessions(0, CHUNK);
	/* Beside those kept there is the one that has not ended. */
	CHECK_EQ(nr, VGPU_SESSIONS_KEPT + 1);
	CHECK(of_v <= nr - 5, "%u of %u", of_v, nr);
	CHECK_EQ(newest.end_ns, 0);
	fx_close(&v);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(who_had_it_open),
	KTAP_TEST(read_in_pieces),
	KTAP_TEST(flood_leaves_others_sessions),
};

KTAP_MAIN(tests, fx_cleanup)
