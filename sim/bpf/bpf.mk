# SPDX-License-Identifier: GPL-2.0
#
# The kernel's compiler of BPF for programs in user space, for their Makefiles, after sim.mk: they
# compile with BPF_CPPFLAGS and link BPF_OBJS, which are made in BPF_O.
#
# It is made of the kernel's source and headers in the lab's cache, which are not made for this:
# without them, or for another CPU than x86-64, the interface is there and compiles nothing.

# The default goal stays that of the Makefile.
BPF_GOAL := $(.DEFAULT_GOAL)
BPF_O ?= $(O)/bpf
BPF_CC ?= gcc
BPF_CPPFLAGS := -I$(TOP)/sim/bpf_shim
BPF_OBJS := $(BPF_O)/prog.o $(BPF_O)/host.o

BPF_SOURCE := $(if $(filter x86_64,$(shell uname -m)),$(shell cd $(TOP) && \
	plan=$$(scripts/lab plan source 2>/dev/null) && [ -z "$$plan" ] && \
	scripts/lab path source 2>/dev/null))
# What was generated for Debian's kernel, not for the one with PREEMPT_RT.
BPF_HEADERS := $(if $(BPF_SOURCE),$(filter-out %-rt-amd64,$(wildcard \
	$(shell $(TOP)/scripts/lab path root)/usr/src/linux-headers-*-amd64)))
ifneq ($(BPF_HEADERS),)
BPF_OBJS += $(BPF_O)/jit.o
endif

# As the kernel is compiled, but for what its own start would have to patch.
BPF_KERNEL_CPPFLAGS = -nostdinc $(foreach dir,arch/x86/include include arch/x86/include/uapi \
	include/uapi,-I$(BPF_SOURCE)/$(dir) -I$(BPF_HEADERS)/$(subst \
	include/uapi,include/generated/uapi,$(dir:arch/x86/include=$(dir)/generated))) \
	-include $(BPF_SOURCE)/include/linux/compiler-version.h \
	-include $(BPF_SOURCE)/include/linux/kconfig.h \
	-include $(BPF_SOURCE)/include/linux/compiler_types.h -iquote $(BPF_SOURCE) \
	-D__KERNEL__ -D__NO_FORTIFY -DCC_USING_FENTRY -DKBUILD_MODNAME='"bpf"'
BPF_KERNEL_CFLAGS := -std=gnu11 -O2 -g -w -fPIE -fwhole-program -fno-strict-aliasing \
	-fshort-wchar -funsigned-char -fms-extensions -mgeneral-regs-only -fno-stack-protector \
	-fcf-protection=none

$(BPF_O)/jit.o: $(TOP)/sim/bpf/jit.c $(TOP)/sim/bpf/bpf.mk
	@mkdir -p $(@D)
	@$(BPF_CC) $(BPF_KERNEL_CPPFLAGS) -MMD -MP $(BPF_KERNEL_CFLAGS) -c -o $@ $<

$(BPF_O)/prog.o $(BPF_O)/host.o: $(BPF_O)/%.o: $(TOP)/sim/bpf/%.c $(TOP)/sim/bpf/bpf.mk
	@mkdir -p $(@D)
	@$(CC) $(BPF_CPPFLAGS) $(SIM_CPPFLAGS) -MMD -MP -std=gnu11 -O2 -g -Wall -Wextra \
		-Wno-unused-parameter -Wno-address -c -o $@ $<

-include $(BPF_OBJS:.o=.d)
.DEFAULT_GOAL := $(BPF_GOAL)
