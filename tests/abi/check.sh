#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh: runs the tools from before the last change of the control ABI with today's driver, and
# today's tools with the driver from before, in a lab machine with the stock kernel. "Before" is the
# commit before the one that last changed the ABI's version; its modules and tools are in build/abi.
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../.."

if [[ ${1:-} == --help ]]; then
	sed -n '3,5s/^# //p' tests/abi/check.sh
	exit
fi
header=include/uapi/linux/vgpu.h
change=$(git log -n 1 --format=%H -G'define VGPU_ABI_M[AI][JN]OR' -- "$header")
if [[ ! $change ]] || ! before=$(git rev-parse --short -q --verify "$change^"); then
	echo "not ok - this history has no earlier version of the ABI: git fetch --unshallow"
	echo "0 passed, 1 failed"
	exit 1
fi
scripts/lab image
tree=build/abi/$before
if [[ ! -e $tree ]]; then
	rm -rf build/abi
	mkdir -p "$tree.part"
	git archive "$before" -- Kbuild drivers include scripts sim tools | tar -x -C "$tree.part"
	mv "$tree.part" "$tree"
fi
# Warnings of what was are no matter here.
scripts/build-modules --src "$tree" --out "$tree/build/modules/$(scripts/lab path stock/release)" stock
make -s -C "$tree/tools"
scripts/build-modules stock
make -s -C tools
make -s -C tests/selftests

scripts/lab run --kernel stock --timeout 1800 -- tests/abi/run.sh "$tree"
