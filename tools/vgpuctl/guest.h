/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What runs in the guest of a vGPU: its driver, its channels, and the processes that these are of.
 * Who a process is, is the guest's word, and may be any bytes; its time is measured by the host.
 */
#ifndef VGPUCTL_GUEST_H
#define VGPUCTL_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/vgpu.h>

/* A guest's text of @bytes bytes, each of which may be shown as U+FFFD. */
#define GUEST_TEXT(bytes)	(3 * (bytes) + 1)

/**
 * struct guest - what is known of a vGPU's guest
 * @known:   the driver of /dev/vgpu tells of guests, and the vGPU is there; else all is 0, but
 * @old:     the driver is too old to tell
 * @now_ns:  when it was read
 * @name:    of the guest's driver, fit to be shown; "": the guest does not tell
 * @version: likewise
 * @os:      likewise, the guest's kernel
 * @nr:      number of channels
 * @channel: these, by their numbers
 */
struct guest {
	bool known;
	bool old;
	uint64_t now_ns;
	char name[GUEST_TEXT(VGPU_GUEST_NAME_LEN)];
	char version[GUEST_TEXT(VGPU_GUEST_NAME_LEN)];
	char os[GUEST_TEXT(VGPU_GUEST_OS_LEN)];
	uint32_t nr;
	struct vgpu_ctl_channel *channel;
};

/**
 * struct guest_engine - the channels of a process that are bound to one engine
 * @channels:      their number
 * @busy_ns:       their service since each was enabled
 * @total_busy_ns: their service since the vGPU was opened, whoever had them
 */
struct guest_engine {
	uint32_t channels;
	uint64_t busy_ns;
	uint64_t total_busy_ns;
};

/**
 * struct guest_process - channels with one label, as it is shown; or all that have none
 * @named:   they have a label; else what it says is 0
 * @client:  as the guest says; likewise @pid, @uid and @command
 * @pid:     in the guest
 * @uid:     in the guest
 * @command: fit to be shown
 * @busy_ns: sum over the engines
 * @engine:  by the engine's index
 */
struct guest_process {
	bool named;
	uint64_t client;
	uint32_t pid;
	uint32_t uid;
	char command[GUEST_TEXT(VGPU_COMM_LEN)];
	uint64_t busy_ns;
	struct guest_engine engine[VGPU_MAX_ENGINES];
};

/* Whether the guest tells anything of its driver, or of its OS. */
static inline bool guest_tells(const struct guest *guest)
{
	return guest->name[0] || guest->version[0] || guest->os[0];
}

/*
 * Reads what is known of the guest of a vGPU, which guest_free() frees. If the driver of /dev/vgpu
 * is too old to tell, or the vGPU is gone, nothing is known, and that is no error. Returns 0 or a
 * negative errno.
 */
int guest_read(int fd, const uint8_t *uuid, struct guest *guest);
void guest_free(struct guest *guest);

/*
 * Writes a text of @bytes bytes at most to @to, which has GUEST_TEXT(@bytes) bytes, and returns
 * @to: what utf8_shown_length() refuses becomes U+FFFD.
 */
char *guest_text(const uint8_t *text, size_t bytes, char *to);

/*
 * The processes of a guest, those with the largest busy time first; allocated, the caller frees
 * them. No two have the same label as it is shown.
 */
struct guest_process *guest_processes(const struct guest *guest, uint32_t *nr);

/* Adds the channels and times of @from to those of @to. */
void guest_process_join(struct guest_process *to, const struct guest_process *from);

/* The name of an enum vgpu_hw_state, "unknown" for other numbers. */
const char *guest_state_name(uint32_t state);

#endif /* VGPUCTL_GUEST_H */
