/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SPRINTF_H
#define _SHIM_LINUX_SPRINTF_H

#include <linux/printk.h>

#endif /* _SHIM_LINUX_SPRINTF_H */
