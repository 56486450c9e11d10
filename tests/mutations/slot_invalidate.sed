# SPDX-License-Identifier: GPL-2.0
# what: partitions: who invalidates translations waits for the next slot
# file: invalidate.c
# lane: debug
# tests: partition_time
s/rcuwait_wake_up(&queues->engine\[i\].lead.wake);/;/
