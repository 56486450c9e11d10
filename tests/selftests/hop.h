/* SPDX-License-Identifier: GPL-2.0 */
/* A vGPU that moves into another one of the same GPU, through VFIO's migration of devices. */
#ifndef HOP_H
#define HOP_H

#include <stddef.h>
#include <stdint.h>

#include <linux/vfio.h>

#include "fixture.h"

/* Of linux/vfio.h since 6.2, which the headers that build this may not have. */
#define HOP_PRE_COPY		6	/* of enum vfio_device_mig_state */
#define HOP_PRE_COPY_P2P	7
#define HOP_FEATURE_DATA_SIZE	9
#define HOP_GET_PRECOPY_INFO	_IO(VFIO_TYPE, VFIO_BASE + 21)

struct hop_data_size {
	uint64_t stop_copy_length;
};

struct hop_precopy_info {
	uint32_t argsz;
	uint32_t flags;
	uint64_t initial_bytes;
	uint64_t dirty_bytes;
};

/**
 * struct hop_stream - what was read of a vGPU that was saved
 * @bytes: the stream
 * @nr:    its length
 * @room:  length of @bytes
 */
struct hop_stream {
	uint8_t *bytes;
	size_t nr;
	size_t room;
};

void hop_stream_free(struct hop_stream *stream);

/*
 * Asks for a state of the device (enum vfio_device_mig_state). Returns 0 or a negative errno; @data
 * is set to the file of the stream, or -1; NULL: there is none to be expected.
 */
int hop_try_state(struct fx_vgpu *v, unsigned int state, int *data);
void hop_state(struct fx_vgpu *v, unsigned int state, int *data);
unsigned int hop_get_state(struct fx_vgpu *v);

/* The same of a state to which a way leads from here; returns its stream, or -1 if it has none. */
int hop_enter(struct fx_vgpu *v, unsigned int state);

/* Reads some bytes of a stream that has some. */
void hop_read_some(int data);

/* Who has a stream of a state that has ended reads and writes nothing more. Closes it. */
void hop_check_ended(int data);

/* Bytes that a switch to STOP_COPY would have to read. */
uint64_t hop_data_size(struct fx_vgpu *v);

/* Appends what can be read now: up to the end in STOP_COPY, else up to the end of a pass. */
void hop_read(int data, struct hop_stream *stream);

/* Writes all of it, in pieces of random lengths if @pieces. Returns 0 or a negative errno. */
int hop_write(int data, const void *bytes, size_t nr, bool pieces);

/* Reads the whole stream of @v, after @passes in PRE_COPY, and leaves it in STOP_COPY. */
void hop_save(struct fx_vgpu *v, unsigned int passes, struct hop_stream *stream);

/* Bytes of the state in it, without memory. */
uint64_t hop_state_bytes(const struct hop_stream *stream);

/* Opens a new vGPU of the type, in the container of @beside. @v is static, as for fx_create(). */
void hop_create_beside(struct fx_vgpu *v, const char *type, struct fx_vgpu *beside);

/*
 * Moves the open @v to a new vGPU of its type, of which @v is then the one that the test has:
 * pointers into the memory of the device, channels, interrupts and buffers stay valid, and the old
 * one is removed. Returns the bytes of its state, without memory.
 */
uint64_t hop(struct fx_vgpu *v, unsigned int passes);

/* What the host has counted of a vGPU. */
struct hop_counts {
	uint64_t packets;
	uint64_t frames;
	uint64_t faults;
};

/* What @v has, and with @moved that of all vGPUs that hop() has removed since the begin. */
void hop_count_begin(void);
void hop_count(const struct fx_vgpu *v, bool moved, struct hop_counts *counts);

#endif /* HOP_H */
