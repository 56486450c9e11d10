// SPDX-License-Identifier: GPL-2.0
/* ELF files: the image of a program and its functions. Nothing in a file is trusted. */
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/vgpu_hw.h>

#include "elf_internal.h"

#define SEGMENTS_MAX	64
#define SECTIONS_MAX	4096
#define SYMBOLS_MAX	65536

#define SAME(name)	\
	_Static_assert(VGPU_DEVICE_##name - VGPU_HW_##name == 0, "vgpu_device.h is not vgpu_hw.h")

SAME(CSR_GLOBAL_ID);
SAME(CSR_LOCAL_ID);
SAME(CSR_GROUP_ID);
SAME(CSR_LOCAL_SIZE);
SAME(CSR_GLOBAL_SIZE);
SAME(CSR_NUM_GROUPS);
SAME(INSN_BARRIER);

/* Copies element @i of a table. Returns false if the file does not have it. */
static bool elf_element(const struct elf_file *file, uint64_t table, uint64_t i, void *to,
			size_t bytes)
{
	const void *at;

	if (table > file->bytes)
		return false;
	at = elf_at(file, table + i * bytes, bytes);
	if (at)
		memcpy(to, at, bytes);
	return at;
}

static bool elf_section(const struct elf_file *file, unsigned int i, Elf64_Shdr *section)
{
	return elf_element(file, le64toh(file->head.e_shoff), i, section, sizeof(*section));
}

static bool elf_segment(const struct elf_file *file, unsigned int i, Elf64_Phdr *segment)
{
	return elf_element(file, le64toh(file->head.e_phoff), i, segment, sizeof(*segment));
}

static bool elf_is_loaded(const Elf64_Phdr *segment)
{
	return le32toh(segment->p_type) == PT_LOAD && segment->p_memsz;
}

/* Names longer than this are as good as none. */
#define NAME_BYTES	256

/* The text at @offset of a section of texts, which ends in it, and soon; or NULL. */
static const char *elf_string(const struct elf_file *file, const Elf64_Shdr *strings,
			      uint64_t offset)
{
	uint64_t bytes = le64toh(strings->sh_size);
	const char *at = elf_at(file, le64toh(strings->sh_offset), bytes);

	if (!at || offset >= bytes)
		return NULL;
	bytes -= offset;
	if (!memchr(at + offset, 0, bytes < NAME_BYTES ? bytes : NAME_BYTES))
		return NULL;
	return at + offset;
}

static int elf_check_head(struct elf_file *file, struct vgpu_elf *elf)
{
	const Elf64_Ehdr *head = &file->head;

	if (!elf_element(file, 0, 0, &file->head, sizeof(file->head)) ||
	    memcmp(head->e_ident, ELFMAG, SELFMAG))
		return elf_fail(elf, "is no ELF file");
	if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB ||
	    le16toh(head->e_machine) != EM_RISCV)
		return elf_fail(elf, "is not for RISC-V of 64 bits, little endian");
	if (le16toh(head->e_type) != ET_EXEC)
		return elf_fail(elf, "is not linked statically (-static -T vgpu.ld)");
	if (le32toh(head->e_flags) & EF_RISCV_RVC)
		return elf_fail(elf, "has compressed instructions (-march=rv64imafd...)");
	if (le16toh(head->e_phentsize) != sizeof(Elf64_Phdr) ||
	    le16toh(head->e_shentsize) != sizeof(Elf64_Shdr))
		return elf_fail(elf, "has headers of unknown sizes");
	if (le16toh(head->e_phnum) > SEGMENTS_MAX || le16toh(head->e_shnum) > SECTIONS_MAX)
		return elf_fail(elf, "has %u segments and %u sections, more than %u and %u",
				le16toh(head->e_phnum), le16toh(head->e_shnum), SEGMENTS_MAX,
				SECTIONS_MAX);
	return 0;
}

/* Memory of the work-group: it has a size, no content. */
static int elf_take_local(struct vgpu_elf *elf, const Elf64_Phdr *segment)
{
	uint64_t bytes = le64toh(segment->p_memsz);

	if (le64toh(segment->p_vaddr) != VGPU_HW_VA_LOCAL)
		return elf_fail(elf, "has memory to be written at %#llx (link it with vgpu.ld)",
				(unsigned long long)le64toh(segment->p_vaddr));
	if (segment->p_filesz)
		return elf_fail(elf, "has memory of the work-group that is initialized");
	if (bytes > VGPU_HW_LOCAL_MAX)
		return elf_fail(elf, "needs %llu bytes of memory of the work-group, there are %u",
				(unsigned long long)bytes, VGPU_HW_LOCAL_MAX);
	/* All of them begin there. */
	if (bytes > elf->local_bytes)
		elf->local_bytes = (uint32_t)bytes;
	return 0;
}

static int elf_check_image(struct vgpu_elf *elf, uint64_t offset, uint64_t bytes, bool text)
{
	if (text && elf->text_bytes)
		return elf_fail(elf, "has instructions in two segments");
	if (text && (offset || !bytes || bytes % 4 || bytes > VGPU_HW_TEXT_MAX))
		return elf_fail(elf, "has %llu bytes of instructions at %#llx: at most %u, at %#llx, are possible",
				(unsigned long long)bytes,
				(unsigned long long)(offset + VGPU_HW_VA_IMAGE), VGPU_HW_TEXT_MAX,
				VGPU_HW_VA_IMAGE);
	if (offset >= VGPU_HW_IMAGE_MAX || bytes > VGPU_HW_IMAGE_MAX - offset)
		return elf_fail(elf, "has %llu bytes at %#llx: an image has %u, from %#llx",
				(unsigned long long)bytes,
				(unsigned long long)(offset + VGPU_HW_VA_IMAGE), VGPU_HW_IMAGE_MAX,
				VGPU_HW_VA_IMAGE);
	return 0;
}

/* Instructions, or constants: where they end in the image. */
static int elf_measure_image(const struct elf_file *file, struct vgpu_elf *elf,
			     const Elf64_Phdr *segment, bool text)
{
	uint64_t offset = le64toh(segment->p_vaddr) - VGPU_HW_VA_IMAGE;
	uint64_t bytes = le64toh(segment->p_memsz), in_file = le64toh(segment->p_filesz);
	int ret;

	ret = elf_check_image(elf, offset, bytes, text);
	if (ret)
		return ret;
	if (!elf_at(file, le64toh(segment->p_offset), in_file) || in_file > bytes)
		return elf_fail(elf, "ends within a segment");
	if (offset + bytes > elf->image_bytes)
		elf->image_bytes = (uint32_t)(offset + bytes + 3) & ~3u;
	if (text)
		elf->text_bytes = (uint32_t)bytes;
	return 0;
}

static int elf_measure(const struct elf_file *file, struct vgpu_elf *elf)
{
	unsigned int i, nr = le16toh(file->head.e_phnum);
	Elf64_Phdr segment;
	uint32_t flags;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++) {
		if (!elf_segment(file, i, &segment))
			return elf_fail(elf, "ends within its headers");
		flags = le32toh(segment.p_flags);
		if (le32toh(segment.p_type) == PT_DYNAMIC || le32toh(segment.p_type) == PT_INTERP)
			return elf_fail(elf, "is not linked statically (-static -T vgpu.ld)");
		if (!elf_is_loaded(&segment))
			continue;
		if (flags & PF_W)
			ret = elf_take_local(elf, &segment);
		else
			ret = elf_measure_image(file, elf, &segment, flags & PF_X);
	}
	if (!ret && !elf->text_bytes)
		ret = elf_fail(elf, "has no instructions");
	return ret;
}

static int elf_take_segments(const struct elf_file *file, struct vgpu_elf *elf)
{
	unsigned int i, nr = le16toh(file->head.e_phnum);
	Elf64_Phdr segment;
	int ret;

	ret = elf_measure(file, elf);
	if (ret)
		return ret;
	elf->image = calloc(1, elf->image_bytes);
	if (!elf->image)
		return elf_fail(elf, "needs more memory than there is");
	for (i = 0; i < nr && elf_segment(file, i, &segment); i++)
		if (elf_is_loaded(&segment) && !(le32toh(segment.p_flags) & PF_W))
			memcpy(elf->image + le64toh(segment.p_vaddr) - VGPU_HW_VA_IMAGE,
			       elf_at(file, le64toh(segment.p_offset), le64toh(segment.p_filesz)),
			       le64toh(segment.p_filesz));
	return 0;
}

static int elf_compare_symbols(const void *a, const void *b)
{
	const struct vgpu_symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* The functions; what else there is, and what is wrong, does no harm when left out. */
static int elf_take_symbols(const struct elf_file *file, struct vgpu_elf *elf,
			    const Elf64_Shdr *table)
{
	uint64_t i, nr = le64toh(table->sh_size) / sizeof(Elf64_Sym);
	struct vgpu_symbol *to;
	Elf64_Shdr strings;
	Elf64_Sym symbol;
	const char *name;
	uint64_t address;

	if (elf->symbol || nr > SYMBOLS_MAX ||
	    !elf_section(file, le32toh(table->sh_link), &strings))
		return 0;
	elf->symbol = calloc(nr + 1, sizeof(*elf->symbol));
	if (!elf->symbol)
		return elf_fail(elf, "needs more memory than there is");
	for (i = 0; i < nr && elf_element(file, le64toh(table->sh_offset), i, &symbol,
					  sizeof(symbol)); i++) {
		name = elf_string(file, &strings, le32toh(symbol.st_name));
		address = le64toh(symbol.st_value);
		if (!name || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    address - VGPU_HW_VA_IMAGE >= elf->text_bytes)
			continue;
		to = &elf->symbol[elf->nr_symbols];
		to->address = (uint32_t)address;
		to->bytes = le64toh(symbol.st_size) > VGPU_HW_TEXT_MAX ? 0 :
			(uint32_t)le64toh(symbol.st_size);
		to->name = strdup(name);
		if (!to->name)
			return elf_fail(elf, "needs more memory than there is");
		elf_tame(to->name);
		elf->nr_symbols++;
	}
	qsort(elf->symbol, elf->nr_symbols, sizeof(*elf->symbol), elf_compare_symbols);
	return 0;
}

static int elf_take_sections(const struct elf_file *file, struct vgpu_elf *elf)
{
	unsigned int i, nr = le16toh(file->head.e_shnum);
	Elf64_Shdr names, section;
	const char *name;
	int ret = 0;

	if (!elf_section(file, le16toh(file->head.e_shstrndx), &names))
		return elf_fail(elf, "has no sections");
	for (i = 0; i < nr && !ret; i++) {
		if (!elf_section(file, i, &section))
			return elf_fail(elf, "ends within its headers");
		name = elf_string(file, &names, le32toh(section.sh_name));
		if (le32toh(section.sh_type) == SHT_SYMTAB)
			ret = elf_take_symbols(file, elf, &section);
		else if (name && !strcmp(name, VGPU_DEVICE_KERNELS) && !elf->kernel)
			ret = elf_take_kernels(file, elf, le64toh(section.sh_offset),
					       le64toh(section.sh_size));
	}
	if (!ret && !elf->nr_kernels)
		ret = elf_fail(elf, "has no kernel (VGPU_KERNEL of vgpu_device.h)");
	return ret;
}

int vgpu_elf_parse(struct vgpu_elf *elf, const void *bytes, size_t nr)
{
	struct elf_file file = { .at = bytes, .bytes = nr };
	int ret;

	memset(elf, 0, sizeof(*elf));
	ret = elf_check_head(&file, elf);
	if (!ret)
		ret = elf_take_segments(&file, elf);
	if (!ret)
		ret = elf_take_sections(&file, elf);
	if (ret)
		vgpu_elf_free(elf);
	return ret;
}

static int elf_read_file(struct vgpu_elf *elf, int fd, size_t bytes)
{
	uint8_t *file = malloc(bytes + 1);
	size_t have = 0;
	ssize_t n = 1;
	int ret;

	if (!file)
		return elf_fail(elf, "needs more memory than there is");
	while (have < bytes && n > 0) {
		n = read(fd, file + have, bytes - have);
		if (n > 0)
			have += (size_t)n;
	}
	if (n < 0) {
		ret = -errno;
		elf_fail(elf, "%s", strerror(-ret));
	} else {
		ret = vgpu_elf_parse(elf, file, have);
	}
	free(file);
	return ret;
}

int vgpu_elf_read(struct vgpu_elf *elf, const char *path)
{
	struct stat st;
	int fd, ret;

	memset(elf, 0, sizeof(*elf));
	/* What is no file is not waited for. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st)) {
		ret = -errno;
		elf_fail(elf, "%s", strerror(-ret));
	} else if (!S_ISREG(st.st_mode)) {
		ret = elf_fail(elf, "is no regular file");
	} else if (st.st_size > VGPU_ELF_BYTES_MAX) {
		ret = elf_fail(elf, "has %lld bytes, more than %u", (long long)st.st_size,
			       VGPU_ELF_BYTES_MAX);
	} else {
		ret = elf_read_file(elf, fd, (size_t)st.st_size);
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

void vgpu_elf_free(struct vgpu_elf *elf)
{
	unsigned int i;

	for (i = 0; i < elf->nr_symbols; i++)
		free(elf->symbol[i].name);
	free(elf->symbol);
	free(elf->kernel);
	free(elf->image);
	elf->image = NULL;
	elf->kernel = NULL;
	elf->symbol = NULL;
	elf->nr_kernels = 0;
	elf->nr_symbols = 0;
}

const struct vgpu_symbol *vgpu_elf_symbol(const struct vgpu_elf *elf, uint64_t address)
{
	const struct vgpu_symbol *symbol;
	unsigned int i = elf->nr_symbols;

	while (i--) {
		symbol = &elf->symbol[i];
		if (symbol->address <= address)
			return !symbol->bytes || address - symbol->address < symbol->bytes ?
				symbol : NULL;
	}
	return NULL;
}

const char *vgpu_elf_text(const struct vgpu_elf *elf, uint64_t address)
{
	uint64_t offset = address - VGPU_HW_VA_IMAGE;

	if (offset >= elf->image_bytes ||
	    !memchr(elf->image + offset, 0, elf->image_bytes - offset))
		return NULL;
	return (const char *)elf->image + offset;
}
