/* SPDX-License-Identifier: GPL-2.0 */
/* An ELF file as a linker leaves it with vgpu.ld, for tests to break. */
#ifndef _VGPU_ELF_FILE_H
#define _VGPU_ELF_FILE_H

#include <elf.h>

#include "libvgpu/device/vgpu_device_abi.h"

#define FILE_TEXT_WORDS	6
#define FILE_CONSTANTS	"a constant"
#define FILE_SECTIONS	5	/* none, kernels, symbols, strings of symbols, names of sections */
#define FILE_SYMBOLS	4
#define FILE_STRINGS	"\0first\0second\0data"
#define FILE_NAMES	"\0.vgpu.kernels\0.symtab\0.strtab\0.shstrtab"

/**
 * struct elf_test_file - the file
 * @head:      its header
 * @segment:   instructions, constants, memory of the work-group
 * @section:   see FILE_SECTIONS
 * @symbol:    none, two functions, an object
 * @kernel:    two kernels
 * @text:      instructions
 * @constants: behind them
 * @strings:   names of symbols
 * @names:     names of sections
 */
struct elf_test_file {
	Elf64_Ehdr head;
	Elf64_Phdr segment[3];
	Elf64_Shdr section[FILE_SECTIONS];
	Elf64_Sym symbol[FILE_SYMBOLS];
	struct vgpu_device_kernel kernel[2];
	uint32_t text[FILE_TEXT_WORDS];
	char constants[16];
	char strings[32];
	char names[64];
};

/* Makes the file, in which nothing is wrong. */
void elf_test_file(struct elf_test_file *file);

#endif /* _VGPU_ELF_FILE_H */
