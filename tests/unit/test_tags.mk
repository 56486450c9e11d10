# SPDX-License-Identifier: GPL-2.0
SRCS_test_tags := drivers/vgpu/sched/qos.c
