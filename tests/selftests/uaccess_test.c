// SPDX-License-Identifier: GPL-2.0
/*
 * What vgpu and its tests take for granted of the kernel, the lab's own ones included: where a
 * process has one thread whose memory the kernel writes, and another that reads that memory for
 * the first time, the kernel's page of zeros stays zero. Parts of a vGPU's plane that show
 * nothing are that page, and so is fresh memory of all programs.
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clk.h"
#include "fixture.h"
#include "ktap.h"

#define PAGES	256u
#define PAGE	4096u

/* Less than a page, and not from a page's start on: the kernel may treat whole pages better. */
#define AT	64u
#define BYTES	2048u

struct race {
	volatile uint8_t *memory;
	volatile bool stop;
	volatile unsigned long long early;	/* reads that came before the kernel's write */
};

static void *read_ahead(void *arg)
{
	struct race *race = arg;
	unsigned int i;

	while (!race->stop)
		for (i = 0; i < PAGES; i++)
			race->early += race->memory[i * PAGE + AT] == 0;
	return NULL;
}

/* What the kernel, and not this process, finds in fresh memory; and what the process finds. */
static bool zero_is_zero(const int pipes[2], const uint8_t *fresh)
{
	static const uint8_t zero[PAGE];
	uint8_t seen[PAGE];

	return write(pipes[1], fresh, PAGE) == PAGE && read(pipes[0], seen, PAGE) == PAGE &&
	       !memcmp(seen, zero, PAGE) && !memcmp(fresh, zero, PAGE);
}

static void zeros_stay_zero(void)
{
	uint8_t source[BYTES];
	unsigned long long before, first = 0;
	uint64_t end_ms = clk_ms() + 4000;
	struct race race = {};
	pthread_t thread;
	uint8_t *memory, *fresh;
	unsigned int pass, i;
	bool good = true;
	int pipes[2], fd;

	memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fresh = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fd = memfd_create("source", MFD_CLOEXEC);
	memset(source, 0x44, sizeof(source));
	CHECK(memory != MAP_FAILED && fresh != MAP_FAILED && fd >= 0 && !pipe(pipes));
	CHECK_EQ(write(fd, source, BYTES), BYTES);
	CHECK(zero_is_zero(pipes, fresh), "before");

	race.memory = memory;
	CHECK(!pthread_create(&thread, NULL, read_ahead, &race));
	/* Without a read that comes first nothing is tested. */
	for (pass = 0; good && ((pass < 150 && clk_ms() < end_ms) ||
				(!first && clk_ms() < end_ms + FX_TIMEOUT_MS)); pass++) {
		good = !madvise(memory, (size_t)PAGES * PAGE, MADV_DONTNEED);
		before = race.early;
		for (i = 0; good && i < PAGES; i++)
			good = pread(fd, memory + i * PAGE + AT, BYTES, 0) == BYTES;
		first += race.early - before;
		for (i = 0; good && i < PAGES; i++)
			good = !memcmp(memory + i * PAGE + AT, source, BYTES);
		good = good && zero_is_zero(pipes, fresh);
	}
	race.stop = true;
	pthread_join(thread, NULL);
	ktap_note("%u passes, %llu reads came first", pass, first);
	munmap(memory, (size_t)PAGES * PAGE);
	munmap(fresh, PAGE);
	close(fd);
	close(pipes[0]);
	close(pipes[1]);
	CHECK(good, "pass %u", pass);
	CHECK(first, "no read came first");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(zeros_stay_zero),
};

KTAP_MAIN(tests, fx_cleanup)
