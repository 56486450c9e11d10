// SPDX-License-Identifier: GPL-2.0
/*
 * The monitor: the EDID region, which the device's user reads and writes, by right and by wrong
 * calls. How the guest sees it is in vga_test.c.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>

#include "display.h"
#include "hop.h"
#include "tune.h"

#define BLOCK		128u
#define BLOB_MAX	4096u
#define UP		VFIO_DEVICE_GFX_LINK_STATE_UP
#define DOWN		VFIO_DEVICE_GFX_LINK_STATE_DOWN

#define FIELD(name)	offsetof(struct vfio_region_gfx_edid, name)

static struct fx_vgpu v, other;
static struct display_limits limits;

static ssize_t rd(uint64_t at, void *buf, size_t count)
{
	return vgpu_region_read(v.dev, DISPLAY_EDID, at, buf, count);
}

static ssize_t wr(uint64_t at, const void *buf, size_t count)
{
	return vgpu_region_write(v.dev, DISPLAY_EDID, at, buf, count);
}

static uint32_t field(uint64_t at)
{
	uint32_t value;

	CHECK_EQ(rd(at, &value, 4), 4);
	return value;
}

static ssize_t set(uint64_t at, uint32_t value)
{
	return wr(at, &value, 4);
}

static void begin(const char *type)
{
	display_create(&v, type);
	display_limits(type, &limits);
}

/* Reads all of the blob; returns its length. */
static uint32_t read_blob(uint8_t *blob)
{
	uint32_t bytes = field(FIELD(edid_size));

	CHECK(bytes <= BLOB_MAX, "%u bytes", bytes);
	CHECK_EQ(rd(field(FIELD(edid_offset)), blob, bytes), bytes);
	return bytes;
}

/* As QEMU does it: link down, size, blob, link up. */
static void write_blob(const uint8_t *blob, uint32_t bytes)
{
	CHECK_EQ(set(FIELD(link_state), DOWN), 4);
	CHECK_EQ(set(FIELD(edid_size), bytes), 4);
	CHECK_EQ(wr(field(FIELD(edid_offset)), blob, bytes), bytes);
	CHECK_EQ(set(FIELD(link_state), UP), 4);
}

static void check_fields(void)
{
	uint64_t region = v.dev->region[DISPLAY_EDID].bytes;
	uint32_t at = field(FIELD(edid_offset)), most = field(FIELD(edid_max_size));

	CHECK(at >= sizeof(struct vfio_region_gfx_edid) && at % 4 == 0, "blob at %u", at);
	CHECK(most >= 2 * BLOCK && most % BLOCK == 0 && most <= BLOB_MAX, "%u bytes", most);
	CHECK(at + (uint64_t)most <= region, "%u bytes at %u of %llu", most, at,
	      (unsigned long long)region);
	CHECK(field(FIELD(edid_size)) <= most, "size %u", field(FIELD(edid_size)));
	CHECK_EQ(field(FIELD(max_xres)), limits.width);
	CHECK_EQ(field(FIELD(max_yres)), limits.height);
}

static void check_sums(const uint8_t *blob, uint32_t bytes)
{
	uint8_t sum;
	uint32_t block, i;

	for (block = 0; block < bytes / BLOCK; block++) {
		for (sum = 0, i = 0; i < BLOCK; i++)
			sum += blob[block * BLOCK + i];
		CHECK_EQ(sum, 0, "checksum of block %u", block);
	}
}

/* What every reader of an EDID looks at, by the standard (VESA E-EDID 1.4). */
static void check_edid(const uint8_t *blob, uint32_t bytes)
{
	static const uint8_t header[8] = { 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0 };
	uint32_t width, height;

	CHECK(bytes >= BLOCK && bytes % BLOCK == 0, "%u bytes", bytes);
	CHECK(!memcmp(blob, header, sizeof(header)), "no header");
	CHECK_EQ(blob[18], 1, "version");
	CHECK(blob[19] == 3 || blob[19] == 4, "revision %u", blob[19]);
	CHECK_EQ(bytes, (1 + blob[126]) * BLOCK, "%u extensions", blob[126]);
	check_sums(blob, bytes);
	/* The first detailed timing is the preferred mode, which the type can show. */
	CHECK(blob[54] || blob[55], "the first descriptor is no timing");
	width = blob[56] | (blob[58] & 0xf0) << 4;
	height = blob[59] | (blob[61] & 0xf0) << 4;
	ktap_note("%u bytes, preferred mode %u x %u", bytes, width, height);
	CHECK(width >= 640 && height >= 480 && width <= limits.width && height <= limits.height,
	      "%u x %u", width, height);
}

static void default_monitor(void)
{
	static const char * const types[] = { "1Q", "1B", "1A", "2Q" };
	uint8_t blob[BLOB_MAX];
	unsigned int i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		begin(types[i]);
		check_fields();
		CHECK_EQ(field(FIELD(link_state)), UP);
		check_edid(blob, read_blob(blob));
		fx_close(&v);
		fx_remove(&v);
	}
}

static void random_blob(uint8_t *blob, uint32_t bytes)
{
	while (bytes--)
		*blob++ = (uint8_t)fx_random();
}

/* What has the form of an EDID, of which nobody but its reader knows whether it makes sense. */
static void random_edid(uint8_t *blob, uint32_t bytes)
{
	static const uint8_t header[8] = { 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0 };
	uint32_t block, i;

	random_blob(blob, bytes);
	memcpy(blob, header, sizeof(header));
	blob[126] = (uint8_t)(bytes / BLOCK - 1);
	for (block = 0; block < bytes / BLOCK; block++) {
		uint8_t *last = blob + (block + 1) * BLOCK - 1;

		for (*last = 0, i = 1; i < BLOCK; i++)
			*last -= last[-(int)i];
	}
}

/* They are kept as they were written, also over a reset of the device. */
static void blobs_are_kept(void)
{
	uint8_t blob[BLOB_MAX], back[BLOB_MAX];
	uint32_t most, bytes;
	unsigned int i;

	begin(fx_default_type());
	most = field(FIELD(edid_max_size));
	for (i = 0; i < 40; i++) {
		bytes = i == 0 ? most : BLOCK * (1 + (uint32_t)fx_random_below(most / BLOCK));
		random_edid(blob, bytes);
		write_blob(blob, bytes);
		CHECK_EQ(read_blob(back), bytes);
		CHECK(!memcmp(blob, back, bytes), "%u bytes", bytes);
		check_fields();
	}
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	CHECK_EQ(field(FIELD(link_state)), UP);
	CHECK_EQ(read_blob(back), bytes);
	CHECK(!memcmp(blob, back, bytes), "after a reset");
}

/* Whoever lies about an EDID has no monitor: the link stays down, and says why by its errno. */
static void lies(void)
{
	uint8_t blob[BLOB_MAX], right[BLOB_MAX];
	uint32_t most, bytes, size, i;

	begin(fx_default_type());
	most = field(FIELD(edid_max_size));
	bytes = 2 * BLOCK;
	random_edid(right, most);
	for (i = 0; i < 60; i++) {
		random_edid(right, bytes);
		memcpy(blob, right, most);
		size = bytes;
		switch (i % 6) {
		case 0: /* no header */
			blob[fx_random_below(8)] ^= 1;
			break;
		case 1: /* a wrong sum */
			blob[8 + fx_random_below(bytes - 8)] += 1 + (uint8_t)fx_random_below(255);
			break;
		case 2: /* cut off, in a block or between two */
			size = 1 + (uint32_t)fx_random_below(bytes - 1);
			break;
		case 3: /* longer than it says */
			size = bytes + 1 + (uint32_t)fx_random_below(most - bytes);
			break;
		case 4: /* more extensions than there is room for, with a right sum */
			blob[127] += blob[126];
			blob[126] = 255;
			blob[127] -= blob[126];
			break;
		case 5: /* nothing at all */
			size = 0;
			break;
		}
		CHECK_EQ(set(FIELD(link_state), DOWN), 4);
		CHECK_EQ(set(FIELD(edid_size), size), 4);
		CHECK_EQ(wr(field(FIELD(edid_offset)), blob, most), most);
		CHECK_EQ(set(FIELD(link_state), UP), -EINVAL, "lie %u, size %u", i % 6, size);
		CHECK_EQ(field(FIELD(link_state)), DOWN);
		write_blob(right, bytes);
	}
}

/* By single bytes and in pieces that cross what is a word. */
static void blobs_by_pieces(void)
{
	uint8_t blob[BLOB_MAX], back[BLOB_MAX];
	uint32_t most, at, start, count;

	begin(fx_default_type());
	most = field(FIELD(edid_max_size));
	start = field(FIELD(edid_offset));
	CHECK_EQ(set(FIELD(edid_size), most), 4);
	random_blob(blob, most);
	for (at = 0; at < most; at++)
		CHECK_EQ(wr(start + at, blob + at, 1), 1);
	CHECK_EQ(rd(start, back, most), most);
	CHECK(!memcmp(blob, back, most), "by single bytes");
	for (at = 0; at < most; at += count) {
		count = 1 + (uint32_t)fx_random_below(11);
		if (count > most - at)
			count = most - at;
		random_blob(blob + at, count);
		CHECK_EQ(wr(start + at, blob + at, count), count);
	}
	for (at = 0; at < most; at += count) {
		count = 1 + (uint32_t)fx_random_below(11);
		if (count > most - at)
			count = most - at;
		CHECK_EQ(rd(start + at, back + at, count), count);
	}
	CHECK(!memcmp(blob, back, most), "in pieces");
}

static void link_goes_up_and_down(void)
{
	static const uint32_t bad[] = { 0, 3, 4, 0x80000001, ~0u };
	uint8_t blob[BLOB_MAX], back[BLOB_MAX];
	uint32_t bytes;
	unsigned int i;

	begin(fx_default_type());
	bytes = read_blob(blob);
	for (i = 0; i < 6; i++) {
		CHECK_EQ(set(FIELD(link_state), i % 2 ? UP : DOWN), 4);
		CHECK_EQ(field(FIELD(link_state)), i % 2 ? UP : DOWN);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_EQ(set(FIELD(link_state), bad[i]), -EINVAL, "link state %u", bad[i]);
		CHECK_EQ(field(FIELD(link_state)), UP);
	}
	CHECK_EQ(read_blob(back), bytes);
	CHECK(!memcmp(blob, back, bytes), "the blob has changed");
}

/* No write but one of link_state, edid_size or blob changes anything. */
static void fields_of_the_device(void)
{
	static const uint64_t fields[] = { FIELD(edid_offset), FIELD(edid_max_size),
					   FIELD(max_xres), FIELD(max_yres) };
	static const uint32_t values[] = { 0, 1, 128, 1u << 31, ~0u };
	struct vfio_region_gfx_edid before, after;
	unsigned int i, k;
	uint32_t most;

	begin(fx_default_type());
	CHECK_EQ(rd(0, &before, sizeof(before)), sizeof(before));
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		for (k = 0; k < sizeof(values) / sizeof(values[0]); k++)
			CHECK_EQ(set(fields[i], values[k]), -EINVAL, "field at %llu",
				 (unsigned long long)fields[i]);
		check_fields();
	}
	/* Sizes for which there is no room. */
	most = field(FIELD(edid_max_size));
	CHECK_EQ(set(FIELD(edid_size), most + 1), -EINVAL);
	CHECK_EQ(set(FIELD(edid_size), 1u << 31), -EINVAL);
	CHECK_EQ(set(FIELD(edid_size), ~0u), -EINVAL);
	CHECK_EQ(rd(0, &after, sizeof(after)), sizeof(after));
	CHECK(!memcmp(&before, &after, sizeof(after)), "something has changed");
}

/* Fields by other widths: a half of one is refused, or is that half and no other. */
static void fields_by_parts(void)
{
	struct vfio_region_gfx_edid whole;
	uint8_t part[sizeof(whole)];
	unsigned int at, width;

	begin(fx_default_type());
	CHECK_EQ(rd(0, &whole, sizeof(whole)), sizeof(whole));
	for (width = 1; width <= 8; width *= 2) {
		for (at = 0; at + width <= sizeof(whole); at++) {
			ssize_t n = rd(at, part, width);

			CHECK(n == (ssize_t)width || n == -EINVAL, "%zd of %u at %u", n, width, at);
			if (n > 0)
				CHECK(!memcmp(part, (uint8_t *)&whole + at, width),
				      "%u bytes at %u", width, at);
		}
	}
	memset(part, 0xff, sizeof(part));
	for (width = 1; width <= 8; width *= 2)
		for (at = 0; at + width <= sizeof(whole); at++)
			wr(at, part, width);
	check_fields();
	CHECK(field(FIELD(link_state)) == UP || field(FIELD(link_state)) == DOWN, "link state %#x",
	      field(FIELD(link_state)));
}

/* Blobs that are cut off by the end of their room, or do not fit at all. */
static void beyond_the_end(void)
{
	uint8_t blob[2 * BLOB_MAX], before[BLOB_MAX], back[BLOB_MAX];
	uint64_t region;
	uint32_t most, start, bytes;

	begin(fx_default_type());
	region = v.dev->region[DISPLAY_EDID].bytes;
	most = field(FIELD(edid_max_size));
	start = field(FIELD(edid_offset));
	bytes = read_blob(before);
	random_blob(blob, sizeof(blob));
	CHECK_EQ(wr(region, blob, 1), -EINVAL);
	CHECK_EQ(rd(region, back, 1), -EINVAL);
	CHECK_EQ(wr(region - 4, blob, 8), -EINVAL);
	CHECK_EQ(rd(region - 4, back, 8), -EINVAL);
	CHECK_EQ(wr(region + (1ull << 38), blob, 4), -EINVAL);
	CHECK_EQ(wr(start, blob, region - start + 1), -EINVAL, "larger than the region");
	CHECK_EQ(wr(start, (void *)8, BLOCK), -EFAULT);
	CHECK_EQ(rd(start, (void *)8, BLOCK), -EFAULT);
	CHECK_EQ(read_blob(back), bytes);
	CHECK(!memcmp(before, back, bytes), "a refused write has changed the blob");
	/* Of a write that is too long for the blob nothing is kept behind its room. */
	if (start + most < region) {
		CHECK(wr(start + most, blob, 1) < 0, "a byte behind the blob's room");
		CHECK(wr(start + most - 4, blob, 8) != 8, "across the end of the blob's room");
	}
	/* An empty blob is no monitor; then there is one again. */
	CHECK_EQ(set(FIELD(edid_size), 0), 4);
	CHECK_EQ(field(FIELD(edid_size)), 0);
	write_blob(before, bytes);
	CHECK_EQ(read_blob(back), bytes);
	CHECK(!memcmp(before, back, bytes), "is not back");
}

/* What a user has written is nothing to the next one, nor to another vGPU. */
static void next_user_has_the_default(void)
{
	uint8_t blob[BLOB_MAX], back[BLOB_MAX], mine[BLOB_MAX];
	uint32_t bytes;

	begin("1A");
	bytes = read_blob(blob);
	display_create(&other, "1A");
	random_edid(mine, field(FIELD(edid_max_size)));
	write_blob(mine, field(FIELD(edid_max_size)));
	CHECK_EQ(set(FIELD(link_state), DOWN), 4);
	CHECK_EQ(vgpu_region_read(other.dev, DISPLAY_EDID, field(FIELD(edid_offset)), back, bytes),
		 bytes);
	CHECK(!memcmp(blob, back, bytes), "the other vGPU's");
	fx_close(&v);
	display_open(&v);
	CHECK_EQ(field(FIELD(link_state)), UP);
	CHECK_EQ(read_blob(back), bytes);
	CHECK(!memcmp(blob, back, bytes), "of the former user");
	CHECK_EQ(rd(field(FIELD(edid_offset)), back, field(FIELD(edid_max_size))),
		 field(FIELD(edid_max_size)));
	CHECK(fx_is_zero(back + bytes, field(FIELD(edid_max_size)) - bytes),
	      "of the former user, behind the blob");
}

/* A vGPU that moves takes its monitor along, or that it has none. */
static void moves_with_the_vgpu(void)
{
	uint8_t blob[BLOB_MAX], back[BLOB_MAX];
	uint32_t most, bytes;
	unsigned int i;

	begin(fx_default_type());
	most = field(FIELD(edid_max_size));
	for (i = 0; i < 8; i++) {
		bytes = BLOCK * (1 + (uint32_t)fx_random_below(most / BLOCK));
		random_edid(blob, bytes);
		write_blob(blob, bytes);
		hop(&v, i % 3);
		check_fields();
		CHECK_EQ(field(FIELD(link_state)), UP);
		CHECK_EQ(read_blob(back), bytes);
		CHECK(!memcmp(blob, back, bytes), "%u bytes", bytes);
		CHECK_EQ(set(FIELD(link_state), DOWN), 4);
		hop(&v, i % 3);
		CHECK_EQ(field(FIELD(link_state)), DOWN);
		CHECK_EQ(field(FIELD(edid_size)), 0);
	}
}

/**
 * struct blobs - a thread that reads while two blobs take turns
 * @start: offset of the blob in the region
 * @byte:  each byte must be one of these
 * @bytes: length of the blobs
 * @stop:  the thread is to end
 * @reads: how often it has read
 * @wrong: it has read something else
 */
struct blobs {
	uint32_t start;
	uint8_t byte[2];
	uint32_t bytes;
	volatile bool stop;
	volatile uint64_t reads;
	volatile bool wrong;
};

static void *read_blobs(void *arg)
{
	struct blobs *b = arg;
	uint8_t back[BLOB_MAX];
	uint32_t i;

	for (; !b->stop && !b->wrong; b->reads++) {
		if (rd(b->start, back, b->bytes) != (ssize_t)b->bytes)
			b->wrong = true;
		for (i = 0; i < b->bytes; i++)
			if (back[i] != b->byte[0] && back[i] != b->byte[1])
				b->wrong = true;
	}
	return NULL;
}

/* Writes it at once, by bytes, or with a size that lies; returns whether each call was right. */
static bool write_anyhow(uint32_t start, const uint8_t *blob, uint32_t bytes, unsigned int how)
{
	uint32_t k;

	if (how == 3) {
		for (k = 0; k < bytes; k++)
			if (wr(start + k, blob + k, 1) != 1)
				return false;
		return true;
	}
	return wr(start, blob, bytes) == (ssize_t)bytes &&
	       set(FIELD(edid_size), (uint32_t)fx_random_below(bytes + 1)) == 4 &&
	       set(FIELD(link_state), UP) == -EINVAL && set(FIELD(link_state), DOWN) == 4;
}

static void changed_while_read(void)
{
	struct blobs b = { .byte = { 0x11, 0xee } };
	uint8_t blob[BLOB_MAX];
	pthread_t thread;
	unsigned int i;
	bool good;

	begin(fx_default_type());
	b.start = field(FIELD(edid_offset));
	b.bytes = field(FIELD(edid_max_size));
	memset(blob, b.byte[0], b.bytes);
	CHECK_EQ(wr(b.start, blob, b.bytes), b.bytes);
	CHECK(!pthread_create(&thread, NULL, read_blobs, &b), "thread");
	for (i = 0, good = true; good && !b.wrong && (i < 200 || b.reads < 100); i++) {
		memset(blob, b.byte[i % 2], b.bytes);
		good = write_anyhow(b.start, blob, b.bytes, i % 4);
	}
	b.stop = true;
	pthread_join(thread, NULL);
	ktap_note("%llu reads meanwhile", (unsigned long long)b.reads);
	CHECK(!b.wrong, "a byte of neither blob");
	CHECK(good, "round %u", i);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(default_monitor),
	KTAP_TEST(blobs_are_kept),
	KTAP_TEST(lies),
	KTAP_TEST(blobs_by_pieces),
	KTAP_TEST(link_goes_up_and_down),
	KTAP_TEST(fields_of_the_device),
	KTAP_TEST(fields_by_parts),
	KTAP_TEST(beyond_the_end),
	KTAP_TEST(next_user_has_the_default),
	KTAP_TEST(moves_with_the_vgpu),
	KTAP_TEST(changed_while_read),
};

KTAP_MAIN(tests, tune_cleanup)
