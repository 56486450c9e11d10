#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [KERNEL]: tests the units of systemd in a lab machine. systemd itself starts them, as
# after a reboot: vgpu-restore brings the declared state back, vgpu-metrics writes figures.
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../.."

if [[ ${1:-} == --help ]]; then
	sed -n '3,4s/^# //p' tests/units/check.sh
	exit
fi
kernel=${1:-stock} out=build/units.tap status=0
scripts/build-modules "$kernel"
make -s -C tools
scripts/lab run --kernel "$kernel" --timeout 900 -- tests/units/run.sh | tee "$out" || status=$?
# A machine that died, or a report of its kernel, is a failure of its own.
if ((status)) && ! tail -n 1 "$out" | grep -qE ', [1-9][0-9]* failed$'; then
	echo "not ok - $kernel ends with status $status"
	passed=$(tail -n 1 "$out" | grep -oE '^[0-9]+ passed' || echo 0 passed)
	echo "$passed, 1 failed"
fi
exit "$status"
