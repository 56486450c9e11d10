#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh TREE: the tools of TREE, another checkout with its build, with this one's driver, and the
# reverse, inside a lab machine; see check.sh.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit

if [[ ${1:-} == --help ]]; then
	sed -n '3,4s/^# //p' tests/abi/run.sh
	exit
fi
tree=${1:?another checkout}
passed=0 failed=0

# version TREE: its ABI
version() {
	sed -n 's/^#define VGPU_ABI_M[AI][JN]OR[[:space:]]*//p' "$1/include/uapi/linux/vgpu.h" |
		paste -sd .
}

# with TOOLS DRIVER: the tools of one tree with the driver of the other one
with() {
	local output line
	echo "# tools of ABI $(version "$1"), driver of ABI $(version "$2")"
	output=$("$2/scripts/load" vgpu.quarantine_faults=0 2>&1 &&
		tests/abi/tools.py "$1" "$(version "$1")" "$(version "$2")")
	echo "$output"
	line=${output##*$'\n'}
	if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
	else
		echo "not ok - no driver, or the test has died"
		failed=$((failed + 1))
	fi
	if ! "$2/scripts/unload"; then
		echo "not ok - the driver cannot be unloaded"
		failed=$((failed + 1))
	fi
}

with "$tree" .
with . "$tree"
echo "$passed passed, $failed failed"
((failed == 0))
