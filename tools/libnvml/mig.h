/* SPDX-License-Identifier: GPL-2.0 */
/*
 * MIG, inside the library. A GPU instance is a partition of the driver's: mig_table.c has those
 * that clients have handles of, mig_profile.c what there can be. A MIG device is its compute
 * instance.
 */
#ifndef VGPU_NVML_MIG_TABLE_H
#define VGPU_NVML_MIG_TABLE_H

#include "internal.h"

#define NV_NAME		NVML_DEVICE_NAME_V2_BUFFER_SIZE
#define NV_MIG_UUID	(4 + NV_UUID_TEXT)

/* ---- mig_table.c ---- */

/*
 * Handles are no addresses but numbers that no address of a program equals, and never the same
 * twice: so that of an instance which is gone never is that of another one.
 */
nvmlGpuInstance_t nv_gi_handle(const struct nv_mig *mig);
nvmlComputeInstance_t nv_ci_handle(const struct nv_mig *mig);
nvmlDevice_t nv_mig_handle(const struct nv_mig *mig);

/* The compute instance is gone for this process; a later one has other handles. */
void nv_ci_forget(struct nv_mig *mig);

/*
 * Reads the partitions of the GPU that there are now into device->migs, in the order of their
 * places. What it has of them is good until the lock is dropped, or until the next call.
 */
nvmlReturn_t nv_migs_read(struct nvmlDevice_st *device);

/* Of device->migs the one that has that number in the driver, or NULL. */
struct nv_mig *nv_mig_find(struct nvmlDevice_st *device, uint32_t partition);

/* As nv_enter_host_device(), for what there is only while MIG is on; else NOT_SUPPORTED. */
nvmlReturn_t nv_enter_divided(nvmlDevice_t device, const void *out);

/* As nv_enter_device(); mig->info is of now. */
nvmlReturn_t nv_enter_gi(nvmlGpuInstance_t gi, const void *out, struct nv_mig **mig);
nvmlReturn_t nv_enter_ci(nvmlComputeInstance_t ci, const void *out, struct nv_mig **mig);

/* For GPUs and MIG devices. @mig: NULL, if it is a GPU; @device: its GPU */
nvmlReturn_t nv_enter_any(nvmlDevice_t handle, const void *out, struct nvmlDevice_st **device,
			  const struct nv_mig **mig);

/* As nv_enter_any(), for MIG devices only, of hosts; of a GPU it returns @of_gpu. */
nvmlReturn_t nv_enter_mig(nvmlDevice_t handle, const void *out, nvmlReturn_t of_gpu,
			  const struct nv_mig **mig);

/* ---- mig_profile.c ---- */

/*
 * A profile has the number that NVML has for its slices, and has it as its id, too: of GPU
 * instances and of compute instances. NVML_NO_INSTANCE: none.
 */
unsigned int nv_profile_number(uint32_t slices);

/* Slices of a number; NOT_SUPPORTED: of a profile that this product has not. */
nvmlReturn_t nv_profile_slices(unsigned int number, unsigned int most, uint32_t *slices);

/* The GPU's profile of so many slices, or of that number. NOT_SUPPORTED: it has none. */
nvmlReturn_t nv_profile_of_slices(const struct nvmlDevice_st *device, uint32_t slices,
				  struct vgpu_ctl_profile *profile);
nvmlReturn_t nv_profile(const struct nvmlDevice_st *device, unsigned int number,
			struct vgpu_ctl_profile *profile);

/* So many instances of the profile there can be at most. */
unsigned int nv_profile_most(const struct vgpu_ctl_profile *profile);

/* "MIG 3g.8gb" */
void nv_profile_name(const uint8_t *name, uint64_t fb_bytes, char text[NV_NAME]);

/* What the engines of each partition are, which are the GPU's. */
unsigned int nv_engine_count(const struct nvmlDevice_st *device, uint32_t engine_class);

/*
 * Multiprocessors: units of gr that so many slices are. Profiles, compute instances and MIG devices
 * tell the same, as clients compare them.
 */
unsigned int nv_slices_units(const struct nvmlDevice_st *device, uint32_t slices);

/* ---- mig.c ---- */

/* Of a MIG device: "SG16 MIG 3g.8gb", and "MIG-" and a UUID. */
void nv_mig_name(const struct nv_mig *mig, char text[NV_NAME]);
void nv_mig_uuid(const struct nv_mig *mig, char text[NV_MIG_UUID]);

/* The MIG device that has the UUID, if it is there; else NOT_FOUND. */
nvmlReturn_t nv_mig_by_uuid(const char *uuid, nvmlDevice_t *mig_device);

#endif /* VGPU_NVML_MIG_TABLE_H */
