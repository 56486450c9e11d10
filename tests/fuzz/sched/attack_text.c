// SPDX-License-Identifier: GPL-2.0
/*
 * Attacks as text, for tables, build/bench.json and --replay: the name of the policy, and words of
 * the form name=value. Words whose value is 0 are left out; times have a unit.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "attack.h"
#include "sched/sched.h"

struct word {
	const char *name;
	size_t offset;
	bool time;
};

#define ENV(name, field) \
	{ name, offsetof(struct attack, env.field), false }
#define ENV_TIME(name, field) \
	{ name, offsetof(struct attack, env.field##_ns), true }
#define PLAN(name, field) \
	{ name, offsetof(struct attack, plan.field), false }
#define PLAN_TIME(name, field) \
	{ name, offsetof(struct attack, plan.field##_ns), true }
#define PHASE(i)						\
	PLAN_TIME(#i ".length", phase[i].length),		\
	PLAN(#i ".move", phase[i].move),			\
	PLAN_TIME(#i ".job", phase[i].job),			\
	PLAN_TIME(#i ".gap", phase[i].gap),			\
	PLAN_TIME(#i ".tail", phase[i].tail),			\
	PLAN_TIME(#i ".overrun", phase[i].overrun),		\
	PLAN(#i ".every", phase[i].overrun_every)

static const struct word words[] = {
	ENV_TIME("slice", slice),
	ENV("attackers", attackers),
	ENV("others", others),
	ENV_TIME("v.job", victim_job),
	ENV_TIME("v.gap", victim_gap),
	ENV("a.guarantee", a_guarantee),
	ENV("a.cap", a_cap),
	ENV("a.weight", a_weight),
	ENV("a.slots", a_slots),
	ENV("v.guarantee", v_guarantee),
	ENV("v.weight", v_weight),
	ENV("v.slots", v_slots),
	ENV("o.guarantee", o_guarantee),
	ENV("o.weight", o_weight),
	ENV("o.slots", o_slots),
	ENV("slots", nr_slots),
	ENV_TIME("late", machine.late),
	ENV_TIME("kick", machine.kick),
	ENV_TIME("timer", machine.timer),
	ENV_TIME("switch", machine.switch),
	ENV_TIME("poll", machine.poll),
	ENV_TIME("stall", machine.stall),
	ENV("all_overrun", all_overrun),
	PLAN_TIME("start", start),
	PLAN_TIME("spread", spread),
	PLAN("channels", channels),
	PLAN_TIME("stagger", stagger),
	PLAN_TIME("ring", ring),
	PHASE(0),
	PHASE(1),
	PHASE(2),
};

static const char *const moves[ATTACK_MOVES] = {
	"think", "stall", "frame", "reset", "close", "abort", "sleep",
};

static u64 *word_value(struct attack *attack, const struct word *word)
{
	return (u64 *)((char *)attack + word->offset);
}

static bool word_is_move(const struct word *word)
{
	const char *dot = strchr(word->name, '.');

	return dot && !strcmp(dot, ".move");
}

static void print_value(const struct word *word, u64 value, char *text, size_t size)
{
	unsigned long long n = value;

	if (word_is_move(word))
		snprintf(text, size, "%s", moves[value % ATTACK_MOVES]);
	else if (!word->time)
		snprintf(text, size, "%llu", n);
	else if (n % MS == 0)
		snprintf(text, size, "%llums", n / MS);
	else if (n % US == 0)
		snprintf(text, size, "%lluus", n / US);
	else
		snprintf(text, size, "%lluns", n);
}

/**
 * attack_simplify() - leave something out of the plan, or say it in fewer digits
 * @attack: which
 * @step:   from 0 on, what to try
 *
 * Return: false: there is no such step.
 */
bool attack_simplify(struct attack *attack, unsigned int step)
{
	static const u64 units[] = { 10 * MS, MS, 100 * US, 10 * US, US };
	unsigned int i, left = step;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		u64 *value = word_value(attack, &words[i]);
		unsigned int steps = words[i].time ? 1 + ARRAY_SIZE(units) : 1;

		if (words[i].offset < offsetof(struct attack, plan))
			continue;
		if (left >= steps) {
			left -= steps;
			continue;
		}
		*value = left ? *value / units[left - 1] * units[left - 1] : 0;
		return true;
	}
	return false;
}

/**
 * attack_print() - write an attack as text
 * @attack: the attack
 * @text:   gets the text
 * @size:   bytes of @text; ATTACK_TEXT is enough
 */
void attack_print(const struct attack *attack, char *text, size_t size)
{
	size_t at = snprintf(text, size, "%s", attack->policy->name);
	char value[32];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words) && at < size; i++) {
		u64 n = *word_value((struct attack *)attack, &words[i]);

		if (!n)
			continue;
		print_value(&words[i], n, value, sizeof(value));
		at += snprintf(text + at, size - at, " %s=%s", words[i].name, value);
	}
	if (at >= size)
		bench_die("an attack of more than %zu characters", size);
}

static bool parse_value(const struct word *word, const char *text, u64 *value)
{
	char *end;
	u64 i;

	if (word_is_move(word)) {
		for (i = 0; i < ATTACK_MOVES; i++) {
			if (!strcmp(text, moves[i])) {
				*value = i;
				return true;
			}
		}
		return false;
	}
	if (!isdigit((unsigned char)text[0]))
		return false;
	*value = strtoull(text, &end, 10);
	if (word->time && !strcmp(end, "s"))
		*value *= SEC;
	else if (word->time && !strcmp(end, "ms"))
		*value *= MS;
	else if (word->time && !strcmp(end, "us"))
		*value *= US;
	else if (*end && !(word->time && !strcmp(end, "ns")))
		return false;
	return true;
}

static bool parse_word(struct attack *attack, char *text)
{
	char *value = strchr(text, '=');
	unsigned int i;

	if (!value)
		return false;
	*value++ = 0;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i].name, text))
			return parse_value(&words[i], value, word_value(attack, &words[i]));
	return false;
}

/**
 * attack_parse() - read an attack from text
 * @attack: set to the attack
 * @text:   text, as attack_print() writes it
 *
 * Return: whether the text is an attack that is possible.
 */
bool attack_parse(struct attack *attack, const char *text)
{
	char copy[ATTACK_TEXT], *word, *rest = NULL;

	memset(attack, 0, sizeof(*attack));
	if (strlen(text) >= sizeof(copy))
		return false;
	strcpy(copy, text);
	word = strtok_r(copy, " \t", &rest);
	attack->policy = word ? vgpu_sched_policy(word) : NULL;
	if (!attack->policy)
		return false;
	while ((word = strtok_r(NULL, " \t", &rest)))
		if (!parse_word(attack, word))
			return false;
	return attack_possible(attack);
}
