#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libnvidia-ml.so.1 under Debian's python3-pynvml; started by run.sh with the modules loaded.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1
# shellcheck source=tests/selftests/ktap.sh
. tests/selftests/ktap.sh
bin=build/selftests
ctl=build/tools/vgpuctl/vgpuctl
uuid=0b5e7e00-0000-4000-8000-000000000002
output=$(mktemp)
busy=''

clean_up() {
	local id
	[[ -z $busy ]] || { kill "$busy" && wait "$busy"; } 2>/dev/null
	"$ctl" remove "$uuid" >/dev/null 2>&1
	"$ctl" sched set --policy best_effort --slice 1ms >/dev/null 2>&1
	for id in $("$ctl" partition list --noheadings -o number 2>/dev/null); do
		"$ctl" partition remove "$id" >/dev/null 2>&1
	done
	"$ctl" partition mode off >/dev/null 2>&1
	rm -f "$output"
}
trap clean_up EXIT

ktap_begin "$ctl" "$bin/busy"
"$ctl" create --type SG16-4Q --uuid "$uuid" >/dev/null || exit
"$bin/busy" "$uuid" >"$output" 2>&1 &
busy=$!
for ((i = 0; i < 600; i++)); do
	[[ $(<"$output") == busy ]] && break
	sleep 0.1
done
text=$(LD_LIBRARY_PATH=$bin/tools/libnvml tests/selftests/pynvml_calls.py "$uuid" "$busy" 2>&1)
status=$?
ktap_result pynvml_calls "$status" "$text"
((status)) || echo "$text"

kill "$busy" && wait "$busy" 2>/dev/null
busy=''
"$ctl" remove "$uuid" >/dev/null
text=$(LD_LIBRARY_PATH=$bin/tools/libnvml tests/selftests/pynvml_mig.py 2>&1)
status=$?
ktap_result pynvml_mig "$status" "$text"
echo "1..$ktap_number"
ktap_end
