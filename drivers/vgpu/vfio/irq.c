// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts of a vGPU: MSI-X vectors, and the request to release the device. Each is an eventfd.
 *
 * Delivery of a vector depends on the eventfd that VFIO_DEVICE_SET_IRQS has set, and on bus
 * mastering. It does not depend on the enable bit in configuration space, nor on the mask bits
 * that the table has after a reset: monitors emulate both, and have tables of their own. A
 * vector is masked only if the user has written its vector control word in this table.
 *
 * A vector that cannot be delivered stays pending until it can. A vector that is raised before
 * the user has set any eventfd is dropped, as on hardware whose MSI-X is disabled.
 *
 * Signalling an eventfd runs everything that its user has attached to it, which can be hundreds of
 * thousands of epoll watchers. So an engine that raises a vector, or a thread that removes the
 * device, only sets a pending bit and wakes the vGPU's interrupt thread, which runs while the
 * device is open. If a vector is raised again before the thread has signalled it, the two become
 * one interrupt, as with any MSI.
 */
#include <linux/bitmap.h>
#include <linux/eventfd.h>
#include <linux/kthread.h>
#include <linux/nospec.h>
#include <linux/pci_regs.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "config.h"
#include "irq.h"
#include "region.h"

#define IRQ_CTRL_MASK		0x1
#define IRQ_ADDRESS_MASK	(~0x3U)

/**
 * vgpu_irq_init() - initialise the locks of a new vGPU's interrupts
 * @irqs: zeroed; released by vgpu_irq_free()
 */
void vgpu_irq_init(struct vgpu_irqs *irqs)
{
	mutex_init(&irqs->lock);
	raw_spin_lock_init(&irqs->raise_lock);
	rcuwait_init(&irqs->wait);
}

/**
 * vgpu_irq_setup() - set up the interrupts of a new vGPU
 * @irqs: after vgpu_irq_init()
 * @instance: the vGPU
 * @regions: its regions
 * @state: where vgpu_config_state() of its configuration space is read
 *
 * Return: 0 or -ENOMEM.
 */
int vgpu_irq_setup(struct vgpu_irqs *irqs, struct vgpu_instance *instance,
		   const struct vgpu_regions *regions, const unsigned int *state)
{
	unsigned int vectors = regions->vectors;

	irqs->instance = instance;
	irqs->state = state;
	irqs->pba = regions->msix_pba;
	if (!vectors)
		return 0;
	irqs->trigger = kcalloc(vectors, sizeof(*irqs->trigger), GFP_KERNEL_ACCOUNT);
	/* Users read the pending bits in words of 64. */
	irqs->pending = bitmap_zalloc(ALIGN(vectors, 64), GFP_KERNEL_ACCOUNT);
	irqs->masked = bitmap_zalloc(vectors, GFP_KERNEL_ACCOUNT);
	irqs->table = kcalloc(vectors, VGPU_MSIX_ENTRY_SIZE, GFP_KERNEL_ACCOUNT);
	if (!irqs->trigger || !irqs->pending || !irqs->masked || !irqs->table)
		return -ENOMEM;
	irqs->nr = vectors;
	vgpu_irq_reset(irqs);
	return 0;
}

/* Undoes vgpu_irq_init() and vgpu_irq_setup(), even if vgpu_irq_setup() has failed. */
void vgpu_irq_free(struct vgpu_irqs *irqs)
{
	kfree(irqs->table);
	bitmap_free(irqs->masked);
	bitmap_free(irqs->pending);
	kfree(irqs->trigger);
	mutex_destroy(&irqs->lock);
}

/**
 * vgpu_irq_count() - tell the number of interrupts of an index
 * @irqs: the vGPU's interrupts
 * @index: VFIO_PCI_*_IRQ_INDEX, or any other number
 *
 * Return: the number of interrupts; 0 if the vGPU has none of this index.
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

static bool irq_can_deliver(const struct vgpu_irqs *irqs, unsigned int vector)
{
	lockdep_assert_held(&irqs->lock);
	return irqs->trigger[vector] && !irqs->held && !test_bit(vector, irqs->masked) &&
	       READ_ONCE(*irqs->state) & VGPU_CONFIG_MASTER;
}

/* Clears a pending bit, and tells whether it was set. A vector raised later is signalled again. */
static bool irq_take(struct vgpu_irqs *irqs, unsigned int vector)
{
	bool was;

	raw_spin_lock(&irqs->raise_lock);
	was = __test_and_clear_bit(vector, irqs->pending);
	raw_spin_unlock(&irqs->raise_lock);
	return was;
}

/* Clears @flag, one of those that raise_lock protects, and tells whether it was set. */
static bool irq_take_flag(struct vgpu_irqs *irqs, bool *flag)
{
	bool was;

	raw_spin_lock(&irqs->raise_lock);
	was = *flag;
	*flag = false;
	raw_spin_unlock(&irqs->raise_lock);
	return was;
}

/* Signals what is pending. Releases the lock after each vector, so the user can mask the next. */
static void irq_deliver(struct vgpu_irqs *irqs)
{
	unsigned int vector;

	for_each_set_bit(vector, irqs->pending, irqs->nr) {
		mutex_lock(&irqs->lock);
		if (irq_can_deliver(irqs, vector) && irq_take(irqs, vector))
			eventfd_signal(irqs->trigger[vector]);
		mutex_unlock(&irqs->lock);
		cond_resched();
	}
	mutex_lock(&irqs->lock);
	if (irq_take_flag(irqs, &irqs->request_pending) && irqs->request)
		eventfd_signal(irqs->request);
	mutex_unlock(&irqs->lock);
}

static int irq_thread(void *data)
{
	struct vgpu_irqs *irqs = data;

	for (;;) {
		bool kicked = false;

		rcuwait_wait_event(&irqs->wait,
				   (kicked = irq_take_flag(irqs, &irqs->kicked)) ||
				   kthread_should_stop(), TASK_IDLE);
		if (!kicked)
			return 0;
		irq_deliver(irqs);
		/* A guest may always have the next interrupt: it never sleeps then. */
		cond_resched_tasks_rcu_qs();
	}
}

/**
 * vgpu_irq_start() - start the thread that signals interrupts
 * @irqs: interrupts of a vGPU that is being opened
 *
 * Sleeps.
 *
 * Return: 0, to be undone by vgpu_irq_stop(), or -errno.
 */
int vgpu_irq_start(struct vgpu_irqs *irqs)
{
	struct task_struct *task;

	task = vgpu_thread_run(irqs->instance, irq_thread, irqs, "vgpu-irq");
	if (IS_ERR(task))
		return PTR_ERR(task);
	irqs->task = task;
	return 0;
}

/* Wakes the interrupt thread, which signals what is pending. Does not sleep. */
static void irq_kick(struct vgpu_irqs *irqs)
{
	raw_spin_lock(&irqs->raise_lock);
	irqs->kicked = true;
	raw_spin_unlock(&irqs->raise_lock);
	rcuwait_wake_up(&irqs->wait);
}

/*
 * Raises a vector: marks it as pending and wakes the interrupt thread, which signals the eventfd.
 * @vector may be any number; those that the vGPU does not have are dropped. Process context; does
 * not sleep.
 */
void vgpu_irq_raise(struct vgpu_irqs *irqs, unsigned int vector)
{
	bool raised;

	if (vector >= irqs->nr)
		return;
	vector = array_index_nospec(vector, irqs->nr);
	raw_spin_lock(&irqs->raise_lock);
	raised = irqs->enabled && !__test_and_set_bit(vector, irqs->pending);
	if (raised)
		irqs->kicked = true;
	raw_spin_unlock(&irqs->raise_lock);
	if (raised)
		rcuwait_wake_up(&irqs->wait);
}

/**
 * vgpu_irq_master() - apply that bus mastering has been switched on or off
 * @irqs: the vGPU's interrupts; @irqs->state has already changed
 *
 * If bus mastering is on, the interrupt thread delivers pending vectors soon. If it is off, no
 * vector is delivered after this has returned. Sleeps.
 */
void vgpu_irq_master(struct vgpu_irqs *irqs)
{
	mutex_lock(&irqs->lock);
	mutex_unlock(&irqs->lock);
	irq_kick(irqs);
}

/**
 * vgpu_irq_hold() - signal no vector while the device stands still
 * @irqs: the vGPU's interrupts
 * @hold: true: no vector is signalled after this has returned; those that are raised stay pending.
 *        False: the interrupt thread delivers them soon
 *
 * VFIO's state STOP demands it. Sleeps.
 */
void vgpu_irq_hold(struct vgpu_irqs *irqs, bool hold)
{
	mutex_lock(&irqs->lock);
	irqs->held = hold;
	mutex_unlock(&irqs->lock);
	irq_kick(irqs);
}

/**
 * vgpu_irq_reset() - reset the interrupts
 * @irqs: the vGPU's interrupts. Afterwards none is pending, and the table is as after power-on.
 *        The user's eventfds stay, as with any VFIO device
 */
void vgpu_irq_reset(struct vgpu_irqs *irqs)
{
	unsigned int vector;
	u8 *entry;

	mutex_lock(&irqs->lock);
	raw_spin_lock(&irqs->raise_lock);
	bitmap_zero(irqs->pending, irqs->nr);
	raw_spin_unlock(&irqs->raise_lock);
	bitmap_zero(irqs->masked, irqs->nr);
	for (vector = 0; vector < irqs->nr; vector++) {
		entry = irqs->table + vector * VGPU_MSIX_ENTRY_SIZE;
		memset(entry, 0, VGPU_MSIX_ENTRY_SIZE);
		put_unaligned_le32(IRQ_CTRL_MASK, entry + PCI_MSIX_ENTRY_VECTOR_CTRL);
	}
	mutex_unlock(&irqs->lock);
}

static void irq_set_enabled(struct vgpu_irqs *irqs, bool enabled)
{
	lockdep_assert_held(&irqs->lock);
	raw_spin_lock(&irqs->raise_lock);
	irqs->enabled = enabled;
	if (!enabled)
		bitmap_zero(irqs->pending, irqs->nr);
	raw_spin_unlock(&irqs->raise_lock);
}

static void irq_disable_msix(struct vgpu_irqs *irqs)
{
	unsigned int vector;

	mutex_lock(&irqs->lock);
	irq_set_enabled(irqs, false);
	for (vector = 0; vector < irqs->nr; vector++) {
		if (irqs->trigger[vector])
			eventfd_ctx_put(irqs->trigger[vector]);
		irqs->trigger[vector] = NULL;
	}
	mutex_unlock(&irqs->lock);
}

static void irq_set_request(struct vgpu_irqs *irqs, struct eventfd_ctx *ctx)
{
	mutex_lock(&irqs->lock);
	if (irqs->request)
		eventfd_ctx_put(irqs->request);
	WRITE_ONCE(irqs->request, ctx);
	mutex_unlock(&irqs->lock);
}

/**
 * vgpu_irq_stop() - undo vgpu_irq_start(), and drop all eventfds of the user
 * @irqs: interrupts of a vGPU that is being closed; they are not raised any more
 *
 * Sleeps until the interrupt thread, which may be signalling an eventfd, has ended.
 */
void vgpu_irq_stop(struct vgpu_irqs *irqs)
{
	vgpu_thread_uncharge(irqs->task);
	irq_disable_msix(irqs);
	irq_set_request(irqs, NULL);
	kthread_stop(irqs->task);
	irqs->task = NULL;
	irqs->kicked = false;
	irqs->request_pending = false;
}

/**
 * vgpu_irq_request() - ask the user to release the device
 * @irqs: the vGPU's interrupts
 *
 * The interrupt thread signals the user's eventfd, so the user cannot delay the caller, who works
 * for the host's administrator. Does not sleep.
 *
 * Return: false if the user has set no eventfd for requests.
 */
bool vgpu_irq_request(struct vgpu_irqs *irqs)
{
	if (!READ_ONCE(irqs->request))
		return false;
	raw_spin_lock(&irqs->raise_lock);
	irqs->request_pending = true;
	irqs->kicked = true;
	raw_spin_unlock(&irqs->raise_lock);
	rcuwait_wake_up(&irqs->wait);
	return true;
}

/* Returns the eventfd of @fd; NULL for -1, which stands for no eventfd; or an ERR_PTR. */
static struct eventfd_ctx *irq_get_eventfd(s32 fd)
{
	if (fd == -1)
		return NULL;
	if (fd < 0)
		return ERR_PTR(-EINVAL);
	return eventfd_ctx_fdget(fd);
}

static int irq_set_msix_eventfds(struct vgpu_irqs *irqs, unsigned int start,
				 unsigned int count, const s32 *fds)
{
	struct eventfd_ctx **ctx;
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

	mutex_lock(&irqs->lock);
	for (i = 0; i < count; i++)
		swap(ctx[i], irqs->trigger[start + i]);
	irq_set_enabled(irqs, true);
	mutex_unlock(&irqs->lock);
	irq_kick(irqs);

	/* After the swap, ctx holds the eventfds that were replaced. */
put:
	for (i = 0; i < nr; i++)
		if (ctx[i])
			eventfd_ctx_put(ctx[i]);
	kfree(ctx);
	return ret;
}

/* A loopback test by the user: signals eventfds, whatever the function's state. */
static int irq_trigger_msix(struct vgpu_irqs *irqs, unsigned int start,
			    unsigned int count, const u8 *bools)
{
	unsigned int i;
	int ret = 0;

	mutex_lock(&irqs->lock);
	if (!irqs->enabled) {
		ret = -EINVAL;
		goto unlock;
	}
	for (i = 0; i < count; i++) {
		if (irqs->trigger[start + i] && (!bools || bools[i]))
			eventfd_signal(irqs->trigger[start + i]);
		cond_resched();
	}
unlock:
	mutex_unlock(&irqs->lock);
	return ret;
}

/* The same for the request to release the device. */
static int irq_trigger_request(struct vgpu_irqs *irqs)
{
	int ret = -EINVAL;

	mutex_lock(&irqs->lock);
	if (irqs->request) {
		eventfd_signal(irqs->request);
		ret = 0;
	}
	mutex_unlock(&irqs->lock);
	return ret;
}

static int irq_set_msix(struct vgpu_irqs *irqs, const struct vfio_irq_set *set, const void *data)
{
	switch (set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK) {
	case VFIO_IRQ_SET_DATA_NONE:
		if (!set->count) {
			irq_disable_msix(irqs);
			return 0;
		}
		return irq_trigger_msix(irqs, set->start, set->count, NULL);
	case VFIO_IRQ_SET_DATA_BOOL:
		return irq_trigger_msix(irqs, set->start, set->count, data);
	case VFIO_IRQ_SET_DATA_EVENTFD:
		return irq_set_msix_eventfds(irqs, set->start, set->count, data);
	default:
		return -EINVAL;
	}
}

static int irq_set_req(struct vgpu_irqs *irqs, const struct vfio_irq_set *set, const void *data)
{
	struct eventfd_ctx *ctx = NULL;
	const u8 *bools = data;
	const s32 *fds = data;

	switch (set->flags & VFIO_IRQ_SET_DATA_TYPE_MASK) {
	case VFIO_IRQ_SET_DATA_NONE:
		if (set->count)
			return irq_trigger_request(irqs);
		break;
	case VFIO_IRQ_SET_DATA_BOOL:
		if (!set->count)
			return -EINVAL;
		return bools[0] ? irq_trigger_request(irqs) : 0;
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
 * vgpu_irq_set() - serve VFIO_DEVICE_SET_IRQS
 * @irqs: the vGPU's interrupts
 * @set: the request; the caller has checked its range against vgpu_irq_count()
 * @data: kernel copy of the data that follow @set, as long as @set says; NULL if there are none
 *
 * A call that fails changes nothing. Sleeps.
 *
 * Return: 0, -EINVAL, -ENOTTY for an action other than a trigger, -ENOMEM, -EBADF.
 */
int vgpu_irq_set(struct vgpu_irqs *irqs, const struct vfio_irq_set *set, const void *data)
{
	if ((set->flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) != VFIO_IRQ_SET_ACTION_TRIGGER)
		return -ENOTTY;

	switch (set->index) {
	case VFIO_PCI_MSIX_IRQ_INDEX:
		return irq_set_msix(irqs, set, data);
	case VFIO_PCI_REQ_IRQ_INDEX:
		return irq_set_req(irqs, set, data);
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

static u8 irq_page_byte(const struct vgpu_irqs *irqs, u32 offset)
{
	u32 table_bytes = irqs->nr * VGPU_MSIX_ENTRY_SIZE;
	u32 pba_bytes = ALIGN(irqs->nr, 64) / 8;
	u32 pba = irqs->pba;

	lockdep_assert_held(&irqs->lock);
	if (offset < table_bytes)
		return irqs->table[array_index_nospec(offset, table_bytes)];
	if (offset >= pba && offset - pba < pba_bytes) {
		offset = array_index_nospec(offset - pba, pba_bytes);
		return bitmap_get_value8(irqs->pending, offset * 8);
	}
	return 0;
}

/**
 * vgpu_irq_table_rw() - access the page of the MSI-X table
 * @irqs: the vGPU's interrupts
 * @offset: offset in the page, naturally aligned
 * @buf: kernel memory, little endian
 * @len: 1, 2, 4 or 8 bytes
 * @write: write the table, else read the page
 *
 * Pending bits cannot be written. Bytes outside the table and the pending bits read 0. A vector is
 * pending from when it is raised until its eventfd is signalled. Sleeps.
 *
 * Return: 0, or -EINVAL for a write of less than 4 bytes.
 */
int vgpu_irq_table_rw(struct vgpu_irqs *irqs, u32 offset, void *buf, u32 len, bool write)
{
	u8 *bytes = buf;
	u32 i;

	if (write && len < 4)
		return -EINVAL;

	mutex_lock(&irqs->lock);
	if (!write) {
		for (i = 0; i < len; i++)
			bytes[i] = irq_page_byte(irqs, offset + i);
	} else if (offset < irqs->nr * VGPU_MSIX_ENTRY_SIZE) {
		offset = array_index_nospec(offset, irqs->nr * VGPU_MSIX_ENTRY_SIZE);
		for (i = 0; i < len; i += 4)
			irq_table_write(irqs, offset + i, get_unaligned_le32(bytes + i));
	}
	mutex_unlock(&irqs->lock);
	if (write)
		irq_kick(irqs);
	return 0;
}
