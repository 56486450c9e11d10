# SPDX-License-Identifier: GPL-2.0
SRCS_test_replace := $(addprefix tools/vgpuctl/,message.c replace.c)
CPPFLAGS_test_replace := -I$(TOP)/include/uapi -iquote $(TOP)/tools/vgpuctl
