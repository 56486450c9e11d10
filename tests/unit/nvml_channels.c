// SPDX-License-Identifier: GPL-2.0
#include "vgpu_test.h"

#include "nvml_channels.h"

#define OK(call)	assert_int_equal(call, NVML_SUCCESS)
#define TYPE_NAME	"SG16-4Q"

nvmlDevice_t dev;
struct vgpu_ctl_channel channel[CHANNELS];
const unsigned int idle[FAKE_ENGINES];

static int allocations;

void channels_are(const struct vgpu_ctl_channel *channels, unsigned int nr, const uint8_t *version)
{
	fake.guest[1] = (struct fake_guest) { channels, nr, version };
}

void channel_label(unsigned int i, unsigned int pid, const char *comm)
{
	channel[i].flags = VGPU_CHANNEL_LABEL;
	channel[i].pid = pid;
	strncpy((char *)channel[i].comm, comm, sizeof(channel[i].comm));
}

void channels_of_two(void)
{
	channel_label(0, 10, "game");
	channel_label(1, 10, "game");
	channel_label(2, 11, "video");
	channels_are(channel, 4, NULL);
}

int channels_begin(void **state)
{
	struct vgpu_ctl_instance inst;
	struct vgpu_ctl_type type;
	unsigned int i;

	fake_reset();
	allocations = fake_allocations();
	OK(nvmlInit_v2());
	OK(nvmlDeviceGetHandleByIndex_v2(0, &dev));
	for (i = 0; i < fake_types(0); i++) {
		memset(&type, 0, sizeof(type));
		fake_type(0, i, &type);
		if (!strcmp((char *)type.name, TYPE_NAME))
			fake_create(1, 0, i, 0);
	}
	fake_start(1, 500);
	fake_sample(0, -1, 9, idle);
	fake_sample(0, 1, 9, idle);
	assert_true(fake_vgpu(1, &inst));
	fake.now_ns = inst.started_ns + SEC;
	memset(channel, 0, sizeof(channel));
	for (i = 0; i < CHANNELS; i++) {
		channel[i].channel = i;
		channel[i].state = VGPU_HW_STATE_SLEEPING;
		channel[i].enabled_ns = inst.started_ns;
	}
	return 0;
}

int channels_end(void **state)
{
	OK(nvmlShutdown());
	assert_int_equal(fake_files(), 0);
	assert_int_equal(fake_allocations(), allocations);
	return 0;
}

void channel_work(unsigned int i, unsigned int engine, uint64_t busy_ns)
{
	channel[i].engine = engine;
	channel[i].busy_ns += busy_ns;
	channel[i].total_busy_ns += busy_ns;
}
