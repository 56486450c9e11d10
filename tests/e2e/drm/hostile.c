// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of what may be left to others: by an import that fails, by a queue that goes while it waits
 * for a channel, by pages that the host says it has written.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/dma-buf.h>

#include "node.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define GR		0
#define CE		1

#define IMPORT_BYTES	(4 * PAGE)

/*
 * Each allocation of an import fails once, of a dma-buf in which there is the fence of a job that
 * works for ever. So the buffer that was begun waits for that job, and the dma-buf goes before.
 */
bool test_import_fails(void)
{
	struct dma_buf_import_sync_file fence = { .flags = DMA_BUF_SYNC_RW };
	int at_work, dmabuf, ret, left, fd = node_open();
	uint32_t queue, sync, handle, nth;
	uint64_t before;
	void *ptr;

	CHECK(fd >= 0 && failures_on());
	before = system_free(fd);
	at_work = begin_for_ever(&queue, &sync);
	CHECK(at_work >= 0);
	fence.fd = sync_file(at_work, sync);
	CHECK(fence.fd >= 0);
	for (nth = 1, left = 0; !left; nth++) {
		dmabuf = udmabuf(IMPORT_BYTES, &ptr);
		CHECK(dmabuf >= 0 && !ioctl(dmabuf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &fence));
		munmap(ptr, IMPORT_BYTES);
		fail_nth((int)nth);
		ret = import(fd, dmabuf, &handle);
		left = fail_nth(0);
		close(dmabuf);
		CHECK(!ret || (ret == -ENOMEM && !left));
		if (!ret)
			CHECK_RET(bo_close(fd, handle), 0);
	}
	say("import_fails: %u failures", nth - 2);
	CHECK(nth > 10);
	CHECK_RET(queue_end(at_work, queue), 0);
	CHECK(system_free_is(fd, before));
	close(fence.fd);
	close(at_work);
	close(fd);
	return others_work();
}

#define CHANNELS_MAX	64

#define PATIENCE_MS	60000

/**
 * struct flags - jobs that work until they are told to end
 * @fd:    of the node
 * @vm:    id
 * @words: two words for each job: it counts in one, and the other one ends it
 * @text:  their program
 */
struct flags {
	int fd;
	uint32_t vm;
	struct buf words;
	struct buf text;
};

static volatile uint32_t *flag_words(struct flags *f, uint32_t i)
{
	return (volatile uint32_t *)f->words.ptr + 2 * i;
}

static void flags_begin(struct flags *f)
{
	f->fd = node_open();
	CHECK(f->fd >= 0);
	CHECK_RET(vm_make(f->fd, &f->vm), 0);
	CHECK_RET(buf_make(f->fd, PAGE, FRAMEBUFFER, &f->words), 0);
	CHECK_RET(bind_map(f->fd, f->vm, f->words.handle, 0, VA_DATA, PAGE, DRM_VGPU_BIND_WRITE),
		  0);
	CHECK_RET(program_load(f->fd, f->vm, until_flag, UNTIL_FLAG_WORDS, VA_MORE, &f->text), 0);
}

static void flag_push(struct flags *f, uint32_t i, uint32_t queue, uint32_t sync)
{
	struct vgpu_hw_packet packet = packet_dispatch(VA_MORE, VA_DATA + 8 * i, 1, 1);

	flag_words(f, i)[0] = 0;
	flag_words(f, i)[1] = 0;
	CHECK_RET(exec(f->fd, queue, &packet, 1, 0, sync), 0);
}

/* Whether all of these jobs come to work at the same time. */
static bool flags_work(struct flags *f, uint32_t first, uint32_t end)
{
	uint32_t i, ms;

	for (i = first, ms = 0; i < end; i++)
		for (; !flag_words(f, i)[0]; ms++) {
			if (ms == PATIENCE_MS)
				return failed("job %u of %u has no channel", i, end - first);
			usleep(1000);
		}
	return true;
}

static void flags_end(struct flags *f, uint32_t first, uint32_t end)
{
	for (; first < end; first++)
		flag_words(f, first)[1] = 1;
}

/* From now on this comes before the threads of the kernel that hand jobs over. */
static void become_urgent(bool urgent)
{
	const struct sched_param param = { .sched_priority = urgent };

	CHECK(!sched_setscheduler(0, urgent ? SCHED_FIFO : SCHED_OTHER, &param));
}

/*
 * All channels but one have jobs that end together, and queues wait for each. Those are destroyed
 * while they are about to get one, or have got it, and have not begun their job; what they have
 * behind that waits for the job of the first queue, so they are not freed for as long.
 */
static void destroy_waiting(struct flags *f, uint32_t nr, uint32_t first_sync)
{
	uint32_t queue[CHANNELS_MAX], waiting[CHANNELS_MAX], i;

	for (i = 1; i < nr; i++) {
		CHECK_RET(queue_make(f->fd, f->vm, GR, 4, &queue[i]), 0);
		flag_push(f, i, queue[i], 0);
	}
	CHECK(flags_work(f, 1, nr));
	for (i = 1; i < nr; i++) {
		CHECK_RET(queue_make(f->fd, f->vm, CE, 4, &waiting[i]), 0);
		CHECK_RET(exec(f->fd, waiting[i], NULL, 0, 0, 0), 0);
		CHECK_RET(exec(f->fd, waiting[i], NULL, 0, first_sync, 0), 0);
	}
	become_urgent(true);
	flags_end(f, 1, nr);
	for (i = 1; i < nr; i++) {
		usleep(100 * (i % 8));
		CHECK_RET(queue_end(f->fd, waiting[i]), 0);
	}
	become_urgent(false);
	for (i = 1; i < nr; i++)
		CHECK_RET(queue_end(f->fd, queue[i]), 0);
}

static void all_work(struct flags *f, uint32_t nr)
{
	uint32_t queue[CHANNELS_MAX], i;

	for (i = 1; i < nr; i++) {
		CHECK_RET(queue_make(f->fd, f->vm, GR, 4, &queue[i]), 0);
		flag_push(f, i, queue[i], 0);
	}
	CHECK(flags_work(f, 1, nr));
	flags_end(f, 1, nr);
	for (i = 1; i < nr; i++)
		CHECK_RET(queue_end(f->fd, queue[i]), 0);
}

/* A queue that goes leaves its channel to others, whatever it was about to do. */
bool test_destroy_waiting(void)
{
	uint32_t first, sync, i;
	struct drm_vgpu_dev_info info;
	struct flags f;

	CHECK(module_again(PATIENT));
	flags_begin(&f);
	CHECK_RET(node_info(f.fd, &info), 0);
	CHECK(info.channels > 2 && info.channels <= CHANNELS_MAX);
	CHECK_RET(queue_make(f.fd, f.vm, GR, 4, &first), 0);
	CHECK_RET(sync_make(f.fd, &sync), 0);
	for (i = 0; i < test_amount(6); i++) {
		flag_push(&f, 0, first, sync);
		CHECK(flags_work(&f, 0, 1));
		destroy_waiting(&f, info.channels, sync);
		all_work(&f, info.channels);
		CHECK_RET(sync_wait(f.fd, sync, 0), -ETIME);
		flags_end(&f, 0, 1);
		CHECK_RET(sync_wait(f.fd, sync, WAIT_MS), 0);
		CHECK_RET(sync_error(f.fd, sync), 0);
	}
	buf_end(f.fd, &f.text);
	buf_end(f.fd, &f.words);
	close(f.fd);
	return module_again(NULL) && others_work();
}

#define CROWD	40u

/* A process with a queue, and a job that does nothing. */
static void one_job(int ready)
{
	uint32_t vm, queue;
	int fd = node_open();

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
	CHECK(write(ready, "", 1) == 1);
	CHECK_RET(exec_wait(fd, queue, NULL, 0), 0);
	_exit(0);
}

/*
 * A process has work for all channels and many queues that wait. The first channel that it gives
 * back goes to another process, though that has come later.
 */
bool test_queues_apart(void)
{
	struct drm_vgpu_dev_info info;
	uint32_t queue, i, nr, ms;
	int ready[2], status;
	struct flags f;
	pid_t pid;
	char byte;

	CHECK(module_again(PATIENT));
	flags_begin(&f);
	CHECK_RET(node_info(f.fd, &info), 0);
	nr = info.channels + CROWD;
	CHECK(8 * nr <= PAGE && !pipe(ready));
	for (i = 0; i < nr; i++) {
		CHECK_RET(queue_make(f.fd, f.vm, GR, 4, &queue), 0);
		flag_push(&f, i, queue, 0);
		if (i == info.channels - 1)
			CHECK(flags_work(&f, 0, info.channels));
	}
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		one_job(ready[1]);
	CHECK(read(ready[0], &byte, 1) == 1);
	usleep(300000);
	CHECK(!waitpid(pid, &status, WNOHANG));
	flags_end(&f, 0, 1);
	for (ms = 0; ms < PATIENCE_MS && !waitpid(pid, &status, WNOHANG); ms += 10)
		usleep(10000);
	CHECK(ms < PATIENCE_MS && WIFEXITED(status) && !WEXITSTATUS(status));
	buf_end(f.fd, &f.text);
	buf_end(f.fd, &f.words);
	close(f.fd);
	return module_again(NULL) && others_work();
}

#define LIES_FB		"job_timeout_ms=3000 fb_limit_mb=16"
#define LIES_BYTES	(2 * MIB)
#define LIES_BUFS	6
#define MARK		0x5ec4e75e
#define OWN		0x0b0b0b0b

/**
 * struct lies - what a thread says in place of the host
 * @page: of the driver's own channel
 * @end:  the thread is to end
 */
struct lies {
	volatile uint32_t *page;
	uint32_t end;
};

/* Whatever is put is done, and the channel is awake, though it is disabled. */
static void *tell_lies(void *arg)
{
	struct lies *lies = arg;
	volatile uint64_t *put = (volatile uint64_t *)
		&lies->page[offsetof(struct vgpu_hw_channel, put) / 4];
	volatile uint64_t *get = (volatile uint64_t *)
		&lies->page[offsetof(struct vgpu_hw_channel, get) / 4];

	while (!__atomic_load_n(&lies->end, __ATOMIC_RELAXED)) {
		lies->page[offsetof(struct vgpu_hw_channel, state) / 4] = VGPU_HW_STATE_AWAKE;
		*get = *put;
		usleep(100);
	}
	return NULL;
}

/* A client's buffers, which its jobs need all at the same time. */
static int own_begin(uint32_t *queue, void **ptr)
{
	uint32_t vm, handle, i;
	int fd = node_open();
	size_t j;

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, queue), 0);
	for (i = 0; i < LIES_BUFS; i++) {
		CHECK_RET(bo_make(fd, LIES_BYTES, FRAMEBUFFER, 0, &handle), 0);
		CHECK_RET(bo_map(fd, handle, LIES_BYTES, &ptr[i]), 0);
		CHECK_RET(bind_map(fd, vm, handle, 0, VA_DATA + i * LIES_BYTES, LIES_BYTES,
				   DRM_VGPU_BIND_WRITE), 0);
		for (j = 0; j < LIES_BYTES; j += PAGE)
			*(uint32_t *)(ptr[i] + j) = OWN;
	}
	CHECK_RET(exec_wait(fd, *queue, NULL, 0), 0);
	return fd;
}

/* Memory of the guest that becomes free, and is had by the next buffers, has this in it. */
static void leave_marks(int fd)
{
	uint64_t before = system_free(fd);
	struct buf buf[2 * LIES_BUFS];
	size_t j;
	uint32_t i;

	for (i = 0; i < 2 * LIES_BUFS; i++) {
		CHECK_RET(buf_make(fd, LIES_BYTES, DRM_VGPU_PLACEMENT_SYSTEM, &buf[i]), 0);
		for (j = 0; j < LIES_BYTES; j += PAGE)
			*(volatile uint32_t *)(buf[i].ptr + j) = MARK;
	}
	for (i = 0; i < 2 * LIES_BUFS; i++)
		buf_end(fd, &buf[i]);
	CHECK(system_free_is(fd, before));
}

/* The host says that it has moved buffers, and has not: nobody finds in them what others had. */
bool test_move_lies(void)
{
	void *first[LIES_BUFS], *second[LIES_BUFS];
	uint32_t queue[2], word, i, lost = 0, jobs;
	struct drm_vgpu_dev_info info;
	volatile uint32_t *regs;
	struct lies lies = {};
	pthread_t thread;
	int fd[2];
	size_t j;

	CHECK(module_again(LIES_FB));
	fd[0] = own_begin(&queue[0], first);
	/* Moves some, so the driver has enabled its channel; the last one. */
	fd[1] = own_begin(&queue[1], second);
	CHECK_RET(node_info(fd[0], &info), 0);
	regs = regs_map();
	lies.page = bar_map(VGPU_HW_BAR_CHANNELS, (info.channels + 1) * PAGE) +
		    info.channels * PAGE / 4;
	regs[(VGPU_HW_CHAN_BASE + info.channels * VGPU_HW_CHAN_STRIDE + VGPU_HW_CHAN_CTRL) / 4] = 0;
	CHECK(!pthread_create(&thread, NULL, tell_lies, &lies));
	leave_marks(fd[0]);
	for (jobs = 0; jobs < 2; jobs++)
		CHECK_RET(exec_wait(fd[jobs], queue[jobs], NULL, 0), 0);
	for (i = 0; i < LIES_BUFS; i++)
		for (j = 0; j < LIES_BYTES; j += PAGE) {
			word = *(uint32_t *)(first[i] + j);
			CHECK(word != MARK);
			lost += word != OWN;
		}
	__atomic_store_n(&lies.end, 1, __ATOMIC_RELAXED);
	CHECK(!pthread_join(thread, NULL));
	say("move_lies: %u pages were never moved", lost);
	CHECK(lost);
	for (i = 0; i < LIES_BUFS; i++) {
		munmap(first[i], LIES_BYTES);
		munmap(second[i], LIES_BYTES);
	}
	close(fd[0]);
	close(fd[1]);
	CHECK(function_reset());
	return module_again(NULL) && others_work();
}
