// SPDX-License-Identifier: GPL-2.0
/*
 * What guests say of themselves, as VGPU_IOC_CHANNELS shows it: labels of channels, the driver's
 * name and version, the OS. And the call itself: sizes, pieces, vGPUs that come and go meanwhile.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "rng.h"
#include "service.h"

static struct fx_vgpu v;
static struct vgpu_ctl_channel list[VGPU_HW_MAX_CHANNELS + 1];
static pthread_t threads[3];
static unsigned int nr_threads;
static atomic_bool stop;

static volatile struct vgpu_hw_label *label_of(uint32_t channel)
{
	return (void *)(v.dev->chan_pages + channel * VGPU_HW_PAGE_SIZE + VGPU_HW_LABEL);
}

static struct vgpu_chan *begin(void)
{
	fx_need("labels");
	fx_create_open(&v, fx_default_type());
	return fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
}

static void write_label(uint32_t channel, uint32_t magic, const char comm[16])
{
	struct vgpu_hw_label label = {
		.magic = htole32(magic), .pid = htole32(4711), .uid = htole32(1000),
		.client = htole64(0x123456789abcdef0), .pad = htole32(~0u),
	};

	memcpy(label.comm, comm, sizeof(label.comm));
	memcpy((void *)label_of(channel), &label, sizeof(label));
}

static void check_none(const struct vgpu_ctl_channel *entry)
{
	CHECK_EQ(entry->flags, 0);
	CHECK(!entry->client && !entry->pid && !entry->uid, "");
	CHECK(fx_is_zero(entry->comm, sizeof(entry->comm)), "");
}

/* What libvgpu writes for each channel that it makes. */
static void check_own(const struct vgpu_ctl_channel *entry)
{
	CHECK_EQ(entry->flags, VGPU_CHANNEL_LABEL);
	CHECK_EQ(entry->pid, getpid());
	CHECK_EQ(entry->uid, getuid());
	CHECK(!memcmp(entry->comm, "label_test\0\0\0\0\0", 16), "%.16s", entry->comm);
}

static void check_label(const struct vgpu_ctl_channel *entry, const char comm[16])
{
	CHECK_EQ(entry->flags, VGPU_CHANNEL_LABEL);
	CHECK_EQ(entry->client, 0x123456789abcdef0);
	CHECK_EQ(entry->pid, 4711);
	CHECK_EQ(entry->uid, 1000);
	CHECK(!memcmp(entry->comm, comm, 16), "%.16s", entry->comm);
}

static void labels(void)
{
	static const char whole[16] = "sixteen bytes !!", dirty[16] = "a\0no end of it";
	struct vgpu_chan *chan = begin(), *second;
	struct vgpu_ctl_channel entry;

	service_of(&v, chan->id, &entry);
	check_own(&entry);
	write_label(chan->id, VGPU_HW_LABEL_MAGIC, "mandelbrot\0\0\0\0\0");
	service_of(&v, chan->id, &entry);
	check_label(&entry, "mandelbrot\0\0\0\0\0");
	write_label(chan->id, VGPU_HW_LABEL_MAGIC, whole);
	service_of(&v, chan->id, &entry);
	check_label(&entry, whole);
	write_label(chan->id, VGPU_HW_LABEL_MAGIC, dirty);
	service_of(&v, chan->id, &entry);
	check_label(&entry, "a\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
	write_label(chan->id, VGPU_HW_LABEL_MAGIC ^ 1, whole);
	service_of(&v, chan->id, &entry);
	check_none(&entry);
	/* That of a channel that is disabled is not shown. */
	write_label(chan->id, VGPU_HW_LABEL_MAGIC, whole);
	FX_OK(v.dev, vgpu_chan_disable(chan));
	service_of(&v, chan->id, &entry);
	CHECK_EQ(entry.state, VGPU_HW_STATE_DISABLED);
	check_none(&entry);
	FX_OK(v.dev, vgpu_chan_enable(chan));
	service_of(&v, chan->id, &entry);
	check_label(&entry, whole);
	/* Others have their own. */
	second = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	service_of(&v, second->id, &entry);
	CHECK_EQ(entry.engine, second->engine);
	check_own(&entry);
	/* A channel that faults keeps its label, with or without a valid engine. */
	FX_OK(v.dev, vgpu_reg_write32(v.dev, vgpu_chan_reg(3, VGPU_HW_CHAN_CTRL),
				      VGPU_HW_CTRL_ENABLE | 0xff00));
	write_label(3, VGPU_HW_LABEL_MAGIC, whole);
	service_of(&v, 3, &entry);
	CHECK_EQ(entry.state, VGPU_HW_STATE_FAULTED);
	check_label(&entry, whole);
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	service_of(&v, chan->id, &entry);
	check_none(&entry);
}

static void check_driver(const char *name)
{
	struct vgpu_ctl_channels ctl = {};

	CHECK_EQ(service_call(&v, &ctl, NULL, 0), 0);
	CHECK(!strcmp((char *)ctl.driver_name, name), "%.32s", ctl.driver_name);
	CHECK_EQ(!ctl.driver_version[0], !name[0]);
	CHECK_EQ(!ctl.os[0], !name[0]);
}

/* A reset clears all labels. A program that goes on, with old channels or new ones, has them. */
static void labels_after_reset(void)
{
	static const char mine[16] = "mandelbrot\0\0\0\0\0";
	struct vgpu_chan *old = begin(), *other;
	struct vgpu_ctl_channel entry;

	other = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_SYS, 4);
	check_driver("libvgpu");
	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	check_driver("");
	FX_OK(v.dev, vgpu_chan_enable(old));
	service_of(&v, old->id, &entry);
	check_own(&entry);
	check_driver("libvgpu");
	FX_OK(v.dev, vgpu_chan_enable(other));
	service_of(&v, other->id, &entry);
	check_own(&entry);

	FX_OK(v.dev, vgpu_dev_reset(v.dev));
	vgpu_chan_destroy(old);
	check_driver("");
	old = fx_chan(&v, VGPU_HW_ENGINE_CE, 1, VGPU_RING_FB, 4);
	service_of(&v, old->id, &entry);
	check_own(&entry);
	check_driver("libvgpu");
	/* One that says something else of itself is left as it is. */
	write_label(other->id, VGPU_HW_LABEL_MAGIC, mine);
	FX_OK(v.dev, vgpu_chan_enable(other));
	service_of(&v, other->id, &entry);
	check_label(&entry, mine);
}

static void driver_name(void)
{
	uint8_t text[128], *name = text, *version = text + 32, *os = text + 64;
	struct utsname uts;
	char mine[256];
	struct vgpu_ctl_channels ctl = {};
	unsigned int i, k;

	begin();
	CHECK_EQ(service_call(&v, &ctl, NULL, 0), 0);
	CHECK(!strcmp((char *)ctl.driver_name, "libvgpu") && ctl.driver_version[0], "%.32s",
	      ctl.driver_name);
	CHECK_EQ(uname(&uts), 0);
	snprintf(mine, sizeof(mine), "%s %s", uts.sysname, uts.release);
	CHECK(!strncmp((char *)ctl.os, mine, sizeof(ctl.os)), "%.64s", ctl.os);
	for (k = 0; k < 2; k++) {
		/* Without an end; and then with one, and something behind it. */
		memset(text, 'x', sizeof(text));
		if (k) {
			name[5] = 0;
			version[0] = 0;
			os[63] = 0;
		}
		for (i = 0; i < sizeof(text) / 4; i++)
			CHECK_EQ(vgpu_region_write(v.dev, VGPU_HW_BAR_REGS, VGPU_HW_DEV_BASE +
						   VGPU_HW_GUEST_INFO(i), text + 4 * i, 4), 4);
		CHECK_EQ(service_call(&v, &ctl, NULL, 0), 0);
		if (k) {
			memset(name + 5, 0, 27);
			memset(version, 0, 32);
		}
		CHECK(!memcmp(ctl.driver_name, name, 32), "%.32s", ctl.driver_name);
		CHECK(!memcmp(ctl.driver_version, version, 32), "%.32s", ctl.driver_version);
		CHECK(!memcmp(ctl.os, os, 64), "%.64s", ctl.os);
	}
	fx_close(&v);
	CHECK_EQ(service_call(&v, &ctl, NULL, 0), 0);
	CHECK(fx_is_zero(ctl.driver_name, 32), "of a vGPU that is closed");
	CHECK(fx_is_zero(ctl.os, 64), "of a vGPU that is closed");
}

static int call(struct vgpu_ctl_channels *ctl)
{
	return ioctl(fx_control(), VGPU_IOC_CHANNELS, ctl) ? -errno : 0;
}

static void bad_calls(void)
{
	enum { FIRST_SIZE = offsetof(struct vgpu_ctl_channels, os) };
	struct {
		struct vgpu_ctl_channels ctl;
		uint8_t more[16];
	} arg = {};
	struct vgpu_ctl_channels *ctl = &arg.ctl;
	struct {
		struct vgpu_ctl_channel entry;
		uint8_t more[8];
	} wide[2];
	struct vgpu_chan *chan = begin();
	struct fx_vgpu nobody;

	(void)chan;
	CHECK_EQ(service_call(&v, ctl, list, 4), 0);
	CHECK_EQ(ctl->count, 1);
	CHECK(ctl->now_ns, "");
	ctl->count = 4;
	ctl->size = FIRST_SIZE - 1;
	CHECK_EQ(call(ctl), -EINVAL);
	/* A program of ABI 2.1 gets what it has room for. */
	ctl->size = FIRST_SIZE;
	memset(ctl->os, 0, sizeof(ctl->os));
	CHECK_EQ(call(ctl), 0);
	CHECK(ctl->driver_version[0] && !ctl->os[0], "%.64s", ctl->os);
	ctl->size = 0;
	CHECK_EQ(call(ctl), -EINVAL);
	ctl->size = ~0u;
	CHECK_EQ(call(ctl), -E2BIG);
	ctl->size = sizeof(arg);
	CHECK_EQ(call(ctl), 0);
	arg.more[15] = 1;
	CHECK_EQ(call(ctl), -E2BIG);
	ctl->size = sizeof(*ctl);
	ctl->flags = 1;
	CHECK_EQ(call(ctl), -EINVAL);
	ctl->flags = 0;
	ctl->entry_size = sizeof(struct vgpu_ctl_channel) - 1;
	CHECK_EQ(call(ctl), -EINVAL);
	ctl->entry_size = 1 << 20;
	CHECK_EQ(call(ctl), -E2BIG);
	/* What the driver does not know of an element reads zero; the next element stays. */
	memset(wide, 0xff, sizeof(wide));
	ctl->entry_size = sizeof(wide[0]);
	ctl->entries = (uintptr_t)wide;
	ctl->count = 2;
	CHECK_EQ(call(ctl), 0);
	CHECK_EQ(ctl->count, 1);
	CHECK(fx_is_zero(wide[0].more, 8), "");
	CHECK_EQ(wide[1].more[0], 0xff);
	CHECK_EQ(wide[1].entry.channel, ~0u);
	ctl->entries = 8;
	ctl->count = 2;
	CHECK_EQ(call(ctl), -EFAULT);
	/* No room is no reason to touch it. */
	ctl->count = 0;
	CHECK_EQ(call(ctl), 0);
	CHECK_EQ(ctl->count, 0);
	CHECK_EQ(ctl->next, ctl->first);
	ctl->count = ~0u;
	ctl->entry_size = sizeof(list[0]);
	ctl->entries = (uintptr_t)list;
	CHECK_EQ(call(ctl), 0);
	CHECK_EQ(ctl->count, 1);
	ctl->first = ~0u;
	ctl->count = 4;
	CHECK_EQ(call(ctl), 0);
	CHECK_EQ(ctl->count, 0);
	CHECK_EQ(ctl->next, ~0u);
	fx_new_uuid(&nobody);
	CHECK_EQ(service_call(&nobody, ctl, list, 4), -ENODEV);
}

/* 256 a call, whatever there is room for; by pieces of any size the same. */
static void many(void)
{
	static struct vgpu_ctl_channel pieces[VGPU_HW_MAX_CHANNELS + 1];
	struct vgpu_ctl_channels ctl = {};
	unsigned int i, nr, got = 0;

	fx_need("labels");
	fx_create_open(&v, "16Q");
	for (i = 0; i < v.dev->channels; i += 1 + (i % 3 == 1))
		FX_OK(v.dev, vgpu_reg_write32(v.dev, vgpu_chan_reg(i, VGPU_HW_CHAN_CTRL),
					      VGPU_HW_CTRL_ENABLE | 0xff00));
	nr = service_list(&v, list, VGPU_HW_MAX_CHANNELS + 1);
	CHECK(nr > v.dev->channels / 2 && nr < v.dev->channels, "%u", nr);
	CHECK_EQ(service_call(&v, &ctl, pieces, VGPU_HW_MAX_CHANNELS), 0);
	CHECK_EQ(ctl.count, nr < 256 ? nr : 256);
	ctl.first = 0;
	do {
		CHECK_EQ(service_call(&v, &ctl, &pieces[got], 7), 0);
		CHECK(ctl.count <= 7, "");
		got += ctl.count;
		CHECK(got <= nr, "");
		ctl.first = ctl.next;
	} while (ctl.count);
	CHECK_EQ(got, nr);
	CHECK(!memcmp(pieces, list, nr * sizeof(list[0])), "");
}

static void *scribbler(void *arg)
{
	volatile uint64_t *words = arg;
	struct rng rng = rng_seed(17);
	unsigned int i;

	while (!stop) {
		for (i = 0; i < sizeof(struct vgpu_hw_label) / 8; i++)
			words[i] = rng_next(&rng);
		*(volatile uint32_t *)words = htole32(VGPU_HW_LABEL_MAGIC);
	}
	return NULL;
}

static void thread_start(void *(*run)(void *arg), void *arg)
{
	stop = false;
	CHECK(!pthread_create(&threads[nr_threads], NULL, run, arg), "");
	nr_threads++;
}

static void threads_end(void)
{
	stop = true;
	while (nr_threads)
		pthread_join(threads[--nr_threads], NULL);
}

/* What is shown was checked, and nothing follows the end of a name. */
static void labels_that_change(void)
{
	struct vgpu_ctl_channel entry;
	struct vgpu_chan *chan = begin();
	unsigned int i, k, labelled = 0;
	uint64_t end = clk_ms() + FX_TIMEOUT_MS;

	thread_start(scribbler, (void *)label_of(chan->id));
	/* With one processor it may be the same, and none, for as long as this thread runs. */
	for (i = 0; i < 20000 || (!labelled && clk_ms() < end); i++) {
		service_of(&v, chan->id, &entry);
		if (!entry.flags) {
			check_none(&entry);
			continue;
		}
		CHECK_EQ(entry.flags, VGPU_CHANNEL_LABEL);
		labelled++;
		k = (unsigned int)strnlen((char *)entry.comm, sizeof(entry.comm));
		CHECK(fx_is_zero(entry.comm + k, sizeof(entry.comm) - k), "");
		CHECK_EQ(entry.channel, chan->id);
		CHECK_EQ(entry.state, VGPU_HW_STATE_SLEEPING);
	}
	threads_end();
	CHECK(labelled, "no label was seen");
}

static atomic_uint listed, gone;

static void *lister(void *arg)
{
	static _Thread_local struct vgpu_ctl_channel mine[16];
	struct fx_vgpu who = *(struct fx_vgpu *)arg;
	struct vgpu_ctl_channels ctl;
	int ret;

	while (!stop) {
		memset(&ctl, 0, sizeof(ctl));
		ret = service_call(&who, &ctl, mine, 16);
		if (!ret)
			listed++;
		else if (ret == -ENODEV)
			gone++;
		else
			abort();
		if (!ret && ctl.count > 16)
			abort();
	}
	return NULL;
}

/* Readers beside a vGPU that is opened, works, is reset, closed, removed and created again. */
static void beside_everything(void)
{
	struct vgpu_chan *chan;
	unsigned int i;

	fx_need("labels");
	listed = 0;
	gone = 0;
	fx_create(&v, fx_default_type());
	for (i = 0; i < 3; i++)
		thread_start(lister, &v);
	for (i = 0; i < 100; i++) {
		fx_open(&v);
		chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
		write_label(chan->id, VGPU_HW_LABEL_MAGIC, "mandelbrot\0\0\0\0\0");
		FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(FX_MIB), i, FX_MIB));
		if (i % 3 == 0)
			FX_OK(v.dev, vgpu_dev_reset(v.dev));
		fx_close(&v);
		if (i % 10 == 9) {
			struct fx_vgpu name = v;

			threads_end();
			thread_start(lister, &name);
			thread_start(lister, &name);
			fx_remove(&v);
			threads_end();
			fx_create(&v, fx_default_type());
			thread_start(lister, &v);
			thread_start(lister, &v);
		}
	}
	threads_end();
	ktap_note("%u lists, %u of no vGPU", listed, gone);
	CHECK(listed, "");
}

static void cleanup(void)
{
	threads_end();
	fx_cleanup();
}

static const struct ktap_test tests[] = {
	KTAP_TEST(labels),
	KTAP_TEST(labels_after_reset),
	KTAP_TEST(driver_name),
	KTAP_TEST(bad_calls),
	KTAP_TEST(many),
	KTAP_TEST(labels_that_change),
	KTAP_TEST(beside_everything),
};

KTAP_MAIN(tests, cleanup)
