// SPDX-License-Identifier: GPL-2.0
/* Function tables: events of an account, which a function for each kind handles. */
#include "native.h"

#define ITEMS	1024
#define EVENTS	128
#define KINDS	8

struct account {
	int64_t balance;
	uint32_t nr, refused, limit;
};

struct event {
	uint32_t kind, amount;
};

static void deposit(struct account *a, uint32_t amount)
{
	a->balance += amount;
}

static void withdraw(struct account *a, uint32_t amount)
{
	if (a->balance + a->limit < amount)
		a->refused++;
	else
		a->balance -= amount;
}

static void interest(struct account *a, uint32_t amount)
{
	a->balance += a->balance * (amount % 16) / 1024;
}

static void set_limit(struct account *a, uint32_t amount)
{
	a->limit = amount * 2;
}

static void fee(struct account *a, uint32_t amount)
{
	a->balance -= a->nr % 4 ? amount % 8 : amount % 32;
}

static void reset(struct account *a, uint32_t amount)
{
	(void)amount;
	a->nr = 0;
}

static void charge(struct account *a, uint32_t amount)
{
	uint32_t i;

	for (i = 0; i < amount % 8; i++)
		withdraw(a, amount >> i);
}

static void nothing(struct account *a, uint32_t amount)
{
	(void)a;
	(void)amount;
}

static void (* const handler_of[KINDS])(struct account *, uint32_t) = {
	deposit, withdraw, interest, set_limit, fee, reset, charge, nothing,
};

static void item(const struct event *in, struct account *out, uint32_t id)
{
	uint32_t i;

	for (i = id * EVENTS; i < (id + 1) * EVENTS; i++) {
		out[id].nr++;
		handler_of[in[i].kind](out + id, in[i].amount);
	}
}

HOST void prepare(struct event *in)
{
	uint32_t i;

	for (i = 0; i < ITEMS * EVENTS; i++)
		in[i] = (struct event) { pick(KINDS), pick(1000) };
}

PROGRAM(handlers, "events by a table of functions", ITEMS, ITEMS * EVENTS * sizeof(struct event),
	ITEMS * sizeof(struct account))
