// SPDX-License-Identifier: GPL-2.0
/*
 * The log of sessions, against a naive model that keeps all sessions for ever, and says of each
 * whether it should still be there.
 */
#include "vgpu_test.h"

#include "core/stats/session_log.h"

#define NR_VGPUS	48
#define NR_SESSIONS	30000

/* What is added up, with memory for all engines that there may be. */
struct model_sum {
	struct vgpu_session_sum sum;
	u64 busy_ns[VGPU_MAX_ENGINES];
};

/* A session in the model; @vgpu: whose. */
struct model_session {
	unsigned int vgpu;
	struct model_sum begin, end;
	u64 end_ns;
	bool forgotten;
};

/**
 * struct model - a log and what the model knows of it
 * @log:     the log under test
 * @source:  of each vGPU; NULL: the vGPU is not there
 * @open:    the session of each vGPU; NULL: it is not open
 * @session: all sessions there ever were, by id - 1
 * @nr:      how many
 * @nr_ended: how many of them have ended and are not forgotten, of each vGPU
 * @all_ended: likewise, of all
 */
static struct model {
	struct vgpu_session_log log;
	struct vgpu_session_source *source[NR_VGPUS];
	struct vgpu_session *open[NR_VGPUS];
	struct model_session session[NR_SESSIONS];
	unsigned int nr, nr_ended[NR_VGPUS], all_ended;
} w;

static size_t sum_bytes(void)
{
	return sizeof(struct vgpu_session_sum) + w.log.engines * sizeof(u64);
}

static struct vgpu_session_source *get_source(const u8 *uuid)
{
	struct vgpu_session_source *spare = vgpu_session_source_new(uuid), *source;

	assert_non_null(spare);
	source = vgpu_session_source_get(&w.log, spare);
	if (source != spare)
		free(spare);
	return source;
}

static void put_source(struct vgpu_session_source *source)
{
	bool goes = source->users == 1 && !source->nr_ended;
	struct vgpu_session_rest rest = {};

	vgpu_session_source_put(&w.log, source, &rest);
	assert_ptr_equal(rest.source, goes ? source : NULL);
	assert_null(rest.session);
	vgpu_session_free(&rest);
}

/* Ends a session. Returns whether one was forgotten. */
static bool end_session(struct vgpu_session *session, const struct vgpu_session_sum *now,
			u64 end_ns)
{
	struct vgpu_session_rest rest = {};
	bool forgot;

	vgpu_session_log_end(&w.log, session, now, end_ns, &rest);
	forgot = rest.session;
	vgpu_session_free(&rest);
	return forgot;
}

static void create(unsigned int i)
{
	u8 uuid[VGPU_UUID_LEN] = { [5] = i };

	w.source[i] = get_source(uuid);
	assert_memory_equal(w.source[i]->uuid, uuid, sizeof(uuid));
	assert_int_equal(w.source[i]->nr_ended, w.nr_ended[i]);
}

static void begin(unsigned int i, u64 *rnd)
{
	struct vgpu_session *session = vgpu_session_alloc(w.log.engines);
	struct model_session *m = &w.session[w.nr++];
	unsigned int k;

	m->vgpu = i;
	for (k = 0; k < w.log.engines; k++)
		m->begin.sum.busy_ns[k] = random_next(rnd) >> 1;
	m->begin.sum.frames = random_next(rnd) >> 1;
	m->begin.sum.faults = random_next(rnd) >> 1;
	m->begin.sum.resets = random_next(rnd) >> 1;
	memcpy(&session->sum, &m->begin, sum_bytes());
	session->start_ns = w.nr;
	vgpu_session_log_begin(&w.log, w.source[i], session);
	assert_int_equal(session->id, w.nr);
	assert_int_equal(w.log.last_id, w.nr);
	w.open[i] = session;
}

/* The session that is to go: of the vGPU with the most of them, the oldest. */
static void model_forget(void)
{
	unsigned int i, most = 0;

	for (i = 0; i < NR_VGPUS; i++)
		most = max(most, w.nr_ended[i]);
	for (i = 0; i < w.nr; i++) {
		struct model_session *m = &w.session[i];

		if (m->forgotten || !m->end_ns || w.nr_ended[m->vgpu] != most)
			continue;
		m->forgotten = true;
		w.nr_ended[m->vgpu]--;
		w.all_ended--;
		return;
	}
	fail();
}

static void end(unsigned int i, u64 *rnd)
{
	struct model_session *m = &w.session[w.open[i]->id - 1];
	struct model_sum now = m->begin;
	unsigned int k;
	bool forgets;

	for (k = 0; k < w.log.engines; k++)
		now.sum.busy_ns[k] += m->end.sum.busy_ns[k] = random_range(rnd, 0, HOUR);
	now.sum.frames += m->end.sum.frames = random_range(rnd, 0, 1000);
	now.sum.faults += m->end.sum.faults = random_range(rnd, 0, 3);
	now.sum.resets += m->end.sum.resets = random_range(rnd, 0, 3);
	m->end_ns = w.nr + SEC;
	w.nr_ended[i]++;
	w.all_ended++;
	forgets = w.all_ended > VGPU_SESSIONS_KEPT;
	if (forgets)
		model_forget();
	assert_int_equal(end_session(w.open[i], &now.sum, m->end_ns), forgets);
	w.open[i] = NULL;
}

static void check_session(const struct vgpu_session *got, unsigned int i)
{
	const struct model_session *m = &w.session[i];

	assert_int_equal(got->id, i + 1);
	assert_int_equal(got->end_ns, m->end_ns);
	assert_int_equal(got->source->uuid[5], m->vgpu);
	assert_memory_equal(&got->sum, m->end_ns ? &m->end : &m->begin, sum_bytes());
}

/* What a reader finds from some id on. */
static void check_from(u64 id)
{
	const struct vgpu_session *got = vgpu_session_find(&w.log, id);
	unsigned int i;

	for (i = id ? id - 1 : 0; i < w.nr; i++) {
		if (w.session[i].forgotten)
			continue;
		assert_non_null(got);
		check_session(got, i);
		got = vgpu_session_next(got);
	}
	assert_null(got);
}

static void step(u64 *rnd, unsigned int busy)
{
	/* Some vGPUs come and go far more often than others. */
	unsigned int i = random_one_in(rnd, 3) ? random_range(rnd, 0, NR_VGPUS - 1) :
			 random_range(rnd, 0, busy);

	if (!w.source[i]) {
		create(i);
	} else if (w.open[i]) {
		end(i, rnd);
	} else if (random_one_in(rnd, 10)) {
		put_source(w.source[i]);
		w.source[i] = NULL;
	} else if (w.nr < NR_SESSIONS) {
		begin(i, rnd);
	}
}

static void finish(u64 *rnd)
{
	unsigned int i;

	for (i = 0; i < NR_VGPUS; i++) {
		if (w.open[i])
			end(i, rnd);
		if (w.source[i])
			put_source(w.source[i]);
	}
	check_from(0);
	vgpu_session_log_exit(&w.log);
	assert_true(RB_EMPTY_ROOT(&w.log.sources) && !w.log.nr_ended);
}

static void test_random(void **state)
{
	static const unsigned int engines[] = { VGPU_MAX_ENGINES, 1, 10, 5 };
	unsigned int run, n;
	u64 rnd = test_seed();

	for (run = 0; run < 4; run++) {
		memset(&w, 0, sizeof(w));
		vgpu_session_log_init(&w.log, engines[run]);
		check_from(0);
		for (n = 0; w.nr < NR_SESSIONS; n++) {
			step(&rnd, run * 5);
			if (n % 1000 == 0)
				check_from(random_range(&rnd, 0, w.nr + 2));
		}
		assert_int_equal(w.log.nr_ended, VGPU_SESSIONS_KEPT);
		finish(&rnd);
	}
}

/* Opens and closes a vGPU @nr times; the last id is in @last. */
static void flood(struct vgpu_session_source *source, unsigned int nr)
{
	struct model_sum none = {};
	struct vgpu_session *session;

	while (nr--) {
		session = vgpu_session_alloc(w.log.engines);
		vgpu_session_log_begin(&w.log, source, session);
		end_session(session, &none.sum, 1);
	}
}

/* A vGPU that is opened 10^5 times pushes out its own sessions, also when it is made anew. */
static void test_flood(void **state)
{
	struct vgpu_session_source *source[8];
	u8 uuid[VGPU_UUID_LEN] = {}, hog[VGPU_UUID_LEN] = { 1 };
	unsigned int i;

	vgpu_session_log_init(&w.log, 2);
	for (i = 0; i < 7; i++) {
		uuid[1] = i;
		source[i] = get_source(uuid);
		flood(source[i], 1 + 80 * i);
	}
	for (i = 0; i < 10; i++) {
		source[7] = get_source(hog);
		flood(source[7], 10000);
		if (i < 9)
			put_source(source[7]);
	}
	for (i = 0; i < 7; i++)
		assert_int_equal(source[i]->nr_ended, 1 + 80 * i);
	assert_int_equal(w.log.nr_ended, VGPU_SESSIONS_KEPT);
	assert_int_equal(w.log.last_id, 100000 + 7 + 80 * 21);

	/* Two that have use for all of it have half of it each, but for what others have. */
	flood(source[6], 20000);
	assert_int_equal(source[5]->nr_ended, 401);
	assert_in_range(source[6]->nr_ended, source[7]->nr_ended, source[7]->nr_ended + 1);
	for (i = 0; i < 8; i++)
		put_source(source[i]);
	vgpu_session_log_exit(&w.log);
	assert_true(RB_EMPTY_ROOT(&w.log.sources));
}

/* A vGPU that is there has its source, also when all of its sessions have been forgotten. */
static void test_sessions_forgotten(void **state)
{
	static struct vgpu_session_source *source[VGPU_SESSIONS_KEPT + 1];
	u8 uuid[VGPU_UUID_LEN] = {};
	unsigned int i;

	vgpu_session_log_init(&w.log, 2);
	for (i = 0; i < ARRAY_SIZE(source); i++) {
		memcpy(uuid, &i, sizeof(i));
		source[i] = get_source(uuid);
		flood(source[i], 1);
	}
	assert_int_equal(source[0]->nr_ended, 0);
	flood(source[0], 1);
	assert_int_equal(source[0]->nr_ended, 1);
	assert_int_equal(source[1]->nr_ended, 0);
	for (i = 0; i < ARRAY_SIZE(source); i++)
		put_source(source[i]);
	vgpu_session_log_exit(&w.log);
	assert_true(RB_EMPTY_ROOT(&w.log.sources));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_sessions_forgotten),
	};

	return cmocka_run_group_tests_name("session_log", tests, NULL, NULL);
}
