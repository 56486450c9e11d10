// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <string.h>

#include "die.h"
#include "place.h"

#define PAGE		4096ull
#define PRIVATE_BYTES	64

static uint64_t take(struct vgpu_dev *dev, uint64_t bytes)
{
	uint64_t at;

	if (vgpu_fb_alloc(dev, bytes, PAGE, &at))
		bench_die("framebuffer: %s", vgpu_dev_error(dev));
	memset(dev->fb + at, 0, bytes);
	return at;
}

/* The head, and behind it the text. */
static uint64_t take_program(struct vgpu_dev *dev, const struct program *program)
{
	uint64_t at = take(dev, PAGE + program->nr * 4);
	struct vgpu_hw_program *head = (void *)(dev->fb + at);
	uint32_t *text = (void *)(dev->fb + at + PAGE), i;

	for (i = 0; i < program->nr; i++)
		text[i] = htole32(program->words[i]);
	head->magic = htole32(VGPU_HW_PROGRAM_MAGIC);
	head->image_bytes = htole32(program->nr * 4);
	head->text_bytes = htole32(program->nr * 4);
	head->image = htole64(at + PAGE);
	head->private_bytes = htole32(PRIVATE_BYTES);
	/* There may have been another program before. */
	if (vgpu_reg_write32(dev, VGPU_HW_DEV_BASE + VGPU_HW_INVALIDATE, 0))
		bench_die("invalidation: %s", vgpu_dev_error(dev));
	return at;
}

void place_program(struct place *place, const struct program *program)
{
	struct vgpu_dev *dev = place->dev;
	uint64_t bytes = (place->pages + 1) * PAGE;

	place->head = take_program(dev, program);
	place->args = take(dev, place->slots * sizeof(struct program_args));
	place->out = take(dev, 8ull * place->items * place->slots);
	if (!place->pages)
		return;
	place->memory = take(dev, bytes);
	memset(dev->fb + place->memory, PROGRAM_PATTERN & 0xff, bytes);
}

uint64_t *place_out(const struct place *place, uint32_t slot)
{
	return (uint64_t *)(place->dev->fb + place->out) + (size_t)slot * place->items;
}

struct vgpu_hw_packet place_packet(struct place *place, uint32_t slot, uint64_t rounds)
{
	uint64_t at = place->args + slot * sizeof(struct program_args);
	struct program_args *args = (void *)(place->dev->fb + at);

	*args = (struct program_args) {
		.rounds = htole64(rounds),
		.out = htole64(VGPU_HW_VA_GLOBAL + place->out + 8ull * slot * place->items),
		.memory = htole64(VGPU_HW_VA_GLOBAL + place->memory),
		.mask = htole64(place->pages ? (place->pages - 1) * PAGE : 0),
	};
	return (struct vgpu_hw_packet) {
		.type = VGPU_HW_PKT_DISPATCH,
		.dst = htole64(place->head),
		.src = htole64(at),
		.grid = { htole32(place->items), htole32(1), htole32(1) },
		.group = { htole16((uint16_t)place->items), htole16(1), htole16(1) },
	};
}
