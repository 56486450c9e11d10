// SPDX-License-Identifier: GPL-2.0
/*
 * Programs in ELF files: what is taken from a good one; one thing wrong at a time; every length;
 * random bytes. What is accepted keeps what struct vgpu_elf promises.
 */
#include "vgpu_test.h"

#include <linux/vgpu_hw.h>

#include "elf_file.h"
#include "libvgpu/libvgpu_elf.h"

#define MUTATIONS	20000

static void test_good(void **state)
{
	struct elf_test_file file;
	struct vgpu_elf elf;

	elf_test_file(&file);
	assert_int_equal(vgpu_elf_parse(&elf, &file, sizeof(file)), 0);
	assert_int_equal(elf.text_bytes, 24);
	assert_int_equal(elf.image_bytes, 40); /* 24 + 14, rounded up */
	assert_memory_equal(elf.image, file.text, 24);
	assert_memory_equal(elf.image + 24, FILE_CONSTANTS "\0\0\0\0", 14);
	assert_int_equal(elf.local_bytes, 100);
	assert_string_equal(vgpu_elf_text(&elf, VGPU_HW_VA_IMAGE + 24 + 2), "constant");
	assert_null(vgpu_elf_text(&elf, VGPU_HW_VA_IMAGE + 40));
	assert_null(vgpu_elf_text(&elf, 0));
	vgpu_elf_free(&elf);
}

static void test_kernels(void **state)
{
	static const struct vgpu_arg args[] = {
		{ VGPU_ARG_BUF, 0, "data" }, { VGPU_ARG_U32, 8, "nr" }, { VGPU_ARG_F64, 16, "x" },
		{ VGPU_ARG_LOCAL, 24, "part" }, { VGPU_ARG_LOG, 32, "log" },
	};
	const struct vgpu_kernel *kernel;
	struct elf_test_file file;
	struct vgpu_elf elf;
	unsigned int i;

	elf_test_file(&file);
	assert_int_equal(vgpu_elf_parse(&elf, &file, sizeof(file)), 0);
	assert_int_equal(elf.nr_kernels, 2);
	kernel = vgpu_elf_kernel(&elf, "first");
	assert_ptr_equal(kernel, &elf.kernel[0]);
	assert_int_equal(kernel->entry, 0);
	assert_int_equal(kernel->private_bytes, 1024);
	assert_int_equal(kernel->args_bytes, 40);
	assert_int_equal(kernel->nr_args, ARRAY_SIZE(args));
	for (i = 0; i < ARRAY_SIZE(args); i++) {
		assert_int_equal(kernel->arg[i].type, args[i].type);
		assert_int_equal(kernel->arg[i].offset, args[i].offset);
		assert_string_equal(kernel->arg[i].name, args[i].name);
	}
	kernel = vgpu_elf_kernel(&elf, "second");
	assert_int_equal(kernel->entry, 16);
	assert_int_equal(kernel->nr_args, 0);
	assert_null(vgpu_elf_kernel(&elf, "third"));
	vgpu_elf_free(&elf);
}

static void test_symbols(void **state)
{
	struct elf_test_file file;
	struct vgpu_elf elf;

	elf_test_file(&file);
	assert_int_equal(vgpu_elf_parse(&elf, &file, sizeof(file)), 0);
	assert_int_equal(elf.nr_symbols, 2);
	assert_string_equal(vgpu_elf_symbol(&elf, VGPU_HW_VA_IMAGE)->name, "first");
	assert_string_equal(vgpu_elf_symbol(&elf, VGPU_HW_VA_IMAGE + 8)->name, "first");
	assert_null(vgpu_elf_symbol(&elf, VGPU_HW_VA_IMAGE + 12));
	assert_string_equal(vgpu_elf_symbol(&elf, VGPU_HW_VA_IMAGE + 20)->name, "second");
	assert_null(vgpu_elf_symbol(&elf, VGPU_HW_VA_IMAGE - 4));
	assert_null(vgpu_elf_symbol(&elf, ~0ull));
	vgpu_elf_free(&elf);
}

/* A terminal is not given what it would obey. */
static void test_escapes(void **state)
{
	struct elf_test_file file;
	struct vgpu_elf elf;

	elf_test_file(&file);
	memcpy(file.strings + 1, "\033[2J\377", 5);
	assert_int_equal(vgpu_elf_parse(&elf, &file, sizeof(file)), 0);
	assert_string_equal(vgpu_elf_symbol(&elf, VGPU_HW_VA_IMAGE)->name, "?[2J?");
	vgpu_elf_free(&elf);
	strcpy(file.kernel[0].args, "buf \033]0;x\007");
	assert_int_equal(vgpu_elf_parse(&elf, &file, sizeof(file)), -EINVAL);
	assert_string_equal(elf.error, "kernel first: \"buf ?]0;x?\" are no arguments");
	strcpy(file.kernel[0].name, "\033[2J");
	assert_int_equal(vgpu_elf_parse(&elf, &file, sizeof(file)), -EINVAL);
	assert_string_equal(elf.error, "has a kernel without a name");
}

#define FIELD(member)	offsetof(struct elf_test_file, member), \
	sizeof(((struct elf_test_file *)0)->member)

/* What is wrong in a file: a field, its value, and a part of what is said about it. */
static const struct {
	size_t at;
	size_t bytes;
	uint64_t value;
	const char *said;
} wrong[] = {
	{ FIELD(head.e_ident[0]), 0, "no ELF file" },
	{ FIELD(head.e_ident[EI_CLASS]), ELFCLASS32, "not for RISC-V" },
	{ FIELD(head.e_ident[EI_DATA]), ELFDATA2MSB, "not for RISC-V" },
	{ FIELD(head.e_machine), EM_X86_64, "not for RISC-V" },
	{ FIELD(head.e_type), ET_DYN, "not linked statically" },
	{ FIELD(head.e_flags), EF_RISCV_RVC, "compressed" },
	{ FIELD(head.e_phentsize), 55, "unknown sizes" },
	{ FIELD(head.e_shentsize), 0, "unknown sizes" },
	{ FIELD(head.e_phnum), 0xffff, "65535 segments" },
	{ FIELD(head.e_shnum), 0xffff, "65535 sections" },
	{ FIELD(head.e_shnum), 0, "no kernel" },
	{ FIELD(head.e_phnum), 0, "no instructions" },
	{ FIELD(head.e_phoff), ~0ull, "ends within its headers" },
	{ FIELD(head.e_phoff), sizeof(struct elf_test_file) - 8, "ends within its headers" },
	{ FIELD(head.e_shoff), ~0ull, "no sections" },
	{ FIELD(head.e_shstrndx), 0xffff, "no sections" },
	{ FIELD(head.e_shstrndx), 2, "no kernel" },
	{ FIELD(segment[0].p_type), PT_DYNAMIC, "not linked statically" },
	{ FIELD(segment[0].p_flags), PF_R, "no instructions" },
	{ FIELD(segment[0].p_flags), PF_R | PF_W | PF_X, "memory to be written" },
	{ FIELD(segment[1].p_flags), PF_R | PF_X, "two segments" },
	{ FIELD(segment[0].p_vaddr), 0, "instructions at 0:" },
	{ FIELD(segment[0].p_vaddr), 0x11000, "instructions at 0x11000" },
	{ FIELD(segment[0].p_memsz), 26, "26 bytes of instructions" },
	{ FIELD(segment[0].p_memsz), VGPU_HW_TEXT_MAX + 4, "1048580 bytes of instructions" },
	{ FIELD(segment[0].p_memsz), ~0ull - 3, "bytes of instructions" },
	{ FIELD(segment[0].p_filesz), 25, "ends within a segment" },
	{ FIELD(segment[0].p_filesz), ~0ull, "ends within a segment" },
	{ FIELD(segment[0].p_offset), ~0ull, "ends within a segment" },
	{ FIELD(segment[0].p_offset), sizeof(struct elf_test_file), "ends within a segment" },
	{ FIELD(segment[1].p_vaddr), 0xffff, "an image has" },
	{ FIELD(segment[1].p_vaddr), VGPU_HW_VA_GLOBAL, "an image has" },
	{ FIELD(segment[1].p_memsz), VGPU_HW_IMAGE_MAX - 23, "an image has" },
	{ FIELD(segment[1].p_memsz), ~0ull, "an image has" },
	{ FIELD(segment[2].p_vaddr), VGPU_HW_VA_LOCAL + 8, "memory to be written at 0x40000008" },
	{ FIELD(segment[2].p_memsz), VGPU_HW_LOCAL_MAX + 1, "65537 bytes" },
	{ FIELD(segment[2].p_filesz), 4, "initialized" },
	{ FIELD(section[1].sh_offset), ~0ull, "broken section" },
	{ FIELD(section[1].sh_size), 335, "broken section" },
	{ FIELD(section[1].sh_size), ~0ull, "broken section" },
	{ FIELD(section[1].sh_size), 0, "no kernel" },
	{ FIELD(section[1].sh_name), ~0u, "no kernel" },
	{ FIELD(kernel[0].name[0]), 0, "without a name" },
	{ FIELD(kernel[0].name[0]), '1', "without a name" },
	{ FIELD(kernel[0].name[1]), '\n', "without a name" },
	{ FIELD(kernel[0].entry), VGPU_HW_VA_IMAGE + 2, "entry 0x10002" },
	{ FIELD(kernel[0].entry), VGPU_HW_VA_IMAGE + 24, "entry 0x10018" },
	{ FIELD(kernel[0].entry), 0, "entry 0 is" },
	{ FIELD(kernel[0].private_bytes), 8, "multiples of 16" },
	{ FIELD(kernel[0].private_bytes), VGPU_HW_PRIVATE_MAX + 16, "multiples of 16" },
	{ FIELD(kernel[0].args_bytes), 36, "its structure has 36" },
	{ FIELD(kernel[0].args[0]), 'x', "are no arguments" },
	{ FIELD(kernel[0].args[3]), 'x', "are no arguments" },
	{ FIELD(kernel[0].args[8]), ' ', "are no arguments" },
	{ FIELD(kernel[1].args_bytes), 8, "its structure has 8" },
};

static void test_wrong(void **state)
{
	struct elf_test_file file;
	struct vgpu_elf elf;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		elf_test_file(&file);
		memcpy((uint8_t *)&file + wrong[i].at, &wrong[i].value, wrong[i].bytes);
		check_that(vgpu_elf_parse(&elf, &file, sizeof(file)) < 0, "case %u, %s", i,
			   wrong[i].said);
		check_that(strstr(elf.error, wrong[i].said), "case %u: \"%s\" has no \"%s\"", i,
			   elf.error, wrong[i].said);
		assert_null(elf.image);
	}
	elf_test_file(&file);
	memcpy(file.kernel[1].name, "first", 6);
	file.kernel[1].name[6] = 0;
	assert_true(vgpu_elf_parse(&elf, &file, sizeof(file)) < 0);
	assert_non_null(strstr(elf.error, "two kernels first"));
}

/* Segments for memory of the work-group lie one over the other. */
static void test_local_twice(void **state)
{
	struct elf_test_file file;
	struct vgpu_elf elf;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		elf_test_file(&file);
		file.segment[1] = file.segment[2];
		file.segment[1 + i].p_memsz = 200;
		assert_int_equal(vgpu_elf_parse(&elf, &file, sizeof(file)), 0);
		assert_int_equal(elf.local_bytes, 200);
		vgpu_elf_free(&elf);
	}
}

/* What is wrong with symbols does no harm. */
static void test_wrong_symbols(void **state)
{
	struct elf_test_file file;
	struct vgpu_elf elf;

	elf_test_file(&file);
	file.symbol[1].st_name = ~0u;
	file.symbol[2].st_value = 0;
	assert_int_equal(vgpu_elf_parse(&elf, &file, sizeof(file)), 0);
	assert_int_equal(elf.nr_symbols, 0);
	vgpu_elf_free(&elf);
	elf_test_file(&file);
	file.section[2].sh_link = 77;
	assert_int_equal(vgpu_elf_parse(&elf, &file, sizeof(file)), 0);
	assert_int_equal(elf.nr_symbols, 0);
	vgpu_elf_free(&elf);
}

/* What is taken from a file, whatever is in it. */
static void check_elf(const struct vgpu_elf *elf)
{
	const struct vgpu_kernel *kernel;
	unsigned int i, k;

	assert_in_range(elf->text_bytes, 4, VGPU_HW_TEXT_MAX);
	assert_in_range(elf->image_bytes, elf->text_bytes, VGPU_HW_IMAGE_MAX);
	assert_int_equal(elf->image_bytes % 4 + elf->text_bytes % 4, 0);
	assert_true(elf->local_bytes <= VGPU_HW_LOCAL_MAX);
	assert_true(elf->nr_kernels);
	for (i = 0; i < elf->nr_kernels; i++) {
		kernel = &elf->kernel[i];
		assert_true(kernel->entry < elf->text_bytes && kernel->entry % 4 == 0);
		assert_true(kernel->private_bytes <= VGPU_HW_PRIVATE_MAX);
		assert_true(kernel->nr_args <= VGPU_KERNEL_ARGS);
		for (k = 0; k < kernel->nr_args; k++)
			assert_true(kernel->arg[k].offset +
				    vgpu_arg_type_bytes(kernel->arg[k].type) <= kernel->args_bytes);
	}
	for (i = 1; i < elf->nr_symbols; i++)
		assert_true(elf->symbol[i - 1].address <= elf->symbol[i].address);
}

/* In memory that ends where the file does, so that ASan sees what reads beyond. */
static bool parse_copy(const void *file, size_t bytes)
{
	uint8_t *copy = malloc(bytes ? bytes : 1);
	struct vgpu_elf elf;
	bool good;

	assert_non_null(copy);
	memcpy(copy, file, bytes);
	good = !vgpu_elf_parse(&elf, copy, bytes);
	free(copy);
	if (good)
		check_elf(&elf);
	else
		assert_true(strlen(elf.error));
	vgpu_elf_free(&elf);
	return good;
}

static void test_truncated(void **state)
{
	struct elf_test_file file;
	size_t bytes;

	elf_test_file(&file);
	assert_true(parse_copy(&file, sizeof(file)));
	/* Without its last bytes the names of sections end in the middle of one. */
	for (bytes = 0; bytes < offsetof(struct elf_test_file, names); bytes++)
		assert_false(parse_copy(&file, bytes));
	for (; bytes < sizeof(file); bytes++)
		parse_copy(&file, bytes);
}

static void test_mutated(void **state)
{
	static const uint64_t odd[] = { 0, 1, 0x7f, 0xff, 0xffff, ~0u, 1ull << 63, ~0ull };
	struct elf_test_file file;
	unsigned int round, i, good = 0;
	u64 rnd = test_seed(), value;
	size_t at, bytes;

	for (round = 0; round < MUTATIONS; round++) {
		elf_test_file(&file);
		for (i = random_range(&rnd, 1, 4); i; i--) {
			bytes = 1u << random_range(&rnd, 0, 3);
			at = random_range(&rnd, 0, sizeof(file) / bytes - 1) * bytes;
			value = random_one_in(&rnd, 2) ? random_next(&rnd) :
				odd[random_range(&rnd, 0, ARRAY_SIZE(odd) - 1)];
			memcpy((uint8_t *)&file + at, &value, bytes);
		}
		good += parse_copy(&file, sizeof(file));
	}
	assert_true(good > MUTATIONS / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_local_twice),
		cmocka_unit_test(test_wrong_symbols),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
