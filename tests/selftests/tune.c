// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "tune.h"

static struct vgpu_ctl_sched before;	/* size 0: nothing was set */

static uint32_t tune_gpu(void)
{
	struct vgpu_ctl_gpu gpu;

	fx_ctl_gpu(&gpu);
	return gpu.gpu;
}

const char *tune_policy_at(unsigned int i)
{
	static char text[256];
	const char *name;
	char path[256];

	snprintf(path, sizeof(path), "/sys/class/mdev_bus/%s/vgpu/policies", fx_gpu());
	CHECK(fx_read_file(path, text, sizeof(text)) > 0, "%s", path);
	for (name = strtok(text, " \n"); name && i; i--)
		name = strtok(NULL, " \n");
	return name;
}

unsigned int tune_nr_policies(void)
{
	unsigned int nr = 0;

	while (tune_policy_at(nr))
		nr++;
	return nr;
}

void tune_get(struct vgpu_ctl_sched *sched)
{
	memset(sched, 0, sizeof(*sched));
	sched->size = sizeof(*sched);
	sched->gpu = tune_gpu();
	if (ioctl(fx_control(), VGPU_IOC_SCHED, sched))
		FAIL("VGPU_IOC_SCHED: %s", strerror(errno));
}

/* What @valid names, VGPU_SCHED_*; the rest of @sched but that is set here. */
void tune_set(struct vgpu_ctl_sched *sched, uint32_t valid)
{
	if (!before.size)
		tune_get(&before);
	sched->size = sizeof(*sched);
	sched->flags = 0;
	sched->gpu = before.gpu;
	sched->valid = valid;
	if (ioctl(fx_control(), VGPU_IOC_SCHED_SET, sched))
		FAIL("VGPU_IOC_SCHED_SET %#x: %s (%s)", valid, strerror(errno),
		     (char *)sched->text);
}

void tune_policy(const char *policy)
{
	struct vgpu_ctl_sched sched = { 0 };

	snprintf((char *)sched.policy, sizeof(sched.policy), "%s", policy);
	tune_set(&sched, VGPU_SCHED_POLICY);
	CHECK(!strcmp((char *)sched.policy, policy), "it is %s",
	      (char *)sched.policy);
}

static void tune_shares(struct vgpu_ctl_share *share, const struct fx_vgpu *v)
{
	struct vgpu_ctl_shares shares = {
		.size = sizeof(shares),
		.count = 1,
		.entries = (uintptr_t)share,
	};

	memcpy(share->uuid, v->id, sizeof(v->id));
	if (ioctl(fx_control(), VGPU_IOC_SHARES_SET, &shares))
		FAIL("VGPU_IOC_SHARES_SET: %s (%s)", strerror(errno),
		     (char *)shares.text);
}

void tune_share(const struct fx_vgpu *v, uint32_t guarantee, uint32_t cap,
		uint32_t weight)
{
	struct vgpu_ctl_share share = {
		.valid = VGPU_SHARE_GUARANTEE | VGPU_SHARE_CAP |
			 VGPU_SHARE_WEIGHT,
		.guarantee = guarantee,
		.cap = cap,
		.weight = weight,
	};

	tune_shares(&share, v);
}

void tune_frl(const struct fx_vgpu *v, uint32_t fps)
{
	struct vgpu_ctl_share share = {
		.valid = VGPU_SHARE_FRL,
		.frl = fps,
	};

	tune_shares(&share, v);
}

void tune_cleanup(void)
{
	fx_cleanup();
	if (!before.size)
		return;
	before.valid = VGPU_SCHED_POLICY | VGPU_SCHED_SLICE |
		       VGPU_SCHED_WINDOW | VGPU_SCHED_PREEMPT_TIMEOUT |
		       VGPU_SCHED_LINGER | VGPU_SCHED_QUARANTINE_FAULTS |
		       VGPU_SCHED_QUARANTINE_BACKOFF;
	if (ioctl(fx_control(), VGPU_IOC_SCHED_SET, &before))
		ktap_note("cleanup: VGPU_IOC_SCHED_SET: %s (%s)",
			  strerror(errno), (char *)before.text);
	before.size = 0;
}
