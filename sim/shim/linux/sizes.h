/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SIZES_H
#define _SHIM_LINUX_SIZES_H

#define SZ_256		0x100
#define SZ_4K		0x1000
#define SZ_64K		0x10000
#define SZ_1M		0x100000
#define SZ_2M		0x200000
#define SZ_256M		0x10000000
#define SZ_1G		0x40000000
#define SZ_2G		0x80000000ULL
#define SZ_4G		0x100000000ULL
#define SZ_8G		0x200000000ULL
#define SZ_16G		0x400000000ULL

#endif /* _SHIM_LINUX_SIZES_H */
