// SPDX-License-Identifier: GPL-2.0
/*
 * Signalling an eventfd of a vGPU runs whatever its user has attached to that eventfd. So it is
 * signalled in the vGPU's own thread, or in the user's own call, and never in a thread that
 * also works for others.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/vfio.h>

#include "child.h"
#include "fixture.h"
#include "irqs.h"
#include "tracing.h"

#define EPOLLS		100
#define DUPS		200	/* descriptors of an eventfd; each epoll instance watches all */
#define INTERRUPTS	256
#define SIGNALS		16	/* by which it is measured how long one takes */
#define TRIES		20

static struct fx_vgpu v;
static const struct tracing waking = { "sched/sched_waking" };

/**
 * struct waiter - a thread that sleeps until an eventfd is signalled
 * @fd:     the eventfd
 * @thread: the thread
 * @tid:    its ID, 0 before it runs
 * @result: of its poll()
 */
struct waiter {
	int fd;
	pthread_t thread;
	volatile pid_t tid;
	int result;
};

static void *wait_for_signal(void *arg)
{
	struct waiter *w = arg;
	struct pollfd pfd = { .fd = w->fd, .events = POLLIN };

	w->tid = (pid_t)syscall(SYS_gettid);
	w->result = poll(&pfd, 1, FX_TIMEOUT_MS);
	return NULL;
}

static void trace_begin(struct waiter *w)
{
	char filter[64];

	CHECK(!pthread_create(&w->thread, NULL, wait_for_signal, w), "thread");
	/* Having said its ID, the thread sleeps nowhere but in poll(). */
	FX_SOON(w->tid && child_state(w->tid) == 'S', "when the signal comes");
	snprintf(filter, sizeof(filter), "pid == %d", (int)w->tid);
	tracing_begin(&waking, filter);
}

/* Lines are "COMM-PID [CPU] FLAGS TIME: sched_waking: ...". */
static void check_line(char *line)
{
	char path[64], comm[64], *end = strstr(line, " [");

	CHECK(end, "%s", line);
	while (end > line && end[-1] == ' ')
		end--;
	*end = 0;
	end = strrchr(line, '-');
	CHECK(end, "%s", line);
	snprintf(path, sizeof(path), "/proc/%d/comm", atoi(end + 1));
	CHECK(file_read(path, comm, sizeof(comm)) > 0, "%s", path);
	ktap_note("woken by %s", comm);
	CHECK(!strncmp(comm, "vgpu-irq/", 9), "woken by %s", comm);
}

/* The vGPU's own thread has woken the waiter, and no other thread. */
static void trace_end(struct waiter *w)
{
	pthread_join(w->thread, NULL);
	tracing_end(&waking);
	CHECK_EQ(w->result, 1, "was not signalled");
	CHECK(tracing_read(&waking, check_line), "no wake-up was traced");
}

static void submit_interrupts(struct vgpu_chan *chan, unsigned int nr)
{
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_IRQ,
	};
	unsigned int i;

	for (i = 0; i < nr; i++)
		FX_OK(v.dev, vgpu_chan_submit(chan, &p, 1));
	FX_OK(v.dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
}

static void engines_signal_nobody(void)
{
	struct vgpu_chan *chan;
	struct waiter w = { 0 };

	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_irq_enable(v.dev, 1));
	w.fd = v.dev->irq_fds[0];
	trace_begin(&w);
	submit_interrupts(chan, 1);
	trace_end(&w);
}

static void *remover(void *arg)
{
	*(int *)arg = fx_try_remove(&v);
	return NULL;
}

/* When a process removes a vGPU in use, the vGPU's thread signals the user, not that process. */
static void requests_signal_nobody(void)
{
	struct waiter w = { 0 };
	pthread_t thread;
	int result = -1;

	fx_create_open(&v, fx_default_type());
	w.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	CHECK_EQ(irqs_set_request(v.dev, w.fd), 0);
	trace_begin(&w);
	CHECK(!pthread_create(&thread, NULL, remover, &result), "thread");
	trace_end(&w);
	fx_close(&v);
	pthread_join(thread, NULL);
	CHECK_EQ(result, 0);
	close(w.fd);
}

/* How long SIGNALS of them take. */
static uint64_t signal_watchers(void)
{
	uint64_t start = clk_ns();
	unsigned int i;

	for (i = 0; i < SIGNALS; i++)
		CHECK_EQ(irqs_set(v.dev, VFIO_PCI_MSIX_IRQ_INDEX, VFIO_IRQ_SET_DATA_NONE |
				  VFIO_IRQ_SET_ACTION_TRIGGER, 0, 1, NULL, 0), 0);
	return clk_ns() - start;
}

/*
 * An engine is done with many interrupts before a fraction of them could have been signalled,
 * as each signal wakes 20 000 watchers. How long one signal takes is measured in the user's own
 * call, before and after, as the machine may become slower or faster; the bound is half of what an
 * engine would need that signalled the eventfd itself. Such an engine would need that each time;
 * one that is kept from a processor once is looked at again.
 */
static void watchers_do_not_hold_the_engine(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	uint64_t start, before_ns, after_ns, bound_ns, took_ns = ~0ull;
	int epoll[EPOLLS], dups[DUPS];
	struct vgpu_chan *chan;
	unsigned int i, k;

	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 9);
	FX_OK(v.dev, vgpu_irq_enable(v.dev, 1));
	for (i = 0; i < DUPS; i++) {
		dups[i] = fcntl(v.dev->irq_fds[0], F_DUPFD_CLOEXEC, 0);
		CHECK(dups[i] >= 0, "%s", strerror(errno));
	}
	for (i = 0; i < EPOLLS; i++) {
		epoll[i] = epoll_create1(EPOLL_CLOEXEC);
		CHECK(epoll[i] >= 0, "%s", strerror(errno));
		for (k = 0; k < DUPS; k++)
			CHECK(!epoll_ctl(epoll[i], EPOLL_CTL_ADD, dups[k],
					 &event), "%s", strerror(errno));
	}
	bound_ns = 0;
	after_ns = signal_watchers();
	for (i = 0; i < TRIES && took_ns >= bound_ns; i++) {
		before_ns = after_ns;
		start = clk_ns();
		submit_interrupts(chan, INTERRUPTS);
		took_ns = clk_ns() - start;
		after_ns = signal_watchers();
		bound_ns = before_ns < after_ns ? before_ns : after_ns;
		bound_ns = bound_ns * (INTERRUPTS / SIGNALS) / 2;
		ktap_note("a signal takes %llu us, then %llu, %u interrupts take the engine %llu us",
			  (unsigned long long)before_ns / SIGNALS / 1000,
			  (unsigned long long)after_ns / SIGNALS / 1000, INTERRUPTS,
			  (unsigned long long)took_ns / 1000);
	}
	CHECK(after_ns >= 1000000, "too few watchers to tell");
	for (i = 0; i < EPOLLS; i++)
		close(epoll[i]);
	for (i = 0; i < DUPS; i++)
		close(dups[i]);
	CHECK(took_ns < bound_ns, "the engine waits for the watchers");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(engines_signal_nobody),
	KTAP_TEST(requests_signal_nobody),
	KTAP_TEST(watchers_do_not_hold_the_engine),
};

KTAP_MAIN(tests, fx_cleanup)
