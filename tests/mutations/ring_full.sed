# SPDX-License-Identifier: GPL-2.0
# what: bounds: a ring of which each packet is in use faults
# file: exec.c
# lane: debug
# tests: submit fault
s/put - ch->get > (u64)ch->ring_mask + 1)/put - ch->get > (u64)ch->ring_mask)/
