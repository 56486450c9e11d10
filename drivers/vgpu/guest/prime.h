/* SPDX-License-Identifier: GPL-2.0 */
/* Buffers that other devices use: they lie in the guest's memory, and stay there. */
#ifndef _VGPU_GUEST_PRIME_H
#define _VGPU_GUEST_PRIME_H

struct drm_gem_object;
struct sg_table;

/* Of &struct drm_gem_object_funcs. */
int guest_prime_pin(struct drm_gem_object *obj);
void guest_prime_unpin(struct drm_gem_object *obj);
struct sg_table *guest_prime_sg_table(struct drm_gem_object *obj);

#endif /* _VGPU_GUEST_PRIME_H */
