# SPDX-License-Identifier: GPL-2.0
# what: completion: the guest's driver misses an interrupt now and then
# file: irq.c
# lane: driver
# tests: interrupts
/^static irqreturn_t irq_done(/,/^}/s/if (gdev->channel\[i\])/if (gdev->channel[i] \&\& jiffies % 16)/
