# SPDX-License-Identifier: GPL-2.0
# what: a move: the user sees the monitor that was there before
# file: load.c
# lane: debug
# tests: edid
/^int vgpu_load_finish/,/^}/{/vgpu_edid_region_reset/d}
