// SPDX-License-Identifier: GPL-2.0
/*
 * Several programs of one guest, also vgpu-run, have the vGPU open at once: each is given channels
 * and framebuffer of its own, a killed one leaves them to the others, and who finds none is told.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <samples.h>

#include "guest.h"

#define RING_ORDER	4
#define ROUNDS		2
#define PROGRAMS	3

/* On a channel of its own, several times, so that others come and go meanwhile. */
static bool run_sample(struct vgpu_dev *dev, const struct sample *sample)
{
	int engine = vgpu_dev_find_engine(dev, VGPU_HW_ENGINE_GR, 0);
	struct vgpu_chan *chan;
	unsigned int i;
	bool ok = true;

	if (engine < 0 ||
	    vgpu_chan_create(dev, (uint32_t)engine, VGPU_RING_FB, RING_ORDER, &chan))
		return failed("%s: %s", sample->name, vgpu_dev_error(dev));
	for (i = 0; i < ROUNDS && ok; i++)
		ok = sample_check(dev, chan, sample);
	say("%s on channel %u: %s", sample->name, chan->id, ok ? "right" : "wrong");
	vgpu_chan_destroy(chan);
	return ok;
}

/* A program of its own runs a sample. */
static int program(const char *name, const struct sample *sample)
{
	struct vgpu_dev *dev;

	if (vgpu_dev_open_pci(&dev, name))
		return !failed("open: %s", vgpu_dev_error(NULL));
	return !run_sample(dev, sample);
}

static bool run_programs(struct vgpu_dev *dev)
{
	static const struct sample * const samples[PROGRAMS] = {
		&sample_triad, &sample_copy, &sample_reduce,
	};
	pid_t pid[PROGRAMS];
	int status, i;
	bool ok = true;

	for (i = 0; i < PROGRAMS; i++) {
		pid[i] = fork();
		if (!pid[i])
			_exit(program(dev->name, samples[i]));
	}
	for (i = 0; i < PROGRAMS; i++)
		ok = waitpid(pid[i], &status, 0) == pid[i] && !status && ok;
	return ok;
}

/*
 * A program in an address space of its own copies to @place, which is framebuffer of another one:
 * it faults there.
 */
static bool touch(struct vgpu_dev *dev, const struct sample *sample, uint64_t place)
{
	struct vgpu_program program;
	struct vgpu_launch launch = {
		.program = &program, .grid = { 1, 1, 1 }, .group = { 1, 1, 1 },
	};
	struct vgpu_space *space;
	struct vgpu_fault fault;
	struct vgpu_chan *chan;
	struct vgpu_elf elf;
	uint64_t *args;
	size_t bytes;
	const void *file = sample_program(sample, &bytes);

	if (vgpu_elf_parse(&elf, file, bytes))
		return failed("%s: %s", sample->name, elf.error);
	launch.kernel = vgpu_elf_kernel(&elf, sample->name);
	if (vgpu_space_create(dev, &space) ||
	    vgpu_chan_create_in(space, 0, RING_ORDER, VGPU_HW_PAGE_SIZE, &chan) ||
	    vgpu_program_load_in(space, &elf, &program) ||
	    vgpu_fb_alloc(dev, VGPU_HW_PAGE_SIZE, VGPU_HW_PAGE_SIZE, &launch.args) ||
	    vgpu_space_map_fb(space, launch.args, VGPU_HW_PAGE_SIZE, VGPU_HW_PTE_R))
		return failed("own space: %s", vgpu_dev_error(dev));
	args = (uint64_t *)(dev->fb + launch.args);
	args[0] = vgpu_global_address(place);
	args[1] = vgpu_global_address(launch.args);
	if (vgpu_chan_dispatch(chan, &launch) || vgpu_chan_wait_fault(chan, WAIT_MS, &fault))
		return failed("own space: %s", vgpu_dev_error(dev));
	if (fault.code != VGPU_HW_FAULT_PAGE || fault.addr != args[0])
		return failed("own space: fault %u at %#llx", fault.code,
			      (unsigned long long)fault.addr);
	vgpu_chan_destroy(chan);
	return true;
}

/* This program's framebuffer is not what another one's kernel can write. */
static bool keep_apart(struct vgpu_dev *dev)
{
	struct vgpu_dev *other;
	uint64_t place, *mine;
	bool ok;

	if (vgpu_fb_alloc(dev, VGPU_HW_PAGE_SIZE, VGPU_HW_PAGE_SIZE, &place) ||
	    vgpu_dev_open_pci(&other, dev->name))
		return failed("open: %s", vgpu_dev_error(NULL));
	mine = (uint64_t *)(dev->fb + place);
	*mine = 0x1122334455667788;
	ok = touch(other, &sample_copy, place);
	vgpu_dev_close(other);
	return *mine == 0x1122334455667788 ? ok : failed("another program has written");
}

/*
 * Takes all channels and half of the framebuffer, and is killed while the engine writes it for the
 * last channel: that one is not the next that another program takes.
 */
static void take_all(const char *name, int said)
{
	struct vgpu_chan *chan, *last = NULL;
	struct vgpu_dev *dev;
	uint64_t at;
	unsigned int i;
	char c = 0;

	if (vgpu_dev_open_pci(&dev, name))
		return;
	while (!vgpu_chan_create(dev, 0, VGPU_RING_FB, RING_ORDER, &chan))
		last = chan;
	if (!last || vgpu_fb_alloc(dev, dev->fb_bytes / 2, VGPU_HW_PAGE_SIZE, &at))
		return;
	for (i = 0; i < 16; i++)
		if (vgpu_chan_fill(last, VGPU_FB(at), 0x55555555, dev->fb_bytes / 2))
			return;
	if (write(said, &c, 1) == 1)
		pause();
}

static bool find_all_taken(struct vgpu_dev *dev)
{
	struct vgpu_chan *chan;
	char want[64];
	int ret;

	ret = vgpu_chan_create(dev, 0, VGPU_RING_FB, RING_ORDER, &chan);
	snprintf(want, sizeof(want), "all of its %u channels are in use, %u by other programs",
		 dev->channels, dev->channels);
	if (ret != -EBUSY || !strstr(vgpu_dev_error(dev), want))
		return failed("all channels are taken: %d, %s", ret, vgpu_dev_error(dev));
	say("%s", vgpu_dev_error(dev));
	return true;
}

/* The killed program's last channel runs until that program's framebuffer is somebody else's. */
static bool find_orphan(struct vgpu_dev *dev, bool runs)
{
	const struct vgpu_hw_channel *page =
		(void *)(dev->chan_pages + (size_t)(dev->channels - 1) * VGPU_HW_PAGE_SIZE);
	uint32_t state = __atomic_load_n(&page->state, __ATOMIC_ACQUIRE);

	/* One that runs may have come to its end, and sleeps. */
	if (runs ? state == VGPU_HW_STATE_AWAKE || state == VGPU_HW_STATE_SLEEPING :
	    state == VGPU_HW_STATE_DISABLED)
		return true;
	return failed("the killed program's channel %u is in state %u", dev->channels - 1, state);
}

bool crowd_run(struct vgpu_dev *dev, const struct options *options)
{
	int said[2];
	pid_t pid;
	char c;
	bool ok;

	(void)options;
	if (!vgpu_run_check(dev) || !run_programs(dev) || !keep_apart(dev) || pipe(said))
		return false;
	pid = fork();
	if (!pid) {
		close(said[0]);
		take_all(dev->name, said[1]);
		_exit(1);
	}
	close(said[1]);
	ok = read(said[0], &c, 1) == 1;
	close(said[0]);
	if (!ok)
		failed("a program could not take all there is");
	ok = ok && find_all_taken(dev);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return ok && find_orphan(dev, true) && run_sample(dev, &sample_reduce) &&
		find_orphan(dev, false);
}
