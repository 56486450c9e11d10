// SPDX-License-Identifier: GPL-2.0
/*
 * Records (linux/vgpu_record.h) as such: what was added is read, and no more; each head that is
 * wrong, and records that are cut off at any byte, are refused.
 */
#include "vgpu_test.h"

#include <linux/vgpu_record.h>

static void test_container(void **state)
{
	struct vgpu_records all = {}, same = {};
	static u8 text[VGPU_RECORD_MAX + 100], back[VGPU_RECORD_MAX + 100];
	struct vgpu_record_reader reader;
	u32 index, type;
	const void *data;
	u64 seed = test_seed();
	size_t i;

	for (i = 0; i < sizeof(text); i++)
		text[i] = random_next(&seed);
	for (i = 0; i < 100; i++)
		memset(vgpu_record_add(&all, i + 1, i), i, i);
	vgpu_record_add_bytes(&all, 200, text, sizeof(text));
	vgpu_record_add_bytes(&all, 201, text, 0);
	assert_int_equal(all.error, 0);

	assert_int_equal(vgpu_record_begin(&reader, all.data, all.bytes), 0);
	for (i = 0; i < 100; i++) {
		assert_int_equal(reader.index, i);
		assert_int_equal(vgpu_record_take(&reader, i + 1, "x", i, &data), 0);
		assert_int_equal((uintptr_t)data % VGPU_RECORD_ALIGN, 0);
		check_that(!i || (((u8 *)data)[0] == i && ((u8 *)data)[i - 1] == i), "%zu", i);
	}
	assert_int_equal(vgpu_record_take_bytes(&reader, 200, "x", back, sizeof(back)), 0);
	assert_memory_equal(text, back, sizeof(text));
	assert_int_equal(reader.type, 0);
	assert_int_equal(vgpu_record_take(&reader, 201, "x", 0, &data), -EINVAL);
	assert_string_equal(reader.field, "missing");

	assert_false(vgpu_records_same(&all, &same, &index, &type));
	assert_int_equal(type, 1);
	for (i = 0; i < 100; i++)
		memset(vgpu_record_add(&same, i + 1, i), i, i);
	assert_false(vgpu_records_same(&same, &all, &index, &type));
	check_that(index == 100 && type == 200, "%u %u", index, type);
	vgpu_record_add_bytes(&same, 200, text, sizeof(text));
	assert_true(vgpu_records_same(&all, &same, &index, &type));
	same.data[same.bytes / 4] ^= 1;
	assert_false(vgpu_records_same(&all, &same, &index, &type));
	vgpu_records_free(&all);
	vgpu_records_free(&same);
}

/* Reads all records, and all of their data. Returns their number, or -1 if they are refused. */
static int read_all(const void *data, size_t bytes)
{
	struct vgpu_record_reader reader;
	int nr = 0, ret, sum = 0;
	u32 i;

	for (ret = vgpu_record_begin(&reader, data, bytes); !ret && reader.type; nr++) {
		for (i = 0; i < reader.length; i++)
			sum += ((const u8 *)reader.data)[i];
		ret = vgpu_record_next(&reader);
	}
	check_that(sum >= 0 && (!ret || (reader.record && reader.field)), "no reason");
	return ret ? -1 : nr;
}

static void test_cut(void **state)
{
	struct vgpu_records all = {};
	size_t ends[21] = {}, bytes;
	int i, nr;
	u8 *copy;

	for (i = 0; i < 20; i++) {
		vgpu_record_add(&all, 1 + i, 3 * i);
		ends[i + 1] = all.bytes;
	}
	for (bytes = 0; bytes <= all.bytes; bytes++) {
		/* Of its exact length, so that a byte beyond it is found. */
		copy = malloc(bytes ?: 1);
		memcpy(copy, all.data, bytes);
		nr = read_all(copy, bytes);
		for (i = 0; i <= 20 && ends[i] != bytes; i++)
			;
		check_that(nr == (i <= 20 ? i : -1), "%zu bytes: %d", bytes, nr);
		free(copy);
	}
	vgpu_records_free(&all);
}

static void test_heads(void **state)
{
	static const struct {
		size_t at;
		u8 value;
		const char *field;
	} wrong[] = {
		{ 0, 0, "type" }, { 2, 2, "flags" }, { 3, 1, "flags" }, { 4, 17, "data cut off" },
		{ 6, 0x11, "length" }, { 7, 0xff, "length" }, { 4, 12, "padding" },
	};
	struct vgpu_record_reader reader;
	struct vgpu_records one = {};
	u8 copy[24];
	size_t i;

	memset(vgpu_record_add(&one, 7, 16), 0xee, 16);
	assert_int_equal(one.bytes, sizeof(copy));
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		memcpy(copy, one.data, sizeof(copy));
		copy[wrong[i].at] = wrong[i].value;
		assert_int_equal(vgpu_record_begin(&reader, copy, sizeof(copy)), -EINVAL);
		assert_string_equal(reader.field, wrong[i].field);
		assert_int_equal(reader.type, 0);
	}
	/* What must be known is refused; what need not is skipped. */
	assert_int_equal(vgpu_record_begin(&reader, one.data, one.bytes), 0);
	assert_int_equal(vgpu_record_skip(&reader), -EINVAL);
	memcpy(copy, one.data, sizeof(copy));
	copy[2] = 0;
	assert_int_equal(vgpu_record_begin(&reader, copy, sizeof(copy)), 0);
	assert_int_equal(vgpu_record_skip(&reader), 0);
	assert_int_equal(reader.type, 0);
	vgpu_records_free(&one);
}

/* A structure, and what it has grown to. */
struct early {
	u32 a;
	u32 b;
};

struct grown {
	u32 a;
	u32 b;
	u64 c;
};

/* A record is taken if it is as long as the structure was at first, or longer, up to what it is. */
static void test_grown(void **state)
{
	static const struct grown value = { 0x11111111, 0x22222222, 0x3333333333333333ULL };
	struct vgpu_record_reader reader;
	struct grown record;
	struct early early;
	size_t length;
	int ret;

	for (length = 0; length <= sizeof(value) + 8; length++) {
		struct vgpu_records one = {};
		struct grown want = {};
		bool good = length >= sizeof(early) && length <= sizeof(value);

		memcpy(vgpu_record_add(&one, 7, length), &value, min(length, sizeof(value)));
		assert_int_equal(vgpu_record_begin(&reader, one.data, one.bytes), 0);
		memset(&record, 0xee, sizeof(record));
		ret = vgpu_record_take_struct(&reader, 7, "x", &record, b);
		check_that(ret == (good ? 0 : -EINVAL), "%zu bytes: %d", length, ret);
		check_that(good == !reader.type, "%zu bytes: type %u", length, reader.type);
		if (good) {
			memcpy(&want, &value, length);
			assert_memory_equal(&record, &want, sizeof(record));
		} else {
			assert_string_equal(reader.field, "length");
		}
		/* Who reads the version before does not take what is longer. */
		assert_int_equal(vgpu_record_begin(&reader, one.data, one.bytes), 0);
		ret = vgpu_record_take_struct(&reader, 7, "x", &early, b);
		check_that(ret == (length == sizeof(early) ? 0 : -EINVAL), "%zu bytes: %d", length,
			   ret);
		vgpu_records_free(&one);
	}
	assert_int_equal(vgpu_record_take_struct(&reader, 8, "x", &record, b), -EINVAL);
	assert_string_equal(reader.field, "missing");
}

/* A refusal tells which record it is about: the one that was taken, or that could not be. */
static void test_looked(void **state)
{
	struct vgpu_record_reader reader;
	struct vgpu_records all = {};
	const void *data;
	unsigned int i;

	for (i = 0; i < 3; i++)
		vgpu_record_add(&all, 1 + i, 8);
	assert_int_equal(vgpu_record_begin(&reader, all.data, all.bytes), 0);
	assert_int_equal(vgpu_record_take(&reader, 1, "x", 8, &data), 0);
	assert_int_equal(vgpu_record_refuse(&reader, "x", "field"), -EINVAL);
	assert_int_equal(reader.looked, 0);
	assert_int_equal(vgpu_record_take(&reader, 1, "x", 8, &data), -EINVAL);
	assert_int_equal(reader.looked, 1);
	all.data[2 * 16] = 0;	/* the type of the third one */
	assert_int_equal(vgpu_record_take(&reader, 2, "x", 8, &data), -EINVAL);
	assert_string_equal(reader.field, "type");
	assert_int_equal(reader.looked, 2);

	all.data[2 * 16] = 3;
	assert_int_equal(vgpu_record_begin(&reader, all.data + 16, all.bytes - 16), 0);
	assert_int_equal(vgpu_record_next(&reader), 0);
	assert_int_equal(vgpu_record_skip(&reader), -EINVAL);
	assert_int_equal(reader.looked, 1);
	vgpu_records_free(&all);
}

static void test_too_much(void **state)
{
	struct vgpu_records all = {};
	unsigned int nr = 0;

	assert_null(vgpu_record_add(&all, 1, VGPU_RECORD_MAX + 1));
	assert_int_equal(all.error, -E2BIG);
	assert_null(vgpu_record_add(&all, 1, 1));
	vgpu_records_free(&all);
	while (vgpu_record_add(&all, 1, VGPU_RECORD_MAX))
		nr++;
	assert_int_equal(all.error, -E2BIG);
	assert_int_equal(nr, VGPU_RECORDS_MAX / (VGPU_RECORD_MAX + 8));
	vgpu_records_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_container),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_grown),
		cmocka_unit_test(test_looked),
		cmocka_unit_test(test_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
