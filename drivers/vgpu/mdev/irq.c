// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts of a vGPU: MSI-X vectors and the request to let go, by eventfd.
 *
 * Delivery of a vector depends on the eventfd that VFIO_DEVICE_SET_IRQS has set
 * and on bus mastering. It does not depend on the enable bit in configuration
 * space, nor on the mask bits in which the table here comes up: monitors
 * emulate both, and their tables are not this one. Only a user who writes a
 * vector control word here masks by it.
 *
 * What cannot be delivered stays pending and is when it can. A vector raised
 * before the user has set any eventfd is dropped, as with MSI-X disabled.
 */
#include <linux/bitmap.h>
#include <linux/eventfd.h>
#include <linux/nospec.h>
#include <linux/pci_regs.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "mdev.h"

#define IRQ_CTRL_MASK		0x1
#define IRQ_ADDRESS_MASK	(~0x3U)

/**
 * vgpu_irq_init() - set up the interrupts of a new vGPU
 * @irqs: zeroed, its lock initialised
 * @vectors: MSI-X vectors, may be 0
 *
 * Return: 0 or -ENOMEM; undone by vgpu_irq_free() in either case.
 */
int vgpu_irq_init(struct vgpu_irqs *irqs, unsigned int vectors)
{
	if (!vectors)
		return 0;
	irqs->trigger = kcalloc(vectors, sizeof(*irqs->trigger),
				GFP_KERNEL_ACCOUNT);
	/* The pending bits are read in words of 64. */
	irqs->pending = bitmap_zalloc(ALIGN(vectors, 64), GFP_KERNEL_ACCOUNT);
	irqs->masked = bitmap_zalloc(vectors, GFP_KERNEL_ACCOUNT);
	irqs->table = kcalloc(vectors, VGPU_MSIX_ENTRY_SIZE,
			      GFP_KERNEL_ACCOUNT);
	if (!irqs->trigger || !irqs->pending || !irqs->masked || !irqs->table)
		return -ENOMEM;
	irqs->nr = vectors;
	vgpu_irq_reset(irqs);
	return 0;
}

/**
 * vgpu_irq_free() - free what vgpu_irq_init() allocated
 * @irqs: disabled, or never set up
 */
void vgpu_irq_free(struct vgpu_irqs *irqs)
{
	kfree(irqs->table);
	bitmap_free(irqs->masked);
	bitmap_free(irqs->pending);
	kfree(irqs->trigger);
}

/**
 * vgpu_irq_count() - interrupts of an index
 * @irqs: of the vGPU
 * @index: VFIO_PCI_*_IRQ_INDEX
 *
 * Return: how many, 0 if there are none.
 */
unsigned int vgpu_irq_count(const struct vgpu_irqs *irqs, unsigned int index)
{
	switch (index) {
	case VFIO_PCI_MSIX_IRQ_INDEX:
		return irqs->nr;
	case VFIO_PCI_REQ_IRQ_INDEX:
		return 1;
	default:
		return 0;
	}
}

static bool irq_can_deliver(struct vgpu_mdev *dev, unsigned int vector)
{
	const struct vgpu_irqs *irqs = &dev->irqs;

	lockdep_assert_held(&irqs->lock);
	/*
	 * The state changes before vgpu_irq_flush() takes the lock, so either
	 * it is seen here, or the flush sees what is pending.
	 */
	return irqs->trigger[vector] && !test_bit(vector, irqs->masked) &&
	       READ_ONCE(dev->state) & VGPU_CONFIG_MASTER;
}

static void irq_flush_locked(struct vgpu_mdev *dev)
{
	struct vgpu_irqs *irqs = &dev->irqs;
	unsigned int vector;

	lockdep_assert_held(&irqs->lock);
	for_each_set_bit(vector, irqs->pending, irqs->nr) {
		if (!irq_can_deliver(dev, vector))
			continue;
		__clear_bit(vector, irqs->pending);
		eventfd_signal(irqs->trigger[vector]);
	}
}

/**
 * vgpu_irq_raise() - raise a vector
 * @dev: the vGPU
 * @vector: of the back end's choice; dropped if there is no such one
 *
 * Any context.
 */
void vgpu_irq_raise(struct vgpu_mdev *dev, unsigned int vector)
{
	struct vgpu_irqs *irqs = &dev->irqs;
	unsigned long flags;

	if (vector >= irqs->nr)
		return;
	vector = array_index_nospec(vector, irqs->nr);
	spin_lock_irqsave(&irqs->lock, flags);
	if (irq_can_deliver(dev, vector))
		eventfd_signal(irqs->trigger[vector]);
	else if (irqs->enabled)
		__set_bit(vector, irqs->pending);
	spin_unlock_irqrestore(&irqs->lock, flags);
}

/**
 * vgpu_irq_flush() - deliver what has been pending
 * @dev: has become bus master
 *
 * Any context.
 */
void vgpu_irq_flush(struct vgpu_mdev *dev)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->irqs.lock, flags);
	irq_flush_locked(dev);
	spin_unlock_irqrestore(&dev->irqs.lock, flags);
}

/**
 * vgpu_irq_reset() - reset of the device
 * @irqs: nothing is pending after, and the table is as after power-on; the
 *        user's eventfds stay, as with any VFIO device
 */
void vgpu_irq_reset(struct vgpu_irqs *irqs)
{
	unsigned long flags;
	unsigned int vector;
	u8 *entry;

	spin_lock_irqsave(&irqs->lock, flags);
	bitmap_zero(irqs->pending, irqs->nr);
	bitmap_zero(irqs->masked, irqs->nr);
	for (vector = 0; vector < irqs->nr; vector++) {
		entry = irqs->table + vector * VGPU_MSIX_ENTRY_SIZE;
		memset(entry, 0, VGPU_MSIX_ENTRY_SIZE);
		put_unaligned_le32(IRQ_CTRL_MASK,
				   entry + PCI_MSIX_ENTRY_VECTOR_CTRL);
	}
	spin_unlock_irqrestore(&irqs->lock, flags);
}

static void irq_disable_msix(struct vgpu_irqs *irqs)
{
	struct eventfd_ctx *old;
	unsigned long flags;
	unsigned int vector;

	spin_lock_irqsave(&irqs->lock, flags);
	irqs->enabled = false;
	bitmap_zero(irqs->pending, irqs->nr);
	spin_unlock_irqrestore(&irqs->lock, flags);

	for (vector = 0; vector < irqs->nr; vector++) {
		spin_lock_irqsave(&irqs->lock, flags);
		old = irqs->trigger[vector];
		irqs->trigger[vector] = NULL;
		spin_unlock_irqrestore(&irqs->lock, flags);
		if (old)
			eventfd_ctx_put(old);
	}
}

static struct eventfd_ctx *irq_swap_request(struct vgpu_irqs *irqs,
					    struct eventfd_ctx *ctx)
{
	struct eventfd_ctx *old;
	unsigned long flags;

	spin_lock_irqsave(&irqs->lock, flags);
	old = irqs->request;
	irqs->request = ctx;
	spin_unlock_irqrestore(&irqs->lock, flags);
	return old;
}

static void irq_set_request(struct vgpu_irqs *irqs, struct eventfd_ctx *ctx)
{
	struct eventfd_ctx *old = irq_swap_request(irqs, ctx);

	if (old)
		eventfd_ctx_put(old);
}

/**
 * vgpu_irq_disable() - drop all the user's eventfds
 * @irqs: of a vGPU that is being closed
 */
void vgpu_irq_disable(struct vgpu_irqs *irqs)
{
	irq_disable_msix(irqs);
	irq_set_request(irqs, NULL);
}

/**
 * vgpu_irq_request() - ask the user to let go of the device
 * @irqs: of the vGPU
 *
 * Return: whether the user wants to be asked.
 */
bool vgpu_irq_request(struct vgpu_irqs *irqs)
{
	unsigned long flags;
	bool asked;

	spin_lock_irqsave(&irqs->lock, flags);
	asked = irqs->request;
	if (asked)
		eventfd_signal(irqs->request);
	spin_unlock_irqrestore(&irqs->lock, flags);
	return asked;
}

/* -1 is no eventfd. */
static struct eventfd_ctx *irq_get_eventfd(s32 fd)
{
	if (fd == -1)
		return NULL;
	if (fd < 0)
		return ERR_PTR(-EINVAL);
	return eventfd_ctx_fdget(fd);
}

static int irq_set_msix_eventfds(struct vgpu_mdev *dev, unsigned int start,
				 unsigned int count, const s32 *fds)
{
	struct vgpu_irqs *irqs = &dev->irqs;
	struct eventfd_ctx **ctx;
	unsigned long flags;
	unsigned int i, nr;
	int ret = 0;

	ctx = kcalloc(count, sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return -ENOMEM;
	for (nr = 0; nr < count; nr++) {
		ctx[nr] = irq_get_eventfd(fds[nr]);
		if (IS_ERR(ctx[nr])) {
			ret = PTR_ERR(ctx[nr]);
			goto put;
		}
	}

	spin_lock_irqsave(&irqs->lock, flags);
	for (i = 0; i < count; i++)
		swap(ctx[i], irqs->trigger[start + i]);
	irqs->enabled = true;
	irq_flush_locked(dev);
	spin_unlock_irqrestore(&irqs->lock, flags);

	/* On success ctx holds the old ones. */
put:
	for (i = 0; i < nr; i++)
		if (ctx[i])
			eventfd_ctx_put(ctx[i]);
	kfree(ctx);
	return ret;
}

/* The user triggers by hand: a loopback test, whatever the function's state. */
static int irq_trigger_msix(struct vgpu_irqs *irqs, unsigned int start,
			    unsigned int count, const u8 *bools)
{
	unsigned long flags;
	unsigned int i;
	int ret = 0;

	spin_lock_irqsave(&irqs->lock, flags);
	if (!irqs->enabled) {
		ret = -EINVAL;
		goto unlock;
	}
	for (i = 0; i < count; i++) {
		if (irqs->trigger[start + i] && (!bools || bools[i]))
			eventfd_signal(irqs->trigger[start + i]);
	}
unlock:
	spin_unlock_irqrestore(&irqs->lock, flags);
	return ret;
}

static int irq_set_msix(struct vgpu_mdev *dev, const struct vfio_irq_set *set,
			const void *data)
{
	switch (set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK) {
	case VFIO_IRQ_SET_DATA_NONE:
		if (!set->count) {
			irq_disable_msix(&dev->irqs);
			return 0;
		}
		return irq_trigger_msix(&dev->irqs, set->start, set->count,
					NULL);
	case VFIO_IRQ_SET_DATA_BOOL:
		return irq_trigger_msix(&dev->irqs, set->start, set->count,
					data);
	case VFIO_IRQ_SET_DATA_EVENTFD:
		return irq_set_msix_eventfds(dev, set->start, set->count, data);
	default:
		return -EINVAL;
	}
}

static int irq_set_req(struct vgpu_irqs *irqs, const struct vfio_irq_set *set,
		       const void *data)
{
	struct eventfd_ctx *ctx = NULL;
	const u8 *bools = data;
	const s32 *fds = data;

	switch (set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK) {
	case VFIO_IRQ_SET_DATA_NONE:
		if (set->count)
			return vgpu_irq_request(irqs) ? 0 : -EINVAL;
		break;
	case VFIO_IRQ_SET_DATA_BOOL:
		if (!set->count)
			return -EINVAL;
		if (bools[0] && !vgpu_irq_request(irqs))
			return -EINVAL;
		return 0;
	case VFIO_IRQ_SET_DATA_EVENTFD:
		if (!set->count)
			return -EINVAL;
		ctx = irq_get_eventfd(fds[0]);
		if (IS_ERR(ctx))
			return PTR_ERR(ctx);
		break;
	default:
		return -EINVAL;
	}
	irq_set_request(irqs, ctx);
	return 0;
}

/**
 * vgpu_irq_set() - VFIO_DEVICE_SET_IRQS
 * @dev: the vGPU
 * @set: checked against vgpu_irq_count()
 * @data: what follows it, as long as @set says; NULL if nothing does
 *
 * What fails has changed nothing. Sleeps.
 *
 * Return: 0, -EINVAL, -ENOTTY for an action that there is not, -ENOMEM, -EBADF.
 */
int vgpu_irq_set(struct vgpu_mdev *dev, const struct vfio_irq_set *set,
		 const void *data)
{
	if ((set->flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) !=
	    VFIO_IRQ_SET_ACTION_TRIGGER)
		return -ENOTTY;

	switch (set->index) {
	case VFIO_PCI_MSIX_IRQ_INDEX:
		return irq_set_msix(dev, set, data);
	case VFIO_PCI_REQ_IRQ_INDEX:
		return irq_set_req(&dev->irqs, set, data);
	default:
		return -EINVAL;
	}
}

static void irq_table_write(struct vgpu_irqs *irqs, u32 offset, u32 value)
{
	unsigned int vector = offset / VGPU_MSIX_ENTRY_SIZE;

	lockdep_assert_held(&irqs->lock);
	switch (offset % VGPU_MSIX_ENTRY_SIZE) {
	case PCI_MSIX_ENTRY_LOWER_ADDR:
		value &= IRQ_ADDRESS_MASK;
		break;
	case PCI_MSIX_ENTRY_VECTOR_CTRL:
		value &= IRQ_CTRL_MASK;
		__assign_bit(vector, irqs->masked, value);
		break;
	}
	put_unaligned_le32(value, irqs->table + offset);
}

static u8 irq_page_byte(const struct vgpu_mdev *dev, u32 offset)
{
	const struct vgpu_irqs *irqs = &dev->irqs;
	u32 table_bytes = irqs->nr * VGPU_MSIX_ENTRY_SIZE;
	u32 pba_bytes = ALIGN(irqs->nr, 64) / 8;
	u32 pba = dev->regions.msix_pba;

	lockdep_assert_held(&irqs->lock);
	if (offset < table_bytes)
		return irqs->table[array_index_nospec(offset, table_bytes)];
	if (offset >= pba && offset - pba < pba_bytes)
		return bitmap_get_value8(irqs->pending, (offset - pba) * 8);
	return 0;
}

/**
 * vgpu_irq_table_rw() - access to the page of the MSI-X table
 * @dev: the vGPU
 * @offset: in the page, naturally aligned
 * @buf: kernel memory, little endian
 * @len: 1, 2, 4 or 8
 * @write: direction
 *
 * Pending bits cannot be written, the rest of the page reads 0. Any context.
 *
 * Return: 0, or -EINVAL for a write of less than 4 bytes.
 */
int vgpu_irq_table_rw(struct vgpu_mdev *dev, u32 offset, void *buf, u32 len,
		      bool write)
{
	struct vgpu_irqs *irqs = &dev->irqs;
	unsigned long flags;
	u8 *bytes = buf;
	u32 i;

	if (write && len < 4)
		return -EINVAL;

	spin_lock_irqsave(&irqs->lock, flags);
	if (!write) {
		for (i = 0; i < len; i++)
			bytes[i] = irq_page_byte(dev, offset + i);
	} else if (offset < irqs->nr * VGPU_MSIX_ENTRY_SIZE) {
		for (i = 0; i < len; i += 4)
			irq_table_write(irqs, offset + i,
					get_unaligned_le32(bytes + i));
		irq_flush_locked(dev);
	}
	spin_unlock_irqrestore(&irqs->lock, flags);
	return 0;
}
