/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A guest for the tests of tools/libnvml: render nodes of vgpu_guest and of others, /proc with open
 * nodes, and sysfs, in this process. At first there is none of it.
 */
#ifndef NVML_NODE_H
#define NVML_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include <drm/drm.h>
#include <drm/vgpu_drm.h>
#include <linux/vgpu_hw.h>

#define FAKE_NODES		3
#define FAKE_NODE_ENGINES	5	/* gr, ce0, ce1, enc, dec */
#define FAKE_NODE_MINOR		128	/* of the first one, renderD128 */

/**
 * struct fake_node - a node
 * @there:      it is in /dev/dri
 * @driver:     name of its driver
 * @open_error: of opening it
 * @major:      version of the driver
 * @minor:      likewise
 * @patch:      likewise
 * @address:    of the function, in fdinfo
 * @info:       what DEV_QUERY tells, of @info_bytes
 * @info_bytes: likewise
 * @usage:      what USAGE_QUERY tells
 * @percent:    of each engine, that the vGPU uses while the clock goes on
 * @fail:       request that fails, or 0: each one
 * @error:      with this; 0: none fails
 */
struct fake_node {
	bool there;
	const char *driver;
	int open_error;
	int major;
	int minor;
	int patch;
	const char *address;
	struct drm_vgpu_dev_info info;
	uint32_t info_bytes;
	struct drm_vgpu_usage usage;
	unsigned int percent[FAKE_NODE_ENGINES];
	unsigned long fail;
	int error;
};

extern struct fake_node fake_node[FAKE_NODES];

/* Where there is /proc, and a sysfs that knows the drivers of nodes. */
extern bool fake_has_proc, fake_has_sysfs;

/* From fake_node_setup() on the clock stands still but for sleeps, of which these were. */
extern unsigned int fake_sleeps;

/* A directory for /proc, and one node, of a vGPU of the type SG16-4Q. */
void fake_node_setup(void);
void fake_node_teardown(void);

/* Makes a node that of a vGPU of that type. */
void fake_node_add(unsigned int nr, const char *type);

/* Lets time pass, in which the engines work. */
void fake_clock(uint64_t ns);

/* A file of the process @pid: a node, with what fdinfo tells; or (NULL) something else. */
void fake_proc(unsigned int pid, unsigned int fd, const char *fdinfo);
void fake_proc_end(unsigned int pid);

/* Calls of fake nodes. */
int fake_node_open(const char *path, int flags);
bool fake_node_is(int fd);
int fake_node_close(int fd);
int fake_node_ioctl(int fd, unsigned long request, void *arg);

/* Open nodes, and calls of them so far. */
int fake_node_files(void);
unsigned long fake_node_calls(void);

#endif /* NVML_NODE_H */
