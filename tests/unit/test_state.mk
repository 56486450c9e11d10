# SPDX-License-Identifier: GPL-2.0
SRCS_test_state := $(addprefix tools/vgpuctl/,ctl.c ctl_find.c json.c message.c plan.c \
	plan_part.c plan_room.c plan_steer.c sched.c setting.c share.c state.c sysfs.c table.c \
	value.c) \
	tools/libvgpu/names.c \
	$(addprefix drivers/vgpu/core/,objects/place_rules.c objects/placement.c \
	objects/profile.c settings/setting.c settings/share_rules.c)
CPPFLAGS_test_state := -I$(TOP)/include/uapi -I$(TOP)/tools -I$(TOP)/tools/libvgpu \
	-iquote $(TOP)/tools/vgpuctl
LDLIBS_test_state := -ljson-c -lsmartcols -luuid
SRCS_test_steer = $(SRCS_test_state)
CPPFLAGS_test_steer = $(CPPFLAGS_test_state)
LDLIBS_test_steer = $(LDLIBS_test_state)
