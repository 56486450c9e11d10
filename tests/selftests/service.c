// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "service.h"

int service_call(const struct fx_vgpu *v, struct vgpu_ctl_channels *ctl,
		 struct vgpu_ctl_channel *entries, uint32_t room)
{
	ctl->size = sizeof(*ctl);
	memcpy(ctl->uuid, v->id, sizeof(ctl->uuid));
	ctl->count = room;
	ctl->entry_size = sizeof(*entries);
	ctl->entries = (uintptr_t)entries;
	return ioctl(fx_control(), VGPU_IOC_CHANNELS, ctl) ? -errno : 0;
}

unsigned int service_list(const struct fx_vgpu *v, struct vgpu_ctl_channel *list,
			  unsigned int room)
{
	struct vgpu_ctl_channels ctl = {};
	unsigned int i, nr = 0;

	do {
		CHECK(nr < room, "more than %u channels", room);
		CHECK_EQ(service_call(v, &ctl, &list[nr], room - nr), 0);
		CHECK(ctl.count <= room - nr, "");
		nr += ctl.count;
		CHECK(!ctl.count || ctl.next > list[nr - 1].channel, "");
		ctl.first = ctl.next;
	} while (ctl.count && nr < room);
	for (i = 0; i < nr; i++) {
		CHECK(!i || list[i].channel > list[i - 1].channel, "order");
		CHECK(list[i].busy_ns <= list[i].total_busy_ns, "");
		CHECK(list[i].enabled_ns && list[i].enabled_ns <= ctl.now_ns, "");
		CHECK(list[i].state <= VGPU_HW_STATE_FAULTED, "");
		CHECK(!(list[i].flags & ~VGPU_CHANNEL_LABEL), "");
		CHECK(fx_is_zero(list[i].reserved, sizeof(list[i].reserved)), "");
	}
	return nr;
}

void service_of(const struct fx_vgpu *v, uint32_t channel, struct vgpu_ctl_channel *out)
{
	struct vgpu_ctl_channels ctl = { .first = channel };

	CHECK_EQ(service_call(v, &ctl, out, 1), 0);
	CHECK_EQ(ctl.count, 1);
	CHECK_EQ(ctl.next, channel + 1);
	CHECK_EQ(out->channel, channel);
}

static uint64_t busy_ns(const struct fx_vgpu *v)
{
	struct vgpu_ctl_instance inst;
	uint64_t sum = 0;
	unsigned int i;

	fx_instance(v, &inst);
	for (i = 0; i < inst.engines; i++)
		sum += inst.engine[i].busy_ns;
	return sum;
}

void service_begin(const struct fx_vgpu *v, struct service_base *base)
{
	base->busy_ns = busy_ns(v);
}

static uint64_t sum_ns(const struct fx_vgpu *v, unsigned int *nr)
{
	static struct vgpu_ctl_channel list[VGPU_HW_MAX_CHANNELS];
	uint64_t sum = 0;
	unsigned int i;

	*nr = service_list(v, list, VGPU_HW_MAX_CHANNELS);
	for (i = 0; i < *nr; i++)
		sum += list[i].total_busy_ns;
	return sum;
}

void service_pause(const struct fx_vgpu *v, bool pause)
{
	int ret = fx_debugfs(v, pause ? "pause" : "resume");

	CHECK(!ret, "%s", strerror(-ret));
}

/*
 * Channels get their time when a run has ended, and an engine's thread that has no processor may
 * keep its run for as long as it likes; but when a vGPU stands still it is on no engine. After that
 * it is waited until nothing changes. Its service is not looked at meanwhile: what is read while
 * the engine polls may include idle time, and stays.
 */
void service_settle(const struct fx_vgpu *v)
{
	uint64_t before, after = ~0ull;
	unsigned int nr;

	service_pause(v, true);
	service_pause(v, false);
	do {
		before = after;
		clk_sleep_ms(10);
		after = sum_ns(v, &nr);
	} while (after != before);
}

int64_t service_off(const struct fx_vgpu *v, const struct service_base *base)
{
	unsigned int nr;

	service_settle(v);
	return (int64_t)(sum_ns(v, &nr) - (busy_ns(v) - base->busy_ns));
}

void service_check(const struct fx_vgpu *v, const struct service_base *base)
{
	uint64_t sum, service, off;
	unsigned int nr;

	service_settle(v);
	service = busy_ns(v) - base->busy_ns;
	sum = sum_ns(v, &nr);
	off = sum > service ? sum - service : service - sum;
	ktap_note("service %llu ns, %u channels %+lld ns", (unsigned long long)service, nr,
		  (long long)(sum - service));
	CHECK(service, "no service");
	CHECK(off <= service / 1000, "off by %llu ns", (unsigned long long)off);
}
