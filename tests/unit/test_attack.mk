# SPDX-License-Identifier: GPL-2.0
SRCS_test_attack := $(SIM_SCHED) $(SIM_HOST) $(addprefix tests/fuzz/sched/,attack_sim.c \
	attack_client.c attack_score.c attack_search.c attack_text.c attack_known.c) \
	$(addprefix bench/sched/,due.c gvt_like.c policies.c util.c) bench/die.c tools/vgpuctl/due.c
CPPFLAGS_test_attack = $(SIM_DES_CPPFLAGS) -I$(TOP)/tests/fuzz/sched \
	-I$(TOP)/bench/sched -I$(TOP)/bench -I$(TOP)/tools
CFLAGS_test_attack := -O2
LDLIBS_test_attack := -lm
