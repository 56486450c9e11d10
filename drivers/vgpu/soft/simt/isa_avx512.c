// SPDX-License-Identifier: GPL-2.0
/* The interpreter for CPUs' avx512: see Kbuild for the flags. */
#define SIMT_ISA avx512
#include "lane.h"
