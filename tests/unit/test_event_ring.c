// SPDX-License-Identifier: GPL-2.0
/*
 * The events kept for readers, against a naive model: it knows all that ever happened, finds what
 * is one record by going through that from the beginning, and what is kept by counting.
 */
#include "vgpu_test.h"

#include "core/stats/event_ring.h"

#define SOURCES		200
#define EVENTS		20000
#define READERS		5

#define HAPPENED	20000
#define PER_S		32	/* records of a type and source */
#define SLOTS		64	/* of a source */

/* What the model knows of a source; @retired_at: when it was retired, 0: it is not. */
struct model_source {
	struct vgpu_event_source *source;
	u8 uuid[VGPU_UUID_LEN];
	u32 id;
	u64 seq;
	u64 retired_at;
	bool dropped;
};

/* A record, as readers should find it; @gone: for want of room. */
struct model_record {
	struct vgpu_ctl_event event;
	unsigned int source;
	bool gone;
};

/* What happened once: to which source, and of which type. */
struct happened {
	unsigned int source;
	u32 type;
	u64 time_ns;
};

/**
 * struct model - a ring, what the model knows of it, and readers
 * @ring:       the ring under test
 * @source:     all sources there ever were
 * @record:     all records there ever were, in no order
 * @happened:   all that ever happened
 * @nr_sources: how many sources
 * @nr_records: how many records
 * @nr_happened: how often something happened
 * @seq:        number of the next record
 * @time:       counts the retirements, to tell which one was first
 * @now_ns:     the time
 * @next:       the event from which each reader reads on
 */
struct model {
	struct vgpu_event_ring ring;
	struct model_source source[SOURCES];
	struct model_record record[EVENTS];
	struct happened happened[HAPPENED];
	unsigned int nr_sources, nr_records, nr_happened;
	u64 seq;
	u64 time;
	u64 now_ns;
	u64 next[READERS];
};

static bool model_kept(const struct model *w, unsigned int i)
{
	return !w->source[w->record[i].source].dropped && !w->record[i].gone;
}

/* The first record from @seq on that is kept. */
static const struct vgpu_ctl_event *model_find(const struct model *w, u64 seq)
{
	const struct vgpu_ctl_event *e, *first = NULL;
	unsigned int i;

	for (i = 0; i < w->nr_records; i++) {
		e = &w->record[i].event;
		if (e->seq >= seq && model_kept(w, i) && (!first || e->seq < first->seq))
			first = e;
	}
	return first;
}

/* How often something happened to a source, of a type or (~0) of any. */
static unsigned int model_count(const struct model *w, unsigned int source, u32 type)
{
	unsigned int i, nr = 0;

	for (i = 0; i < w->nr_happened; i++)
		nr += w->happened[i].source == source &&
		      (type == ~0U || w->happened[i].type == type);
	return nr;
}

/* Whether what happens now is a record of its own: goes through all seconds from the first on. */
static bool model_is_record(const struct model *w, unsigned int source, u32 type)
{
	u64 begin_ns = 0;
	unsigned int i, records = 0, any = 0;

	for (i = 0; i < w->nr_happened; i++) {
		const struct happened *h = &w->happened[i];

		if (h->source != source || h->type != type)
			continue;
		if (!any++ || h->time_ns >= begin_ns + SEC) {
			begin_ns = h->time_ns;
			records = 0;
		}
		records++;
	}
	return !any || w->now_ns >= begin_ns + SEC || records < PER_S;
}

/* The newest record of a type; NULL: there is none. */
static struct model_record *model_newest(struct model *w, unsigned int source, u32 type)
{
	struct model_record *r, *newest = NULL;

	for (r = w->record; r < w->record + w->nr_records; r++)
		if (r->source == source && r->event.type == type && !r->gone &&
		    (!newest || r->event.seq > newest->event.seq))
			newest = r;
	return newest;
}

/* Makes room for a record: of the type that would have the most, the oldest goes. */
static void model_make_room(struct model *w, unsigned int source, u32 type)
{
	unsigned int nr[64] = {}, all = 0, most = 0;
	struct model_record *r, *oldest = NULL;

	for (r = w->record; r < w->record + w->nr_records; r++)
		if (r->source == source && !r->gone) {
			nr[r->event.type]++;
			all++;
		}
	if (all < SLOTS)
		return;
	nr[type]++;
	for (r = w->record; r < w->record + w->nr_records; r++)
		if (r->source == source && !r->gone)
			most = max(most, nr[r->event.type]);
	for (r = w->record; r < w->record + w->nr_records; r++)
		if (r->source == source && !r->gone && nr[r->event.type] == most &&
		    (!oldest || r->event.seq < oldest->event.seq))
			oldest = r;
	oldest->gone = true;
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
	if (!model_count(w, i, ~0U)) {
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

static bool is_occurrence(u32 type)
{
	return type == VGPU_EVENT_RESET || type == VGPU_EVENT_FAULT ||
	       type == VGPU_EVENT_ENGINE_RESET;
}

/* What the model makes of an event. Returns whether readers find it. */
static bool model_add(struct model *w, unsigned int i, const struct vgpu_ctl_event *event)
{
	struct model_record *r = NULL;

	if (!model_is_record(w, i, event->type)) {
		r = model_newest(w, i, event->type);
		assert_non_null(r);
		if (memcmp(r->event.uuid, event->uuid, sizeof(event->uuid)))
			r = NULL;
	}
	if (!r) {
		model_make_room(w, i, event->type);
		r = &w->record[w->nr_records++];
		r->source = i;
		r->event = *event;
		r->event.seq = w->seq++;
		r->event.source = w->source[i].id;
		r->event.source_seq = w->source[i].seq;
		r->event.type_seq = model_count(w, i, event->type);
		r->event.repeats = 0;
		r->event.last_ns = event->time_ns;
		return true;
	}
	r->event.repeats++;
	r->event.last_ns = event->time_ns;
	if (is_occurrence(event->type))
		return false;
	r->event.a = event->a;
	r->event.seq = w->seq++;
	r->event.source_seq = w->source[i].seq;
	return true;
}

static void add_of(struct model *w, unsigned int i, u32 type, u32 a, u8 whom)
{
	struct vgpu_ctl_event event = {
		.type = type, .a = a, .seq = ~0ULL, .source = 99, .source_seq = 12345,
		.time_ns = w->now_ns, .uuid = { whom }, .type_seq = 7, .repeats = 8, .last_ns = 9,
	};
	bool is_new = vgpu_event_ring_add(&w->ring, w->source[i].source, &event);

	check_that(is_new == model_add(w, i, &event), "new or not, type %u", type);
	w->happened[w->nr_happened++] = (struct happened) {
		.source = i, .type = type, .time_ns = w->now_ns,
	};
	w->source[i].seq++;
}

static void add(struct model *w, unsigned int i, u32 type, u32 a)
{
	add_of(w, i, type, a, 0);
}

/* All that happened to a source has been counted, and the newest of each type is there. */
static void check_counts(struct model *w, unsigned int source)
{
	unsigned int of_type[VGPU_EVENT_TYPES] = {}, kept = 0, type;
	const struct vgpu_ctl_event *e;
	u64 seq = 0, end[VGPU_EVENT_TYPES] = {};

	while ((e = vgpu_event_ring_find(&w->ring, seq))) {
		seq = e->seq + 1;
		if (e->source != w->source[source].id)
			continue;
		kept++;
		of_type[e->type]++;
		check_that(e->type_seq >= end[e->type], "counted twice");
		end[e->type] = e->type_seq + e->repeats + 1;
	}
	assert_true(kept <= SLOTS);
	for (type = 0; type < VGPU_EVENT_TYPES; type++) {
		assert_int_equal(end[type], model_count(w, source, type));
		assert_int_equal(!of_type[type], !end[type]);
	}
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

/* Some types are rare, so that events of others would push them out. */
static u32 some_type(u64 *rnd)
{
	if (random_one_in(rnd, 20))
		return random_range(rnd, VGPU_EVENT_GPU_ADDED, VGPU_EVENT_PARTITION);
	return random_one_in(rnd, 4) ? VGPU_EVENT_FAULT :
	       random_range(rnd, VGPU_EVENT_STARTED, VGPU_EVENT_STOPPED);
}

static void run(u64 seed, unsigned int steps, unsigned int sources)
{
	struct model *w = calloc(1, sizeof(*w));
	unsigned int step, r;
	u64 rnd = seed, pace_ns;
	int i;

	vgpu_event_ring_init(&w->ring);
	/* Some loads are too fast for records, some are not. */
	pace_ns = random_range(&rnd, 0, 3) ? random_range(&rnd, 0, SEC / 16) : 0;
	for (step = 0; step < steps; step++) {
		i = pick(w, &rnd);
		w->now_ns += random_range(&rnd, 0, pace_ns);
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
		case 7:
			if (i >= 0)
				check_counts(w, i);
			break;
		case 8 ... 75:
			if (i >= 0)
				add_of(w, i, some_type(&rnd), step, random_one_in(&rnd, 30));
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
	for (i = 0; i < 5000; i++) {
		w->now_ns += SEC / 20;
		add(w, 0, VGPU_EVENT_RESET, i);
	}
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

/*
 * A bug that was found: 40 closes and opens pushed out why the vGPU was quarantined. They leave all
 * of some faults, and their own latest, at any pace.
 */
static void test_state(void **state)
{
	static const u64 pace_ns[] = { 0, 1, SEC / 40, SEC / 10, SEC, HOUR };
	const struct vgpu_ctl_event *e;
	unsigned int i, pace, of_type[VGPU_EVENT_TYPES];
	struct model *w;
	u64 seq;

	for (pace = 0; pace < ARRAY_SIZE(pace_ns); pace++) {
		w = calloc(1, sizeof(*w));
		memset(of_type, 0, sizeof(of_type));
		vgpu_event_ring_init(&w->ring);
		start(w, 1);
		for (i = 0; i < 20; i++)
			add(w, 0, VGPU_EVENT_FAULT, i);
		add(w, 0, VGPU_EVENT_QUARANTINED, 3);
		for (i = 0; i < 1000; i++) {
			add(w, 0, VGPU_EVENT_STOPPED, i);
			add(w, 0, VGPU_EVENT_STARTED, i);
			w->now_ns += pace_ns[pace];
		}
		for (seq = 0; (e = vgpu_event_ring_find(&w->ring, seq)); seq = e->seq + 1) {
			if (e->type == VGPU_EVENT_FAULT)
				assert_int_equal(e->a, of_type[e->type]);
			of_type[e->type]++;
			if (e->seq == 1000 + 1000 + 20)
				assert_int_equal(e->a, 999);
		}
		/* The newest of all is the last one that happened, however it was counted. */
		assert_int_equal(seq, 2021);
		assert_int_equal(of_type[VGPU_EVENT_FAULT], 20);
		assert_int_equal(of_type[VGPU_EVENT_QUARANTINED], 1);
		check_counts(w, 0);
		finish(w);
		free(w);
	}
}

/* A guest that faults a million times has 32 records a second, and wakes nobody for the others. */
static void test_repeats(void **state)
{
	struct model *w = calloc(1, sizeof(*w));
	struct vgpu_ctl_event event = { .type = VGPU_EVENT_FAULT };
	const struct vgpu_ctl_event *e;
	unsigned int i, found = 0;

	vgpu_event_ring_init(&w->ring);
	start(w, 1);
	for (i = 0; i < 1000000; i++) {
		event.time_ns = 5 * SEC + i;
		event.a = i;
		found += vgpu_event_ring_add(&w->ring, w->source[0].source, &event);
	}
	assert_int_equal(found, PER_S);
	e = vgpu_event_ring_find(&w->ring, PER_S - 1);
	assert_int_equal(e->type_seq, PER_S - 1);
	assert_int_equal(e->repeats, 1000000 - PER_S);
	assert_int_equal(e->a, PER_S - 1);
	assert_int_equal(e->time_ns, 5 * SEC + PER_S - 1);
	assert_int_equal(e->last_ns, 5 * SEC + 999999);
	/* An event from before, on another processor, is no new second. */
	event.time_ns = 4 * SEC;
	assert_false(vgpu_event_ring_add(&w->ring, w->source[0].source, &event));
	event.time_ns = 6 * SEC;
	assert_true(vgpu_event_ring_add(&w->ring, w->source[0].source, &event));
	e = vgpu_event_ring_find(&w->ring, PER_S);
	assert_int_equal(e->type_seq, 1000001);
	assert_int_equal(e->repeats, 0);
	free(vgpu_event_ring_retire(&w->ring, w->source[0].source));
	free(vgpu_event_ring_drop(&w->ring));
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
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_remade),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
