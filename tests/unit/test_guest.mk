# SPDX-License-Identifier: GPL-2.0
# The commands that show guests, on a driver of /dev/vgpu that is this program.
SRCS_test_guest := $(SRCS_test_commands)
CPPFLAGS_test_guest := $(CPPFLAGS_test_commands)
LDLIBS_test_guest := $(LDLIBS_test_commands),--wrap=ioctl
