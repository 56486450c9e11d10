// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>

#include "space.h"

struct fx_vgpu v;
struct vgpu_space *space;
struct vgpu_chan *chan;
struct vgpu_buf buf;

void space_cleanup(void)
{
	vgpu_space_destroy(space);
	space = NULL;
	if (v.dev)
		vgpu_buf_free(&buf);
	fx_cleanup();
}
