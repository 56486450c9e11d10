# SPDX-License-Identifier: GPL-2.0
# All of vgpuctl but its main(): the table of commands leads to every one.
SRCS_test_commands := $(patsubst $(TOP)/%,%,$(filter-out %/main.c,\
	$(sort $(wildcard $(TOP)/tools/vgpuctl/*.c)))) tools/libvgpu/names.c \
	$(addprefix drivers/vgpu/core/,objects/place_rules.c objects/placement.c \
	objects/profile.c settings/setting.c settings/share_rules.c)
CPPFLAGS_test_commands := -D_GNU_SOURCE -I$(TOP)/include/uapi -I$(TOP)/tools \
	-I$(TOP)/tools/libvgpu -iquote $(TOP)/tools/vgpuctl \
	-DCTL_MANUAL='"$(TOP)/tools/vgpuctl/vgpuctl.8"' \
	-DCTL_SCHEMA='"$(TOP)/Documentation/vgpuctl.schema.json"' \
	-DCTL_ATTRIBUTES='"$(TOP)/Documentation/ABI/testing/sysfs-vgpu"'
LDLIBS_test_commands := -ljson-c -lsmartcols -lncursesw -luuid -Wl,--wrap=open
