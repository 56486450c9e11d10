/* SPDX-License-Identifier: GPL-2.0 */
/* Code of this CPU for programs. */
#ifndef _VGPU_SOFT_NATIVE_H
#define _VGPU_SOFT_NATIVE_H

#include "../simt/simt.h"

/* Programs of more instructions get none: to compile them would take more than some ten ms. */
#define SOFT_NATIVE_MOST	8192

struct simt_native *soft_native_make(const struct simt_program *program,
				     const struct simt_isa *isa);
long soft_native_total(void);
size_t soft_native_bytes(struct simt_native *native);
void soft_native_free(struct simt_native *native);

#endif /* _VGPU_SOFT_NATIVE_H */
