/* SPDX-License-Identifier: GPL-2.0 */
/* vgpu-run: what its files share. */
#ifndef VGPU_RUN_H
#define VGPU_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <libvgpu.h>

#include "message.h"

/**
 * struct run_arg - an argument as the user gives it
 * @text: "5", "u32:5", "buf:64K=FILE"
 * @out:  file for the buffer's content after the run, of --out; NULL: none
 */
struct run_arg {
	const char *text;
	const char *out;
};

/**
 * struct options - the command line
 * @program:     file of the program
 * @kernel:      name of the kernel
 * @device:      UUID, render node or PCI address; NULL: the only one
 * @grid:        work-items per dimension
 * @group:       work-items of a work-group per dimension; all 0: not given
 * @local_bytes: memory of the work-group, of --local
 * @timeout_ms:  how long to wait; 0: for ever
 * @nr_args:     number of elements of @arg in use
 * @arg:         arguments of the kernel
 * @list:        show the kernels, run nothing
 * @time:        say how long it took
 * @json:        the result as JSON
 */
struct options {
	const char *program;
	const char *kernel;
	const char *device;
	uint32_t grid[3];
	uint32_t group[3];
	uint32_t local_bytes;
	uint64_t timeout_ms;
	unsigned int nr_args;
	struct run_arg arg[VGPU_KERNEL_ARGS];
	bool list;
	bool time;
	bool json;
};

/**
 * struct run_value - what an argument of the kernel is
 * @value: its bits; of a buffer or log its offset in the framebuffer, of memory of the work-group
 *         its offset in struct vgpu_launch.local_bytes
 * @bytes: size of a buffer, or of memory of the work-group
 * @in:    file with the content of a buffer; NULL: it is zero
 * @out:   file for the content of a buffer; NULL: none
 * @file:  the same, open
 * @named: by which option, which has the value
 * @by:    this
 */
struct run_value {
	uint64_t value;
	uint64_t bytes;
	char *in;
	char *out;
	FILE *file;
	const char *named;
	const char *by;
};

/**
 * struct run - a run
 * @options: what the user wants
 * @elf:     the program
 * @kernel:  its kernel
 * @value:   of each argument of the kernel
 * @device:  its name
 * @dev:     the device, open
 * @space:   the address space of the program
 * @chan:    a channel of its engine gr
 * @launch:  the dispatch
 * @log:     offset of the log in the framebuffer; ~0: the kernel has none
 * @lost:    records that did not fit into the log
 * @ns:      from the submission to the completion
 *
 * Of what the kernel prints:
 * @log_fd:    where it goes
 * @log_errno: why it could not be written; 0: it could
 * @log_shown: that is a terminal
 * @log_room:  writes @log_text, of @log_bytes, which is what is printed next
 */
struct run {
	const struct options *options;
	const struct vgpu_elf *elf;
	const struct vgpu_kernel *kernel;
	struct run_value value[VGPU_KERNEL_ARGS];
	char device[64];
	struct vgpu_dev *dev;
	struct vgpu_space *space;
	struct vgpu_chan *chan;
	struct vgpu_launch launch;
	uint64_t log;
	uint64_t lost;
	uint64_t ns;
	int log_fd;
	int log_errno;
	bool log_shown;
	FILE *log_room;
	char *log_text;
	size_t log_bytes;
};

/* options.c: takes the command line apart. @help: the user asks for help, which has been given. */
enum exit_code options_parse(struct options *options, int argc, char **argv, bool *help);
bool parse_bytes(const char *text, uint64_t *bytes);

/* args.c: what the user gives to what the kernel wants, needing no device. */
enum exit_code args_parse(struct run *run);
void args_free(struct run *run);
void args_block(const struct run *run, uint8_t *block);

/* run.c */
enum exit_code run_kernel(struct run *run);

/*
 * log.c: log_print() prints some of what is there, and returns whether there may be more;
 * log_close() fails if some of it could not be written.
 */
enum exit_code log_open(struct run *run);
bool log_print(struct run *run);
enum exit_code log_close(struct run *run);

/* signals.c: which signal shall end the program, of those since signals_catch(), or 0. */
int signals_caught(void);
void signals_catch(void);
/* Dies of that signal, if there is one. */
void signals_die(void);

/* show.c */
enum exit_code show_kernels(const struct options *options, const struct vgpu_elf *elf);
void show_run(const struct run *run);

/* complete.c: words that may stand where the last of @argv stands. */
void complete_print(int argc, char **argv);

#endif /* VGPU_RUN_H */
