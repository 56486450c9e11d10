# SPDX-License-Identifier: GPL-2.0
#
# The simulator's files and flags, for the Makefiles of tests/unit, tests/fuzz/sched and
# bench/sched.
# Files are named from the top of the tree, which is $(TOP).

# The scheduler's files without its thread (sched.c, thread.c) and without the frame rate limit.
include $(TOP)/drivers/vgpu/sched/Kbuild
SIM_SCHED := $(vgpu-sched:%=drivers/vgpu/sched/%.c)

# host.h: a host and its engines in virtual time, in one thread, around SIM_SCHED.
SIM_HOST := $(addprefix sim/,host.c host_time.c host_worker.c host_engine.c)

# des.h: clients for that by a configuration, the record, and the promises checked on it.
SIM_DES := $(SIM_HOST) $(addprefix sim/,des.c des_client.c des_record.c des_config.c \
	des_random.c des_era.c des_check.c des_check_more.c des_check_books.c)

# apart.h: two partitions on one CPU of that host.
SIM_APART := sim/apart.c

# tasks.h, race.h: the same calls under random interleavings, for tests.
SIM_RACE := $(addprefix sim/,tasks.c race_engine.c race_watch.c)

# The shims speak as the newest kernel does: no need of compat.h.
SIM_CPPFLAGS = -D_GNU_SOURCE -D_VGPU_COMPAT_H -I$(TOP)/sim/shim -I$(TOP)/include \
	-I$(TOP)/include/uapi -I$(TOP)/drivers/vgpu -I$(TOP)/sim
# Before SIM_CPPFLAGS, with all of SIM_HOST.
SIM_DES_CPPFLAGS = -I$(TOP)/sim/host_shim
