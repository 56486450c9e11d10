/* SPDX-License-Identifier: GPL-2.0 */
/* The C library includes this header, too, and perhaps while types.h is being read. */
#include_next <linux/limits.h>
