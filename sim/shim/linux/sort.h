/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SORT_H
#define _SHIM_LINUX_SORT_H

#include <stdlib.h>

#define sort(base, nr, size, order, swap)	qsort(base, nr, size, order)

#endif /* _SHIM_LINUX_SORT_H */
