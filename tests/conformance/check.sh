#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [CLIENT...]: runs the conformance checks in lab machines: all but Nova's on uml-debug;
# and on stock, with an IOMMU, two NUMA nodes and a PCI domain of its own for the GPUs, those of
# clients that read these. Nova's run on stock only, as they wait for libvirt most of the time.
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../.."

if [[ ${1:-} == --help ]]; then
	sed -n '3,5s/^# //p' tests/conformance/check.sh
	exit
fi
scripts/build-modules uml-debug
scripts/build-modules stock
scripts/lab chroot make -s -C tools O="$PWD/build/lab-tools"

passed=0 failed=0
# lane NAME LAB-OPTION... -- CLIENT...
lane() {
	local name=$1 options=() status=0 line=
	shift
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	echo "# conformance on $name: $*"
	scripts/lab run --timeout 3000 "${options[@]}" -- tests/conformance/run.py "$@" |
		tee "build/conformance-$name.tap" || status=$?
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "build/conformance-$name.tap" | tail -n 1) || :
	if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		passed=$((passed + BASH_REMATCH[1]))
		failed=$((failed + BASH_REMATCH[2]))
	fi
	# Nor is it a success to have tested nothing.
	if (( ! status )) && [[ ! $line =~ ^[1-9] ]]; then
		echo "not ok - $name ends without a test that passed"
		failed=$((failed + 1))
	fi
	# A machine that died, or a report of its kernel, is a failure of its own.
	if (( status )) && [[ ! $line =~ ,\ [1-9] ]]; then
		echo "not ok - $name ends with status $status"
		failed=$((failed + 1))
	fi
}

mkdir -p build
if (( $# )); then
	lane uml-debug --kernel uml-debug -- "$@"
else
	clients=(kubevirt kubevirt-gpu-device-plugin proxmox)
	lane uml-debug --kernel uml-debug -- "${clients[@]}" libvirt mdevctl
	lane stock --iommu --append numa=fake=2 -- "${clients[@]}" nova
fi
echo "$passed passed, $failed failed"
(( ! failed ))
