// SPDX-License-Identifier: GPL-2.0
/*
 * Quarantine: a number of faults within a window stops a vGPU, each time for twice as long as the
 * time before. Pure logic, compiled in user space too.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "quarantine.h"

static u64 sum_ns(u64 a, u64 b)
{
	return a + b < a ? ~0ULL : a + b;
}

static void forget_faults(struct vgpu_quarantine *q)
{
	q->nr_faults = 0;
	q->head = 0;
}

/**
 * vgpu_quarantine_init() - start counting
 * @q:          set
 * @threshold:  number of faults that begin a quarantine, at most VGPU_QUARANTINE_MAX_FAULTS (larger
 *              numbers are lowered to that); 0: no quarantine
 * @window_ns:  the faults must lie within this time
 * @backoff_ns: length of the first quarantine; 0 is taken as 1
 */
void vgpu_quarantine_init(struct vgpu_quarantine *q, unsigned int threshold, u64 window_ns,
			  u64 backoff_ns)
{
	memset(q, 0, sizeof(*q));
	q->threshold = min(threshold, VGPU_QUARANTINE_MAX_FAULTS);
	q->window_ns = window_ns;
	q->backoff_ns = backoff_ns ? backoff_ns : 1;
	q->next_ns = q->backoff_ns;
}

/* Resizes the ring to @threshold faults, and keeps the newest of those it has. */
static void resize(struct vgpu_quarantine *q, unsigned int threshold)
{
	unsigned int keep = min(q->nr_faults, threshold), i;
	u64 newest[VGPU_QUARANTINE_MAX_FAULTS];

	for (i = 0; i < keep; i++)
		newest[i] = q->fault_ns[(q->head + q->threshold - keep + i) % q->threshold];
	memcpy(q->fault_ns, newest, keep * sizeof(newest[0]));
	q->threshold = threshold;
	q->nr_faults = keep;
	q->head = threshold ? keep % threshold : 0;
}

/**
 * vgpu_quarantine_set() - change the settings
 * @q:          quarantine of a vGPU
 * @threshold:  as vgpu_quarantine_init() takes it
 * @backoff_ns: as vgpu_quarantine_init() takes it
 *
 * A quarantine that has begun does not change. The last faults before the call still count, up to
 * @threshold of them; no quarantine begins before the next fault. If @backoff_ns changes, the next
 * quarantine counts as a first one.
 */
void vgpu_quarantine_set(struct vgpu_quarantine *q, unsigned int threshold, u64 backoff_ns)
{
	threshold = min(threshold, VGPU_QUARANTINE_MAX_FAULTS);
	backoff_ns = backoff_ns ? backoff_ns : 1;
	if (threshold != q->threshold)
		resize(q, threshold);
	if (backoff_ns != q->backoff_ns) {
		q->backoff_ns = backoff_ns;
		q->next_ns = backoff_ns;
	}
}

static void begin(struct vgpu_quarantine *q, u64 now_ns)
{
	u64 limit_ns = max(q->backoff_ns, VGPU_QUARANTINE_LIMIT_NS);

	q->until_ns = sum_ns(now_ns, q->next_ns);
	q->next_ns = min(sum_ns(q->next_ns, q->next_ns), limit_ns);
	q->quarantines++;
	forget_faults(q);
}

/**
 * vgpu_quarantine_fault() - count a fault or a gross overrun of a vGPU
 * @q:      quarantine of the vGPU
 * @now_ns: the time, CLOCK_MONOTONIC; never less than in earlier calls
 *
 * A fault during a quarantine does not count.
 *
 * Return: true if a quarantine begins now; it lasts until q->until_ns.
 */
bool vgpu_quarantine_fault(struct vgpu_quarantine *q, u64 now_ns)
{
	if (!q->threshold || q->until_ns)
		return false;

	if (now_ns - q->last_ns > VGPU_QUARANTINE_QUIET_NS)
		q->next_ns = q->backoff_ns;
	q->last_ns = now_ns;

	q->fault_ns[q->head] = now_ns;
	q->head = (q->head + 1) % q->threshold;
	if (q->nr_faults < q->threshold)
		q->nr_faults++;
	/* In a full ring the oldest time is at the head. */
	if (q->nr_faults < q->threshold || now_ns - q->fault_ns[q->head] > q->window_ns)
		return false;

	begin(q, now_ns);
	return true;
}

/**
 * vgpu_quarantine_expire() - end a quarantine if its time is over
 * @q:      quarantine of a vGPU
 * @now_ns: the time, CLOCK_MONOTONIC
 *
 * Return: true if this call has ended a quarantine.
 */
bool vgpu_quarantine_expire(struct vgpu_quarantine *q, u64 now_ns)
{
	if (!q->until_ns || now_ns < q->until_ns)
		return false;
	q->last_ns = q->until_ns;
	q->until_ns = 0;
	return true;
}

/**
 * vgpu_quarantine_release() - lift a quarantine at the host's request
 * @q: quarantine of a vGPU
 *
 * Also forgets earlier faults; the next quarantine counts as a first one. The count of quarantines
 * stays.
 */
void vgpu_quarantine_release(struct vgpu_quarantine *q)
{
	q->until_ns = 0;
	q->next_ns = q->backoff_ns;
	forget_faults(q);
}

/* When it was that is @age_ns ago; 0 stands for never. */
static u64 time_ago(u64 now_ns, u64 age_ns)
{
	return age_ns < now_ns ? now_ns - age_ns : 1;
}

/**
 * vgpu_quarantine_export() - tell what another host needs to go on counting
 * @q:      quarantine of a vGPU
 * @now_ns: the time, CLOCK_MONOTONIC
 * @ages:   set
 */
void vgpu_quarantine_export(const struct vgpu_quarantine *q, u64 now_ns,
			    struct vgpu_quarantine_ages *ages)
{
	unsigned int i, at;

	memset(ages, 0, sizeof(*ages));
	ages->nr_faults = q->nr_faults;
	ages->quarantines = q->quarantines;
	ages->left_ns = q->until_ns > now_ns ? q->until_ns - now_ns : 0;
	ages->next_ns = q->next_ns;
	ages->quiet_ns = q->last_ns ? now_ns - min(q->last_ns, now_ns) : ~0ULL;
	for (i = 0; i < q->nr_faults; i++) {
		at = (q->head + q->threshold - q->nr_faults + i) % q->threshold;
		ages->age_ns[i] = now_ns - min(q->fault_ns[at], now_ns);
	}
}

/* The time of a fault in the ring: 0 is the last one, 1 the one before it. */
static u64 fault_time(const struct vgpu_quarantine *q, unsigned int nth)
{
	return q->fault_ns[(q->head + q->threshold - 1 - nth) % q->threshold];
}

/* Inserts a time into @times, of which there are @nr, the latest first. */
static void insert_time(u64 *times, unsigned int nr, u64 time_ns)
{
	for (; nr && times[nr - 1] < time_ns; nr--)
		times[nr] = times[nr - 1];
	times[nr] = time_ns;
}

/*
 * Of the faults that were counted here and there, the last is the later one of both last ones, and
 * so on: a fault that both have counted is one, and none of either becomes older.
 */
static void import_faults(struct vgpu_quarantine *q, u64 now_ns, const u64 *age_ns,
			  unsigned int nr)
{
	u64 times[VGPU_QUARANTINE_MAX_FAULTS];
	unsigned int i;

	for (i = 0; i < nr; i++)
		insert_time(times, i, time_ago(now_ns, age_ns[i]));
	for (i = 0; i < q->nr_faults; i++)
		times[i] = max(fault_time(q, i), i < nr ? times[i] : 0);
	nr = min(max(nr, q->nr_faults), q->threshold);
	forget_faults(q);
	while (nr) {
		q->fault_ns[q->head] = times[--nr];
		q->head = (q->head + 1) % q->threshold;
		q->nr_faults++;
	}
}

/**
 * vgpu_quarantine_import() - go on counting what another host has counted
 * @q:      quarantine of a vGPU
 * @now_ns: the time, CLOCK_MONOTONIC
 * @ages:   what vgpu_quarantine_export() has set there; any numbers
 *
 * How many faults begin a quarantine, and how long a first one lasts, stay as they are set here,
 * and no quarantine becomes longer than it can be here; where there is none, none comes. How many
 * there were is what this host has counted. What @q itself has counted is not
 * forgotten, so a move to a host and back is no way out of a quarantine.
 */
void vgpu_quarantine_import(struct vgpu_quarantine *q, u64 now_ns,
			    const struct vgpu_quarantine_ages *ages)
{
	u64 limit_ns = max(q->backoff_ns, VGPU_QUARANTINE_LIMIT_NS);

	if (ages->left_ns && q->threshold)
		q->until_ns = max(q->until_ns, sum_ns(now_ns, min(ages->left_ns, limit_ns)));
	q->next_ns = clamp(ages->next_ns, q->next_ns, limit_ns);
	if (ages->quiet_ns != ~0ULL)
		q->last_ns = max(q->last_ns, time_ago(now_ns, ages->quiet_ns));
	import_faults(q, now_ns, ages->age_ns, min(ages->nr_faults, VGPU_QUARANTINE_MAX_FAULTS));
}
