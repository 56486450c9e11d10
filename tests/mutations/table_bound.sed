# SPDX-License-Identifier: GPL-2.0
# what: bounds: page tables and pages that begin in the vGPU's framebuffer end behind it
# file: walk.c
# lane: unit
# tests: test_space_walk
/^static bool soft_walk_inside/,/^}/s/addr <= walk->fb_bytes - bytes/addr < walk->fb_bytes/
