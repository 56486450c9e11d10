/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libvgpu: a driver in user space for one vGPU. On the host it reaches the vGPU through VFIO, in a
 * virtual machine through the resource files that sysfs has for the PCI function. Both ways speak
 * the hardware ABI of <linux/vgpu_hw.h>. Where the guest's driver has the function, libvgpu is a
 * client of it, and speaks that of <drm/vgpu_drm.h>.
 *
 * Functions that return int return 0 (or a count, where a comment says so) on success and a
 * negative errno on error; vgpu_dev_error() then has a text for people. A device, its buffers and
 * its channels may be used by one thread at a time; different devices are independent. Fields of
 * the structures are for reading.
 */
#ifndef LIBVGPU_H
#define LIBVGPU_H

#include "libvgpu_dev.h"
#include "libvgpu_mem.h"
#include "libvgpu_space.h"
#include "libvgpu_chan.h"
#include "libvgpu_work.h"
#include "libvgpu_elf.h"
#include "libvgpu_compute.h"
#include "libvgpu_log.h"
#include "libvgpu_names.h"

#endif /* LIBVGPU_H */
