# SPDX-License-Identifier: GPL-2.0
#
# The simulator's files and flags, for the Makefiles of tests/unit and bench/sched.
# Files are named from the top of the tree, which is $(TOP).

# The scheduler's files without its thread (sched.c) and without the frame rate limit.
include $(TOP)/drivers/vgpu/sched/Kbuild
SIM_SCHED := $(vgpu-sched:%=drivers/vgpu/sched/%.c)

# des.h: engines and their clients in virtual time, in one thread; needs SIM_SCHED.
SIM_DES := $(addprefix sim/,des.c des_engine.c des_client.c des_config.c des_random.c \
	des_check.c des_check_more.c des_check_books.c)

# tasks.h, race.h: the same calls under random interleavings, for tests.
SIM_RACE := $(addprefix sim/,tasks.c race_engine.c race_watch.c)

# The shims speak as the newest kernel does: no need of compat.h.
SIM_CPPFLAGS = -D_GNU_SOURCE -D_VGPU_COMPAT_H -I$(TOP)/sim/shim -I$(TOP)/include \
	-I$(TOP)/include/uapi -I$(TOP)/drivers/vgpu -I$(TOP)/sim
# Before SIM_CPPFLAGS, wherever des.h is used.
SIM_DES_CPPFLAGS = -I$(TOP)/sim/des_shim
