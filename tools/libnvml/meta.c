// SPDX-License-Identifier: GPL-2.0
/*
 * Metadata of vGPUs and GPUs, and whether they go together. Those of a vGPU are made on one host,
 * those of a GPU on another one, and compared on either or a third. What is opaque to clients is
 * what the drivers tell for a move, and by the driver's own rules it is compared. A VM that is
 * stopped can be started on another GPU that has the type, whatever the driver's version is.
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

#include "core/objects/about.h"

#define META_VERSION	1
#define META_REVISION	2
#define META_KIND_WORDS	12
#define META_KIND_BITS	(64 * META_KIND_WORDS)
#define META_MIGRATION	0x1	/* in the virtualization caps */

/* What VM can do where its vGPU can move, beside a start anew. */
#define META_STOPPED	(NVML_VGPU_VM_COMPATIBILITY_HIBERNATE | NVML_VGPU_VM_COMPATIBILITY_SLEEP)

/* What is the same for vGPUs and GPUs; the same on all machines but for their byte order. */
struct meta_gpu {
	char driver[VGPU_ADDR_LEN + 1];
	char board[VGPU_ADDR_LEN + 1];
	char pad[2];
	unsigned int can;		/* VGPU_MIGRATION_* */
	unsigned long long fb_bytes;	/* of the GPU */
};

struct meta_vgpu {
	struct meta_gpu gpu;
	struct vgpu_stream_about about;
};

/* What all types of a GPU have in common is as in struct vgpu_stream_about. */
struct meta_pgpu {
	struct meta_gpu gpu;
	__le32 version;
	__le32 hw_version;
	__le32 engines;
	__le32 engine[VGPU_STREAM_ENGINES];
	unsigned int pad;
	unsigned long long kind[META_KIND_WORDS]; /* in what types differ: see meta_has_kind() */
};

/* Clients in Python (nvidia-ml-py) have room for no more. */
_Static_assert(sizeof(struct meta_vgpu) <= 260, "too large");
_Static_assert(sizeof(struct meta_pgpu) <= 256, "too large");

#define META_VGPU_SIZE	(offsetof(nvmlVgpuMetadata_t, opaqueData) + sizeof(struct meta_vgpu))
#define META_PGPU_SIZE	(offsetof(nvmlVgpuPgpuMetadata_t, opaqueData) + sizeof(struct meta_pgpu))

static unsigned long long meta_hash(unsigned long long hash, const void *data, size_t bytes)
{
	const unsigned char *byte = data;

	/* FNV-1a */
	while (bytes--)
		hash = (hash ^ *byte++) * 0x100000001b3ull;
	return hash;
}

#define META_HASH	0xcbf29ce484222325ull

/* A number for what vGPUs of one type have, and those of another type have not. */
static unsigned long long meta_kind(const struct vgpu_stream_about *about)
{
	unsigned long long hash = meta_hash(META_HASH, about->type, sizeof(about->type));

	hash = meta_hash(hash, &about->fb_bytes, sizeof(about->fb_bytes));
	hash = meta_hash(hash, &about->channels, sizeof(about->channels));
	hash = meta_hash(hash, &about->heads, sizeof(about->heads));
	hash = meta_hash(hash, &about->max_width, sizeof(about->max_width));
	return meta_hash(hash, &about->max_height, sizeof(about->max_height));
}

/*
 * Is the kind one of the GPU's? Each kind has three bits of the array, so of a few others that says
 * yes, too; but GPUs of the same driver, board and size have the same types, but for versions.
 */
static bool meta_has_kind(const struct meta_pgpu *pgpu, unsigned long long kind)
{
	unsigned int i, bit;

	for (i = 0; i < 3; i++, kind >>= 20) {
		bit = kind % META_KIND_BITS;
		if (!(pgpu->kind[bit / 64] & 1ull << bit % 64))
			return false;
	}
	return true;
}

static void meta_add_kind(struct meta_pgpu *pgpu, unsigned long long kind)
{
	unsigned int i, bit;

	for (i = 0; i < 3; i++, kind >>= 20) {
		bit = kind % META_KIND_BITS;
		pgpu->kind[bit / 64] |= 1ull << bit % 64;
	}
}

static void meta_fill(const struct nvmlDevice_st *device, struct meta_gpu *meta)
{
	memset(meta, 0, sizeof(*meta));
	nv_text(meta->driver, device->info.driver, sizeof(device->info.driver));
	nv_text(meta->board, device->info.board, sizeof(device->info.board));
	meta->fb_bytes = device->info.fb_bytes;
}

static nvmlReturn_t meta_of_gpu(const struct nvmlDevice_st *device, struct meta_pgpu *meta)
{
	struct vgpu_stream_about about;
	nvmlReturn_t ret;
	uint32_t i;

	memset(meta, 0, sizeof(*meta));
	meta_fill(device, &meta->gpu);
	for (i = 0; i < device->info.types; i++) {
		ret = nv_node_migration(NULL, device->info.gpu, i, &about, &meta->gpu.can);
		if (ret)
			return ret;
		if (!meta->gpu.can)
			break;
		meta_add_kind(meta, meta_kind(&about));
		meta->version = htole32(le16toh(about.version));
		meta->hw_version = about.hw_version;
		meta->engines = about.engines;
		memcpy(meta->engine, about.engine, sizeof(meta->engine));
	}
	return NVML_SUCCESS;
}

static nvmlReturn_t meta_of_vgpu(const struct nvmlDevice_st *device,
				 const struct vgpu_ctl_instance *inst, struct meta_vgpu *meta)
{
	nvmlReturn_t ret;

	memset(meta, 0, sizeof(*meta));
	meta_fill(device, &meta->gpu);
	ret = nv_node_migration(inst->uuid, inst->gpu, 0, &meta->about, &meta->gpu.can);
	return ret == NVML_ERROR_GPU_IS_LOST ? NVML_ERROR_NOT_FOUND : ret;
}

/* Is there room for @need bytes? If not, @room tells. */
static nvmlReturn_t meta_room(const void *to, unsigned int *room, size_t need)
{
	bool fits = to && *room >= need;

	*room = (unsigned int)need;
	return fits ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

nvmlReturn_t nvmlVgpuInstanceGetMetadata(nvmlVgpuInstance_t vgpu, nvmlVgpuMetadata_t *meta,
					 unsigned int *size)
{
	char version[VGPU_GUEST_NAME_LEN + 1];
	const struct nvmlDevice_st *device;
	struct vgpu_ctl_instance inst;
	struct meta_vgpu opaque;
	nvmlReturn_t ret = nv_enter_vgpu(vgpu, size, &inst);

	if (ret)
		return ret;
	device = nv_device_of(inst.gpu);
	if (!device)
		return nv_leave(NVML_ERROR_UNKNOWN);
	ret = meta_room(meta, size, META_VGPU_SIZE);
	if (!ret)
		ret = nv_guest_driver(&inst, version);
	if (!ret)
		ret = meta_of_vgpu(device, &inst, &opaque);
	if (ret)
		return nv_leave(ret);
	memset(meta, 0, offsetof(nvmlVgpuMetadata_t, opaqueData));
	meta->version = META_VERSION;
	meta->revision = META_REVISION;
	meta->guestInfoState = *version ? NVML_VGPU_INSTANCE_GUEST_INFO_STATE_INITIALIZED :
					  NVML_VGPU_INSTANCE_GUEST_INFO_STATE_UNINITIALIZED;
	strcpy(meta->guestDriverVersion, version);
	strcpy(meta->hostDriverVersion, nv.driver_version);
	meta->vgpuVirtualizationCaps = opaque.gpu.can ? META_MIGRATION : 0;
	meta->guestVgpuVersion = VGPU_HW_VERSION_CURRENT >> 16;
	meta->opaqueDataSize = sizeof(opaque);
	memcpy((char *)meta + offsetof(nvmlVgpuMetadata_t, opaqueData), &opaque, sizeof(opaque));
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetVgpuMetadata(nvmlDevice_t device, nvmlVgpuPgpuMetadata_t *meta,
				       unsigned int *size)
{
	nvmlReturn_t ret = nv_enter_host_device(device, size);
	struct meta_pgpu opaque;

	if (ret)
		return ret;
	ret = meta_room(meta, size, META_PGPU_SIZE);
	if (!ret)
		ret = meta_of_gpu(device, &opaque);
	if (ret)
		return nv_leave(ret);
	memset(meta, 0, offsetof(nvmlVgpuPgpuMetadata_t, opaqueData));
	meta->version = META_VERSION;
	meta->revision = META_REVISION;
	strcpy(meta->hostDriverVersion, nv.driver_version);
	meta->pgpuVirtualizationCaps = opaque.gpu.can ? META_MIGRATION : 0;
	meta->hostSupportedVgpuRange.minVersion = VGPU_HW_VERSION_CURRENT >> 16;
	meta->hostSupportedVgpuRange.maxVersion = VGPU_HW_VERSION_CURRENT >> 16;
	meta->opaqueDataSize = sizeof(opaque);
	memcpy((char *)meta + offsetof(nvmlVgpuPgpuMetadata_t, opaqueData), &opaque,
	       sizeof(opaque));
	return nv_leave(NVML_SUCCESS);
}

static bool meta_same_gpu(const struct meta_gpu *vgpu, const struct meta_gpu *pgpu)
{
	return !memcmp(vgpu->driver, pgpu->driver, sizeof(vgpu->driver)) &&
	       !memcmp(vgpu->board, pgpu->board, sizeof(vgpu->board)) &&
	       vgpu->fb_bytes == pgpu->fb_bytes;
}

/* What hinders the vGPU to move to a new one on the GPU, beside what hinders a start there. */
static unsigned int meta_move_limit(const struct meta_vgpu *vgpu, const struct meta_pgpu *pgpu)
{
	/* A new vGPU of the same kind. */
	struct vgpu_stream_about mine = vgpu->about;
	char why[128];

	if (!(vgpu->gpu.can & pgpu->gpu.can))
		return NVML_VGPU_COMPATIBILITY_LIMIT_HOST_DRIVER;
	if (!meta_has_kind(pgpu, meta_kind(&vgpu->about)))
		return NVML_VGPU_COMPATIBILITY_LIMIT_GPU;
	mine.version = htole16((uint16_t)le32toh(pgpu->version));
	mine.hw_version = pgpu->hw_version;
	mine.engines = pgpu->engines;
	memcpy(mine.engine, pgpu->engine, sizeof(mine.engine));
	mine.vga = htole32(VGPU_STREAM_VGA_ANY);
	if (vgpu_about_fits(&mine, &vgpu->about, why, sizeof(why)))
		return 0;
	/* Are versions all that differs? */
	mine.version = vgpu->about.least;
	mine.hw_version = vgpu->about.hw_version;
	return vgpu_about_fits(&mine, &vgpu->about, why, sizeof(why)) ?
		NVML_VGPU_COMPATIBILITY_LIMIT_HOST_DRIVER : NVML_VGPU_COMPATIBILITY_LIMIT_GPU;
}

static void meta_compare(const struct meta_vgpu *vgpu, const struct meta_pgpu *pgpu,
			 bool same_version, nvmlVgpuPgpuCompatibility_t *to)
{
	unsigned int limit = 0, can = NVML_VGPU_VM_COMPATIBILITY_NONE;
	const unsigned int both = vgpu->gpu.can & pgpu->gpu.can;

	if (!meta_same_gpu(&vgpu->gpu, &pgpu->gpu))
		limit |= NVML_VGPU_COMPATIBILITY_LIMIT_GPU;
	if (!same_version)
		limit |= NVML_VGPU_COMPATIBILITY_LIMIT_HOST_DRIVER;
	if (!limit) {
		can = NVML_VGPU_VM_COMPATIBILITY_COLD;
		limit = meta_move_limit(vgpu, pgpu);
	}
	if (!limit && both & VGPU_MIGRATION_STOP_COPY)
		can |= META_STOPPED;
	if (!limit && both & VGPU_MIGRATION_PRE_COPY)
		can |= NVML_VGPU_VM_COMPATIBILITY_LIVE;
	to->vgpuVmCompatibility = (nvmlVgpuVmCompatibility_t)can;
	to->compatibilityLimitCode = (nvmlVgpuPgpuCompatibilityLimitCode_t)limit;
}

nvmlReturn_t nvmlGetVgpuCompatibility(nvmlVgpuMetadata_t *vgpu, nvmlVgpuPgpuMetadata_t *pgpu,
				      nvmlVgpuPgpuCompatibility_t *compatibility)
{
	struct meta_vgpu of_vgpu;
	struct meta_pgpu of_pgpu;
	nvmlReturn_t ret = nv_enter_host();
	bool same;

	if (ret)
		return ret;
	if (!vgpu || !pgpu || !compatibility || vgpu->version != META_VERSION ||
	    pgpu->version != META_VERSION || vgpu->opaqueDataSize != sizeof(of_vgpu) ||
	    pgpu->opaqueDataSize != sizeof(of_pgpu))
		return nv_leave(NVML_ERROR_INVALID_ARGUMENT);
	memcpy(&of_vgpu, (char *)vgpu + offsetof(nvmlVgpuMetadata_t, opaqueData),
	       sizeof(of_vgpu));
	memcpy(&of_pgpu, (char *)pgpu + offsetof(nvmlVgpuPgpuMetadata_t, opaqueData),
	       sizeof(of_pgpu));
	same = vgpu->guestVgpuVersion >= pgpu->hostSupportedVgpuRange.minVersion &&
	       vgpu->guestVgpuVersion <= pgpu->hostSupportedVgpuRange.maxVersion;
	meta_compare(&of_vgpu, &of_pgpu, same, compatibility);
	return nv_leave(NVML_SUCCESS);
}

/* Two GPUs with the same text take each other's vGPUs, also while they move. */
nvmlReturn_t nvmlDeviceGetPgpuMetadataString(nvmlDevice_t device, char *text, unsigned int *size)
{
	nvmlReturn_t ret = nv_enter_host_device(device, size);
	struct meta_pgpu opaque;
	unsigned int version;
	char buf[128];

	if (ret)
		return ret;
	ret = meta_of_gpu(device, &opaque);
	if (ret)
		return nv_leave(ret);
	version = VGPU_HW_VERSION_CURRENT >> 16;
	snprintf(buf, sizeof(buf), "%s:%s:%llu:%u:%016llx", opaque.gpu.driver, opaque.gpu.board,
		 opaque.gpu.fb_bytes, version, meta_hash(META_HASH, &opaque, sizeof(opaque)));
	return nv_leave(nv_put_text_size(text, size, buf));
}
