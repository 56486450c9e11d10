# SPDX-License-Identifier: GPL-2.0
# vgpu_world.h: all that a state is made of, but for engines' threads, the worker and the stores,
# with shims before the others.
VGPU_WORLD := tests/unit/vgpu_world.c tests/unit/vgpu_world_guest.c \
	tests/unit/vgpu_world_team.c tests/unit/vgpu_world_try.c tests/unit/no_natives.c \
	tests/simt/state_world.c \
	drivers/vgpu/core/objects/record.c $(addprefix drivers/vgpu/soft/,card/state.c \
	face/display.c face/display_state.c face/regs_state.c face/vga.c \
	memory/space.c memory/walk.c \
	$(addprefix queue/,channel.c channel_record.c channel_state.c dma.c exec.c invalidate.c \
	packet.c queue.c stop.c turn.c usage.c) \
	$(addprefix work/,beside.c context.c context_flights.c context_record.c context_state.c \
	dispatch.c flight.c flights.c head.c move.c move_state.c packet_types.c present.c \
	program_state.c programs.c text.c) \
	$(addprefix simt/,decode.c float.c warp.c lone.c lone_when.c lone_regs.c \
	region.c access.c slow.c exact.c group.c state_save.c state_load.c \
	isa_scalar.c))
VGPU_WORLD_CPPFLAGS := -DVGPU_WORLD -I$(TOP)/sim/state_shim -I$(TOP)/sim/engine_shim \
	-I$(TOP)/sim/host_shim -I$(TOP)/tests/unit -I$(TOP)/tests/simt -I$(TOP)/tests/selftests
$(foreach t,vgpu_state group_order,$(eval SRCS_test_$t := $(VGPU_WORLD))\
	$(eval CPPFLAGS_test_$t := $(VGPU_WORLD_CPPFLAGS))\
	$(eval CFLAGS_test_$t := -fno-math-errno -fno-trapping-math -ffp-contract=off))
