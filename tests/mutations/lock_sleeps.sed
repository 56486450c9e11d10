# SPDX-License-Identifier: GPL-2.0
# what: locks: a tenant may be stopped with the lock of a timeline
# file: timeline.h
# lane: rt
# tests: throttle
s/raw_spinlock_t lock;/spinlock_t lock;/
/#include "thread.h"/a\
#undef raw_spin_lock_irqsave\
#undef raw_spin_unlock_irqrestore\
#undef raw_spin_lock_init\
#define raw_spin_lock_irqsave spin_lock_irqsave\
#define raw_spin_unlock_irqrestore spin_unlock_irqrestore\
#define raw_spin_lock_init spin_lock_init\
#define HRTIMER_MODE_ABS_HARD HRTIMER_MODE_ABS
