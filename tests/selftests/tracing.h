/* SPDX-License-Identifier: GPL-2.0 */
/* Recording one trace event of the kernel. Calls fail the test if they cannot do that. */
#ifndef TRACING_H
#define TRACING_H

/**
 * struct tracing - an event that is to be recorded
 * @event: its directory below events/, such as "sched/sched_waking"
 */
struct tracing {
	const char *event;
};

/*
 * From here on the event is recorded; @filter as the kernel knows them, or "0" for none. What was
 * recorded before, also of other events, is dropped.
 */
void tracing_begin(const struct tracing *t, const char *filter);
void tracing_end(const struct tracing *t);

/*
 * Calls @line for each record as it is printed; returns how many there are. @t NULL: of all
 * events, in their order.
 */
unsigned int tracing_read(const struct tracing *t, void (*line)(char *line));

#endif /* TRACING_H */
