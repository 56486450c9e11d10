// SPDX-License-Identifier: GPL-2.0
/*
 * Quarantine: K faults within a window stop a vGPU for a time that doubles
 * with every quarantine. Pure logic, compiled in user space too.
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
 * @q:          to set up
 * @threshold:  faults that begin a quarantine, 0 for never; at most
 *              VGPU_QUARANTINE_MAX_FAULTS, more is taken as that
 * @window_ns:  within which they lie
 * @backoff_ns: length of the first quarantine, at least 1
 *
 * Context: any; the caller has @q to itself.
 */
void vgpu_quarantine_init(struct vgpu_quarantine *q, unsigned int threshold,
			  u64 window_ns, u64 backoff_ns)
{
	memset(q, 0, sizeof(*q));
	q->threshold = min(threshold, VGPU_QUARANTINE_MAX_FAULTS);
	q->window_ns = window_ns;
	q->backoff_ns = backoff_ns ? backoff_ns : 1;
	q->next_ns = q->backoff_ns;
}

/* The ring has room for @threshold faults: keeps the newest, oldest first. */
static void resize(struct vgpu_quarantine *q, unsigned int threshold)
{
	unsigned int keep = min(q->nr_faults, threshold), i;
	u64 newest[VGPU_QUARANTINE_MAX_FAULTS];

	for (i = 0; i < keep; i++)
		newest[i] = q->fault_ns[(q->head + q->threshold - keep + i) %
					q->threshold];
	memcpy(q->fault_ns, newest, keep * sizeof(newest[0]));
	q->threshold = threshold;
	q->nr_faults = keep;
	q->head = threshold ? keep % threshold : 0;
}

/**
 * vgpu_quarantine_set() - change the rules
 * @q:          whose
 * @threshold:  as vgpu_quarantine_init() takes it
 * @backoff_ns: likewise
 *
 * A quarantine goes on as it began. Recent faults still count, as many as the
 * threshold can be about; a smaller one takes effect with the next fault. If
 * @backoff_ns is another than before, the next quarantine is that long.
 *
 * Context: any; the caller serialises.
 */
void vgpu_quarantine_set(struct vgpu_quarantine *q, unsigned int threshold,
			 u64 backoff_ns)
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
 * vgpu_quarantine_fault() - a channel faulted, or an engine was overrun badly
 * @q:      whose
 * @now_ns: when; never less than in earlier calls
 *
 * What faults while it is quarantined already does not count.
 *
 * Context: any; the caller serialises.
 * Return: whether a quarantine begins now, and lasts until q->until_ns.
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
	/* In a full ring the head is the oldest. */
	if (q->nr_faults < q->threshold ||
	    now_ns - q->fault_ns[q->head] > q->window_ns)
		return false;

	begin(q, now_ns);
	return true;
}

/**
 * vgpu_quarantine_expire() - end the quarantine if its time is over
 * @q:      whose
 * @now_ns: the time
 *
 * Context: any; the caller serialises.
 * Return: whether one ended by this call.
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
 * vgpu_quarantine_release() - the host lifts the quarantine and forgives
 * @q: whose
 *
 * Also forgets earlier faults, and the next quarantine is as short as the
 * first. The count of quarantines stays.
 *
 * Context: any; the caller serialises.
 */
void vgpu_quarantine_release(struct vgpu_quarantine *q)
{
	q->until_ns = 0;
	q->next_ns = q->backoff_ns;
	forget_faults(q);
}
