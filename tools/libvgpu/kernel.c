// SPDX-License-Identifier: GPL-2.0
/* Kernels, as an ELF file describes them: names, entries, types of arguments. */
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/vgpu_hw.h>

#include "elf_internal.h"

const struct vgpu_kernel *vgpu_elf_kernel(const struct vgpu_elf *elf, const char *name)
{
	unsigned int i;

	for (i = 0; i < elf->nr_kernels; i++)
		if (!strcmp(elf->kernel[i].name, name))
			return &elf->kernel[i];
	return NULL;
}

#define KERNELS_MAX	1024

_Static_assert(VGPU_KERNEL_NAME_LEN == VGPU_DEVICE_NAME_LEN, "names of kernels do not fit");

static const struct {
	const char *name;
	uint32_t bytes;
} types[] = {
	[VGPU_ARG_U32] = { "u32", 4 },
	[VGPU_ARG_I32] = { "i32", 4 },
	[VGPU_ARG_F32] = { "f32", 4 },
	[VGPU_ARG_U64] = { "u64", 8 },
	[VGPU_ARG_I64] = { "i64", 8 },
	[VGPU_ARG_F64] = { "f64", 8 },
	[VGPU_ARG_BUF] = { "buf", 8 },
	[VGPU_ARG_LOCAL] = { "local", 8 },
	[VGPU_ARG_LOG] = { "log", 8 },
};

#define NR_TYPES	(sizeof(types) / sizeof(types[0]))

void elf_tame(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

int elf_fail(struct vgpu_elf *elf, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(elf->error, sizeof(elf->error), fmt, ap);
	va_end(ap);
	elf_tame(elf->error);
	return -EINVAL;
}

const char *vgpu_arg_type_name(enum vgpu_arg_type type)
{
	return types[type].name;
}

uint32_t vgpu_arg_type_bytes(enum vgpu_arg_type type)
{
	return types[type].bytes;
}

static bool is_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	while (isalnum((unsigned char)*name) || *name == '_')
		name++;
	return !*name;
}

/* Takes the next word of @text, at most @room - 1 characters. */
static const char *next_word(const char *text, char *word, size_t room)
{
	size_t n;

	text += strspn(text, " \t");
	n = strcspn(text, " \t,");
	snprintf(word, room, "%.*s", n < room ? (int)n : 0, text);
	text += n;
	return text + strspn(text, " \t");
}

/* "TYPE NAME". Returns what is behind it, or NULL if it is something else. */
static const char *take_arg(const char *text, struct vgpu_arg *arg)
{
	char type[8];
	size_t i;

	text = next_word(text, type, sizeof(type));
	text = next_word(text, arg->name, sizeof(arg->name));
	for (i = 0; i < NR_TYPES; i++)
		if (!strcmp(type, types[i].name))
			break;
	if (i == NR_TYPES || !is_name(arg->name))
		return NULL;
	arg->type = (enum vgpu_arg_type)i;
	return text;
}

/* Lays the arguments out as a compiler does with a structure; returns its size. */
static uint32_t lay_out(struct vgpu_kernel *kernel)
{
	uint32_t end = 0, align = 1, bytes;
	unsigned int i;

	for (i = 0; i < kernel->nr_args; i++) {
		bytes = types[kernel->arg[i].type].bytes;
		end = (end + bytes - 1) & ~(bytes - 1);
		kernel->arg[i].offset = end;
		end += bytes;
		if (bytes > align)
			align = bytes;
	}
	return (end + align - 1) & ~(align - 1);
}

static int take_args(struct vgpu_elf *elf, struct vgpu_kernel *kernel, const char *text)
{
	const char *at = text + strspn(text, " \t");
	uint32_t bytes;

	while (*at) {
		if (kernel->nr_args == VGPU_KERNEL_ARGS)
			return elf_fail(elf, "kernel %s: more than %u arguments", kernel->name,
					VGPU_KERNEL_ARGS);
		at = take_arg(at, &kernel->arg[kernel->nr_args]);
		if (!at || (*at && *at != ',') || (*at == ',' && !at[1]))
			return elf_fail(elf, "kernel %s: \"%.100s\" are no arguments", kernel->name,
					text);
		kernel->nr_args++;
		at += *at == ',';
	}
	bytes = lay_out(kernel);
	if (bytes != kernel->args_bytes)
		return elf_fail(elf, "kernel %s: \"%.100s\" have %u bytes, its structure has %u",
				kernel->name, text, bytes, kernel->args_bytes);
	return 0;
}

static int take_kernel(struct vgpu_elf *elf, struct vgpu_device_kernel *from)
{
	struct vgpu_kernel *kernel = &elf->kernel[elf->nr_kernels];
	uint64_t entry = le64toh(from->entry) - VGPU_HW_VA_IMAGE;

	from->name[sizeof(from->name) - 1] = 0;
	from->args[sizeof(from->args) - 1] = 0;
	if (!is_name(from->name))
		return elf_fail(elf, "has a kernel without a name");
	if (vgpu_elf_kernel(elf, from->name))
		return elf_fail(elf, "has two kernels %s", from->name);
	memcpy(kernel->name, from->name, sizeof(kernel->name));
	kernel->private_bytes = le32toh(from->private_bytes);
	kernel->args_bytes = le32toh(from->args_bytes);
	if (entry >= elf->text_bytes || entry % 4)
		return elf_fail(elf, "kernel %s: entry %#llx is no instruction", kernel->name,
				(unsigned long long)le64toh(from->entry));
	kernel->entry = (uint32_t)entry;
	if (kernel->private_bytes % 16 || kernel->private_bytes > VGPU_HW_PRIVATE_MAX)
		return elf_fail(elf, "kernel %s: private memory of %u bytes: multiples of 16, up to %u, are possible",
				kernel->name, kernel->private_bytes, VGPU_HW_PRIVATE_MAX);
	elf->nr_kernels++;
	return take_args(elf, kernel, from->args);
}

int elf_take_kernels(const struct elf_file *file, struct vgpu_elf *elf, uint64_t offset,
		     uint64_t bytes)
{
	const uint8_t *at = elf_at(file, offset, bytes);
	struct vgpu_device_kernel kernel;
	uint64_t i, nr = bytes / sizeof(kernel);
	int ret = 0;

	if (!at || bytes % sizeof(kernel))
		return elf_fail(elf, "has a broken section %s", VGPU_DEVICE_KERNELS);
	if (nr > KERNELS_MAX)
		return elf_fail(elf, "has %llu kernels, more than %u", (unsigned long long)nr,
				KERNELS_MAX);
	elf->kernel = calloc(nr + 1, sizeof(*elf->kernel));
	if (!elf->kernel)
		return elf_fail(elf, "needs more memory than there is");
	for (i = 0; i < nr && !ret; i++) {
		memcpy(&kernel, at + i * sizeof(kernel), sizeof(kernel));
		ret = take_kernel(elf, &kernel);
	}
	return ret;
}
