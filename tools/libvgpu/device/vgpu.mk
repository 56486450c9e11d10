# SPDX-License-Identifier: GPL-2.0
#
# For Makefiles: how programs for the device are compiled.
#
#	include .../vgpu.mk
#	%.elf: %.c
#		$(RISCV_CC) $(RISCV_CFLAGS) $(RISCV_LDFLAGS) -o $@ $<
#
# RISCV_CC is empty where there is no compiler;
# RISCV_CC='clang --target=riscv64-linux-gnu -fuse-ld=lld' does, too.

VGPU_DEVICE := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
RISCV_CC ?= $(shell command -v riscv64-linux-gnu-gcc)
RISCV_CFLAGS := -std=gnu11 -O2 -Wall -Wextra -march=rv64imafd_zba_zbb_zbs -mabi=lp64d \
	-mcmodel=medany -mno-relax -msmall-data-limit=0 -fno-pic -ffreestanding \
	-ffp-contract=off -fno-asynchronous-unwind-tables -ffunction-sections -I$(VGPU_DEVICE)
RISCV_LDFLAGS := -nostdlib -static -T $(VGPU_DEVICE)/vgpu.ld \
	-Wl,-e,0,--gc-sections,--build-id=none,-z,max-page-size=4096
