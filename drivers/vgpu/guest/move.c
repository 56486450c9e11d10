// SPDX-License-Identifier: GPL-2.0
/*
 * The driver's own channel: a copy engine moves and clears buffers, by physical addresses. No fence
 * waits for a move, and no user's job does, as who wants one waits for its end; so moving needs no
 * care for memory, and what the engine has not done the CPU can do.
 */
#include <drm/drm_managed.h>

#include "device.h"
#include "move.h"
#include "place.h"

#define RING_ORDER	8
#define RING_PACKETS	BIT(RING_ORDER)

/* A packet may take so long. An engine that has failed is tried again after that time, too. */
#define PATIENCE	(60 * HZ)

/* Among so many packets there is one with an interrupt. */
#define IRQ_EVERY	(RING_PACKETS / 4)

void guest_move_wake(struct guest_dev *gdev)
{
	wake_up_all(&gdev->move.wait);
}

static void move_enable(struct guest_dev *gdev)
{
	struct guest_move *move = &gdev->move;

	writeq(0, GUEST_PAGE_REG(move, put));
	writeq(move->ring, guest_chan_reg(gdev, move->channel, VGPU_HW_CHAN_RING));
	writel(0, guest_chan_reg(gdev, move->channel, VGPU_HW_CHAN_ROOT));
	writel(VGPU_HW_CTRL_ENABLE | move->engine << VGPU_HW_CTRL_ENGINE_SHIFT |
	       RING_ORDER << VGPU_HW_CTRL_ORDER_SHIFT,
	       guest_chan_reg(gdev, move->channel, VGPU_HW_CHAN_CTRL));
	move->on = true;
	move->put = 0;
	move->done = 0;
}

/* Returns when the engine has stopped. It is not asked again for some time. */
static void move_give_up(struct guest_dev *gdev)
{
	struct guest_move *move = &gdev->move;

	writel(0, guest_chan_reg(gdev, move->channel, VGPU_HW_CHAN_CTRL));
	readl(guest_chan_reg(gdev, move->channel, VGPU_HW_CHAN_CTRL));
	move->on = false;
	move->until = (jiffies + PATIENCE) | 1;
}

/* Whether so many packets are done, or never will be: the host may say anything. */
static bool move_looks_over(struct guest_dev *gdev, u64 want, bool *bad)
{
	struct guest_move *move = &gdev->move;
	u32 state = readl(GUEST_PAGE_REG(move, state));
	u64 get = readq(GUEST_PAGE_REG(move, get));

	/* What is enabled is disabled by a reset of the device only. */
	*bad = get < move->done || get > move->put || drm_dev_is_unplugged(&gdev->drm) ||
	       (state != VGPU_HW_STATE_SLEEPING && state != VGPU_HW_STATE_AWAKE);
	if (!*bad)
		move->done = get;
	return *bad || get >= want;
}

/* The time is that of one packet. An end of the device has no interrupt, so it is looked for. */
static int move_wait(struct guest_dev *gdev, u64 want)
{
	struct guest_move *move = &gdev->move;
	unsigned long start = jiffies;
	u64 done = move->done;
	bool bad = false;
	long left;

	while (!(left = wait_event_timeout(move->wait, move_looks_over(gdev, want, &bad), HZ))) {
		if (move->done != done) {
			done = move->done;
			start = jiffies;
		}
		if (time_after(jiffies, start + PATIENCE))
			return -ETIMEDOUT;
	}
	/* The time was over, and it was done: no interrupt has told of it. */
	if (left == 1 && !bad)
		WRITE_ONCE(move->late, move->late + 1);
	return bad ? -EIO : 0;
}

static void move_kick(struct guest_dev *gdev)
{
	struct guest_move *move = &gdev->move;

	wmb(); /* the device sees the packets before put */
	writeq(move->put, GUEST_PAGE_REG(move, put));
	mb(); /* put is stored before state is read */
	if (readl(GUEST_PAGE_REG(move, state)) != VGPU_HW_STATE_AWAKE)
		writel(1, guest_chan_reg(gdev, move->channel, VGPU_HW_CHAN_DOORBELL));
}

static int move_push(struct guest_dev *gdev, struct vgpu_hw_packet *packet)
{
	struct guest_move *move = &gdev->move;
	int ret;

	if (move->put - move->done == RING_PACKETS) {
		move_kick(gdev);
		ret = move_wait(gdev, round_down(move->done, IRQ_EVERY) + IRQ_EVERY);
		if (ret)
			return ret;
	}
	if ((move->put + 1) % IRQ_EVERY == 0)
		packet->flags |= VGPU_HW_PKT_IRQ;
	if (packet->flags & VGPU_HW_PKT_IRQ)
		packet->vector = cpu_to_le16(guest_irq_vector(gdev, move->channel));
	memcpy_toio(gdev->fb.cpu + move->ring + move->put % RING_PACKETS * sizeof(*packet), packet,
		    sizeof(*packet));
	move->put++;
	return 0;
}

/* Returns with the lock held, or -ENODEV if the CPU has to do it. */
static int move_begin(struct guest_dev *gdev)
{
	struct guest_move *move = &gdev->move;

	mutex_lock(&move->lock);
	if (xchg(&move->forgotten, false)) {
		move->on = false;
		move->until = 0;
	}
	if (move->until && time_after(jiffies, move->until))
		move->until = 0;
	if (!move->has || move->until) {
		mutex_unlock(&move->lock);
		return -ENODEV;
	}
	if (!move->on)
		move_enable(gdev);
	return 0;
}

/* @ret: of what has been pushed. Waits for the end, and drops the lock. */
static int move_end(struct guest_dev *gdev, int ret)
{
	struct vgpu_hw_packet last = { .type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_IRQ };
	struct guest_move *move = &gdev->move;

	if (!ret)
		ret = move_push(gdev, &last);
	if (!ret) {
		move_kick(gdev);
		ret = move_wait(gdev, move->put);
	}
	if (ret) {
		move_give_up(gdev);
		if (!drm_dev_is_unplugged(&gdev->drm))
			dev_warn_ratelimited(gdev->drm.dev,
					     "copy engine: %d; the CPU moves buffers\n", ret);
	}
	mutex_unlock(&move->lock);
	return ret;
}

int guest_move_copy(struct guest_dev *gdev, const struct guest_place *dst,
		    const struct guest_place *src)
{
	u32 flags = (dst->sys ? VGPU_HW_OP_DST_SYS : 0) | (src->sys ? VGPU_HW_OP_SRC_SYS : 0);
	u64 offset, bytes, dst_left, src_left;
	int ret;

	wmb(); /* the device finds what the CPU has written into the source */
	ret = move_begin(gdev);
	if (ret)
		return ret;
	for (offset = 0; !ret && offset < min(dst->bytes, src->bytes); offset += bytes) {
		struct vgpu_hw_packet packet = {
			.type = VGPU_HW_PKT_COPY,
			.op_flags = cpu_to_le32(flags),
			.dst = cpu_to_le64(guest_place_addr(dst, offset, &dst_left)),
			.src = cpu_to_le64(guest_place_addr(src, offset, &src_left)),
			.rows = cpu_to_le32(1),
		};

		bytes = min(dst_left, src_left);
		packet.width = cpu_to_le64(bytes);
		ret = move_push(gdev, &packet);
	}
	return move_end(gdev, ret);
}

int guest_move_clear(struct guest_dev *gdev, struct gpu_buddy_block *block)
{
	struct vgpu_hw_packet packet = {
		.type = VGPU_HW_PKT_FILL,
		.dst = cpu_to_le64(guest_fb_offset(block)),
		.width = cpu_to_le64(gpu_buddy_block_size(&gdev->fb.mm, block)),
		.rows = cpu_to_le32(1),
	};
	int ret;

	ret = move_begin(gdev);
	if (ret)
		return ret;
	return move_end(gdev, move_push(gdev, &packet));
}

void guest_move_forget(struct guest_dev *gdev)
{
	WRITE_ONCE(gdev->move.forgotten, true);
	guest_move_wake(gdev);
}

static void move_fini(struct drm_device *drm, void *res)
{
	struct guest_dev *gdev = to_guest_dev(drm);

	guest_fb_free_own(gdev, &gdev->move.blocks);
}

static bool find_engine(struct guest_dev *gdev)
{
	u32 i;

	for (i = 0; i < gdev->nr_engines; i++) {
		if (gdev->engine[i] >> 8 == VGPU_HW_ENGINE_CE) {
			gdev->move.engine = i;
			return true;
		}
	}
	return false;
}

int guest_move_init(struct guest_dev *gdev)
{
	struct guest_move *move = &gdev->move;
	int ret;

	init_waitqueue_head(&move->wait);
	INIT_LIST_HEAD(&move->blocks);
	ret = drmm_mutex_init(&gdev->drm, &move->lock);
	if (ret)
		return ret;
	if (gdev->channels < 2 || !find_engine(gdev))
		return 0;
	ret = guest_fb_take_own(gdev, RING_PACKETS * sizeof(struct vgpu_hw_packet), &move->blocks);
	if (ret)
		return ret;
	ret = drmm_add_action_or_reset(&gdev->drm, move_fini, NULL);
	if (ret)
		return ret;
	/* All of the framebuffer is free, so that is one block. */
	if (!list_is_singular(&move->blocks))
		return -ENOSPC;
	move->ring = guest_fb_offset(list_first_entry(&move->blocks, struct gpu_buddy_block, link));
	move->channel = --gdev->channels;
	move->page = gdev->pages + move->channel * VGPU_HW_PAGE_SIZE;
	move->has = true;
	return 0;
}
