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

online() {
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online"
}

"$ctl" partition mode on
one=$("$ctl" partition create 1g) && two=$("$ctl" partition create 2g) && four=$("$ctl" partition create 4g)
own=$(cpus "$one")
ktap_run each_has_its_own test "$own $(cpus "$two") $(cpus "$four")" == "6 4-5 0-3"
ktap_run units_as_many_as_slices test "$(units "$one") $(units "$two") $(units "$four")" == "1 2 4"
ktap_run not_shared test "$("$ctl" partition list --json | grep -c '"shared_in_time": false')" == 3

"$ctl" create --type SG16-1-2C --uuid "$uuid" >/dev/null
online 6 0
ktap_run works_while_its_cpu_is_offline "$samples" -d "$uuid" sgemm
online 6 1
ktap_run works_when_it_is_back "$samples" -d "$uuid" sgemm
# Threads go back when they have work.
for ((i = 0; i < 50; i++)); do
	[[ $(cpus "$one" gr) != "$own" ]] || break
	"$samples" -d "$uuid" sgemm sha256 >/dev/null
done
ktap_run goes_back_to_its_cpu test "$(cpus "$one" gr)" == "$own"
"$ctl" remove "$uuid"

"$ctl" partition remove "$one"
# One of another partition's; the first one cannot go.
online 1 0
one=$("$ctl" partition create 1g)
ktap_run place_keeps_its_cpu test "$(cpus "$one")" == "$own"
online 1 1
for id in "$one" "$two" "$four"; do
	"$ctl" partition remove "$id"
done
"$ctl" partition mode off
echo "1..$ktap_number"
ktap_end
