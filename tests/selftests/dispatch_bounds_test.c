// SPDX-License-Identifier: GPL-2.0
/*
 * Each field of a DISPATCH and of the head of its program at the ends of what it may be, and just
 * beyond: what the manual allows is executed, as many groups as the shape has; all else faults.
 */
#include <endian.h>
#include <string.h>

#include "compute.h"

#define IMAGE_AT	(32 * FX_MIB)
#define HEAD_AT		(16 * FX_MIB)
#define PAGE		4096ull

static struct fx_vgpu v;
static struct vgpu_chan *chan;

/**
 * struct shot - a DISPATCH and its head, field by field
 * @grid: as in the packet, also @group, @local, @pad and @dst
 * @magic: as in the head, and what follows
 */
struct shot {
	uint64_t grid[3];
	uint64_t group[3];
	uint64_t local;
	uint64_t pad;
	uint64_t dst;
	uint64_t magic;
	uint64_t image_bytes;
	uint64_t text_bytes;
	uint64_t entry;
	uint64_t image;
	uint64_t private_bytes;
	uint64_t head_pad;
};

static const struct shot good = {
	.grid = { 3, 1, 1 }, .group = { 2, 1, 1 }, .dst = HEAD_AT, .magic = VGPU_HW_PROGRAM_MAGIC,
	.image_bytes = 8192, .text_bytes = 4096, .entry = 0, .image = IMAGE_AT,
	.private_bytes = 64,
};

#define NR_FIELDS	(sizeof(struct shot) / sizeof(uint64_t))
#define FIELD(name)	(offsetof(struct shot, name) / sizeof(uint64_t))

/* Of the field's width: where something begins or ends, or is one or a bit away from that. */
static uint64_t some_value(unsigned int field)
{
	static const uint64_t ends[] = {
		0, 1, 2, 3, 4, 8, 12, 16, 31, 32, 33, 64, 511, 512, 1023, 1024, 4096, 8192,
		VGPU_HW_LOCAL_MAX, VGPU_HW_TEXT_MAX, VGPU_HW_IMAGE_MAX, VGPU_HW_PRIVATE_GROUP_MAX,
		IMAGE_AT, HEAD_AT, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
		1ull << 63, ~0ull,
	};
	uint64_t nr = sizeof(ends) / sizeof(ends[0]), end = fx_random_below(nr + 2), value;

	value = end < nr ? ends[end] : v.dev->fb_bytes - (end > nr ? PAGE : 64);
	if (fx_random_below(3) == 0)
		value += fx_random_below(2) ? 4 : -4ull;
	if (fx_random_below(6) == 0)
		value += fx_random_below(2) ? 1 : -1ull;
	if (field >= FIELD(group) && field < FIELD(local))
		return (uint16_t)value;
	if (field == FIELD(pad))
		return (uint16_t)(value & 1);
	return field == FIELD(dst) || field == FIELD(image) ? value : (uint32_t)value;
}

static bool inside(uint64_t at, uint64_t bytes)
{
	return at <= v.dev->fb_bytes && bytes <= v.dev->fb_bytes - at;
}

/* What the manual says. */
static bool allowed(const struct shot *s)
{
	uint64_t items = s->group[0] * s->group[1] * s->group[2];

	return s->grid[0] && s->grid[1] && s->grid[2] && items && items <= VGPU_HW_GROUP_MAX &&
	       s->local <= VGPU_HW_LOCAL_MAX && !s->pad && s->dst % 64 == 0 && inside(s->dst, 64) &&
	       s->magic == VGPU_HW_PROGRAM_MAGIC && !s->head_pad &&
	       s->image_bytes % 4 == 0 && s->image_bytes <= VGPU_HW_IMAGE_MAX &&
	       s->text_bytes % 4 == 0 && s->text_bytes >= 4 && s->text_bytes <= VGPU_HW_TEXT_MAX &&
	       s->text_bytes <= s->image_bytes && s->entry % 4 == 0 && s->entry < s->text_bytes &&
	       s->image % PAGE == 0 && inside(s->image, s->image_bytes) &&
	       s->private_bytes % 16 == 0 && s->private_bytes <= VGPU_HW_PRIVATE_MAX &&
	       items * s->private_bytes <= VGPU_HW_PRIVATE_GROUP_MAX;
}

static double groups_of(const struct shot *s)
{
	double groups = 1;
	unsigned int i;

	for (i = 0; i < 3; i++)
		groups *= s->group[i] ? (s->grid[i] + s->group[i] - 1) / s->group[i] : 0;
	return groups;
}

static bool apart(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
	return a + a_bytes <= b || b + b_bytes <= a;
}

/* Whether head, instruction and ring are in each other's way: then it is not what it says. */
static bool overlaps(const struct shot *s)
{
	uint64_t ring = vgpu_chan_bytes(chan->order), at = s->image + s->entry;

	return !apart(s->dst, 64, at, 4) || !apart(s->dst, 64, chan->ring_addr, ring) ||
	       !apart(at, 4, chan->ring_addr, ring);
}

static void place(const struct shot *s)
{
	struct vgpu_hw_program head = {
		.magic = htole32((uint32_t)s->magic),
		.image_bytes = htole32((uint32_t)s->image_bytes),
		.text_bytes = htole32((uint32_t)s->text_bytes),
		.entry = htole32((uint32_t)s->entry),
		.image = htole64(s->image),
		.private_bytes = htole32((uint32_t)s->private_bytes),
		.pad = { 0, [8] = htole32((uint32_t)s->head_pad) },
	};
	uint32_t ret = htole32(RV_RET);

	if (s->image % PAGE == 0 && s->entry < VGPU_HW_IMAGE_MAX &&
	    inside(s->image, s->entry + 4) && s->entry % 4 == 0)
		memcpy(v.dev->fb + s->image + s->entry, &ret, sizeof(ret));
	if (inside(s->dst, sizeof(head)))
		memcpy(v.dev->fb + s->dst, &head, sizeof(head));
	compute_invalidate(&v, 0);
}

static void shoot(const struct shot *s)
{
	struct vgpu_hw_packet packet = {
		.type = VGPU_HW_PKT_DISPATCH,
		.dst = htole64(s->dst),
		.src = htole64(fx_random()),
		.grid = { htole32((uint32_t)s->grid[0]), htole32((uint32_t)s->grid[1]),
			  htole32((uint32_t)s->grid[2]) },
		.local_bytes = htole32((uint32_t)s->local),
		.group = { htole16((uint16_t)s->group[0]), htole16((uint16_t)s->group[1]),
			   htole16((uint16_t)s->group[2]) },
		.group_pad = htole16((uint16_t)s->pad),
	};

	FX_OK(v.dev, vgpu_chan_submit(chan, &packet, 1));
}

static void tell(const struct shot *s)
{
	ktap_note("grid %llx %llx %llx group %llx %llx %llx local %llx pad %llx dst %llx",
		  (unsigned long long)s->grid[0], (unsigned long long)s->grid[1],
		  (unsigned long long)s->grid[2], (unsigned long long)s->group[0],
		  (unsigned long long)s->group[1], (unsigned long long)s->group[2],
		  (unsigned long long)s->local, (unsigned long long)s->pad,
		  (unsigned long long)s->dst);
	ktap_note("image %llx bytes %llx text %llx entry %llx private %llx magic %llx pad %llx",
		  (unsigned long long)s->image, (unsigned long long)s->image_bytes,
		  (unsigned long long)s->text_bytes, (unsigned long long)s->entry,
		  (unsigned long long)s->private_bytes, (unsigned long long)s->magic,
		  (unsigned long long)s->head_pad);
}

/* Returns whether it was executed. */
static bool try_shot(const struct shot *s)
{
	bool good_one = allowed(s), faulted;
	double groups = groups_of(s);
	uint64_t before;

	place(s);
	before = compute_counter(&v, "groups ");
	shoot(s);
	if (good_one && groups > 100000) {	/* for ever, nearly */
		FX_OK(v.dev, vgpu_chan_disable(chan));
		FX_OK(v.dev, vgpu_chan_enable(chan));
		return true;
	}
	FX_SOON(vgpu_chan_state(chan) == VGPU_HW_STATE_FAULTED ||
		vgpu_chan_get(chan) == chan->put);
	faulted = vgpu_chan_state(chan) == VGPU_HW_STATE_FAULTED;
	if (faulted == good_one)
		tell(s);
	CHECK(faulted != good_one, "fault %u", le32toh(chan->page->fault_code));
	if (faulted)
		fx_again(chan);
	else
		CHECK_EQ(compute_counter(&v, "groups ") - before, (uint64_t)groups);
	return good_one;
}

static void every_field_at_its_ends(void)
{
	uint64_t rounds = fx_env("VGPU_TEST_ROUNDS", 2000), i, nr, executed = 0;
	struct shot s;

	fx_need_no_quarantine();
	chan = compute_chan(&v);
	for (i = 0; i < rounds; i++) {
		s = good;
		for (nr = fx_random_below(3); nr != ~0ull; nr--) {
			unsigned int field = (unsigned int)fx_random_below(NR_FIELDS);

			((uint64_t *)&s)[field] = some_value(field);
		}
		if (!overlaps(&s))
			executed += try_shot(&s);
	}
	ktap_note("%llu of %llu executed", (unsigned long long)executed,
		  (unsigned long long)rounds);
	CHECK(executed && executed < rounds, "");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(every_field_at_its_ends),
};

KTAP_MAIN(tests, fx_cleanup)
