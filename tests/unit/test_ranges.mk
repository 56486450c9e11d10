# SPDX-License-Identifier: GPL-2.0
SRCS_test_ranges := tools/vgpuctl/ranges.c
CPPFLAGS_test_ranges := -I$(TOP)/tools
