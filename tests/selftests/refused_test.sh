#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vgpuctl create where neither of two GPUs has room: the error and the log say why, of each GPU.
# Started by run.sh with the modules loaded and two GPUs.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1
# shellcheck source=tests/selftests/ktap.sh
. tests/selftests/ktap.sh
ctl=build/tools/vgpuctl/vgpuctl
uuid=7c000000-0000-4000-8000-000000000001
made=()

ktap_begin "$ctl"
clean_up() {
	local i
	for i in "${made[@]}"; do
		"$ctl" remove "$i" >/dev/null 2>&1
	done
}
trap clean_up EXIT

# make GPU GIB: a vGPU of the type that has so much framebuffer
make() {
	local type uuid
	type=$("$ctl" types --gpu "$1" --json | python3 -c 'import json, sys
print(next(t["name"] for t in json.load(sys.stdin) if t["fb_bytes"] == int(sys.argv[1]) << 30))' "$2")
	uuid=$("$ctl" create --gpu "$1" --type "$type") && made+=("$uuid")
}

mapfile -t gpus < <("$ctl" gpus --noheadings -o address | tr -d ' ')
((${#gpus[@]} == 2)) && make "${gpus[0]}" 16 && make "${gpus[1]}" 8 && make "${gpus[1]}" 4
ktap_result gpus_without_room $? "${gpus[*]}"

type=$("$ctl" types --gpu "${gpus[0]}" --noheadings -o name | tr -d ' ' | grep -E -- '-8Q$')
said=$("$ctl" create --type "$type" --uuid "$uuid" 2>&1)
status=$?
# reason GPU: what is said after the words that name it
reason() {
	sed -n "s/^vgpuctl: GPU ${gpus[$1]}: cannot create a $type: //p" <<<"$said"
}
first=$(reason 0) second=$(reason 1)
((status == 1)) && [[ $first == *MiB* && $second == *MiB* && $first != "$second" && $said != *"No space left"* ]]
ktap_result error_has_the_reason_of_each $? "$said"

# What an error says ends with the GPU's own figures; so does what is kept.
logged=$("$ctl" log "$uuid")
ids=$("$ctl" log "$uuid" --json | python3 -c 'import json, sys
print(*sorted({json.loads(line)["gpu"] for line in sys.stdin if json.loads(line)["reason"]}))')
[[ $logged == *"refused: $first"* && $logged == *"refused: $second"* && $logged != *"No space left"* &&
	$ids == "$("$ctl" gpus --noheadings -o gpu | tr -d ' ' | paste -sd ' ')" ]]
ktap_result log_has_the_reason_of_each $? "$logged" "GPUs $ids"

# The newest of a GPU is told, and of the other one what it said before.
"$ctl" create --type "$type" --uuid "$uuid" --gpu "${gpus[1]}" >/dev/null 2>&1
logged=$("$ctl" log "$uuid")
[[ $(grep -c 'refused: ' <<<"$logged") == 3 && $(grep -cF "refused: $first" <<<"$logged") == 1 &&
	$(grep -cF "refused: $second" <<<"$logged") == 1 ]]
ktap_result newest_of_each_is_told $? "$logged"
echo "1..$ktap_number"
ktap_end
