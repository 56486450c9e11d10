// SPDX-License-Identifier: GPL-2.0
/* Events read from /dev/vgpu: their order, their size, and what a flood leaves of them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "event.h"
#include "fixture.h"

/* Size of an event in the first version of the ABI. */
#define EVENT_SIZE_1	96

/* How many events of one vGPU the driver keeps. */
#define EVENTS_KEPT	64

static struct fx_vgpu v, victim;

static int next_event(int fd, struct vgpu_ctl_event *event)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	if (poll(&pfd, 1, FX_TIMEOUT_MS) != 1)
		return -ETIMEDOUT;
	return read(fd, event, sizeof(*event)) == sizeof(*event) ? 0 : -errno;
}

static void expect(int fd, uint32_t type, uint64_t *seq)
{
	struct vgpu_ctl_event event;

	CHECK_EQ(next_event(fd, &event), 0, "event %u", type);
	CHECK_EQ(event.type, type);
	CHECK(!memcmp(event.uuid, v.id, sizeof(v.id)), "another vGPU");
	CHECK(!*seq || event.seq == *seq + 1, "a gap");
	CHECK(event.time_ns, "no time");
	*seq = event.seq;
}

static void event_stream(void)
{
	struct vgpu_ctl_event event[4];
	struct pollfd pfd = { .events = POLLIN };
	struct vgpu_chan *chan;
	struct vgpu_fault fault;
	uint64_t seq = 0;
	int fd;

	fd = event_open();
	pfd.fd = fd;
	CHECK_EQ(poll(&pfd, 1, 0), 0, "events from before the open");
	CHECK(read(fd, event, sizeof(event)) < 0 && errno == EAGAIN, "empty");
	fx_create(&v, fx_default_type());
	CHECK_EQ(poll(&pfd, 1, FX_TIMEOUT_MS), 1);
	CHECK(read(fd, event, sizeof(event[0]) - 1) < 0 && errno == EINVAL, "half a record");
	expect(fd, VGPU_EVENT_CREATED, &seq);
	fx_open(&v);
	expect(fd, VGPU_EVENT_STARTED, &seq);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	expect(fd, VGPU_EVENT_RESET, &seq);
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_nop(chan));
	fx_fill_fails(chan, v.dev->fb_bytes, &fault);
	CHECK_EQ(next_event(fd, &event[0]), 0);
	CHECK_EQ(event[0].type, VGPU_EVENT_FAULT);
	CHECK_EQ(event[0].a, chan->id);
	CHECK_EQ(event[0].b, VGPU_HW_FAULT_ADDRESS);
	CHECK_EQ(event[0].c, 1);
	seq = event[0].seq;
	fx_close(&v);
	expect(fd, VGPU_EVENT_STOPPED, &seq);
	fx_remove(&v);
	expect(fd, VGPU_EVENT_REMOVED, &seq);
	CHECK_EQ(poll(&pfd, 1, 0), 0);
	close(fd);
}

static int event_size(int fd, uint32_t size, uint64_t *next_seq)
{
	struct vgpu_ctl_events setup = {
		.size = sizeof(setup),
		.event_size = size,
	};

	if (ioctl(fd, VGPU_IOC_EVENTS, &setup))
		return -errno;
	CHECK_EQ(setup.known_size, sizeof(struct vgpu_ctl_event));
	if (next_seq)
		*next_seq = setup.next_seq;
	return 0;
}

/* Programs that know shorter records, and programs that know longer records. */
static void event_sizes(void)
{
	uint8_t bytes[3 * 4096];
	const struct vgpu_ctl_event *event = (void *)bytes;
	void *volatile nowhere = (void *)8;
	uint64_t next_seq;
	unsigned int i;
	int fd;

	fd = open("/dev/vgpu", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	CHECK(fd >= 0, "%s", strerror(errno));
	CHECK_EQ(event_size(fd, 0, NULL), -EINVAL);
	CHECK_EQ(event_size(fd, EVENT_SIZE_1 - 1, NULL), -EINVAL);
	CHECK_EQ(event_size(fd, 4097, NULL), -E2BIG);
	CHECK_EQ(event_size(fd, 0x80000000, NULL), -E2BIG);
	CHECK_EQ(event_size(fd, ~0u, NULL), -E2BIG);
	/* Makes the events CREATED, STARTED, STOPPED and REMOVED. */
	fx_create_open(&v, fx_default_type());
	fx_close(&v);
	fx_remove(&v);

	/* As a program of version 2.0 reads. */
	memset(bytes, 0xee, sizeof(bytes));
	CHECK(read(fd, bytes, EVENT_SIZE_1 - 1) < 0 && errno == EINVAL, "half");
	CHECK_EQ(read(fd, bytes, 2 * EVENT_SIZE_1 - 1), EVENT_SIZE_1);
	CHECK_EQ(event->type, VGPU_EVENT_CREATED);
	CHECK_EQ(bytes[EVENT_SIZE_1], 0xee, "wrote too much");
	next_seq = event->seq + 1;

	/* A size that no version has. */
	CHECK_EQ(event_size(fd, EVENT_SIZE_1 + 4, &next_seq), 0);
	CHECK_EQ(next_seq, event->seq + 1);
	CHECK_EQ(read(fd, bytes, EVENT_SIZE_1 + 4), EVENT_SIZE_1 + 4);
	CHECK_EQ(event->seq, next_seq);
	CHECK_EQ(event->type, VGPU_EVENT_STARTED);
	CHECK(event->source, "no source");
	CHECK_EQ(bytes[EVENT_SIZE_1 + 4], 0xee, "wrote too much");

	/* As a program reads that knows more than the kernel does: two records at once. */
	CHECK_EQ(event_size(fd, 4096, NULL), 0);
	memset(bytes, 0xee, sizeof(bytes));
	CHECK(read(fd, bytes, 4095) < 0 && errno == EINVAL, "half");
	CHECK_EQ(read(fd, bytes, sizeof(bytes)), 2 * 4096);
	CHECK_EQ(event->type, VGPU_EVENT_STOPPED);
	CHECK_EQ(event->source_seq, 2);
	for (i = 0; i < 2; i++)
		CHECK(fx_is_zero(bytes + 4096 * i + sizeof(*event),
				 4096 - sizeof(*event)), "tail of %u", i);
	event = (void *)(bytes + 4096);
	CHECK_EQ(event->type, VGPU_EVENT_REMOVED);
	CHECK_EQ(event->source_seq, 3);
	CHECK_EQ(bytes[2 * 4096], 0xee, "wrote too much");

	/* A record that could not be copied can still be read. */
	fx_create(&v, fx_default_type());
	CHECK(read(fd, nowhere, 4096) < 0 && errno == EFAULT, "bad pointer");
	CHECK_EQ(read(fd, bytes, sizeof(bytes)), 4096);
	CHECK_EQ(((struct vgpu_ctl_event *)bytes)->type, VGPU_EVENT_CREATED);
	close(fd);
}

#define MANY_READERS	200

static void attack(unsigned int rounds)
{
	unsigned int i;

	for (i = 0; i < rounds; i++) { /* each makes two events at least */
		fx_open(&v);
		if (i % 4 == 0)
			FX_OK(v.dev, vgpu_dev_reset(v.dev));
		fx_close(&v);
	}
}

/**
 * struct found - the events that a reader has found
 * @all:      how many
 * @attacker: how many of the attacker
 * @faults:   how many faults of the victim
 * @missed:   how many of the attacker are gone, by gaps in their numbers
 * @last:     type of the attacker's newest event
 */
struct found {
	unsigned int all;
	unsigned int attacker;
	unsigned int faults;
	uint64_t missed;
	uint32_t last;
};

static void read_all(int fd, uint64_t from, struct found *found)
{
	struct vgpu_ctl_event event;
	uint64_t expected = 0;

	memset(found, 0, sizeof(*found));
	while (read(fd, &event, sizeof(event)) == sizeof(event)) {
		CHECK(event.seq >= from, "went back to %llu", event.seq);
		from = event.seq + 1;
		found->all++;
		if (!memcmp(event.uuid, v.id, sizeof(v.id))) {
			CHECK(event.source_seq >= expected, "its own order");
			found->missed += event.source_seq - expected;
			expected = event.source_seq + 1;
			found->attacker++;
			found->last = event.type;
		}
		found->faults += event.type == VGPU_EVENT_FAULT &&
				 !memcmp(event.uuid, victim.id, sizeof(victim.id));
	}
	CHECK_EQ(errno, EAGAIN);
}

/*
 * A tenant opens, resets and closes its vGPU as often as it can, while readers do not read.
 * Older events of another vGPU can still be read, and so can the newest events of the attacker.
 */
static void flood_leaves_others_events(void)
{
	unsigned int rounds = fx_env("VGPU_TEST_ROUNDS", 700), i;
	static int fd[MANY_READERS];
	struct vgpu_fault fault;
	struct vgpu_chan *chan;
	struct found found;
	uint64_t seq;

	for (i = 0; i < MANY_READERS; i++)
		fd[i] = event_open();
	CHECK_EQ(event_size(fd[0], sizeof(struct vgpu_ctl_event), &seq), 0);
	fx_create(&v, fx_default_type());
	fx_create_open(&victim, fx_default_type());
	chan = fx_chan(&victim, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	fx_fill_fails(chan, victim.dev->fb_bytes, &fault);
	attack(rounds);
	for (i = 0; i < MANY_READERS; i++) {
		read_all(fd[i], seq, &found);
		if (!i)
			ktap_note("%u events, %u of the attacker, which had %llu more", found.all,
				  found.attacker, (unsigned long long)found.missed);
		CHECK_EQ(found.faults, 1, "the victim's, reader %u", i);
		CHECK_EQ(found.attacker, EVENTS_KEPT, "reader %u", i);
		CHECK(found.attacker + found.missed >=
		      1 + 2 * rounds + rounds / 4, "some are not counted");
		CHECK_EQ(found.last, VGPU_EVENT_STOPPED);
		close(fd[i]);
	}
}

/* The newest events of vGPUs that were removed, and all events of others, can still be read. */
static void removed_vgpus(void)
{
	unsigned int i, k, removed = 0;
	struct vgpu_ctl_event event;
	uint8_t first[VGPU_UUID_LEN];
	static struct fx_vgpu gone;
	int fd;

	fd = event_open();
	fx_create(&victim, fx_default_type());
	fx_create(&gone, fx_default_type());
	memcpy(first, gone.id, sizeof(first));
	fx_remove(&gone);
	/* A UUID that comes and goes all the time has no more room than one vGPU. */
	fx_create(&v, fx_default_type());
	for (i = 0; i < 100; i++) {
		fx_remove(&v);
		CHECK_EQ(fx_try_create(&v, fx_default_type()), 0);
	}
	for (i = k = 0; read(fd, &event, sizeof(event)) == sizeof(event); i++) {
		removed += !memcmp(event.uuid, first, sizeof(first));
		k += !memcmp(event.uuid, victim.id, sizeof(victim.id));
	}
	CHECK_EQ(removed, 2, "CREATED and REMOVED of the first");
	CHECK_EQ(k, 1, "CREATED of the one that is there");
	CHECK_EQ(i, EVENTS_KEPT + 3);
	close(fd);
}

static void rewind_events(int fd, uint64_t *next_seq)
{
	struct vgpu_ctl_events setup = {
		.size = sizeof(setup),
		.flags = VGPU_EVENTS_KEPT,
		.event_size = sizeof(struct vgpu_ctl_event),
	};

	CHECK(!ioctl(fd, VGPU_IOC_EVENTS, &setup), "%s", strerror(errno));
	*next_seq = setup.next_seq;
}

/* A reader that comes later can read what is kept, also once more, and reads on from there. */
static void kept_events(void)
{
	static const uint32_t types[] = {
		VGPU_EVENT_CREATED, VGPU_EVENT_STARTED, VGPU_EVENT_RESET, VGPU_EVENT_STOPPED,
	};
	struct vgpu_ctl_event event;
	unsigned int nr, round;
	uint64_t seq;
	int fd;

	fx_create_open(&v, fx_default_type());
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	fx_close(&v);
	fd = event_open();
	CHECK(read(fd, &event, sizeof(event)) < 0 && errno == EAGAIN, "it reads from now on");
	for (round = 0; round < 3; round++) {
		rewind_events(fd, &seq);
		/* The second time it goes back after some of them. */
		for (nr = 0; read(fd, &event, sizeof(event)) == sizeof(event);) {
			CHECK_EQ(event.seq < seq, 0, "out of order");
			seq = event.seq + 1;
			if (memcmp(event.uuid, v.id, sizeof(v.id)))
				continue;
			CHECK(nr < sizeof(types) / sizeof(types[0]), "too many");
			CHECK_EQ(event.type, types[nr]);
			CHECK_EQ(event.source_seq, nr);
			if (++nr == 2 && round == 1)
				break;
		}
		CHECK_EQ(nr, round == 1 ? 2 : sizeof(types) / sizeof(types[0]));
	}
	fx_remove(&v);
	CHECK_EQ(read(fd, &event, sizeof(event)), sizeof(event));
	CHECK_EQ(event.type, VGPU_EVENT_REMOVED);
	CHECK_EQ(event.seq, seq);
	close(fd);
}

/**
 * struct of_type - the events of a type and source
 * @records: how many there are
 * @counted: how many events they and those before them stand for
 */
struct of_type {
	unsigned int records;
	uint64_t counted;
};

/* Reads all events of @v that are kept. Returns how many, and the type of the newest one. */
static unsigned int read_types(struct of_type types[32], uint32_t *last)
{
	struct vgpu_ctl_event event;
	unsigned int all = 0;
	uint64_t seq;
	int fd;

	memset(types, 0, 32 * sizeof(types[0]));
	fd = event_open();
	rewind_events(fd, &seq);
	while (read(fd, &event, sizeof(event)) == sizeof(event)) {
		if (memcmp(event.uuid, v.id, sizeof(v.id)))
			continue;
		CHECK(event.type < 32 && event.type_seq >= types[event.type].counted, "order");
		CHECK(event.last_ns >= event.time_ns, "times");
		CHECK(event.repeats || event.last_ns == event.time_ns, "times of one");
		types[event.type].records++;
		types[event.type].counted = event.type_seq + event.repeats + 1;
		*last = event.type;
		all++;
	}
	close(fd);
	return all;
}

/*
 * 40 closes and opens leave all of some faults, and whatever a tenant does often, the latest event
 * of each type stays, and all are counted.
 */
static void latest_events_stay(void)
{
	struct of_type types[32];
	struct vgpu_fault fault;
	struct vgpu_chan *chan;
	unsigned int i, round, all;
	uint32_t last;

	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	for (i = 0; i < 5; i++) {
		fx_fill_fails(chan, v.dev->fb_bytes, &fault);
		fx_again(chan);
	}
	fx_close(&v);
	for (round = 1; round <= 4; round++) {
		for (i = 0; i < 40; i++) {
			fx_open(&v);
			fx_close(&v);
		}
		all = read_types(types, &last);
		CHECK_EQ(all, EVENTS_KEPT, "round %u", round);
		CHECK_EQ(last, VGPU_EVENT_STOPPED);
		CHECK_EQ(types[VGPU_EVENT_CREATED].records, 1);
		CHECK_EQ(types[VGPU_EVENT_FAULT].records, 5);
		CHECK_EQ(types[VGPU_EVENT_FAULT].counted, 5);
		CHECK_EQ(types[VGPU_EVENT_STARTED].counted, 1 + 40 * round);
		CHECK_EQ(types[VGPU_EVENT_STOPPED].counted, 1 + 40 * round);
	}
}

/* What a guest repeats as fast as it can is counted, and has 32 records in each second. */
static void faults_are_counted(void)
{
	struct vgpu_ctl_instance inst;
	struct of_type types[32];
	struct vgpu_fault fault;
	struct vgpu_chan *chan;
	uint64_t begin_ms, ms;
	unsigned int i;
	uint32_t last;

	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	begin_ms = clk_ms();
	for (i = 0; i < 100; i++) {
		fx_fill_fails(chan, v.dev->fb_bytes, &fault);
		fx_again(chan);
	}
	ms = clk_ms() - begin_ms;
	fx_instance(&v, &inst);
	read_types(types, &last);
	CHECK_EQ(types[VGPU_EVENT_FAULT].counted, inst.faults);
	CHECK_EQ(types[VGPU_EVENT_FAULT].counted, 100);
	CHECK(types[VGPU_EVENT_FAULT].records <= 32 * (ms / 1000 + 1), "%u records in %llu ms",
	      types[VGPU_EVENT_FAULT].records, (unsigned long long)ms);
	ktap_note("%u records in %llu ms", types[VGPU_EVENT_FAULT].records,
		  (unsigned long long)ms);
	fx_close(&v);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(event_stream),
	KTAP_TEST(event_sizes),
	KTAP_TEST(flood_leaves_others_events),
	KTAP_TEST(removed_vgpus),
	KTAP_TEST(kept_events),
	KTAP_TEST(latest_events_stay),
	KTAP_TEST(faults_are_counted),
};

KTAP_MAIN(tests, fx_cleanup)
