// SPDX-License-Identifier: GPL-2.0
#include "facts.h"

/* Each later 1.x has all that this one has. */
static bool version_known(u32 version)
{
	return version >> 16 == VGPU_HW_VERSION_1_2 >> 16 && version >= VGPU_HW_VERSION_1_2;
}

const char *guest_facts_wrong(const struct guest_facts *facts)
{
	if (facts->bar_regs < VGPU_HW_REGS_SIZE)
		return "registers";
	if (facts->id != VGPU_HW_ID_MAGIC)
		return "ID";
	if (!version_known(facts->version))
		return "version (1.2 or a later 1.x is needed)";
	/* The registers of that many channels are within VGPU_HW_REGS_SIZE. */
	if (!facts->channels || facts->channels > VGPU_HW_MAX_CHANNELS ||
	    facts->channels > facts->bar_pages / VGPU_HW_PAGE_SIZE)
		return "channels";
	if (!facts->fb_bytes || facts->fb_bytes % VGPU_HW_PAGE_SIZE ||
	    facts->fb_bytes > facts->bar_fb)
		return "framebuffer";
	if (!facts->nr_engines || facts->nr_engines > VGPU_HW_MAX_ENGINES)
		return "engines";
	if (facts->vectors < 2)
		return "interrupts";
	return NULL;
}
