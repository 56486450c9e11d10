/* SPDX-License-Identifier: GPL-2.0 */
/* One trace event of the kernel, and what it has recorded. */
#ifndef TRACING_H
#define TRACING_H

/**
 * struct tracing - an event that is being traced
 * @event: below events/, such as "sched/sched_waking"
 */
struct tracing {
	const char *event;
};

/* @filter: as the kernel's, or "0" for none. Fails the test where it cannot. */
void tracing_begin(const struct tracing *t, const char *filter);
void tracing_end(const struct tracing *t);

/* Calls @line for each record; returns how many there are. */
unsigned int tracing_read(const struct tracing *t, void (*line)(char *line));

#endif /* TRACING_H */
