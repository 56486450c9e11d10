// SPDX-License-Identifier: GPL-2.0
/* Whether a vGPU can take over the state of another. */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/string.h>
#ifdef __KERNEL__
#include <asm/byteorder.h>
#else
#include <endian.h>
#define le16_to_cpu(x)	le16toh(x)
#define le32_to_cpu(x)	le32toh(x)
#define le64_to_cpu(x)	le64toh(x)
#endif

#include "about.h"

#define TEXT_ROOM	(sizeof_field(struct vgpu_stream_about, type) + 1)

/* A text as it can be shown, whatever its bytes are. Returns @to, which has room for @size + 1. */
static const char *shown(const u8 *text, size_t size, char *to)
{
	size_t i;

	for (i = 0; i < size && text[i]; i++)
		to[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	to[i] = 0;
	return to;
}

/* Whether two texts are the same, which need not end within their fields. */
static bool same_text(const u8 *mine, const u8 *theirs, size_t size, const char *name, char *why,
		      size_t why_size)
{
	char here[TEXT_ROOM], there[TEXT_ROOM];

	if (!memcmp(mine, theirs, size))
		return true;
	snprintf(why, why_size, "%s is %s there, %s here", name, shown(theirs, size, there),
		 shown(mine, size, here));
	return false;
}

static bool same_number(u64 mine, u64 theirs, const char *name, char *why, size_t why_size)
{
	if (mine == theirs)
		return true;
	snprintf(why, why_size, "%s is %llu there, %llu here", name,
		 (unsigned long long)theirs, (unsigned long long)mine);
	return false;
}

/* A new vGPU of a type can be set to be what the other one is. */
static bool vga_fits(u32 mine, u32 theirs, char *why, size_t size)
{
	if (mine == VGPU_STREAM_VGA_ANY)
		return true;
	return same_number(mine, theirs, "VGA", why, size);
}

/* A minor version only adds what a driver for an older one does not look at. */
static bool hw_version_fits(u32 mine, u32 theirs, char *why, size_t size)
{
	if (mine >> 16 == theirs >> 16 && (u16)mine >= (u16)theirs)
		return true;
	snprintf(why, size, "hardware version is %u.%u there, %u.%u here", theirs >> 16,
		 theirs & 0xffff, mine >> 16, mine & 0xffff);
	return false;
}

static bool engines_fit(const struct vgpu_stream_about *mine,
			const struct vgpu_stream_about *theirs, char *why, size_t size)
{
	u32 i, nr = le32_to_cpu(mine->engines);

	if (!same_number(nr, le32_to_cpu(theirs->engines), "number of engines", why, size))
		return false;
	for (i = 0; i < min_t(u32, nr, VGPU_STREAM_ENGINES); i++) {
		if (mine->engine[i] == theirs->engine[i])
			continue;
		snprintf(why, size, "engine %u is %#x there, %#x here", i,
			 le32_to_cpu(theirs->engine[i]), le32_to_cpu(mine->engine[i]));
		return false;
	}
	return true;
}

/**
 * vgpu_about_fits() - tell whether a vGPU can take over the state of another
 * @mine: the vGPU that is to take it, or a new one of a type
 * @theirs: the one that it is from; any bytes
 * @why: set to what differs, if it cannot
 * @size: length of @why
 *
 * Context: any.
 * Return: whether it can.
 */
bool vgpu_about_fits(const struct vgpu_stream_about *mine,
		     const struct vgpu_stream_about *theirs, char *why, size_t size)
{
	if (memcmp(theirs->magic, VGPU_STREAM_MAGIC, sizeof(theirs->magic))) {
		snprintf(why, size, "not the state of a vGPU");
		return false;
	}
	if (le16_to_cpu(theirs->least) > le16_to_cpu(mine->version)) {
		snprintf(why, size, "made for version %u of the format and later, %u here",
			 le16_to_cpu(theirs->least), le16_to_cpu(mine->version));
		return false;
	}
	if (le16_to_cpu(theirs->version) < VGPU_STREAM_OLDEST) {
		snprintf(why, size, "made as version %u of the format, %u and later are read here",
			 le16_to_cpu(theirs->version), VGPU_STREAM_OLDEST);
		return false;
	}
	return same_text(mine->board, theirs->board, sizeof(mine->board), "board", why, size) &&
	       same_text(mine->type, theirs->type, sizeof(mine->type), "type", why, size) &&
	       hw_version_fits(le32_to_cpu(mine->hw_version), le32_to_cpu(theirs->hw_version),
			       why, size) &&
	       same_number(le64_to_cpu(mine->fb_bytes), le64_to_cpu(theirs->fb_bytes),
			   "framebuffer in bytes", why, size) &&
	       same_number(le32_to_cpu(mine->channels), le32_to_cpu(theirs->channels),
			   "number of channels", why, size) &&
	       same_number(le32_to_cpu(mine->heads), le32_to_cpu(theirs->heads),
			   "number of heads", why, size) &&
	       same_number(le32_to_cpu(mine->max_width), le32_to_cpu(theirs->max_width),
			   "largest width", why, size) &&
	       same_number(le32_to_cpu(mine->max_height), le32_to_cpu(theirs->max_height),
			   "largest height", why, size) &&
	       vga_fits(le32_to_cpu(mine->vga), le32_to_cpu(theirs->vga), why, size) &&
	       engines_fit(mine, theirs, why, size);
}

