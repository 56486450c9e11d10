/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ENGINE_SHIM_LINUX_GFP_H
#define _ENGINE_SHIM_LINUX_GFP_H

#include <linux/slab.h>

#define GFP_NOWAIT		8U
#define __GFP_ACCOUNT		32U

#endif /* _ENGINE_SHIM_LINUX_GFP_H */
