// SPDX-License-Identifier: GPL-2.0
/* Attacks that worked once, each on the policies as they were then. */
#include <linux/kernel.h>

#include "attack.h"

#define HALVES "a.guarantee=500 a.weight=1 v.guarantee=500 v.weight=1 "
#define REAL "late=10us kick=20us switch=10us poll=50us "

const struct attack_known attack_known[] = {
	/* People found these attacks, which were the reason for the search. */
	{ "bank a guarantee by resets",
	  "qos slice=1ms attackers=1 " HALVES
	  "0.length=225ms 0.move=reset 0.job=83us 0.gap=90us 1.length=600ms" },
	{ "bank a guarantee by stalls",
	  "qos slice=1ms attackers=1 " HALVES "stall=200us 0.length=392ms 0.move=stall 0.job=67us 0.gap=249us 1.length=800ms" },
	{ "all begin to overrun",
	  "qos slice=1ms attackers=31 a.guarantee=3 a.weight=1 v.guarantee=907 v.weight=1 all_overrun=1 0.length=1000ms 1.length=1000ms 1.overrun=9ms 1.every=1" },
	{ "idle before a slot ends",
	  "equal_share slice=1ms attackers=1 0.length=1000ms 0.tail=1us 0.gap=100us" },
	/* The search found these. */
	{ "bank by closing",
	  "qos slice=2ms attackers=1 " HALVES REAL
	  "0.length=230ms 0.move=close 0.job=6us 1.length=60ms 1.move=close 1.job=40us 2.length=1200ms" },
	{ "bank by closing, three others",
	  "qos slice=2ms attackers=1 others=2 a.guarantee=250 a.weight=1 v.guarantee=250 v.weight=1 o.guarantee=250 o.weight=1 stall=200us ring=100us 1.length=220ms 1.move=stall 2.length=520ms 2.move=close 2.job=1us 2.gap=70us" },
	{ "bank by resets, three channels",
	  "qos slice=1ms attackers=1 a.guarantee=250 a.weight=1 v.guarantee=250 v.weight=1 channels=3 0.length=1200ms 1.length=1010ms 1.move=reset 1.job=88ns 1.gap=400us 2.gap=40us" },
	{ "31 begin to overrun",
	  "qos slice=2ms attackers=31 a.guarantee=4 a.weight=1 v.guarantee=876 v.weight=1 " REAL
	  "stall=200us spread=10us 1.length=530ms 1.job=20ms 1.overrun=1090us 1.every=3" },
	{ "overrun, and close",
	  "qos slice=2ms attackers=7 a.guarantee=10 a.weight=1 v.guarantee=930 v.weight=1 " REAL
	  "spread=100us 0.length=280ms 0.overrun=900us 0.every=1 1.length=1340ms 1.move=close 1.job=2us 1.gap=80us 2.length=40ms 2.move=reset 2.gap=100us 2.tail=80us" },
	{ "idle before a slot ends, four channels",
	  "equal_share slice=1ms attackers=1 stall=200us channels=4 stagger=20ms 0.gap=80us 1.gap=10us 2.length=2ms 2.gap=100us 2.tail=102ns" },
	{ "nothing at all",
	  "equal_share slice=1ms attackers=2 " REAL "0.move=sleep" },
	{ "idle before the victim's slots",
	  "equal_share slice=1ms attackers=1 " REAL "0.length=1200ms 0.job=100us 0.gap=270us" },
	{ "idle before a slot ends",
	  "fixed_share slice=1ms attackers=1 others=2 a.slots=2 v.slots=4 o.slots=1 slots=8 0.length=1100ms 0.gap=200us 0.tail=331ns" },
	{ "jobs of a slot, which end late",
	  "fixed_share slice=1ms attackers=1 others=2 v.job=1ms v.gap=38138ns a.slots=2 v.slots=2 o.slots=1 slots=8 channels=2 stagger=5800us 0.length=6400us 0.move=abort 0.job=200us 0.gap=40800ns 1.length=11600us 1.job=599us 1.gap=223us" },
	{ "overruns now and then",
	  "best_effort slice=2ms attackers=1 others=2 " REAL "0.length=550ms 0.overrun=300us 0.every=7" },
};

const unsigned int attack_nr_known = ARRAY_SIZE(attack_known);
