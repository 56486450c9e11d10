// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile peer of a migration, whose checksums are right: it can do what a guest can do, and
 * leaves nothing behind that a reset does not undo.
 *
 * VGPU_TEST_FORGERIES: so many streams with random bytes (400).
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/pci_regs.h>

#include "compute.h"
#include "frames.h"
#include "space.h"
#include "tune.h"

#define CONFIG_BYTES	256
#define VECTOR_BYTES	20
#define VECTOR_STATE	16
#define FIRST		3000u	/* bytes of state, of which most are not a program's */
#define DROPPED		(10 * FX_MIB)	/* in the framebuffer: none but make_good() writes there */

static struct fx_vgpu other;
static struct hop_stream good, forged;

static void peer_cleanup(void)
{
	hop_stream_free(&good);
	hop_stream_free(&forged);
	space_cleanup();
	tune_cleanup();
}

/* A vGPU with some of all that there is, saved in @good, and another one to load it. */
static void make_good(void)
{
	struct vgpu_chan *gr = compute_chan(&v);
	struct vgpu_chan *ce = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 4);
	struct vgpu_chan *bad = fx_chan(&v, VGPU_HW_ENGINE_CE, 1, VGPU_RING_FB, 4);
	struct vgpu_fault fault;
	uint64_t before;

	fx_fill_fails(bad, v.dev->fb_bytes, &fault);
	FX_OK(v.dev, vgpu_chan_fill(ce, VGPU_FB(COMPUTE_OUT), 0x11223344, 65536));
	fx_finish(ce);
	memset(v.dev->fb + DROPPED, 0x55, 4096);
	COMPUTE_LOAD(&v, compute_loop);
	before = compute_counter(&v, "instructions ");
	compute_dispatch(gr, COMPUTE_SIZE(20, 1, 1), COMPUTE_SIZE(20, 1, 1), 64);
	FX_SOON(compute_counter(&v, "instructions ") > before);
	FX_OK(v.dev, vgpu_chan_fill(ce, VGPU_FB(COMPUTE_OUT), 0x11223344, 65536));
	good.nr = 0;
	hop_save(&v, 0, &good);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	hop_create_beside(&other, fx_default_type(), &v);
}

/* Loads it, and lets it run. Returns 0 or a negative errno; the vGPU is to be reset then. */
static int load(const struct hop_stream *stream)
{
	int data, ret, state;

	hop_state(&other, VFIO_DEVICE_STATE_RESUMING, &data);
	ret = hop_write(data, stream->bytes, stream->nr, false);
	CHECK(!ret || ret == -EINVAL || ret == -ENOMEM, "%s", strerror(-ret));
	close(data);
	state = hop_try_state(&other, VFIO_DEVICE_STATE_RUNNING, NULL);
	CHECK(!state || state == -EINVAL || state == -ENOMEM, "%s", strerror(-state));
	CHECK(!ret || state, "it was loaded after an error");
	CHECK_EQ(hop_get_state(&other),
		 state ? VFIO_DEVICE_STATE_ERROR : VFIO_DEVICE_STATE_RUNNING);
	return state;
}

static void reset(void)
{
	FX_OK(other.dev, vgpu_dev_reset(other.dev));
	CHECK_EQ(fx_backed_bytes(&other), 0);
	CHECK_EQ(hop_get_state(&other), VFIO_DEVICE_STATE_RUNNING);
}

/* What @good is, to be changed. */
static void forge(void)
{
	forged.nr = 0;
	frames_copy(&forged, &good, FRAME_BEGIN, FRAME_END);
}

static void good_again(void)
{
	CHECK_EQ(load(&good), 0);
	reset();
}

/* Messages about the vGPU that say that a state was refused, since the last call. */
static unsigned int refusals(int kmsg)
{
	unsigned int nr = 0;
	char line[2048];
	ssize_t n;

	errno = 0;
	while ((n = read(kmsg, line, sizeof(line) - 1)) > 0 || errno == EPIPE) {
		line[n > 0 ? n : 0] = '\0';
		if (strstr(line, other.uuid) && strstr(line, "state refused")) {
			nr++;
			/* So the log shows bytes that cannot be printed. */
			CHECK(!strstr(line, "\\x"), "%s", line);
		}
		errno = 0;
	}
	return nr;
}

/* Who is refused over and over does not fill the log, nor write lines of his own. */
static void the_log(void)
{
	enum { TRIES = 60 };
	char *type;
	uint64_t start, limit;
	unsigned int i, nr;
	int kmsg;

	make_good();
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CHECK(kmsg >= 0, "/dev/kmsg: %s", strerror(errno));
	CHECK(lseek(kmsg, 0, SEEK_END) >= 0, "%s", strerror(errno));
	forge();
	type = (char *)frames_find(&forged, FRAME_BEGIN, 0, NULL) + FRAME_BEGIN_TYPE;
	memcpy(type, "A\nvgpu: \33[2Jforged", 19);
	frames_seal(&forged);
	CHECK_EQ(load(&forged), -EINVAL);
	reset();
	CHECK_EQ(refusals(kmsg), 2, "the type, and that it is not complete");

	forge();
	frames_seal(&forged);
	CHECK_EQ(load(&forged), 0);
	reset();
	/* The type of the first record. */
	memset(frames_find(&forged, FRAME_STATE, 0, NULL), 0, 2);
	frames_seal(&forged);
	start = clk_ms();
	for (i = 0; i < TRIES; i++) {
		CHECK_EQ(load(&forged), -EINVAL);
		reset();
	}
	nr = refusals(kmsg);
	/* The kernel's limit is 10 in 5 s. */
	limit = 10 + 10 * (1 + (clk_ms() - start) / 5000);
	ktap_note("%u messages of %u refusals", nr, TRIES);
	CHECK(nr && (nr <= limit || limit > TRIES), "%u messages", nr);
	close(kmsg);
	good_again();
}

static uint8_t *forged_config(void)
{
	forge();
	return frames_find(&forged, FRAME_FUNCTION, 0, NULL);
}

/* Configuration space: what a guest cannot write stays, and what resets the device is no state. */
static void configuration(void)
{
	unsigned int exp, pm, i;
	uint8_t before[CONFIG_BYTES], after[CONFIG_BYTES], *config;
	uint16_t word;

	make_good();
	exp = fx_find_cap(&v, PCI_CAP_ID_EXP);
	pm = fx_find_cap(&v, PCI_CAP_ID_PM);
	/* What is refused, leaves nothing. */
	config = forged_config();
	CHECK(config[PCI_COMMAND] & PCI_COMMAND_MASTER, "");
	config[exp + PCI_EXP_DEVCTL + 1] |= PCI_EXP_DEVCTL_BCR_FLR >> 8;
	frames_seal(&forged);
	CHECK_EQ(load(&forged), -EINVAL);
	FX_OK(other.dev, vgpu_config_read(other.dev, PCI_COMMAND, &word, sizeof(word)));
	CHECK_EQ(word, 0);
	reset();

	/* All ones but there: what a guest would have if it wrote them. */
	config = forged_config();
	for (i = 0; i < CONFIG_BYTES; i++)
		config[i] = i == exp + PCI_EXP_DEVCTL + 1 || i == pm + PCI_PM_CTRL ? 0 : 0xff;
	frames_seal(&forged);
	CHECK_EQ(load(&forged), 0);
	FX_OK(other.dev, vgpu_config_read(other.dev, 0, after, sizeof(after)));
	reset();
	FX_OK(other.dev, vgpu_config_write(other.dev, 0, config, CONFIG_BYTES));
	FX_OK(other.dev, vgpu_config_read(other.dev, 0, before, sizeof(before)));
	CHECK(!memcmp(before, after, sizeof(before)), "");
	reset();

	/* In D3 it answers to nothing but this; D1 is no state that it has. */
	config = forged_config();
	config[pm + PCI_PM_CTRL] |= 3;
	frames_seal(&forged);
	CHECK_EQ(load(&forged), 0);
	FX_OK(other.dev, vgpu_config_read(other.dev, pm + PCI_PM_CTRL, &word, 2));
	CHECK_EQ(le16toh(word) & PCI_PM_CTRL_STATE_MASK, 3);
	CHECK_EQ(vgpu_region_read(other.dev, VGPU_HW_BAR_FB, COMPUTE_OUT, after, 4), 4);
	CHECK_EQ(after[0] & after[1] & after[2] & after[3], 0xff);
	reset();
	config = forged_config();
	config[pm + PCI_PM_CTRL] |= 1;
	frames_seal(&forged);
	CHECK_EQ(load(&forged), 0);
	FX_OK(other.dev, vgpu_config_read(other.dev, pm + PCI_PM_CTRL, &word, 2));
	CHECK_EQ(le16toh(word) & PCI_PM_CTRL_STATE_MASK, 0);
	reset();
	good_again();
}

/* A vector's state, and more or fewer of them than there are. */
static void vectors(void)
{
	uint32_t length;
	uint8_t *config;

	make_good();
	config = forged_config();
	config[CONFIG_BYTES + 4 + VECTOR_STATE] |= 4;
	frames_seal(&forged);
	CHECK_EQ(load(&forged), -EINVAL, "an unknown state");
	reset();
	config = forged_config();
	config[CONFIG_BYTES]++;
	frames_seal(&forged);
	CHECK_EQ(load(&forged), -EINVAL, "one more");
	reset();
	forged.nr = 0;
	frames_copy(&forged, &good, FRAME_BEGIN, FRAME_CHANNELS);
	config = frames_find(&good, FRAME_FUNCTION, 0, &length);
	frames_add(&forged, FRAME_FUNCTION, config, length - VECTOR_BYTES);
	frames_copy(&forged, &good, FRAME_FAULTS, FRAME_END);
	frames_seal(&forged);
	CHECK_EQ(load(&forged), -EINVAL, "one is missing");
	reset();
	good_again();
}

/* All memory is dropped, over and over, and the pages behind that are the ones that count. */
static void drops(void)
{
	static uint8_t pages[FRAME_PAGES_DATA + 4096], page[4096];
	unsigned int i;

	make_good();
	forged.nr = 0;
	frames_copy(&forged, &good, FRAME_BEGIN, FRAME_MEMORY);
	pages[FRAME_PAGES_NR] = 1;
	pages[FRAME_PAGES_FLAGS] = 1;
	for (i = 1; i <= 300; i++) {
		pages[0] = (uint8_t)(i % 200);
		memset(pages + FRAME_PAGES_DATA, (int)i, 4096);
		frames_add(&forged, FRAME_MEMORY, pages, sizeof(pages));
	}
	frames_copy(&forged, &good, FRAME_CHANNELS, FRAME_END);
	frames_seal(&forged);
	CHECK_EQ(load(&forged), 0);
	CHECK_EQ(vgpu_region_read(other.dev, VGPU_HW_BAR_FB, 100 * 4096, page, 4096), 4096);
	fx_check_words(page, 4096, 0x01010101u * (300 & 0xff));
	CHECK_EQ(vgpu_region_read(other.dev, VGPU_HW_BAR_FB, DROPPED, page, 4096), 4096);
	CHECK(fx_is_zero(page, 4096), "memory that was dropped");
	reset();
	good_again();
}

/* The largest numbers of faults and times: a quarantine that ends, and that the host can lift. */
static void faults(void)
{
	struct vgpu_ctl_sched sched = { .quarantine_faults = 3 };
	struct vgpu_ctl_instance inst;
	uint32_t length;
	uint8_t *data;

	make_good();
	forge();
	data = frames_find(&forged, FRAME_FAULTS, 0, &length);
	CHECK(data, "");
	memset(data, 0xff, length);
	frames_seal(&forged);
	/* Where faults begin no quarantine, a stream begins none. */
	CHECK_EQ(load(&forged), 0);
	CHECK(!fx_quarantined(&other), "");
	reset();
	tune_set(&sched, VGPU_SCHED_QUARANTINE_FAULTS);
	CHECK_EQ(load(&forged), 0);
	CHECK(fx_quarantined(&other), "");
	fx_instance(&other, &inst);
	CHECK_EQ(inst.quarantines, 0);
	reset();
	fx_release(&other);
	CHECK(!fx_quarantined(&other), "");
	good_again();
}

/* Any bytes anywhere, with checksums that fit: refused, or a guest with a state of that kind. */
static void any_bytes(void)
{
	unsigned int i, k, loaded = 0, tries = (unsigned int)fx_env("VGPU_TEST_FORGERIES", 400);
	uint32_t length;
	uint8_t *data;

	make_good();
	for (i = 0; i < tries; i++) {
		forge();
		data = frames_find(&forged, fx_random_below(4) ? FRAME_STATE :
				   FRAME_BEGIN + (unsigned int)fx_random_below(7), 0, &length);
		/* Much of it is registers, which may be anything; the first records are not. */
		if (length > FIRST && fx_random_below(4))
			length = FIRST;
		for (k = 1 + (unsigned int)fx_random_below(3); data && length && k; k--)
			data[fx_random_below(length)] =
				fx_random_below(2) ? (uint8_t)fx_random() : 0xff;
		frames_seal(&forged);
		if (!load(&forged)) {
			loaded++;
			clk_sleep_ms(fx_random_below(3));
		}
		reset();
		fx_release(&other);
	}
	ktap_note("%u of %u were loaded", loaded, tries);
	good_again();
}

/* Takes frames of @good from @first on, up to but without @last. Returns the type of the last. */
static unsigned int take(unsigned int first, unsigned int last)
{
	unsigned int type = 0;

	for (; first < last; first++)
		type = frames_copy_nth(&forged, &good, first);
	return type;
}

static unsigned int count_frames(void)
{
	unsigned int nr = 0;

	while (take(nr, nr + 1))
		nr++;
	return nr;
}

static void loads_if(bool fits, const char *what, unsigned int nth)
{
	CHECK_EQ(load(&forged), fits ? 0 : -EINVAL, "frame %u, %s", nth, what);
	reset();
}

/* Streams that end with any of their frames, and those with two frames in the wrong order. */
static void cut_and_reordered(void)
{
	unsigned int nr, i, type, next;

	make_good();
	nr = count_frames();
	for (i = 0; i < nr; i++) {
		forged.nr = 0;
		take(0, i);
		loads_if(false, "cut off before", i);
	}
	for (i = 0; i + 1 < nr; i++) {
		forged.nr = 0;
		take(0, i);
		next = take(i + 1, i + 2);
		type = take(i, i + 1);
		take(i + 2, nr);
		loads_if(false, "behind the next one", i);
		frames_seal(&forged);
		loads_if(type == next && type < FRAME_FUNCTION, "behind the next one, sealed", i);
	}
	good_again();
}

/* Frames that come twice: pages may be written again. */
static void replayed(void)
{
	unsigned int nr, i, type;

	make_good();
	nr = count_frames();
	for (i = 0; i < nr; i++) {
		forged.nr = 0;
		take(0, i + 1);
		type = take(i, i + 1);
		take(i + 1, nr);
		loads_if(false, "twice", i);
		frames_seal(&forged);
		loads_if(type == FRAME_MEMORY || type == FRAME_CHANNELS, "twice, sealed", i);
	}
	good_again();
}

/* Numbers that are as large as they can be. */
static void claims(void)
{
	static const struct {
		unsigned int type, at, bytes;
	} numbers[] = {
		{ FRAME_BEGIN, 10, 2 }, { FRAME_BEGIN, 12, 4 }, { FRAME_BEGIN, 80, 8 },
		{ FRAME_BEGIN, 88, 4 }, { FRAME_BEGIN, 92, 4 }, { FRAME_BEGIN, 96, 4 },
		{ FRAME_BEGIN, 100, 4 }, { FRAME_BEGIN, 104, 4 }, { FRAME_BEGIN, 108, 4 },
		{ FRAME_BEGIN, 80, 96 },
		{ FRAME_MEMORY, 0, 8 }, { FRAME_MEMORY, 8, 4 }, { FRAME_MEMORY, 12, 4 },
		{ FRAME_MEMORY, 0, 16 },
		{ FRAME_CHANNELS, 0, 8 }, { FRAME_CHANNELS, 8, 4 }, { FRAME_CHANNELS, 12, 4 },
		{ FRAME_CHANNELS, 0, 16 },
		{ FRAME_FUNCTION, CONFIG_BYTES, 4 },
		{ FRAME_STATE, 0, 2 }, { FRAME_STATE, 2, 2 }, { FRAME_STATE, 4, 4 },
		{ FRAME_STATE, 0, 8 },
	};
	unsigned int i;
	uint8_t *data;

	make_good();
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		forge();
		data = frames_find(&forged, numbers[i].type, 0, NULL);
		memset(data + numbers[i].at, 0xff, numbers[i].bytes);
		frames_seal(&forged);
		loads_if(false, "a number of it", numbers[i].type);
	}
	/* The length in the head: no memory is taken for so much. */
	for (i = FRAME_BEGIN; i <= FRAME_END; i++) {
		forge();
		frames_seal(&forged);
		data = frames_find(&forged, i, 0, NULL);
		if (data)
			memset(data - FRAMES_HEAD + 4, 0xff, 4);
		loads_if(!data, "a length of 2^32 - 1", i);
	}
	good_again();
}

/* What was done before, or by the user meanwhile, is no part of the state that is loaded. */
static void nothing_else(void)
{
	unsigned int cap;
	uint16_t control;
	uint8_t *config;
	uint64_t bits;
	int data;

	make_good();
	/* A vector that is pending, as there is nobody whom it can be told. */
	config = forged_config();
	config[CONFIG_BYTES + 4 + 3 * VECTOR_BYTES + VECTOR_STATE] |= 1;
	frames_seal(&forged);
	CHECK_EQ(load(&forged), 0);
	CHECK_EQ(vgpu_region_read(other.dev, VGPU_HW_BAR_REGS, VGPU_HW_MSIX_PBA, &bits, 8), 8);
	CHECK(le64toh(bits) & 1 << 3, "%#llx", (unsigned long long)le64toh(bits));
	hop_state(&other, VFIO_DEVICE_STATE_RESUMING, &data);
	FX_OK(other.dev, vgpu_dev_command(other.dev, PCI_COMMAND_MEMORY, 0));
	CHECK_EQ(vgpu_region_read(other.dev, VGPU_HW_BAR_REGS, VGPU_HW_MSIX_PBA, &bits, 8), 8);
	CHECK_EQ(le64toh(bits), 0);
	CHECK_EQ(fx_backed_bytes(&other), 0);

	/* A reset after some of it was written: what is missing would be missing for ever. */
	CHECK_EQ(hop_write(data, good.bytes, good.nr / 2, false), 0);
	cap = fx_find_cap(&other, PCI_CAP_ID_EXP);
	FX_OK(other.dev, vgpu_config_read(other.dev, cap + PCI_EXP_DEVCTL, &control, 2));
	control |= htole16(PCI_EXP_DEVCTL_BCR_FLR);
	FX_OK(other.dev, vgpu_config_write(other.dev, cap + PCI_EXP_DEVCTL, &control, 2));
	CHECK_EQ(hop_write(data, good.bytes + good.nr / 2, good.nr - good.nr / 2, false), 0);
	close(data);
	CHECK_EQ(hop_try_state(&other, VFIO_DEVICE_STATE_STOP, NULL), -EINVAL);
	CHECK_EQ(hop_get_state(&other), VFIO_DEVICE_STATE_ERROR);
	reset();
	good_again();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(the_log),
	KTAP_TEST(configuration),
	KTAP_TEST(vectors),
	KTAP_TEST(drops),
	KTAP_TEST(cut_and_reordered),
	KTAP_TEST(replayed),
	KTAP_TEST(claims),
	KTAP_TEST(faults),
	KTAP_TEST(any_bytes),
	KTAP_TEST(nothing_else),
};

KTAP_MAIN(tests, peer_cleanup)
