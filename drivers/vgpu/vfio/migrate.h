/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Migration of a vGPU as VFIO defines it (uapi/linux/vfio.h, version 2 of its migration protocol).
 *
 * Locks, outermost first: vgpu_migrate.lock, the lock dev_lock of a stream's file, the core's
 * state_lock. The lock user_lock of a stream's file is outside of dev_lock, and is the only one
 * that is held over an access to user memory: nobody but the stream's readers or writers takes it.
 */
#ifndef _VGPU_MIGRATE_H
#define _VGPU_MIGRATE_H

#include <linux/mutex.h>
#include <linux/vfio.h>

#include "stream.h"

struct file;
struct vgpu_load;
struct vgpu_save;
struct vgpu_vfio;

/**
 * struct vgpu_migrate - migration of a vGPU
 * @lock:   one change of @state at a time; protects the following
 * @state:  as VFIO defines it; RUNNING while the device is not open
 * @paused: the vGPU is paused on behalf of @state
 * @save:   the stream that is being read, with a reference to its file, or NULL
 * @load:   the stream that is being written likewise
 */
struct vgpu_migrate {
	struct mutex lock;	/* state, paused, save, load */
	enum vfio_device_mig_state state;
	bool paused;
	struct vgpu_save *save;
	struct vgpu_load *load;
};

void vgpu_migrate_init(struct vgpu_vfio *dev);
void vgpu_migrate_setup(struct vgpu_vfio *dev);
void vgpu_migrate_close(struct vgpu_vfio *dev);
void vgpu_migrate_exit(struct vgpu_vfio *dev);
int vgpu_migrate_reset(struct vgpu_vfio *dev);

struct vgpu_save *vgpu_save_begin(struct vgpu_vfio *dev);
struct file *vgpu_save_file(struct vgpu_save *save);
int vgpu_save_stop(struct vgpu_save *save);
void vgpu_save_end(struct vgpu_save *save);
int vgpu_save_left(struct vgpu_save *save, u64 *bytes);

struct vgpu_load *vgpu_load_begin(struct vgpu_vfio *dev);
struct file *vgpu_load_file(struct vgpu_load *load);
int vgpu_load_finish(struct vgpu_load *load);
void vgpu_load_forget(struct vgpu_vfio *dev);
void vgpu_load_end(struct vgpu_load *load);

#endif /* _VGPU_MIGRATE_H */
