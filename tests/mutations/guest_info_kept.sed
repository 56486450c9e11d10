# SPDX-License-Identifier: GPL-2.0
# what: a reset keeps what the guest's driver says of itself
# file: channel.c
# lane: debug
# tests: region
/memset(queues->guest_info, 0/d
