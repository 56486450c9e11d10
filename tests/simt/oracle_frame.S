/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is around the sequences of oracle.py. Each runs once per block, in the order of registers of
 * struct block in test_oracle.c: registers are loaded from it, the sequence runs, and they are
 * stored there. qemu-riscv64 begins at _start: until the standard input ends it reads a struct work
 * from there, runs the sequence for all blocks and writes the work to the standard output. A
 * work-item of the device begins at device, with its block.
 */
#define WORK_HI		1		/* of the address of the work: << 32 */
#define BLOCKS		32
#define BLOCK_SHIFT	10
#define WORK_BYTES	((BLOCKS + 1) << BLOCK_SHIFT)
#define X(n)		(8 * (n))
#define F(n)		(256 + 8 * (n))
#define FCSR		512
#define RETURN		520
#define LOCAL(k)	(896 + 8 * (k))	/* the last of its memory: what is in local memory, */
#define PRIVATE(k)	(960 + 8 * (k))	/* and in private memory, while a sequence uses these */
#define LOCAL_STEP	512		/* between two words of a block in local memory */
#define SEQUENCE	0		/* of the work */
#define NEXT		8		/* the block that runs, of qemu */

#define SYS_READ	63
#define SYS_WRITE	64
#define SYS_EXIT	93

	.option norelax
	/* A struct oracle_case of test_oracle.c; the name has 8 characters. */
	.macro	case number, traits, name
	.section .cases, "a"
	.quad	sequence_\number, \traits
	.ascii	"\name"
	.text
sequence_\number:
	ld	x30, X(30)(x31)
	.endm

	/* Of the four instructions at \label the interpreter gets none, but \word. */
	.macro	instead label, word
	.section .patches, "a"
	.quad	\label, \word
	.text
	.endm

	.macro	each_x op, last
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, \
		21, 22, 23, 24, 25, 26, 27, 28, 29, \last
	\op	x\n, X(\n)(x31)
	.endr
	.endm

	.macro	each_f op
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, \
		21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	f\n, F(\n)(x31)
	.endr
	.endm

	/*
	 * Local memory has the first word of all blocks, then the second of all: x31 is
	 * 1 0000 0000 and 1 KiB for each block, the first is number 1.
	 */
	.macro	windows local, private
	lui	\private, 0x60000
	srli	\local, x31, 7
	binvi	\local, \local, 25
	bseti	\local, \local, 30
	.endm

	.macro	windows_in
	windows	x29, x30
	.irp	k, 0, 1, 2, 3, 4, 5, 6, 7
	ld	x28, PRIVATE(\k)(x31)
	sd	x28, 8 * \k(x30)
	.endr
	.irp	k, 0, 1, 2, 3
	ld	x28, LOCAL(\k)(x31)
	sd	x28, LOCAL_STEP * \k(x29)
	.endr
	.irp	n, 28, 29, 30
	ld	x\n, X(\n)(x31)
	.endr
	.endm

	.macro	windows_out
	.irp	n, 28, 29, 30
	sd	x\n, X(\n)(x31)
	.endr
	windows	x29, x30
	.irp	k, 0, 1, 2, 3, 4, 5, 6, 7
	ld	x28, 8 * \k(x30)
	sd	x28, PRIVATE(\k)(x31)
	.endr
	.irp	k, 0, 1, 2, 3
	ld	x28, LOCAL_STEP * \k(x29)
	sd	x28, LOCAL(\k)(x31)
	.endr
	.irp	n, 28, 29, 30
	ld	x\n, X(\n)(x31)
	.endr
	.endm

	/* The entry of the interpreter is the first case. */
	.section .cases, "a"
	.quad	device, 0, 0

	.text
	.globl	_start
_start:
	li	x10, WORK_HI
	slli	x10, x10, 32
	mv	x11, x10
	li	x12, WORK_BYTES
	li	x20, WORK_BYTES
read:	li	x10, 0
	li	x17, SYS_READ
	ecall
	blez	x10, exit
	add	x11, x11, x10
	sub	x20, x20, x10
	mv	x12, x20
	bnez	x20, read
	li	x10, WORK_HI
	slli	x10, x10, 32
	sd	x0, NEXT(x10)
next:	li	x10, WORK_HI
	slli	x10, x10, 32
	ld	x5, NEXT(x10)
	li	x6, BLOCKS
	beq	x5, x6, write
	addi	x6, x5, 1
	sd	x6, NEXT(x10)
	addi	x6, x10, 64	/* no reservation of an earlier sequence is left */
	sc.d	x0, x0, (x6)
	lla	x1, next
	j	enter
write:	mv	x11, x10
	li	x12, WORK_BYTES
	li	x10, 1
	li	x17, SYS_WRITE
	ecall
	li	x12, WORK_BYTES
	beq	x10, x12, _start
	li	x10, 1
exit:	neg	x10, x10	/* 0 at the end of the input */
	li	x17, SYS_EXIT
	ecall

device:	csrrs	x5, 0xcc0, x0	/* x10: the first work-item's block, less one */
enter:	addi	x5, x5, 1
	slli	x5, x5, BLOCK_SHIFT
	add	x31, x10, x5
	sd	x1, RETURN(x31)
	ld	x5, FCSR(x31)
	fscsr	x5
	each_f	fld
	li	x10, WORK_HI
	slli	x10, x10, 32
	ld	x30, SEQUENCE(x10)
	each_x	ld, 29
	jr	x30

finish:	each_x	sd, 30
	each_f	fsd
	frcsr	x5
	sd	x5, FCSR(x31)
	ld	x1, RETURN(x31)
	jr	x1

	.section .work, "aw", @nobits
	.skip	WORK_BYTES

	/* Of qemu: on the device, these addresses are those of such memory. */
	.section .local, "aw", @nobits
	.skip	4096
	.section .private, "aw", @nobits
	.skip	4096
