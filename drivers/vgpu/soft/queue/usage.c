// SPDX-License-Identifier: GPL-2.0
/*
 * The usage registers: how much of each engine the vGPU gets, as the host measures it. Its service
 * counts from the last reset, also where that was on another host; the clock from then or from the
 * load on this host, so that what is saved of a paused vGPU stays the same.
 */
#include <linux/ktime.h>
#include <linux/nospec.h>

#include "../memory/memory.h"
#include "queues.h"

#define SOFT_USAGE_STRIDE	(VGPU_HW_USAGE_SERVICE(1) - VGPU_HW_USAGE_SERVICE(0))
#define SOFT_USAGE_END		VGPU_HW_USAGE_SERVICE(SOFT_ENGINES)

/* Returns what is subtracted from a count of the core or the clock. */
static u64 soft_usage_base(struct soft_queues *queues, const u64 *base)
{
	u64 value;

	raw_spin_lock(&queues->queue_lock);
	value = *base;
	raw_spin_unlock(&queues->queue_lock);
	return value;
}

static u64 soft_usage_time_ns(struct soft_queues *queues)
{
	u64 began_ns = soft_usage_base(queues, &queues->regs.began_ns);

	return ktime_get_ns() - began_ns;
}

/* The service does not go back, so it is read after what is subtracted from it. */
static u64 soft_usage_service_ns(struct soft_queues *queues, unsigned int engine)
{
	u64 before_ns = soft_usage_base(queues, &queues->regs.before_ns[engine]);

	return vgpu_engine_busy_ns(queues->mem->vgpu, engine) - before_ns;
}

/**
 * soft_usage_read() - read a usage register as a whole
 * @queues: queues of the vGPU
 * @reg: offset from VGPU_HW_USAGE_BASE
 * @value: set to the register's value
 * Context: process context; may sleep.
 * Return: bytes that the register has; 0: no register begins at @reg.
 */
unsigned int soft_usage_read(struct soft_queues *queues, u32 reg, u64 *value)
{
	u32 engine;

	if (reg == VGPU_HW_USAGE_TIME) {
		*value = soft_usage_time_ns(queues);
		return 8;
	}
	if (reg < VGPU_HW_USAGE_SERVICE(0) || reg >= SOFT_USAGE_END)
		return 0;
	engine = (reg - VGPU_HW_USAGE_SERVICE(0)) / SOFT_USAGE_STRIDE;
	engine = array_index_nospec(engine, SOFT_ENGINES);
	if (reg == VGPU_HW_USAGE_SERVICE(engine)) {
		*value = soft_usage_service_ns(queues, engine);
		return 8;
	}
	if (reg == VGPU_HW_USAGE_DUE(engine)) {
		*value = vgpu_engine_due(queues->mem->vgpu, engine);
		return 4;
	}
	return 0;
}

/**
 * soft_usage_read_word() - read a word of a usage register
 * @queues: queues of the vGPU
 * @reg: offset from VGPU_HW_USAGE_BASE, a multiple of 4
 * @value: set to the word
 * Context: as soft_usage_read().
 * Return: 0, or -ENXIO for no such register.
 */
int soft_usage_read_word(struct soft_queues *queues, u32 reg, u32 *value)
{
	u64 whole;

	if (reg % 8 && soft_usage_read(queues, reg - 4, &whole) == 8)
		*value = upper_32_bits(whole);
	else if (soft_usage_read(queues, reg, &whole))
		*value = lower_32_bits(whole);
	else
		return -ENXIO;
	return 0;
}

/* The device registers of a new vGPU, or after a reset. No engine works for the vGPU. */
void soft_usage_reset(const struct soft_queues *queues, struct soft_regs *regs)
{
	unsigned int i;

	*regs = (struct soft_regs) { .fault_channel = ~0U, .began_ns = ktime_get_ns() };
	for (i = 0; i < SOFT_ENGINES; i++)
		regs->before_ns[i] = vgpu_engine_busy_ns(queues->mem->vgpu, i);
}

/**
 * soft_usage_save() - save what the counters show
 * @queues: queues of the vGPU
 * @service_ns: SOFT_ENGINES times, set to VGPU_HW_USAGE_SERVICE()
 * Context: the vGPU is paused.
 */
void soft_usage_save(struct soft_queues *queues, __le64 *service_ns)
{
	unsigned int i;

	for (i = 0; i < SOFT_ENGINES; i++)
		service_ns[i] = cpu_to_le64(soft_usage_service_ns(queues, i));
}

/**
 * soft_usage_load() - have the counters go on from what they have shown
 * @queues: queues of the vGPU
 * @regs: set in part
 * @service_ns: what soft_usage_save() has set; any numbers
 * Context: the vGPU is paused.
 */
void soft_usage_load(struct soft_queues *queues, struct soft_regs *regs, const __le64 *service_ns)
{
	unsigned int i;

	regs->began_ns = ktime_get_ns();
	for (i = 0; i < SOFT_ENGINES; i++)
		regs->before_ns[i] = vgpu_engine_busy_ns(queues->mem->vgpu, i) -
				     le64_to_cpu(service_ns[i]);
}
