/* SPDX-License-Identifier: GPL-2.0 */
/* What the files that read ELF files share. */
#ifndef LIBVGPU_ELF_INTERNAL_H
#define LIBVGPU_ELF_INTERNAL_H

#include <elf.h>

#include "device/vgpu_device_abi.h"
#include "libvgpu_elf.h"

/**
 * struct elf_file - a file in memory
 * @at:    its bytes
 * @bytes: how many
 * @head:  its ELF header
 */
struct elf_file {
	const uint8_t *at;
	size_t bytes;
	Elf64_Ehdr head;
};

/* @bytes at @offset of the file, or NULL if it does not have them. */
static inline const void *elf_at(const struct elf_file *file, uint64_t offset, uint64_t bytes)
{
	if (offset > file->bytes || bytes > file->bytes - offset)
		return NULL;
	return file->at + offset;
}

/* kernel.c: makes bytes of a name that a terminal may obey, or not show, question marks. */
void elf_tame(char *text);

/* kernel.c: sets the text of what is wrong with the file, returns -EINVAL. */
__attribute__((format(printf, 2, 3)))
int elf_fail(struct vgpu_elf *elf, const char *fmt, ...);

/* kernel.c: takes the kernels from the section at @offset. */
int elf_take_kernels(const struct elf_file *file, struct vgpu_elf *elf, uint64_t offset,
		     uint64_t bytes);

#endif /* LIBVGPU_ELF_INTERNAL_H */
