// SPDX-License-Identifier: GPL-2.0
/*
 * The team of vgpu_world.h, in one thread: helpers work while the leader is in the middle of a
 * section.
 */
#include <string.h>

#include "soft/card/instance.h"
#include "soft/work/lanes.h"
#include "soft/work/section.h"
#include "soft/work/work.h"
#include "vgpu_world.h"
#include "vgpu_world_guest.h"

#define HELPERS		3	/* units of gr, beside the one that leads */
#define SECTION_INSNS	60

u64 vgpu_world_extended;

/**
 * struct team - helpers
 * @helper:  the helpers
 * @section: what they have of programs
 * @helped:  channels of the open section
 * @nr_helped: their number; 0: none is open
 * @helpers: how many can come yet
 * @most:    how many can come each time that they are called
 * @open_ns: when the section was opened
 * @gen:     generation of translations then
 * @sections: of programs, so far
 * @looks:   how often a section was to stay open
 */
static struct {
	struct soft_unit helper[HELPERS];
	struct soft_section section[HELPERS];
	struct soft_channel *helped[SOFT_UNITS_MAX];
	unsigned int nr_helped;
	unsigned int helpers;
	unsigned int most;
	u64 open_ns;
	u32 gen;
	unsigned int sections;
	unsigned int looks;
} team;

void world_team_init(struct soft_engine *engine)
{
	unsigned int i;

	memset(&team, 0, sizeof(team));
	engine->team.helper = team.helper;
	engine->team.nr = HELPERS;
	for (i = 0; i < HELPERS; i++) {
		team.helper[i].engine = engine;
		team.helper[i].section = &team.section[i];
	}
}

unsigned int soft_team_ready(struct soft_engine *engine)
{
	return HELPERS;
}

void soft_team_open(struct soft_engine *engine, struct soft_channel *const *ch, unsigned int nr_ch,
		    unsigned int most, u64 end_ns)
{
	DIE_IF(!nr_ch || nr_ch > SOFT_UNITS_MAX || !most || most > HELPERS);
	DIE_IF(team.nr_helped);
	engine->team.end_ns = end_ns;
	engine->team.leave = false;
	memcpy(team.helped, ch, nr_ch * sizeof(*ch));
	team.nr_helped = nr_ch;
	team.helpers = most;
	team.most = most;
	team.open_ns = engine->lead.real_ns;
	team.gen = engine->lead.view.gen;
}

/* A channel that the leader has taken, whether or not units work on it; or NULL. */
static struct soft_channel *taken(unsigned int nr)
{
	struct soft_queues *queues = world_queues();
	unsigned int i;

	for (i = 0; i < queues->nr_channels; i++)
		if (queues->channel[i].busy && !nr--)
			return &queues->channel[i];
	return NULL;
}

/* Nobody needs a section to be closed that is to stay open. */
static void check_stays(struct soft_engine *engine)
{
	/* The leader has looked at the clock since its piece of work. */
	u64 looked_ns = ktime_get_ns() - 10 * WORLD_LOOK_NS;
	unsigned int i;

	DIE_IF(!team.nr_helped || engine->team.leave);
	DIE_IF(soft_stop_told(engine));
	DIE_IF(looked_ns >= engine->run.deadline_ns);
	DIE_IF(looked_ns >= team.open_ns + NSEC_PER_MSEC);
	DIE_IF(soft_invalidate_gen(engine->queues) != engine->lead.view.gen);
	for (i = 0; taken(i); i++)
		DIE_IF(taken(i)->stop);
	DIE_IF(i < team.nr_helped);
	for (i = 0; i < team.nr_helped; i++) {
		struct soft_context *context = soft_context(team.helped[i]);

		DIE_IF(soft_flights_wants(&context->flights));
		DIE_IF(soft_flights_ended(&context->flights, &context->dispatch));
	}
}

/* All helpers can come once more; but now and then none has come. */
bool soft_team_extend(struct soft_engine *engine, u64 end_ns)
{
	check_stays(engine);
	if (++team.looks % 16 == 0)
		return false;
	engine->team.end_ns = end_ns;
	team.helpers = team.most;
	vgpu_world_extended++;
	return true;
}

/* One more helper works while those that have a flight already are in the middle of a section. */
static void help(void)
{
	struct soft_unit *unit;
	unsigned int i;

	if (!team.nr_helped || !team.helpers)
		return;
	unit = &team.helper[--team.helpers];
	unit->until_ns = unit->engine->team.end_ns;
	DIE_IF(team.gen != unit->engine->lead.view.gen);
	for (i = team.nr_helped; i--; ) {
		struct soft_channel *ch = team.helped[i];

		memset(&unit->view, 0, sizeof(unit->view));
		unit->view.mem = unit->engine->lead.view.mem;
		unit->view.root = ch->space;
		unit->view.gen = unit->engine->lead.view.gen;
		ch->exec.packet.desc->help(unit, ch);
	}
}

/* Those that have not come so far come now, or not any more. */
void soft_team_close(struct soft_engine *engine)
{
	unsigned int i;

	while (team.sections % 2 && team.helpers)
		help();
	engine->team.leave = true;
	for (i = 0; taken(i); i++)
		taken(i)->stop = false;
	team.helpers = 0;
	team.nr_helped = 0;
}

/*
 * In the middle of a section somebody wants something of the engine. Who wants to disable a channel
 * has thought better of it when the section is closed.
 */
static void want(struct soft_engine *engine)
{
	unsigned int nr = 0;

	while (taken(nr))
		nr++;
	if (team.nr_helped && nr > 1 && team.sections % 8 == 3)
		taken(team.sections / 8 % nr)->stop = true;
	switch (++team.sections % 148) {
	case 37:
	case 74:
		WRITE_ONCE(engine->preempt, true);
		WRITE_ONCE(engine->team.leave, true);
		break;
	case 50:
		engine->queues->space_gen++;
		break;
	case 90:
		if (team.nr_helped)
			team.helped[team.sections % team.nr_helped]->stop = true;
		break;
	case 111:
		engine->state.counter = SOFT_ENGINE_RESET;
		break;
	}
}

enum simt_end soft_lanes_section(struct simt_group *group, u32 *piece, bool slow, u64 end_ns,
				 const bool *leave, u64 *took_ns)
{
	help();
	want(&world_queues()->engine[0]);
	*took_ns = WORLD_LOOK_NS;
	return simt_group_run(group, SECTION_INSNS);
}

bool soft_lanes_looked(u32 *looks, u64 end_ns)
{
	return ++*looks % 64 == 0;
}
