// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "tune.h"

char tune_refusal[VGPU_TEXT_LEN];

static struct vgpu_ctl_sched before;	/* size 0: nothing is kept */

void tune_begin(void)
{
	if (!before.size)
		tune_get(&before);
}

const char *tune_policy_at(unsigned int i)
{
	static char text[256];
	const char *name;
	char path[256];

	snprintf(path, sizeof(path), "/sys/class/mdev_bus/%s/vgpu/policies", fx_gpu());
	CHECK(file_read(path, text, sizeof(text)) > 0, "%s", path);
	for (name = strtok(text, "\n "); name && i; i--)
		name = strtok(NULL, "\n ");
	return name;
}

unsigned int tune_nr_policies(void)
{
	unsigned int nr = 0;

	while (tune_policy_at(nr))
		nr++;
	return nr;
}

void tune_check_text(int ret, const void *text)
{
	CHECK(memchr(text, 0, VGPU_TEXT_LEN), "not terminated");
	if (ret)
		CHECK(*(const char *)text, "refused without a word: %s", strerror(-ret));
	else
		CHECK(!*(const char *)text, "a text about nothing: %s", (const char *)text);
}

void tune_get(struct vgpu_ctl_sched *sched)
{
	int ret = node_sched(fx_control(), fx_gpu_id(), sched);

	if (ret)
		FAIL("VGPU_IOC_SCHED: %s", strerror(-ret));
}

int tune_try(struct vgpu_ctl_sched *sched, uint32_t valid)
{
	int ret;

	tune_begin();
	/* So that a call that leaves the text as it is does not pass for one that says nothing. */
	memset(sched->text, 'x', sizeof(sched->text));
	ret = node_sched_set(fx_control(), before.gpu, sched, valid);
	tune_check_text(ret, sched->text);
	return ret;
}

void tune_set(struct vgpu_ctl_sched *sched, uint32_t valid)
{
	int ret = tune_try(sched, valid);

	if (ret)
		FAIL("VGPU_IOC_SCHED_SET %#x: %s (%s)", valid, strerror(-ret), (char *)sched->text);
}

void tune_policy(const char *policy)
{
	struct vgpu_ctl_sched sched = { 0 };

	snprintf((char *)sched.policy, sizeof(sched.policy), "%s", policy);
	tune_set(&sched, VGPU_SCHED_POLICY);
	CHECK(!strcmp((char *)sched.policy, policy), "it is %s", (char *)sched.policy);
}

struct vgpu_ctl_share tune_entry(const struct fx_vgpu *v, uint32_t valid, uint32_t guarantee,
				 uint32_t cap, uint32_t weight)
{
	struct vgpu_ctl_share entry = {
		.valid = valid,
		.guarantee = guarantee,
		.cap = cap,
		.weight = weight,
	};

	memcpy(entry.uuid, v->id, sizeof(entry.uuid));
	return entry;
}

int tune_try_shares(const struct vgpu_ctl_share *entries, uint32_t count)
{
	int ret = node_shares_set(fx_control(), entries, count, tune_refusal);

	tune_check_text(ret, tune_refusal);
	return ret;
}

void tune_set_shares(const struct vgpu_ctl_share *entries, uint32_t count)
{
	int ret = tune_try_shares(entries, count);

	if (ret)
		FAIL("VGPU_IOC_SHARES_SET: %s (%s)", strerror(-ret), tune_refusal);
}

void tune_share(const struct fx_vgpu *v, uint32_t guarantee, uint32_t cap, uint32_t weight)
{
	struct vgpu_ctl_share entry = tune_entry(v, TUNE_TRIPLE, guarantee, cap, weight);

	tune_set_shares(&entry, 1);
}

void tune_frl(const struct fx_vgpu *v, uint32_t fps)
{
	struct vgpu_ctl_share entry = tune_entry(v, VGPU_SHARE_FRL, 0, 0, 0);

	entry.frl = fps;
	tune_set_shares(&entry, 1);
}

void tune_cleanup(void)
{
	int ret;

	fx_cleanup();
	if (!before.size)
		return;
	ret = node_sched_set(fx_control(), before.gpu, &before, TUNE_ALL);
	if (ret)
		ktap_note("cleanup: VGPU_IOC_SCHED_SET: %s (%.192s)", strerror(-ret),
			  (char *)before.text);
	before.size = 0;
}
