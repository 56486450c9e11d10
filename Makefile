# SPDX-License-Identifier: GPL-2.0
#
#	make			modules (for KDIR) and tools
#	make demo		the main job, in a test machine
#	make check		all tests
# See `make help`.

KDIR ?= /lib/modules/$(shell uname -r)/build
BUILD := build
PREFIX ?= /usr/local
export PREFIX DESTDIR

.PHONY: all modules modules_install tools install demo demo-migrate check check-unit check-simt \
	check-lab check-rt check-debug check-e2e check-driver check-managers check-conformance \
	check-fuzz check-clients check-abi check-units check-modules check-domains check-debian \
	check-igt \
	check-selftests \
	check-long-fuzz check-more check-metrics check-sid openstack \
	fuzz fuzz-clients fuzz-simt fuzz-sched bench bench-sched lint clean help

all: tools modules

modules:
	@if [ ! -e "$(KDIR)/Makefile" ]; then \
		echo "no kernel headers at $(KDIR): install linux-headers-$$(uname -r), or name others by KDIR=" >&2; \
		exit 1; \
	fi
	scripts/build-modules "$(abspath $(KDIR))"

# Modules are built in build/modules/RELEASE, so that several kernels get along.
modules_install: modules
	$(MAKE) -C "$(KDIR)" M="$(CURDIR)/$(BUILD)/modules/$$(cat $(KDIR)/include/config/kernel.release)" \
		INSTALL_MOD_DIR=updates modules_install

tools:
	$(MAKE) -C tools

install: tools
	$(MAKE) -C tools install

demo:
	scripts/demo

demo-migrate:
	scripts/demo-migrate

check:
	scripts/check lab+simt,unit e2e+debug,driver,managers,conformance,lint fuzz

check-unit check-lab check-rt check-debug check-e2e check-driver check-managers \
check-conformance check-fuzz check-simt check-clients check-abi check-units check-modules \
check-domains check-debian check-igt \
check-selftests \
check-long-fuzz:
	scripts/check $(@:check-%=%)

check-more:
	scripts/check more selftests long-fuzz domains debian igt clients abi units modules

check-sid:
	scripts/check --kernel sid lab e2e managers fuzz

# Its image takes half a gigabyte more: not one of the tests of make check.
check-metrics:
	tests/metrics/check.sh

# Downloads half a gigabyte once, needs 6 GB of memory; not one of the tests of make check.
openstack:
	tests/openstack/check.sh

lint:
	scripts/check lint

# Until it is interrupted or finds something: make fuzz KERNEL=uml-debug SEED=1. Beside the clients,
# what guests' programs reach is fuzzed in user space.
fuzz:
	$(MAKE) --no-print-directory -j2 fuzz-clients fuzz-simt
fuzz-clients:
	tests/fuzz/check.sh $(or $(KERNEL),stock) --seconds 0 $(if $(SEED),--seed $(SEED))

# The pure logic that guests' programs and page tables reach: make fuzz-simt SECONDS=3600
fuzz-simt:
	$(MAKE) -s -C tests/libfuzzer check SECONDS=$(or $(SECONDS),3600)

# Clients that want more than the scheduling policies promise: make fuzz-sched SECONDS=600 SEED=1
fuzz-sched:
	tests/fuzz/sched/run.sh $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED))

bench:
	bench/run.sh

bench-sched:
	bench/sched/run.sh

clean:
	rm -rf $(BUILD)

help:
	@echo "make                 modules for KDIR (default: the running kernel's) and tools"
	@echo "make modules KDIR=.. modules only"
	@echo "make modules_install into /lib/modules/RELEASE/updates"
	@echo "make install         vgpuctl, its man page, completion and services; rules of udev;"
	@echo "                     mdevctl's call-out; libvgpu, headers; the NVML library"
	@echo "make demo            two virtual machines share a GPU, in test machines"
	@echo "make demo-migrate    one draws, moves to another QEMU with its vGPU, and draws on"
	@echo "make check           each test in the lane where it finds most (tests/lanes): check-unit check-simt"
	@echo "                     lint check-lab check-debug check-e2e check-driver check-managers check-conformance"
	@echo "                     check-fuzz"
	@echo "make check-more      all selftests on both kernels (check-selftests), check-long-fuzz, check-domains;"
	@echo "                     concurrency on PREEMPT_RT (check-rt alone: a few) and on 8 processors;"
	@echo "                     check-clients: Debian's clients of NVML beside vgpuctl;"
	@echo "                     check-abi: tools of the last ABI with today's driver, and the reverse;"
	@echo "                     check-units: systemd with the units of make install;"
	@echo "                     check-modules: modules for other kernels, DKMS in a guest"
	@echo "make check-sid       selftests, end-to-end tests and fuzzers on Debian sid's kernel and QEMU"
	@echo "                     check-igt: igt's tests that need no display, in a Debian guest, if there is"
	@echo "                     their source (IGT_SOURCE=, or Debian's source package)"
	@echo "make check-metrics   Prometheus, node_exporter and promtool read vgpuctl metrics"
	@echo "make openstack       OpenStack on two hosts with a GPU each: four virtual machines, no fifth"
	@echo "make fuzz            hostile clients on KERNEL=stock or uml-debug, until interrupted; SEED=;"
	@echo "                     and fuzz-simt beside them; fuzz-clients: without"
	@echo "make fuzz-simt       libFuzzer on the interpreter and on page tables, for SECONDS=3600"
	@echo "make fuzz-sched      attacks on the scheduling policies, in virtual time; SECONDS=, SEED="
	@echo "make bench           figures beside the kernel's sample drivers, build/bench.json"
	@echo "make bench-sched     of these the scheduler's: policies compared in virtual time"
	@echo "make lint            checkpatch, sparse, kernel-doc, shellcheck, W=1"
