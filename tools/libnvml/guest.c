// SPDX-License-Identifier: GPL-2.0
/*
 * Processes in guests, and the guests' drivers. Who a process is, is what its guest says by the
 * labels of its channels; its time is what the driver of /dev/vgpu has measured for these.
 *
 * That driver has no samples of channels, but their times so far: the library has looks (looks.c).
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define GUEST_ROOM	256	/* channels that a call gives at most */

/* A channel of the vGPU @vgpu while that is open for the time @session, read at @read_ns. */
struct guest_channel {
	nvmlVgpuInstance_t vgpu;
	uint64_t session;
	uint64_t started_ns;
	uint64_t read_ns;
	struct vgpu_ctl_channel info;
};

/* Channels in the order of vGPUs, and in these of their numbers. */
struct guest_look {
	struct nv_look head;
	unsigned int nr;
	struct guest_channel channel[];
};

static const struct guest_look *guest_look_of(const struct nv_look *look)
{
	return (const struct guest_look *)look;
}

static int guest_order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int guest_compare(const void *left, const void *right)
{
	const struct guest_channel *a = left, *b = right;
	int order = guest_order(a->vgpu, b->vgpu);

	return order ? order : guest_order(a->info.channel, b->info.channel);
}

static bool guest_named(const struct guest_channel *channel)
{
	return channel->info.flags & VGPU_CHANNEL_LABEL;
}

/* By vGPUs and pids; those without a label are the last ones of their vGPU. */
static int guest_compare_processes(const void *left, const void *right)
{
	const struct guest_channel *a = *(const struct guest_channel * const *)left;
	const struct guest_channel *b = *(const struct guest_channel * const *)right;
	int order = guest_order(a->vgpu, b->vgpu);

	if (!order)
		order = guest_order(guest_named(b), guest_named(a));
	if (!order)
		order = guest_order(a->info.pid, b->info.pid);
	return order ? order : guest_order(a->info.channel, b->info.channel);
}

static bool guest_same_process(const struct guest_channel *a, const struct guest_channel *b)
{
	return a->vgpu == b->vgpu && guest_named(a) == guest_named(b) &&
	       (!guest_named(a) || a->info.pid == b->info.pid);
}

static nvmlReturn_t guest_call(const struct vgpu_ctl_instance *inst, uint32_t first,
			       struct vgpu_ctl_channel *entries, uint32_t room,
			       struct vgpu_ctl_channels *call)
{
	memset(call, 0, sizeof(*call));
	call->size = sizeof(*call);
	memcpy(call->uuid, inst->uuid, sizeof(call->uuid));
	call->count = room;
	call->entry_size = sizeof(*entries);
	call->entries = (uintptr_t)entries;
	call->first = first;
	return nv_node_call(VGPU_IOC_CHANNELS, call);
}

/* Adds the next channels of a vGPU to those of a look; sets @first, or @end: there are no more. */
static nvmlReturn_t guest_add(struct guest_look **look, const struct vgpu_ctl_instance *inst,
			      uint32_t *first, bool *end)
{
	struct vgpu_ctl_channel entries[GUEST_ROOM];
	struct vgpu_ctl_channels call;
	struct guest_channel *channel;
	struct guest_look *grown;
	nvmlVgpuInstance_t id;
	nvmlReturn_t ret;
	unsigned int i;

	ret = guest_call(inst, *first, entries, GUEST_ROOM, &call);
	if (ret)
		return ret;
	*end = !call.count || call.next <= *first;
	*first = call.next;
	if (!call.count)
		return NVML_SUCCESS;
	id = nv_vgpu_id(inst);
	grown = realloc(*look, sizeof(**look) + ((*look)->nr + GUEST_ROOM) * sizeof(*channel));
	if (!id || !grown) {
		*look = grown ? grown : *look;
		return NVML_ERROR_MEMORY;
	}
	*look = grown;
	for (i = 0; i < call.count && i < GUEST_ROOM; i++) {
		channel = &grown->channel[grown->nr++];
		channel->vgpu = id;
		channel->session = inst->session;
		channel->started_ns = inst->started_ns;
		channel->read_ns = call.now_ns;
		channel->info = entries[i];
	}
	return NVML_SUCCESS;
}

static nvmlReturn_t guest_read(const struct nv_vgpus *vgpus, struct guest_look **look)
{
	nvmlReturn_t ret = NVML_SUCCESS;
	unsigned int i;
	uint32_t first;
	bool end;

	for (i = 0; !ret && i < vgpus->nr; i++) {
		first = 0;
		end = vgpus->inst[i].state != VGPU_STATE_STARTED;
		while (!ret && !end)
			ret = guest_add(look, &vgpus->inst[i], &first, &end);
		/* It is gone, and its channels with it. */
		if (ret == NVML_ERROR_GPU_IS_LOST)
			ret = NVML_SUCCESS;
	}
	/* A driver that cannot tell of guests. */
	return ret == NVML_ERROR_NOT_SUPPORTED ? NVML_SUCCESS : ret;
}

/* What the channel got since the look @base, of which it was enabled last in this session. */
static uint64_t guest_busy_ns(const struct guest_channel *channel, const struct guest_look *base)
{
	const struct guest_channel *before = NULL;
	uint64_t busy_ns = channel->info.busy_ns;

	if (base)
		before = bsearch(channel, base->channel, base->nr, sizeof(*channel), guest_compare);
	if (before && before->session == channel->session &&
	    before->info.enabled_ns == channel->info.enabled_ns && before->info.busy_ns <= busy_ns)
		busy_ns -= before->info.busy_ns;
	return busy_ns;
}

static uint64_t guest_period_ns(const struct guest_channel *channel, const struct guest_look *base)
{
	uint64_t from_ns = channel->started_ns;

	if (base && base->head.time_ns > from_ns)
		from_ns = base->head.time_ns;
	return channel->read_ns > from_ns ? channel->read_ns - from_ns : 0;
}

/* Notes who is seen at a look, which is not kept yet, and what they got since the one before. */
static nvmlReturn_t guest_record(struct nvmlDevice_st *device, const struct nv_vgpus *vgpus,
				 const struct guest_look *look)
{
	const struct guest_look *last = guest_look_of(device->looks.look[0]);
	nvmlReturn_t ret = nv_record_look(&device->records, vgpus, look->nr);
	unsigned int i;

	for (i = 0; !ret && i < look->nr; i++) {
		const struct guest_channel *channel = &look->channel[i];
		struct nv_record seen = {
			.vgpu = channel->vgpu,
			.session = channel->session,
			.pid = channel->info.pid,
			.start_ns = channel->info.enabled_ns,
			.last_ns = channel->read_ns,
		};

		if (!guest_named(channel))
			continue;
		memcpy(seen.comm, channel->info.comm, sizeof(seen.comm));
		if (channel->info.engine < VGPU_MAX_ENGINES)
			seen.busy[channel->info.engine].busy_ns = guest_busy_ns(channel, last);
		nv_record_see(&device->records, &seen);
	}
	return ret;
}

/* Looks, unless the last look is as good as a new one. Of no channels no look is kept. */
static nvmlReturn_t guest_look(struct nvmlDevice_st *device, const struct nv_vgpus *vgpus,
			       uint64_t now_ns)
{
	struct guest_look *look;
	nvmlReturn_t ret;

	if (nv_looks_fresh(&device->looks, now_ns))
		return NVML_SUCCESS;
	look = calloc(1, sizeof(*look));
	if (!look)
		return NVML_ERROR_MEMORY;
	look->head.time_ns = now_ns;
	ret = guest_read(vgpus, &look);
	if (!ret) {
		qsort(look->channel, look->nr, sizeof(look->channel[0]), guest_compare);
		ret = guest_record(device, vgpus, look);
	}
	if (ret || !look->nr) {
		free(look);
		if (!ret)
			nv_looks_forget(&device->looks);
		return ret;
	}
	nv_looks_push(&device->looks, &look->head);
	return NVML_SUCCESS;
}

/*
 * The sample of a process, whose channels are the first @nr of @channels. Returns false if it has
 * none enabled, and had no time: it has ended.
 */
static bool guest_sample(const struct nvmlDevice_st *device, const struct guest_look *base,
			 const struct guest_channel **channels, unsigned int nr,
			 struct nv_sample *sample)
{
	struct vgpu_ctl_engine_busy sum[VGPU_MAX_ENGINES] = { { 0 } };
	const struct guest_channel *first = channels[0];
	bool lives = false;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const struct vgpu_ctl_channel *info = &channels[i]->info;
		uint64_t busy_ns = guest_busy_ns(channels[i], base);

		lives |= busy_ns || info->state != VGPU_HW_STATE_DISABLED;
		if (info->engine < VGPU_MAX_ENGINES)
			sum[info->engine].busy_ns += busy_ns;
	}
	memset(sample, 0, sizeof(*sample));
	sample->vgpu = first->vgpu;
	sample->of_guest = true;
	if (guest_named(first)) {
		sample->pid = first->info.pid;
		sample->comm = first->info.comm;
	}
	sample->time_us = nv_time_us(device->looks.look[0]->time_ns);
	nv_percent(&device->info, sum, guest_period_ns(first, base), sample->percent);
	return lives;
}

/* Is the vGPU that the channel was of still there, and open since then? */
static bool guest_is_open(const struct guest_channel *channel, const struct nv_vgpus *vgpus)
{
	unsigned int i;

	for (i = 0; i < vgpus->nr; i++)
		if (vgpus->inst[i].session == channel->session &&
		    nv_vgpu_id(&vgpus->inst[i]) == channel->vgpu)
			return true;
	return false;
}

/* Takes away the samples of a vGPU, which are of the process that has it open. */
static void guest_replaces(struct nv_samples *samples, nvmlVgpuInstance_t vgpu)
{
	unsigned int i, nr = 0;

	for (i = 0; i < samples->nr; i++)
		if (samples->sample[i].vgpu != vgpu || samples->sample[i].of_guest)
			samples->sample[nr++] = samples->sample[i];
	samples->nr = nr;
}

/*
 * Adds the processes of a guest, of whose channels there are @nr at @channels, if it names at least
 * one. There is room. @told: the client has the samples of the last look.
 */
static void guest_add_processes(const struct nvmlDevice_st *device, const struct guest_look *base,
				bool told, const struct guest_channel **channels, unsigned int nr,
				struct nv_samples *samples)
{
	unsigned int i, end;

	if (!guest_named(channels[0]) || !guest_is_open(channels[0], samples->vgpus))
		return;
	guest_replaces(samples, channels[0]->vgpu);
	for (i = 0; i < nr && !told; i = end) {
		for (end = i + 1; end < nr && guest_same_process(channels[i], channels[end]); end++)
			;
		samples->nr += guest_sample(device, base, &channels[i], end - i,
					    &samples->sample[samples->nr]);
	}
}

nvmlReturn_t nv_guests_look(struct nvmlDevice_st *device)
{
	const struct nv_vgpus *vgpus;
	struct vgpu_ctl_gpu gpu;
	nvmlReturn_t ret = nv_node_gpu(device->info.gpu, &gpu);

	if (!ret)
		ret = nv_vgpus(device, false, &vgpus);
	return ret ? ret : guest_look(device, vgpus, gpu.now_ns);
}

nvmlReturn_t nv_guests_read(struct nvmlDevice_st *device, uint64_t since_us,
			    struct nv_samples *samples)
{
	nvmlReturn_t ret = guest_look(device, samples->vgpus, samples->now_ns);
	const struct guest_look *look = guest_look_of(device->looks.look[0]), *base;
	const struct guest_channel **channels;
	struct nv_sample *grown;
	unsigned int i, end;
	bool told;

	if (ret || !look)
		return ret;
	channels = malloc(look->nr * sizeof(*channels));
	grown = realloc(samples->sample, (samples->nr + look->nr) * sizeof(*grown));
	if (grown)
		samples->sample = grown;
	if (!channels || !grown) {
		free(channels);
		return NVML_ERROR_MEMORY;
	}
	for (i = 0; i < look->nr; i++)
		channels[i] = &look->channel[i];
	qsort(channels, look->nr, sizeof(*channels), guest_compare_processes);
	base = guest_look_of(nv_looks_base(&device->looks, since_us));
	told = nv_time_us(look->head.time_ns) <= since_us;
	for (i = 0; i < look->nr; i = end) {
		for (end = i + 1; end < look->nr && channels[end]->vgpu == channels[i]->vgpu; end++)
			;
		guest_add_processes(device, base, told, &channels[i], end - i, samples);
	}
	free(channels);
	return NVML_SUCCESS;
}

nvmlReturn_t nv_guest_driver(const struct vgpu_ctl_instance *inst,
			     char version[VGPU_GUEST_NAME_LEN + 1])
{
	struct vgpu_ctl_channel entry;
	struct vgpu_ctl_channels call;
	nvmlReturn_t ret = guest_call(inst, 0, &entry, 1, &call);

	version[0] = 0;
	if (ret == NVML_ERROR_NOT_SUPPORTED)
		return NVML_SUCCESS;
	if (ret)
		return ret == NVML_ERROR_GPU_IS_LOST ? NVML_ERROR_NOT_FOUND : ret;
	nv_shown_text(version, call.driver_version, sizeof(call.driver_version));
	return NVML_SUCCESS;
}
