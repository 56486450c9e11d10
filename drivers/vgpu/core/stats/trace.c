// SPDX-License-Identifier: GPL-2.0
/* The bodies of the vgpu:* tracepoints. */
#define CREATE_TRACE_POINTS
#include "trace.h"
