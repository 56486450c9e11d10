// SPDX-License-Identifier: GPL-2.0
/*
 * The GPU instances that clients have handles of. The driver never gives the number of a partition
 * to another one, so an entry is one partition's for ever.
 */
#include <stdlib.h>
#include <string.h>

#include "mig.h"

#define HANDLE	(1ull << 62)

enum mig_kind { MIG_GI = 1, MIG_CI = 2, MIG_DEVICE = 3 };

/* Goes on after nvmlShutdown(), so that a handle kept from before is nobody's. */
static uint64_t mig_number(void)
{
	static uint64_t last;

	return ++last;
}

static uintptr_t mig_encode(uint64_t number, enum mig_kind kind)
{
	return (uintptr_t)(HANDLE | number << 2 | kind);
}

static uintptr_t mig_handle(const struct nv_mig *mig, enum mig_kind kind)
{
	return mig_encode(kind == MIG_GI ? mig->gi : mig->ci, kind);
}

nvmlGpuInstance_t nv_gi_handle(const struct nv_mig *mig)
{
	return (nvmlGpuInstance_t)mig_handle(mig, MIG_GI);
}

nvmlComputeInstance_t nv_ci_handle(const struct nv_mig *mig)
{
	return (nvmlComputeInstance_t)mig_handle(mig, MIG_CI);
}

nvmlDevice_t nv_mig_handle(const struct nv_mig *mig)
{
	return (nvmlDevice_t)mig_handle(mig, MIG_DEVICE);
}

void nv_ci_forget(struct nv_mig *mig)
{
	mig->ci = mig_number();
	mig->state = NV_CI_DESTROYED;
}

/* The partition is gone: so are its handles. */
static void mig_forget(struct nv_mig *mig)
{
	struct nv_migs *migs = &mig->device->migs;
	unsigned int i = (unsigned int)(mig - migs->mig);

	migs->nr--;
	memmove(mig, mig + 1, (migs->nr - i) * sizeof(*mig));
}

struct nv_mig *nv_mig_find(struct nvmlDevice_st *device, uint32_t partition)
{
	struct nv_migs *migs = &device->migs;
	unsigned int i;

	for (i = 0; i < migs->nr; i++)
		if (migs->mig[i].partition == partition)
			return &migs->mig[i];
	return NULL;
}

static void mig_add(struct nvmlDevice_st *device, uint32_t partition)
{
	struct nv_migs *migs = &device->migs;

	if (migs->nr == NV_MIGS_MAX)
		return;
	migs->mig[migs->nr++] = (struct nv_mig) {
		.device = device,
		.partition = partition,
		.gi = mig_number(),
		.ci = mig_number(),
	};
}

static bool mig_listed(const uint32_t *ids, unsigned int nr, uint32_t partition)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (ids[i] == partition)
			return true;
	return false;
}

/* One that is removed at this time is as one that is not there. */
static nvmlReturn_t mig_read(struct nv_mig *mig)
{
	nvmlReturn_t ret = nv_node_partition(mig->device->info.gpu, mig->partition, &mig->info);

	if (ret == NVML_ERROR_NOT_FOUND)
		mig_forget(mig);
	return ret;
}

static int mig_compare(const void *left, const void *right)
{
	const struct nv_mig *a = left, *b = right;

	return (a->info.start > b->info.start) - (a->info.start < b->info.start);
}

nvmlReturn_t nv_migs_read(struct nvmlDevice_st *device)
{
	struct nv_migs *migs = &device->migs;
	uint32_t ids[NV_MIGS_MAX];
	unsigned int nr, i;
	nvmlReturn_t ret;

	ret = nv_node_partitions(device->info.gpu, ids, &nr);
	if (ret)
		return ret;
	/* Those that are gone first, so that there is room for the others. */
	for (i = migs->nr; i--; )
		if (!mig_listed(ids, nr, migs->mig[i].partition))
			mig_forget(&migs->mig[i]);
	for (i = 0; i < nr; i++)
		if (!nv_mig_find(device, ids[i]))
			mig_add(device, ids[i]);
	for (i = migs->nr; i--; ) {
		ret = mig_read(&migs->mig[i]);
		if (ret && ret != NVML_ERROR_NOT_FOUND)
			return ret;
	}
	qsort(migs->mig, migs->nr, sizeof(migs->mig[0]), mig_compare);
	return NVML_SUCCESS;
}

static struct nv_mig *mig_of(uintptr_t handle, enum mig_kind kind)
{
	unsigned int i, k;

	for (i = 0; i < nv.devices; i++) {
		struct nv_migs *migs = &nv.device[i].migs;

		for (k = 0; k < migs->nr; k++)
			if (mig_handle(&migs->mig[k], kind) == handle)
				return &migs->mig[k];
	}
	return NULL;
}

/* What has a handle that is in the table, as it is now; INVALID_ARGUMENT: it is not there. */
static nvmlReturn_t mig_get(uintptr_t handle, enum mig_kind kind, struct nv_mig **out)
{
	struct nv_mig *mig = mig_of(handle, kind);
	nvmlReturn_t ret;

	if (!mig)
		return NVML_ERROR_INVALID_ARGUMENT;
	ret = mig_read(mig);
	*out = mig;
	return ret == NVML_ERROR_NOT_FOUND ? NVML_ERROR_INVALID_ARGUMENT : ret;
}

static nvmlReturn_t mig_enter(uintptr_t handle, enum mig_kind kind, const void *out,
			      struct nv_mig **mig)
{
	nvmlReturn_t ret = nv_enter_host();

	if (ret)
		return ret;
	ret = out ? mig_get(handle, kind, mig) : NVML_ERROR_INVALID_ARGUMENT;
	return ret ? nv_leave(ret) : ret;
}

nvmlReturn_t nv_enter_gi(nvmlGpuInstance_t gi, const void *out, struct nv_mig **mig)
{
	return mig_enter((uintptr_t)gi, MIG_GI, out, mig);
}

nvmlReturn_t nv_enter_ci(nvmlComputeInstance_t ci, const void *out, struct nv_mig **mig)
{
	return mig_enter((uintptr_t)ci, MIG_CI, out, mig);
}

nvmlReturn_t nv_mig_device(nvmlDevice_t handle)
{
	struct nv_mig *mig;

	return mig_get((uintptr_t)handle, MIG_DEVICE, &mig);
}

nvmlReturn_t nv_enter_any(nvmlDevice_t handle, const void *out, struct nvmlDevice_st **device,
			  const struct nv_mig **mig)
{
	nvmlReturn_t ret = nv_enter();
	struct nv_mig *found;

	if (ret)
		return ret;
	if (!out)
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	*mig = NULL;
	*device = nv_device_at(handle);
	if (*device)
		return NVML_SUCCESS;
	ret = mig_get((uintptr_t)handle, MIG_DEVICE, &found);
	if (ret)
		return nv_leave(ret);
	*mig = found;
	*device = found->device;
	return NVML_SUCCESS;
}

nvmlReturn_t nv_enter_mig(nvmlDevice_t handle, const void *out, nvmlReturn_t of_gpu,
			  const struct nv_mig **mig)
{
	struct nvmlDevice_st *device;
	nvmlReturn_t ret = nv_enter_any(handle, out, &device, mig);

	if (ret || *mig)
		return ret;
	return nv_leave(nv.source->is_host ? of_gpu : NVML_ERROR_NOT_SUPPORTED);
}
