# SPDX-License-Identifier: GPL-2.0
# what: due: what the vGPU that asks has used limits its due
# file: due.c
# lane: unit
# tests: test_due
s/if (self < k) {/if (0) {/
