#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [OPTION...]: the fuzzer, inside a lab machine: loads the modules with two
# GPUs, runs build/fuzz/fuzz with the options, unloads the modules.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1

if [[ ${1:-} == --help ]]; then
	sed -n '3,4s/^# //p' tests/fuzz/run.sh
	build/fuzz/fuzz --help
	exit
fi
ulimit -n 8192
passed=0 failed=0
result() {
	if (($1)); then
		echo "not ok $2"
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
}

scripts/load gpus=2 vgpu.quarantine_faults=0 || exit 1
build/fuzz/fuzz "$@"
result $? "the fuzzer found something"
scripts/unload
result $? "the modules cannot be unloaded"
echo "$passed passed, $failed failed"
((failed == 0))
