# SPDX-License-Identifier: GPL-2.0
# what: quarantine: what an engine finds wrong itself counts
# file: fault.c
# lane: debug
# tests: contain
/^void vgpu_channel_fault/,/^}/s/code == VGPU_HW_FAULT_RESET/code != VGPU_HW_FAULT_MEMORY/
