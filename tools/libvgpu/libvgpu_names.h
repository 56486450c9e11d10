/* SPDX-License-Identifier: GPL-2.0 */
/* libvgpu: numbers of the hardware ABI in words. */
#ifndef LIBVGPU_NAMES_H
#define LIBVGPU_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* The element of @names that @number chooses, "unknown" if there is none. */
const char *vgpu_name_of(const char * const *names, size_t nr, uint32_t number);

#define VGPU_NAME_OF(names, number) \
	vgpu_name_of(names, sizeof(names) / sizeof((names)[0]), number)

/* Name of an enum vgpu_hw_fault, "unknown" for other numbers. */
const char *vgpu_fault_name(uint32_t code);

/*
 * Name of an enum vgpu_hw_engine_class, as engines are called ("gr"), "unknown" for other numbers.
 */
const char *vgpu_engine_class_name(uint32_t engine_class);

#endif /* LIBVGPU_NAMES_H */
