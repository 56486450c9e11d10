/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DMA_SHIM_LINUX_RCUPDATE_H
#define _DMA_SHIM_LINUX_RCUPDATE_H
#endif /* _DMA_SHIM_LINUX_RCUPDATE_H */
