// SPDX-License-Identifier: GPL-2.0
/*
 * The events kept for readers, against a naive model that keeps all events for ever and says of
 * each, by counting newer ones, whether it should still be there.
 */
#include "vgpu_test.h"

#include "core/stats/event_ring.h"

#define SOURCES		200
#define EVENTS		20000
#define READERS		5

/* What the model knows of a source; @retired_at: when it was retired, 0: it is not. */
struct model_source {
	struct vgpu_event_source *source;
	u8 uuid[VGPU_UUID_LEN];
	u32 id;
	u64 seq;
	u64 retired_at;
	bool dropped;
};

/* What the model knows of an event. */
struct model_event {
	struct vgpu_ctl_event event;
	unsigned int source;
};

/**
 * struct model - a ring, what the model knows of it, and readers
 * @ring:       the ring under test
 * @source:     all sources there ever were
 * @event:      all events there ever were
 * @nr_sources: how many sources
 * @nr_events:  how many events
 * @time:       counts the retirements, to tell which one was first
 * @next:       the event from which each reader reads on
 */
struct model {
	struct vgpu_event_ring ring;
	struct model_source source[SOURCES];
	struct model_event event[EVENTS];
	unsigned int nr_sources, nr_events;
	u64 time;
	u64 next[READERS];
};

/* How many events of the same source are newer than event @i. */
static unsigned int model_newer(const struct model *w, unsigned int i)
{
	unsigned int k, newer = 0;

	for (k = i + 1; k < w->nr_events; k++)
		newer += w->event[k].source == w->event[i].source;
	return newer;
}

/* Whether event @i is the latest one of its type and source. */
static bool model_latest(const struct model *w, unsigned int i)
{
	const struct model_event *e = &w->event[i];
	unsigned int k;

	for (k = i + 1; k < w->nr_events; k++)
		if (w->event[k].source == e->source && w->event[k].event.type == e->event.type)
			return false;
	return e->event.type < VGPU_EVENT_TYPES;
}

static bool model_kept(const struct model *w, unsigned int i)
{
	return !w->source[w->event[i].source].dropped &&
	       (model_newer(w, i) < VGPU_EVENT_SLOTS || model_latest(w, i));
}

/* The first event from @seq on that is kept. */
static const struct vgpu_ctl_event *model_find(const struct model *w, u64 seq)
{
	unsigned int i;

	for (i = 0; i < w->nr_events; i++)
		if (w->event[i].event.seq >= seq && model_kept(w, i))
			return &w->event[i].event;
	return NULL;
}

/* How many events a source ever had. */
static unsigned int model_stored(const struct model *w, unsigned int source)
{
	unsigned int i, stored = 0;

	for (i = 0; i < w->nr_events; i++)
		stored += w->event[i].source == source;
	return stored;
}

static void start(struct model *w, u8 name)
{
	struct model_source *s = &w->source[w->nr_sources++];

	s->source = malloc(sizeof(*s->source));
	memset(s->source, 0xa5, sizeof(*s->source));
	s->uuid[3] = name;
	vgpu_event_ring_start(&w->ring, s->source, name ? s->uuid : NULL);
	s->id = w->nr_sources;
	check_that(s->source->id == s->id, "id %u", s->source->id);
}

/* The source that the ring gives back to be freed must be the one that the model drops. */
static void drop(struct model *w, struct vgpu_event_source *source)
{
	struct model_source *s, *oldest = NULL;
	unsigned int i, retired = 0;

	for (i = 0; i < w->nr_sources; i++) {
		s = &w->source[i];
		if (s->dropped || !s->retired_at)
			continue;
		retired++;
		if (!oldest || s->retired_at < oldest->retired_at)
			oldest = s;
	}
	if (retired <= VGPU_EVENT_RETIRED) {
		check_that(!source, "dropped one of %u", retired);
		return;
	}
	check_that(source == oldest->source, "not the oldest");
	oldest->dropped = true;
	free(source);
}

static void retire(struct model *w, unsigned int i)
{
	struct model_source *s = &w->source[i];
	struct vgpu_event_source *source;

	source = vgpu_event_ring_retire(&w->ring, s->source);
	if (!model_stored(w, i)) {
		check_that(source == s->source, "kept though it is empty");
		s->dropped = true;
		free(source);
		return;
	}
	s->retired_at = ++w->time;
	drop(w, source);
}

static void revive(struct model *w, const u8 *uuid)
{
	struct vgpu_event_source *source;
	struct model_source *s, *want = NULL;
	unsigned int i;

	source = vgpu_event_ring_revive(&w->ring, uuid);
	for (i = 0; i < w->nr_sources; i++) {
		s = &w->source[i];
		if (!s->dropped && s->retired_at &&
		    !memcmp(s->uuid, uuid, sizeof(s->uuid)) &&
		    (!want || s->retired_at < want->retired_at))
			want = s;
	}
	check_that(source == (want ? want->source : NULL), "another");
	if (want)
		want->retired_at = 0;
}

static void add(struct model *w, unsigned int i, u32 type, u32 a)
{
	struct model_event *e = &w->event[w->nr_events];
	struct vgpu_ctl_event event = { .type = type, .a = a, .seq = ~0ULL,
					.source = 99, .source_seq = 12345 };

	vgpu_event_ring_add(&w->ring, w->source[i].source, &event);
	event.seq = w->nr_events++;
	event.source = w->source[i].id;
	event.source_seq = w->source[i].seq++;
	e->event = event;
	e->source = i;
}

/* A reader gets the next event, which is the one that the model has. */
static void check_reader(struct model *w, unsigned int r)
{
	const struct vgpu_ctl_event *want = model_find(w, w->next[r]);
	const struct vgpu_ctl_event *got = vgpu_event_ring_find(&w->ring, w->next[r]);

	check_that(!want == !got, "from %llu", (unsigned long long)w->next[r]);
	if (!got)
		return;
	check_that(!memcmp(want, got, sizeof(*got)), "%llu instead of %llu",
		   (unsigned long long)got->seq, (unsigned long long)want->seq);
	w->next[r] = got->seq + 1;
}

/* A source that is in use, or -1. */
static int pick(struct model *w, u64 *rnd)
{
	unsigned int tries, i;

	for (tries = 0; tries < 50 && w->nr_sources; tries++) {
		/* Few sources have most of the events. */
		i = random_one_in(rnd, 2) ? random_range(rnd, 0, w->nr_sources - 1) :
		    w->nr_sources - 1 - random_range(rnd, 0, w->nr_sources / 16);
		if (!w->source[i].dropped && !w->source[i].retired_at)
			return i;
	}
	return -1;
}

static void finish(struct model *w)
{
	struct vgpu_event_source *source;
	unsigned int i;

	for (i = 0; i < w->nr_sources; i++)
		if (!w->source[i].dropped && !w->source[i].retired_at)
			retire(w, i);
	while ((source = vgpu_event_ring_drop(&w->ring)))
		free(source);
	assert_int_equal(w->ring.nr_retired, 0);
	assert_true(RB_EMPTY_ROOT(&w->ring.events));
	assert_null(vgpu_event_ring_find(&w->ring, 0));
}

/* Some types are rare, so that events of others push them out; some are beyond those kept. */
static u32 some_type(u64 *rnd)
{
	if (random_one_in(rnd, 50))
		return random_range(rnd, 0, VGPU_EVENT_TYPES + 1);
	return random_range(rnd, VGPU_EVENT_STARTED, VGPU_EVENT_STOPPED);
}

static void run(u64 seed, unsigned int steps, unsigned int sources)
{
	struct model *w = calloc(1, sizeof(*w));
	unsigned int step, r;
	u64 rnd = seed;
	int i;

	vgpu_event_ring_init(&w->ring);
	for (step = 0; step < steps; step++) {
		i = pick(w, &rnd);
		switch (random_range(&rnd, 0, 99)) {
		case 0 ... 3:
			if (w->nr_sources < sources)
				start(w, random_range(&rnd, 0, 20));
			break;
		case 4 ... 5:
			if (i >= 0)
				retire(w, i);
			break;
		case 6: {
			u8 uuid[VGPU_UUID_LEN] = { 0, 0, 0,
						   random_range(&rnd, 1, 20) };
			revive(w, uuid);
			break;
		}
		case 7 ... 9:
			if (i >= 0) {
				vgpu_event_ring_skip(w->source[i].source);
				w->source[i].seq++;
			}
			break;
		case 10 ... 75:
			if (i >= 0)
				add(w, i, some_type(&rnd), step);
			break;
		default:
			/* All readers but two read hardly ever. */
			r = random_range(&rnd, 0, READERS - 1);
			if (r < 2 || random_one_in(&rnd, 40))
				check_reader(w, r);
		}
	}
	for (r = 0; r < READERS; r++)
		while (vgpu_event_ring_find(&w->ring, w->next[r]))
			check_reader(w, r);
	finish(w);
	free(w);
}

static void test_random(void **state)
{
	u64 rnd = test_seed();
	unsigned int i;

	for (i = 0; i < 60; i++)
		run(random_next(&rnd), 1500, random_range(&rnd, 1, SOURCES));
}

/* A bug that was found: one tenant opened and closed, and the event of another's fault was gone. */
static void test_flood(void **state)
{
	struct model *w = calloc(1, sizeof(*w));
	const struct vgpu_ctl_event *e;
	unsigned int i, of_attacker = 0, of_victim = 0;
	u64 seq = 0;

	vgpu_event_ring_init(&w->ring);
	start(w, 1);
	start(w, 2);
	add(w, 1, VGPU_EVENT_FAULT, 4711);
	for (i = 0; i < 5000; i++)
		add(w, 0, VGPU_EVENT_RESET, i);
	while ((e = vgpu_event_ring_find(&w->ring, seq))) {
		of_attacker += e->source == w->source[0].id;
		if (e->source == w->source[1].id) {
			assert_int_equal(e->a, 4711);
			of_victim++;
		}
		seq = e->seq + 1;
	}
	assert_int_equal(of_victim, 1);
	assert_int_equal(of_attacker, VGPU_EVENT_SLOTS);
	assert_int_equal(seq, 5001);
	finish(w);
	free(w);
}

/* A bug that was found: 40 closes and opens pushed out why the vGPU was quarantined. */
static void test_state(void **state)
{
	struct model *w = calloc(1, sizeof(*w));
	const struct vgpu_ctl_event *e;
	unsigned int i, of_type[VGPU_EVENT_TYPES] = {};
	u64 seq = 0;

	vgpu_event_ring_init(&w->ring);
	start(w, 1);
	add(w, 0, VGPU_EVENT_FAULT, 1);
	add(w, 0, VGPU_EVENT_FAULT, 2);
	add(w, 0, VGPU_EVENT_QUARANTINED, 3);
	for (i = 0; i < 1000; i++) {
		add(w, 0, VGPU_EVENT_STOPPED, i);
		add(w, 0, VGPU_EVENT_STARTED, i);
	}
	while ((e = vgpu_event_ring_find(&w->ring, seq))) {
		of_type[e->type]++;
		if (e->type == VGPU_EVENT_FAULT)
			assert_int_equal(e->a, 2);
		seq = e->seq + 1;
	}
	assert_int_equal(of_type[VGPU_EVENT_FAULT], 1);
	assert_int_equal(of_type[VGPU_EVENT_QUARANTINED], 1);
	assert_int_equal(of_type[VGPU_EVENT_STARTED] + of_type[VGPU_EVENT_STOPPED],
			 VGPU_EVENT_SLOTS);
	finish(w);
	free(w);
}

/* A vGPU that is made and removed again and again takes one place among the retired ones. */
static void test_remade(void **state)
{
	struct model *w = calloc(1, sizeof(*w));
	unsigned int i;

	vgpu_event_ring_init(&w->ring);
	start(w, 1);
	start(w, 2);
	add(w, 1, VGPU_EVENT_FAULT, 4711);
	retire(w, 1);
	for (i = 0; i < 1000; i++) {
		add(w, 0, VGPU_EVENT_REMOVED, i);
		retire(w, 0);
		revive(w, w->source[0].uuid);
	}
	assert_int_equal(vgpu_event_ring_find(&w->ring, 0)->a, 4711);
	finish(w);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_state),
		cmocka_unit_test(test_remade),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
