# SPDX-License-Identifier: GPL-2.0
# what: order: of idle queues, the one that has used its channel last loses it
# file: channel.c
# lane: driver
# tests: channels_oldest
/^static bool channel_find(/,/^}/s/owner->used < oldest->used/owner->used > oldest->used/
