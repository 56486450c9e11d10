// SPDX-License-Identifier: GPL-2.0
/* The bodies of sched's tracepoints. */
#include "timeline.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
