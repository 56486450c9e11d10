// SPDX-License-Identifier: GPL-2.0
/* The table of scheduling policies, made from policies.h. */
#include <linux/kernel.h>
#include <linux/sprintf.h>
#include <linux/string.h>

#include "sched.h"

#define VGPU_POLICY(name) (&vgpu_policy_##name),
static const struct vgpu_sched_policy * const policies[] = {
#include "policies.h"
};

#undef VGPU_POLICY

/**
 * vgpu_sched_policy_at() - get a policy by its index
 * @index: index from 0, in the order in which users see the policies
 *
 * Context: any.
 * Return: the policy, or NULL beyond the last one.
 */
const struct vgpu_sched_policy *vgpu_sched_policy_at(unsigned int index)
{
	return index < ARRAY_SIZE(policies) ? policies[index] : NULL;
}

/**
 * vgpu_sched_policy() - find a policy by its name
 * @name: name for users
 *
 * Context: any.
 * Return: the policy, or NULL if there is no such policy.
 */
const struct vgpu_sched_policy *vgpu_sched_policy(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(policies); i++)
		if (!strcmp(policies[i]->name, name))
			return policies[i];
	return NULL;
}

/**
 * vgpu_sched_policy_names() - write the names of all policies as a phrase
 * @text: set to "a, b, c and d", truncated to @size
 * @size: bytes of @text, at least 1
 * @last: the word before the last name, such as "and"
 *
 * Context: any.
 * Return: @text.
 */
const char *vgpu_sched_policy_names(char *text, size_t size, const char *last)
{
	size_t i, len = 0;

	text[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(policies); i++) {
		if (i + 1 == ARRAY_SIZE(policies) && i)
			len += scnprintf(text + len, size - len, " %s ", last);
		else if (i)
			len += scnprintf(text + len, size - len, ", ");
		len += scnprintf(text + len, size - len, "%s", policies[i]->name);
	}
	return text;
}
