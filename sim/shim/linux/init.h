/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_INIT_H
#define _SHIM_LINUX_INIT_H

#include <linux/compiler.h>

#endif /* _SHIM_LINUX_INIT_H */
