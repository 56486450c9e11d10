// SPDX-License-Identifier: GPL-2.0
/*
 * Regions: descriptions that are refused, and random accesses and mappings, checked in wider
 * arithmetic.
 */
#include "function_test.h"

typedef unsigned __int128 wide;

/* The state of all random numbers here; main() sets it. */
static u64 rnd;

static u64 below(u64 limit)
{
	return random_next(&rnd) % limit;
}

/* A number that is likely to be near @edge, or near another edge. */
static u64 hostile(u64 edge)
{
	switch (below(6)) {
	case 0:
		return edge + below(33) - 16;
	case 1:
		return ~0ULL - below(5000);
	case 2:
		return below(5000);
	case 3:
		return random_next(&rnd) >> below(64);
	case 4:
		return (1ULL << below(64)) + below(3) - 1;
	default:
		return edge ? below(edge) : 0;
	}
}

static void test_size(void **state)
{
	assert_int_equal(vgpu_region_size(0), 0);
	assert_int_equal(vgpu_region_size(1), 4096);
	assert_int_equal(vgpu_region_size(4096), 4096);
	assert_int_equal(vgpu_region_size(4097), 8192);
	assert_int_equal(vgpu_region_size(3ULL << 30), 4ULL << 30);
	assert_int_equal(vgpu_region_size(VGPU_REGION_SIZE_MAX), VGPU_REGION_SIZE_MAX);
	assert_int_equal(vgpu_region_size(VGPU_REGION_SIZE_MAX + 1), 0);
	assert_int_equal(vgpu_region_size(~0ULL), 0);
}

static void test_typical(void **state)
{
	struct vgpu_function_desc desc = typical;
	struct vgpu_regions regions;

	assert_int_equal(vgpu_regions_init(&regions, &desc), 0);
	assert_int_equal(vgpu_region_bytes(&regions, 0), 8ULL << 30);
	assert_int_equal(vgpu_region_bytes(&regions, 1), 0);
	assert_int_equal(vgpu_region_bytes(&regions, 2), 0x20000);
	assert_int_equal(vgpu_region_bytes(&regions, 4), 16 * 4096);
	assert_int_equal(vgpu_region_bytes(&regions, 6), 0);
	assert_int_equal(vgpu_region_bytes(&regions, 7), 4096);
	assert_int_equal(vgpu_region_bytes(&regions, 8), 0);
	assert_int_equal(vgpu_region_bytes(&regions, 9), 64 + 1024);
	assert_int_equal(vgpu_region_bytes(&regions, 10), 1280 * 1024 * 4);
	assert_int_equal(vgpu_region_bytes(&regions, 11), 0);
	assert_int_equal(vgpu_region_bytes(&regions, ~0U), 0);
	assert_int_equal(vgpu_region_count(&regions), 11);

	desc.plane_bytes = 0;
	assert_int_equal(vgpu_regions_init(&regions, &desc), 0);
	assert_int_equal(vgpu_region_bytes(&regions, 9), 0);
	assert_int_equal(vgpu_region_bytes(&regions, 10), 0);
	assert_int_equal(vgpu_region_count(&regions), 9);
}

/* Each of these breaks one rule of a good description. */
static void test_refused(void **state)
{
	struct vgpu_function_desc desc[16];
	struct vgpu_regions regions;
	unsigned int i;

	for (i = 0; i < 16; i++)
		desc[i] = typical;
	desc[0].region[5].owned_bytes = 4096;
	desc[1].region[1].owned_bytes = 4096;
	desc[2].region[2].owned_bytes = 0x80000001ULL;
	desc[3].region[0].owned_bytes = VGPU_REGION_SIZE_MAX + 1;
	desc[4].msix_bar = 6;
	desc[5].msix_bar = 1;
	desc[6].msix_bar = 4;
	desc[7].msix_table = 0x2010;
	desc[8].msix_pba = 0x2804;
	desc[9].msix_pba = 0x21f8;
	desc[10].msix_pba = 0x3000;
	desc[11].msix_pba = 0x1800;
	desc[12].msix_table = 0x20000;
	desc[12].msix_pba = 0x20800;
	desc[13].vectors = 0xffff;
	desc[14].plane_bytes = 4095;
	desc[15].plane_bytes = VGPU_REGION_SIZE_MAX + 4096;
	for (i = 0; i < 16; i++) {
		if (vgpu_regions_init(&regions, &desc[i]) != -EINVAL)
			fail_msg("description %u is not refused", i);
	}

	desc[0] = typical;
	desc[0].region[4].owned_bytes = 0;
	desc[0].region[5].owned_bytes = 4096;
	assert_int_equal(vgpu_regions_init(&regions, &desc[0]), 0);
	desc[0].region[5].flags = VGPU_REGION_64BIT;
	assert_int_equal(vgpu_regions_init(&regions, &desc[0]), -EINVAL);
}

static struct vgpu_function_desc random_desc(void)
{
	struct vgpu_function_desc desc = typical;
	unsigned int bar;

	desc.region[0].owned_bytes = 1 + below(VGPU_REGION_SIZE_MAX >> below(40));
	desc.region[2].owned_bytes = 0x3000 + below(0x20000);
	desc.region[4].owned_bytes = below(3) ? 1 + below(1 << 20) : 0;
	for (bar = 0; bar < VGPU_REGION_MAX; bar += 4) {
		if (!below(4))
			desc.region[bar].flags &= ~VGPU_REGION_MMAP;
	}
	desc.vectors = below(129);
	desc.plane_bytes = below(4) ? (1 + below(40000)) * 4096 : 0;
	return desc;
}

/* The first piece of an access of @left bytes at @offset of a region is what it has to be. */
static void check_piece(const struct vgpu_regions *regions, unsigned int index, u64 offset,
			u64 left, const struct vgpu_piece *piece)
{
	const struct vgpu_region *bar = &regions->bar[index % VGPU_REGION_MAX];
	bool msix = regions->vectors && index == regions->msix_bar &&
		    offset >= regions->msix_page &&
		    offset < regions->msix_page + VGPU_MSIX_PAGE_SIZE;

	assert_true(piece->len >= 1 && piece->len <= left);
	assert_true(piece->len <= VGPU_PIECE_MAX);
	if (index == VGPU_REGION_CONFIG)
		assert_int_equal(piece->target, VGPU_TARGET_CONFIG);
	else if (index == VGPU_REGION_EDID)
		assert_int_equal(piece->target, VGPU_TARGET_EDID);
	else if (index == VGPU_REGION_PLANE)
		assert_int_equal(piece->target, VGPU_TARGET_PLANE);
	else if (offset >= bar->owned)
		assert_int_equal(piece->target, VGPU_TARGET_TAIL);
	else if (bar->memory)
		assert_int_equal(piece->target, VGPU_TARGET_MEMORY);
	else if (msix)
		assert_int_equal(piece->target, VGPU_TARGET_MSIX);
	else
		assert_int_equal(piece->target, VGPU_TARGET_REGISTERS);

	if (piece->target == VGPU_TARGET_MSIX)
		assert_int_equal(piece->offset, offset - regions->msix_page);
	else
		assert_int_equal(piece->offset, offset);

	switch (piece->target) {
	case VGPU_TARGET_MSIX:
	case VGPU_TARGET_REGISTERS:
	case VGPU_TARGET_CONFIG:
	case VGPU_TARGET_EDID:
		assert_true(piece->len <= VGPU_PIECE_WORD_MAX);
		assert_int_equal(piece->len & (piece->len - 1), 0);
		assert_int_equal(offset % piece->len, 0);
		break;
	case VGPU_TARGET_MEMORY:
	case VGPU_TARGET_PLANE:
	case VGPU_TARGET_TAIL:
		assert_int_equal(offset / 4096, (offset + piece->len - 1) / 4096);
		break;
	}
	if (piece->target == VGPU_TARGET_MEMORY || piece->target == VGPU_TARGET_REGISTERS)
		assert_true(offset + piece->len <= bar->owned);
}

static void test_access_random(void **state)
{
	struct vgpu_regions regions;
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		struct vgpu_function_desc desc = random_desc();
		u64 pos, count, offset = 0, size, done, edge;
		unsigned int index = 0, want = below(12);
		int ret;

		assert_int_equal(vgpu_regions_init(&regions, &desc), 0);
		size = vgpu_region_bytes(&regions, want);
		edge = below(2) && want < VGPU_REGION_MAX ? regions.bar[want].owned : size;
		pos = vgpu_region_offset(want) + hostile(edge);
		count = below(2) ? 1 + below(9000) : hostile(size);
		if (!count)
			count = 1;

		ret = vgpu_region_decode(&regions, pos, count, &index, &offset);
		size = vgpu_region_bytes(&regions, pos >> VGPU_REGION_SHIFT);
		if ((wide)(pos % VGPU_REGION_SIZE_MAX) + count > size) {
			assert_int_equal(ret, -EINVAL);
			continue;
		}
		assert_int_equal(ret, 0);
		assert_int_equal(index, pos >> VGPU_REGION_SHIFT);
		assert_int_equal(offset, pos % VGPU_REGION_SIZE_MAX);

		if (count > 20000)
			count = 20000;
		for (done = 0; done < count;) {
			struct vgpu_piece piece;

			vgpu_region_piece(&regions, index, offset + done, count - done, &piece);
			check_piece(&regions, index, offset + done, count - done, &piece);
			done += piece.len;
		}
		assert_int_equal(done, count);
	}
}

/* An aligned access with the width of a register is one piece. */
static void test_access_whole(void **state)
{
	struct vgpu_function_desc desc = typical;
	struct vgpu_regions regions;
	struct vgpu_piece piece;
	u64 width, offset;

	assert_int_equal(vgpu_regions_init(&regions, &desc), 0);
	for (width = 1; width <= 8; width *= 2) {
		for (offset = 0; offset < 0x20000; offset += width) {
			vgpu_region_piece(&regions, 2, offset, width, &piece);
			assert_int_equal(piece.len, width);
		}
	}
	vgpu_region_piece(&regions, 2, 0x1001, 8, &piece);
	assert_int_equal(piece.len, 1);
	vgpu_region_piece(&regions, 2, 0x1002, 8, &piece);
	assert_int_equal(piece.len, 2);
	vgpu_region_piece(&regions, 2, 0x1004, 8, &piece);
	assert_int_equal(piece.len, 4);
}

/* Bytes at the start of a region that can be mapped. */
static u64 mappable(const struct vgpu_regions *regions, unsigned int index)
{
	if (index == VGPU_REGION_PLANE)
		return regions->plane_bytes;
	if (index < VGPU_REGION_MAX && regions->bar[index].memory)
		return regions->bar[index].owned;
	return 0;
}

static void test_map_random(void **state)
{
	struct vgpu_regions regions;
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		struct vgpu_function_desc desc = random_desc();
		unsigned int shift = 12 + 2 * below(3), bar = 99;
		unsigned int want = below(11);
		u64 owned = 0, pgoff, pages, first = ~0ULL;
		bool good = false;
		int ret;

		assert_int_equal(vgpu_regions_init(&regions, &desc), 0);
		owned = mappable(&regions, want);
		pgoff = (vgpu_region_offset(want) >> shift) + hostile(owned >> shift);
		pages = hostile(owned >> shift);
		ret = vgpu_region_map(&regions, pgoff, pages, shift, &bar, &first);

		/* hostile() may have gone to another region. */
		if (pgoff >> (VGPU_REGION_SHIFT - shift) <= VGPU_REGION_PLANE) {
			wide start = (wide)pgoff << shift;
			wide end = start + ((wide)pages << shift);
			wide base;

			want = pgoff >> (VGPU_REGION_SHIFT - shift);
			base = vgpu_region_offset(want);
			good = pages && start >= base &&
			       end <= base + (mappable(&regions, want) >> shift << shift);
		}
		assert_int_equal(ret, good ? 0 : -EINVAL);
		if (!good)
			continue;
		assert_int_equal(bar, want);
		assert_int_equal(first, pgoff - (vgpu_region_offset(want) >> shift));
	}
}

static void test_window_random(void **state)
{
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		u64 batch = 1ULL << below(5);
		u64 low = random_next(&rnd) >> 12 >> below(50);
		u64 high = low + 1 + below(100);
		u64 page = low + below(high - low);
		u64 start, nr;

		vgpu_region_window(page, low, high, batch, &start, &nr);
		assert_true(start >= low && start + nr <= high);
		assert_true(start <= page && page < start + nr);
		assert_true(nr <= batch);
		assert_int_equal(start / batch, page / batch);
		assert_int_equal((start + nr - 1) / batch, page / batch);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_typical),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_access_random),
		cmocka_unit_test(test_access_whole),
		cmocka_unit_test(test_map_random),
		cmocka_unit_test(test_window_random),
	};

	rnd = test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
