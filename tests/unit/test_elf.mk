# SPDX-License-Identifier: GPL-2.0
SRCS_test_elf := tools/libvgpu/elf.c tools/libvgpu/kernel.c tests/unit/elf_file.c
CPPFLAGS_test_elf := -I$(TOP)/include/uapi -I$(TOP)/tools
