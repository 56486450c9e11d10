// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of what is in the way: of a buffer in one piece those of its own VM, and what is not
 * evicted; and of who is killed, all that there is to evict.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clk.h"
#include "node.h"

#define FRAMEBUFFER	DRM_VGPU_PLACEMENT_FRAMEBUFFER
#define SYSTEM		DRM_VGPU_PLACEMENT_SYSTEM
#define GR		0
#define CE		1

/* The framebuffer is a little more than these. */
#define SMALL		"job_timeout_ms=20000 fb_limit_mb=32"
#define PARTS		28u
#define PART		MIB
#define LARGE		(8 * MIB)
#define OTHERS		8u
#define OTHER		(LARGE / 2 / OTHERS)

/* All of the framebuffer but the end of it, and more page tables than find room there. */
#define HALF		(16 * MIB)
/* Of these only two find room in three aligned blocks of 2 MiB. */
#define CROWD		14u
#define CROWDED		(2 * MIB + PAGE)

#define HALVES		31u
#define TABLES		1200u

#define PAGES		4096u
#define TOO_MUCH	(28 * MIB)

#define VA_PART(i)	(VA_DATA + (uint64_t)(i) * PART)

/* At once: what is waited for takes longer by far. */
#define AT_ONCE_NS	15000000000ull

/* A client whose buffers are in the framebuffer, and idle. Returns its file. */
static int others_begin(uint32_t nr, uint64_t bytes)
{
	uint32_t handle, i;
	int fd = node_open();

	CHECK(fd >= 0);
	for (i = 0; i < nr; i++)
		CHECK_RET(bo_make(fd, bytes, FRAMEBUFFER, 0, &handle), 0);
	CHECK(resident_is(fd, nr * bytes));
	return fd;
}

/* Of each 4 parts the first two stay. */
static bool is_kept(uint32_t i)
{
	return i % 4 < 2;
}

static uint32_t part_word(uint32_t i)
{
	return 0x10001 * (i + 1);
}

static bool parts_are_right(void *const *ptr)
{
	const uint32_t *word;
	uint32_t i, j;

	for (i = 0; i < PARTS; i++) {
		word = ptr[i];
		for (j = 0; is_kept(i) && j < PART / 4; j++)
			if (word[j] != part_word(i))
				return failed("part %u, word %u: %#x", i, j, word[j]);
	}
	return true;
}

/* Leaves holes in the framebuffer, none as large as LARGE. */
static void parts_make(int fd, uint32_t vm, uint32_t queue, void **ptr)
{
	uint32_t handle[PARTS], i;
	struct vgpu_hw_packet packet;

	for (i = 0; i < PARTS; i++) {
		CHECK_RET(bo_make(fd, PART, FRAMEBUFFER, i % 2 ? vm : 0, &handle[i]), 0);
		CHECK_RET(bo_map(fd, handle[i], PART, &ptr[i]), 0);
		CHECK_RET(bind_map(fd, vm, handle[i], 0, VA_PART(i), PART, DRM_VGPU_BIND_WRITE),
			  0);
		packet = packet_fill(VA_PART(i), PART, part_word(i));
		CHECK_RET(exec_wait(fd, queue, &packet, 1), 0);
	}
	CHECK(resident_is(fd, PARTS * PART));
	for (i = 0; i < PARTS; i++) {
		if (is_kept(i))
			continue;
		munmap(ptr[i], PART);
		CHECK_RET(bind_unmap(fd, vm, VA_PART(i), PART), 0);
		CHECK_RET(bo_close(fd, handle[i]), 0);
	}
}

/* One of the VM's own in one piece is in the middle; it goes to where another was before. */
static bool pieces_change_places(void)
{
	uint32_t vm, queue, first, piece, large;
	int fd = node_open();

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
	CHECK_RET(bo_make_piece(fd, LARGE, 0, &first), 0);
	CHECK_RET(bo_make_piece(fd, LARGE, 0, &piece), 0);
	CHECK_RET(bo_close(fd, first), 0);
	CHECK_RET(bo_make_piece(fd, 2 * LARGE, 0, &large), 0);
	CHECK(resident_is(fd, LARGE));
	CHECK_RET(bind_map(fd, vm, piece, 0, VA_DATA, LARGE, 0), 0);
	CHECK_RET(bind_map(fd, vm, large, 0, VA_MORE, 2 * LARGE, 0), 0);
	CHECK_RET(exec_wait(fd, queue, NULL, 0), 0);
	CHECK(resident_is(fd, 3 * LARGE));
	close(fd);
	return true;
}

/* A VM's own buffers make room for one in one piece; there is room for all, so nobody's else do. */
bool test_evict_pieces(void)
{
	uint32_t vm, queue, handle, i;
	struct vgpu_hw_packet packet;
	void *ptr[PARTS], *large;
	int fd, other;

	CHECK(module_again(SMALL));
	fd = node_open();
	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
	parts_make(fd, vm, queue, ptr);
	other = others_begin(2, PART);
	CHECK_RET(bo_make_piece(fd, LARGE, 0, &handle), 0);
	CHECK_RET(bo_map(fd, handle, LARGE, &large), 0);
	CHECK_RET(bind_map(fd, vm, handle, 0, VA_MORE, LARGE, DRM_VGPU_BIND_WRITE), 0);
	packet = packet_fill(VA_MORE, LARGE, ~0u);
	CHECK_RET(exec_wait(fd, queue, &packet, 1), 0);
	CHECK(resident_is(fd, PARTS / 2 * PART + LARGE) && resident_is(other, 2 * PART));
	CHECK(parts_are_right(ptr));
	/* Jobs find them, too. */
	for (i = 0; i < PARTS; i++) {
		packet = packet_copy(VA_MORE, VA_PART(i), PART);
		CHECK(!is_kept(i) || (!exec_wait(fd, queue, &packet, 1) &&
				      *(volatile uint32_t *)large == part_word(i)));
	}
	close(other);
	close(fd);
	for (i = 0; i < PARTS; i++)
		if (is_kept(i))
			munmap(ptr[i], PART);
	munmap(large, LARGE);
	return module_again(SMALL) && pieces_change_places() && module_again(NULL);
}

/*
 * Fills the framebuffer, shows part @nr, and frees the others. Returns whether a piece of HALF and
 * one MiB, which @mine wants at VA_MORE, finds no place any more.
 */
static bool shown_is_in_way(int fd, int mine, uint32_t nr, uint32_t *queue, uint32_t *mine_queue)
{
	uint32_t vm, handle[PARTS], large, i;

	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, GR, 4, queue), 0);
	for (i = 0; i < PARTS; i++) {
		CHECK_RET(bo_make_piece(fd, PART, 0, &handle[i]), 0);
		CHECK_RET(bind_map(fd, vm, handle[i], 0, VA_PART(i), PART, 0), 0);
	}
	CHECK_RET(present(fd, *queue, VA_PART(nr), PART / PAGE), 0);
	for (i = 0; i < PARTS; i++) {
		if (i == nr)
			continue;
		CHECK_RET(bind_unmap(fd, vm, VA_PART(i), PART), 0);
		CHECK_RET(bo_close(fd, handle[i]), 0);
	}
	CHECK_RET(vm_make(mine, &vm), 0);
	CHECK_RET(queue_make(mine, vm, CE, 4, mine_queue), 0);
	CHECK_RET(bo_make_piece(mine, HALF + MIB, 0, &large), 0);
	CHECK_RET(bind_map(mine, vm, large, 0, VA_MORE, HALF + MIB, 0), 0);
	return exec_wait(mine, *mine_queue, NULL, 0) == -ENOSPC;
}

/* Where what is shown is in the way, that is told at once, and nobody's buffers are evicted. */
bool test_evict_stays(void)
{
	uint32_t vm, queue, mine_queue, handle, nr, i;
	int fd, other, mine;
	uint64_t start;

	/* One in the middle is: the allocator begins at an end. */
	for (nr = 0; ; nr++) {
		CHECK(nr < PARTS && module_again(SMALL));
		fd = node_open();
		mine = node_open();
		CHECK(fd >= 0 && mine >= 0);
		if (shown_is_in_way(fd, mine, (PARTS / 2 + nr) % PARTS, &queue, &mine_queue))
			break;
		close(fd);
		close(mine);
	}
	other = others_begin(OTHERS, OTHER);
	start = clk_ns();
	for (i = 0; i < 3; i++)
		CHECK_RET(exec_wait(mine, mine_queue, NULL, 0), -ENOSPC);
	CHECK(clk_ns() - start < AT_ONCE_NS);
	CHECK(resident_is(other, OTHERS * OTHER));
	/* Something else is shown, at an end. */
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, GR, 4, &queue), 0);
	CHECK_RET(bo_make_piece(fd, PAGE, 0, &handle), 0);
	CHECK_RET(bind_map(fd, vm, handle, 0, VA_DATA, PAGE, 0), 0);
	CHECK_RET(present(fd, queue, VA_DATA, 1), 0);
	CHECK_RET(exec_wait(mine, mine_queue, NULL, 0), 0);
	CHECK(resident_is(mine, HALF + MIB));
	close(fd);
	close(mine);
	close(other);
	return module_again(NULL);
}

static void on_alarm(int signal)
{
	(void)signal;
}

/*
 * More buffers in one piece than find room, though they are fewer bytes than there are: each is in
 * the way of another. Who waits for room looks for signals, and holds up nobody.
 */
bool test_evict_crowd(void)
{
	/* The first signal may come before the call. */
	const struct itimerval often = { { .tv_sec = 5 }, { .tv_sec = 5 } }, never = {};
	struct sigaction action = { .sa_handler = on_alarm };
	struct drm_vgpu_exec exec = { 0 };
	uint32_t vm, handle, i;
	int fd;

	CHECK(module_again(SMALL));
	fd = node_open();
	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &exec.queue_id), 0);
	for (i = 0; i < CROWD; i++) {
		CHECK_RET(bo_make_piece(fd, CROWDED, vm, &handle), 0);
		CHECK_RET(bind_map(fd, vm, handle, 0, VA_DATA + i * 2 * CROWDED, CROWDED, 0), 0);
	}
	CHECK(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &often, NULL));
	CHECK(ioctl(fd, DRM_IOCTL_VGPU_EXEC, &exec) < 0 && errno == EINTR);
	CHECK(!setitimer(ITIMER_REAL, &never, NULL));
	close(fd);
	return module_again(NULL);
}

/*
 * Page tables take the place of buffers in the upper half, also where others were used before them:
 * so a piece of half of the framebuffer is left.
 */
bool test_evict_tables(void)
{
	uint32_t vm, queue, handle[HALVES], page, i;
	int fd, mine;

	CHECK(module_again(SMALL));
	fd = node_open();
	mine = node_open();
	CHECK(fd >= 0 && mine >= 0);
	/* They come from above: half of them are used once more. */
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
	for (i = 0; i < HALVES; i++)
		CHECK_RET(bo_make(fd, PART, FRAMEBUFFER, 0, &handle[i]), 0);
	CHECK(resident_is(fd, HALVES * PART));
	for (i = 0; i < HALVES / 2; i++)
		CHECK_RET(bind_map(fd, vm, handle[i], 0, VA_PART(i), PART, 0), 0);
	CHECK_RET(exec_wait(fd, queue, NULL, 0), 0);
	CHECK_RET(vm_make(mine, &vm), 0);
	CHECK_RET(queue_make(mine, vm, CE, 4, &queue), 0);
	CHECK_RET(bo_make(mine, PAGE, SYSTEM, 0, &page), 0);
	for (i = 0; i < TABLES; i++)
		CHECK_RET(bind_map(mine, vm, page, 0, VA_MORE + i * 2 * MIB, PAGE, 0), 0);
	CHECK(fdinfo_of(fd, "drm-resident-vram") < HALVES * PART);
	CHECK_RET(bo_make_piece(mine, 2 * LARGE, 0, &page), 0);
	CHECK_RET(bind_map(mine, vm, page, 0, VA_DATA, 2 * LARGE, 0), 0);
	CHECK_RET(exec_wait(mine, queue, NULL, 0), 0);
	CHECK(resident_is(mine, 2 * LARGE));
	close(mine);
	close(fd);
	return module_again(NULL);
}

/* Wants more framebuffer than is free, until it is killed. */
static void want_much(void)
{
	uint32_t vm, queue, handle;
	int fd = node_open();

	CHECK(fd >= 0);
	CHECK_RET(vm_make(fd, &vm), 0);
	CHECK_RET(queue_make(fd, vm, CE, 4, &queue), 0);
	CHECK_RET(bo_make(fd, TOO_MUCH, FRAMEBUFFER, 0, &handle), 0);
	CHECK_RET(bind_map(fd, vm, handle, 0, VA_DATA, TOO_MUCH, 0), 0);
	CHECK_RET(exec(fd, queue, NULL, 0, 0, 0), 0);
	_exit(0);
}

/* Who is killed while it evicts thousands of buffers evicts no more than the one under way. */
bool test_evict_killed(void)
{
	uint64_t at_kill, at_end;
	int other, status;
	pid_t pid;

	CHECK(module_again(SMALL));
	other = others_begin(PAGES, PAGE);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		want_much();
	while (fdinfo_of(other, "drm-resident-vram") > (PAGES - 32) * PAGE)
		CHECK(!waitpid(pid, &status, WNOHANG));
	kill(pid, SIGKILL);
	at_kill = fdinfo_of(other, "drm-resident-vram");
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	at_end = fdinfo_of(other, "drm-resident-vram");
	say("evict_killed: %llu of %u buffers are left, %llu when it was killed",
	    (unsigned long long)(at_end / PAGE), PAGES, (unsigned long long)(at_kill / PAGE));
	/* There was much to do. */
	CHECK(at_kill > PAGES * PAGE / 2);
	CHECK(at_kill - at_end <= 2 * PAGE);
	close(other);
	return module_again(NULL);
}
