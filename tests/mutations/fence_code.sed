# SPDX-License-Identifier: GPL-2.0
# what: in code of the CPU a full fence is none
# file: bpf.c
# lane: lab
# tests: units_fence
/^static void simt_bpf_fence/,/^}/s/!simt_fence_full(i->imm)/true/
