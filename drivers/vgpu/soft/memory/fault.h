/* SPDX-License-Identifier: GPL-2.0 */
/* Why a channel faults. Most often an address leads nowhere, so this is where addresses are. */
#ifndef _VGPU_SOFT_FAULT_H
#define _VGPU_SOFT_FAULT_H

#include <linux/types.h>
#include <uapi/linux/vgpu_hw.h>

/**
 * struct soft_fault - why a channel faults
 * @code: enum vgpu_hw_fault
 * @addr: the address that failed, 0 if the fault is not about an address
 * @pc:   of a program that failed, else 0
 * @id:   global id of the work-item that failed, else 0
 */
struct soft_fault {
	enum vgpu_hw_fault code;
	u64 addr;
	u64 pc;
	u32 id[3];
};

#endif /* _VGPU_SOFT_FAULT_H */
