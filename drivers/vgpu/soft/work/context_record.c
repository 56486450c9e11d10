// SPDX-License-Identifier: GPL-2.0
/* Checks the records of programs, and of dispatches that have begun. */
#include <linux/kernel.h>
#ifdef __KERNEL__
#include <asm/byteorder.h>
#else
#include <endian.h>
#define le32_to_cpu(x)	le32toh(x)
#endif

#include "context_record.h"

/**
 * soft_program_record_check() - check all fields of a program's record
 * @record: one that no thread changes
 * Context: any; pure.
 * Return: NULL if the record is good, else the name of a field that is wrong.
 */
const char *soft_program_record_check(const struct soft_program_record *record)
{
	u32 text_bytes = le32_to_cpu(record->text_bytes);

	if (!text_bytes || text_bytes % 4 || text_bytes > VGPU_HW_TEXT_MAX)
		return "text_bytes";
	return record->pad ? "pad" : NULL;
}

/**
 * soft_context_record_check() - check all fields of a dispatch's record
 * @record: one that no thread changes
 * @limits: as for the packet
 * @op: operands of the DISPATCH, found good
 * @nr_programs: number of programs that there are
 * @head: set to the head of its program, if the record is good
 *
 * The caller checks that the program is the one that the head speaks of.
 *
 * Context: any; pure.
 * Return: NULL if the record is good, else the name of a field that is wrong.
 */
const char *soft_context_record_check(const struct soft_context_record *record,
				      const struct soft_limits *limits,
				      const struct soft_dispatch_operands *op, u32 nr_programs,
				      struct soft_program_head *head)
{
	u32 program = le32_to_cpu(record->program);
	u64 addr;

	if (soft_program_decode(&record->head, limits, op, head, &addr))
		return "head";
	if (!program || program > nr_programs)
		return "program";
	return record->pad ? "pad" : NULL;
}
