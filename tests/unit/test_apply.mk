# SPDX-License-Identifier: GPL-2.0
SRCS_test_apply = $(SRCS_test_state) tools/vgpuctl/cmd_apply.c tools/vgpuctl/apply_part.c
CPPFLAGS_test_apply = $(CPPFLAGS_test_state)
APPLY_WRAPPED := ctl_open ctl_sched_set ctl_shares_set ctl_instance ctl_refusal \
	ctl_partition_create ctl_partition_mode ctl_partition_remove \
	sysfs_create sysfs_remove sysfs_mdevctl_defines sysfs_policies
LDLIBS_test_apply = $(LDLIBS_test_state) $(addprefix -Wl$(comma)--wrap=,$(APPLY_WRAPPED))
