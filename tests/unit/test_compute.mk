# SPDX-License-Identifier: GPL-2.0
SRCS_test_compute := $(addprefix tools/libvgpu/,chan.c claim.c compute.c dev.c elf.c kernel.c \
	label.c log.c mem.c names.c regs.c regs_chan.c regs_mem.c regs_open.c regs_space.c \
	space.c) tests/unit/elf_file.c
CPPFLAGS_test_compute := -I$(TOP)/include/uapi -I$(TOP)/tools -I$(TOP)/tools/libvgpu
