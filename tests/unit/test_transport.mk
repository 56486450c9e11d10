# SPDX-License-Identifier: GPL-2.0
SRCS_test_transport := $(addprefix tools/libvgpu/,chan.c claim.c compute.c dev.c elf.c kernel.c \
	label.c mem.c names.c regs.c regs_chan.c regs_mem.c regs_open.c regs_space.c space.c \
	vfio.c work.c) \
	$(addprefix tests/unit/,elf_file.c fake_packet.c transport_fake.c)
CPPFLAGS_test_transport := -I$(TOP)/include/uapi -I$(TOP)/tools -I$(TOP)/tools/libvgpu
SRCS_test_regs := $(filter-out tests/unit/%,$(SRCS_test_transport))
CPPFLAGS_test_regs := $(CPPFLAGS_test_transport)
