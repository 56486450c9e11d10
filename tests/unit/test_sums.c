// SPDX-License-Identifier: GPL-2.0
/*
 * What is reported of an engine and of its entities, while these come, run, are reset and go, and
 * while several readers look at random times: it adds up to the ns, nothing goes back, and it
 * agrees with the service that the timeline charged, which is counted apart. On simulated engines
 * (race.h).
 */
#include <linux/mutex.h>

#include "race.h"

#define NR_PEOPLE	6	/* tasks that open users, one at a time */

/**
 * struct listed - a user that readers see
 * @user:    NULL: none
 * @busy_ns: service that was last read
 */
struct listed {
	struct race_user *user;
	u64 busy_ns;
};

/**
 * struct sums - what readers have seen
 * @lock:   protects all of this, as a GPU's lock does its list of vGPUs
 * @listed: by task
 * @busy_ns: of each engine, as last read
 * @gone_ns: likewise
 * @index:  of @listed, for each entity of the read under way
 * @sum_ns: of that read
 * @reads:  number of reads
 * @ran:    of these, while a run was under way
 */
static struct sums {
	struct mutex lock;	/* all of this */
	struct listed listed[NR_PEOPLE];
	u64 busy_ns[NR_TIMELINES], gone_ns[NR_TIMELINES];
	unsigned int index[NR_PEOPLE];
	u64 sum_ns;
	unsigned int reads, ran;
} sums;

static void see(struct listed *listed, u64 busy_ns)
{
	check_that(busy_ns >= listed->busy_ns, "%llu after %llu", busy_ns, listed->busy_ns);
	listed->busy_ns = busy_ns;
}

static void read_entity(void *arg, unsigned int i, const struct vgpu_entity_stats *stats)
{
	see(&sums.listed[sums.index[i]], stats->busy_ns);
	sums.sum_ns += stats->busy_ns;
}

/* @charged_ns: what the timeline had charged before it was read. */
static void see_engine(unsigned int engine, const struct vgpu_timeline_stats *stats,
		       u64 charged_ns)
{
	assert_true(stats->busy_ns >= sums.busy_ns[engine]);
	check_that(stats->busy_ns >= charged_ns && stats->busy_ns <= stats->wall_ns,
		   "%llu of %llu, charged %llu", stats->busy_ns, stats->wall_ns, charged_ns);
	sums.busy_ns[engine] = stats->busy_ns;
}

static void read_engine(unsigned int engine)
{
	struct vgpu_timeline *tl = race.engine[engine].tl;
	struct vgpu_entity *entities[NR_PEOPLE];
	u64 charged_ns = tl->busy_ns;
	struct vgpu_timeline_stats stats;
	unsigned int i, nr = 0;

	for (i = 0; i < NR_PEOPLE; i++) {
		if (!sums.listed[i].user || i % NR_TIMELINES != engine)
			continue;
		entities[nr] = &sums.listed[i].user->entity;
		sums.index[nr++] = i;
	}
	sums.sum_ns = 0;
	vgpu_timeline_read(tl, &stats, entities, nr, read_entity, NULL);
	check_that(stats.busy_ns == stats.gone_ns + sums.sum_ns, "%llu, not %llu + %llu",
		   stats.busy_ns, stats.gone_ns, sums.sum_ns);
	see_engine(engine, &stats, charged_ns);
	assert_true(stats.gone_ns >= sums.gone_ns[engine]);
	sums.gone_ns[engine] = stats.gone_ns;
	sums.reads++;
	sums.ran += !!race.engine[engine].running;
}

/* Reads one thing alone, which the next read of all must agree with. */
static void read_one(unsigned int i)
{
	struct vgpu_timeline *tl = race.engine[i % NR_TIMELINES].tl;
	u64 charged_ns = tl->busy_ns;
	struct vgpu_timeline_stats stats;
	struct vgpu_entity_stats s;

	if (sim_one_in(3)) {
		vgpu_timeline_stats(tl, &stats);
		see_engine(i % NR_TIMELINES, &stats, charged_ns);
	} else if (sums.listed[i].user && sim_one_in(2)) {
		vgpu_entity_stats(&sums.listed[i].user->entity, &s);
		see(&sums.listed[i], s.busy_ns);
	} else if (sums.listed[i].user) {
		see(&sums.listed[i], vgpu_entity_busy_ns(&sums.listed[i].user->entity));
	}
}

static int reader_task(void *data)
{
	unsigned int n;

	for (n = 0; n < 150; n++) {
		sim_sleep(sim_random(1, sim_one_in(4) ? 3 * MS : 100 * US));
		mutex_lock(&sums.lock);
		if (sim_one_in(3))
			read_one(sim_random(0, NR_PEOPLE - 1));
		else
			read_engine(sim_random(0, NR_TIMELINES - 1));
		mutex_unlock(&sums.lock);
	}
	return 0;
}

static void one_step(struct race_user *user)
{
	switch (sim_random(0, 12)) {
	case 0:
		user->hung = race.hogs;
		break;
	case 1:
		user->hung = false;
		break;
	case 2:
		race_hold_sync(user, RACE_HOLD);
		sim_sleep(sim_random(1, 300 * US));
		race_unhold(user, RACE_HOLD);
		break;
	case 3 ... 7:
		race_submit(user, sim_random(1, 3 * MS));
		break;
	case 8:
		sim_sleep(sim_random(1, 10 * MS));
		break;
	default:
		sim_sleep(sim_random(1, 200 * US));
	}
}

/*
 * A vGPU is retired, leaves the list then or later, and its timeline then or later. So readers may
 * name one that is retired.
 */
static void leave(struct race_user *user, unsigned int index)
{
	struct listed *listed = &sums.listed[index];
	bool early = sim_one_in(2);

	vgpu_entity_stop(&user->entity);
	if (early) {
		vgpu_entity_retire(&user->entity);
		sim_sleep(sim_random(0, 1 * MS));
	}
	mutex_lock(&sums.lock);
	listed->user = NULL;
	listed->busy_ns = 0;
	if (!early)
		race_user_close(user);
	mutex_unlock(&sums.lock);
	if (early) {
		sim_sleep(sim_random(0, 1 * MS));
		race_user_close(user);
	}
}

static int person_task(void *data)
{
	unsigned int i, n, index = (uintptr_t)data;
	struct race_user *user;

	for (i = sim_random(1, 4); i; i--) {
		user = race_user_open(index % NR_TIMELINES);
		mutex_lock(&sums.lock);
		sums.listed[index].user = user;
		mutex_unlock(&sums.lock);
		for (n = sim_random(1, 40); n; n--)
			one_step(user);
		leave(user, index);
	}
	return 0;
}

static const char *const policies[] = { "best_effort", "equal_share", "fixed_share", "qos" };

static void run_load(u64 seed)
{
	struct task_struct *person[NR_PEOPLE], *reader[2];
	unsigned int i;

	race_begin(seed, seed % 2 ? 20 * US : 0, (1 + seed / 2 % 10) * MS);
	memset(&sums, 0, sizeof(sums));
	mutex_init(&sums.lock);
	race.poll_ns = sim_one_in(2) ? 50 * US : 0;
	race.lingers = sim_one_in(2);
	race.hogs = sim_one_in(3);
	race_set_policy(policies[sim_random(0, ARRAY_SIZE(policies) - 1)]);
	for (i = 0; i < NR_PEOPLE; i++)
		person[i] = sim_spawn(person_task, (void *)(uintptr_t)i, true);
	for (i = 0; i < 2; i++)
		reader[i] = sim_spawn(reader_task, NULL, true);
	for (i = 0; i < NR_PEOPLE; i++)
		sim_join(person[i]);
	for (i = 0; i < 2; i++)
		sim_join(reader[i]);
	/* All are gone; what was reported beyond the charged service was idle time. */
	for (i = 0; i < NR_TIMELINES; i++) {
		const struct race_engine *e = &race.engine[i];

		read_engine(i);
		assert_int_equal(sums.busy_ns[i], sums.gone_ns[i]);
		assert_true(sums.busy_ns[i] - e->tl->busy_ns <= e->polled_ns);
	}
	race_end();
}

static void test_random_loads(void **state)
{
	unsigned int i, reads = 0, ran = 0;
	u64 seed = test_seed();

	for (i = 0; i < 300; i++) {
		run_load(seed + i);
		reads += sums.reads;
		ran += sums.ran;
	}
	printf("# %u reads, %u during a run\n", reads, ran);
	check_that(ran > reads / 10, "%u of %u", ran, reads);
}

/* Without idle time in runs there is nothing to be ahead of: reported is what was charged. */
static void test_equal_without_idle_time(void **state)
{
	struct vgpu_timeline *tl;
	struct race_user *user;
	unsigned int n;

	race_begin(1, 0, 2 * MS);
	memset(&sums, 0, sizeof(sums));
	race.poll_ns = 0;
	user = race_user_open(0);
	sums.listed[0].user = user;
	tl = race.engine[0].tl;
	for (n = 0; n < 50; n++) {
		race_submit(user, sim_random(1, 5 * MS));
		sim_sleep(sim_random(1, 2 * MS));
		read_engine(0);
		while (user->work_ns || tl->rq.running)
			sim_sleep(10 * US);
		read_engine(0);
		assert_int_equal(sums.busy_ns[0], tl->busy_ns);
		assert_int_equal(sums.listed[0].busy_ns, user->entity.stats.busy_ns);
	}
	race_user_close(user);
	race_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_loads),
		cmocka_unit_test(test_equal_without_idle_time),
	};

	return cmocka_run_group_tests_name("sums", tests, NULL, NULL);
}
