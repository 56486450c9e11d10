#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vgpuctl against the loaded modules; started by run.sh.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1
ctl=build/tools/vgpuctl/vgpuctl
uuid=6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c01
number=0 failed=0

if [[ ! -e /dev/vgpu || ! -x $ctl ]]; then
	echo "1..0 # SKIP no /dev/vgpu or no $ctl"
	exit 4
fi
echo "KTAP version 1"

# ok NAME STATUS [TEXT...]
ok() {
	local name=$1 status=$2
	shift 2
	number=$((number + 1))
	if ((status == 0)); then
		echo "ok $number $name"
		return
	fi
	echo "not ok $number $name"
	(($#)) && printf '# %s\n' "$@"
	failed=$((failed + 1))
}

# json EXPRESSION COMMAND...: the output is JSON and EXPRESSION of it (d) is true
json() {
	local expression=$1 text
	shift
	text=$("$ctl" "$@" --json) || return
	python3 -c '
import json, sys
d = json.loads(sys.argv[2])
if not eval(sys.argv[1]):
    sys.exit("# " + sys.argv[1] + ": " + sys.argv[2])' "$expression" "$text"
}

# fails STATUS PATTERN COMMAND...: with this status, and says so on stderr
fails() {
	local wanted=$1 pattern=$2 text status
	shift 2
	text=$("$ctl" "$@" 2>&1 >/dev/null)
	status=$?
	if ((status != wanted)) || ! grep -Eq -- "$pattern" <<<"$text"; then
		echo "# vgpuctl $*: status $status: $text"
		return 1
	fi
}

trap '"$ctl" remove "$uuid" >/dev/null 2>&1' EXIT

json 'd[0]["fb_bytes"] > 0 and d[0]["engines"][0]["name"] == "gr"' gpus
ok gpus_json $?
json 'd[0]["available"] > 0 and d[0]["id"].endswith(d[0]["name"])' types
ok types_json $?
json 'd == []' list
ok list_of_nothing_json $?
[[ $("$ctl" types | head -n 1) == GPU*NAME*AVAILABLE* ]]
ok types_table $?
type=$("$ctl" types --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["name"])')
id=$("$ctl" types --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["id"])')
before=$("$ctl" types | awk -v t="$type" '$2 == t { print $4 }')

events=$(mktemp)
"$ctl" events --json >"$events" &
reader=$!
sleep 1

[[ $("$ctl" create --type "$type" --uuid "$uuid") == "$uuid" ]]
ok create_prints_the_uuid $?
json "len(d) == 1 and d[0]['uuid'] == '$uuid' and d[0]['type'] == '$type'" list
ok list_json $?
json "d['uuid'] == '$uuid' and d['state'] == 'created' and d['owner_pid'] is None" show "$uuid"
ok show_json $?
json "d['uuid'] == '$uuid'" show "${uuid^^}"
ok uuid_in_capitals $?
"$ctl" show "$uuid" | grep -q "^Type  *$type\$"
ok show_text $?
json "d['vgpus'][0]['engines'][0]['busy_percent'] == 0" stats
ok stats_json $?
lines=$("$ctl" stats "$uuid" --watch=0.05 --count 3 --json | wc -l)
((lines == 3))
ok stats_watch_is_json_lines $? "$lines lines"
[[ $("$ctl" stats "$uuid" | head -n 1) == UUID*ENGINE*BUSY* ]]
ok stats_table $?
after=$("$ctl" types | awk -v t="$type" '$2 == t { print $4 }')
((after == before - 1))
ok available_counts_down $? "$before, then $after"

fails 1 "$uuid.*exists" create --type "$type" --uuid "$uuid"
ok duplicate_uuid $?
fails 1 'no GPU has it' create --type XX-1Q
ok unknown_type $?
fails 1 'types there are:.*Q' create --type XX-1Q
ok unknown_type_lists_types $?
fails 1 'GPU 99: there is none' create --type "$type" --gpu 99
ok unknown_gpu $?
largest=$("$ctl" types --json | python3 -c 'import json, sys; print(max(json.load(sys.stdin), key=lambda t: t["fb_bytes"])["name"])')
fails 1 "cannot create a $largest: .*MiB" create --type "$largest"
ok full_gpu_says_why $?
fails 1 'what fits there:.*\([0-9]+\)' create --type "$largest"
ok full_gpu_says_what_fits $?
fails 1 'is not in quarantine' release "$uuid"
ok release_without_quarantine $?
fails 2 'not a UUID' show 123
ok bad_uuid_is_usage $?
fails 2 "unrecognized option" list --frob
ok bad_option_is_usage $?
fails 2 'no command' frobnicate
ok bad_command_is_usage $?
fails 2 '--type is needed' create
ok missing_type_is_usage $?
fails 2 'at least 1' stats --count 0
ok bad_count_is_usage $?
! "$ctl" gpus >/dev/full 2>/dev/null
ok full_disk_is_noticed $?

json "d['removed'] is True" remove "$uuid"
ok remove_json $?
fails 1 "$uuid.*there is none" remove "$uuid"
ok remove_twice $?
sleep 0.2
kill "$reader"
[[ $(python3 -c '
import json, sys
print(*[json.loads(line)["type"] for line in open(sys.argv[1])])' "$events") == "created"*"refused"*"removed" ]]
ok events_json_lines $? "$(<"$events")"
rm -f "$events"

made=$("$ctl" create --type "$id" --gpu 0)
[[ $made =~ ^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$ ]]
ok random_uuid_and_full_type_id $? "$made"
"$ctl" remove "$made"
ok remove $?
for command in gpus types list show stats create remove release events; do
	"$ctl" "$command" --help | grep -q "^Usage: vgpuctl $command"
	ok "help_$command" $?
done
"$ctl" --version | grep -q '^vgpuctl [0-9]'
ok version $?
echo "1..$number"
echo "# Totals: pass:$((number - failed)) fail:$failed skip:0"
((failed == 0))
