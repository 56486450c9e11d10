# SPDX-License-Identifier: GPL-2.0
# what: pause: engines are asked to leave the vGPU, and not waited for
# file: pause.c
# lane: debug
# tests: pause
s/vgpu_entity_hold_sync(/vgpu_entity_hold(/
