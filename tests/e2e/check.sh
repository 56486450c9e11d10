#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh guests|driver|managers|domains|debian|igt|logged [KERNEL]: the end-to-end tests of guests
# and their displays, of the guest's driver, those of mdevctl and libvirt, libvirt's guests and long
# tests, Debian guests, igt in one, or a move where the driver logs what it writes (uml-kobject).
# Makes what they need, and runs them in machines of the lab: guests and driver on uml-debug, the
# rest on stock, or all of them on KERNEL (sid; there a guest is emulated in an emulated machine,
# driver is not run, and managers has libvirt's guests, too).
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../.."

if [[ ${1:-} == --help ]]; then
	sed -n '3,8s/^# //p' tests/e2e/check.sh
	exit
fi
part=${1:-} kernel=${2:-stock}
if [[ ! $part =~ ^(guests|driver|managers|domains|debian|igt|logged)$ ]]; then
	echo "check.sh: '$part': there are guests, driver, managers, domains, debian, igt and logged" >&2
	exit 2
fi
[[ $part != igt ]] || scripts/guest-igt
if [[ $part == @(debian|igt) ]]; then
	scripts/guest-image debian
	scripts/build-modules uml
else
	scripts/guest-image
fi
[[ $part-$kernel != @(guests|driver|domains)-stock ]] || scripts/guest-image drm
[[ $part-$kernel != @(guests|driver|domains)-stock ]] || scripts/build-modules uml-debug
# Without it the test that needs it fails, and no other one.
[[ $part-$kernel != domains-stock ]] || scripts/guest-qemu sid || :
[[ $part-$kernel == @(debian|igt)-stock ]] || scripts/build-modules "$kernel"
scripts/lab chroot make -s -C tools O="$PWD/build/lab-tools"

passed=0 failed=0 mem=2048
# lane KERNEL TIMEOUT GROUP...
lane() {
	local kernel=$1 timeout=$2 status=0 line=
	shift 2
	echo "# e2e on $kernel: $*"
	scripts/lab run --kernel "$kernel" --mem "$mem" --timeout "$timeout" -- tests/e2e/run.sh "$@" |
		tee "build/$part-$kernel.tap" || status=$?
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "build/$part-$kernel.tap" | tail -n 1) || :
	if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		passed=$((passed + BASH_REMATCH[1]))
		failed=$((failed + BASH_REMATCH[2]))
	fi
	# Nor is it a success to have tested nothing.
	if (( ! status )) && [[ ! $line =~ ^[1-9] ]]; then
		echo "not ok - $kernel ends without a test that passed"
		failed=$((failed + 1))
	fi
	# A machine that died, or a report of its kernel, is a failure of its own.
	if (( status )) && [[ ! $line =~ ,\ [1-9] ]]; then
		echo "not ok - $kernel ends with status $status"
		failed=$((failed + 1))
	fi
}

mkdir -p build
case $part-$kernel in
guests-stock)
	lane uml-debug 4500 guest display migrate iommufd
	lane stock 1500 smoke pci
	;;
driver-stock) lane uml-debug 4500 driver ;;
managers-stock)
	# All but guests is several times as fast on stock: it is processes that come and go.
	lane stock 2000 manage nodedev
	;;
domains-stock)
	lane uml-debug 5500 domains long moves
	# An x86 kernel's VFIO, which has no log either.
	lane stock 2400 migrate_at_work migrate_to_a_file
	;;
debian-* | igt-*)
	# Two Debian guests at one time.
	mem=3072
	lane uml 4500 "$part"
	;;
logged-*) lane "$kernel" 1200 migrate_at_work ;;
guests-*) lane "$kernel" 3600 guest display pci ;;
domains-*) lane "$kernel" 3600 domains ;;
managers-*) lane "$kernel" 3600 manage nodedev domains ;;
esac
echo "$passed passed, $failed failed"
(( ! failed ))
