#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [--cpus N] [--lane LANE] KERNEL [TEST...]: makes what the selftests need and runs
# them in a machine of the lab with that kernel (stock, stock-rt, sid, uml, uml-debug): those
# that are named, or of a lane of tests/lanes, or all.
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../.."

if [[ ${1:-} == --help ]]; then
	sed -n '3,5s/^# //p' tests/selftests/check.sh
	exit
fi
options=() name='' timeout=4500 lane=()
while [[ ${1:-} == --* ]]; do
	case $1 in
	--cpus)
		name=-cpus${2:?how many processors}
		options+=(--cpus "$2")
		;;
	--lane)
		tests=$(scripts/lanes tests "${2:?which lane}")
		read -ra lane <<<"$tests"
		;;
	*) echo "check.sh: no option $1" >&2; exit 2 ;;
	esac
	shift 2
done
kernel=${1:?a kernel: stock, stock-rt, sid, uml or uml-debug}
shift
(($# == 0)) || lane=()
((${#lane[@]} == 0)) || set -- "${lane[@]}"
[[ $kernel == uml-debug ]] && options+=(--kmemleak)
# Room for the fill of a whole GiB, of which tests take half the machine's memory.
[[ $kernel != uml* ]] && options+=(--mem 3072)
[[ -z ${VGPU_TEST_ROUNDS:-} ]] || options+=(--env "VGPU_TEST_ROUNDS=$VGPU_TEST_ROUNDS")
[[ -z ${VGPU_TEST_HOPS:-} ]] || options+=(--env "VGPU_TEST_HOPS=$VGPU_TEST_HOPS"
	--env VGPU_TEST_TIMEOUT=4000)
# Under TCG a kernel that preempts everywhere, or has more processors than the
# host, takes several times as long.
if [[ $kernel == stock-rt || -n $name ]]; then
	timeout=4500
	options+=(--env VGPU_TEST_TIMEOUT=1800)
fi
scripts/build-modules "$kernel"
make -s -C tools
make -s -C tests/selftests

mkdir -p build
tap=build/selftests-$kernel$name.tap
status=0
scripts/lab run --kernel "$kernel" --timeout "$timeout" "${options[@]}" -- \
	tests/selftests/run.sh "$@" | tee "$tap" || status=$?
# A machine that died, or a report of its kernel (kmemleak's comes last), is a
# failure of its own.
if ((status)) && ! tail -n 1 "$tap" | grep -qE ', [1-9][0-9]* failed$'; then
	echo "not ok - $kernel$name ends with status $status"
	passed=$(tail -n 1 "$tap" | grep -oE '^[0-9]+ passed' || echo 0 passed)
	echo "$passed, 1 failed"
fi

# own_machine PROGRAM OPTIONS PARAMETER...: a test that has a machine of its own, with these options
# of the lab and these parameters of the module; its results are added to the rest
own_machine() {
	local program=$1 options own passed failed test ret=0
	test=$(basename "$1" .sh)
	test=${test%_test}
	[[ $kernel =~ ^(stock|sid)$ && ( $all || " $wanted " =~ \ $test(_test)?\  ) ]] || return 0
	read -ra options <<<"$2"
	shift 2
	own=build/selftests-$kernel$name-$test.tap
	# shellcheck disable=SC2016 # the machine's shell is to expand it
	scripts/lab run --kernel "$kernel" --timeout 900 "${options[@]}" -- sh -c \
		'program=$1; shift; scripts/load "$@" && "$program" && scripts/unload' sh \
		"$program" "$@" | tee "$own" || ret=$?
	read -r passed _ failed _ < <(tail -n 1 "$tap")
	passed=$((passed + $(grep -c '^ok ' "$own" || :)))
	failed=$((failed + $(grep -c '^not ok ' "$own" || :)))
	# Nothing said, or skipped, is nothing tested.
	if ! grep -q '^ok ' "$own" || grep -q '# SKIP' "$own"; then
		echo "not ok - ${test}_test ends without a result"
		failed=$((failed + 1))
	elif ((ret && !failed)); then
		echo "not ok - ${test}_test ends with status $ret"
		failed=1
	fi
	((failed == 0)) || status=1
	echo "$passed passed, $failed failed" | tee -a "$tap"
}
all='' wanted="$*"
(($#)) || all=1
# The host's OOM killer at work: the kernel's reports of it are no failure.
own_machine build/selftests/oom_test "--mem 1536 --allow-reports"
# A processor for each unit, and one more.
own_machine tests/selftests/partition_cpus_test.sh "--cpus 8" units=7 engine_cpus=0-6

# A lane's test that run.sh has in no round, or on another kernel only, would run nowhere. oom and
# partition_cpus were counted above, and pynvml runs where the image has it.
lost=()
for test in "${lane[@]}"; do
	[[ $test =~ ^(oom|partition_cpus|pynvml)$ ]] || grep -aq "^# ${test}_test: [0-9]* s$" "$tap" || lost+=("$test")
done
if ((status == 0 && ${#lost[@]})); then
	read -r passed _ failed _ < <(tail -n 1 "$tap")
	printf 'not ok - %s_test has not run\n' "${lost[@]}"
	echo "$passed passed, $((failed + ${#lost[@]})) failed" | tee -a "$tap"
	status=1
fi
exit "$status"
