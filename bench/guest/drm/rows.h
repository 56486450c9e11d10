/* SPDX-License-Identifier: GPL-2.0 */
/* Rows that a VM with two vGPUs measures: one has the guest's driver, the other one a program. */
#ifndef BENCH_GUEST_ROWS_H
#define BENCH_GUEST_ROWS_H

#include <stdint.h>

#include <libvgpu.h>

/**
 * struct direct - the vGPU that a program drives itself
 * @dev:    the vGPU, by its resource files
 * @chan:   its channel
 * @uio:    whoever reads this sleeps until the channel's vector is raised
 * @rings:  how often the engine was asleep and had to be woken by the doorbell
 * @total:  packets submitted
 */
struct direct {
	struct vgpu_dev *dev;
	struct vgpu_chan *chan;
	int uio;
	uint64_t rings;
	uint64_t total;
};

/* Takes the vGPU that the guest's driver has not got, and then its interrupts. */
void direct_open(struct direct *direct);

/* Submits a packet that raises the interrupt, and sleeps until it does. */
void direct_run(struct direct *direct, struct vgpu_hw_packet packet);

void direct_close(struct direct *direct);

/* Says a line to the host, with an end that it waits for, and goes on when that answers. */
void host_answers(const char *line);

/* The rows. Each prints its line of JSON, or what the host makes one of. */
void row_exec(void);
void row_clients(void);
void row_evict(void);
void row_cost(void);

#endif /* BENCH_GUEST_ROWS_H */
