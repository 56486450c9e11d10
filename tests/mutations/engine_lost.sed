# SPDX-License-Identifier: GPL-2.0
# what: a reload forgets on which engine a disabled channel was
# file: channel_state.c
# lane: debug
# tests: reload
/^\tif (state != VGPU_HW_STATE_DISABLED)$/d
