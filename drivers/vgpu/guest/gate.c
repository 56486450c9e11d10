// SPDX-License-Identifier: GPL-2.0
/* The gate before the framebuffer: shut, programs wait that would take some. */
#include "device.h"

void guest_gate_init(struct guest_dev *gdev)
{
	init_waitqueue_head(&gdev->gate_queue);
	init_rwsem(&gdev->gate_sem);
}

int guest_gate_enter(struct guest_dev *gdev)
{
	for (;;) {
		if (wait_event_interruptible(gdev->gate_queue, !READ_ONCE(gdev->gate_shut)) ||
		    down_read_interruptible(&gdev->gate_sem))
			return -ERESTARTSYS;
		if (!READ_ONCE(gdev->gate_shut))
			return 0;
		up_read(&gdev->gate_sem);
	}
}

void guest_gate_leave(struct guest_dev *gdev)
{
	up_read(&gdev->gate_sem);
}

int guest_gate_shut(struct guest_dev *gdev)
{
	int ret;

	WRITE_ONCE(gdev->gate_shut, true);
	ret = down_write_killable(&gdev->gate_sem);
	if (!ret)
		up_write(&gdev->gate_sem);
	return ret;
}

void guest_gate_open(struct guest_dev *gdev)
{
	WRITE_ONCE(gdev->gate_shut, false);
	wake_up_all(&gdev->gate_queue);
}
