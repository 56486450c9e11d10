# SPDX-License-Identifier: GPL-2.0
# what: completion: each packet of a guest's job has an interrupt, not the last one only
# file: exec.c
# lane: driver
# tests: interrupts
s/job->packet\[job->nr - 1\].flags |= VGPU_HW_PKT_IRQ/for (u32 i = 0; i < job->nr; i++)\n\t\tjob->packet[i].flags |= VGPU_HW_PKT_IRQ/
