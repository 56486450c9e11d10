// SPDX-License-Identifier: GPL-2.0
/* The interpreter for CPUs' sse2: see Kbuild for the flags. */
#define SIMT_ISA sse2
#include "lane.h"
