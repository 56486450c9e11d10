#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [KERNEL]: the end-to-end tests. Makes what they need, and runs them in
# machines of the lab: all with guests on uml-debug, and on stock what needs it,
# or all of them on KERNEL (sid; there a guest is emulated in an emulated machine).
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../.."

if [[ ${1:-} == --help ]]; then
	sed -n '3,5s/^# //p' tests/e2e/check.sh
	exit
fi
scripts/guest-image
kernel=${1:-}
if [[ -n $kernel ]]; then
	scripts/build-modules "$kernel"
else
	scripts/build-modules uml-debug
	scripts/build-modules stock
fi
scripts/lab chroot make -s -C tools O="$PWD/build/lab-tools"

passed=0 failed=0
# lane KERNEL TIMEOUT GROUP...
lane() {
	local kernel=$1 timeout=$2 status=0 line=
	shift 2
	echo "# e2e on $kernel: $*"
	scripts/lab run --kernel "$kernel" --timeout "$timeout" -- tests/e2e/run.sh "$@" |
		tee "build/e2e-$kernel.tap" || status=$?
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "build/e2e-$kernel.tap" | tail -n 1) || :
	if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		passed=$((passed + BASH_REMATCH[1]))
		failed=$((failed + BASH_REMATCH[2]))
	fi
	# A machine that died, or a report of its kernel, is a failure of its own.
	if (( status )) && [[ ! $line =~ ,\ [1-9] ]]; then
		echo "not ok - $kernel ends with status $status"
		failed=$((failed + 1))
	fi
}

mkdir -p build
if [[ -n $kernel ]]; then
	lane "$kernel" 3600 guest display manage pci libvirt
else
	lane uml-debug 1800 guest display iommufd manage libvirt
	lane stock 500 smoke pci virsh autostart_as_shipped
fi
echo "$passed passed, $failed failed"
(( ! failed ))
