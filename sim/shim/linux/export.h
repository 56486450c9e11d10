/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_EXPORT_H
#define _SHIM_LINUX_EXPORT_H

#define EXPORT_SYMBOL(name)
#define EXPORT_SYMBOL_GPL(name)
#define THIS_MODULE	((struct module *)0)

struct module;

#endif /* _SHIM_LINUX_EXPORT_H */
