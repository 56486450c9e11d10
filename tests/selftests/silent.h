/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Guest memory that does not answer, channels that wait for it, and operations that must
 * end all the same; the passing of file descriptors between processes.
 */
#ifndef SILENT_H
#define SILENT_H

#include "fixture.h"

#define SILENT_BYTES	(1 * FX_MIB)
#define SILENT_IOVA	0x200000000ull

/* Skips the test where there is no userfaultfd. */
void silent_need(void);

/*
 * Maps SILENT_BYTES of memory at SILENT_IOVA. It has no page, and whoever touches it first
 * waits until silent_answer(). Returns the userfaultfd, for a process that keeps it open.
 */
int silent_map(struct fx_vgpu *v);

/*
 * A thread holds the lock of the container of @v, whose silent_map() was the last, until
 * silent_answer(): an access to any guest memory there waits.
 */
void silent_lock(struct fx_vgpu *v);

/* From here on the memory of the last silent_map() answers, with pages of zeros. */
void silent_answer(void);

/* The same, and the memory is gone. */
void silent_unmap(void);

/*
 * A new channel of that copy engine with a COPY between framebuffer and SILENT_IOVA; @op_flags
 * say on which side (VGPU_HW_OP_*_SYS) SILENT_IOVA is.
 */
struct vgpu_chan *silent_copy(struct fx_vgpu *v, uint32_t instance, uint32_t op_flags);

/*
 * Returns when the driver counts a stall: the engine no longer waits for the memory; and, if the
 * memory is that of silent_map(), when the vGPU's worker waits for it.
 */
void silent_wait(struct fx_vgpu *v, uint32_t engine);

/* silent_need(), silent_map() of an open vGPU, a channel that reads there, silent_wait(). */
struct vgpu_chan *silent_stall(struct fx_vgpu *v, uint32_t instance);

/* Operations for silent_bounded(). */
void silent_reset(void *fx_vgpu);
void silent_disable(void *chan);
void silent_close(void *fx_vgpu);

/*
 * Does @op(@arg) in a thread and fails the test if that takes longer than @ms; then @way_out
 * (@out_arg) makes the memory answer, so that the thread ends.
 */
void silent_bounded(const char *what, void (*op)(void *arg), void *arg, unsigned int ms,
		    void (*way_out)(void *arg), void *out_arg);

/* The same for who may try again: whether it took no longer. */
bool silent_within(const char *what, void (*op)(void *arg), void *arg, unsigned int ms,
		   void (*way_out)(void *arg), void *out_arg);

/* The device whose mappings are gone: its file descriptor is the last reference to it. */
void silent_drop_mappings(struct fx_vgpu *v);

void silent_send_fd(int socket, int fd);
int silent_receive_fd(int socket);

#endif /* SILENT_H */
