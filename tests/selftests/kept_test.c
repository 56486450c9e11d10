// SPDX-License-Identifier: GPL-2.0
/*
 * Streams that were kept: of each version that the driver says it reads there is one in
 * tests/selftests/streams, and a vGPU that was new goes on with what it has.
 *
 * VGPU_TEST_KEEP: a path, where several_groups() keeps the stream that it has made
 * (Documentation/migration.rst).
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/pci_regs.h>

#include "compute.h"
#include "display.h"
#include "frames.h"
#include "inflight.h"
#include "space.h"
#include "tune.h"
#include "vga.h"

#define TYPE		"1Q"
#define STREAMS		"tests/selftests/streams"
#define KEPT_MOST	(128u << 10)	/* bytes */

/* The work of version 1, which is never changed: what was kept has it. Later work is added. */
#define ITEMS		24u
#define GROUP		16u
#define ROUNDS		10000u
#define PRIVATE		64u
#define LOCAL		128u
#define HEAD_IN_SPACE	(COMPUTE_HEAD + 64)	/* in the same page */
/* Close to each other, as memory is backed by 64 KiB where it is mapped. */
#define OUT		(COMPUTE_HEAD + 0x3000)	/* rounds, then a number for each work-item */
#define OUT_IN_SPACE	(OUT + 2048)
#define OUT_VA		0x130000000ull
#define FILLED		(8 * FX_MIB)
#define FILL_BYTES	65536u
#define FILL_VALUE	0x5a17c0deu
#define VECTOR		3u			/* is pending */
#define BAR0		0x80000000u
#define EDID_BYTES	128u

enum { RUNNING, QUEUED, FAULTED, IN_SPACE, CHANNELS };

static const struct picture picture = {
	.offset = COMPUTE_HEAD + 0x8000, .width = 16, .height = 8, .pitch = 64, .seed = 0x1234567,
};

static const uint8_t *plane;
static struct hop_stream stream, later, kept;

static void kept_cleanup(void)
{
	display_forget(&v, &plane);
	hop_stream_free(&stream);
	hop_stream_free(&later);
	hop_stream_free(&kept);
	vgpu_space_destroy(space);
	space = NULL;
	tune_cleanup();
}

/*
 * The work-items of a group add 1 to a counter of theirs, by reservations, and wait for each other;
 * each makes a number of what it reads there, and keeps it on its stack.
 */
static const uint32_t program[] = {
	RV_CSRR(RV_A1, VGPU_HW_CSR_GLOBAL_ID),
	RV_CSRR(RV_A2, VGPU_HW_CSR_LOCAL_ID),
	RV_LUI(RV_A3, VGPU_HW_VA_LOCAL >> 12),
	RV_BNE(RV_A2, RV_ZERO, 8),
	RV_SW(RV_ZERO, 64, RV_A3),
	RV_ADDI(RV_A3, RV_A3, 64),
	RV_LW(RV_A4, 0, RV_A0),
	RV_SD(RV_A1, -16, RV_SP),
	RV_BARRIER,
	RV_R(8, 0, RV_A3, 2, RV_T0, 0x2f),		/* lr.w */
	RV_ADDI(RV_T0, RV_T0, 1),
	RV_R(12, RV_T0, RV_A3, 2, RV_T1, 0x2f),		/* sc.w */
	RV_BNE(RV_T1, RV_ZERO, -12),
	RV_BARRIER,
	RV_LW(RV_T2, 0, RV_A3),
	RV_LD(RV_T1, -16, RV_SP),
	RV_SLLI(RV_T0, RV_T1, 3),
	RV_ADD(RV_T1, RV_T1, RV_T0),
	RV_ADD(RV_T1, RV_T1, RV_T2),
	RV_SD(RV_T1, -16, RV_SP),
	RV_ADDI(RV_A4, RV_A4, -1),
	RV_BNE(RV_A4, RV_ZERO, -52),
	RV_SLLI(RV_T0, RV_A1, 3),
	RV_ADD(RV_A0, RV_A0, RV_T0),
	RV_SD(RV_T1, 8, RV_A0),
	RV_RET,
};

static uint64_t result(uint32_t id)
{
	uint64_t nr = id < GROUP ? GROUP : ITEMS - GROUP, number = id, round;

	for (round = 1; round <= ROUNDS; round++)
		number = 9 * number + nr * round;
	return number;
}

static void check_results(uint64_t at)
{
	const uint64_t *out = (const void *)(v.dev->fb + at);
	uint32_t i;

	for (i = 0; i < ITEMS; i++)
		CHECK_EQ(le64toh(out[1 + i]), result(i), "%u at %#llx", i, (unsigned long long)at);
}

static uint32_t edid_field(size_t at)
{
	uint32_t value;

	CHECK_EQ(vgpu_region_read(v.dev, DISPLAY_EDID, at, &value, 4), 4);
	return value;
}

static void set_edid(size_t at, uint32_t value)
{
	CHECK_EQ(vgpu_region_write(v.dev, DISPLAY_EDID, at, &value, 4), 4);
}

#define EDID(name)	offsetof(struct vfio_region_gfx_edid, name)

/* An EDID by its header, its number of extensions and its checksum. */
static void monitor(uint8_t *blob)
{
	uint8_t sum = 0;
	uint32_t i;

	for (i = 0; i < EDID_BYTES - 1; i++) {
		blob[i] = (uint8_t)(i * 37 + 11);
		if (i < 8)
			blob[i] = i % 7 ? 0xff : 0;
		if (i == EDID_BYTES - 2)
			blob[i] = 0;
		sum += blob[i];
	}
	blob[i] = (uint8_t)-sum;
}

static void begin_monitor(void)
{
	uint8_t blob[EDID_BYTES];

	monitor(blob);
	set_edid(EDID(link_state), VFIO_DEVICE_GFX_LINK_STATE_DOWN);
	set_edid(EDID(edid_size), EDID_BYTES);
	CHECK_EQ(vgpu_region_write(v.dev, DISPLAY_EDID, edid_field(EDID(edid_offset)), blob,
				   EDID_BYTES), EDID_BYTES);
	set_edid(EDID(link_state), VFIO_DEVICE_GFX_LINK_STATE_UP);
}

static void check_monitor(void)
{
	uint8_t blob[EDID_BYTES], is[EDID_BYTES];

	monitor(blob);
	CHECK_EQ(vgpu_region_read(v.dev, VGPU_HW_BAR_REGS, VGPU_HW_VGA_EDID, is, EDID_BYTES),
		 EDID_BYTES);
	CHECK(!memcmp(blob, is, EDID_BYTES), "the EDID that the guest sees");
	/* Its user is told of no other one. */
	CHECK_EQ(edid_field(EDID(link_state)), VFIO_DEVICE_GFX_LINK_STATE_UP);
	CHECK_EQ(edid_field(EDID(edid_size)), EDID_BYTES);
	CHECK_EQ(vgpu_region_read(v.dev, DISPLAY_EDID, edid_field(EDID(edid_offset)), is,
				  EDID_BYTES), EDID_BYTES);
	CHECK(!memcmp(blob, is, EDID_BYTES), "the EDID of the region");
}

static bool pending(void)
{
	uint64_t bits;

	CHECK_EQ(vgpu_region_read(v.dev, VGPU_HW_BAR_REGS, VGPU_HW_MSIX_PBA, &bits, 8), 8);
	return le64toh(bits) & 1 << VECTOR;
}

static uint64_t *begin_out(uint64_t at)
{
	uint64_t *out = (void *)(v.dev->fb + at);

	*(uint32_t *)out = htole32(ROUNDS);
	return out;
}

/* Channels by their numbers, with rings in the framebuffer: guest memory is not in a stream. */
static void open_channels(struct vgpu_chan **chans)
{
	unsigned int i;

	chans[RUNNING] = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	chans[QUEUED] = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	chans[FAULTED] = fx_chan(&v, VGPU_HW_ENGINE_CE, 1, VGPU_RING_FB, 4);
	chans[IN_SPACE] = fx_chan_in(space, VGPU_HW_ENGINE_GR, 0, RING_VA, 4);
	for (i = 0; i < CHANNELS; i++)
		CHECK_EQ(chans[i]->id, i);
}

/*
 * What goes on: the dispatch is in its first rounds. On a busy host all may be over before the vGPU
 * stands still: then it begins once more.
 */
static void begin_running(struct vgpu_chan *chan)
{
	uint64_t end = clk_ms() + FX_TIMEOUT_MS, before;

	do {
		CHECK(clk_ms() < end, "the dispatch is over each time");
		hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
		memset(begin_out(OUT) + 1, 0, ITEMS * 8);
		before = compute_counter(&v, "instructions ");
		compute_dispatch_head(chan, COMPUTE_HEAD, OUT, COMPUTE_SIZE(ITEMS, 1, 1),
				      COMPUTE_SIZE(GROUP, 1, 1), LOCAL);
		FX_SOON(compute_counter(&v, "instructions ") > before);
		hop_state(&v, VFIO_DEVICE_STATE_RUNNING_P2P, NULL);
	} while (vgpu_chan_get(chan) == chan->put);
}

/* What no engine takes before the vGPU is another one. */
static void begin_queued(struct vgpu_chan **chans)
{
	FX_OK(v.dev, vgpu_chan_fill(chans[QUEUED], VGPU_FB(FILLED), FILL_VALUE, FILL_BYTES));
	compute_dispatch_head(chans[IN_SPACE], COMPUTE_HEAD_VA + 64, OUT_VA + 2048,
			      COMPUTE_SIZE(ITEMS, 1, 1), COMPUTE_SIZE(GROUP, 1, 1), LOCAL);
}

static void begin_work(void)
{
	struct vgpu_hw_packet irq = {
		.type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_IRQ, .vector = htole16(VECTOR),
	};
	struct vgpu_chan *chans[CHANNELS];
	struct vgpu_fault fault;
	uint32_t bar = htole32(BAR0);

	vga_create(&v, TYPE);
	space_make();
	space_map_page(COMPUTE_HEAD_VA, COMPUTE_HEAD, VGPU_HW_PTE_R);
	space_map_page(COMPUTE_IMAGE_VA, COMPUTE_IMAGE, VGPU_HW_PTE_R | VGPU_HW_PTE_X);
	space_map_page(OUT_VA, OUT, RW);
	open_channels(chans);
	compute_load(&v, program, sizeof(program) / 4, PRIVATE);
	compute_head(&v, HEAD_IN_SPACE, COMPUTE_IMAGE_VA, sizeof(program) / 4, PRIVATE);
	begin_out(OUT_IN_SPACE);
	begin_monitor();
	FX_OK(v.dev, vgpu_config_write(v.dev, PCI_BASE_ADDRESS_0, &bar, 4));
	picture_paint(&v, &picture);
	picture_present(chans[RUNNING], &picture, 0);
	fx_fill_fails(chans[FAULTED], v.dev->fb_bytes, &fault);
	/* The vector waits until the guest lets the device write to memory. */
	FX_OK(v.dev, vgpu_irq_enable(v.dev, VECTOR + 1));
	FX_OK(v.dev, vgpu_dev_command(v.dev, 0, PCI_COMMAND_MASTER));
	FX_OK(v.dev, vgpu_chan_submit(chans[QUEUED], &irq, 1));
	FX_SOON(pending(), "vector %u", VECTOR);
	begin_running(chans[RUNNING]);
	begin_queued(chans);
}

/* The channel of that number of a vGPU that was loaded. */
static struct vgpu_hw_channel *page_of(unsigned int id)
{
	return (void *)(v.dev->chan_pages + id * VGPU_HW_PAGE_SIZE);
}

static bool is_over(unsigned int id)
{
	const volatile struct vgpu_hw_channel *page = page_of(id);

	return le64toh(page->get) == le64toh(page->put);
}

/* Nothing has gone on yet. */
static void check_paused(void)
{
	const struct vgpu_hw_channel *page = page_of(FAULTED);
	uint32_t bar;

	CHECK(!is_over(RUNNING) && !is_over(QUEUED) && !is_over(IN_SPACE), "a channel is idle");
	CHECK_EQ(le32toh(page->state), VGPU_HW_STATE_FAULTED);
	CHECK_EQ(le32toh(page->fault_code), VGPU_HW_FAULT_ADDRESS);
	CHECK_EQ(le64toh(page->fault_addr), v.dev->fb_bytes);
	CHECK(fx_is_zero(v.dev->fb + FILLED, FILL_BYTES), "a FILL while the vGPU stands still");
	FX_OK(v.dev, vgpu_config_read(v.dev, PCI_BASE_ADDRESS_0, &bar, 4));
	CHECK_EQ(le32toh(bar) & ~0xfu, BAR0);
	CHECK(pending(), "vector %u", VECTOR);
	check_monitor();
}

static void check_work(void)
{
	struct vgpu_chan *ce;
	unsigned int i;

	check_paused();
	tune_frl(&v, 0);
	hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
	for (i = 0; i < CHANNELS; i++)
		FX_SOON(i == FAULTED || is_over(i), "channel %u", i);
	check_results(OUT);
	check_results(OUT_IN_SPACE);
	fx_check_words(v.dev->fb + FILLED, FILL_BYTES, FILL_VALUE);
	FX_OK(v.dev, vgpu_irq_enable(v.dev, VECTOR + 1));
	CHECK_EQ(vgpu_irq_wait(v.dev, VECTOR, 0), -ETIMEDOUT, "without bus mastering");
	FX_OK(v.dev, vgpu_dev_command(v.dev, PCI_COMMAND_MASTER, 0));
	CHECK_EQ(vgpu_irq_wait(v.dev, VECTOR, FX_TIMEOUT_MS), 1);
	plane = display_map(&v);
	picture_check(&v, plane, &picture);
	display_forget(&v, &plane);
	/* And it is as good as any: libvgpu thinks of it as new, so its channel 0 is disabled. */
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	FX_OK(v.dev, vgpu_dev_command(v.dev, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 0));
	CHECK_EQ(fx_backed_bytes(&v), 0);
	ce = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(ce, VGPU_FB(FILLED), FILL_VALUE, FILL_BYTES));
	fx_finish(ce);
	fx_check_words(v.dev->fb + FILLED, FILL_BYTES, FILL_VALUE);
}

/* A new vGPU takes the stream, and stands still. */
static void load(void)
{
	int data, ret;

	fx_create(&v, TYPE);
	vga_set(&v, "1");
	fx_open(&v);
	hop_state(&v, VFIO_DEVICE_STATE_RESUMING, &data);
	ret = hop_write(data, stream.bytes, stream.nr, true);
	CHECK(!ret, "%s", strerror(-ret));
	close(data);
	hop_state(&v, VFIO_DEVICE_STATE_STOP, NULL);
}

/* The version that the stream says it is of. */
static unsigned int version(void)
{
	const struct vgpu_stream_about *about;
	uint32_t length;

	about = (const void *)frames_find(&stream, FRAME_BEGIN, 0, &length);
	CHECK(about && length >= sizeof(*about), "%u", length);
	return le16toh(about->version);
}

static void ask_versions(struct vgpu_ctl_migration *call)
{
	struct vgpu_stream_about about;

	*call = (struct vgpu_ctl_migration){
		.size = sizeof(*call), .flags = VGPU_MIGRATION_OF_TYPE, .gpu = fx_gpu_id(),
		.about = (uintptr_t)&about, .about_bytes = sizeof(about),
	};
	CHECK(!ioctl(fx_control(), VGPU_IOC_MIGRATION, call), "%s", strerror(errno));
}

/* A frame for each page of the framebuffer that is not zero: a mapping has touched pages beside. */
static void keep_pages(const uint8_t *frame)
{
	uint8_t page[FRAME_PAGES_DATA + PAGE] = { [FRAME_PAGES_NR] = 1 };
	const uint8_t *from = frame + FRAME_PAGES_DATA;
	uint64_t first;
	uint32_t nr;

	memcpy(&first, frame, sizeof(first));
	memcpy(&nr, frame + FRAME_PAGES_NR, sizeof(nr));
	first = le64toh(first);
	for (nr = le32toh(nr); nr; nr--, first++, from += PAGE) {
		if (fx_is_zero(from, PAGE))
			continue;
		memcpy(page, &(uint64_t){ htole64(first) }, sizeof(first));
		memcpy(page + FRAME_PAGES_DATA, from, PAGE);
		frames_add(&kept, FRAME_MEMORY, page, sizeof(page));
	}
}

static void keep(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	const uint8_t *frame;
	unsigned int i;

	CHECK(fd >= 0, "%s: %s", path, strerror(errno));
	kept.nr = 0;
	frames_copy(&kept, &stream, FRAME_BEGIN, FRAME_BEGIN);
	for (i = 0; (frame = frames_find(&stream, FRAME_MEMORY, i, NULL)); i++)
		keep_pages(frame);
	frames_copy(&kept, &stream, FRAME_CHANNELS, FRAME_END);
	frames_seal(&kept);
	CHECK(kept.nr <= KEPT_MOST, "%zu bytes", kept.nr);
	CHECK_EQ(write(fd, kept.bytes, kept.nr), (ssize_t)kept.nr);
	CHECK(!close(fd), "%s: %s", path, strerror(errno));
	ktap_note("%s: %zu bytes, version %u", path, kept.nr, version());
}

/* Nobody waits for data: a stream has them, or says that it has not. So poll() says always yes. */
static void check_ready(int data, short event)
{
	struct pollfd ready = { .fd = data, .events = event };

	CHECK_EQ(poll(&ready, 1, 0), 1);
	CHECK_EQ(ready.revents, event);
}

static void save(struct hop_stream *to)
{
	int data;

	hop_state(&v, VFIO_DEVICE_STATE_STOP_COPY, &data);
	check_ready(data, POLLIN);
	hop_read(data, to);
	check_ready(data, POLLIN);
	close(data);
}

static void load_elsewhere(void)
{
	vgpu_space_destroy(space);
	space = NULL;
	fx_close(&v);
	fx_remove(&v);
	load();
	check_work();
}

/* What a vGPU of today says is what a new one of today goes on with. */
static void as_made(void)
{
	struct vgpu_ctl_migration call;

	fx_need("DISPATCH");
	begin_work();
	save(&stream);
	ask_versions(&call);
	CHECK_EQ(version(), call.writes);
	load_elsewhere();
}

/* Goes on until the dispatch is in its second group, and saves that. */
static void save_later(struct inflight *found)
{
	do {
		inflight_free(found);
		hop_state(&v, VFIO_DEVICE_STATE_STOP, NULL);
		hop_state(&v, VFIO_DEVICE_STATE_RUNNING, NULL);
		clk_sleep_ms(1);
		hop_state(&v, VFIO_DEVICE_STATE_RUNNING_P2P, NULL);
		CHECK(!is_over(RUNNING), "the second group was too short");
		hop_stream_free(&later);
		save(&later);
		inflight_find(&later, found);
	} while (!inflight_id(found));
}

/* In the stream the first group is in flight; the second one, which was saved later, is, too. */
static void add_group(const struct inflight *first, const struct inflight *second)
{
	uint32_t bytes;
	uint8_t *state = inflight_join(first, second, &bytes);

	kept.nr = 0;
	frames_copy(&kept, &stream, FRAME_BEGIN, FRAME_FAULTS);
	frames_add(&kept, FRAME_STATE, state, bytes);
	frames_copy(&kept, &stream, FRAME_END, FRAME_END);
	frames_seal(&kept);
	free(state);
	hop_stream_free(&stream);
	stream = kept;
	kept = (struct hop_stream){ 0 };
}

/* Two groups of a dispatch are in flight, as on a GPU that executes several at a time. */
static void several_groups(void)
{
	struct inflight first, second = { 0 };

	fx_need("DISPATCH");
	begin_work();
	save(&stream);
	save_later(&second);
	inflight_find(&stream, &first);
	CHECK_EQ(inflight_id(&first), 0);
	add_group(&first, &second);
	inflight_free(&first);
	inflight_free(&second);
	if (getenv("VGPU_TEST_KEEP"))
		keep(getenv("VGPU_TEST_KEEP"));
	load_elsewhere();
}

static void read_kept(const char *path)
{
	struct stat stat;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0, "%s: %s", path, strerror(errno));
	CHECK(!fstat(fd, &stat) && stat.st_size <= KEPT_MOST, "%s", path);
	stream.room = (size_t)stat.st_size;
	stream.nr = stream.room;
	stream.bytes = malloc(stream.room);
	CHECK(stream.bytes, "memory");
	CHECK_EQ(read(fd, stream.bytes, stream.nr), stat.st_size, "%s", path);
	close(fd);
}

/* One of each version that is read, and their work goes on. */
static void as_kept(void)
{
	struct vgpu_ctl_migration call;
	char path[64];
	uint32_t i;

	fx_need("DISPATCH");
	ask_versions(&call);
	for (i = call.reads_from; i <= call.reads_to; i++) {
		snprintf(path, sizeof(path), STREAMS "/v%u.stream", i);
		read_kept(path);
		CHECK_EQ(version(), i, "%s", path);
		load();
		check_work();
		hop_stream_free(&stream);
		fx_close(&v);
		fx_remove(&v);
	}
}

static const struct ktap_test tests[] = {
	KTAP_TEST(as_made),
	KTAP_TEST(several_groups),
	KTAP_TEST(as_kept),
};

KTAP_MAIN(tests, kept_cleanup)
