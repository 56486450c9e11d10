# SPDX-License-Identifier: GPL-2.0
# what: owners: an address space ends with one of the processes that share it
# file: owner.c
# lane: debug
# tests: holder
/^static unsigned int vgpu_owner_value/,/^}/s/mm_flags_test(MMF_OOM_SKIP, holder->mm)/vgpu_mm_ending(holder->mm)/
