/* SPDX-License-Identifier: GPL-2.0 */
/* Texts of programs: read and decoded. */
#ifndef _VGPU_SOFT_TEXT_H
#define _VGPU_SOFT_TEXT_H

#include <linux/types.h>

struct soft_fault;
struct soft_memory;
struct soft_program;
struct soft_program_key;
struct soft_programs;

struct soft_program *soft_text_new(struct soft_programs *programs, struct soft_memory *mem, u32 nr,
				   int *ret);
int soft_text_load(struct soft_programs *programs, struct soft_memory *mem,
		   const struct soft_program_key *key, struct soft_program **programp,
		   struct soft_fault *fault);

#endif /* _VGPU_SOFT_TEXT_H */
