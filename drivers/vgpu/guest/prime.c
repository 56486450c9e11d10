// SPDX-License-Identifier: GPL-2.0
/* Buffers that other devices use: they lie in the guest's memory, and stay there. */
#include <drm/drm_prime.h>
#include <drm/ttm/ttm_tt.h>

#include "bo.h"
#include "prime.h"

/*
 * The device does not let others into its framebuffer, and jobs do not find a buffer of the
 * framebuffer elsewhere. So those cannot be shared.
 */
int guest_prime_pin(struct drm_gem_object *obj)
{
	struct guest_bo *bo = to_guest_bo(obj);

	if (bo->placement != DRM_VGPU_PLACEMENT_SYSTEM)
		return -EOPNOTSUPP;
	ttm_bo_pin(&bo->tbo);
	return 0;
}

void guest_prime_unpin(struct drm_gem_object *obj)
{
	ttm_bo_unpin(&to_guest_bo(obj)->tbo);
}

/* Of a buffer that is pinned. What was imported is not exported again: GEM has the original. */
struct sg_table *guest_prime_sg_table(struct drm_gem_object *obj)
{
	struct ttm_tt *tt = to_guest_bo(obj)->tbo.ttm;

	return drm_prime_pages_to_sg(obj->dev, tt->pages, tt->num_pages);
}
