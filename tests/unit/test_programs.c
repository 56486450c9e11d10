// SPDX-License-Identifier: GPL-2.0
/*
 * Decoded programs: which ones are found, which make room; that an invalidation makes them useless
 * wherever they are at that moment, under random interleavings (tasks.h); that memory is counted.
 */
#include "vgpu_test.h"

#include <linux/slab.h>

#include "soft/work/native.h"
#include "soft/work/programs.h"
#include "tasks.h"

#define LEAST	0x4000u		/* what a program counts for at least */
#define MOST	1024u		/* so there are so many of them */

/* Code of the CPU is an address here, and @freed the last one. */
static struct simt_native *freed;

void soft_native_free(struct simt_native *native)
{
	if (native)
		freed = native;
}

static struct soft_program_key key_of(u32 root, u64 image, u32 text_bytes)
{
	return (struct soft_program_key) { .root = root, .image = image, .text_bytes = text_bytes };
}

/* Begins to make a program, or returns NULL if there is no room. */
static struct soft_program *begin(struct soft_programs *programs,
				  const struct soft_program_key *key, size_t bytes)
{
	struct soft_program *program;

	bytes = soft_programs_take(programs, bytes);
	if (!bytes)
		return NULL;
	program = kzalloc(sizeof(*program), GFP_KERNEL);
	program->key = *key;
	program->bytes = bytes;
	soft_programs_begin(programs, program);
	return program;
}

static struct soft_program *make(struct soft_programs *programs, u64 image)
{
	struct soft_program_key key = key_of(0, image, 4);
	struct soft_program *program = begin(programs, &key, 1);

	if (program)
		soft_programs_end(programs, true);
	return program;
}

static bool found(struct soft_programs *programs, u64 image)
{
	struct soft_program_key key = key_of(0, image, 4);
	struct soft_program *program = soft_programs_find(programs, &key);

	if (program) {
		check_that(program->key.image == image, "%#llx", program->key.image);
		soft_programs_put(programs, program);
	}
	return program;
}

static void end(struct soft_programs *programs)
{
	soft_programs_drop(programs);
	assert_int_equal(programs->bytes, 0);
	assert_true(list_empty(&programs->list));
	sim_end();
}

static void test_room(void **state)
{
	struct soft_program *program[MOST];
	struct soft_programs programs = { };
	u64 i;

	sim_begin(1, 0);
	soft_programs_init(&programs);
	for (i = 0; i < MOST; i++) {
		program[i] = make(&programs, i * 4096);
		assert_non_null(program[i]);
	}
	assert_int_equal(programs.bytes, MOST * LEAST);
	/* All are in use. */
	assert_null(make(&programs, MOST * 4096));
	assert_int_equal(programs.bytes, MOST * LEAST);
	for (i = 0; i < MOST; i++)
		soft_programs_put(&programs, program[i]);

	/* The one that was not used for longest goes: 1, as 0 is found once more. */
	assert_true(found(&programs, 0));
	soft_programs_put(&programs, make(&programs, MOST * 4096));
	assert_true(found(&programs, 0));
	assert_false(found(&programs, 4096));
	for (i = 2; i <= MOST; i++)
		assert_true(found(&programs, i * 4096));
	assert_int_equal(programs.bytes, MOST * LEAST);
	end(&programs);
}

/* Programs of one image, one length or one root each differ in something. */
/* Code of programs counts with them, is bounded for itself, and goes with them. */
static void test_native(void **state)
{
	struct simt_native *code = (struct simt_native *)&code;
	struct soft_programs programs = { };
	struct soft_program *program[3];
	unsigned int i;

	sim_begin(1, 0);
	soft_programs_init(&programs);
	for (i = 0; i < ARRAY_SIZE(program); i++)
		program[i] = make(&programs, i * 4096);
	assert_true(soft_programs_add(&programs, program[0], 0x100000));
	program[0]->native = code;
	assert_true(soft_programs_add(&programs, program[1], 0x100000 - 1));
	program[1]->native = code + 1;
	assert_int_equal(programs.bytes, 3 * LEAST + 0x200000 - 1);
	assert_false(soft_programs_add(&programs, program[2], 2));
	assert_int_equal(programs.bytes, 3 * LEAST + 0x200000 - 1);

	/* One that is in use goes when it is not any more. */
	soft_programs_put(&programs, program[1]);
	freed = NULL;
	soft_programs_invalidate(&programs, 0);
	assert_ptr_equal(freed, code + 1);
	assert_int_equal(programs.bytes, 2 * LEAST + 0x100000);
	soft_programs_put(&programs, program[0]);
	assert_ptr_equal(freed, code);
	soft_programs_put(&programs, program[2]);
	assert_ptr_equal(freed, code);
	assert_int_equal(programs.bytes, 0);
	assert_int_equal(programs.native_bytes, 0);
}

static void test_keys(void **state)
{
	static const u32 roots[] = { 0, 1U << 31, 1U << 31 | 1, ~0U };
	struct soft_programs programs = { };
	struct soft_program *program;
	struct soft_program_key key;
	unsigned int r, i, t, round;

	sim_begin(2, 0);
	soft_programs_init(&programs);
	for (round = 0; round < 2; round++)
		for (r = 0; r < ARRAY_SIZE(roots); r++)
			for (i = 0; i < 16; i++)
				for (t = 4; t <= 64; t += 4) {
					key = key_of(roots[r], i * 4096ULL, t);
					program = soft_programs_find(&programs, &key);
					assert_int_equal(!program, !round);
					if (!program) {
						program = begin(&programs, &key, LEAST);
						soft_programs_end(&programs, true);
					}
					assert_memory_equal(&program->key, &key, sizeof(key));
					soft_programs_put(&programs, program);
				}
	end(&programs);
}

/* Guests do not lay out memory so that hashes are the same; where they do it is their own time. */
static void test_search_is_short(void **state)
{
	static const u64 steps[] = { 4096, 8192, 65536, 1 << 20, 1 << 21, 1 << 24 };
	struct soft_programs programs;
	struct hlist_node *node;
	unsigned int s, i, nr, most;

	for (s = 0; s < ARRAY_SIZE(steps); s++) {
		memset(&programs, 0, sizeof(programs));
		sim_begin(3, 0);
		soft_programs_init(&programs);
		for (i = 0; i < MOST; i++)
			soft_programs_put(&programs, make(&programs, i * steps[s]));
		for (i = 0, most = 0; i < ARRAY_SIZE(programs.table); i++) {
			for (nr = 0, node = programs.table[i].first; node; node = node->next)
				nr++;
			most = max(most, nr);
		}
		check_that(most <= 16, "step %#llx: %u programs of one hash", steps[s], most);
		end(&programs);
	}
}

/* A guest that comes with 100000 programs: the memory is bounded, and the last ones are there. */
static void test_many(void **state)
{
	struct soft_programs programs = { };
	u64 i;

	sim_begin(1, 0);
	soft_programs_init(&programs);
	for (i = 0; i < 100000; i++) {
		soft_programs_put(&programs, make(&programs, i * 4096));
		check_that(programs.bytes <= MOST * LEAST, "%zu bytes", (size_t)programs.bytes);
	}
	for (i = 0; i < 100000; i += i < 98000 ? 97 : 1)
		check_that(found(&programs, i * 4096) == (i >= 100000 - MOST), "program %llu",
			   (unsigned long long)i);
	end(&programs);
}

static void test_invalidate(void **state)
{
	struct soft_program *used, *making;
	struct soft_program_key key = key_of(5, 0x1000, 8), other = key_of(6, 0x1000, 8);
	struct soft_programs programs = { };

	sim_begin(4, 0);
	soft_programs_init(&programs);
	used = begin(&programs, &key, LEAST);
	soft_programs_end(&programs, true);
	soft_programs_invalidate(&programs, 6);
	assert_ptr_equal(soft_programs_find(&programs, &key), used);
	soft_programs_put(&programs, used);
	soft_programs_invalidate(&programs, 5);
	assert_null(soft_programs_find(&programs, &key));
	/* It is there until its last use ends. */
	assert_int_equal(programs.bytes, LEAST);
	soft_programs_put(&programs, used);
	assert_int_equal(programs.bytes, 0);

	/* While it is being made: of the same address space, and of another. */
	making = begin(&programs, &key, LEAST);
	soft_programs_invalidate(&programs, 5);
	soft_programs_end(&programs, true);
	assert_null(soft_programs_find(&programs, &key));
	soft_programs_put(&programs, making);
	making = begin(&programs, &other, LEAST);
	soft_programs_invalidate(&programs, 5);
	soft_programs_end(&programs, true);
	assert_ptr_equal(soft_programs_find(&programs, &other), making);
	soft_programs_put(&programs, making);
	soft_programs_put(&programs, making);

	/* What could not be made is found by nobody. */
	making = begin(&programs, &key, LEAST);
	soft_programs_end(&programs, false);
	assert_null(soft_programs_find(&programs, &key));
	soft_programs_put(&programs, making);
	soft_programs_give(&programs, soft_programs_take(&programs, LEAST));
	assert_int_equal(programs.bytes, LEAST);
	end(&programs);
}

/**
 * struct world - a guest that changes code, its worker and two engines
 * @memory:   what is in memory, by root: a number that grows
 * @told:     the guest has invalidated all that is older
 * @left:     changes that are still to come
 * @reads:    how often the worker has begun to read a page
 * @reading:  the page that it is reading, by that number; 0: none
 * @hits:     how often engines have found a program
 */
static struct world {
	struct soft_programs programs;
	u32 memory[3];
	u32 told[3];
	unsigned int left;
	u64 reads;
	u64 reading;
	u64 hits;
} world;

static struct soft_program_key random_key(void)
{
	return key_of(sim_random(0, 2), sim_random(0, 3) * 4096, 4);
}

static void invalidate(void)
{
	u32 root = sim_random(0, 2), now;
	u64 reading;

	now = ++world.memory[root];
	sim_yield();
	reading = world.reading;
	soft_programs_invalidate(&world.programs, root);
	/* What is read by old translations is read no more. */
	assert_true(!reading || world.reading != reading);
	world.told[root] = max(world.told[root], now);
}

/* Drops all memory, and then what was made of it, while the worker may be at it. */
static void reset(void)
{
	u32 root;

	for (root = 0; root < ARRAY_SIZE(world.memory); root++)
		world.memory[root]++;
	sim_yield();
	soft_programs_drop(&world.programs);
	memcpy(world.told, world.memory, sizeof(world.told));
}

static int guest(void *unused)
{
	while (world.left--) {
		if (sim_one_in(8))
			reset();
		else
			invalidate();
		sim_sleep(sim_random(1, 2000));
	}
	return 0;
}

/* Reads the text as text.c does, page by page; the number of instructions is the oldest of it. */
static int worker(void *unused)
{
	struct soft_programs *programs = &world.programs;

	while (world.left + 1) {
		struct soft_program_key key = random_key();
		struct soft_program *program = begin(programs, &key, sim_random(1, 8 << 20));
		unsigned int page;

		if (!program) {
			sim_sleep(100);
			continue;
		}
		program->text.nr = U32_MAX;
		for (page = 0; page < 3; page++) {
			mutex_lock(&programs->reading);
			world.reading = ++world.reads;
			program->text.nr = min(program->text.nr, world.memory[key.root]);
			sim_yield();
			world.reading = 0;
			mutex_unlock(&programs->reading);
		}
		soft_programs_end(programs, !sim_one_in(8));
		sim_sleep(sim_random(1, 500));
		soft_programs_put(programs, program);
	}
	return 0;
}

static int engine(void *unused)
{
	while (world.left + 1) {
		struct soft_program_key key = random_key();
		u32 told = world.told[key.root];
		struct soft_program *program = soft_programs_find(&world.programs, &key);

		if (program) {
			world.hits++;
			check_that(program->text.nr >= told, "%u, after %u", program->text.nr,
				   told);
			sim_sleep(sim_random(1, 300));
			assert_memory_equal(&program->key, &key, sizeof(key));
			soft_programs_put(&world.programs, program);
		}
		sim_sleep(sim_random(1, 100));
	}
	return 0;
}

static void test_race(void **state)
{
	int (*const fns[])(void *) = { guest, worker, engine, engine };
	struct task_struct *task[ARRAY_SIZE(fns)];
	unsigned int i, round;
	u64 hits = 0;

	for (round = 0; round < 20; round++) {
		memset(&world, 0, sizeof(world));
		world.left = 300;
		sim_begin(test_seed() + round, 10);
		soft_programs_init(&world.programs);
		for (i = 0; i < ARRAY_SIZE(fns); i++)
			task[i] = sim_spawn(fns[i], NULL, true);
		for (i = 0; i < ARRAY_SIZE(fns); i++)
			sim_join(task[i]);
		hits += world.hits;
		end(&world.programs);
	}
	check_that(hits > 1000, "%llu", hits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_native),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_search_is_short),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_invalidate),
		cmocka_unit_test(test_race),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
