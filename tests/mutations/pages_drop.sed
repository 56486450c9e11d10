# SPDX-License-Identifier: GPL-2.0
# what: INVALIDATE_PAGES drops decoded programs
# file: regs.c
# lane: debug
# tests: invalidate
s/if (reg == VGPU_HW_INVALIDATE)/if (reg)/
