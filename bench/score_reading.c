// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "score.h"

/*
 * As score_counter("ran_ns"), whose file is searched for once only: in an emulated
 * machine the search takes longer than a job.
 */
static uint64_t read_ran_ns(void)
{
	static char path[256];
	char text[32] = "";
	glob_t found;
	int fd;

	if (!path[0]) {
		if (glob("/sys/kernel/debug/vgpu_soft/*/gr/ran_ns", 0, NULL,
			 &found))
			score_die("no ran_ns in debugfs");
		snprintf(path, sizeof(path), "%s", found.gl_pathv[0]);
		globfree(&found);
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		score_die("%s: %s", path, strerror(errno));
	close(fd);
	return strtoull(text, NULL, 10);
}

/* Returns how long it took. */
static uint64_t take_once(struct score_reading *r)
{
	struct vgpu_ctl_instance inst = { 0 };
	struct vgpu_ctl_gpu gpu;
	unsigned int i;

	score_read_gpu(&gpu);
	for (i = 0; i < TENANTS; i++) {
		struct score_tenant *t = &score.tenant[i];

		r->jobs[i] = t->load.dev ? load_jobs(&t->load) : 0;
	}
	r->ran_ns = read_ran_ns();
	r->now_ns = gpu.now_ns;
	r->busy_ns = gpu.engine[score.engine].busy_ns;
	for (i = 0; i < TENANTS; i++) {
		memset(&inst, 0, sizeof(inst));
		inst.size = sizeof(inst);
		memcpy(inst.uuid, score.tenant[i].id, VGPU_UUID_LEN);
		if (ioctl(score.control, VGPU_IOC_INSTANCE, &inst))
			score_die("VGPU_IOC_INSTANCE: %s", strerror(errno));
		r->service_ns[i] = inst.engine[score.engine].busy_ns;
		if (!i)
			r->linger_ns = inst.linger_ns[score.engine];
	}
	return inst.now_ns - r->now_ns;
}

/*
 * All counters as at one time: if this processor was taken away in the middle
 * of reading them, they are read again.
 */
void score_take(struct score_reading *r)
{
	static uint64_t least_ns = ~0ull / 2;
	unsigned int tries = 20;
	uint64_t took_ns;

	do {
		took_ns = take_once(r);
		least_ns = took_ns < least_ns ? took_ns : least_ns;
	} while (took_ns > 2 * least_ns && --tries);
}
