/* SPDX-License-Identifier: GPL-2.0 */
/* Packets executed one byte after the other, on memory that a test has: for devices of tests. */
#ifndef FAKE_PACKET_H
#define FAKE_PACKET_H

#include <stdint.h>

#include "libvgpu/libvgpu.h"

/* Where the byte is that the device is to access (VGPU_HW_PTE_*) at an address, or NULL. */
typedef uint8_t *(*fake_reach_t)(void *data, uint64_t addr, uint32_t access);

/*
 * Executes a packet. @elf is the only program that can be dispatched: whatever its instructions
 * are, work-item i writes i + 1 to element i of the first argument. Where @reach, which gets @data,
 * finds nothing, @fault has a page fault.
 */
void fake_packet(const struct vgpu_hw_packet *p, const struct vgpu_elf *elf, fake_reach_t reach,
		 void *data, struct vgpu_fault *fault);

#endif /* FAKE_PACKET_H */
