// SPDX-License-Identifier: GPL-2.0
/*
 * The stream of a vGPU that moves: what was made is read, however it is cut; what is wrong in one
 * bit, cut off, repeated or out of order is refused; and what is accepted is within the vGPU.
 */
#include <endian.h>
#include <glob.h>

#include "vgpu_test.h"

#include <linux/crc32.h>
#include <linux/vgpu_record.h>

#include "core/objects/about.h"
#include "vfio/stream.h"

#define FB_PAGES	1000u
#define CHANNELS	16u
#define VECTORS		32u
#define ROOM		0x400000
#define FLIPS		3000
#define CHANGES		30000

/**
 * struct made - a stream that is made
 * @bytes: the stream
 * @nr:    its length
 * @frames: number of frames
 * @at:    where each frame begins, and where the last one ends
 */
struct made {
	u8 bytes[ROOM];
	size_t nr;
	u32 frames;
	size_t at[64];
};

static u64 random_below(u64 *seed, u64 limit)
{
	return random_next(seed) % limit;
}

static struct vgpu_stream_about about(void)
{
	return (struct vgpu_stream_about){
		.magic = VGPU_STREAM_MAGIC,
		.version = htole16(VGPU_STREAM_VERSION),
		.least = htole16(1),
		.hw_version = htole32(1 << 16 | 3),
		.board = "SG16",
		.type = "SG16-1Q",
		.fb_bytes = htole64((u64)FB_PAGES * VGPU_STREAM_PAGE),
		.channels = htole32(CHANNELS),
		.heads = htole32(1),
		.max_width = htole32(1920),
		.max_height = htole32(1080),
		.engines = htole32(3),
		.engine = { htole32(0), htole32(1 << 8), htole32(1 << 8 | 1) },
	};
}

static void put(struct made *to, u32 type, const void *data, size_t length)
{
	struct vgpu_frame_head *head = (void *)(to->bytes + to->nr);

	check_that(to->nr + sizeof(*head) + length <= ROOM, "room");
	if (length)
		memcpy(head + 1, data, length);
	vgpu_frame_seal(head, type, length, to->frames);
	to->at[to->frames++] = to->nr;
	to->nr += sizeof(*head) + length;
	to->at[to->frames] = to->nr;
}

static void put_pages(struct made *to, u32 type, u64 first, u32 nr, u32 flags, u64 *seed)
{
	static u8 data[sizeof(struct vgpu_frame_pages) + 8 * VGPU_STREAM_PAGE];
	struct vgpu_frame_pages *pages = (void *)data;
	size_t i;

	*pages = (struct vgpu_frame_pages){
		.first = htole64(first), .nr = htole32(nr), .flags = htole32(flags),
	};
	for (i = 0; i < nr * VGPU_STREAM_PAGE; i++)
		data[sizeof(*pages) + i] = random_next(seed);
	put(to, type, data, sizeof(*pages) + nr * VGPU_STREAM_PAGE);
}

static void put_function(struct made *to)
{
	static u8 data[sizeof(struct vgpu_frame_function) +
		       VECTORS * sizeof(struct vgpu_frame_vector)];
	struct vgpu_frame_function *function = (void *)data;

	function->vectors = htole32(VECTORS);
	function->vector[3].state = htole32(VGPU_VECTOR_PENDING);
	function->vector[4].state = htole32(VGPU_VECTOR_MASKED);
	put(to, VGPU_FRAME_FUNCTION, data, sizeof(data));
}

static void make(struct made *to, u64 *seed)
{
	struct vgpu_frame_faults faults = { .faults = htole32(2), .age_ns = { htole64(5) } };
	struct vgpu_stream_about mine = about();
	u8 state[1000];
	size_t i;

	for (i = 0; i < sizeof(state); i++)
		state[i] = random_next(seed);
	to->nr = 0;
	to->frames = 0;
	put(to, VGPU_FRAME_BEGIN, &mine, sizeof(mine));
	put_pages(to, VGPU_FRAME_MEMORY, 0, 3, 0, seed);
	put_pages(to, VGPU_FRAME_MEMORY, FB_PAGES - 8, 8, 0, seed);
	put_pages(to, VGPU_FRAME_MEMORY, 7, 1, VGPU_PAGES_DROPPED, seed);
	put_pages(to, VGPU_FRAME_MEMORY, 0, 0, VGPU_PAGES_DROPPED, seed);
	put_pages(to, VGPU_FRAME_CHANNELS, CHANNELS - 1, 1, 0, seed);
	put_function(to);
	put(to, VGPU_FRAME_FAULTS, &faults, sizeof(faults));
	put(to, VGPU_FRAME_STATE, state, sizeof(state));
	put(to, VGPU_FRAME_STATE, state, 8);
	put(to, VGPU_FRAME_END, NULL, 0);
}

/* What holds of a frame that was accepted. */
static void check_frame(const struct vgpu_stream *stream)
{
	const struct vgpu_frame_pages *pages = (const void *)stream->data;
	u32 length = vgpu_stream_length(stream);
	u64 most;

	check_that(length <= VGPU_FRAME_MAX && length <= stream->room, "%u", length);
	switch (vgpu_stream_type(stream)) {
	case VGPU_FRAME_MEMORY:
	case VGPU_FRAME_CHANNELS:
		most = vgpu_stream_type(stream) == VGPU_FRAME_MEMORY ?
			le64toh(stream->mine.fb_bytes) / VGPU_STREAM_PAGE :
			le32toh(stream->mine.channels);
		check_that(le64toh(pages->first) <= most &&
			   le32toh(pages->nr) <= most - le64toh(pages->first), "pages");
		check_that(length == sizeof(*pages) + le32toh(pages->nr) * VGPU_STREAM_PAGE,
			   "length");
		break;
	case VGPU_FRAME_FUNCTION:
		check_that(length >= sizeof(struct vgpu_frame_function) +
			   stream->vectors * sizeof(struct vgpu_frame_vector), "vectors");
		break;
	case VGPU_FRAME_FAULTS:
		check_that(length >= sizeof(struct vgpu_frame_faults), "faults");
		break;
	}
}

/* Reads for @mine, in pieces of random lengths. Returns the number of frames, or an error. */
static int read_for(const struct vgpu_stream_about *mine, u32 vectors, struct vgpu_stream *stream,
		    const u8 *bytes, size_t nr, u64 *seed)
{
	int frames = 0, ret = 0;
	size_t part;
	void *to;

	vgpu_stream_init(stream, mine, vectors);
	while (nr && ret >= 0 && !vgpu_stream_ended(stream)) {
		part = vgpu_stream_want(stream, &to);
		part = random_below(seed, 4) ? part : 1 + random_below(seed, part);
		part = part < nr ? part : nr;
		memcpy(to, bytes, part);
		bytes += part;
		nr -= part;
		ret = vgpu_stream_got(stream, part);
		if (ret > 0) {
			check_frame(stream);
			frames++;
		}
	}
	check_that(ret != -EINVAL || stream->why[0], "no reason");
	if (!ret && vgpu_stream_ended(stream) && nr)
		ret = -EPROTO;
	vgpu_stream_free(stream);
	return ret < 0 ? ret : frames;
}

static int read_stream(struct vgpu_stream *stream, const u8 *bytes, size_t nr, u64 *seed)
{
	struct vgpu_stream_about mine = about();

	return read_for(&mine, VECTORS, stream, bytes, nr, seed);
}

static void test_whole(void **state)
{
	static struct made made;
	struct vgpu_stream stream;
	u64 seed = test_seed();
	unsigned int i;

	make(&made, &seed);
	for (i = 0; i < 300; i++) {
		check_that(read_stream(&stream, made.bytes, made.nr, &seed) == (int)made.frames,
			   "%s", stream.why);
		assert_true(vgpu_stream_ended(&stream));
	}
}

static void test_cut_off(void **state)
{
	static struct made made;
	struct vgpu_stream stream;
	u64 seed = test_seed();
	unsigned int i;

	make(&made, &seed);
	for (i = 0; i < 300; i++) {
		check_that(read_stream(&stream, made.bytes, random_below(&seed, made.nr), &seed) >=
			   0, "%s", stream.why);
		assert_false(vgpu_stream_ended(&stream));
	}
}

/* At each border of two frames, and one byte on either side: as many frames as there are whole. */
static void test_cut_at_borders(void **state)
{
	static struct made made;
	struct vgpu_stream stream;
	u64 seed = test_seed();
	u32 frame;
	int off;

	make(&made, &seed);
	for (frame = 1; frame < made.frames; frame++) {
		for (off = -1; off <= 1; off++) {
			check_that(read_stream(&stream, made.bytes, made.at[frame] + off, &seed) ==
				   (int)frame - (off < 0), "%u %d: %s", frame, off, stream.why);
			assert_false(vgpu_stream_ended(&stream));
		}
	}
}

/* One bit: the checksum finds it wherever it is. */
static void test_flips(void **state)
{
	static struct made made;
	struct vgpu_stream stream;
	u64 seed = test_seed();
	unsigned int i;
	size_t at;
	u8 bit;

	make(&made, &seed);
	for (i = 0; i < FLIPS; i++) {
		/* Frames of pages are most of it. */
		at = random_below(&seed, 2) ? random_below(&seed, made.nr) :
			made.at[random_below(&seed, made.frames)] + random_below(&seed, 48);
		if (at >= made.nr)
			continue;
		bit = 1 << random_below(&seed, 8);
		made.bytes[at] ^= bit;
		check_that(read_stream(&stream, made.bytes, made.nr, &seed) < 0 ||
			   !vgpu_stream_ended(&stream), "byte %zu, bit %#x", at, bit);
		made.bytes[at] ^= bit;
	}
}

/* Frames that are left out, repeated or swapped, each with its checksum. */
static void test_order(void **state)
{
	static struct made made, other;
	struct vgpu_stream stream;
	u64 seed = test_seed();
	u32 i, from, to;

	make(&made, &seed);
	for (i = 0; i < 300; i++) {
		from = random_below(&seed, made.frames - 1);
		to = random_below(&seed, made.frames);
		if (to == from + 1)
			continue;
		/* The end of the stream from @to on, where frame @from + 1 is to be. */
		other.nr = made.at[from + 1] + made.nr - made.at[to];
		memcpy(other.bytes, made.bytes, made.at[from + 1]);
		memcpy(other.bytes + made.at[from + 1], made.bytes + made.at[to],
		       made.nr - made.at[to]);
		check_that(read_stream(&stream, other.bytes, other.nr, &seed) < 0, "%u %u", from,
			   to);
	}
}

/* The same with numbers and checksums that are right: orders of types that are not allowed. */
static void test_types_in_order(void **state)
{
	static const u8 bad[][8] = {
		{ VGPU_FRAME_BEGIN, VGPU_FRAME_END },
		{ VGPU_FRAME_BEGIN, VGPU_FRAME_STATE, VGPU_FRAME_END },
		{ VGPU_FRAME_BEGIN, VGPU_FRAME_FAULTS },
		{ VGPU_FRAME_BEGIN, VGPU_FRAME_FUNCTION, VGPU_FRAME_END },
		{ VGPU_FRAME_BEGIN, VGPU_FRAME_FUNCTION, VGPU_FRAME_FUNCTION },
		{ VGPU_FRAME_BEGIN, VGPU_FRAME_FUNCTION, VGPU_FRAME_FAULTS, VGPU_FRAME_FAULTS },
		{ VGPU_FRAME_BEGIN, VGPU_FRAME_FUNCTION, VGPU_FRAME_FAULTS, VGPU_FRAME_END },
		{ VGPU_FRAME_BEGIN, VGPU_FRAME_FUNCTION, VGPU_FRAME_STATE, VGPU_FRAME_FAULTS },
		{ VGPU_FRAME_BEGIN, VGPU_FRAME_FUNCTION, VGPU_FRAME_STATE, VGPU_FRAME_MEMORY },
		{ VGPU_FRAME_BEGIN, VGPU_FRAME_CHANNELS, VGPU_FRAME_MEMORY },
		{ VGPU_FRAME_BEGIN, VGPU_FRAME_BEGIN },
		{ VGPU_FRAME_MEMORY },
	};
	static struct made made, other;
	struct vgpu_stream stream;
	u64 seed = test_seed();
	u32 i, k, frame;

	make(&made, &seed);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		other.nr = 0;
		other.frames = 0;
		for (k = 0; k < ARRAY_SIZE(bad[i]) && bad[i][k]; k++) {
			for (frame = 0; frame < made.frames; frame++)
				if (made.bytes[made.at[frame]] == bad[i][k])
					break;
			put(&other, bad[i][k], made.bytes + made.at[frame] +
			    sizeof(struct vgpu_frame_head),
			    made.at[frame + 1] - made.at[frame] - sizeof(struct vgpu_frame_head));
		}
		check_that(read_stream(&stream, other.bytes, other.nr, &seed) == -EINVAL, "%u", i);
	}
}

/* Each frame twice, and behind the next one, with a number and a checksum that are right. */
static void test_replayed(void **state)
{
	static struct made made, other;
	struct vgpu_stream stream;
	u64 seed = test_seed();
	u32 twice, frame, order[64], nr, type, next, i;
	bool fits;

	make(&made, &seed);
	for (twice = 0; twice < 2 * made.frames - 1; twice++) {
		for (nr = 0; nr < made.frames; nr++)
			order[nr] = nr;
		frame = twice / 2;
		type = made.bytes[made.at[frame]];
		next = made.bytes[made.at[frame + 1]];
		if (twice % 2) {
			order[frame] = frame + 1;
			order[frame + 1] = frame;
		} else {
			next = type;
			memmove(order + frame + 1, order + frame, (nr - frame) * sizeof(*order));
			nr++;
		}
		other.nr = 0;
		other.frames = 0;
		for (i = 0; i < nr; i++)
			put(&other, made.bytes[made.at[order[i]]], made.bytes + made.at[order[i]] +
			    sizeof(struct vgpu_frame_head), made.at[order[i] + 1] -
			    made.at[order[i]] - sizeof(struct vgpu_frame_head));
		fits = type == next && (type == VGPU_FRAME_MEMORY || type == VGPU_FRAME_CHANNELS ||
					type == VGPU_FRAME_STATE);
		check_that((read_stream(&stream, other.bytes, other.nr, &seed) == (int)nr) == fits,
			   "frame %u of type %u, %u: %s", frame, type, next, stream.why);
	}
}

/* As much as a number can say: refused before there is memory for it. */
static void test_claims(void **state)
{
	static const struct {
		u32 frame, at, bytes;
	} claims[] = {
		{ 0, 4, 4 }, { 1, 4, 4 }, { 5, 4, 4 }, { 6, 4, 4 }, { 7, 4, 4 }, { 8, 4, 4 },
		{ 10, 4, 4 },
		{ 1, 16, 8 }, { 1, 24, 4 }, { 1, 16, 12 }, { 4, 24, 4 }, { 5, 16, 8 },
		{ 5, 24, 4 }, { 6, 16 + 256, 4 },
	};
	static struct made made;
	struct vgpu_stream_about mine = about();
	struct vgpu_frame_head *head;
	struct vgpu_stream stream;
	u64 seed = test_seed();
	void *to;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(claims); i++) {
		make(&made, &seed);
		head = (void *)(made.bytes + made.at[claims[i].frame]);
		memset((u8 *)head + claims[i].at, 0xff, claims[i].bytes);
		if (claims[i].at > sizeof(*head) - 1) {
			head->crc = 0;
			head->crc = htole32(~crc32c(~0u, head, sizeof(*head) +
						    le32toh(head->length)));
		}
		check_that(read_stream(&stream, made.bytes, made.nr, &seed) == -EINVAL, "%u", i);
		check_that(!strstr(stream.why, "checksum"), "%u: %s", i, stream.why);
		check_that(stream.room <= VGPU_FRAME_MAX, "%u", i);
	}
	/* State without an end. */
	make(&made, &seed);
	vgpu_stream_init(&stream, &mine, VECTORS);
	stream.number = 8;
	stream.stage = VGPU_FRAME_FUNCTION;
	stream.state_bytes = VGPU_RECORDS_MAX - 999;
	assert_int_equal(vgpu_stream_want(&stream, &to), sizeof(*head));
	memcpy(to, made.bytes + made.at[8], sizeof(*head));
	assert_int_equal(vgpu_stream_got(&stream, sizeof(*head)), 0);
	assert_int_equal(vgpu_stream_want(&stream, &to), 1000);
	memcpy(to, made.bytes + made.at[8] + sizeof(*head), 1000);
	assert_int_equal(vgpu_stream_got(&stream, 1000), -EINVAL);
	check_that(strstr(stream.why, "bytes of state"), "%s", stream.why);
	vgpu_stream_free(&stream);
}

/* A stream that was kept: its length, its checksum, and what else its vGPU is. */
struct kept {
	size_t bytes;
	u32 crc;
	u32 vectors;
};

static int read_kept(struct vgpu_stream *stream, const u8 *bytes, const struct kept *kept,
		     u64 *seed)
{
	struct vgpu_stream_about mine;

	memcpy(&mine, bytes + sizeof(struct vgpu_frame_head), sizeof(mine));
	return read_for(&mine, kept->vectors, stream, bytes, kept->bytes, seed);
}

/*
 * Streams that were kept (tests/selftests/kept_test.c), for the vGPU that they are of: read as a
 * whole, and not if a bit is another one. None of them is ever changed.
 */
static void test_kept(void **state)
{
	static const struct kept kept[] = {
		{ .bytes = 96964, .crc = 0x4858c598, .vectors = 32 },
		{ .bytes = 99516, .crc = 0x19b71e5d, .vectors = 32 },
	};
	const struct vgpu_stream_about *of;
	static u8 bytes[ROOM];
	struct vgpu_stream stream;
	u64 seed = test_seed();
	char path[256];
	glob_t files;
	u32 i, flip;
	size_t at;
	FILE *f;

	assert_int_equal(ARRAY_SIZE(kept), VGPU_STREAM_VERSION);
	assert_int_equal(glob(KEPT "/*", 0, NULL, &files), 0);
	assert_int_equal(files.gl_pathc, ARRAY_SIZE(kept));
	globfree(&files);
	for (i = 0; i < ARRAY_SIZE(kept); i++) {
		snprintf(path, sizeof(path), KEPT "/v%u.stream", i + 1);
		f = fopen(path, "re");
		assert_non_null(f);
		assert_int_equal(fread(bytes, 1, ROOM, f), kept[i].bytes);
		fclose(f);
		check_that(crc32c(~0u, bytes, kept[i].bytes) == kept[i].crc, "%s was changed: %#x",
			   path, crc32c(~0u, bytes, kept[i].bytes));
		of = (const void *)(bytes + sizeof(struct vgpu_frame_head));
		assert_int_equal(le16toh(of->version), i + 1);
		check_that(read_kept(&stream, bytes, &kept[i], &seed) > 0 &&
			   vgpu_stream_ended(&stream), "%s: %s", path, stream.why);
		for (flip = 0; flip < 100; flip++) {
			at = random_below(&seed, kept[i].bytes);
			bytes[at] ^= 1 << flip % 8;
			check_that(read_kept(&stream, bytes, &kept[i], &seed) < 0 ||
				   !vgpu_stream_ended(&stream), "%s, byte %zu", path, at);
			bytes[at] ^= 1 << flip % 8;
		}
	}
}

/* A type that is not known: refused, unless it says that it may be left out. */
static void test_unknown(void **state)
{
	struct vgpu_stream_about mine = about();
	static struct made made;
	struct vgpu_frame_head *head;
	struct vgpu_stream stream;
	u64 seed = test_seed();

	put(&made, VGPU_FRAME_BEGIN, &mine, sizeof(mine));
	put(&made, 999, &mine, sizeof(mine));
	check_that(read_stream(&stream, made.bytes, made.nr, &seed) == -EINVAL, "accepted");
	check_that(strstr(stream.why, "999"), "%s", stream.why);
	head = (void *)(made.bytes + made.at[1]);
	head->flags = 0;
	head->crc = 0;
	head->crc = htole32(~crc32c(~0u, head, sizeof(*head) + sizeof(mine)));
	check_that(read_stream(&stream, made.bytes, made.nr, &seed) == 2, "%s", stream.why);
}

/* Each field of the vGPU that is another, and what is said of it. */
static void test_fits(void **state)
{
	struct vgpu_stream_about mine = about(), theirs;
	char why[160];

#define WRONG(change, text) do {						\
	theirs = about();							\
	theirs.change;								\
	check_that(!vgpu_about_fits(&mine, &theirs, why, sizeof(why)), #change);	\
	check_that(strstr(why, text), "%s: %s", #change, why);			\
} while (0)
	assert_true(vgpu_about_fits(&mine, &mine, why, sizeof(why)));
	WRONG(magic[3] = 'x', "not the state of a vGPU");
	WRONG(least = htole16(VGPU_STREAM_VERSION + 1), "version 3");
	WRONG(version = 0, "version 0");
	WRONG(board[1] = 'X', "board is SX16 there, SG16 here");
	WRONG(type[6] = 'B', "type is SG16-1B there, SG16-1Q here");
	WRONG(type[31] = 1, "type");
	/* What comes from there makes no lines of its own in a log. */
	WRONG(type[2] = '\n', "type is SG?6-1Q there");
	WRONG(type[2] = '\33', "type is SG?6-1Q there");
	WRONG(type[2] = 0xff, "type is SG?6-1Q there");
	WRONG(fb_bytes = htole64(1ull << 40), "framebuffer in bytes is 1099511627776 there");
	WRONG(channels = htole32(15), "number of channels is 15 there, 16 here");
	WRONG(heads = htole32(4), "heads");
	WRONG(max_width = 0, "width");
	WRONG(max_height = ~0u, "height");
	WRONG(vga = htole32(1), "VGA is 1 there, 0 here");
	WRONG(engines = htole32(~0u), "number of engines is 4294967295 there, 3 here");
	WRONG(engine[1] = htole32(2 << 8), "engine 1 is 0x200 there, 0x100 here");
	WRONG(hw_version = htole32(2 << 16), "hardware version is 2.0 there, 1.3 here");
	WRONG(hw_version = htole32(1 << 16 | 4), "hardware version is 1.4 there, 1.3 here");
	/* Whatever its bytes are, what is said is a line that can be shown. */
	WRONG(board[3] = '\n', "board is SG1? there, SG16 here");
	WRONG(type[31] = 0x9b, "type is SG16-1Q there");
	/* Of a type the other one's VGA does not count; no vGPU is either. */
	WRONG(vga = htole32(VGPU_STREAM_VGA_ANY), "VGA is 4294967295 there, 0 here");
	theirs = about();
	theirs.vga = htole32(1);
	mine.vga = htole32(VGPU_STREAM_VGA_ANY);
	assert_true(vgpu_about_fits(&mine, &theirs, why, sizeof(why)));
	theirs = about();
	mine = theirs;
	theirs.hw_version = htole32(1 << 16 | 2);
	theirs.version = htole16(77);
	assert_true(vgpu_about_fits(&mine, &theirs, why, sizeof(why)));
}

/* Fields that are changed at random, with a checksum that is right: check_frame() says the rest. */
static void test_changes(void **state)
{
	static const u64 special[] = { 0, 1, ~0ull, FB_PAGES, FB_PAGES - 1, VGPU_FRAME_MAX,
				       VGPU_FRAME_MAX + 1, 1ull << 52, 1ull << 63 };
	static struct made made, other;
	struct vgpu_frame_head *head;
	struct vgpu_stream stream;
	u64 seed = test_seed(), value;
	u32 i, frame, refused = 0, length;
	size_t at, bytes;

	make(&made, &seed);
	for (i = 0; i < CHANGES / 10; i++) {
		frame = random_below(&seed, made.frames);
		bytes = made.at[frame + 1] - made.at[frame];
		memcpy(&other, &made, sizeof(made));
		head = (void *)(other.bytes + made.at[frame]);
		at = random_below(&seed, bytes < 48 ? bytes : 48) & ~3ull;
		value = random_below(&seed, 3) ? random_next(&seed) :
			special[random_below(&seed, ARRAY_SIZE(special))];
		memcpy((u8 *)head + at, &value, random_below(&seed, 2) ? 4 : 8);
		head->crc = 0;
		length = le32toh(head->length);
		if (length <= VGPU_FRAME_MAX && made.at[frame] + sizeof(*head) + length <= ROOM)
			head->crc = htole32(~crc32c(~0u, head, sizeof(*head) + length));
		refused += read_stream(&stream, other.bytes, other.nr, &seed) < 0;
	}
	check_that(refused > CHANGES / 40 && refused < CHANGES / 10, "%u refused", refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_cut_at_borders),
		cmocka_unit_test(test_flips),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_types_in_order),
		cmocka_unit_test(test_replayed),
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
