// SPDX-License-Identifier: GPL-2.0
/*
 * The timer that ends a section of a program which has not ended by itself. The interpreter looks
 * at the clock after some instructions, as many as there should be time for; but how long a load of
 * 32 lanes takes from memory that is in no cache, no estimate can tell. So an interrupt sets a
 * flag, at which the interpreter looks after every instruction.
 */
#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "../../compat.h"
#include "lanes.h"
#include "section.h"

/* Later than sections end by themselves, so that the timer is set anew before it is due. */
#define SOFT_SECTION_NS_TIMER	(75 * NSEC_PER_USEC)

static enum hrtimer_restart soft_section_timer(struct hrtimer *timer)
{
	struct soft_section *section = container_of(timer, struct soft_section, timer);
	s64 late_ns = ktime_get_ns() - ktime_to_ns(hrtimer_get_expires(timer));

	WRITE_ONCE(section->late_ns, max(late_ns, 0));
	WRITE_ONCE(section->over, true);
	return HRTIMER_NORESTART;
}

/* The sections of an engine that executes programs; NULL: no memory. Sleeps. */
struct soft_section *soft_section_alloc(void)
{
	struct soft_section *section = kzalloc(sizeof(*section), GFP_KERNEL);

	if (!section)
		return NULL;
	hrtimer_setup(&section->timer, soft_section_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_HARD);
	return section;
}

/* No section begins any more. @section: or NULL. Sleeps. */
void soft_section_free(struct soft_section *section)
{
	if (!section)
		return;
	hrtimer_cancel(&section->timer);
	kfree(section);
}

/* Makes the file "section_hist" of an engine. @section: or NULL. */
void soft_section_debugfs(struct soft_section *section, struct dentry *dir)
{
	if (!section)
		return;
	section->array.array = section->hist;
	section->array.n_elements = SOFT_HIST;
	debugfs_create_u32_array("section_hist", 0400, dir, &section->array);
}

/**
 * soft_section_begin() - begin a section
 * @section: of the engine
 * @now_ns: the time
 *
 * The timer is left alone when a section ends: the next one sets it anew, or it ends nothing. Where
 * it is just going off the section ends after an instruction, and another one begins. Which CPU it
 * goes off on makes no difference, but that of the section is the quickest.
 *
 * Context: the engine's thread; does not sleep.
 */
void soft_section_begin(struct soft_section *section, u64 now_ns)
{
	hrtimer_start(&section->timer, ns_to_ktime(now_ns + SOFT_SECTION_NS_TIMER),
		      HRTIMER_MODE_ABS_PINNED_HARD);
	WRITE_ONCE(section->late_ns, 0);
	WRITE_ONCE(section->over, false);
}

/**
 * soft_section_own_ns() - how much of a section's time was the engine's
 * @section: of the engine; the section has ended
 * @took_ns: how long the section took
 *
 * The interpreter is interrupted at any instruction: where the timer was late, the CPU had been
 * taken away meanwhile by other interrupts, or by the host that runs this machine.
 *
 * Context: the engine's thread.
 * Return: the time, in ns.
 */
u64 soft_section_own_ns(const struct soft_section *section, u64 took_ns)
{
	return took_ns - min(took_ns, READ_ONCE(section->late_ns));
}
