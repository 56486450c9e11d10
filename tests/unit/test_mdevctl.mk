# SPDX-License-Identifier: GPL-2.0
SRCS_test_mdevctl := $(addprefix tools/mdevctl/,attrs.c config.c room.c) \
	$(addprefix tools/vgpuctl/,ctl.c ctl_find.c json.c message.c) \
	tools/libvgpu/names.c \
	$(addprefix drivers/vgpu/core/,objects/place_rules.c objects/placement.c \
	objects/profile.c settings/setting.c settings/share_rules.c)
CPPFLAGS_test_mdevctl := -I$(TOP)/include/uapi -I$(TOP)/tools -I$(TOP)/tools/libvgpu \
	-iquote $(TOP)/tools/vgpuctl
LDLIBS_test_mdevctl := -ljson-c -luuid
