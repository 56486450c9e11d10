/* SPDX-License-Identifier: GPL-2.0 */
/* The parameters of vgpu_soft.ko that are fixed when the module is loaded. */
#ifndef _VGPU_SOFT_PARAMS_H
#define _VGPU_SOFT_PARAMS_H

#include <linux/cpumask.h>
#include <linux/types.h>
#include <uapi/linux/vgpu.h>

#define SOFT_GPUS_MAX		16

/**
 * struct soft_params - the parameters after their check, constant from then on
 * @nr_gpus:    number of GPUs, 1..SOFT_GPUS_MAX
 * @vendor_id:  PCI vendor ID of the GPUs
 * @device_id:  PCI device ID of the GPUs
 * @numa_node:  NUMA node that each GPU shows, online or NUMA_NO_NODE
 * @fb_mb:      framebuffer of each GPU in MiB, a multiple of 1024
 * @channels:   channels of each GPU
 * @placement:  how a GPU's framebuffer is divided among its vGPUs
 * @fb_reserve: a vGPU gets all its framebuffer pages when it is created
 * @poll_ns:    time for which an engine polls an empty channel before the channel sleeps
 * @simt:       name of the interpreter of programs, or "auto"
 * @units:      threads of each engine that executes programs, 1..SOFT_UNITS_MAX
 * @cpus:       the CPUs on which the engines' threads run; empty: all CPUs
 * @slice_cpus: if @own_cpus: those of @cpus that were online when the module was loaded
 * @own_cpus:   each partition has some of @cpus for itself
 * @share_time: there are fewer CPUs than partitions need, which share them in time
 */
struct soft_params {
	unsigned int nr_gpus;
	unsigned int vendor_id;
	unsigned int device_id;
	int numa_node[SOFT_GPUS_MAX];
	unsigned int fb_mb;
	unsigned int channels;
	enum vgpu_ctl_placement placement;
	bool fb_reserve;
	u64 poll_ns;
	char *simt;
	unsigned int units;
	struct cpumask cpus;
	struct cpumask slice_cpus;
	bool own_cpus;
	bool share_time;
};

extern struct soft_params soft_params;

int soft_params_check(void);

#endif /* _VGPU_SOFT_PARAMS_H */
