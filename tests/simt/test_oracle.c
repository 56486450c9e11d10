// SPDX-License-Identifier: GPL-2.0
/*
 * Random sequences of instructions (oracle.py) leave the same registers, floats, flags and memory
 * when qemu-riscv64 runs them and when the interpreter does: with many lanes and with one, stopped
 * at random and after every instruction, on each instruction set of the CPU. Floats both exact and,
 * with the text's accesses to fcsr removed, fast.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "vgpu_test.h"

#include "simt_host.h"

#define BLOCKS		32
#define QEMU		"qemu-riscv64"
#define QEMU_CPU	"rv64,zba=true,zbb=true,zbs=true"
#define CASES_MAX	32768
#define LOCAL_BYTES	1800	/* words 0 to 3 of block 32 are the last: oracle_frame.S */
#define PRIVATE_BYTES	64

/* These three as in oracle_frame.S. */
struct block {
	u64 x[32];
	u64 f[32];
	u64 fcsr;
	u64 pad[3];
	u8 mem[480];
};

struct work {
	u64 sequence;
	u64 pad[127];
	struct block blocks[BLOCKS];
};

struct oracle_case {
	u64 va;
	u64 traits;
	char name[8];
};

#define HAS_FCSR	1
#define HAS_FLOATS	2

struct oracle_patch {
	u64 va;
	u64 word;
};

static struct simt_host exact, fast;
static struct oracle_case cases[CASES_MAX];
static int nr_cases, to_qemu, from_qemu;
static u64 seed;

static u64 random_integer(void)
{
	static const u64 special[] = {
		0, 1, ~0ULL, S32_MAX, (u64)S32_MIN, U32_MAX, 1ULL << 32, S64_MAX, 1ULL << 63,
	};

	switch (random_next(&seed) % 4) {
	case 0:
		return special[random_next(&seed) % ARRAY_SIZE(special)];
	case 1:
		return (s64)(s32)random_next(&seed);
	case 2:
		return random_next(&seed) >> random_next(&seed) % 64;
	default:
		return random_next(&seed);
	}
}

static u64 random_single(void)
{
	static const u32 special[] = {
		0, 1, 0x7fffff, 0x800000, 0x3f800000, 0x3f800001, 0x4f000000, 0x5f000000,
		0x7f7fffff, 0x7f800000, 0x7fc00000, 0x7f800001, 0x3effffff, 0x33800000,
	};
	u64 bits = random_next(&seed), box = random_next(&seed) % 16 ? U32_MAX : bits >> 32;

	if (bits >> 60 < 4)
		return box << 32 | special[bits % ARRAY_SIZE(special)] | (bits >> 1 & 0x80000000);
	if (bits >> 60 < 10)	/* near 1 */
		bits = (bits & 0x807fffff) | (0x3b800000 + (bits >> 40 & 0xf) * 0x800000);
	return box << 32 | (u32)bits;
}

static u64 random_double(void)
{
	static const u64 special[] = {
		0, 1, 0xfffffffffffffULL, 1ULL << 52, 0x3ff0000000000000ULL, 0x3ff0000000000001ULL,
		0x41dfffffffc00000ULL, 0x43e0000000000000ULL, 0x43f0000000000000ULL,
		0x7fefffffffffffffULL, 0x7ff0000000000000ULL, 0x7ff8000000000000ULL,
		0x7ff0000000000001ULL, 0x3810000000000000ULL, 0x47efffffe0000000ULL,
		0x36a0000000000000ULL, 0x380fffffffffffffULL,
	};
	u64 bits = random_next(&seed), exp = random_range(&seed, 1023 - 8, 1023 + 8);

	switch (random_next(&seed) % 4) {
	case 0:
		return special[bits % ARRAY_SIZE(special)] | (bits & 1ULL << 63);
	case 1:
		return (bits & 0x800fffffffffffffULL) | exp << 52;
	case 2:	/* that of a single */
		exp = random_range(&seed, 1023 - 155, 1023 + 130);
		return (bits & 0x800fffffe0000000ULL) | exp << 52;
	default:
		return bits;
	}
}

static void random_block(struct block *block, bool flags)
{
	u64 at;
	u32 i;

	memset(block, 0, sizeof(*block));
	for (i = 1; i < 31; i++)
		block->x[i] = random_integer();
	for (i = 0; i < 32; i++)
		block->f[i] = random_next(&seed) & 1 ? random_single() : random_double();
	for (i = 0; i < sizeof(block->mem); i += 8) {
		at = i % 3 ? random_integer() : random_double();
		memcpy(&block->mem[i], &at, 8);
	}
	if (flags)
		block->fcsr = random_range(&seed, 0, 4) << 5 | (random_next(&seed) & 31);
}

static void random_work(struct work *work, const struct oracle_case *c, bool flags)
{
	int i;

	memset(work, 0, sizeof(*work));
	work->sequence = c->va;
	for (i = 0; i < BLOCKS; i++)
		random_block(&work->blocks[i], flags);
}

static void transfer(int fd, struct work *work, bool out)
{
	size_t done = 0;
	ssize_t n;

	for (; done < sizeof(*work); done += n) {
		n = out ? write(fd, (char *)work + done, sizeof(*work) - done) :
			  read(fd, (char *)work + done, sizeof(*work) - done);
		check_that(n > 0, "sequence at %#llx: " QEMU " has ended",
			   (unsigned long long)work->sequence);
	}
}

static void start_qemu(void)
{
	int in[2], out[2];

	assert_int_equal(pipe(in) | pipe(out), 0);
	if (!fork()) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execlp(QEMU, QEMU, "-cpu", QEMU_CPU, ORACLE_ELF, (char *)NULL);
		perror(QEMU " (package qemu-user)");
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	to_qemu = in[1];
	from_qemu = out[0];
}

/* How the interpreter is to run. */
struct run {
	const struct simt_isa *isa;
	u32 first, items, budget, waits;
};

static void compare(const struct oracle_case *c, const struct run *run, const struct work *want,
		    const struct work *got, bool flags)
{
	const u64 *w = (const u64 *)want->blocks, *g = (const u64 *)got->blocks;
	u32 i, word, end = sizeof(want->blocks) / 8;

	for (i = 0; i < end; i++) {
		word = i % (sizeof(struct block) / 8);
		if (w[i] == g[i] || word == 65 || (word == 64 && !flags))
			continue;
		check_that(false, "%.8s at %#llx on %s, %u items from %u, budget %u: block %u, %s %u: %#llx, not %#llx",
			   c->name, (unsigned long long)c->va, run->isa->name, run->items,
			   run->first, run->budget, (u32)(i / (sizeof(struct block) / 8)),
			   word < 32 ? "x" : word < 64 ? "f" : word == 64 ? "fcsr" : "memory word",
			   word < 64 ? word % 32 : word - 68, (unsigned long long)g[i],
			   (unsigned long long)w[i]);
	}
}

/* Blocks that do not take part keep what they had before. */
static void check_run(struct simt_host *host, const struct oracle_case *c, const struct run *run,
		      const struct work *before, const struct work *after)
{
	static struct work want;
	struct work *got = (struct work *)host->fb;
	struct simt_work dispatch = {
		.entry = (cases[0].va - VGPU_HW_VA_IMAGE) / 4,
		.args = VGPU_HW_VA_GLOBAL + run->first * sizeof(struct block),
		.grid = { run->items, 1, 1 }, .group = { run->items, 1, 1 },
		.local_bytes = LOCAL_BYTES, .private_bytes = PRIVATE_BYTES,
	};
	enum simt_end end;

	memcpy(got, before, sizeof(*got));
	memcpy(&want, before, sizeof(want));
	memcpy(&want.blocks[run->first], &after->blocks[run->first],
	       run->items * sizeof(struct block));
	host->budget = run->budget;
	host->waits = run->waits;
	end = simt_host_run(host, run->isa, &dispatch);
	check_that(end == SIMT_DONE, "%.8s at %#llx on %s, %u items: end %d, fault %d at %#llx (%#llx)",
		   c->name, (unsigned long long)c->va, run->isa->name, run->items, end,
		   host->fault.code, (unsigned long long)host->fault.pc,
		   (unsigned long long)host->fault.addr);
	compare(c, run, &want, got, host == &exact);
}

static void check_case(struct simt_host *host, const struct oracle_case *c)
{
	static struct work before, after;
	const struct simt_isa *isa;
	unsigned int i;

	random_work(&before, c, host == &exact);
	memcpy(&after, &before, sizeof(after));
	transfer(to_qemu, &after, true);
	transfer(from_qemu, &after, false);
	for (i = 0; (isa = simt_host_isa(i)); i++) {
		const struct run runs[] = {
			{ isa, 0, BLOCKS, 10000, 0 },
			{ isa, 0, BLOCKS, 1, 0 },
			{ isa, 5, 13, 0, 101 },
			{ isa, random_next(&seed) % BLOCKS, 1, 10000, 0 },
			{ isa, random_next(&seed) % BLOCKS, 1, 1, 0 },
		};
		u32 k;

		for (k = 0; k < ARRAY_SIZE(runs); k++)
			check_run(host, c, &runs[k], &before, &after);
	}
}

static void test_exact(void **state)
{
	int i;

	for (i = 1; i < nr_cases; i++)
		if (cases[i].traits)
			check_case(&exact, &cases[i]);
}

static void test_fast(void **state)
{
	int i;

	for (i = 1; i < nr_cases; i++)
		if (!(cases[i].traits & HAS_FCSR))
			check_case(&fast, &cases[i]);
}

static size_t read_file(const char *name, void *to, size_t bytes, size_t nr)
{
	FILE *in = fopen(name, "rb");
	size_t n;

	assert_non_null(in);
	n = fread(to, bytes, nr, in);
	assert_int_equal(fgetc(in), EOF);
	fclose(in);
	return n;
}

#define NOP		0x00000013
#define IS_FCSR(word)	(((word) & 0x7f) == 0x73 && (word) >> 20 >= 1 && (word) >> 20 <= 3)

/* Replaces what the interpreter is to run in place of what qemu does, and decodes again. */
static void patch(struct simt_host *host)
{
	static struct oracle_patch patches[CASES_MAX];
	size_t nr = read_file(ORACLE_FILES ".patches", patches, sizeof(*patches), CASES_MAX), i;
	__le32 *text = (__le32 *)host->image;
	u32 n = host->bytes / 4, at;

	for (i = 0; i < nr; i++) {
		at = (patches[i].va - VGPU_HW_VA_IMAGE) / 4;
		text[at] = patches[i].word;
		text[at + 1] = NOP;
		text[at + 2] = NOP;
		text[at + 3] = NOP;
	}
	for (i = 0; host == &fast && i < n; i++)
		if (IS_FCSR(text[i]))
			text[i] = NOP;
	simt_program_init(host->program, n);
	simt_program_decode(host->program, 0, text, n);
	simt_program_finish(host->program);
	assert_int_equal(host->program->exact, host == &exact);
}

static int set_up_host(struct simt_host *host, u32 text_bytes)
{
	if (simt_host_init(host, ORACLE_FILES ".bin", text_bytes,
			   ALIGN(sizeof(struct work), VGPU_HW_PAGE_SIZE)))
		return -1;
	host->seed = seed;
	host->alone = true;
	host->moves = (struct state_moves){ .seed = seed, .one_in = 3000 };
	patch(host);
	return 0;
}

static int set_up(void **state)
{
	FILE *text = fopen(ORACLE_FILES ".bin", "rb");
	long bytes;

	assert_non_null(text);
	fseek(text, 0, SEEK_END);
	bytes = ftell(text);
	fclose(text);
	seed = test_seed();
	nr_cases = read_file(ORACLE_FILES ".cases", cases, sizeof(*cases), CASES_MAX);
	start_qemu();
	return set_up_host(&exact, bytes) || set_up_host(&fast, bytes);
}

static int tear_down(void **state)
{
	int status;

	close(to_qemu);
	assert_true(wait(&status) > 0);
	check_that(status == 0, QEMU " ended with %#x", status);
	simt_host_exit(&exact);
	simt_host_exit(&fast);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_fast),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
