// SPDX-License-Identifier: GPL-2.0
/* The interpreter without vectors of more than one lane: see Kbuild for the flags. */
#define SIMT_ISA scalar
#include "lane.h"
