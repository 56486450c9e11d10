/* SPDX-License-Identifier: GPL-2.0 */
/* A vGPU in its VM: the function's BARs and registers, and what all topics share. */
#ifndef _VGPU_GUEST_DEVICE_H
#define _VGPU_GUEST_DEVICE_H

#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/stringify.h>
#include <linux/vgpu_hw.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/ttm/ttm_device.h>
#include <drm/ttm/ttm_resource.h>

#include "facts.h"
#include "fb.h"
#include "move.h"
#include "shown.h"

#define GUEST_NAME		"vgpu_guest"

/* The module's version: that of the interface, see vgpu_drm.h, and the patch level. */
#define GUEST_MAJOR		1
#define GUEST_MINOR		2
#define GUEST_PATCH		0
#define GUEST_VERSION		__stringify(GUEST_MAJOR) "." __stringify(GUEST_MINOR) "." \
				__stringify(GUEST_PATCH)

/* Clients have the lower half of the addresses; rings lie in the upper one. */
#define GUEST_VA_BITS		(VGPU_HW_VA_BITS - 1)

/* A field of the page of the channel that a queue, or what moves buffers, has. */
#define GUEST_PAGE_REG(owner, member)	((owner)->page + offsetof(struct vgpu_hw_channel, member))

struct guest_bo;
struct guest_queue;
struct guest_dev;
struct guest_time;

/**
 * struct guest_vector - what a handler of an MSI-X vector is called with
 * @gdev:  the device
 * @index: of the vector
 */
struct guest_vector {
	struct guest_dev *gdev;
	unsigned int index;
};

/**
 * struct guest_dev - a vGPU
 * @drm:          what users open
 * @regs:         BAR 2
 * @pages:        BAR 4, a page per channel
 * @fb:           the framebuffer, and who has what of it
 * @ttm:          buffers
 * @fb_man:       TTM's view of @fb
 * @system_man:   and of the guest's memory
 * @tt_mutex:     protects what follows
 * @tts:          buffers' pages that are mapped for DMA
 * @left:         the driver has left the device: nothing is mapped any more
 * @saving:       the guest's memory takes all of the framebuffer
 * @move:         the channel that moves buffers
 * @shown:        what the monitor may show
 * @room_mutex:   whose turn it is to look for framebuffer, of the jobs that have found none;
 *                outside of reservations
 * @passes:       source of &struct guest_vm.pass
 * @vm_mutex:     protects @vms; taken where fences are signalled, so no memory is allocated under
 *                it
 * @vms:          address spaces, until their tables are freed
 * @facts:        what the device has said at probe
 * @hw_version:   VGPU_HW_VERSION
 * @channels:     channels that queues can have
 * @nr_engines:   engines
 * @engine:       of each engine, its class << 8 | its instance
 * @fb_limit:     bytes of framebuffer to use, as tests want; 0: all
 * @type:         VGPU_HW_TYPE, or empty
 * @job_timeout:  jiffies that the engine may work on a packet
 * @nr_vectors:   MSI-X vectors, at least 2: 0 is for faults. Before guest_irq_init() those that the
 *                device has
 * @vector:       of each vector
 * @channel_mutex: held while a queue gets or loses a channel; protects what follows until @uses;
 *                taken where fences are signalled, so no memory is allocated under it
 * @lost:         the device has forgotten what the driver has told it: no queue gets a channel
 * @epoch:        how often all queues were ended
 * @queues:       all
 * @waiting:      those that wait for a channel, next first
 * @uses:         counts when channels begin to be used
 * @hand_on:      gives channels to those who wait
 * @watch:        looks at queues that have work
 * @watch_period: between two looks, in jiffies
 * @late_jobs:    jobs of which no interrupt has told; protected by @channel_mutex
 * @recover:      ends what was lost with @lost, and tells the device anew
 * @pm_nb:        is told when the guest begins to hibernate
 * @pm_reserve:   the guest's memory for what the monitor shows, or NULL: see pm.c
 * @gate_shut:    no program takes framebuffer
 * @gate_queue:   who waits for that to be over
 * @gate_sem:     held for reading by who has entered
 * @channel_lock: protects @channel, which changes with @channel_mutex held, too; taken by interrupt
 *                handlers
 * @channel:      the queue that has a channel, or NULL
 */
struct guest_dev {
	struct drm_device drm;
	u8 __iomem *regs;
	u8 __iomem *pages;
	struct guest_fb fb;
	struct ttm_device ttm;
	struct ttm_resource_manager fb_man;
	struct ttm_resource_manager system_man;
	struct mutex tt_mutex;		/* DMA mappings */
	struct list_head tts;
	bool left;
	bool saving;
	struct guest_move move;
	struct guest_shown shown;
	struct mutex room_mutex;	/* whose turn it is to look for framebuffer */
	atomic64_t passes;
	struct mutex vm_mutex;		/* vms */
	struct list_head vms;
	struct guest_facts facts;
	u32 hw_version;
	u32 channels;
	u32 nr_engines;
	u32 engine[VGPU_HW_MAX_ENGINES];
	u64 fb_limit;
	u8 type[VGPU_HW_TYPE_BYTES];
	long job_timeout;
	unsigned int nr_vectors;
	struct guest_vector vector[VGPU_HW_VECTORS];
	struct mutex channel_mutex;	/* who has which channel */
	bool lost;
	u64 epoch;
	struct list_head queues;
	struct list_head waiting;
	u64 uses;
	struct work_struct hand_on;
	struct delayed_work watch;
	unsigned long watch_period;
	u64 late_jobs;
	struct work_struct recover;
	struct notifier_block pm_nb;
	struct guest_bo *pm_reserve;
	bool gate_shut;
	wait_queue_head_t gate_queue;
	struct rw_semaphore gate_sem;
	spinlock_t channel_lock;	/* channel[] */
	struct guest_queue *channel[VGPU_HW_MAX_CHANNELS];
};

/**
 * struct guest_file - an open file of the device
 * @vms:    VMs by id
 * @queues: queues by id
 * @time:   what its queues have used
 */
struct guest_file {
	struct xarray vms;
	struct xarray queues;
	struct guest_time *time;
};

/* Work that frees what a scheduler's own work cannot. */
extern struct workqueue_struct *guest_wq;

/* What schedulers do; not one for each, as a user can make many. */
extern struct workqueue_struct *guest_submit_wq;

/* Stops queues: fences wait for this, so nothing here waits for memory. */
extern struct workqueue_struct *guest_stop_wq;

static inline struct guest_dev *to_guest_dev(struct drm_device *drm)
{
	return container_of(drm, struct guest_dev, drm);
}

static inline u8 __iomem *guest_reg(struct guest_dev *gdev, u32 reg)
{
	return gdev->regs + VGPU_HW_DEV_BASE + reg;
}

/* Whether the host tells of engine time, of the due, and who the vGPU is. */
static inline bool guest_tells_usage(const struct guest_dev *gdev)
{
	return gdev->hw_version >= VGPU_HW_VERSION_1_3;
}

static inline u8 __iomem *guest_chan_reg(struct guest_dev *gdev, u32 channel, u32 reg)
{
	return gdev->regs + VGPU_HW_CHAN_BASE + channel * VGPU_HW_CHAN_STRIDE + reg;
}

/* Keep the device's memory and the module's text for as long as what outlives a file. */
void guest_dev_get(struct guest_dev *gdev);
void guest_dev_put(struct guest_dev *gdev);

/* The workqueues; they are drained when they end. */
int guest_work_init(void);
void guest_work_fini(void);

/* Finds out what the function is, and makes its BARs usable. */
int guest_dev_init(struct guest_dev *gdev);

/* Whether the device is still the one that it was. */
bool guest_dev_same(struct guest_dev *gdev);

/* Drops all that the device does and knows. The caller knows that the registers are there. */
void guest_dev_reset(struct guest_dev *gdev);

/* Whether the device was reset by somebody else: it has the driver's name no longer. */
bool guest_dev_forgot(struct guest_dev *gdev);

/* No queue gets a channel any more, and those that there are do not go on. */
static inline void guest_dev_drop(struct guest_dev *gdev)
{
	lockdep_assert_held(&gdev->channel_mutex);
	gdev->lost = true;
	gdev->epoch++;
}

/* Likewise, and sees to it that the device is told anew. */
static inline void guest_dev_lost(struct guest_dev *gdev)
{
	if (gdev->lost)
		return;
	guest_dev_drop(gdev);
	queue_work(guest_stop_wq, &gdev->recover);
}

int guest_recover_init(struct guest_dev *gdev);
extern const struct pci_error_handlers guest_recover_handlers;

/* Ends all queues that there are with @error. */
void guest_recover_drop(struct guest_dev *gdev, int error);

/* Tells a device that was reset what it has to know, and gives queues channels again. */
void guest_recover_tell(struct guest_dev *gdev);

extern const struct dev_pm_ops guest_pm_ops;
int guest_pm_init(struct guest_dev *gdev);

/*
 * Who takes framebuffer for programs is between guest_gate_enter(), which waits while the gate is
 * shut, and guest_gate_leave(). Reservations are locked behind it. Returns -ERESTARTSYS if a signal
 * comes: the ioctl begins anew.
 */
void guest_gate_init(struct guest_dev *gdev);
int guest_gate_enter(struct guest_dev *gdev);
void guest_gate_leave(struct guest_dev *gdev);

/* Waits for those that have entered. Returns -EINTR, and the gate is shut, if it is killed. */
int guest_gate_shut(struct guest_dev *gdev);
void guest_gate_open(struct guest_dev *gdev);

int guest_watch_init(struct guest_dev *gdev);

/* Sees to it that queues with work are looked at: now and then, and (@now) at once. Any context. */
static inline void guest_watch_begin(struct guest_dev *gdev, bool now)
{
	if (now)
		mod_delayed_work(guest_stop_wq, &gdev->watch, 0);
	else
		queue_delayed_work(guest_stop_wq, &gdev->watch, gdev->watch_period);
}

/* Asks for interrupts. */
int guest_irq_init(struct guest_dev *gdev);

/* The vector by which a channel tells of its packets. */
static inline u16 guest_irq_vector(struct guest_dev *gdev, u32 channel)
{
	return 1 + channel % (gdev->nr_vectors - 1);
}

/* Fills in whose a queue is: the current process's. */
void guest_label_make(struct vgpu_hw_label *label, const struct drm_file *file);

/* Writes that into a channel's page. */
void guest_label_write(struct guest_dev *gdev, u32 channel, const struct vgpu_hw_label *label);

/* Finds out who the vGPU is. */
void guest_usage_init(struct guest_dev *gdev);

/* Sets @uuid, if the host tells it: another one when the VM has moved. Within drm_dev_enter(). */
void guest_usage_uuid(struct guest_dev *gdev, u8 *uuid);
int guest_usage_query_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

/* Of &struct drm_driver. */
void guest_debugfs_init(struct drm_minor *minor);

/* Prints what fdinfo has of an open file. */
void guest_fdinfo(struct drm_printer *p, struct drm_file *file);

/* Tells the host which driver and which OS this is. */
void guest_label_driver(struct guest_dev *gdev);

#endif /* _VGPU_GUEST_DEVICE_H */
