// SPDX-License-Identifier: GPL-2.0
/* Attacks that worked once, each on the code as it was then. */
#include <linux/kernel.h>

#include "attack.h"

const struct attack_known attack_known[] = {
	/* A guarantee banked by resets: a run that ends held was not a sleep. */
	{ "bank by reset",
	  "qos slice=1ms attackers=1 a.guarantee=500 a.weight=1 v.guarantee=500 v.weight=1 "
	  "0.length=225ms 0.move=reset 0.job=83us 0.gap=90us 1.length=600ms" },
	/* The same by waiting for guest memory. */
	{ "bank by stall",
	  "qos slice=1ms attackers=1 a.guarantee=500 a.weight=1 v.guarantee=500 v.weight=1 stall=200us "
	  "0.length=392ms 0.move=stall 0.job=67us 0.gap=249us 1.length=800ms" },
	{ "bank by stall, at once",
	  "qos slice=1ms attackers=1 a.guarantee=500 a.weight=1 v.guarantee=500 v.weight=1 "
	  "0.length=392ms 0.move=stall 0.job=67us 0.gap=90us 1.length=800ms" },
	/* Queued deadlines kept the overrun of the time they were queued. */
	{ "jump of p",
	  "qos slice=1ms attackers=31 a.guarantee=3 a.weight=1 v.guarantee=907 v.weight=1 all_overrun=1 "
	  "0.length=1000ms 1.length=1000ms 1.overrun=9ms 1.every=1" },
	/* Idle just before the slot ends: the next began by the floor of a timer late. */
	{ "idle before the slot ends",
	  "equal_share slice=1ms attackers=1 0.length=1000ms 0.tail=1us 0.gap=2us" },
	{ "idle before the slot ends, fixed",
	  "fixed_share slice=1ms attackers=1 a.slots=1 v.slots=1 slots=2 0.length=1000ms 0.tail=1us 0.gap=2us" },
};

const unsigned int attack_nr_known = ARRAY_SIZE(attack_known);
