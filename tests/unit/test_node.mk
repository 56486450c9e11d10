# SPDX-License-Identifier: GPL-2.0
# libvgpu on a render node: all of it, with a kernel of the test below its calls.
comma := ,
NODE_TESTS := node node_chan node_errors node_lies
NODE_SRCS := $(addprefix tools/libvgpu/,chan.c claim.c compute.c dev.c elf.c kernel.c label.c \
	mem.c names.c node.c node_chan.c node_find.c node_list.c node_mem.c node_open.c \
	node_space.c open.c pci.c regs.c regs_chan.c regs_mem.c regs_open.c regs_space.c space.c \
	vfio.c work.c) \
	$(addprefix tests/unit/,elf_file.c fake_packet.c node_jobs.c node_kernel.c node_rig.c \
	node_world.c)
$(foreach t,$(NODE_TESTS),$(eval SRCS_test_$t := $(NODE_SRCS))\
	$(eval CPPFLAGS_test_$t := -I$(TOP)/include/uapi -I$(TOP)/tools -I$(TOP)/tools/libvgpu \
	-idirafter $(TOP)/tools/libvgpu/uapi)\
	$(eval LDLIBS_test_$t := $(addprefix -Wl$$(comma)--wrap=,close fopen ioctl mmap open \
	readlink scandir stat)))
