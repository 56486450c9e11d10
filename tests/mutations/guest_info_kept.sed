# SPDX-License-Identifier: GPL-2.0
# what: a reset keeps what the guest's driver says of itself
# file: channel.c
# lane: debug
# tests: region
s/queues->regs = regs;/queues->regs.intr = 0, queues->regs.fault_channel = ~0U;/
