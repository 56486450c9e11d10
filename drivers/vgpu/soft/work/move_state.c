// SPDX-License-Identifier: GPL-2.0
/*
 * How far a FILL or a COPY has come: saved as a record, and set from one.
 *
 * The record has the position and nothing else. What is in bounce pages is made again: a FILL's
 * pattern; and the bytes that a copy from guest to guest memory has read and not written, which it
 * reads again. A guest that changes them meanwhile cannot tell, as the packet has not completed;
 * and where source and destination overlap, the destination's content is undefined.
 */
#include <asm/byteorder.h>

#include "../queue/channel.h"
#include "../state/records.h"
#include "move.h"
#include "move_state.h"

/**
 * soft_move_put_aside() - struct soft_packet_desc.put_aside of FILL and COPY
 * @ch: of a paused vGPU, with the packet
 * @answered: the last request has succeeded
 * @to: add the record there
 * Context: sleeps.
 */
void soft_move_put_aside(const struct soft_channel *ch, bool answered, struct vgpu_records *to)
{
	struct soft_move move = *soft_exec_work(&ch->exec, const struct soft_move);
	struct soft_move_record *record = vgpu_record_add(to, SOFT_RECORD_MOVE, sizeof(*record));

	if (!record)
		return;
	/* A request that read into bounce pages has not changed what a guest sees. */
	if (answered && !move.bounced)
		soft_move_advance(&move, soft_move_operands(&ch->exec.packet), move.chunk);
	record->col = cpu_to_le64(move.col);
	record->row = cpu_to_le32(move.row);
}

/**
 * soft_move_record_check() - check all fields of a record
 * @record: one that no thread changes
 * @packet: the FILL or COPY that the record belongs to, decoded
 * Context: any; pure.
 * Return: NULL if the record is good, else the name of a field that is wrong.
 */
const char *soft_move_record_check(const struct soft_move_record *record,
				   const struct soft_packet *packet)
{
	const struct soft_move_operands *op = soft_move_operands(packet);
	u64 col = le64_to_cpu(record->col);
	u32 row = le32_to_cpu(record->row);

	if (row > op->rows)
		return "row";
	/* After the last row nothing is left; and a FILL writes whole words. */
	if (row == op->rows ? col : col >= op->width)
		return "col";
	if (packet->type == VGPU_HW_PKT_FILL && col % 4)
		return "col";
	return record->pad ? "pad" : NULL;
}

/**
 * soft_move_bring_back() - struct soft_packet_desc.bring_back of FILL and COPY
 * @ch: of a paused vGPU, with the packet
 * @from: the record comes next
 * Context: sleeps.
 * Return: 0, or -EINVAL with the reason in @from.
 */
int soft_move_bring_back(struct soft_channel *ch, struct vgpu_record_reader *from)
{
	struct soft_move *move = soft_exec_work(&ch->exec, struct soft_move);
	struct soft_move_record record;
	const char *field;
	int ret;

	ret = vgpu_record_take_struct(from, SOFT_RECORD_MOVE, "move", &record, pad);
	if (ret)
		return ret;
	field = soft_move_record_check(&record, &ch->exec.packet);
	if (field)
		return vgpu_record_refuse(from, "move", field);
	move->col = le64_to_cpu(record.col);
	move->row = le32_to_cpu(record.row);
	return 0;
}
