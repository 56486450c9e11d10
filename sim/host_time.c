// SPDX-License-Identifier: GPL-2.0
/* See host.h: time, and what is due when. */
#include "host.h"

/* Allocates zeroed memory; without memory there is no simulation. */
void *host_alloc(size_t nr, size_t size)
{
	void *memory = calloc(nr, size);

	BUG_ON(!memory);
	return memory;
}

static bool host_before(const struct host *host, unsigned int a, unsigned int b)
{
	if (host->due_ns[a] != host->due_ns[b])
		return host->due_ns[a] < host->due_ns[b];
	return host->tie[a] < host->tie[b];
}

static void host_put(struct host *host, unsigned int place, unsigned int source)
{
	host->heap[place] = source;
	host->place[source] = place;
}

/*
 * @source has something to do at @due_ns, whatever was said of it before; HOST_NEVER: it has not.
 */
void host_due_at(struct host *host, unsigned int source, u64 due_ns)
{
	unsigned int place = host->place[source], other;

	if (host->due_ns[source] == due_ns)
		return;
	host->due_ns[source] = due_ns;
	while (place) {
		other = host->heap[(place - 1) / 2];
		if (!host_before(host, source, other))
			break;
		host_put(host, place, other);
		place = (place - 1) / 2;
	}
	for (;;) {
		unsigned int child = 2 * place + 1;

		if (child >= host->nr_sources)
			break;
		if (child + 1 < host->nr_sources &&
		    host_before(host, host->heap[child + 1], host->heap[child]))
			child++;
		other = host->heap[child];
		if (!host_before(host, other, source))
			break;
		host_put(host, place, other);
		place = child;
	}
	host_put(host, place, source);
}

/* In a fixed order clients come before engines, which come before all else. */
static u64 host_tie(struct host *host, unsigned int source)
{
	if (!host->set.in_order)
		return random_range(&host->random, 0, U32_MAX);
	if (source < host->set.nr_engines)
		return host_script_source(host) + source;
	return source < host_script_source(host) ? source : source + host->set.nr_engines;
}

/* Begins with nothing due. */
void host_time_begin(struct host *host)
{
	unsigned int i, nr = 3 * host->set.nr_engines + host->set.nr_clients + 2;

	host->now_ns = HOST_EPOCH_NS;
	host->random = host->set.seed;
	host->nr_sources = nr;
	host->due_ns = host_alloc(nr, sizeof(*host->due_ns));
	host->tie = host_alloc(nr, sizeof(*host->tie));
	host->heap = host_alloc(nr, sizeof(*host->heap));
	host->place = host_alloc(nr, sizeof(*host->place));
	for (i = 0; i < nr; i++) {
		host->due_ns[i] = HOST_NEVER;
		host->tie[i] = host_tie(host, i);
		host_put(host, i, i);
	}
}

void host_time_end(struct host *host)
{
	free(host->due_ns);
	free(host->tie);
	free(host->heap);
	free(host->place);
}
