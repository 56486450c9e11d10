// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>

#include "space.h"

struct fx_vgpu v;
struct vgpu_space *space;
struct vgpu_chan *chan;
struct vgpu_buf buf;

void space_make(void)
{
	if (!v.dev)
		fx_create_open(&v, fx_default_type());
	FX_OK(v.dev, vgpu_space_create(v.dev, &space));
}

void space_map(uint64_t va, struct vgpu_loc to, uint64_t bytes, uint32_t flags)
{
	FX_OK(v.dev, vgpu_space_map(space, va, to, bytes, flags));
}

void space_map_page(uint64_t va, uint64_t at, uint32_t flags)
{
	space_map(va, VGPU_FB(at), PAGE, flags);
}

void space_cleanup(void)
{
	vgpu_space_destroy(space);
	space = NULL;
	if (v.dev)
		vgpu_buf_free(&buf);
	fx_cleanup();
}
