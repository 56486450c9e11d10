// SPDX-License-Identifier: GPL-2.0
/* Programs in ELF files, and what they print: any bytes. */
#include <stdlib.h>
#include <string.h>

#include <linux/vgpu_hw.h>

#include "libvgpu/libvgpu_elf.h"
#include "libvgpu/libvgpu_log.h"

#define expect(condition) do {	\
	if (!(condition))	\
		abort();	\
} while (0)

static void check_kernel(const struct vgpu_elf *elf, const struct vgpu_kernel *kernel)
{
	const struct vgpu_arg *arg;
	unsigned int i;

	expect(kernel->entry < elf->text_bytes && kernel->entry % 4 == 0);
	expect(kernel->private_bytes <= VGPU_HW_PRIVATE_MAX && kernel->private_bytes % 16 == 0);
	expect(kernel->nr_args <= VGPU_KERNEL_ARGS);
	expect(vgpu_elf_kernel(elf, kernel->name) == kernel);
	for (i = 0; i < kernel->nr_args; i++) {
		arg = &kernel->arg[i];
		expect(vgpu_arg_type_name(arg->type));
		expect(arg->offset + vgpu_arg_type_bytes(arg->type) <= kernel->args_bytes);
	}
}

/* Each text of the image as a format, with arguments that are addresses in it, too. */
static void print_texts(const struct vgpu_elf *elf)
{
	static FILE *out;
	uint64_t arg[3] = { VGPU_HW_VA_IMAGE, ~0ull, elf->text_bytes + VGPU_HW_VA_IMAGE };
	uint64_t at = VGPU_HW_VA_IMAGE, end = at + elf->image_bytes;
	const char *text;

	if (elf->image_bytes > 512)
		end = at + 512;

	if (!out)
		out = fopen("/dev/null", "w");
	for (; at < end; at++) {
		text = vgpu_elf_text(elf, at);
		if (text && strlen(text) < 256)
			vgpu_log_format(elf, text, arg, 3, out);
		vgpu_elf_symbol(elf, at);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vgpu_elf elf;
	unsigned int i;

	if (vgpu_elf_parse(&elf, data, size)) {
		expect(elf.error[0] && !elf.image && !elf.kernel && !elf.symbol);
		return 0;
	}
	expect(elf.text_bytes && elf.text_bytes <= VGPU_HW_TEXT_MAX);
	expect(elf.image_bytes >= elf.text_bytes && elf.image_bytes <= VGPU_HW_IMAGE_MAX);
	expect(elf.local_bytes <= VGPU_HW_LOCAL_MAX && elf.nr_kernels);
	for (i = 0; i < elf.nr_kernels; i++)
		check_kernel(&elf, &elf.kernel[i]);
	print_texts(&elf);
	vgpu_elf_free(&elf);
	return 0;
}
