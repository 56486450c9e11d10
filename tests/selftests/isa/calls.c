// SPDX-License-Identifier: GPL-2.0
/*
 * What compilers make calls of memcpy(), memmove(), memset() and memcmp() of, though there is no
 * library: objects that are copied and cleared, loops that look like one of these. Each work-item
 * writes down what came of it.
 */
#define VGPU_PRIVATE_BYTES	4096
#include <vgpu_device.h>

#define WORDS	37

struct object {
	uint32_t word[WORDS];
};

struct calls_args {
	struct vgpu_device_log *log;
	struct object *object;
	uint32_t *out;
};

static uint32_t sum_of(const struct object *object)
{
	uint32_t sum = 0, i;

	for (i = 0; i < WORDS; i++)
		sum = 31 * sum + object->word[i];
	return sum;
}

/* By loops that compilers know, and by name. */
static uint32_t move_and_compare(struct object *object, uint32_t by)
{
	struct object copy = *object;
	uint32_t i, same;

	for (i = 0; i + by < WORDS; i++)
		copy.word[i] = copy.word[i + by];
	__builtin_memmove(object->word, object->word + by, sizeof(*object) - 4 * by);
	same = !__builtin_memcmp(&copy, object, sizeof(copy));
	__builtin_memmove(object->word + by, object->word, sizeof(*object) - 4 * by);
	for (i = WORDS - 1; i >= by; i--)
		copy.word[i] = copy.word[i - by];
	same += 2 * !__builtin_memcmp(&copy, object, sizeof(copy));
	copy.word[WORDS - 1] ^= 0x80000000;
	same += 4 * (__builtin_memcmp(&copy, object, sizeof(copy)) < 0) +
		8 * (__builtin_memcmp(object, &copy, sizeof(copy)) > 0);
	return same;
}

/* @object has WORDS words for each work-item, of which the last one has its highest bit set. */
VGPU_KERNEL(calls, "log log, buf object, buf out")
{
	uint32_t id = vgpu_global_id(0), i;
	struct object mine = args->object[id], cleared = { { 0 } };
	uint32_t *out = args->out + 4 * (uint64_t)id;

	for (i = 0; i < WORDS; i++)
		mine.word[i] = 0x01010101 * i + id;
	mine.word[WORDS - 1] |= 0x80000000;
	args->object[id] = mine;
	out[0] = sum_of(&args->object[id]);
	out[1] = move_and_compare(&mine, 1 + id % 5);
	out[2] = sum_of(&mine);
	args->object[id] = cleared;
	out[3] = sum_of(&args->object[id]);
	if (id == 3)
		vgpu_printf(args->log, "%s %u: %p %hd %c %.1f %ld\n", "item", id, (void *)args->out,
			    (short)-7, 'x', 2.5f, -1L);
}
