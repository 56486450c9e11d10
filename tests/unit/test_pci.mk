# SPDX-License-Identifier: GPL-2.0
SRCS_test_pci := $(addprefix tools/libvgpu/,chan.c claim.c dev.c label.c mem.c names.c pci.c \
	regs.c regs_chan.c regs_mem.c regs_space.c space.c)
CPPFLAGS_test_pci := -I$(TOP)/include/uapi -I$(TOP)/tools -I$(TOP)/tools/libvgpu
LDLIBS_test_pci := $(addprefix -Wl$(comma)--wrap=,fopen open nanosleep readlink scandir stat)
