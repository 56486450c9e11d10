// SPDX-License-Identifier: GPL-2.0
/*
 * The registers in BAR 2. An access to an offset without a register is refused, and a refused
 * access changes nothing. The front end serves the table and the pending bits of MSI-X: accesses
 * to them do not come here. The registers of a VGA card are in display.c.
 */
#include <linux/align.h>
#include <linux/log2.h>
#include <linux/nospec.h>
#include <linux/string.h>

#include "../queue/queues.h"
#include "../memory/memory.h"
#include "../memory/walk.h"
#include "../work/work.h"
#include "display.h"
#include "regs.h"

/* One of the two words of a 64-bit register. All word offsets are multiples of 4. */
static u32 soft_regs_half(u64 value, u32 reg)
{
	return reg & 4 ? upper_32_bits(value) : lower_32_bits(value);
}

static noinline int soft_regs_read_queue(struct soft_queues *queues, const u32 *word, u32 *value)
{
	raw_spin_lock(&queues->queue_lock);
	*value = *word;
	raw_spin_unlock(&queues->queue_lock);
	return 0;
}

static u32 *soft_regs_guest_word(struct soft_queues *queues, u32 reg)
{
	u32 i = (reg - VGPU_HW_GUEST_INFO(0)) / 4;

	return &queues->regs.guest_info[array_index_nospec(i, SOFT_GUEST_WORDS)];
}

/* Offset of the usage registers from the device registers, with which they share their calls. */
#define SOFT_REGS_USAGE		(VGPU_HW_USAGE_BASE - VGPU_HW_DEV_BASE)

/* Reads a word of the device registers, or of the usage registers. */
static int soft_regs_read_dev(struct soft_queues *queues, u32 reg, u32 *value)
{
	switch (reg) {
	case VGPU_HW_INTR:
		return soft_regs_read_queue(queues, &queues->regs.intr, value);
	case VGPU_HW_FAULT_CHANNEL:
		return soft_regs_read_queue(queues, &queues->regs.fault_channel, value);
	case VGPU_HW_GUEST_INFO(0) ... VGPU_HW_GUEST_INFO(SOFT_GUEST_WORDS - 1):
		return soft_regs_read_queue(queues, soft_regs_guest_word(queues, reg), value);
	default:	/* VGPU_HW_RESET and VGPU_HW_INVALIDATE* are write-only */
		if (reg >= SOFT_REGS_USAGE)
			return soft_usage_read_word(queues, reg - SOFT_REGS_USAGE, value);
		if (!vgpu_hw_identity_word(queues->mem->vgpu, VGPU_HW_DEV_BASE + reg, value))
			return -ENXIO;
		return 0;
	}
}

static noinline int soft_regs_read_chan(struct soft_channel *ch, u32 reg, u32 *value)
{
	struct soft_queues *queues = ch->queues;
	u64 get = READ_ONCE(ch->get);
	int ret = 0;

	raw_spin_lock(&queues->queue_lock);
	switch (reg) {
	case VGPU_HW_CHAN_CTRL:
		*value = ch->ctrl;
		break;
	case VGPU_HW_CHAN_ROOT:
		*value = ch->root;
		break;
	case VGPU_HW_CHAN_RING ... VGPU_HW_CHAN_RING + 4:
		*value = soft_regs_half(ch->ring, reg);
		break;
	case VGPU_HW_CHAN_STATE:
		*value = ch->state;
		break;
	case VGPU_HW_CHAN_FAULT_CODE:
		*value = ch->fault_code;
		break;
	case VGPU_HW_CHAN_FAULT_POS ... VGPU_HW_CHAN_FAULT_POS + 4:
		*value = soft_regs_half(ch->fault_pos, reg);
		break;
	case VGPU_HW_CHAN_FAULT_ADDR ... VGPU_HW_CHAN_FAULT_ADDR + 4:
		*value = soft_regs_half(ch->fault_addr, reg);
		break;
	case VGPU_HW_CHAN_GET ... VGPU_HW_CHAN_GET + 4:
		*value = soft_regs_half(get, reg);
		break;
	default:	/* also VGPU_HW_CHAN_DOORBELL, which is write-only */
		ret = -ENXIO;
	}
	raw_spin_unlock(&queues->queue_lock);
	return ret;
}

static bool soft_regs_in_page(u64 offset, u64 base)
{
	return offset >= base && offset < base + VGPU_HW_PAGE_SIZE;
}

/*
 * Sets @ch to the channel whose register is at @offset, or to NULL for a register of the device or
 * of its usage.
 */
static int soft_regs_find(struct soft_queues *queues, u64 offset,
			  struct soft_channel **ch, u32 *reg)
{
	u64 index;

	*ch = NULL;
	if (soft_regs_in_page(offset, VGPU_HW_DEV_BASE) ||
	    soft_regs_in_page(offset, VGPU_HW_USAGE_BASE)) {
		*reg = offset - VGPU_HW_DEV_BASE;
		return 0;
	}
	if (offset < VGPU_HW_CHAN_BASE)
		return -ENXIO;
	index = (offset - VGPU_HW_CHAN_BASE) / VGPU_HW_CHAN_STRIDE;
	if (index >= queues->nr_channels)
		return -ENXIO;
	index = array_index_nospec((u32)index, queues->nr_channels);
	*ch = &queues->channel[index];
	*reg = (offset - VGPU_HW_CHAN_BASE) % VGPU_HW_CHAN_STRIDE;
	return 0;
}

static int soft_regs_read_word(struct soft_queues *queues, u64 offset, u32 *value)
{
	struct soft_channel *ch;
	u32 reg;
	int ret;

	ret = soft_regs_find(queues, offset, &ch, &reg);
	if (ret)
		return ret;
	if (ch)
		return soft_regs_read_chan(ch, reg, value);
	return soft_regs_read_dev(queues, reg, value);
}

/* Reads all 64 bits of a counter at once, since it may advance between two reads of 32 bits. */
static bool soft_regs_read_counter(struct soft_queues *queues, u64 offset, __le64 *whole)
{
	struct soft_channel *ch;
	u64 value;
	u32 reg;

	if (soft_regs_find(queues, offset, &ch, &reg))
		return false;
	if (ch && reg == VGPU_HW_CHAN_GET)
		value = READ_ONCE(ch->get);
	else if (ch || reg < SOFT_REGS_USAGE ||
		 soft_usage_read(queues, reg - SOFT_REGS_USAGE, &value) != 8)
		return false;
	*whole = cpu_to_le64(value);
	return true;
}

/* Reads of any width, except the common ones, which soft_regs_rw() does without a stack frame. */
static noinline int soft_regs_read(struct soft_queues *queues, u64 offset, void *buf, size_t count)
{
	__le32 words[2] = {};
	__le64 whole;
	u32 value;
	size_t i;
	int ret;

	if (count == 8 && soft_regs_read_counter(queues, offset, &whole)) {
		memcpy(buf, &whole, 8);
		return 0;
	}
	for (i = 0; i < DIV_ROUND_UP(count, 4); i++) {
		ret = soft_regs_read_word(queues, ALIGN_DOWN(offset, 4) + 4 * i, &value);
		if (ret)
			return ret;
		words[i] = cpu_to_le32(value);
	}
	memcpy(buf, (u8 *)words + offset % 4, count);
	return 0;
}

static int soft_regs_write_dev(struct soft_queues *queues, u32 reg, u32 value)
{
	switch (reg) {
	case VGPU_HW_INTR:
		raw_spin_lock(&queues->queue_lock);
		queues->regs.intr &= ~value;
		raw_spin_unlock(&queues->queue_lock);
		return 0;
	case VGPU_HW_RESET:
		if (value != VGPU_HW_RESET_MAGIC)
			return -EINVAL;
		return VGPU_REGION_RESET;
	case VGPU_HW_INVALIDATE:
	case VGPU_HW_INVALIDATE_PAGES:
		if (!soft_walk_value_ok(value))
			return -EINVAL;
		if (reg == VGPU_HW_INVALIDATE)
			soft_programs_invalidate(&queues->work->compute.programs, value);
		else
			soft_programs_sync(&queues->work->compute.programs);
		return soft_invalidate(queues, value);
	case VGPU_HW_GUEST_INFO(0) ... VGPU_HW_GUEST_INFO(SOFT_GUEST_WORDS - 1):
		raw_spin_lock(&queues->queue_lock);
		*soft_regs_guest_word(queues, reg) = value;
		raw_spin_unlock(&queues->queue_lock);
		return 0;
	default:
		return -ENXIO;
	}
}

/* Writes the bits of a channel's register @reg that are 1 in @mask. */
static void soft_regs_write_latched(struct soft_queues *queues, u64 *reg, u64 value, u64 mask)
{
	mutex_lock(&queues->config_lock);
	raw_spin_lock(&queues->queue_lock);
	*reg = (*reg & ~mask) | (value & mask);
	raw_spin_unlock(&queues->queue_lock);
	mutex_unlock(&queues->config_lock);
}

static int soft_regs_write_chan(struct soft_channel *ch, u32 reg, u32 value)
{
	switch (reg) {
	case VGPU_HW_CHAN_CTRL:
		if (value & ~VGPU_HW_CTRL_BITS)
			return -EINVAL;
		mutex_lock(&ch->queues->config_lock);
		soft_channel_write_ctrl(ch, value);
		mutex_unlock(&ch->queues->config_lock);
		return 0;
	case VGPU_HW_CHAN_RING:
		soft_regs_write_latched(ch->queues, &ch->ring, value, U32_MAX);
		return 0;
	case VGPU_HW_CHAN_RING + 4:
		soft_regs_write_latched(ch->queues, &ch->ring, (u64)value << 32,
					(u64)U32_MAX << 32);
		return 0;
	case VGPU_HW_CHAN_ROOT:
		if (!soft_walk_value_ok(value))
			return -EINVAL;
		soft_regs_write_latched(ch->queues, &ch->root, value, U64_MAX);
		return 0;
	case VGPU_HW_CHAN_DOORBELL:
		soft_channel_doorbell(ch);
		return 0;
	default:
		return -ENXIO;
	}
}

static noinline int soft_regs_write(struct soft_queues *queues, u64 offset, const void *buf,
				    size_t count)
{
	struct soft_channel *ch;
	__le32 word;
	__le64 whole;
	u32 reg;
	int ret;

	if (count != 4 && count != 8)
		return -EINVAL;
	ret = soft_regs_find(queues, offset, &ch, &reg);
	if (ret)
		return ret;
	if (count == 8) {
		if (!ch || reg != VGPU_HW_CHAN_RING)
			return -EINVAL;
		memcpy(&whole, buf, 8);
		soft_regs_write_latched(queues, &ch->ring, le64_to_cpu(whole), U64_MAX);
		return 0;
	}
	memcpy(&word, buf, 4);
	if (ch)
		return soft_regs_write_chan(ch, reg, le32_to_cpu(word));
	return soft_regs_write_dev(queues, reg, le32_to_cpu(word));
}

/**
 * soft_regs_vga_rw() - access the window of VGA registers in BAR 2
 * @display: display of the vGPU
 * @offset: offset in BAR 2, below VGPU_HW_DEV_BASE
 * @buf: kernel memory, little endian
 * @count: bytes, any number
 * @write: write the registers, else read them
 * Context: does not sleep.
 * Return: 0; -EINVAL for a width or an alignment that is not allowed.
 */
int soft_regs_vga_rw(struct soft_display *display, u64 offset, void *buf, size_t count, bool write)
{
	if (!is_power_of_2(count) || count > 8 || offset & (count - 1))
		return -EINVAL;
	if (display->info->vga)
		soft_display_rw(display, offset, buf, count, write);
	else if (!write)
		memset(buf, 0xff, count);
	return 0;
}

/**
 * soft_regs_rw() - access a register of the device or of a channel
 * @queues: queues of the vGPU
 * @offset: offset in BAR 2, at least VGPU_HW_DEV_BASE
 * @buf: kernel memory, little endian
 * @count: bytes, any number
 * @write: write the register, else read it
 * Context: sleeps; a write that disables a channel, or invalidates, waits for engines.
 * Return: 0; VGPU_REGION_RESET; -EINVAL for a width, an alignment or a value that is not
 * allowed; -ENXIO for no such register.
 */
int soft_regs_rw(struct soft_queues *queues, u64 offset, void *buf, size_t count, bool write)
{
	int ret;

	/* The fast path: most accesses read 4 bytes, and polling drivers wait for them. */
	if (likely(count == 4 && !write && offset < VGPU_HW_REGS_SIZE && !(offset % 4))) {
		ret = soft_regs_read_word(queues, offset, buf);
		cpu_to_le32s(buf);
		return ret;
	}
	if (!is_power_of_2(count) || count > 8 || offset & (count - 1))
		return -EINVAL;
	if (offset >= VGPU_HW_REGS_SIZE)
		return -ENXIO;
	if (write)
		return soft_regs_write(queues, offset, buf, count);
	return soft_regs_read(queues, offset, buf, count);
}
