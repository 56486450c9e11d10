/* SPDX-License-Identifier: GPL-2.0 */
/* The timer that ends a section of a program which has not ended by itself. */
#ifndef _VGPU_SOFT_SECTION_H
#define _VGPU_SOFT_SECTION_H

#include <linux/hrtimer.h>
#include <linux/types.h>

/**
 * struct soft_section - an engine's sections, in which preemption is off
 * @timer:   while a section lasts, and until it would have been due
 * @over:    the section is to end after the instruction that is being executed
 * @late_ns: by how much the timer was late when it set @over; 0 before
 */
struct soft_section {
	struct hrtimer timer;
	bool over;
	u64 late_ns;
};

void soft_section_init(struct soft_section *section);
void soft_section_exit(struct soft_section *section);
void soft_section_begin(struct soft_section *section, u64 now_ns);
u64 soft_section_own_ns(const struct soft_section *section, u64 took_ns);

#endif /* _VGPU_SOFT_SECTION_H */
