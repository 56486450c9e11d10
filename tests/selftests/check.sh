#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh KERNEL [TEST...]: makes what the selftests need and runs them in a
# machine of the lab with that kernel (stock, uml, uml-debug).
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../.."

kernel=${1:?a kernel: stock, uml or uml-debug}
shift
options=()
[[ $kernel == uml-debug ]] && options+=(--kmemleak)
# Room for the fill of a whole GiB, of which tests take half the machine's memory.
[[ $kernel == stock ]] && options+=(--mem 3072)
scripts/build-modules "$kernel"
make -s -C tools
make -s -C tests/selftests

mkdir -p build
tap=build/selftests-$kernel.tap
status=0
scripts/lab run --kernel "$kernel" --timeout 1500 "${options[@]}" -- \
	tests/selftests/run.sh "$@" | tee "$tap" || status=$?
# A machine that died, or a report of its kernel (kmemleak's comes last), is a
# failure of its own.
if ((status)) && ! tail -n 1 "$tap" | grep -qE ', [1-9][0-9]* failed$'; then
	echo "not ok - $kernel ends with status $status"
	passed=$(tail -n 1 "$tap" | grep -oE '^[0-9]+ passed' || echo 0 passed)
	echo "$passed, 1 failed"
fi
exit "$status"
