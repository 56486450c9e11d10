# SPDX-License-Identifier: GPL-2.0
# what: completion: moves of the guest's driver end without an interrupt
# file: move.c
# lane: driver
# tests: interrupts
s/last = { .type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_IRQ }/last = { .type = VGPU_HW_PKT_FENCE }/
