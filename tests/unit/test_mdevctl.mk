# SPDX-License-Identifier: GPL-2.0
SRCS_test_mdevctl := $(addprefix tools/mdevctl/,attrs.c config.c) \
	$(addprefix tools/vgpuctl/,json.c message.c) \
	$(addprefix drivers/vgpu/core/,settings/setting.c settings/share_rules.c)
CPPFLAGS_test_mdevctl := -I$(TOP)/include/uapi -I$(TOP)/tools -iquote $(TOP)/tools/vgpuctl
LDLIBS_test_mdevctl := -ljson-c -luuid
