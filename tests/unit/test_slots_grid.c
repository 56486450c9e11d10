// SPDX-License-Identifier: GPL-2.0
/*
 * equal_share and fixed_share through the timeline as it is in the kernel: slots begin on a grid,
 * which is computed here from nothing but the script of the simulation (des.h), however late the
 * scheduler's thread runs and whatever neighbours do. Overruns move the grid; with these, runs are
 * the same with and without a late thread: so what test_slots_load.c shows holds with one, too.
 */
#include "vgpu_test.h"

#include "des_test.h"

#define MAX_SLOTS	100000
#define MAX_CLIENTS	16
#define NOBODY		MAX_CLIENTS

/* How long before the end of its slot a neighbour falls idle, at most. */
#define ALMOST_NS	(12 * US)

/**
 * struct slot - a slot of the grid as it has to be
 * @begin_ns: when it begins
 * @end_ns:   when the next one begins
 * @owner:    the client that may run in it, or NOBODY
 */
struct slot {
	u64 begin_ns;
	u64 end_ns;
	unsigned int owner;
};

/**
 * struct grid - all slots of a simulation
 * @slot:     the slots
 * @nr:       how many
 * @order:    equal_share: the clients that have slots in the present cycle, in the order of these,
 *            and those that have started since
 * @nr_order: how many
 * @started:  whether each client is started now
 */
struct grid {
	struct slot slot[MAX_SLOTS];
	unsigned int nr;
	unsigned int order[MAX_CLIENTS];
	unsigned int nr_order;
	bool started[MAX_CLIENTS];
};

static bool is_equal(const struct des_config *config)
{
	return config->params.policy == &vgpu_policy_equal_share;
}

/* The owner of a slot of fixed_share's cycle. */
static unsigned int fixed_owner(const struct des_config *config, unsigned int slot)
{
	unsigned int i, unit = 0, bit, nr = config->params.nr_slots;

	/* @nr is a power of two, so the digits that are reversed are bits. */
	for (bit = 1; bit < nr; bit *= 2) {
		unit = 2 * unit + slot % 2;
		slot /= 2;
	}
	for (i = 0; i < config->nr_clients; i++) {
		const struct vgpu_share *share = &config->client[i].share;

		if (unit - share->first_slot < share->nr_slots)
			return i;
	}
	return NOBODY;
}

static void grid_starts(struct grid *grid, unsigned int client)
{
	unsigned int i;

	grid->started[client] = true;
	for (i = 0; i < grid->nr_order; i++)
		if (grid->order[i] == client)
			return;
	grid->order[grid->nr_order++] = client;
}

/* The clients that have stopped lose their slots, at the end of a cycle. */
static void grid_forgets(struct grid *grid)
{
	unsigned int i, kept = 0;

	for (i = 0; i < grid->nr_order; i++)
		if (grid->started[grid->order[i]])
			grid->order[kept++] = grid->order[i];
	grid->nr_order = kept;
}

static void grid_make(struct grid *grid, const struct des_config *config)
{
	u64 slice_ns = config->params.slice_ns, now_ns = 0;
	const struct des_action *action = config->action;
	unsigned int i, len;

	memset(grid, 0, sizeof(*grid));
	for (i = 0; i < config->nr_clients; i++)
		if (!config->client[i].stopped)
			grid_starts(grid, i);
	while (now_ns < config->length_ns) {
		while (action < config->action + config->nr_actions && action->at_ns <= now_ns) {
			if (action->kind == DES_START)
				grid_starts(grid, action->client);
			else if (action->kind == DES_STOP)
				grid->started[action->client] = false;
			else
				slice_ns = action->params.slice_ns;
			action++;
		}
		grid_forgets(grid);
		len = is_equal(config) ? grid->nr_order : config->params.nr_slots;
		for (i = 0; i < len; i++) {
			assert_true(grid->nr < MAX_SLOTS);
			grid->slot[grid->nr++] = (struct slot){
				.begin_ns = now_ns,
				.end_ns = now_ns + slice_ns,
				.owner = is_equal(config) ? grid->order[i] : fixed_owner(config, i),
			};
			now_ns += slice_ns;
		}
	}
}

/*
 * Every run lies in a slot of its client, and its deadline is the end of that slot; a client that
 * is always busy runs in each of its slots once, from at most @late_ns after the beginning of the
 * slot to its end. Return: the sum of these delays.
 */
static u64 check_grid(const struct des *des, const struct grid *grid, u64 late_ns)
{
	const struct des_runs *runs = &des->engine[0].runs;
	const struct des_config *config = des->config;
	u64 lost_ns[MAX_CLIENTS] = {}, due_ns[MAX_CLIENTS] = {}, all_ns = 0;
	unsigned int i, k = 0, used = ~0U;
	size_t r;

	for (r = 0; r < runs->nr; r++) {
		const struct des_run *run = &runs->at[r];
		const struct slot *slot;
		bool busy;

		while (grid->slot[k].end_ns <= run->start_ns)
			k++;
		slot = &grid->slot[k];
		busy = config->client[run->client].load.kind == DES_BUSY;
		check_that(slot->owner == run->client &&
			   run->deadline_ns == slot->end_ns &&
			   run->end_ns <= slot->end_ns,
			   "run %zu of %u, %llu to %llu, deadline %llu, in slot %u of %u, %llu to %llu",
			   r, run->client, run->start_ns, run->end_ns,
			   run->deadline_ns, k, slot->owner, slot->begin_ns,
			   slot->end_ns);
		if (!busy || !run->ended)
			continue;
		check_that(used != k && run->end_ns == slot->end_ns &&
			   run->start_ns - slot->begin_ns <= late_ns,
			   "run %zu of %u, %llu to %llu, in slot %u, %llu to %llu",
			   r, run->client, run->start_ns, run->end_ns, k,
			   slot->begin_ns, slot->end_ns);
		used = k;
		lost_ns[run->client] += run->start_ns - slot->begin_ns;
	}
	/* No slot is left out, to the ns. */
	for (k = 0; k < grid->nr && grid->slot[k].end_ns <= des->end_ns; k++)
		if (grid->slot[k].owner != NOBODY)
			due_ns[grid->slot[k].owner] +=
				grid->slot[k].end_ns - grid->slot[k].begin_ns;
	for (i = 0; i < config->nr_clients; i++) {
		u64 got_ns = des_service_ns(des, i, 0, 0, grid->slot[k - 1].end_ns);

		if (config->client[i].load.kind != DES_BUSY || config->client[i].stopped)
			continue;
		check_that(got_ns + lost_ns[i] == due_ns[i], "%u: %llu + %llu, not %llu", i,
			   got_ns, lost_ns[i], due_ns[i]);
		all_ns += lost_ns[i];
	}
	return all_ns;
}

/*
 * A client that has work in the first of its slots of each cycle: so much that the engine, when it
 * has looked for more in vain (poll_ns), is free @almost_ns before the end of the slot. The work
 * comes half a slot before, so that it begins with the slot.
 */
static struct des_load load_almost(const struct des_config *config, unsigned int client,
				   u64 almost_ns)
{
	u64 slice_ns = config->params.slice_ns;
	unsigned int len = is_equal(config) ? config->nr_clients : config->params.nr_slots;
	struct des_load load = des_frames(slice_ns - config->poll_ns - almost_ns, len * slice_ns);
	unsigned int slot = client;

	if (!is_equal(config))
		for (slot = 0; fixed_owner(config, slot) != client; slot++)
			;
	load.phase_ns = (slot + len) * slice_ns - slice_ns / 2;
	return load;
}

static struct des_load load_random(const struct des_config *config, unsigned int client, u64 *rnd)
{
	u64 slice_ns = config->params.slice_ns;
	struct des_load load;

	switch (random_range(rnd, 0, 4)) {
	case 0:
		return load_almost(config, client, random_range(rnd, 1, ALMOST_NS));
	case 1:
		load = des_closed(random_range(rnd, 1, 2 * slice_ns),
				  random_range(rnd, 0, slice_ns), random_range(rnd, 1, 4));
		load.think_max_ns = load.think_ns + random_range(rnd, 0, slice_ns);
		return load;
	case 2:
		load = des_poisson(random_range(rnd, 1, slice_ns),
				   random_range(rnd, 100 * US, 8 * slice_ns),
				   random_range(rnd, 1, 3));
		load.depth = 8;
		return load;
	case 3:
		load = des_busy();
		load.kind = DES_NONE;
		return load;
	default:
		return des_busy();
	}
}

/* Client 0 is always busy, the others have random loads. */
static void config_random(struct des_config *config, const struct vgpu_sched_policy *policy,
			  u64 *rnd)
{
	unsigned int i, first = 0, size;

	des_config_init(config, policy, random_range(rnd, 2, 8));
	config->seed = random_next(rnd);
	config->length_ns = 400 * MS;
	config->switch_ns = 0;
	config->params.slice_ns = random_range(rnd, VGPU_SLICE_MIN_NS, 5 * MS);
	config->poll_ns = random_one_in(rnd, 2) ? 0 : 50 * US;
	for (i = 0; i < config->nr_clients; i++) {
		size = first + 8 <= config->params.nr_slots && i < 2 ?
		       1 << random_range(rnd, 0, 2) : 1;
		config->client[i].share.first_slot = first;
		config->client[i].share.nr_slots = size;
		first += size;
	}
	for (i = 1; i < config->nr_clients; i++)
		config->client[i].load = load_random(config, i, rnd);
}

static struct grid grid;

/* Neighbours stop working just before the end of their slots: no other client is late for that. */
static void test_almost(void **state)
{
	static const u64 almost_ns[] = {
		1, 999, 5 * US, 9999, 10 * US, 11 * US,
	};
	struct des_config config;
	struct des *des;
	unsigned int i, poll;
	u64 lost_ns;

	for (i = 0; i < 2 * ARRAY_SIZE(almost_ns); i++) {
		poll = i % 2;
		des_config_init(&config, &vgpu_policy_equal_share, 3);
		config.params.slice_ns = MS;
		config.length_ns = 2 * SEC;
		config.switch_ns = 0;
		config.poll_ns = poll ? 50 * US : 0;
		config.client[0].load = load_almost(&config, 0, almost_ns[i / 2]);
		config.client[1].load = load_almost(&config, 1, almost_ns[i / 2]);
		des = des_run(&config);
		grid_make(&grid, &config);
		/* check_grid() lets any delay pass here, and tells the sum of them. */
		lost_ns = check_grid(des, &grid, ALMOST_NS);
		check_that(!lost_ns, "%llu ns before, poll %llu: lost %llu of %llu",
			   almost_ns[i / 2], config.poll_ns, lost_ns, des->end_ns);
		des_test_end(des, &config);
	}
}

static void grids(const struct vgpu_sched_policy *policy, u64 seed)
{
	struct des_config config;
	unsigned int load;
	struct des *des;
	u64 rnd = seed;

	for (load = 0; load < 400; load++) {
		config_random(&config, policy, &rnd);
		des = des_run(&config);
		grid_make(&grid, &config);
		check_grid(des, &grid, 0);
		des_test_end(des, &config);
	}
}

static void test_random_loads(void **state)
{
	grids(&vgpu_policy_equal_share, test_seed());
	grids(&vgpu_policy_fixed_share, test_seed() + 1);
}

static int earlier(const void *a, const void *b)
{
	u64 at = ((const struct des_action *)a)->at_ns;
	u64 bt = ((const struct des_action *)b)->at_ns;

	return at < bt ? -1 : at > bt;
}

/*
 * Other clients come and go, and slots get shorter and longer, at the ends of cycles. Slots have
 * even lengths and changes come at odd times: one at the very end of a cycle may belong to either.
 */
static void changes(const struct vgpu_sched_policy *policy, u64 seed)
{
	unsigned int load, i, n, slots = 0;
	struct des_config config;
	struct des *des;
	u64 rnd = seed;

	for (load = 0; load < 300; load++) {
		config_random(&config, policy, &rnd);
		config.params.slice_ns &= ~1ULL;
		for (i = 1; i < config.nr_clients; i++) {
			bool stopped = random_one_in(&rnd, 2);
			u64 at_ns = 0;

			config.client[i].stopped = stopped;
			/* A busy client that was reopened would begin its load anew. */
			if (config.client[i].load.kind == DES_BUSY)
				config.client[i].load.kind = DES_NONE;
			for (n = random_range(&rnd, 0, 20); n--; ) {
				at_ns += random_range(&rnd, 1, 40 * MS);
				des_config_act(&config, at_ns | 1,
					       stopped ? DES_START : DES_STOP, i);
				stopped = !stopped;
			}
		}
		for (n = random_range(&rnd, 0, 10); n--; ) {
			u64 at_ns = random_range(&rnd, 1, 400 * MS) | 1;
			struct des_action *action = des_config_act(&config, at_ns, DES_PARAMS, 0);

			action->params = config.params;
			action->params.slice_ns =
				random_range(&rnd, VGPU_SLICE_MIN_NS, 5 * MS) & ~1ULL;
		}
		if (config.nr_actions)
			qsort(config.action, config.nr_actions, sizeof(*config.action), earlier);
		des = des_run(&config);
		grid_make(&grid, &config);
		check_grid(des, &grid, 0);
		slots += grid.nr;
		des_test_end(des, &config);
	}
	printf("# %s: %u slots\n", policy->name, slots);
}

static void test_changes(void **state)
{
	changes(&vgpu_policy_equal_share, test_seed() + 2);
	changes(&vgpu_policy_fixed_share, test_seed() + 3);
}

/* A client has the same runs in both records: starts and ends are equal, to the ns. */
static void same_runs(const struct des *on, const struct des *off, unsigned int client)
{
	const struct des_runs *a = &on->engine[0].runs;
	const struct des_runs *b = &off->engine[0].runs;
	size_t i = 0, j = 0, nr = 0;

	for (;; i++, j++, nr++) {
		while (i < a->nr && a->at[i].client != client)
			i++;
		while (j < b->nr && b->at[j].client != client)
			j++;
		if (i == a->nr || j == b->nr)
			break;
		check_that(a->at[i].start_ns == b->at[j].start_ns &&
			   a->at[i].end_ns == b->at[j].end_ns &&
			   a->at[i].idle_ns == b->at[j].idle_ns,
			   "run %zu: %llu to %llu (idle %llu), and %llu to %llu (idle %llu)", nr,
			   a->at[i].start_ns, a->at[i].end_ns, a->at[i].idle_ns,
			   b->at[j].start_ns, b->at[j].end_ns, b->at[j].idle_ns);
	}
	assert_true(i == a->nr && j == b->nr);
	assert_true(on->client[client].completed == off->client[client].completed);
}

/*
 * T2: a client cannot tell whether its neighbours are always busy, come and go or do nothing. Nor
 * can a client that always has work tell that the scheduler's thread is late; but its first work
 * waits for the thread, so this is not the client of the first slot.
 */
static void unseen(const struct vgpu_sched_policy *policy, u64 seed)
{
	unsigned int load, i, victim;
	struct des *on, *off;
	struct des_config config;
	u64 rnd = seed;

	for (load = 0; load < 600; load++) {
		config_random(&config, policy, &rnd);
		victim = load % 2;
		if (victim) {
			config.client[1].load = des_busy();
			config.kick_ns = random_range(&rnd, 1, 200 * US);
		} else {
			config.client[0].load = load_random(&config, 0, &rnd);
		}
		on = des_run(&config);
		for (i = 0; i < config.nr_clients; i++)
			if (i != victim)
				config.client[i].load.kind = DES_NONE;
		off = des_run(&config);
		same_runs(on, off, victim);
		des_free(on);
		des_free(off);
		des_config_exit(&config);
	}
}

static void test_neighbours_are_not_seen(void **state)
{
	unseen(&vgpu_policy_equal_share, test_seed() + 4);
	unseen(&vgpu_policy_fixed_share, test_seed() + 5);
}

/*
 * The scheduler's thread is late, and perhaps the timer's interrupt, too. By as much as the timer
 * is late a slot begins later, and it ends when it has to; that is still so 100 000 slots later.
 * Clients that always have work notice nothing of a late thread.
 */
static void late(const struct vgpu_sched_policy *policy, u64 kick_ns, u64 timer_ns, u64 seed)
{
	struct des_config config;
	struct des *des;
	u64 lost_ns;

	des_config_init(&config, policy, 4);
	config.seed = seed;
	config.params.slice_ns = MS;
	config.length_ns = (MAX_SLOTS - 16) * MS;
	config.switch_ns = 0;
	config.kick_ns = kick_ns;
	config.timer_ns = timer_ns;
	/* The very first work waits for the thread: so client 0, whose slot is first, has none. */
	config.client[0].load.kind = DES_NONE;
	/*
	 * Client 1 falls idle too late in its slots to wake a thread that arms a timer for the next
	 * slot, which is client 2's under equal_share.
	 */
	config.client[1].load = load_almost(&config, 1, 5 * US);
	des = des_run(&config);
	grid_make(&grid, &config);
	lost_ns = check_grid(des, &grid, timer_ns);
	printf("# %s, kick 0..%llu ns, timer 0..%llu ns: %llu ns late in %u slots\n", policy->name,
	       kick_ns, timer_ns, lost_ns, grid.nr);
	/* Some slots were late, or else this would have tested nothing. */
	assert_true(!lost_ns == !timer_ns);
	des_test_end(des, &config);
}

/*
 * Overruns move the grid, and debts take slots out of it; a late thread changes nothing of that.
 * The owner of the first slot has no work, as its first work would wait for the thread.
 */
static void overruns(const struct vgpu_sched_policy *policy, u64 seed)
{
	struct des *prompt, *late;
	struct des_config config;
	unsigned int load, i;
	u64 rnd = seed, over_ns = 0, moved = 0;

	for (load = 0; load < 300; load++) {
		config_random(&config, policy, &rnd);
		config.client[0].load.kind = DES_NONE;
		for (i = 1; i < config.nr_clients; i++) {
			struct des_load *it = &config.client[i].load;

			*it = des_busy();
			if (i > 1 && random_one_in(&rnd, 3))
				it->kind = DES_NONE;
			if (random_one_in(&rnd, 2))
				it->overrun_ns = random_range(&rnd, 1, 9 * MS);
			it->overrun_always = random_one_in(&rnd, 4);
		}
		prompt = des_run(&config);
		config.kick_ns = random_range(&rnd, 1, 500 * US);
		late = des_run(&config);
		for (i = 1; i < config.nr_clients; i++)
			same_runs(prompt, late, i);
		over_ns = max(over_ns, late->engine[0].overrun_ns);
		moved += late->engine[0].overrun_ns > 0;
		assert_int_equal(late->engine[0].resets, 0);
		des_free(prompt);
		des_free(late);
		des_config_exit(&config);
	}
	printf("# %s: overruns in %llu of %u, up to %llu ns\n", policy->name, moved, load, over_ns);
	assert_true(moved > load / 2);
}

static void test_late_and_overruns(void **state)
{
	overruns(&vgpu_policy_equal_share, test_seed() + 6);
	overruns(&vgpu_policy_fixed_share, test_seed() + 7);
}

static void test_late(void **state)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		const struct vgpu_sched_policy *policy =
			i ? &vgpu_policy_fixed_share : &vgpu_policy_equal_share;

		late(policy, 200 * US, 0, test_seed() + i);
		late(policy, 200 * US, 200 * US, test_seed() + i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_almost),
		cmocka_unit_test(test_random_loads),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_neighbours_are_not_seen),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_late_and_overruns),
	};

	return cmocka_run_group_tests_name("slots_grid", tests, NULL, NULL);
}
