#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh KERNEL [OPTION...]: builds the fuzzer and runs it in a machine of the
# lab with that kernel (stock or sid, with slub_debug; uml-debug). Options are the
# fuzzer's: --seconds (60), --seed, --clients, --threads.
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../.."

if [[ ${1:---help} == --help ]]; then
	sed -n '3,5s/^# //p' tests/fuzz/check.sh
	exit
fi
kernel=$1
shift
options=(--mem 3072)
case $kernel in
stock*|sid) options+=(--append slub_debug=FZPU) ;;
*-debug) options+=(--kmemleak) ;;
esac
seconds=60
for ((i = 1; i < $#; i++)); do
	[[ ${!i} != --seconds ]] || { j=$((i + 1)); seconds=${!j}; }
done
# 0 is without end.
((seconds)) && options+=(--timeout "$((seconds + 1200))") || options+=(--timeout 1000000)
scripts/build-modules "$kernel"
make -s -C tests/fuzz
mkdir -p build
tap=build/fuzz-$kernel.tap
status=0
scripts/lab run --kernel "$kernel" "${options[@]}" -- tests/fuzz/run.sh "$@" |
	tee "$tap" || status=$?
# A machine that died, or a report of its kernel, is a failure of its own.
if ((status)) && ! tail -n 1 "$tap" | grep -qE ', [1-9][0-9]* failed$'; then
	echo "not ok - $kernel ends with status $status"
	passed=$(tail -n 1 "$tap" | grep -oE '^[0-9]+ passed' || echo 0 passed)
	echo "$passed, 1 failed"
fi
exit "$status"
