/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints that are never on. */
#ifndef _SHIM_LINUX_TRACEPOINT_H
#define _SHIM_LINUX_TRACEPOINT_H

#include <linux/compiler.h>
#include <linux/types.h>

#define TP_PROTO(...)	__VA_ARGS__
#define TP_ARGS(...)	__VA_ARGS__
#define TRACE_EVENT(name, proto, ...)				\
	static inline void trace_##name(proto) { }		\
	static inline bool trace_##name##_enabled(void)		\
	{							\
		return false;					\
	}

#endif /* _SHIM_LINUX_TRACEPOINT_H */
