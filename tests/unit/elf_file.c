// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>
#include <string.h>

#include <linux/vgpu_hw.h>

#include "elf_file.h"

static void fill_head(Elf64_Ehdr *head)
{
	memcpy(head->e_ident, ELFMAG, SELFMAG);
	head->e_ident[EI_CLASS] = ELFCLASS64;
	head->e_ident[EI_DATA] = ELFDATA2LSB;
	head->e_type = ET_EXEC;
	head->e_machine = EM_RISCV;
	head->e_phoff = offsetof(struct elf_test_file, segment);
	head->e_phentsize = sizeof(Elf64_Phdr);
	head->e_phnum = 3;
	head->e_shoff = offsetof(struct elf_test_file, section);
	head->e_shentsize = sizeof(Elf64_Shdr);
	head->e_shnum = FILE_SECTIONS;
	head->e_shstrndx = 4;
}

static void fill_segments(Elf64_Phdr *segment)
{
	const uint64_t text_bytes = FILE_TEXT_WORDS * 4;

	segment[0] = (Elf64_Phdr) {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = VGPU_HW_VA_IMAGE,
		.p_offset = offsetof(struct elf_test_file, text),
		.p_filesz = text_bytes, .p_memsz = text_bytes,
	};
	segment[1] = (Elf64_Phdr) {
		.p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = VGPU_HW_VA_IMAGE + text_bytes,
		.p_offset = offsetof(struct elf_test_file, constants),
		.p_filesz = sizeof(FILE_CONSTANTS), .p_memsz = 14,
	};
	segment[2] = (Elf64_Phdr) {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = VGPU_HW_VA_LOCAL,
		.p_memsz = 100,
	};
}

#define SECTION(kind, name, member, to) (Elf64_Shdr) {				\
	.sh_type = kind, .sh_name = name, .sh_link = to,			\
	.sh_offset = offsetof(struct elf_test_file, member),			\
	.sh_size = sizeof(((struct elf_test_file *)0)->member),			\
}

static void fill_sections(Elf64_Shdr *section)
{
	section[1] = SECTION(SHT_PROGBITS, 1, kernel, 0);
	section[2] = SECTION(SHT_SYMTAB, 15, symbol, 3);
	section[3] = SECTION(SHT_STRTAB, 23, strings, 0);
	section[4] = SECTION(SHT_STRTAB, 31, names, 0);
}

static void fill_symbols(Elf64_Sym *symbol)
{
	symbol[1] = (Elf64_Sym) {
		.st_name = 7, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_value = VGPU_HW_VA_IMAGE + 16, .st_size = 8,
	};
	symbol[2] = (Elf64_Sym) {
		.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_value = VGPU_HW_VA_IMAGE, .st_size = 12,
	};
	symbol[3] = (Elf64_Sym) {
		.st_name = 14, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
		.st_value = VGPU_HW_VA_IMAGE + 4, .st_size = 4,
	};
}

static void fill_kernels(struct vgpu_device_kernel *kernel)
{
	kernel[0] = (struct vgpu_device_kernel) {
		.name = "first", .args = "buf data,u32 nr, f64  x ,local part, log log",
		.entry = VGPU_HW_VA_IMAGE, .private_bytes = 1024, .args_bytes = 40,
	};
	kernel[1] = (struct vgpu_device_kernel) {
		.name = "second", .entry = VGPU_HW_VA_IMAGE + 16, .private_bytes = 0,
	};
}

void elf_test_file(struct elf_test_file *file)
{
	unsigned int i;

	memset(file, 0, sizeof(*file));
	fill_head(&file->head);
	fill_segments(file->segment);
	fill_sections(file->section);
	fill_symbols(file->symbol);
	fill_kernels(file->kernel);
	for (i = 0; i < FILE_TEXT_WORDS; i++)
		file->text[i] = 0x13 + (i << 20);
	memcpy(file->constants, FILE_CONSTANTS, sizeof(FILE_CONSTANTS));
	memcpy(file->strings, FILE_STRINGS, sizeof(FILE_STRINGS));
	memcpy(file->names, FILE_NAMES, sizeof(FILE_NAMES));
}
