// SPDX-License-Identifier: GPL-2.0
/* A team of units as the driver has it (soft/queue/team.c), whose threads are of user space. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/rcuwait.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/time64.h>

#include "soft/work/lanes.h"
#include "die.h"
#include "host_team.h"
#include "team_engine.h"

struct task_struct {
	pthread_t thread;
	int (*run)(void *unit);
	void *unit;
	bool stop;
};

static __thread struct task_struct *self;

bool kthread_should_stop(void)
{
	return __atomic_load_n(&self->stop, __ATOMIC_ACQUIRE);
}

static void *task_run(void *data)
{
	self = data;
	self->run(self->unit);
	return NULL;
}

int soft_unit_start(struct soft_unit *unit, struct soft_engine *engine, unsigned int index,
		    int (*thread)(void *unit), const char *gpu_name)
{
	struct task_struct *task = calloc(1, sizeof(*task));

	if (!task)
		return -ENOMEM;
	task->run = thread;
	task->unit = unit;
	unit->engine = engine;
	unit->task = task;
	return -pthread_create(&task->thread, NULL, task_run, task);
}

void soft_unit_place(const struct soft_unit *unit)
{
	(void)unit;
}

void soft_unit_pin(const struct soft_unit *unit)
{
	(void)unit;
}

unsigned int soft_unit_cpus(const struct soft_engine *engine)
{
	(void)engine;
	return num_online_cpus();
}

void soft_unit_stop(struct soft_unit *unit)
{
	__atomic_store_n(&unit->task->stop, true, __ATOMIC_RELEASE);
	rcuwait_wake_up(&unit->wake);
	pthread_join(unit->task->thread, NULL);
	free(unit->task);
}

#include "soft/queue/team.c"

#define LEAD_NS		NSEC_PER_MSEC	/* SOFT_LEAD_NS */

static const bool never;
static struct soft_engine engine;
static struct soft_unit helpers[SOFT_UNITS_MAX - 1];
static struct soft_channel channel;
static bool (*work)(unsigned int unit, u64 end_ns, const bool *leave);

static void help(struct soft_unit *unit, struct soft_channel *ch)
{
	work(unit - helpers + 1, unit->until_ns, &engine.team.leave);
}

unsigned int host_team_open(bool (*unit_work)(unsigned int unit, u64 end_ns, const bool *leave))
{
	static const struct soft_packet_desc desc = { .help = help };
	unsigned int units = min_t(unsigned int, num_online_cpus(), SOFT_UNITS_MAX);

	memset(&engine, 0, sizeof(engine));
	memset(helpers, 0, sizeof(helpers));
	channel.exec.packet.desc = &desc;
	work = unit_work;
	engine.team.helper = helpers;
	engine.team.nr = units - 1;
	if (soft_team_init(&engine, "bench"))
		bench_die("no threads");
	return units;
}

void host_team_close(void)
{
	soft_team_exit(&engine);
}

/* As soft_dispatch_together(). */
static void section_together(unsigned int others, bool (*stays)(void))
{
	u64 open_ns = ktime_get_ns(), end_ns = open_ns + SOFT_SECTION_NS;
	struct soft_channel *ch = &channel;

	soft_team_open(&engine, &ch, 1, others, end_ns + SOFT_SECTION_NS);
	while (work(0, end_ns, &never) && stays() && ktime_get_ns() - open_ns < LEAD_NS) {
		end_ns = ktime_get_ns() + SOFT_SECTION_NS;
		if (!soft_team_extend(&engine, end_ns + SOFT_SECTION_NS))
			break;
	}
	soft_team_close(&engine);
}

unsigned int host_team_section(unsigned int others, bool (*stays)(void))
{
	u64 helped = engine.team.helped;

	if (others)
		others = min(others, soft_team_ready(&engine));
	if (others)
		section_together(others, stays);
	else
		work(0, ktime_get_ns() + SOFT_SECTION_NS, &never);
	return engine.team.helped - helped;
}
