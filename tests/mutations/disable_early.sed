# SPDX-License-Identifier: GPL-2.0
# what: order: a channel is taken apart while its engine works on it
# file: channel.c
# lane: debug
# tests: dispatch_stop
/^static void soft_channel_disable/,/^}/s/rcuwait_wait_event(&queues->wait, \(soft_channel_left(ch)\), TASK_UNINTERRUPTIBLE);/\1;/
