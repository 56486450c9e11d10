// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that dispatches of a paused vGPU have begun with: saved as records, and made from
 * records. The guest may have overwritten the text since, so the words are made of the decoded
 * instructions. Dispatches that begin later do not find a program that was loaded: they read the
 * text, as after an invalidation.
 */
#include <linux/build_bug.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <asm/byteorder.h>

#include "../memory/memory.h"
#include "../state/records.h"
#include "context_record.h"
#include "lanes.h"
#include "packet_types.h"
#include "program_state.h"
#include "text.h"
#include "work.h"

/* Instructions that are saved before another thread may have the processor. */
#define SOFT_TEXT_PIECE		1024

static void soft_program_save(const struct soft_program *program, struct vgpu_records *to)
{
	const struct simt_program *text = &program->text;
	struct soft_program_record *record;
	__le32 *words;
	u32 i;

	BUILD_BUG_ON(VGPU_HW_TEXT_MAX > VGPU_RECORD_MAX);
	record = vgpu_record_add(to, SOFT_RECORD_PROGRAM, sizeof(*record));
	if (!record)
		return;
	record->text_bytes = cpu_to_le32(text->nr * 4);
	words = vgpu_record_add(to, SOFT_RECORD_TEXT, (size_t)text->nr * 4);
	for (i = 0; words && i < text->nr; i++) {
		words[i] = cpu_to_le32(simt_encode(&text->insn[i]));
		if (i % SOFT_TEXT_PIECE == 0)
			cond_resched();
	}
}

/**
 * soft_program_save_all() - save the programs that dispatches have begun with
 * @queues: queues of the vGPU, which is paused. Numbers the programs, for soft_context_put_aside()
 * @to: add the records there
 * Context: config_lock held; sleeps.
 */
void soft_program_save_all(struct soft_queues *queues, struct vgpu_records *to)
{
	struct soft_program *program;
	u32 i, nr = 0;

	for (i = 0; i < queues->nr_channels; i++)
		if (soft_context_begun(&queues->channel[i]))
			soft_context(&queues->channel[i])->program->number = 0;
	for (i = 0; i < queues->nr_channels; i++) {
		if (!soft_context_begun(&queues->channel[i]))
			continue;
		program = soft_context(&queues->channel[i])->program;
		if (program->number)
			continue;
		program->number = ++nr;
		soft_program_save(program, to);
	}
}

static int soft_program_load(struct soft_compute *compute, struct vgpu_record_reader *from)
{
	struct soft_program_record record;
	struct soft_program *program;
	const char *field;
	const void *data;
	u32 nr;
	int ret;

	ret = vgpu_record_take_struct(from, SOFT_RECORD_PROGRAM, "program", &record, pad);
	if (ret)
		return ret;
	field = soft_program_record_check(&record);
	if (field)
		return vgpu_record_refuse(from, "program", field);
	nr = le32_to_cpu(record.text_bytes) / 4;
	ret = vgpu_record_take(from, SOFT_RECORD_TEXT, "text", (size_t)nr * 4, &data);
	if (ret)
		return ret;
	program = soft_text_new(&compute->programs, compute->mem, nr, &ret);
	if (!program)
		return ret == -EBUSY ? vgpu_record_refuse(from, "program", "too many bytes") : ret;
	soft_programs_adopt(program);
	simt_program_init(&program->text, nr);
	simt_program_decode(&program->text, 0, data, nr);
	simt_program_finish(&program->text);
	program->slow = simt_program_slow(&program->text, soft_lanes->fused);
	compute->loaded[compute->nr_loaded++] = program;
	return 0;
}

/**
 * soft_program_load_all() - make programs from their records
 * @compute: of the vGPU, which is paused; its programs are there until soft_program_load_end()
 * @from: the records of programs come next
 * Context: config_lock held; sleeps.
 * Return: 0; -EINVAL with the reason in @from, or -ENOMEM.
 */
int soft_program_load_all(struct soft_compute *compute, struct vgpu_record_reader *from)
{
	int ret = 0;

	compute->nr_loaded = 0;
	compute->loaded = kvcalloc(compute->nr_channels, sizeof(*compute->loaded),
				   VGPU_RECORD_GFP);
	if (!compute->loaded)
		return -ENOMEM;
	while (!ret && from->type == SOFT_RECORD_PROGRAM) {
		if (compute->nr_loaded == compute->nr_channels)
			return vgpu_record_refuse(from, "program", "too many");
		ret = soft_program_load(compute, from);
		cond_resched();
	}
	return ret;
}

/**
 * soft_program_load_end() - forget the programs that no dispatch uses
 * @compute: of the vGPU, whether or not soft_program_load_all() was called, or has succeeded
 * Context: config_lock held; may sleep.
 */
void soft_program_load_end(struct soft_compute *compute)
{
	u32 i;

	for (i = 0; i < compute->nr_loaded; i++)
		soft_programs_put(&compute->programs, compute->loaded[i]);
	kvfree(compute->loaded);
	compute->loaded = NULL;
	compute->nr_loaded = 0;
}
