/* SPDX-License-Identifier: GPL-2.0 */
/* libvgpu: programs for the device, as compilers leave them in ELF files. */
#ifndef LIBVGPU_ELF_H
#define LIBVGPU_ELF_H

#include <stddef.h>
#include <stdint.h>

#define VGPU_ELF_ERROR_LEN	256
#define VGPU_ELF_BYTES_MAX	(64u << 20) /* of a file */
#define VGPU_KERNEL_NAME_LEN	64
#define VGPU_KERNEL_ARGS	32
#define VGPU_ARG_NAME_LEN	32

/**
 * enum vgpu_arg_type - type of an argument of a kernel
 * @VGPU_ARG_U32:   unsigned, 32 bits
 * @VGPU_ARG_I32:   signed, 32 bits
 * @VGPU_ARG_F32:   float
 * @VGPU_ARG_U64:   unsigned, 64 bits
 * @VGPU_ARG_I64:   signed, 64 bits
 * @VGPU_ARG_F64:   double
 * @VGPU_ARG_BUF:   address of global memory
 * @VGPU_ARG_LOCAL: address of memory of the work-group
 * @VGPU_ARG_LOG:   address of a log, see libvgpu_log.h
 */
enum vgpu_arg_type {
	VGPU_ARG_U32,
	VGPU_ARG_I32,
	VGPU_ARG_F32,
	VGPU_ARG_U64,
	VGPU_ARG_I64,
	VGPU_ARG_F64,
	VGPU_ARG_BUF,
	VGPU_ARG_LOCAL,
	VGPU_ARG_LOG,
};

/**
 * struct vgpu_arg - an argument of a kernel
 * @type:   enum vgpu_arg_type
 * @offset: in the argument block
 * @name:   as the program calls it
 */
struct vgpu_arg {
	enum vgpu_arg_type type;
	uint32_t offset;
	char name[VGPU_ARG_NAME_LEN];
};

/**
 * struct vgpu_kernel - a kernel of a program
 * @name:          as the program calls it
 * @entry:         offset of its first instruction in the image
 * @private_bytes: private memory of a work-item
 * @args_bytes:    size of the argument block
 * @nr_args:       number of elements of @arg in use
 * @arg:           its arguments
 */
struct vgpu_kernel {
	char name[VGPU_KERNEL_NAME_LEN];
	uint32_t entry;
	uint32_t private_bytes;
	uint32_t args_bytes;
	unsigned int nr_args;
	struct vgpu_arg arg[VGPU_KERNEL_ARGS];
};

/**
 * struct vgpu_symbol - a function of a program
 * @address: of its first instruction
 * @bytes:   its length; 0: not known
 * @name:    as the program calls it, but for bytes that are not printed
 */
struct vgpu_symbol {
	uint32_t address;
	uint32_t bytes;
	char *name;
};

/**
 * struct vgpu_elf - a program
 * @image:       what lies at VGPU_HW_VA_IMAGE
 * @image_bytes: its length
 * @text_bytes:  how much of its beginning is instructions
 * @local_bytes: memory of a work-group that the program has variables in
 * @nr_kernels:  number of elements of @kernel
 * @kernel:      its kernels
 * @nr_symbols:  number of elements of @symbol
 * @symbol:      its functions, by address
 * @error:       what is wrong with the file
 */
struct vgpu_elf {
	uint8_t *image;
	uint32_t image_bytes;
	uint32_t text_bytes;
	uint32_t local_bytes;
	unsigned int nr_kernels;
	struct vgpu_kernel *kernel;
	unsigned int nr_symbols;
	struct vgpu_symbol *symbol;
	char error[VGPU_ELF_ERROR_LEN];
};

/*
 * Take a program from the bytes of an ELF file, which are not needed afterwards, or from a file.
 * Nothing in it is trusted. On error @elf->error has the text, and nothing needs to be freed.
 */
int vgpu_elf_parse(struct vgpu_elf *elf, const void *file, size_t bytes);
int vgpu_elf_read(struct vgpu_elf *elf, const char *path);

/* Frees what belongs to a program; one that is all zero may be passed, too. */
void vgpu_elf_free(struct vgpu_elf *elf);

/* The kernel of this name, or NULL. */
const struct vgpu_kernel *vgpu_elf_kernel(const struct vgpu_elf *elf, const char *name);

/* The function that has the instruction at @address, or NULL. */
const struct vgpu_symbol *vgpu_elf_symbol(const struct vgpu_elf *elf, uint64_t address);

/* The text at @address of the image, or NULL if there is none that ends. */
const char *vgpu_elf_text(const struct vgpu_elf *elf, uint64_t address);

/* Name of a type as a program writes it ("u32"); bytes of an argument of the type. */
const char *vgpu_arg_type_name(enum vgpu_arg_type type);
uint32_t vgpu_arg_type_bytes(enum vgpu_arg_type type);

#endif /* LIBVGPU_ELF_H */
