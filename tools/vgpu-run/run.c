// SPDX-License-Identifier: GPL-2.0
/* A run: device, program, buffers, dispatch, results. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

#define BUFFER_ALIGN	256
#define RING_VA		0x10000	/* where programs, which begin to see at 4 GiB, do not see it */
#define RING_ORDER	4
#define LOOK_MS		20	/* how often the log is looked at */

static enum exit_code fail_dev(const struct run *run)
{
	return fail("%s", vgpu_dev_error(run->dev));
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Reads the whole of a file into a buffer, which may be larger. */
static enum exit_code read_buffer(const struct run_value *value, uint8_t *to)
{
	int fd = open(value->in, O_RDONLY | O_CLOEXEC);
	uint64_t have = 0;
	ssize_t n = -1;
	char more;

	while (fd >= 0) {
		if (have < value->bytes)
			n = read(fd, to + have, value->bytes - have);
		else
			n = read(fd, &more, 1);
		if (n <= 0)
			break;
		have += (uint64_t)n;
		if (have > value->bytes) {
			close(fd);
			return fail("%s: has more than the %llu bytes of its buffer", value->in,
				    (unsigned long long)value->bytes);
		}
	}
	if (n < 0)
		fail("%s: %s", value->in, strerror(errno));
	if (fd >= 0)
		close(fd);
	return n < 0 ? EXIT_FAILED : EXIT_OK;
}

/* Of two buffers in one file, which may have several names, only one would be left. */
static enum exit_code check_own_file(const struct run *run, unsigned int nr)
{
	const struct run_value *value = &run->value[nr], *other;
	struct stat mine, others;
	unsigned int i;

	if (fstat(fileno(value->file), &mine) || !S_ISREG(mine.st_mode))
		return EXIT_OK;
	for (i = 0; i < nr; i++) {
		other = &run->value[i];
		if (!other->file || fstat(fileno(other->file), &others) ||
		    others.st_dev != mine.st_dev || others.st_ino != mine.st_ino)
			continue;
		return fail_usage("--%s %s and --%s %s: two buffers would go to the same file",
				  other->named, other->by, value->named, value->by);
	}
	return EXIT_OK;
}

/*
 * What cannot be written is told before the program runs. What is in the files stays until there is
 * a result, also because one may be a buffer's content.
 */
static enum exit_code open_results(struct run *run)
{
	enum exit_code code = EXIT_OK;
	struct run_value *value;
	unsigned int i;

	for (i = 0; i < run->kernel->nr_args && !code; i++) {
		value = &run->value[i];
		if (!value->out)
			continue;
		value->file = fopen(value->out, "ae");
		if (!value->file)
			return fail("%s: %s", value->out, strerror(errno));
		code = check_own_file(run, i);
	}
	return code;
}

static enum exit_code write_buffer(struct run_value *value, const uint8_t *from)
{
	FILE *file = value->file;
	bool good;

	value->file = NULL;
	/* What is no regular file has no length. */
	good = (!ftruncate(fileno(file), 0) || errno == EINVAL) &&
		fwrite(from, 1, value->bytes, file) == value->bytes;
	if (fclose(file))
		good = false;
	return good ? EXIT_OK : fail("%s: %s", value->out, strerror(errno));
}

/* What the program may read and write; all else, but itself and its arguments, is out of reach. */
static int take_memory(struct run *run, uint64_t bytes, uint64_t *offset)
{
	int ret;

	ret = vgpu_fb_alloc(run->dev, bytes, BUFFER_ALIGN, offset);
	if (ret)
		return ret;
	return vgpu_space_map_fb(run->space, *offset, bytes, VGPU_HW_PTE_R | VGPU_HW_PTE_W);
}

/* A page of their own, as they are only read. */
static int take_args(struct run *run)
{
	uint64_t bytes = run->kernel->args_bytes;
	int ret;

	ret = vgpu_fb_alloc(run->dev, bytes, VGPU_HW_PAGE_SIZE, &run->launch.args);
	if (ret)
		return ret;
	return vgpu_space_map_fb(run->space, run->launch.args, bytes, VGPU_HW_PTE_R);
}

static int take_log(struct run *run)
{
	int ret;

	if (run->log != ~0ull)
		return 0;
	ret = vgpu_log_alloc(run->dev, &run->log);
	if (ret)
		return ret;
	return vgpu_space_map_fb(run->space, run->log, VGPU_LOG_BYTES,
				 VGPU_HW_PTE_R | VGPU_HW_PTE_W);
}

static enum exit_code place_buffer(struct run *run, struct run_value *value)
{
	if (take_memory(run, value->bytes, &value->value))
		return fail_dev(run);
	memset(run->dev->fb + value->value, 0, value->bytes);
	return value->in ? read_buffer(value, run->dev->fb + value->value) : EXIT_OK;
}

static enum exit_code place_args(struct run *run)
{
	enum exit_code code = EXIT_OK;
	unsigned int i;

	for (i = 0; i < run->kernel->nr_args && !code; i++) {
		if (run->kernel->arg[i].type == VGPU_ARG_BUF) {
			code = place_buffer(run, &run->value[i]);
		} else if (run->kernel->arg[i].type == VGPU_ARG_LOG) {
			if (take_log(run))
				return fail_dev(run);
			run->value[i].value = run->log;
		}
	}
	if (code)
		return code;
	if (take_args(run))
		return fail_dev(run);
	args_block(run, run->dev->fb + run->launch.args);
	return EXIT_OK;
}

/* Prints what is there, but for no longer than LOOK_MS while the program may go on writing. */
static void print_log(struct run *run, bool goes_on)
{
	uint64_t end = now_ns() + LOOK_MS * 1000000ull;

	if (run->log == ~0ull)
		return;
	while (log_print(run))
		if (signals_caught() || (goes_on && now_ns() >= end))
			break;
}

static enum exit_code fail_wait(struct run *run, int ret)
{
	char text[256];

	/* Who has closed a pipe knows. */
	if (signals_caught())
		return signals_caught() == SIGPIPE ? EXIT_FAILED : fail("interrupted");
	if (ret == -ETIMEDOUT)
		return fail("kernel %s: not complete after %.3f s", run->kernel->name,
			    (double)run->options->timeout_ms / 1e3);
	if (ret == -EIO && !vgpu_chan_explain(run->chan, run->elf, text, sizeof(text)))
		return fail("kernel %s: %s", run->kernel->name, text);
	return fail_dev(run);
}

/* Prints the log all the while. */
static enum exit_code wait_run(struct run *run, uint64_t fence, uint64_t start)
{
	uint64_t timeout_ms = run->options->timeout_ms;
	int ret;

	do {
		ret = vgpu_chan_wait(run->chan, fence, LOOK_MS);
		run->ns = now_ns() - start;
		print_log(run, ret == -ETIMEDOUT);
	} while (ret == -ETIMEDOUT && !signals_caught() &&
		 (!timeout_ms || run->ns / 1000000 < timeout_ms));
	return ret ? fail_wait(run, ret) : EXIT_OK;
}

static enum exit_code dispatch(struct run *run)
{
	uint64_t fence, start = now_ns();

	if (vgpu_chan_dispatch(run->chan, &run->launch) || vgpu_chan_fence(run->chan, &fence))
		return fail_dev(run);
	return wait_run(run, fence, start);
}

static enum exit_code write_results(struct run *run)
{
	enum exit_code code = EXIT_OK;
	unsigned int i;

	for (i = 0; i < run->kernel->nr_args && !code; i++)
		if (run->value[i].out)
			code = write_buffer(&run->value[i], run->dev->fb + run->value[i].value);
	return code;
}

static enum exit_code run_on(struct run *run)
{
	struct vgpu_program program;
	enum exit_code code;
	int engine;

	engine = vgpu_dev_find_engine(run->dev, VGPU_HW_ENGINE_GR, 0);
	if (engine < 0 || vgpu_space_create(run->dev, &run->space) ||
	    vgpu_chan_create_in(run->space, (uint32_t)engine, RING_ORDER, RING_VA, &run->chan) ||
	    vgpu_program_load_in(run->space, run->elf, &program))
		return fail_dev(run);
	run->launch.program = &program;
	code = place_args(run);
	if (!code)
		code = dispatch(run);
	/* However the run has ended. */
	if (run->lost)
		fail("%llu texts were lost: the log was full", (unsigned long long)run->lost);
	if (!code)
		code = write_results(run);
	return code;
}

enum exit_code run_kernel(struct run *run)
{
	const struct options *options = run->options;
	enum exit_code code, written;

	run->launch.kernel = run->kernel;
	memcpy(run->launch.grid, options->grid, sizeof(options->grid));
	memcpy(run->launch.group, options->group, sizeof(options->group));
	if (!options->group[0])
		vgpu_launch_group(&run->launch);
	code = open_results(run);
	if (code)
		return code;
	/* Before others see that this program has the device, and may want it back. */
	signals_catch();
	if (vgpu_dev_open(&run->dev, options->device))
		return fail("%s", vgpu_dev_error(NULL));
	snprintf(run->device, sizeof(run->device), "%s", run->dev->name);
	code = log_open(run);
	if (!code)
		code = run_on(run);
	written = log_close(run);
	vgpu_chan_destroy(run->chan);
	vgpu_space_destroy(run->space);
	vgpu_dev_close(run->dev);
	return code ? code : written;
}
