// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/vgpu_hw.h>

#include <libvgpu_names.h>

#include "ctl.h"
#include "guest.h"
#include "utf8.h"

#define CHUNK	256	/* VGPU_IOC_CHANNELS gives no more at once */

static const char * const state_names[] = {
	[VGPU_HW_STATE_DISABLED] = "disabled",
	[VGPU_HW_STATE_SLEEPING] = "sleeping",
	[VGPU_HW_STATE_AWAKE] = "awake",
	[VGPU_HW_STATE_FAULTED] = "faulted",
};

const char *guest_state_name(uint32_t state)
{
	return VGPU_NAME_OF(state_names, state);
}

char *guest_text(const uint8_t *text, size_t bytes, char *to)
{
	const uint8_t *s = text, *end = s + strnlen((const char *)text, bytes);
	char *at = to;
	size_t n;

	while (s < end) {
		n = utf8_shown_length(s, (size_t)(end - s));
		at = n ? mempcpy(at, s, n) : mempcpy(at, UTF8_REPLACEMENT, 3);
		s += n ? n : 1;
	}
	*at = 0;
	return to;
}

int guest_read(int fd, const uint8_t *uuid, struct guest *guest)
{
	struct vgpu_ctl_channels head;
	uint32_t first = 0, count;
	int ret;

	memset(guest, 0, sizeof(*guest));
	for (;;) {
		guest->channel = reallocarray(guest->channel, guest->nr + CHUNK,
					      sizeof(*guest->channel));
		need_memory(guest->channel);
		count = CHUNK;
		ret = ctl_channels(fd, uuid, first, guest->channel + guest->nr, &count, &head);
		if (ret || !count)
			break;
		guest->nr += count;
		/* A driver that does not get on is not asked for ever. */
		if (head.next <= first)
			break;
		first = head.next;
	}
	if (ret) {
		guest_free(guest);
		guest->old = ret == -ENOTTY;
		return guest->old || ctl_is_gone(ret) ? 0 : ret;
	}
	guest->known = true;
	guest->now_ns = head.now_ns;
	guest_text(head.driver_name, sizeof(head.driver_name), guest->name);
	guest_text(head.driver_version, sizeof(head.driver_version), guest->version);
	guest_text(head.os, sizeof(head.os), guest->os);
	return 0;
}

void guest_free(struct guest *guest)
{
	free(guest->channel);
	memset(guest, 0, sizeof(*guest));
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_labels(const void *left, const void *right)
{
	const struct guest_process *a = left, *b = right;
	int order = compare_numbers(b->named, a->named);

	if (!order)
		order = compare_numbers(a->pid, b->pid);
	if (!order)
		order = compare_numbers(a->client, b->client);
	if (!order)
		order = compare_numbers(a->uid, b->uid);
	return order ? order : strcmp(a->command, b->command);
}

static int compare_times(const void *left, const void *right)
{
	const struct guest_process *a = left, *b = right;
	int order = compare_numbers(b->busy_ns, a->busy_ns);

	return order ? order : compare_labels(left, right);
}

/* The process of one channel. */
static void process_of(const struct vgpu_ctl_channel *channel, struct guest_process *process)
{
	uint32_t i = channel->engine;

	memset(process, 0, sizeof(*process));
	process->named = channel->flags & VGPU_CHANNEL_LABEL;
	if (process->named) {
		process->client = channel->client;
		process->pid = channel->pid;
		process->uid = channel->uid;
		guest_text(channel->comm, sizeof(channel->comm), process->command);
	}
	if (i >= VGPU_MAX_ENGINES)
		return;
	process->busy_ns = channel->busy_ns;
	process->engine[i].channels = 1;
	process->engine[i].busy_ns = channel->busy_ns;
	process->engine[i].total_busy_ns = channel->total_busy_ns;
}

void guest_process_join(struct guest_process *to, const struct guest_process *from)
{
	uint32_t i;

	to->busy_ns += from->busy_ns;
	for (i = 0; i < VGPU_MAX_ENGINES; i++) {
		to->engine[i].channels += from->engine[i].channels;
		to->engine[i].busy_ns += from->engine[i].busy_ns;
		to->engine[i].total_busy_ns += from->engine[i].total_busy_ns;
	}
}

struct guest_process *guest_processes(const struct guest *guest, uint32_t *nr)
{
	struct guest_process *all = need_zeroed(guest->nr ? guest->nr : 1, sizeof(*all));
	uint32_t i;

	*nr = 0;
	for (i = 0; i < guest->nr; i++)
		process_of(&guest->channel[i], &all[i]);
	qsort(all, guest->nr, sizeof(*all), compare_labels);
	for (i = 0; i < guest->nr; i++) {
		if (*nr && !compare_labels(&all[*nr - 1], &all[i]))
			guest_process_join(&all[*nr - 1], &all[i]);
		else
			all[(*nr)++] = all[i];
	}
	qsort(all, *nr, sizeof(*all), compare_times);
	return all;
}
