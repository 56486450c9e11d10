/* SPDX-License-Identifier: GPL-2.0 */
/* A vGPU of nvml_fake.h whose guest has channels, for tests of tools/libnvml on a host. */
#ifndef NVML_CHANNELS_H
#define NVML_CHANNELS_H

#include "nvml.h"
#include "nvml_fake.h"

#define CHANNELS	1024

/* The first GPU. */
extern nvmlDevice_t dev;

/* Channels of the vGPU 1, of which channels_are() gives it some. */
extern struct vgpu_ctl_channel channel[CHANNELS];

/* A sample in which nothing was done. */
extern const unsigned int idle[FAKE_ENGINES];

/* A vGPU that is open since a second, with channels that are enabled since then. */
int channels_begin(void **state);
int channels_end(void **state);

void channels_are(const struct vgpu_ctl_channel *channels, unsigned int nr,
		  const uint8_t *version);
void channel_label(unsigned int i, unsigned int pid, const char *comm);
/* Four: two of a process 10, "game", one of 11, "video", and one that nobody has named. */
void channels_of_two(void);
void channel_work(unsigned int i, unsigned int engine, uint64_t busy_ns);

#endif /* NVML_CHANNELS_H */
