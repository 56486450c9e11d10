// SPDX-License-Identifier: GPL-2.0
/* The state of a dispatch as a whole: see state_image.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "soft/simt/warp.h"
#include "state_image.h"

static void *garbage(size_t bytes, u64 *seed)
{
	u8 *to = aligned_alloc(64, (bytes + 64) & ~63UL);
	u64 word = random_next(seed);
	size_t at;

	for (at = 0; at < bytes; at++)
		to[at] = word >> at % 8 * 8;
	return to;
}

/* Gives the group, whose dispatch is set, memory that has anything in it. */
void state_memory(struct simt_group *group, u64 *seed)
{
	const struct simt_dispatch *dispatch = group->dispatch;

	group->local = garbage(dispatch->local_bytes, seed);
	group->private = garbage(simt_private_bytes(dispatch->group, dispatch->private_bytes),
				 seed);
	group->warps = garbage(simt_warps_bytes(dispatch->group), seed);
}

void state_memory_free(struct simt_group *group)
{
	free(group->local);
	free(group->private);
	free(group->warps);
}

/* Begins a dispatch that has one group in flight. */
void state_begin(struct simt_dispatch *dispatch, struct simt_group *group)
{
	simt_dispatch_begin(dispatch);
	simt_group_init(group, dispatch);
	simt_dispatch_next(dispatch, group);
}

u64 state_executed(const struct simt_group *group)
{
	return group->dispatch->executed + group->executed;
}

static u8 *copy_of(const void *from, size_t bytes)
{
	u8 *to = malloc(bytes + !bytes);

	memcpy(to, from, bytes);
	return to;
}

/* A dispatch with one group in flight. */
struct state_flights state_flight(struct simt_group *group)
{
	return (struct state_flights){
		.nr = 1, .group = { group }, .executed = state_executed(group),
	};
}

/* The same groups in the order of their ids. */
static struct state_flights in_order(const struct state_flights *flights)
{
	struct state_flights to = { .executed = flights->executed };
	u32 i, k;

	for (i = 0; i < flights->nr; i++) {
		struct simt_group *group = flights->group[i];

		for (k = to.nr++; k && simt_id_before(group->group_id,
						      to.group[k - 1]->group_id); k--)
			to.group[k] = to.group[k - 1];
		to.group[k] = group;
	}
	return to;
}

static void save_group(struct state_image_group *image, const struct simt_group *group)
{
	u8 *private, *record = malloc(SIMT_STATE_WARP_MAX);
	u32 i;

	simt_state_save_group(group, &image->group);
	image->local_bytes = group->local_bytes;
	image->local = copy_of(group->local, image->local_bytes);
	image->private_bytes = simt_state_private_bytes(group);
	private = malloc(image->private_bytes + 1);
	simt_state_save_private(group, 0, private, image->private_bytes / 16 * 8);
	simt_state_save_private(group, image->private_bytes / 16 * 8,
				private + image->private_bytes / 16 * 8,
				image->private_bytes - image->private_bytes / 16 * 8);
	image->private = private;
	image->nr = group->nr_warps;
	for (i = 0; i < image->nr; i++) {
		memset(record, 0x5a, SIMT_STATE_WARP_MAX);
		image->bytes[i] = simt_state_save_warp(group, i, record);
		image->warp[i] = copy_of(record, image->bytes[i]);
	}
	free(record);
}

void state_image_save(struct state_image *image, const struct state_flights *flights)
{
	struct state_flights order = in_order(flights);
	u32 i;

	memset(image, 0xa5, sizeof(*image));
	simt_state_save_dispatch(order.group[0]->dispatch, order.executed, order.nr,
				 &image->dispatch);
	image->nr = order.nr;
	for (i = 0; i < order.nr; i++)
		save_group(&image->group[i], order.group[i]);
}

void state_image_copy(struct state_image *image, const struct state_image *from)
{
	u32 i, k;

	*image = *from;
	for (k = 0; k < from->nr; k++) {
		const struct state_image_group *group = &from->group[k];

		image->group[k].local = copy_of(group->local, group->local_bytes);
		image->group[k].private = copy_of(group->private, group->private_bytes);
		for (i = 0; i < group->nr; i++)
			image->group[k].warp[i] = copy_of(group->warp[i], group->bytes[i]);
	}
}

static void forget_ended(struct state_image_group *image, const struct simt_group *group)
{
	u32 i, row = SIMT_LANES * group->private_bytes;
	size_t at;

	for (at = 0; at < image->private_bytes; at += 8) {
		i = at / row;
		if (!(group->warps[i].live >> at / 8 % SIMT_LANES & 1))
			memset(image->private + at, 0, 8);
	}
}

/* Private memory of lanes that have ended is no part of a state: what was loaded has it cleared. */
void state_image_forget_ended(struct state_image *image, const struct state_flights *loaded)
{
	u32 i;

	for (i = 0; i < image->nr; i++)
		forget_ended(&image->group[i], loaded->group[i]);
}

void state_image_free(struct state_image *image)
{
	u32 i, k;

	for (k = 0; k < image->nr; k++) {
		for (i = 0; i < image->group[k].nr; i++)
			free(image->group[k].warp[i]);
		free(image->group[k].local);
		free(image->group[k].private);
	}
}

static bool same_group(const struct state_image_group *a, const struct state_image_group *b)
{
	u32 i;

	if (memcmp(&a->group, &b->group, sizeof(a->group)) || a->nr != b->nr ||
	    a->local_bytes != b->local_bytes || a->private_bytes != b->private_bytes ||
	    memcmp(a->local, b->local, a->local_bytes) ||
	    memcmp(a->private, b->private, a->private_bytes))
		return false;
	for (i = 0; i < a->nr; i++)
		if (a->bytes[i] != b->bytes[i] || memcmp(a->warp[i], b->warp[i], a->bytes[i]))
			return false;
	return true;
}

bool state_image_same(const struct state_image *a, const struct state_image *b)
{
	u32 i;

	if (memcmp(&a->dispatch, &b->dispatch, sizeof(a->dispatch)) || a->nr != b->nr)
		return false;
	for (i = 0; i < a->nr; i++)
		if (!same_group(&a->group[i], &b->group[i]))
			return false;
	return true;
}

static void print_difference(const char *what, const u8 *a, size_t a_bytes, const u8 *b,
			     size_t b_bytes)
{
	size_t at;

	if (a_bytes != b_bytes)
		printf("# %s: %zu bytes and %zu\n", what, a_bytes, b_bytes);
	for (at = 0; at < a_bytes && at < b_bytes; at++) {
		if (a[at] == b[at])
			continue;
		printf("# %s: byte %zu of %zu is %#x and %#x\n", what, at, a_bytes, a[at], b[at]);
		return;
	}
}

static void print_group(const struct state_image_group *a, const struct state_image_group *b)
{
	char what[16];
	u32 i;

	print_difference("group", (const u8 *)&a->group, sizeof(a->group),
			 (const u8 *)&b->group, sizeof(b->group));
	print_difference("local", a->local, a->local_bytes, b->local, b->local_bytes);
	print_difference("private", a->private, a->private_bytes, b->private, b->private_bytes);
	for (i = 0; i < a->nr && i < b->nr; i++) {
		snprintf(what, sizeof(what), "warp %u", i);
		print_difference(what, a->warp[i], a->bytes[i], b->warp[i], b->bytes[i]);
	}
}

/* Says where two images begin to differ. */
void state_image_print(const struct state_image *a, const struct state_image *b)
{
	u32 i;

	print_difference("dispatch", (const u8 *)&a->dispatch, sizeof(a->dispatch),
			 (const u8 *)&b->dispatch, sizeof(b->dispatch));
	for (i = 0; i < a->nr && i < b->nr; i++)
		print_group(&a->group[i], &b->group[i]);
}

static const char *load_group(const struct state_image_group *image, struct simt_group *group,
			      const struct simt_group *before)
{
	const char *wrong;
	u32 i;

	wrong = simt_state_load_group(group, before, &image->group);
	if (wrong)
		return wrong;
	if (group->nr_warps != image->nr)
		return "number of warps";
	memcpy(group->local, image->local, image->local_bytes);
	memcpy(group->private, image->private, image->private_bytes);
	for (i = 0; i < image->nr && !wrong; i++)
		wrong = simt_state_load_warp(group, i, image->warp[i], image->bytes[i]);
	return wrong;
}

/*
 * Loads into groups and their dispatch, set up: each into one that has the same place in the order
 * of ids, or into the first ones. Returns NULL, or which field was refused.
 */
const char *state_image_load(const struct state_image *image, const struct state_flights *flights)
{
	struct simt_dispatch *dispatch = flights->group[0]->dispatch;
	const char *wrong;
	u32 i, nr;

	wrong = simt_state_load_dispatch(dispatch, &image->dispatch, &nr);
	if (wrong)
		return wrong;
	if (nr != image->nr || nr > flights->nr)
		return "number of groups";
	for (i = 0; i < nr && !wrong; i++) {
		simt_group_init(flights->group[i], dispatch);
		wrong = load_group(&image->group[i], flights->group[i],
				   i ? flights->group[i - 1] : NULL);
	}
	return wrong;
}

/* What the loader computes is what the interpreter had there, where it reads it again. */
static void compare_derived(const struct simt_warp *was, const struct simt_warp *is)
{
	bool runs = was->ip != SIMT_LEAVE, same = true;
	bool begins = !was->partial && !was->fair && is->join == is->text + is->nr;

	if (!was->live)
		return;
	/* A warp that has just begun may look earlier whether its lanes are to run alone. */
	if (runs || was->met)
		same = (was->join - was->text == is->join - is->text ||
			(begins && was->join < was->text + was->nr)) &&
		       was->partial == is->partial;
	if (runs && was->partial)
		same = same && !memcmp(was->mask32, is->mask32, sizeof(is->mask32)) &&
		       !memcmp(was->mask64, is->mask64, sizeof(is->mask64));
	same = same && !memcmp(was->lid, is->lid, sizeof(is->lid)) && was->nr == is->nr &&
	       was->text == is->text && was->index == is->index && is->event == SIMT_EVENT_PICK;
	if (same)
		return;
	fprintf(stderr, "warp %u: ip %ld join %ld fair %d partial %#x extra %u, now join %ld partial %#x\n",
		was->index, runs ? (long)(was->ip - was->text) : -1,
		(long)(was->join - was->text), was->fair, was->partial, was->extra,
		(long)(is->join - is->text), is->partial);
	abort();
}

static void count_group(struct state_moves *moves, const struct state_image_group *image)
{
	u32 i;

	for (i = 0; i < image->nr; i++) {
		if (image->bytes[i] <= sizeof(struct simt_state_warp))
			continue;
		moves->warps++;
		moves->bytes += image->bytes[i];
		if (image->bytes[i] > moves->most)
			moves->most = image->bytes[i];
	}
}

static void count(struct state_moves *moves, const struct state_image *image)
{
	u32 i;

	moves->count++;
	for (i = 0; i < image->nr; i++)
		count_group(moves, &image->group[i]);
}

/* Nothing is left of a group; its memory is @old's. */
static void forget(struct simt_group *group, struct simt_group *old, u64 *seed)
{
	*old = *group;
	memset(&group->nr, 0xa5, sizeof(*group) - offsetof(struct simt_group, nr));
	state_memory(group, seed);
}

/* Loads what was there, and compares what is there with it. */
static void load_again(const struct state_image *was, const struct state_flights *flights)
{
	const char *wrong = state_image_load(was, flights);
	struct state_flights loaded = *flights;
	struct state_image is;
	u32 i;

	if (wrong) {
		fprintf(stderr, "a state is refused: %s\n", wrong);
		abort();
	}
	loaded.executed = loaded.group[0]->dispatch->executed;
	for (i = 0; i < loaded.nr; i++)
		loaded.executed += loaded.group[i]->executed;
	state_image_save(&is, &loaded);
	if (!state_image_same(was, &is)) {
		state_image_print(was, &is);
		fprintf(stderr, "a state is another one after it was loaded\n");
		abort();
	}
	state_image_free(&is);
}

/*
 * Moves a dispatch into other memory, between two calls of simt_group_run(). The structures stay,
 * because warps point to the one of their group, and that to the other one. The dispatch counts all
 * instructions so far; a group that is not in flight is not as simt_group_init() left it.
 */
void state_move(const struct state_flights *flights, struct state_moves *moves)
{
	struct state_flights order = in_order(flights);
	struct simt_dispatch *dispatch = order.group[0]->dispatch;
	struct simt_group old[STATE_GROUPS];
	struct state_image was;
	u32 i, k;

	state_image_save(&was, &order);
	count(moves, &was);
	memset(dispatch->groups, 0xa5, sizeof(*dispatch) - offsetof(struct simt_dispatch, groups));
	for (k = 0; k < order.nr; k++)
		forget(order.group[k], &old[k], &moves->seed);
	load_again(&was, &order);
	for (k = 0; k < order.nr; k++) {
		for (i = 0; i < was.group[k].nr; i++)
			compare_derived(&old[k].warps[i], &order.group[k]->warps[i]);
		state_memory_free(&old[k]);
	}
	state_image_free(&was);
}

void state_moves_print(const struct state_moves *moves, const char *what)
{
	if (moves->warps)
		printf("# %s: %llu moves, %llu bytes a warp, %llu at most\n", what,
		       (unsigned long long)moves->count,
		       (unsigned long long)(moves->bytes / moves->warps),
		       (unsigned long long)moves->most);
}
