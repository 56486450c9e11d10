#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh: the tests of unmodified clients of NVML, inside a lab machine, after: make -C tools,
# make -C tests/selftests and scripts/build-modules KERNEL. Two vGPUs always have work and are held
# to caps meanwhile; screens that were looked at are left in build/clients.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit

if [[ ${1:-} == --help ]]; then
	sed -n '3,5s/^# //p' tests/clients/run.sh
	exit
fi
ctl=build/tools/vgpuctl/vgpuctl
first=c11e0000-0000-4000-8000-000000000001
second=c11e0000-0000-4000-8000-000000000002
busy=()

begin() {
	scripts/load &&
		"$ctl" create --type SG16-4Q --uuid "$first" &&
		"$ctl" create --type SG16-2Q --uuid "$second" &&
		"$ctl" sched set --policy qos &&
		"$ctl" share set "$first" --cap 300 "$second" --cap 500
}

# work UUID: a process keeps the vGPU busy; returns when its first work is done.
work() {
	local word
	exec {told}< <(exec build/selftests/busy "$1")
	busy+=($!)
	read -r word <&"$told" && [[ $word == busy ]]
}

if ! { begin >/dev/null && work "$first" && work "$second"; }; then
	echo "not ok - no vGPUs that are busy"
	echo "0 passed, 1 failed"
	exit 1
fi
mkdir -p build/clients
# As Documentation/management.rst tells users to do, for a library that is not installed.
LD_LIBRARY_PATH=$PWD/build/tools/libnvml LANG=C.UTF-8 TERM=xterm-256color \
	tests/clients/clients.py "$first:300:${busy[0]}" "$second:500:${busy[1]}"
status=$?
kill "${busy[@]}"
exec {told}<&-
for uuid in "$first" "$second"; do
	for ((i = 0; i < 600; i++)); do
		"$ctl" remove "$uuid" 2>/dev/null && break
		sleep 0.1
	done
done
scripts/unload || status=1
exit "$status"
