// SPDX-License-Identifier: GPL-2.0
/*
 * Address spaces of channels: work comes out right wherever the page tables lead, nothing else can
 * be reached, and what the tables said before an invalidation is in use nowhere after it.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "display.h"
#include "space.h"

#define GR		VGPU_HW_ENGINE_GR
#define CE		VGPU_HW_ENGINE_CE
#define INVALIDATE	(VGPU_HW_DEV_BASE + VGPU_HW_INVALIDATE)

static void begin(uint32_t engine_class)
{
	fx_need("execution");
	space_make();
	chan = fx_chan_in(space, engine_class, 0, RING_VA, 6);
}

static void set_root(uint32_t root)
{
	FX_OK(v.dev, vgpu_reg_write32(v.dev, vgpu_chan_reg(chan->id, VGPU_HW_CHAN_ROOT), root));
}

static uint32_t get_root(void)
{
	uint32_t root;

	FX_OK(v.dev, vgpu_reg_read32(v.dev, vgpu_chan_reg(chan->id, VGPU_HW_CHAN_ROOT), &root));
	return root;
}

static ssize_t write_reg(uint64_t offset, uint64_t value, size_t bytes)
{
	value = htole64(value);
	return vgpu_region_write(v.dev, VGPU_HW_BAR_REGS, offset, &value, bytes);
}

static void registers(void)
{
	static const uint32_t bad[] = { 1, 0x7fffffff, 0x00001000, 0x40000000 };
	uint64_t root, value;
	unsigned int i;

	begin(CE);
	root = vgpu_chan_reg(chan->id, VGPU_HW_CHAN_ROOT);
	CHECK_EQ(get_root(), space->root);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_EQ(write_reg(root, bad[i], 4), -EINVAL, "%#x", bad[i]);
		CHECK_EQ(write_reg(INVALIDATE, bad[i], 4), -EINVAL, "%#x", bad[i]);
	}
	CHECK_EQ(write_reg(root, VGPU_HW_ROOT_VALID, 8), -EINVAL);
	CHECK_EQ(write_reg(root, VGPU_HW_ROOT_VALID, 2), -EINVAL);
	CHECK_EQ(get_root(), space->root);
	CHECK_EQ(vgpu_region_read(v.dev, VGPU_HW_BAR_REGS, INVALIDATE, &value, 4), -ENXIO);
	CHECK_EQ(write_reg(INVALIDATE, 0, 4), 4);
	CHECK_EQ(write_reg(INVALIDATE, ~0u, 4), 4);
	CHECK_EQ(write_reg(INVALIDATE, space->root, 4), 4);
	CHECK_EQ(write_reg(root, ~0u, 4), 4);
	CHECK_EQ(get_root(), ~0u);
	/* An enabled channel keeps what it was enabled with. */
	fx_finish(chan);
	set_root(0);
	fx_finish(chan);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK_EQ(get_root(), 0);
}

/* A channel goes from one address space to another, and to none, by being enabled anew. */
static void latched_at_enable(void)
{
	uint64_t at;

	begin(CE);
	at = chan->ring_addr;
	fx_finish(chan);
	chan->space = NULL;
	chan->ring_addr = (uint64_t)((uint8_t *)chan->ring - v.dev->fb);
	chan->signal_addr -= at - chan->ring_addr;
	set_root(0);
	fx_again(chan);
	fx_finish(chan);
	chan->space = space;
	chan->signal_addr += at - chan->ring_addr;
	chan->ring_addr = at;
	fx_again(chan);
	fx_finish(chan);
}

#define ARENA_PAGES	96u
#define ARENA_BYTES	(ARENA_PAGES * PAGE)
#define ARENA_VA	((1ull << 30) - 40 * PAGE)	/* on both sides of a table's end */

/**
 * struct arena - memory that lies one after the other in virtual addresses only
 * @at:     where each page is for the CPU
 * @shadow: what the CPU has computed for it
 */
static struct {
	uint8_t *at[ARENA_PAGES];
	uint8_t shadow[ARENA_PAGES * 4096];
} arena;

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t was = *a;

	*a = *b;
	*b = was;
}

/* Any order, in which some pages follow the one before: these make pieces of several pages. */
static void arena_shuffle(uint32_t *place)
{
	uint32_t i, k;

	for (i = 0; i < ARENA_PAGES; i++)
		place[i] = i;
	for (i = ARENA_PAGES - 1; i; i--)
		swap(&place[i], &place[fx_random_below(i + 1)]);
	for (i = 1; i < ARENA_PAGES; i++) {
		for (k = i; k < ARENA_PAGES && place[k] != place[i - 1] + 1; k++)
			;
		if (k < ARENA_PAGES && fx_random_below(4))
			swap(&place[i], &place[k]);
	}
}

static void arena_init(uint32_t sys_of_8)
{
	uint64_t fb = fx_fb(&v, ARENA_BYTES, PAGE), i, at;
	uint32_t place[ARENA_PAGES];
	bool sys = false;

	FX_OK(v.dev, vgpu_buf_alloc(v.dev, ARENA_BYTES, &buf));
	arena_shuffle(place);
	for (i = 0; i < ARENA_BYTES; i++)
		arena.shadow[i] = (uint8_t)(i * 7 + i / PAGE);
	for (i = 0; i < ARENA_PAGES; i++) {
		if (!i || place[i] != place[i - 1] + 1)
			sys = fx_random_below(8) < sys_of_8;
		at = place[i] * PAGE;
		arena.at[i] = (sys ? (uint8_t *)buf.ptr : v.dev->fb + fb) + at;
		memcpy(arena.at[i], arena.shadow + i * PAGE, PAGE);
		space_map(ARENA_VA + i * PAGE, sys ? VGPU_SYS(&buf, at) : VGPU_FB(fb + at), PAGE,
			  RW);
	}
}

static void arena_compare(void)
{
	uint64_t i, k;

	for (i = 0; i < ARENA_PAGES; i++) {
		if (!memcmp(arena.at[i], arena.shadow + i * PAGE, PAGE))
			continue;
		for (k = 0; arena.at[i][k] == arena.shadow[i * PAGE + k]; k++)
			;
		FAIL("page %llu differs at %#llx: %#x, not %#x", (unsigned long long)i,
		     (unsigned long long)k, arena.at[i][k], arena.shadow[i * PAGE + k]);
	}
}

/* Rows somewhere in [@low, @high) of the arena, as a packet has them. */
static void random_rows(struct vgpu_hw_packet *p, uint64_t *at, uint32_t *pitch, uint64_t low,
			uint64_t high, unsigned int align)
{
	uint64_t width = le64toh(p->width), rows = le32toh(p->rows), span;

	*pitch = rows > 1 ? (uint32_t)(width + fx_random_below(64) / align * align) : 0;
	span = (rows - 1) * *pitch + width;
	*at = low + fx_random_below((high - low - span) / align + 1) * align;
}

static void random_shape(struct vgpu_hw_packet *p, unsigned int align)
{
	uint64_t rows = fx_random_below(2) ? 1 : 2 + fx_random_below(8);
	uint64_t most = (fx_random_below(3) ? 6000 : ARENA_BYTES / 2 - 8 * 64) / rows;

	p->rows = htole32((uint32_t)rows);
	p->width = htole64((1 + fx_random_below(most / align)) * align);
}

static void random_fill(void)
{
	struct vgpu_hw_packet p = { .type = VGPU_HW_PKT_FILL, .value = (uint32_t)fx_random() };
	uint64_t at, row, i;
	uint32_t pitch;

	random_shape(&p, 4);
	random_rows(&p, &at, &pitch, 0, ARENA_BYTES, 4);
	p.dst = htole64(ARENA_VA + at);
	p.dst_pitch = htole32(pitch);
	for (row = 0; row < le32toh(p.rows); row++)
		for (i = 0; i < le64toh(p.width); i += 4)
			memcpy(arena.shadow + at + row * pitch + i, &p.value, 4);
	FX_OK(v.dev, vgpu_chan_submit(chan, &p, 1));
}

static void random_copy(void)
{
	struct vgpu_hw_packet p = { .type = VGPU_HW_PKT_COPY };
	uint64_t half = ARENA_BYTES / 2, up = fx_random_below(2) * half, dst, src, row;
	uint32_t dst_pitch, src_pitch;

	random_shape(&p, 1);
	random_rows(&p, &dst, &dst_pitch, up, up + half, 1);
	random_rows(&p, &src, &src_pitch, half - up, 2 * half - up, 1);
	p.dst = htole64(ARENA_VA + dst);
	p.src = htole64(ARENA_VA + src);
	p.dst_pitch = htole32(dst_pitch);
	p.src_pitch = htole32(src_pitch);
	for (row = 0; row < le32toh(p.rows); row++)
		memcpy(arena.shadow + dst + row * dst_pitch, arena.shadow + src + row * src_pitch,
		       le64toh(p.width));
	FX_OK(v.dev, vgpu_chan_submit(chan, &p, 1));
}

/* Two pages change places, while the channel does nothing. */
static void arena_swap(void)
{
	uint64_t a = fx_random_below(ARENA_PAGES), b = fx_random_below(ARENA_PAGES), value;
	uint64_t *pa = vgpu_space_entry(space, ARENA_VA + a * PAGE, 0);
	uint64_t *pb = vgpu_space_entry(space, ARENA_VA + b * PAGE, 0);
	uint8_t *at = arena.at[a];

	value = *pa;
	*pa = *pb;
	*pb = value;
	FX_OK(v.dev, vgpu_space_invalidate(space));
	arena.at[a] = arena.at[b];
	arena.at[b] = at;
	memcpy(arena.at[a], arena.shadow + a * PAGE, PAGE);
	memcpy(arena.at[b], arena.shadow + b * PAGE, PAGE);
}

static void random_work(uint32_t engine_class, uint32_t sys_of_8)
{
	uint64_t rounds = fx_env("VGPU_TEST_ROUNDS", 40), i;

	begin(engine_class);
	arena_init(sys_of_8);
	while (rounds--) {
		for (i = 1 + fx_random_below(20); i; i--) {
			if (fx_random_below(3))
				random_copy();
			else
				random_fill();
		}
		fx_finish(chan);
		arena_compare();
		arena_swap();
	}
}

static void work_in_fb(void)
{
	random_work(GR, 0);
}

static void work_in_guest_memory(void)
{
	random_work(CE, 8);
}

static void work_in_both(void)
{
	random_work(CE, 4);
}

/* Leaves of all sizes, at both ends of the virtual addresses. */
static void superpages(void)
{
	uint64_t big = 2 * FX_MIB, at;
	uint8_t *bytes;

	begin(CE);
	at = fx_fb(&v, 2 * big, big);
	space_map(-big, VGPU_FB(at), big, RW);
	space_map(big * 3, VGPU_FB(at), big, RW);
	space_map(big * 4, VGPU_FB(at + big), big, VGPU_HW_PTE_R | VGPU_HW_PTE_W | VGPU_HW_PTE_X);
	space_map(big * 5, VGPU_FB(at + big), PAGE, RW);
	bytes = v.dev->fb + at;
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_VA(-big), 0x11111111, big));
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_VA(4 * big - PAGE), 0x22222222, 2 * PAGE));
	FX_OK(v.dev, vgpu_chan_copy(chan, VGPU_VA(5 * big), VGPU_VA(-PAGE - 8), 16));
	fx_finish(chan);
	fx_check_words(bytes, big - PAGE, 0x11111111);
	fx_check_words(bytes + big - PAGE, PAGE, 0x22222222);
	fx_check_words(bytes + big, 8, 0x11111111);
	fx_check_words(bytes + big + 8, PAGE - 8, 0x22222222);
	if (v.dev->fb_bytes < FX_GIB)
		return;
	/* All of the framebuffer, and only that. */
	space_map(64 * FX_GIB, VGPU_FB(0), FX_GIB, RW);
	FX_OK(v.dev, vgpu_chan_copy(chan, VGPU_VA(64 * FX_GIB + at), VGPU_VA(4 * big), 4));
	fx_finish(chan);
	fx_check_words(bytes, 4, 0x11111111);
	fx_check_words(bytes + 4, 4, 0x11111111);
}

/* Two processes of a guest: the same addresses, different memory. */
static void spaces_are_apart(void)
{
	uint64_t at = fx_fb(&v, 16 * PAGE, PAGE), va = 0x400000, i;
	struct vgpu_space *second;
	struct vgpu_chan *other;
	struct vgpu_fault fault;

	FX_OK(v.dev, vgpu_space_create(v.dev, &second));
	other = fx_chan_in(second, CE, 0, RING_VA, 6);
	space_map(va, VGPU_FB(at), 4 * PAGE, RW);
	FX_OK(v.dev, vgpu_space_map(second, va, VGPU_FB(at + 8 * PAGE), 4 * PAGE, RW));
	space_map(va + 8 * PAGE, VGPU_FB(at + 4 * PAGE), PAGE, RW);
	for (i = 1; i <= 50; i++) {
		FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_VA(va), (uint32_t)i, 4 * PAGE));
		FX_OK(v.dev, vgpu_chan_fill(other, VGPU_VA(va), (uint32_t)~i, 4 * PAGE));
		fx_finish(chan);
		fx_finish(other);
		fx_check_words(v.dev->fb + at, 4 * PAGE, (uint32_t)i);
		fx_check_words(v.dev->fb + at + 8 * PAGE, 4 * PAGE, (uint32_t)~i);
	}
	/* What the one has mapped the other has not. */
	FX_OK(v.dev, vgpu_chan_copy(other, VGPU_VA(va), VGPU_VA(va + 8 * PAGE), 8));
	FX_OK(v.dev, vgpu_chan_wait_fault(other, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_PAGE);
	CHECK_EQ(fault.addr, va + 8 * PAGE);
	fx_finish(chan);
	vgpu_chan_destroy(other);
	vgpu_space_destroy(second);
}

static void two_processes(void)
{
	fx_need_no_quarantine();
	begin(CE);
	spaces_are_apart();
}

/* Puts packets into a ring whose pages are in any order. */
static void put_scattered(const uint32_t *order, const struct vgpu_hw_packet *p)
{
	uint64_t at = (chan->put & ((1u << chan->order) - 1)) * sizeof(*p);

	while (chan->put - vgpu_chan_get(chan) >= 1u << chan->order)
		;
	memcpy((uint8_t *)chan->ring + order[at / PAGE] * PAGE + at % PAGE, p, sizeof(*p));
	CHECK(vgpu_chan_kick(chan, chan->put + 1) >= 0, "%s", vgpu_dev_error(v.dev));
}

static void scattered_ring(void)
{
	static const uint32_t order[] = { 2, 0, 3, 1 };
	struct vgpu_hw_packet p = { .type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_SIGNAL };
	uint64_t ring, i;

	begin(CE);
	vgpu_chan_destroy(chan);
	chan = fx_chan_in(space, GR, 0, 2 * RING_VA, 8);
	ring = (uint64_t)((uint8_t *)chan->ring - v.dev->fb);
	for (i = 0; i < 4; i++)
		space_map(2 * RING_VA + i * PAGE, VGPU_FB(ring + order[i] * PAGE), PAGE, RW);
	FX_OK(v.dev, vgpu_space_invalidate(space));
	p.signal_addr = htole64(chan->signal_addr);
	for (i = 1; i <= 3000; i++) {
		p.signal_value = htole64(i);
		put_scattered(order, &p);
		if (i % 100)
			continue;
		FX_OK(v.dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
		CHECK_EQ(le64toh(*chan->signal), i);
	}
}

/* A surface with a virtual address is shown if it is in one piece. */
static void present(void)
{
	struct picture p = picture_at(DISPLAY_START + 3 * PAGE + 8, 300, 200, 1300), seen;
	uint64_t va = 0x60000000, pages = (picture_span(&p) + 2 * PAGE) / PAGE;
	struct vgpu_hw_packet packet;
	struct vgpu_fault fault;
	const uint8_t *plane;

	fx_need_no_quarantine();
	display_create(&v, fx_default_type());
	plane = display_map(&v);
	begin(GR);
	CHECK(v.dev->fb_next < DISPLAY_START, "no room");
	space_map(va, VGPU_FB(DISPLAY_START + 3 * PAGE), pages * PAGE, VGPU_HW_PTE_R);
	picture_paint(&v, &p);
	seen = p;
	seen.offset = va + 8;
	picture_present(chan, &seen, 0);
	picture_check(&v, plane, &p);

	space_map(va + 5 * PAGE, VGPU_FB(DISPLAY_START), PAGE, VGPU_HW_PTE_R);
	FX_OK(v.dev, vgpu_space_invalidate(space));
	packet = picture_packet(&seen, 0);
	FX_OK(v.dev, vgpu_chan_submit(chan, &packet, 1));
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_PAGE);
	CHECK_EQ(fault.addr, va + 5 * PAGE);
	picture_check(&v, plane, &p);
	display_unmap(&v, plane);
}

/* After a reset there are no tables, and no channel has a root. */
static void reset_forgets(void)
{
	uint64_t at;

	begin(CE);
	at = fx_fb(&v, PAGE, PAGE);
	space_map(0x5000, VGPU_FB(at), PAGE, RW);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_VA(0x5000), 5, PAGE));
	fx_finish(chan);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK_EQ(get_root(), 0);
	vgpu_chan_destroy(chan);
	chan = fx_chan(&v, CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), 6, PAGE));
	fx_finish(chan);
	fx_check_words(v.dev->fb + FX_MIB, PAGE, 6);
	CHECK(fx_is_zero(v.dev->fb + at, PAGE), "the page from before the reset");
}

static const struct ktap_test tests[] = {
	KTAP_TEST(registers),
	KTAP_TEST(latched_at_enable),
	KTAP_TEST(work_in_fb),
	KTAP_TEST(work_in_guest_memory),
	KTAP_TEST(work_in_both),
	KTAP_TEST(superpages),
	KTAP_TEST(two_processes),
	KTAP_TEST(scattered_ring),
	KTAP_TEST(present),
	KTAP_TEST(reset_forgets),
};

KTAP_MAIN(tests, space_cleanup)
