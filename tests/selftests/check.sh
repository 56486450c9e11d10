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

# The host's OOM killer at work: the kernel's reports of it are no failure, so it
# has a machine of its own, and what it says is added to the rest.
if [[ $kernel == stock && ( $# == 0 || " $* " == *" oom_test "* ) ]]; then
	oom=build/selftests-oom.tap
	scripts/lab run --kernel stock --mem 1536 --allow-reports --timeout 300 -- \
		sh -c 'scripts/load && build/selftests/oom_test && scripts/unload' | tee "$oom" || status=$?
	read -r passed _ failed _ < <(tail -n 1 "$tap")
	passed=$((passed + $(grep -c '^ok ' "$oom" || :)))
	failed=$((failed + $(grep -c '^not ok ' "$oom" || :)))
	# Nothing said, or skipped, is nothing tested.
	if ! grep -q '^ok ' "$oom" || grep -q '# SKIP' "$oom"; then
		echo "not ok - oom_test ends without a result"
		failed=$((failed + 1))
	fi
	((failed == 0)) || status=1
	echo "$passed passed, $failed failed" | tee -a "$tap"
fi
exit "$status"
