# SPDX-License-Identifier: GPL-2.0
SRCS_test_metrics := $(addprefix tools/vgpuctl/,ctl.c ctl_find.c guest.c message.c metrics.c \
	metrics_text.c) \
	tools/libvgpu/names.c
CPPFLAGS_test_metrics := -I$(TOP)/include/uapi -iquote $(TOP)/tools/vgpuctl \
	-I$(TOP)/tools/libvgpu
LDLIBS_test_metrics := -luuid
