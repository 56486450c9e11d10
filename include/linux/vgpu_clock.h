/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of a partition. Partitions that share CPUs work in fixed slots of CLOCK_MONOTONIC, and
 * outside of them a partition's clock stands still: for its scheduler, its policy and its engines
 * there is no time in which the CPUs are another partition's. A clock without slots is
 * CLOCK_MONOTONIC itself.
 *
 * All here is pure, and does not depend on which partitions there are: a neighbour that comes, goes
 * or works changes nothing.
 */
#ifndef _LINUX_VGPU_CLOCK_H
#define _LINUX_VGPU_CLOCK_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

/*
 * A slot is as long as the default time slice, so that one of the vGPUs that take turns in a
 * partition has all of it; to sleep and wake once per slot costs less than 1 %. A period is shorter
 * than a frame at 60 Hz, so that each partition has its slots in each frame.
 */
#define VGPU_SLOT_NS		2000000U
#define VGPU_SLOTS		7U
#define VGPU_SLOTS_PERIOD_NS	(VGPU_SLOTS * VGPU_SLOT_NS)

/*
 * A partition's last slot ends so much before the next partition's begins. An engine looks at the
 * clock after 50 us of work at the latest, and what it does beyond its slot would be missing in
 * another partition's.
 */
#define VGPU_SLOT_STOP_NS	50000U

/**
 * struct vgpu_clock - the clock of a partition
 * @begin_ns:  when its slots begin in each period of VGPU_SLOTS_PERIOD_NS
 * @length_ns: for how long the clock goes on then; 0: it always does
 */
struct vgpu_clock {
	u32 begin_ns;
	u32 length_ns;
};

/**
 * vgpu_clock_slots() - make the clock of a partition
 * @clock: set to the clock
 * @first: its first slot
 * @nr:    how many slots it has, at least 1; @first + @nr is at most VGPU_SLOTS
 */
static inline void vgpu_clock_slots(struct vgpu_clock *clock, unsigned int first, unsigned int nr)
{
	clock->begin_ns = 0;
	clock->length_ns = 0;
	if (nr >= VGPU_SLOTS)
		return;
	clock->begin_ns = first * VGPU_SLOT_NS;
	clock->length_ns = nr * VGPU_SLOT_NS - VGPU_SLOT_STOP_NS;
}

/**
 * vgpu_clock_at() - tell what a clock shows
 * @clock:   the clock
 * @real_ns: at this time of CLOCK_MONOTONIC
 *
 * Return: the partition's time in ns; it never goes back, and in the slots goes on with real time.
 */
static inline u64 vgpu_clock_at(const struct vgpu_clock *clock, u64 real_ns)
{
	u32 rest_ns;
	u64 periods;

	if (!clock->length_ns)
		return real_ns;
	periods = div_u64_rem(real_ns, VGPU_SLOTS_PERIOD_NS, &rest_ns);
	if (rest_ns < clock->begin_ns)
		rest_ns = 0;
	else
		rest_ns = min(rest_ns - clock->begin_ns, clock->length_ns);
	return periods * clock->length_ns + rest_ns;
}

/**
 * vgpu_clock_real() - tell when a clock shows a time
 * @clock: the clock
 * @ns:    the partition's time
 *
 * Return: when the clock goes on from @ns, in ns of CLOCK_MONOTONIC: of the times at which it
 * shows @ns the last one, which is in the slots. U64_MAX if that is beyond the end of time.
 */
static inline u64 vgpu_clock_real(const struct vgpu_clock *clock, u64 ns)
{
	u32 rest_ns;
	u64 periods;

	if (!clock->length_ns)
		return ns;
	periods = div_u64_rem(ns, clock->length_ns, &rest_ns);
	if (periods >= div_u64(U64_MAX, VGPU_SLOTS_PERIOD_NS))
		return U64_MAX;
	return periods * VGPU_SLOTS_PERIOD_NS + clock->begin_ns + rest_ns;
}

/**
 * vgpu_clock_stands_at() - tell when a clock stands still
 * @clock:   the clock
 * @real_ns: from this time of CLOCK_MONOTONIC on
 *
 * Return: when it next does so, in ns of CLOCK_MONOTONIC: @real_ns if it does now, U64_MAX if it
 * never does.
 */
static inline u64 vgpu_clock_stands_at(const struct vgpu_clock *clock, u64 real_ns)
{
	u32 rest_ns;

	if (!clock->length_ns)
		return U64_MAX;
	div_u64_rem(real_ns, VGPU_SLOTS_PERIOD_NS, &rest_ns);
	if (rest_ns < clock->begin_ns || rest_ns - clock->begin_ns >= clock->length_ns)
		return real_ns;
	return real_ns + clock->length_ns - (rest_ns - clock->begin_ns);
}

/**
 * vgpu_slot_of_cpu() - divide CPUs among slots, for partitions that need not share them
 * @index: number of a CPU
 * @nr:    number of CPUs, at least VGPU_SLOTS
 *
 * Return: the slot that the CPU belongs to. Partitions have at least as many CPUs as their part of
 * @nr units.
 */
static inline unsigned int vgpu_slot_of_cpu(unsigned int index, unsigned int nr)
{
	return index * VGPU_SLOTS / nr;
}

#endif /* _LINUX_VGPU_CLOCK_H */
