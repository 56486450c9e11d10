// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "share.h"

#define JOB_NS		100000
#define TICK_NS		20000000

struct share_world share;

static uint32_t gpu_id(void)
{
	struct vgpu_ctl_gpu gpu;

	fx_ctl_gpu(&gpu);
	return gpu.gpu;
}

static void set_policy(const char *policy, uint64_t ns)
{
	char why[VGPU_TEXT_LEN];

	CHECK(!load_set_policy(fx_control(), gpu_id(), policy, ns, why),
	      "%s: %s", policy, why);
	share.slice_ns = ns;
}

void share_set_shares(void)
{
	char why[VGPU_TEXT_LEN];

	CHECK(!load_set_shares(fx_control(), share.set, share.nr, why), "%s", why);
}

void share_ok(struct load *l, int ret)
{
	if (ret)
		FAIL("%s", l->text);
}

/* Creates and opens what is named in @types. */
void share_open(const char *types)
{
	char type[16];
	int used;

	share.nr = 0;
	while (sscanf(types, "%15s%n", type, &used) == 1) {
		CHECK(share.nr < SHARE_VGPUS);
		fx_create_open(&share.vgpu[share.nr], type);
		memset(&share.set[share.nr], 0, sizeof(share.set[share.nr]));
		memcpy(share.set[share.nr].uuid, share.vgpu[share.nr].id, VGPU_UUID_LEN);
		share.nr++;
		types += used;
	}
}

static void start_loads(void)
{
	struct load_config config = {
		.engine_class = VGPU_HW_ENGINE_GR,
		.order = SHARE_RING_ORDER,
	};
	uint64_t took_ns;
	unsigned int i;

	share_ok(&share.load[0], load_size(&share.load[0], share.vgpu[0].dev, &config,
					   JOB_NS, &config.job_bytes, &took_ns));
	for (i = 0; i < share.nr; i++) {
		config.seed = fx_random();
		share_ok(&share.load[i], load_init(&share.load[i], share.vgpu[i].dev, &config));
	}
}

static void tick(void)
{
	struct timespec ts = { .tv_nsec = TICK_NS };
	uint64_t start = load_now_ns();

	nanosleep(&ts, NULL);
	share.late_ns += load_now_ns() - start - TICK_NS;
	share.ticks++;
}

/* Rings never run empty: one holds work for 0.4 s. */
void share_keep_busy(unsigned int ms)
{
	uint64_t end = fx_now_ms() + ms;
	unsigned int i;

	do {
		for (i = 0; i < share.nr; i++)
			if (share.busy[i])
				share_ok(&share.load[i],
					 load_keep(&share.load[i], load_room(&share.load[i])));
		if (share.beside.dev)
			share_ok(&share.beside, load_keep(&share.beside, load_room(&share.beside)));
		tick();
	} while (fx_now_ms() < end);
}

/* Nothing is lost either: all that was asked for is there at the end. */
void share_finish(void)
{
	unsigned int i;

	for (i = 0; i < share.nr; i++)
		share_ok(&share.load[i], load_drain(&share.load[i], FX_TIMEOUT_MS));
	if (share.beside.dev)
		share_ok(&share.beside, load_drain(&share.beside, FX_TIMEOUT_MS));
}

static void set_due(const struct share_scenario *s)
{
	struct vgpu_ctl_gpu gpu;
	unsigned int i, active = 0;

	for (i = 0; i < share.nr; i++) {
		share.busy[i] = !(s->idle & 1u << i);
		active += share.busy[i];
	}
	if (!strcmp(s->policy, "qos")) {
		load_due(share.set, share.busy, share.nr, share.due);
		return;
	}
	fx_ctl_gpu(&gpu);
	for (i = 0; i < share.nr; i++) {
		if (!strcmp(s->policy, "best_effort"))
			share.due[i] = 1.0 / active;
		else if (!strcmp(s->policy, "equal_share"))
			share.due[i] = 1.0 / share.nr;
		else
			share.due[i] = (double)share.vgpu[i].dev->fb_bytes /
				       (double)gpu.fb_bytes;
		if (!share.busy[i])
			share.due[i] = 0;
	}
}

void share_want(const unsigned int (*triple)[3])
{
	unsigned int i;

	for (i = 0; i < share.nr; i++) {
		share.set[i].valid = VGPU_SHARE_GUARANTEE | VGPU_SHARE_CAP |
				     VGPU_SHARE_WEIGHT;
		share.set[i].guarantee = triple[i][0];
		share.set[i].cap = triple[i][1];
		share.set[i].weight = triple[i][2];
	}
	share_set_shares();
}

void share_prepare(const struct share_scenario *s)
{
	share_open(s->types);
	if (!strcmp(s->policy, "qos"))
		share_want(s->share);
	set_due(s);
	start_loads();
	prctl(PR_SET_TIMERSLACK, 1);
	set_policy(s->policy, s->slice_ns ? s->slice_ns :
		   share.nr > 8 ? 1000000 : 2000000);
}

void share_cleanup(void)
{
	unsigned int i;
	char why[VGPU_TEXT_LEN];

	load_exit(&share.beside);
	for (i = 0; i < SHARE_VGPUS; i++)
		load_exit(&share.load[i]);
	fx_cleanup();
	if (load_set_policy(fx_control(), gpu_id(), "best_effort", 2000000, why))
		ktap_note("cleanup: %s", why);
}
