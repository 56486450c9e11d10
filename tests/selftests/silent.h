/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Guest memory that does not answer (a userfaultfd whose faults nobody serves),
 * and the passing of file descriptors between processes.
 */
#ifndef SILENT_H
#define SILENT_H

#include "fixture.h"

#define SILENT_BYTES	(1 * FX_MIB)
#define SILENT_IOVA	0x200000000ull

/* Skips the test where there is no userfaultfd. */
void silent_need(void);

/*
 * SILENT_BYTES of memory without a page, whose first touch waits until @uffd is
 * served or closed; NULL if that is not possible.
 */
void *silent_make(int *uffd);

/* A new channel of a copy engine that waits for the memory at SILENT_IOVA. */
struct vgpu_chan *silent_stall(struct fx_vgpu *who, uint32_t instance);

/* Until the engine has left the channel to wait on its own. */
void silent_wait(struct fx_vgpu *who, uint32_t engine);

void silent_send_fd(int socket, int fd);
int silent_receive_fd(int socket);

#endif /* SILENT_H */
