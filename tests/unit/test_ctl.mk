# SPDX-License-Identifier: GPL-2.0
SRCS_test_ctl := $(addprefix tools/vgpuctl/,ctl.c ctl_find.c message.c) tools/libvgpu/names.c
CPPFLAGS_test_ctl := -I$(TOP)/include/uapi -iquote $(TOP)/tools/vgpuctl \
	-I$(TOP)/tools/libvgpu
LDLIBS_test_ctl := -luuid -Wl,--wrap=ioctl,--wrap=open
