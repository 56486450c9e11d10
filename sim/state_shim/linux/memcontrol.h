/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _STATE_SHIM_LINUX_MEMCONTROL_H
#define _STATE_SHIM_LINUX_MEMCONTROL_H

/* Nobody is charged. */
struct mem_cgroup;

static inline struct mem_cgroup *set_active_memcg(struct mem_cgroup *memcg)
{
	return memcg;
}

#endif /* _STATE_SHIM_LINUX_MEMCONTROL_H */
