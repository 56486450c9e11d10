/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values as they are typed behind an option. Each function writes the value that @text says, or
 * says on standard error, with the option's name @option, what would be right, and returns
 * EXIT_USAGE.
 */
#ifndef VGPUCTL_VALUE_H
#define VGPUCTL_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "message.h"

/* A whole number from @min to @max. */
enum exit_code value_number(const char *option, const char *text, uint32_t min, uint32_t max,
			    uint32_t *value);

/* A part of an engine, at least @min per mille: "250", or the same in per cent: "25%". */
enum exit_code value_permille(const char *option, const char *text, uint32_t min,
			      uint32_t *permille);

/* A time with its unit ("1.5s"), which must be a whole number of @unit_ns, at most @max of them. */
enum exit_code value_time(const char *option, const char *text, uint64_t unit_ns, uint64_t max,
			  uint64_t *units);

/* A whole number of hertz, "400" or "400Hz". */
enum exit_code value_frequency(const char *option, const char *text, uint32_t *hz);

/* Frames per second, "off" (0) or "default" (VGPU_FRL_DEFAULT). */
enum exit_code value_frl(const char *option, const char *text, uint32_t *fps);

/* "on" or "off", or 1 or 0. */
enum exit_code value_switch(const char *option, const char *text, uint32_t *on);

/* Of an argument, which is no option: is it such a value? */
bool value_is_number(const char *text, uint32_t min, uint32_t max, uint32_t *value);
bool value_is_switch(const char *text, uint32_t *on);

#endif /* VGPUCTL_VALUE_H */
