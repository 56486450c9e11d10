/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_MODULE_H
#define _SHIM_LINUX_MODULE_H

#include <linux/export.h>

#endif /* _SHIM_LINUX_MODULE_H */
