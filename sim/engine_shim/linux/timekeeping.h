/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ENGINE_SHIM_LINUX_TIMEKEEPING_H
#define _ENGINE_SHIM_LINUX_TIMEKEEPING_H

#include <linux/ktime.h>

#endif /* _ENGINE_SHIM_LINUX_TIMEKEEPING_H */
