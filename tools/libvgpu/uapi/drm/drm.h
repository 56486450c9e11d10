/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What libvgpu and <drm/vgpu_drm.h> need of the kernel's <drm/drm.h>, for systems whose kernel
 * headers come without it (Debian 12). It is found only where there is no other.
 */
#ifndef _DRM_H_
#define _DRM_H_

#include <linux/types.h>
#include <asm/ioctl.h>

/**
 * struct drm_version - DRM_IOCTL_VERSION
 * @version_major:      out
 * @version_minor:      out
 * @version_patchlevel: out
 * @name_len:           in: room at @name; out: length of the driver's name
 * @name:               where to put it, without a 0 at the end
 * @date_len:           likewise of its date
 * @date:               where to put it
 * @desc_len:           likewise of a description
 * @desc:               where to put it
 */
struct drm_version {
	int version_major;
	int version_minor;
	int version_patchlevel;
	__kernel_size_t name_len;
	char *name;
	__kernel_size_t date_len;
	char *date;
	__kernel_size_t desc_len;
	char *desc;
};

/**
 * struct drm_gem_close - DRM_IOCTL_GEM_CLOSE
 * @handle: of a buffer
 * @pad:    0
 */
struct drm_gem_close {
	__u32 handle;
	__u32 pad;
};

/**
 * struct drm_syncobj_create - DRM_IOCTL_SYNCOBJ_CREATE
 * @handle: out
 * @flags:  0
 */
struct drm_syncobj_create {
	__u32 handle;
	__u32 flags;
};

/**
 * struct drm_syncobj_destroy - DRM_IOCTL_SYNCOBJ_DESTROY
 * @handle: of a syncobj
 * @pad:    0
 */
struct drm_syncobj_destroy {
	__u32 handle;
	__u32 pad;
};

#define DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL		(1 << 0)
#define DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT	(1 << 1)

/**
 * struct drm_syncobj_timeline_wait - DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT
 * @handles:        address of @count_handles handles
 * @points:         address of as many points
 * @timeout_nsec:   absolute, of CLOCK_MONOTONIC
 * @count_handles:  how many
 * @flags:          DRM_SYNCOBJ_WAIT_FLAGS_*
 * @first_signaled: out: index of the first one, unless all are waited for
 * @pad:            0
 */
struct drm_syncobj_timeline_wait {
	__u64 handles;
	__u64 points;
	__s64 timeout_nsec;
	__u32 count_handles;
	__u32 flags;
	__u32 first_signaled;
	__u32 pad;
};

#define DRM_IOCTL_BASE			'd'
#define DRM_IOW(nr, type)		_IOW(DRM_IOCTL_BASE, nr, type)
#define DRM_IOWR(nr, type)		_IOWR(DRM_IOCTL_BASE, nr, type)

#define DRM_IOCTL_VERSION		DRM_IOWR(0x00, struct drm_version)
#define DRM_IOCTL_GEM_CLOSE		DRM_IOW(0x09, struct drm_gem_close)
#define DRM_IOCTL_SYNCOBJ_CREATE	DRM_IOWR(0xBF, struct drm_syncobj_create)
#define DRM_IOCTL_SYNCOBJ_DESTROY	DRM_IOWR(0xC0, struct drm_syncobj_destroy)
#define DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT	DRM_IOWR(0xCA, struct drm_syncobj_timeline_wait)

#define DRM_COMMAND_BASE		0x40

#endif /* _DRM_H_ */
