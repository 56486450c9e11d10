# SPDX-License-Identifier: GPL-2.0
# The commands about moves, on a driver of /dev/vgpu that is this program, with the driver's rules.
SRCS_test_migration := $(SRCS_test_commands) drivers/vgpu/core/objects/about_fits.c
CPPFLAGS_test_migration := $(CPPFLAGS_test_commands)
LDLIBS_test_migration := $(LDLIBS_test_commands),--wrap=ioctl
