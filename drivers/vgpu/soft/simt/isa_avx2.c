// SPDX-License-Identifier: GPL-2.0
/* The interpreter for CPUs' avx2: see Kbuild for the flags. */
#define SIMT_ISA avx2
#include "lane.h"
