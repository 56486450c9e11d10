# SPDX-License-Identifier: GPL-2.0
# what: bounds: a fault at the end of the window does not count
# file: quarantine.c
# lane: unit
# tests: test_quarantine
/^bool vgpu_quarantine_fault/,/^}/s/> q->window_ns)/>= q->window_ns)/
