// SPDX-License-Identifier: GPL-2.0
/*
 * The EDID that a vGPU's display has at first: read back by a parser of its own that follows VESA's
 * standards, compared with timings that VESA has published, and given to edid-decode.
 */
#include <sys/stat.h>

#include "vgpu_test.h"

#include "core/objects/edid_build.h"

#define NR_RANDOM	20000
#define MODES_MAX	32

struct mode {
	u32 width, height, htotal, vtotal, hfront, hsync, vfront, vsync;
	u32 khz;
	bool timing;		/* there is more than a size */
	bool preferred;
};

/* An EDID, as its parser sees it. */
static struct display {
	struct mode mode[MODES_MAX];
	unsigned int nr;
	u32 min_khz, max_khz, max_mhz;
	u32 x_cm, y_cm, x_mm, y_mm, x_px, y_px, aspect;
	char name[14];
} display;

static u8 edid[VGPU_EDID_BUILD_MAX];

static u32 get16(const u8 *at)
{
	return at[0] | at[1] << 8;
}

static struct mode *add(u32 width, u32 height)
{
	struct mode *m = &display.mode[display.nr++];

	assert_true(display.nr <= MODES_MAX);
	memset(m, 0, sizeof(*m));
	m->width = width;
	m->height = height;
	return m;
}

static void parse_detailed(const u8 *d)
{
	struct mode *m = add(d[2] | (d[4] & 0xf0) << 4, d[5] | (d[7] & 0xf0) << 4);

	m->timing = true;
	m->khz = get16(d) * 10;
	m->htotal = m->width + (d[3] | (d[4] & 0xf) << 8);
	m->vtotal = m->height + (d[6] | (d[7] & 0xf) << 8);
	m->hfront = d[8] | (d[11] & 0xc0) << 2;
	m->hsync = d[9] | (d[11] & 0x30) << 4;
	m->vfront = d[10] >> 4 | (d[11] & 0x0c) << 2;
	m->vsync = (d[10] & 0xf) | (d[11] & 0x03) << 4;
	m->preferred = display.nr == 1;
	display.x_mm = d[12] | (d[14] & 0xf0) << 4;
	display.y_mm = d[13] | (d[14] & 0x0f) << 8;
	check_that((d[17] & 0x9e) == 0x1a, "flags %#x", d[17]);
}

static void parse_descriptor(const u8 *d)
{
	unsigned int i;

	if (get16(d)) {
		/* Timings stand before all else. */
		assert_true(!display.name[0] && !display.max_mhz);
		parse_detailed(d);
		return;
	}
	assert_int_equal(d[2], 0);
	switch (d[3]) {
	case 0xfc:
		for (i = 0; i < 13 && d[5 + i] != '\n'; i++)
			display.name[i] = d[5 + i];
		for (i++; i < 13; i++)
			assert_int_equal(d[5 + i], ' ');
		break;
	case 0xfd:
		display.min_khz = d[7] + (d[4] & 0x04 ? 255 : 0);
		display.max_khz = d[8] + (d[4] & 0x08 ? 255 : 0);
		display.max_mhz = d[9] * 10;
		assert_true(d[5] <= 59 && d[6] >= 61);
		break;
	default:
		assert_int_equal(d[3], 0x10);
	}
}

static void parse_base(const u8 *base)
{
	static const u8 head[8] = { 0, 255, 255, 255, 255, 255, 255, 0 };
	/* Width to height, in the order of the codes. */
	static const u32 aspects[][2] = { { 16, 10 }, { 4, 3 }, { 5, 4 }, { 16, 9 } };
	unsigned int i, width;

	assert_memory_equal(base, head, sizeof(head));
	assert_int_equal(base[18], 1);
	assert_int_equal(base[19], 4);
	assert_int_equal(base[20] & 0x80, 0x80);
	display.x_cm = base[21];
	display.y_cm = base[22];
	for (i = 0; i < 4; i++)
		parse_descriptor(base + 54 + 18 * i);
	if (base[35] & 0x20)
		add(640, 480);
	if (base[35] & 0x01)
		add(800, 600);
	if (base[36] & 0x08)
		add(1024, 768);
	assert_true(!(base[35] & ~0x21) && !(base[36] & ~0x08) && !base[37]);
	for (i = 38; i < 54; i += 2) {
		if (base[i] == 1 && base[i + 1] == 1)
			continue;
		width = (base[i] + 31) * 8;
		assert_int_equal(base[i + 1] & 0x3f, 0);
		add(width, width * aspects[base[i + 1] >> 6][1] / aspects[base[i + 1] >> 6][0]);
	}
}

static void parse_type1(const u8 *t)
{
	struct mode *m = add(get16(t + 4) + 1, get16(t + 12) + 1);

	m->timing = true;
	m->khz = (get16(t) + (t[2] << 16) + 1) * 10;
	m->htotal = m->width + get16(t + 6) + 1;
	m->vtotal = m->height + get16(t + 14) + 1;
	m->hfront = (get16(t + 8) & 0x7fff) + 1;
	m->hsync = get16(t + 10) + 1;
	m->vfront = (get16(t + 16) & 0x7fff) + 1;
	m->vsync = get16(t + 18) + 1;
	m->preferred = t[3] & 0x80;
	/* Pulses up and down as in the base block. */
	assert_true(t[9] & 0x80);
	assert_false(t[17] & 0x80);
}

static void parse_extension(const u8 *ext)
{
	unsigned int at = 5, end = 5 + ext[2], i, preferred = 0, seen = 0;
	u8 sum = 0;

	assert_int_equal(ext[0], 0x70);
	assert_int_equal(ext[1], 0x13);
	assert_true(end == 126);
	for (i = 1; i <= end; i++)
		sum += ext[i];
	assert_int_equal(sum, 0);
	for (; at + 3 <= end && ext[at + 2]; at += 3 + ext[at + 2]) {
		assert_true(at + 3 + ext[at + 2] <= end);
		seen |= 1 << ext[at];
		if (ext[at] == 0x00) {
			/* The maker, in five bits a letter in the base block. */
			for (i = 0; i < 3; i++)
				assert_int_equal(ext[at + 3 + i] - '@',
						 (edid[8] << 8 | edid[9]) >> (10 - 5 * i) & 31);
		} else if (ext[at] == 0x01) {
			display.x_px = get16(ext + at + 7);
			display.y_px = get16(ext + at + 9);
			display.aspect = 100 + ext[at + 13];
			assert_int_equal(get16(ext + at + 3), display.x_mm * 10);
			assert_int_equal(get16(ext + at + 5), display.y_mm * 10);
		}
		if (ext[at] != 0x03)
			continue;
		assert_int_equal(ext[at + 2] % 20, 0);
		for (i = 0; i < ext[at + 2]; i += 20) {
			parse_type1(ext + at + 3 + i);
			preferred += display.mode[display.nr - 1].preferred;
		}
	}
	for (; at < end; at++)
		assert_int_equal(ext[at], 0);
	assert_int_equal(preferred, 1);
	assert_int_equal(seen, 1 << 0x00 | 1 << 0x01 | 1 << 0x03 | 1 << 0x0f);
}

static void parse(const u8 *bytes, size_t len)
{
	unsigned int block, i;

	memset(&display, 0, sizeof(display));
	assert_true(len == 128 || len == 256);
	assert_int_equal(bytes[126], len / 128 - 1);
	for (block = 0; block < len / 128; block++) {
		u8 sum = 0;

		for (i = 0; i < 128; i++)
			sum += bytes[128 * block + i];
		check_that(!sum, "block %u", block);
	}
	parse_base(bytes);
	if (len == 256)
		parse_extension(bytes + 128);
}

/* VESA's formulas as they are written down, in floating point. */
static void check_timing(const struct mode *m)
{
	double h_period = (1e6 / 60 - 460) / m->height, clock;
	u32 vbi = (u32)(460 / h_period) + 1;
	const double near = 0.000001;
	bool by_aspect = false;
	double aspect = (double)m->width / m->height;
	static const struct {
		double aspect;
		u32 vsync;
	} pulses[] = { { 4. / 3, 4 }, { 16. / 9, 5 }, { 1.6, 6 }, { 1.25, 7 }, { 15. / 9, 7 } };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pulses); i++) {
		if (aspect > pulses[i].aspect - near && aspect < pulses[i].aspect + near) {
			assert_int_equal(m->vsync, pulses[i].vsync);
			by_aspect = true;
		}
	}
	if (!by_aspect)
		assert_int_equal(m->vsync, 10);
	if (vbi < 3 + m->vsync + 6)
		vbi = 3 + m->vsync + 6;
	clock = (u64)(60. * m->htotal * m->vtotal / 1e6 / 0.25) * 0.25;
	check_that(m->htotal == m->width + 160 && m->hfront == 48 && m->hsync == 32 &&
		   m->vfront == 3 && m->vtotal == m->height + vbi && m->khz == clock * 1000,
		   "%u x %u: %u x %u, %u kHz", m->width, m->height, m->htotal, m->vtotal, m->khz);
}

static const struct mode *find(u32 width, u32 height, bool preferred)
{
	unsigned int i;

	for (i = 0; i < display.nr; i++)
		if (display.mode[i].width == width && display.mode[i].height == height &&
		    (display.mode[i].preferred || !preferred))
			return &display.mode[i];
	return NULL;
}

/* What holds of all EDIDs. */
static void check_display(u32 width, u32 height, u32 max_width, u32 max_height)
{
	const struct mode *m = &display.mode[0];
	unsigned int i;

	for (i = 0; i < display.nr; i++, m++) {
		check_that(m->width <= max_width && m->height <= max_height,
			   "%u x %u of %u x %u", m->width, m->height, max_width, max_height);
		if (!m->timing)
			continue;
		check_timing(m);
		check_that(m->khz <= display.max_mhz * 1000 &&
			   m->khz <= display.max_khz * m->htotal &&
			   m->khz >= display.min_khz * m->htotal, "%u x %u is out of range",
			   m->width, m->height);
	}
	m = find(width, height, true);
	assert_true(m && m->timing);
	m = find(max_width, max_height, false);
	assert_true(m && m->timing);
	assert_true(!display.x_cm == !display.y_cm);
	if (display.x_cm) {
		assert_int_equal((display.x_mm + 5) / 10, display.x_cm);
		assert_int_equal((display.y_mm + 5) / 10, display.y_cm);
		check_that(display.x_mm == (u64)width * 254 / 960 &&
			   display.y_mm == (u64)height * 254 / 960, "%u mm of %u",
			   display.x_mm, width);
	}
	if (display.x_px) {
		u32 aspect = width > height ? width * 100 / height : height * 100 / width;

		assert_int_equal(display.x_px, width);
		assert_int_equal(display.y_px, height);
		assert_int_equal(display.aspect, aspect > 355 ? 355 : aspect);
	}
	/* Who reads the base block only is to have a mode, too. */
	assert_true(display.mode[0].timing);
}

static size_t build(u32 width, u32 height, u32 max_width, u32 max_height)
{
	size_t len;

	memset(edid, 0xaa, sizeof(edid));
	len = vgpu_edid_build(edid, sizeof(edid), width, height, max_width, max_height,
			      "vGPU SG16-2B");
	if (len) {
		parse(edid, len);
		check_display(width, height, max_width, max_height);
		assert_string_equal(display.name, "vGPU SG16-2B");
	}
	return len;
}

/* Reduced blanking as VESA's lists of monitor timings have it: total rows, clock in kHz. */
static void test_published(void **state)
{
	static const u32 published[][4] = {
		{ 1024, 768, 790, 56000 }, { 1280, 768, 790, 68250 }, { 1280, 800, 823, 71000 },
		{ 1400, 1050, 1080, 101000 }, { 1440, 900, 926, 88750 },
		{ 1680, 1050, 1080, 119000 }, { 1920, 1080, 1111, 138500 },
		{ 1920, 1200, 1235, 154000 }, { 2560, 1440, 1481, 241500 },
		{ 2560, 1600, 1646, 268500 }, { 3840, 2160, 2222, 533250 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(published); i++) {
		const u32 *p = published[i];

		assert_int_equal(build(p[0], p[1], p[0], p[1]), 128);
		check_that(display.mode[0].vtotal == p[2] && display.mode[0].khz == p[3],
			   "%u x %u: %u, %u kHz", p[0], p[1], display.mode[0].vtotal,
			   display.mode[0].khz);
	}
}

static const u32 types[][2] = {
	{ 5120, 2880 }, { 7680, 4320 }, { 1280, 1024 }, { 4096, 2160 },
};

static void test_types(void **state)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		const u32 *max = types[i];
		size_t len = max[0] < 4096 ? 128 : 256;

		assert_int_equal(build(1024, 768, max[0], max[1]), len);
		assert_int_equal(display.x_cm, 27);
		assert_int_equal(display.y_cm, 20);
		assert_true(find(640, 480, false) && find(800, 600, false));
		assert_int_equal(build(1280, 720, max[0], max[1]), len);
		assert_int_equal(build(max[0], max[1], max[0], max[1]), len);
	}
	/* What a driver finds that reads the base block alone, and in which order. */
	build(1024, 768, 5120, 2880);
	assert_int_equal(display.mode[0].width, 1024);
	assert_int_equal(display.mode[1].width, 3840);
	assert_true(find(2560, 1440, false) && find(1920, 1200, false) && find(1280, 720, false));
	build(7680, 4320, 7680, 4320);
	assert_int_equal(display.mode[0].width, 3840);
	assert_int_equal(display.max_khz, 267);
	assert_int_equal(display.max_mhz, 2090);
	assert_true(find(5120, 2880, false) && find(7680, 4320, true));
	build(4095, 2160, 4095, 2160);
	assert_int_equal(display.nr > 0 && display.mode[0].width, 1);
	assert_int_equal(build(4096, 2160, 4096, 2160), 256);
}

static void test_names(void **state)
{
	static const char * const names[][2] = {
		{ "", "" }, { "x", "x" }, { "0123456789ab", "0123456789ab" },
		{ "0123456789abc", "0123456789abc" }, { "0123456789abcd", "0123456789abc" },
		{ "a\nb\xff\x7f", "a?b??" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len = vgpu_edid_build(edid, sizeof(edid), 1024, 768, 1024, 768,
					     names[i][0]);

		assert_int_equal(len, 128);
		parse(edid, len);
		assert_string_equal(display.name, names[i][1]);
	}
}

static void test_refused(void **state)
{
	static const u32 bad[][4] = {
		{ 0, 768, 1024, 768 }, { 1024, 0, 1024, 768 }, { 0, 0, 0, 0 },
		{ 0, 4320, 7680, 4320 }, { 7680, 0, 7680, 4320 },
		{ 1025, 768, 1024, 768 }, { 1024, 769, 1024, 768 },
		{ 1024, 768, 8193, 768 }, { 1024, 768, 1024, 8193 },
		{ ~0U, ~0U, ~0U, ~0U }, { 1024, 768, ~0U, ~0U },
		/* Limits that EDID has no numbers for. */
		{ 1024, 768, 8192, 8192 },
		/* A clock below 10 MHz. */
		{ 320, 240, 320, 240 },
		/* Nothing that the base block could begin with. */
		{ 5000, 300, 5000, 300 },
	};
	u8 small[VGPU_EDID_BUILD_MAX];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		check_that(!build(bad[i][0], bad[i][1], bad[i][2], bad[i][3]), "case %u", i);
	/* Too little room, and what is behind it stays as it is. */
	for (i = 0; i <= VGPU_EDID_BUILD_MAX; i++) {
		memset(small, 0xaa, sizeof(small));
		assert_int_equal(vgpu_edid_build(small, i, 1024, 768, 5120, 2880, "x"),
				 i == 256 ? 256 : 0);
		assert_true(i == 256 || (small[i] == 0xaa && small[255] == 0xaa));
		memset(small, 0xaa, sizeof(small));
		assert_int_equal(vgpu_edid_build(small, i, 1024, 768, 1280, 1024, "x"),
				 i >= 128 ? 128 : 0);
		assert_int_equal(small[128], 0xaa);
	}
}

static void test_random(void **state)
{
	unsigned int i, built = 0, extended = 0;
	u64 rnd = test_seed();

	for (i = 0; i < NR_RANDOM; i++) {
		u32 max_width = random_range(&rnd, 1, 8192);
		u32 max_height = random_range(&rnd, 1, 8192);
		u32 width = random_range(&rnd, 1, max_width);
		u32 height = random_range(&rnd, 1, max_height);
		size_t len = build(width, height, max_width, max_height);

		built += !!len;
		extended += len == 256;
		/*
		 * Whatever a type of ours could have is possible. (For less than 640 in width and
		 * more than 4095 in height the base block has nothing to begin with.)
		 */
		if (max_width >= 640 && max_width <= 7680 && max_height <= 4320 && width >= 480 &&
		    height >= 480)
			check_that(len, "%u x %u of %u x %u", width, height, max_width,
				   max_height);
	}
	printf("# %u of %u random displays have an EDID, %u with an extension\n", built,
	       NR_RANDOM, extended);
	assert_true(extended > NR_RANDOM / 10 && built - extended > NR_RANDOM / 50);
}

/* edid-decode here, or in the lab's image, judges EDIDs; "%s" is where they are. */
static void test_edid_decode(void **state)
{
	static const u32 others[][4] = {
		{ 800, 600, 800, 600 }, { 1366, 768, 5120, 2880 }, { 1920, 1200, 3840, 2160 },
		{ 1001, 777, 1280, 1024 }, { 4096, 2160, 7680, 4320 }, { 2160, 3840, 4320, 7680 },
		{ 640, 480, 640, 480 }, { 5120, 2880, 5120, 2880 }, { 3840, 2160, 4096, 2160 },
	};
	const char *in = "", *dir = EDID_DIR;
	unsigned int i, nr = 0;
	char command[1024];
	u64 rnd = test_seed();

	if (system("command -v edid-decode >/dev/null 2>&1")) {
		if (system("test -x \"$('" LAB "' path root)/usr/bin/edid-decode\"")) {
			printf("# not tested: no edid-decode, neither here nor in the lab's image\n");
			return;
		}
		in = "'" LAB "' chroot";
	}
	snprintf(command, sizeof(command), "rm -rf '%s'; mkdir -p '%s'", dir, dir);
	assert_int_equal(system(command), 0);
	while (nr < 60) {
		u32 m[4] = { 640, 480 };
		char path[512];
		size_t len;
		FILE *file;

		i = nr;
		if (i < ARRAY_SIZE(others)) {
			memcpy(m, others[i], sizeof(m));
		} else {
			memcpy(m + 2, types[i % ARRAY_SIZE(types)], sizeof(types[0]));
			m[0] = random_range(&rnd, 320, m[2]);
			m[1] = random_range(&rnd, 200, m[3]);
		}
		len = build(m[0], m[1], m[2], m[3]);
		if (!len && i >= ARRAY_SIZE(others))
			continue;
		assert_true(len);
		snprintf(path, sizeof(path), "%s/%ux%u-of-%ux%u", dir, m[0], m[1], m[2], m[3]);
		file = fopen(path, "wb");
		assert_true(file && fwrite(edid, 1, len, file) == len && !fclose(file));
		nr++;
	}
	snprintf(command, sizeof(command),
		 "%s sh -c 'for f in %s/*; do edid-decode --check \"$f\" >%s.out 2>&1 && grep -q \"conformity: PASS\" %s.out || { echo \"# $f\"; sed -n \"/^Failures/,\\$s/^/# /p\" %s.out; exit 1; }; done'",
		 in, dir, dir, dir, dir);
	assert_int_equal(system(command), 0);
	printf("# edid-decode finds no fault in %u EDIDs\n", nr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_edid_decode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
