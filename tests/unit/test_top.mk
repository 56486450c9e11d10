# SPDX-License-Identifier: GPL-2.0
SRCS_test_top := $(addprefix tools/vgpuctl/,ctl.c ctl_find.c json.c message.c setting.c share.c \
	sysfs.c table.c top.c top_draw.c value.c) tools/libvgpu/names.c
CPPFLAGS_test_top := -I$(TOP)/include/uapi -iquote $(TOP)/tools/vgpuctl -I$(TOP)/tools/libvgpu
LDLIBS_test_top := -ljson-c -lsmartcols -luuid
