// SPDX-License-Identifier: GPL-2.0
/*
 * vgpu-run, which finds the guest's vGPU by itself: what a kernel prints and computes, what is said
 * of its fault, and that a signal stops one that would run for ever.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "process.h"

#define RUN_PROBE	"/vgpu-run", "/probe.elf", "--kernel"
#define RESULT		"/result"

/* Its end must be with @want, as wait() has it, and after it has said @text. */
static bool ends(pid_t pid, int said, int want, const char *text)
{
	if (!process_ends(pid, said, want, text))
		return false;
	say("vgpu-run: ended with status %#x, as it should", (unsigned int)want);
	return true;
}

static bool runs(char *const argv[], int code, const char *text)
{
	int said;
	pid_t pid = process_start(argv, NULL, &said);

	if (pid < 0)
		return failed("fork: %s", strerror(errno));
	return ends(pid, said, W_EXITCODE(code, 0), text);
}

/* The second of two words is 1, in the file of that buffer. */
static bool result_is_right(void)
{
	int fd = open(RESULT, O_RDONLY | O_CLOEXEC);
	uint32_t word[3] = { 7, 7, 7 };
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, word, sizeof(word));
		close(fd);
	}
	return (n == 8 && !word[0] && word[1] == 1) ||
		failed("vgpu-run: its result has %zd bytes, %u, %u", n, word[0], word[1]);
}

static uint32_t state_of(const struct vgpu_hw_channel *page)
{
	return __atomic_load_n(&page->state, __ATOMIC_ACQUIRE);
}

/*
 * Only vgpu-run has a channel, which is the first one, and nobody else stops it: it does so before
 * it dies of that signal.
 */
static bool is_stopped(struct vgpu_dev *dev, int number)
{
	char *const argv[] = { RUN_PROBE, "forever", "--grid", "1", "--arg", "4", NULL };
	const struct vgpu_hw_channel *page = (void *)dev->chan_pages;
	uint64_t end = clk_ms() + WAIT_MS;
	int said;
	pid_t pid = process_start(argv, NULL, &said);

	if (pid < 0)
		return failed("fork: %s", strerror(errno));
	while (clk_ms() < end && (!__atomic_load_n(&page->put, __ATOMIC_ACQUIRE) ||
				  state_of(page) != VGPU_HW_STATE_AWAKE))
		clk_sleep_ms(10);
	clk_sleep_ms(100);
	if (state_of(page) != VGPU_HW_STATE_AWAKE)
		return failed("vgpu-run: the endless kernel is not at work");
	kill(pid, number);
	return ends(pid, said, W_EXITCODE(0, number), "vgpu-run: interrupted") &&
		(state_of(page) == VGPU_HW_STATE_DISABLED ||
		 failed("vgpu-run: has left its channel in state %u", state_of(page)));
}

/* Of the machine's PCI functions completion offers one. */
static bool offers_only(const char *name)
{
	char *const argv[] = { "/vgpu-run", "--complete", "--device", "", NULL };
	size_t n = strlen(name);
	char all[PROCESS_ROOM];
	int said;
	pid_t pid = process_start(argv, NULL, &said);

	if (pid < 0)
		return failed("fork: %s", strerror(errno));
	return (!process_hear(pid, said, all) && !strncmp(all, name, n) && !strcmp(all + n, "\n")) ||
		failed("vgpu-run: offers %s", all);
}

bool vgpu_run_check(struct vgpu_dev *dev)
{
	char *const print[] = { RUN_PROBE, "say", "--grid", "2", "--group", "1", "--arg", "2", NULL };
	char *const store[] = { RUN_PROBE, "poke", "--grid", "1", "--arg", "8>" RESULT,
				"--arg", "4", "--arg", "0", NULL };
	char *const fault[] = { RUN_PROBE, "poke", "--grid", "64", "--arg", "64",
				"--arg", "0x7f00000000", "--arg", "33", NULL };

	return offers_only(dev->name) &&
		runs(print, 0, "item 0: 0.00 -1 100%\nitem 0: 0.50 -1 100%\n"
		    "item 1: 0.00 -1 100%\nitem 1: 0.50 -1 100%\n") &&
		runs(store, 0, "") && result_is_right() &&
		runs(fault, 1, "vgpu-run: kernel poke: page fault in poke+0x") &&
		is_stopped(dev, SIGTERM) && is_stopped(dev, SIGINT) && runs(store, 0, "");
}
