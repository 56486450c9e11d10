// SPDX-License-Identifier: GPL-2.0
/*
 * The parameters of vgpu_soft.ko that are fixed when the module is loaded. admit.c has one more,
 * which can be changed at run time.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/nodemask.h>
#include <linux/numa.h>
#include <linux/string.h>
#include <linux/vgpu_clock.h>
#include <uapi/linux/vgpu_hw.h>

#include "params.h"
#include "../queue/engine.h"

/* The PCI device IDs of vendor 1af4 that QEMU's documentation reserves for experiments. */
#define SOFT_FREE_DEVICE_FIRST	0x10f0
#define SOFT_FREE_DEVICE_LAST	0x10ff

/* Constant after soft_params_check(). */
struct soft_params soft_params = {
	.nr_gpus = 1,
	.vendor_id = VGPU_HW_VENDOR_ID,
	.device_id = VGPU_HW_GPU_DEVICE_ID,
	.fb_mb = 16384,
	.channels = 256,
	.simt = "auto",
};

static char *placement = "mixed";
static unsigned int poll_us = 50;
static char *engine_cpus = "";
static bool foreign_ids;
static int numa_nodes[SOFT_GPUS_MAX];
static unsigned int nr_numa_nodes;

module_param_named(gpus, soft_params.nr_gpus, uint, 0444);
MODULE_PARM_DESC(gpus, "Number of GPUs, 1..16 (1)");
module_param_named(fb_mb, soft_params.fb_mb, uint, 0444);
MODULE_PARM_DESC(fb_mb, "Framebuffer of a GPU in MiB, 1024..65536 in steps of 1024 (16384)");
module_param_named(channels, soft_params.channels, uint, 0444);
MODULE_PARM_DESC(channels, "Channels of a GPU, one per GiB of framebuffer..1024 (256)");
module_param(placement, charp, 0444);
MODULE_PARM_DESC(placement, "Placement of framebuffer, mixed or homogeneous (mixed)");
module_param_named(fb_reserve, soft_params.fb_reserve, bool, 0444);
MODULE_PARM_DESC(fb_reserve, "Allocate all framebuffer pages of a vGPU when it is created (0)");
module_param(poll_us, uint, 0444);
MODULE_PARM_DESC(poll_us, "Time for which an engine polls empty channels before it sleeps, in us, 0..1000 (50)");
module_param(engine_cpus, charp, 0444);
MODULE_PARM_DESC(engine_cpus, "CPUs for engines, as a list such as 0-3,6 (empty: all)");
module_param_named(units, soft_params.units, uint, 0444);
MODULE_PARM_DESC(units, "Threads of a GPU that execute a program together, 1..16 (0: one less than there are CPUs for engines, 1..16)");
module_param_named(simt, soft_params.simt, charp, 0444);
MODULE_PARM_DESC(simt, "Interpreter of programs, scalar, sse2 or avx2 (auto: the fastest)");
module_param_named(vendor_id, soft_params.vendor_id, uint, 0444);
MODULE_PARM_DESC(vendor_id, "PCI vendor of the GPUs, 1..0xfffe (0x1af4); see foreign_ids");
module_param_named(device_id, soft_params.device_id, uint, 0444);
MODULE_PARM_DESC(device_id, "PCI device of the GPUs, 0..0xffff (0x10f0); see foreign_ids");
module_param(foreign_ids, bool, 0444);
MODULE_PARM_DESC(foreign_ids,
		 "Allow any vendor_id and device_id, also other devices' (0: only 1af4:10f0..10ff)");
module_param_array_named(numa_node, numa_nodes, int, &nr_numa_nodes, 0444);
MODULE_PARM_DESC(numa_node, "NUMA node that GPUs show: one for all, or one for each (-1: none)");

static int soft_param_range(const char *name, unsigned int value,
			    unsigned int least, unsigned int most)
{
	if (value >= least && value <= most)
		return 0;
	pr_err("%s=%u: must be %u..%u\n", name, value, least, most);
	return -EINVAL;
}

static int soft_param_cpus(void)
{
	int ret;

	if (!*engine_cpus)
		return 0;
	ret = cpulist_parse(engine_cpus, &soft_params.cpus);
	if (ret) {
		pr_err("engine_cpus=%s: not a list of CPUs such as 0-3,6, or beyond CPU %u\n",
		       engine_cpus, nr_cpu_ids - 1);
		return ret;
	}
	if (!cpumask_intersects(&soft_params.cpus, cpu_online_mask)) {
		pr_err("engine_cpus=%s: none of these is online, these are: %*pbl\n",
		       engine_cpus, cpumask_pr_args(cpu_online_mask));
		return -EINVAL;
	}
	return 0;
}

/* Returns the number of CPUs for engines that are online. */
static unsigned int soft_param_nr_cpus(void)
{
	unsigned int nr = 0, cpu;

	if (cpumask_empty(&soft_params.cpus))
		return num_online_cpus();
	for_each_cpu_and(cpu, &soft_params.cpus, cpu_online_mask)
		nr++;
	return nr;
}

/* One CPU is left to the other engines, and to the virtual machines. */
static void soft_param_units(void)
{
	if (!soft_params.units)
		soft_params.units = clamp(soft_param_nr_cpus(), 2U, SOFT_UNITS_MAX + 1U) - 1;
}

/*
 * Decides what partitions do for CPUs. With engine_cpus, one per unit is enough, as each partition
 * keeps to its own, with all of its engines. Without, the host's scheduler spreads threads as it
 * likes, and there must be one for each thread that may have work, of all GPUs. It holds as long as
 * the module is loaded, whatever becomes of CPUs: partitions with slots and others must not be
 * mixed.
 */
static void soft_param_partitions(void)
{
	unsigned int units = max(soft_params.units, VGPU_SLOTS), cpus;
	bool named = !cpumask_empty(&soft_params.cpus);

	cpumask_and(&soft_params.slice_cpus, &soft_params.cpus, cpu_online_mask);
	cpus = named ? cpumask_weight(&soft_params.slice_cpus) : num_online_cpus();
	if (!named)
		units += VGPU_SLOTS * (SOFT_ENGINES - 1);
	soft_params.share_time = cpus < units * soft_params.nr_gpus;
	soft_params.own_cpus = named && !soft_params.share_time;
}

/*
 * Tools name a device by its IDs, and drivers bind to it by them. With the IDs of a real GPU, the
 * software GPU would pass for that GPU, on the host and in every inventory.
 */
static int soft_param_ids(void)
{
	unsigned int vendor = soft_params.vendor_id, device = soft_params.device_id;

	if (foreign_ids ||
	    (vendor == VGPU_HW_VENDOR_ID && device >= SOFT_FREE_DEVICE_FIRST &&
	     device <= SOFT_FREE_DEVICE_LAST))
		return 0;
	pr_err("vendor_id=0x%04x device_id=0x%04x: may belong to another device, whose name tools would show and whose drivers would bind to the GPU; %04x:%04x..%04x are free to use, and foreign_ids=1 takes any\n",
	       vendor, device, VGPU_HW_VENDOR_ID, SOFT_FREE_DEVICE_FIRST,
	       SOFT_FREE_DEVICE_LAST);
	return -EINVAL;
}

static int soft_param_numa(void)
{
	unsigned int i, nr_gpus = soft_params.nr_gpus;

	if (nr_numa_nodes > 1 && nr_numa_nodes != nr_gpus) {
		pr_err("numa_node: %u nodes for %u GPUs; must be one for all of them, or one for each\n",
		       nr_numa_nodes, nr_gpus);
		return -EINVAL;
	}
	for (i = 0; i < nr_gpus; i++) {
		int node = NUMA_NO_NODE;

		if (nr_numa_nodes)
			node = numa_nodes[nr_numa_nodes == 1 ? 0 : i];
		if (node != NUMA_NO_NODE && !IS_ENABLED(CONFIG_NUMA)) {
			pr_err("numa_node=%d: this kernel has no NUMA nodes; must be -1\n", node);
			return -EINVAL;
		}
		if (node != NUMA_NO_NODE &&
		    (node < 0 || node >= MAX_NUMNODES || !node_online(node))) {
			pr_err("numa_node=%d: must be -1 or a node that is online, these are: %*pbl\n",
			       node, nodemask_pr_args(&node_online_map));
			return -EINVAL;
		}
		soft_params.numa_node[i] = node;
	}
	return 0;
}

/*
 * Checks the parameters and completes soft_params. Called when the module is loaded. Returns 0 or
 * -errno; the log has the reason.
 */
int soft_params_check(void)
{
	const struct soft_params *p = &soft_params;
	int ret;

	ret = soft_param_range("gpus", p->nr_gpus, 1, SOFT_GPUS_MAX) ?:
	      soft_param_range("fb_mb", p->fb_mb, 1024, 65536) ?:
	      soft_param_range("channels", p->channels, p->fb_mb / 1024, VGPU_HW_MAX_CHANNELS) ?:
	      soft_param_range("poll_us", poll_us, 0, 1000) ?:
	      soft_param_range("units", p->units, 0, SOFT_UNITS_MAX) ?:
	      soft_param_range("vendor_id", p->vendor_id, 1, 0xfffe) ?:
	      soft_param_range("device_id", p->device_id, 0, 0xffff) ?:
	      soft_param_ids() ?:
	      soft_param_numa() ?:
	      soft_param_cpus();
	if (ret)
		return ret;
	if (p->fb_mb % 1024) {
		pr_err("fb_mb=%u: must be a multiple of 1024\n", p->fb_mb);
		return -EINVAL;
	}

	if (!strcmp(placement, "mixed")) {
		soft_params.placement = VGPU_PLACEMENT_MIXED;
	} else if (!strcmp(placement, "homogeneous")) {
		soft_params.placement = VGPU_PLACEMENT_HOMOGENEOUS;
	} else {
		pr_err("placement=%s: must be mixed or homogeneous\n", placement);
		return -EINVAL;
	}
	soft_param_units();
	soft_param_partitions();
	soft_params.poll_ns = poll_us * (u64)NSEC_PER_USEC;
	return 0;
}
