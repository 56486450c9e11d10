# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Results of tests in KTAP, and what tests begin with, for the selftests that are shell scripts.

ktap_number=0 ktap_failed=0

# ktap_begin PROGRAM...: the first line; skips all tests if the driver or a program is not there
ktap_begin() {
	local program missing=''
	[[ -e /dev/vgpu ]] || missing=/dev/vgpu
	for program; do
		command -v "$program" >/dev/null || missing=$program
	done
	if [[ $missing ]]; then
		echo "1..0 # SKIP no $missing"
		exit 4
	fi
	echo "KTAP version 1"
}

# ktap_smallest_type: prints where the smallest type of the first GPU is in sysfs
ktap_smallest_type() {
	local parent=(/sys/class/mdev_bus/*)
	echo "${parent[0]}"/mdev_supported_types/*-1Q
}

# ktap_vgpu UUID: makes a vGPU of the smallest type, and $dir for files; both go when the test ends
ktap_vgpu() {
	ktap_uuid=$1
	echo "$1" >"$(ktap_smallest_type)/create" || exit 1
	# shellcheck disable=SC2034 # for the test
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"; echo 1 >"/sys/bus/mdev/devices/$ktap_uuid/remove"' EXIT
}

ktap_note() {
	printf '# %s\n' "$@"
}

# ktap_result NAME STATUS [TEXT...]: a test has ended; TEXT is printed if STATUS is not 0
ktap_result() {
	local name=$1 status=$2
	shift 2
	ktap_number=$((ktap_number + 1))
	if ((status == 0)); then
		echo "ok $ktap_number $name"
		return
	fi
	echo "not ok $ktap_number $name"
	ktap_failed=$((ktap_failed + 1))
	(($# == 0)) || printf '%s\n' "$@" | sed 's/^\(# \)*/# /'
}

# ktap_run NAME COMMAND...: a test, which fails by the status of the command
ktap_run() {
	local name=$1 text
	shift
	text=$("$@" 2>&1)
	ktap_result "$name" $? "$text"
}

# ktap_end: the last line; fails if a test has failed
ktap_end() {
	echo "# Totals: pass:$((ktap_number - ktap_failed)) fail:$ktap_failed skip:0"
	((ktap_failed == 0))
}
