/* SPDX-License-Identifier: GPL-2.0 */
/* In a guest: nodes of its driver, <drm/vgpu_drm.h>, and what /proc tells of who uses them. */
#ifndef VGPU_NVML_RENDER_H
#define VGPU_NVML_RENDER_H

#include <drm/drm.h>
#include <drm/vgpu_drm.h>

#include "internal.h"

/* ---- render_call.c ---- */

/* Calls the driver of a GPU. */
nvmlReturn_t nv_render_call(const struct nvmlDevice_st *device, unsigned long request, void *arg);

/* Sleeps until the time of CLOCK_MONOTONIC, with the lock. */
void nv_render_sleep(uint64_t until_ns);

/* ---- render_load.c ---- */

/* The first look, if the host tells what is used. Fails only if there is no memory. */
nvmlReturn_t nv_render_load_init(struct nvmlDevice_st *device);

nvmlReturn_t nv_render_load(struct nvmlDevice_st *device, unsigned int percent[NV_ENGINES]);
nvmlReturn_t nv_render_load_of_due(struct nvmlDevice_st *device, unsigned int percent[NV_ENGINES]);
nvmlReturn_t nv_render_samples(struct nvmlDevice_st *device, uint64_t since_us,
			       struct nv_samples *samples);

/* ---- render_process.c ---- */

nvmlReturn_t nv_render_processes(struct nvmlDevice_st *device, struct nv_processes *processes);
nvmlReturn_t nv_render_process_samples(struct nvmlDevice_st *device, uint64_t since_us,
				       struct nv_samples *samples);

/* ---- fdinfo.c ---- */

/*
 * What the driver of an open file tells of it, by the standard keys. What is not told is 0.
 * @pdev:     address of the function
 * @client:   the same for all descriptors of one open()
 * @fb_bytes: framebuffer that it has now
 * @busy_ns:  time of the engines of each class
 */
struct nv_fdinfo {
	char driver[16];
	char pdev[VGPU_ADDR_LEN];
	uint64_t client;
	uint64_t fb_bytes;
	uint64_t busy_ns[NV_ENGINES];
};

/* Reads a file of /proc/PID/fdinfo. False: it is not there, or not for the caller. */
bool nv_fdinfo_read(int directory, const char *name, struct nv_fdinfo *info);

#endif /* VGPU_NVML_RENDER_H */
