// SPDX-License-Identifier: GPL-2.0
/*
 * Events without end. To wake a reader is to run whatever its user has attached to the open file,
 * which may be tens of thousands of epoll watchers, with interrupts off. That is the matter of this
 * one reader: all others are woken, and open, poll, read and close the node meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "event.h"
#include "tracing.h"
#include "tune.h"

#define EPOLLS		200
#define DUPS		200	/* descriptors of a reader; each epoll instance watches all */
#define LAST_MS		500
#define READERS		8
#define EVENTS		50	/* more than have a record of their own in a second */

/**
 * struct flood - a thread that makes one event after the other
 * @thread: the thread
 * @sched:  the GPU's settings as they are: these are set
 * @stop:   it is to end
 * @events: so many were made
 * @error:  why it has ended early
 */
struct flood {
	pthread_t thread;
	struct vgpu_ctl_sched sched;
	volatile bool stop;
	volatile uint64_t events;
	int error;
};

static struct flood flood;
static bool flooding;

static void *flood_run(void *arg)
{
	(void)arg;
	while (!flood.stop && !flood.error) {
		flood.error = node_sched_set(fx_control(), fx_gpu_id(), &flood.sched,
					     VGPU_SCHED_SLICE);
		flood.events++;
	}
	return NULL;
}

static void flood_begin(void)
{
	memset(&flood, 0, sizeof(flood));
	tune_get(&flood.sched);
	CHECK(!pthread_create(&flood.thread, NULL, flood_run, NULL), "thread");
	flooding = true;
}

static void flood_end(void)
{
	if (!flooding)
		return;
	flood.stop = true;
	pthread_join(flood.thread, NULL);
	flooding = false;
}

static void cleanup(void)
{
	flood_end();
	tune_cleanup();
}

/* How often the node is opened, watched, read, polled and closed while there are events. */
static uint64_t rounds_in_flood(uint64_t *events)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC), fd;
	struct pollfd pfd = { .events = POLLIN };
	struct vgpu_ctl_event got;
	uint64_t rounds, end;

	CHECK(epoll >= 0, "%s", strerror(errno));
	flood_begin();
	end = clk_ms() + LAST_MS;
	for (rounds = 0; clk_ms() < end; rounds++) {
		fd = open("/dev/vgpu", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		CHECK(fd >= 0, "%s", strerror(errno));
		CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), "%s", strerror(errno));
		CHECK(read(fd, &got, sizeof(got)) > 0 || errno == EAGAIN, "%s", strerror(errno));
		pfd.fd = fd;
		CHECK(poll(&pfd, 1, 0) >= 0, "%s", strerror(errno));
		close(fd);
	}
	flood_end();
	CHECK_EQ(flood.error, 0);
	close(epoll);
	*events = flood.events;
	return rounds;
}

/*
 * Readers come, look and go all the time while the watchers of another one are called: for what
 * the kernel's checkers find. How often depends on who gets which processor; that nobody waits for
 * another one's watchers is shown by readers_are_woken_apart().
 */
static void readers_beside_watchers(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	uint64_t alone, beside, alone_events, beside_events;
	int epoll[EPOLLS], dups[DUPS];
	unsigned int i, k;

	tune_begin();
	alone = rounds_in_flood(&alone_events);
	dups[0] = event_open();
	for (i = 1; i < DUPS; i++) {
		dups[i] = fcntl(dups[0], F_DUPFD_CLOEXEC, 0);
		CHECK(dups[i] >= 0, "%s", strerror(errno));
	}
	for (i = 0; i < EPOLLS; i++) {
		epoll[i] = epoll_create1(EPOLL_CLOEXEC);
		CHECK(epoll[i] >= 0, "%s", strerror(errno));
		for (k = 0; k < DUPS; k++)
			CHECK(!epoll_ctl(epoll[i], EPOLL_CTL_ADD, dups[k], &event), "%s",
			      strerror(errno));
	}
	beside = rounds_in_flood(&beside_events);
	for (i = 0; i < EPOLLS; i++)
		close(epoll[i]);
	for (i = 0; i < DUPS; i++)
		close(dups[i]);
	ktap_note("%llu rounds and %llu events alone, %llu and %llu beside %u watchers",
		  (unsigned long long)alone, (unsigned long long)alone_events,
		  (unsigned long long)beside, (unsigned long long)beside_events, EPOLLS * DUPS);
}

/**
 * struct reader - a thread that waits in read() for events
 * @thread: the thread
 * @fd:     opened for it alone
 * @events: so many it knows of: by a record of their own, or counted in one
 */
struct reader {
	pthread_t thread;
	int fd;
	volatile uint64_t events;
};

/* The last event before those that readers wait for; of the same source and type. */
static struct vgpu_ctl_event before;

static void *reader_run(void *arg)
{
	struct reader *reader = arg;
	struct vgpu_ctl_event event;

	while (reader->events < EVENTS && read(reader->fd, &event, sizeof(event)) == sizeof(event))
		if (event.source == before.source && event.type == before.type)
			reader->events = event.type_seq + event.repeats -
					 (before.type_seq + before.repeats);
	return NULL;
}

/* The node can be closed as soon as its reader has the last event, while others are still woken. */
static void all_readers_are_woken(void)
{
	struct reader reader[READERS] = { 0 };
	struct vgpu_ctl_sched sched;
	struct timespec end;
	unsigned int i;

	tune_begin();
	tune_get(&sched);
	event_begin();
	tune_set(&sched, VGPU_SCHED_SLICE);
	event_next(VGPU_EVENT_SCHED, &before);
	event_cleanup();
	for (i = 0; i < READERS; i++) {
		reader[i].fd = open("/dev/vgpu", O_RDONLY | O_CLOEXEC);
		CHECK(reader[i].fd >= 0, "%s", strerror(errno));
		CHECK(!pthread_create(&reader[i].thread, NULL, reader_run, &reader[i]), "thread");
	}
	for (i = 0; i < EVENTS; i++) {
		tune_get(&sched);
		tune_set(&sched, VGPU_SCHED_SLICE);
		/* Some events find the readers asleep, and some do not. */
		if (i % 4)
			clk_sleep_ms(2);
	}
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += FX_TIMEOUT_MS / 1000;
	for (i = 0; i < READERS; i++) {
		CHECK(!pthread_timedjoin_np(reader[i].thread, NULL, &end),
		      "reader %u sleeps after %llu events", i,
		      (unsigned long long)reader[i].events);
		CHECK_EQ(reader[i].events, EVENTS, "reader %u", i);
		close(reader[i].fd);
	}
}

/**
 * struct sleeper - a thread that sleeps until there is an event to read
 * @thread: the thread
 * @fd:     opened for it alone
 * @tid:    its ID, 0 before it runs
 * @result: of its poll()
 * @work:   which work has woken it, an index of @started; -1: none
 */
struct sleeper {
	pthread_t thread;
	int fd;
	volatile pid_t tid;
	int result;
	int work;
};

static const struct tracing starting = { "workqueue/workqueue_execute_start" };
static const struct tracing waking = { "sched/sched_waking" };
static int started[4096];	/* by which thread, in the order of the works */
static unsigned int nr_started;
static struct sleeper sleeper[2];

/* The work that the thread is doing. */
static int work_of(int pid)
{
	int work = (int)nr_started - 1;

	while (work >= 0 && started[work] != pid)
		work--;
	return work;
}

/* Lines are "COMM-PID [CPU] FLAGS TIME: EVENT: ...", and a waking is of "comm=COMM pid=PID ...". */
static void note_line(char *line)
{
	const char *at = strstr(line, " ["), *woken = strstr(line, ": sched_waking: ");
	unsigned int i;
	int pid;

	CHECK(at, "%s", line);
	while (at > line && *at != '-')
		at--;
	pid = atoi(at + 1);
	if (!woken) {
		CHECK(nr_started < sizeof(started) / sizeof(started[0]), "too many");
		started[nr_started++] = pid;
		return;
	}
	woken = strstr(woken, " pid=");
	CHECK(woken, "%s", line);
	/* What wakes it later, from where it waits to end, is of no interest. */
	for (i = 0; i < 2; i++)
		if (atoi(woken + 5) == sleeper[i].tid && sleeper[i].work < 0)
			sleeper[i].work = work_of(pid);
}

static void *sleeper_run(void *arg)
{
	struct sleeper *me = arg;
	struct pollfd pfd = { .fd = me->fd, .events = POLLIN };

	me->tid = (pid_t)syscall(SYS_gettid);
	me->result = poll(&pfd, 1, FX_TIMEOUT_MS);
	return NULL;
}

/*
 * An event wakes two readers by two works: what is attached to the one is not called where the
 * other one is woken, nor with a lock that it needs.
 */
static void readers_are_woken_apart(void)
{
	struct vgpu_ctl_sched sched;
	char filter[64];
	unsigned int i;

	tune_begin();
	tune_get(&sched);
	for (i = 0; i < 2; i++) {
		sleeper[i] = (struct sleeper){ .fd = event_open(), .work = -1 };
		CHECK(!pthread_create(&sleeper[i].thread, NULL, sleeper_run, &sleeper[i]),
		      "thread");
		/* Having said its ID, the thread sleeps nowhere but in poll(). */
		FX_SOON(sleeper[i].tid && child_state(sleeper[i].tid) == 'S',
			"when the event comes");
	}
	snprintf(filter, sizeof(filter), "pid == %d || pid == %d", (int)sleeper[0].tid,
		 (int)sleeper[1].tid);
	tracing_begin(&starting, "0");
	tracing_begin(&waking, filter);
	tune_set(&sched, VGPU_SCHED_SLICE);
	for (i = 0; i < 2; i++)
		pthread_join(sleeper[i].thread, NULL);
	tracing_end(&waking);
	tracing_end(&starting);
	nr_started = 0;
	tracing_read(NULL, note_line);
	for (i = 0; i < 2; i++) {
		CHECK_EQ(sleeper[i].result, 1, "reader %u was not woken", i);
		CHECK(sleeper[i].work >= 0, "no work has woken reader %u", i);
		close(sleeper[i].fd);
	}
	CHECK(sleeper[0].work != sleeper[1].work, "one work has woken both");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(readers_are_woken_apart),
	KTAP_TEST(readers_beside_watchers),
	KTAP_TEST(all_readers_are_woken),
};

KTAP_MAIN(tests, cleanup)
