// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "core/objects/about.h"

#include "nvml_move.h"

uint32_t fake_flags(unsigned long request)
{
	return request == VGPU_IOC_MIGRATION ? VGPU_MIGRATION_OF_TYPE : 0;
}

int fake_version(struct vgpu_ctl_version *version)
{
	version->abi_major = fake.abi_major;
	version->abi_minor = VGPU_ABI_MINOR;
	strcpy((char *)version->driver_version, "0.1.0");
	return 0;
}

int fake_sched_set(struct vgpu_ctl_sched *sched)
{
	struct vgpu_ctl_sched *now = &fake.sched[sched->gpu];

	if (!fake_has_gpu(sched->gpu))
		return -ENODEV;
	if (fake.set_error)
		return -fake.set_error;
	if (sched->valid & VGPU_SCHED_WINDOW)
		now->window_ns = sched->window_ns;
	if (sched->slice_ns < 1000000 || sched->slice_ns > 30000000)
		return -ERANGE;
	if (10 * sched->slice_ns > now->window_ns)
		return -EINVAL;
	now->slice_ns = sched->slice_ns;
	memcpy(now->policy, sched->policy, sizeof(now->policy));
	return 0;
}

int fake_sched(struct vgpu_ctl_sched *sched)
{
	if (!fake_has_gpu(sched->gpu))
		return -ENODEV;
	memcpy(sched->policy, fake.sched[sched->gpu].policy, sizeof(sched->policy));
	sched->slice_ns = fake.sched[sched->gpu].slice_ns;
	sched->window_ns = fake.sched[sched->gpu].window_ns;
	return 0;
}

/* As the driver describes a vGPU, with what fake.move says. */
static struct vgpu_stream_about describe(uint32_t gpu, uint32_t type)
{
	struct vgpu_stream_about about = {
		.magic = VGPU_STREAM_MAGIC,
		.version = htole16(fake.move[gpu].version ?: 1),
		.least = htole16(fake.move[gpu].version ?: 1),
		.hw_version = htole32(fake.move[gpu].hw_version ?: VGPU_HW_VERSION_CURRENT),
		.board = "SG16",
		.engines = htole32(FAKE_ENGINES - fake.move[gpu].less_engines),
		.vga = htole32(VGPU_STREAM_VGA_ANY),
	};
	struct vgpu_ctl_type t;

	memset(&t, 0, sizeof(t));
	fake_type(gpu, type, &t);
	memcpy(about.type, t.name, sizeof(about.type));
	about.fb_bytes = htole64(t.fb_bytes);
	about.channels = htole32(16 + fake.move[gpu].more_channels);
	about.heads = htole32(t.num_heads);
	about.max_width = htole32(t.max_width);
	about.max_height = htole32(t.max_height);
	return about;
}

int fake_migration(struct vgpu_ctl_migration *call, const struct vgpu_ctl_instance *vgpus,
		   unsigned int vgpu)
{
	const bool of_type = call->flags & VGPU_MIGRATION_OF_TYPE;
	struct vgpu_stream_about about;

	if (of_type ? !fake_has_gpu(call->gpu) : vgpu == FAKE_VGPUS)
		return -ENODEV;
	if (of_type && call->type_index >= fake_types(call->gpu))
		return -ENOENT;
	if (!of_type) {
		call->gpu = vgpus[vgpu].gpu;
		call->type_index = vgpus[vgpu].type_index;
	}
	about = describe(call->gpu, call->type_index);
	if (!of_type)
		about.vga = htole32(vgpus[vgpu].vga);
	memcpy((void *)(uintptr_t)call->about, &about,
	       call->about_bytes < sizeof(about) ? call->about_bytes : sizeof(about));
	call->about_bytes = sizeof(about);
	call->can = fake.move[call->gpu].cannot ? fake.move[call->gpu].cannot - 1 :
		VGPU_MIGRATION_STOP_COPY | VGPU_MIGRATION_PRE_COPY;
	return 0;
}
