#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Partitions that have CPUs of their own, also while some of these are offline; check.sh starts it
# in a machine with a CPU for each of seven units and one more, with the modules loaded.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1
# shellcheck source=tests/selftests/ktap.sh
. tests/selftests/ktap.sh
ctl=build/tools/vgpuctl/vgpuctl
uuid=6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c21
samples=build/tools/vgpu-samples

ktap_begin "$ctl" "$samples"

# cpus PARTITION [ENGINE]: prints where threads of its engines may run, a line for each list
cpus() {
	cat /proc/[0-9]*/status 2>/dev/null | awk -v name="^vgpu-${2:-.*}-.*[.]$1$" '
		$1 == "Name:" { ours = $2 ~ name }
		ours && $1 == "Cpus_allowed_list:" { print $2 }' | sort -u
}

# units PARTITION: prints how many threads execute programs
units() {
	cat /proc/[0-9]*/status 2>/dev/null | grep -c "^Name:.vgpu-gr[.0-9]*-.*\.$1$"
}

# settles PARTITION LIST [ENGINE]: threads have just begun, and are still to go to their CPUs
settles() {
	local i
	for ((i = 0; i < 100; i++)); do
		[[ $(cpus "$1" "${3:-}") != "$2" ]] || return 0
		sleep 0.1
	done
	cpus "$1" "${3:-}"
	return 1
}

online() {
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

# helpers: prints of each thread that helps partition 0, which is the whole GPU, where it may run,
# and its cgroup
helpers() {
	local status group
	grep -l "^Name:.vgpu-gr\.[0-9]*-" /proc/[0-9]*/status 2>/dev/null | while read -r status; do
		group=$(<"${status%status}cgroup")
		echo "$(sed -n 's/^Cpus_allowed_list:\t//p' "$status") ${group##*:}"
	done
}

helpers_keep_to_engine_cpus() {
	local i
	for ((i = 0; i < 100; i++)); do
		[[ $(helpers) != "$(printf '0-6 /\n%.0s' {1..6})" ]] || return 0
		sleep 0.1
	done
	helpers
	return 1
}
ktap_run helpers_keep_to_engine_cpus helpers_keep_to_engine_cpus

"$ctl" partition mode on
one=$("$ctl" partition create 1g) && two=$("$ctl" partition create 2g) && four=$("$ctl" partition create 4g)
own=6
each_has_its_own() {
	settles "$one" "$own" && settles "$two" 4-5 && settles "$four" 0-3
}
ktap_run each_has_its_own each_has_its_own
ktap_run units_as_many_as_slices test "$(units "$one") $(units "$two") $(units "$four")" == "1 2 4"
ktap_run not_shared test "$("$ctl" partition list --json | grep -c '"shared_in_time": false')" == 3

"$ctl" create --type SG16-1-2C --uuid "$uuid" >/dev/null
ktap_run goes_offline online 6 0
ktap_run works_while_its_cpu_is_offline "$samples" -d "$uuid" sgemm
ktap_run runs_on_others test "$(cpus "$one" gr)" != "$own"
ktap_run comes_back online 6 1
ktap_run works_when_it_is_back "$samples" -d "$uuid" sgemm
# It did so before that work.
ktap_run goes_back_to_its_cpu test "$(cpus "$one" gr)" == "$own"
"$ctl" remove "$uuid"

"$ctl" partition remove "$one"
# One of another partition's; the first one cannot go.
ktap_run another_goes_offline online 1 0
one=$("$ctl" partition create 1g)
ktap_run place_keeps_its_cpu settles "$one" "$own"
online 1 1
for id in "$one" "$two" "$four"; do
	"$ctl" partition remove "$id"
done
"$ctl" partition mode off
echo "1..$ktap_number"
ktap_end
