#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vgpuctl and partitions; started by run.sh with the modules loaded.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1
# shellcheck source=tests/selftests/ktap.sh
. tests/selftests/ktap.sh
ctl=build/tools/vgpuctl/vgpuctl
uuid=6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c01
other=6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c02
state=$(mktemp) || exit 1

ktap_begin "$ctl"

# json EXPRESSION COMMAND...: the output is JSON as its schema says, and has no key besides, and
# EXPRESSION of it (d) is true
json() {
	local expression=$1 name="$2 ${3:-}"
	shift
	[[ $1 =~ ^(partition|sched|share)$ ]] || name=$1
	"$ctl" "$@" --json | python3 -c '
import json, sys
import jsonschema
def strict(part):
    if isinstance(part, dict):
        if "properties" in part:
            part.setdefault("additionalProperties", False)
        part = part.values()
    for value in part if not isinstance(part, (str, int)) and part is not None else ():
        strict(value)
schema = json.load(open("Documentation/vgpuctl.schema.json"))
strict(schema)
text = sys.stdin.read()
try:
    d = json.loads(text)
    jsonschema.Draft202012Validator(
        {**schema, "$ref": "#/$defs/" + sys.argv[1].replace(" ", "%20")}).validate(d)
    right = eval(sys.argv[2])
except Exception as error:
    right, text = False, f"{error!r}: {text}"
if not right:
    print("# " + sys.argv[2] + ": " + " ".join(text.split()))
sys.exit(not right)' "$name" "$expression"
}

# fails STATUS PATTERN COMMAND...: vgpuctl fails with STATUS, and stderr matches PATTERN
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

# Makes the GPU whole again, whatever went wrong.
clean_up() {
	local id
	"$ctl" remove "$uuid" >/dev/null 2>&1
	"$ctl" remove "$other" >/dev/null 2>&1
	for id in $("$ctl" partition list --noheadings -o number 2>/dev/null); do
		"$ctl" partition remove "$id" >/dev/null 2>&1
	done
	"$ctl" partition mode off >/dev/null 2>&1
}
trap 'clean_up; rm -f "$state"' EXIT

if [[ $("$ctl" gpus --json) != *'"divisible": true'* ]]; then
	"$ctl" partition list >/dev/null && [[ -z $("$ctl" partition profiles) ]] &&
		fails 1 'cannot set the mode: .* has no partitions' partition mode on
	ktap_result not_divisible $?
	echo "1..$ktap_number"
	ktap_end
	exit
fi

json 'd == []' partition list && [[ -z $("$ctl" partition list) && -z $("$ctl" partition) ]]
ktap_result list_of_nothing $?
json '[(p["profile"], p["slices"], p["eighths"], p["free_starts"] == p["starts"]) for p in d] == [("1g", 1, 1, True), ("2g", 2, 2, True), ("3g", 3, 4, True), ("4g", 4, 4, True), ("7g", 7, 8, True)] and d[1]["starts"] == [0, 2, 4]' partition profiles
ktap_result profiles_json $?
fails 1 '1g: .* is not divided: the mode is off' partition create 1g
ktap_result create_needs_the_mode $?
json 'd["divided"]' partition mode on && json 'd[0]["divided"] and d[0]["partitions"] == 0' gpus
ktap_result mode_on $?
fails 1 'GPU [0-9]+ is divided, and has no partition yet' sched set --policy qos && json 'd == []' sched show
ktap_result sched_set_without_partitions $?
one=$("$ctl" partition create 3g --start 4)
[[ $one =~ ^[1-9][0-9]*$ ]]
ktap_result create_prints_the_number $? "$one"
json "d['partition'] > $one and d['profile'] == '2g' and d['start_eighth'] in (0, 2) and d['placement_gib'] << 31 == d['start_eighth'] * d['fb_bytes']" partition create 2g
ktap_result create_json $?
fails 1 '4g at 0: eighth [0-3] is in partition [0-9]+; what fits: 1g at ' partition create 4g --start 0
ktap_result refusal_says_what_fits $?
fails 1 '3g at 2: can be at 0, 4; free: none$' partition create 3g --start 2
ktap_result refusal_of_a_start $?
fails 1 'profile 5g: GPU [0-9]+ has none' partition create 5g
ktap_result unknown_profile $?
fails 2 '^vgpuctl: partition 0: a number from 1 on is needed' partition remove 0 &&
	fails 2 '^vgpuctl: partition x: a number' partition show x &&
	fails 2 '^vgpuctl: mode maybe: on or off' partition mode maybe &&
	fails 2 'a profile is needed' partition create && fails 2 "a partition's number is needed" partition remove &&
	fails 2 'on or off is needed' partition mode && fails 2 'partition' partition remove x &&
	fails 2 'start' partition create 1g --start 8 && fails 2 'mode' partition mode maybe
ktap_result wrong_arguments_are_usage $?
fails 1 'has partitions: remove them first' partition mode off
ktap_result mode_in_use $?
type=$("$ctl" types --noheadings -o name | grep -m1 -- '-3-.*C')
"$ctl" create --type "$type" --uuid "$uuid" >/dev/null &&
	"$ctl" create --type "$("$ctl" types --noheadings -o name | grep -m1 -- '-2-.*C')" --uuid "$other" >/dev/null
ktap_result create_in_partitions $?
two=$("$ctl" list --json | python3 -c 'import json, sys; print([v["partition"] for v in json.load(sys.stdin) if v["uuid"] == sys.argv[1]][0])' "$other")
json "{v['uuid']: v['partition'] for v in d} == {'$uuid': $one, '$other': $two}" list && ((one != two))
ktap_result list_tells_the_partition $?
[[ $("$ctl" list --noheadings -o uuid,partition | tr -s ' ') == *"$uuid $one"* && $("$ctl" show "$uuid") == *Partition*"$one"* ]]
ktap_result list_and_show_text $? "$("$ctl" list)"
json "[(p['partition'], p['profile'], p['instances']) for p in d] == [($one, '3g', 1), ($two, '2g', 1)]" partition list
ktap_result list_json $?
[[ $("$ctl" partition --noheadings -o number,start,start-gib | xargs) == "$one 4 "*" $two "[02]" "* ]]
ktap_result list_start $? "$("$ctl" partition)"
[[ $("$ctl" partition show "$one") == Partition*"$one"*Profile*3g*Framebuffer*vGPUs*1*Policy*ENGINE*gr* ]]
ktap_result show_text $? "$("$ctl" partition show "$one")"
told='not shared' of=units
[[ $("$ctl" partition show "$one" --json) != *'"shared_in_time": true'* ]] || { told='shared in time' of=time; }
[[ $("$ctl" partition show "$one") == *"3g at 4, 3/7 of the $of"* && $("$ctl" partition show "$one") == *CPUs*"$told"* && $("$ctl" partition list) == *CPUS*"$told"* ]]
ktap_result shared_in_time $? "$told"
json "d['partition'] == $two and [e['units'] >= 1 for e in d['engines']] == 3 * [True]" partition show "$two"
ktap_result show_json $?
metrics=$("$ctl" metrics)
[[ $(grep -c '^vgpu_partition_info{' <<<"$metrics") == 2 && $(grep -c '^vgpu_partition_engine_wall_seconds_total{' <<<"$metrics") == 6 ]] &&
	grep -q "^vgpu_partition_slices{gpu=\"[^\"]*\",partition=\"$one\",profile=\"3g\"} 3\$" <<<"$metrics" &&
	grep -q "^vgpu_partition_vgpus{gpu=\"[^\"]*\",partition=\"$two\",profile=\"2g\"} 1\$" <<<"$metrics" &&
	"$ctl" metrics --openmetrics | grep -q '^# TYPE vgpu_partition_engine_busy_seconds counter$'
ktap_result metrics_of_partitions $?
fails 1 'partition 4000000: there is none' partition show 4000000
ktap_result show_what_is_not_there $?
fails 1 "partition $one of .* has 1 vGPUs: remove them first" partition remove "$one"
ktap_result remove_in_use $?
fails 1 'has no partition 4000000' partition remove 4000000
ktap_result remove_what_is_not_there $?
json "{r['uuid']: r['partition'] for r in d[0]['ranges'] if r['uuid']} == {'$uuid': $one, '$other': $two} and all(a['start_gib'] + a['size_gib'] == b['start_gib'] for a, b in zip(d[0]['ranges'], d[0]['ranges'][1:])) and len({r['partition'] for r in d[0]['ranges']}) == 3" placement
ktap_result placement_json $?
picture=$(script -qec "stty cols 60; $ctl placement" /dev/null </dev/null | tr -d '\r')
[[ $picture == *"[$one:3g-"*-]*$'\n|'*[AB]* ]]
ktap_result placement_picture $? "$picture"
json "d['policy'] == 'qos' and d['partition'] == $one and d['guarantee_sum_permille'] > 0" sched set --policy qos --partition "$one"
ktap_result sched_set $?
fails 1 "GPU [0-9]+, partition $one: window 100 ms: at least 10 slices" sched set --partition "$one" --slice 30ms
ktap_result sched_set_names_the_partition $?
"$ctl" share set "$uuid" --guarantee 1000 >/dev/null &&
	fails 1 "create.*\.$one: guarantee [0-9]+ per mille does not fit" create --type "${type%-*}-4C" &&
	"$ctl" share set "$uuid" --guarantee 500 >/dev/null
ktap_result create_refusal_names_the_partition $?
fails 1 "is divided: name a partition \(--partition\), there are $one, $two\$" sched set --policy fixed_share &&
	json "[d[0][k] for k in ('policy', 'slice_ns', 'preempt_timeout_us', 'guarantee_sum_permille')] == 4 * [None]" gpus &&
	[[ $("$ctl" gpus --noheadings -o policy,slice,guaranteed-% | xargs) == '- - -' ]] &&
	[[ $("$ctl" overview) =~ SG16[^$'\n']*\ -\ +-\  ]] &&
	! "$ctl" metrics | grep -Eq '^vgpu_gpu_(guaranteed_ratio|slice_seconds)|^vgpu_gpu_info.*policy='
ktap_result sched_set_of_the_divided_gpu $?
json "[(s['partition'], s['policy'], [v['uuid'] for v in s['vgpus']]) for s in d] == [($one, 'qos', ['$uuid']), ($two, 'best_effort', ['$other'])]" sched show
ktap_result sched_show $?
[[ $("$ctl" sched show --partition "$one") == GPU*Partition*"$one, 3g"*qos*"$uuid"* ]]
ktap_result sched_show_one $? "$("$ctl" sched show --partition "$one")"
fails 1 'partition 4000000: there is none' sched show --partition 4000000 &&
	fails 1 'has no partition 4000000' sched set --policy qos --partition 4000000 &&
	fails 1 'partition 4000000: there is none' sched log --partition 4000000
ktap_result sched_of_what_is_not_there $?
"$ctl" sched log --partition "$one" >/dev/null && "$ctl" overview | grep -q "$uuid" && "$ctl" stats >/dev/null
ktap_result other_commands $?
"$ctl" share set "$uuid" --weight 7 "$other" --weight 8 >/dev/null 2>&1
[[ $? == 1 ]] && "$ctl" share set "$uuid" --weight 7 >/dev/null && "$ctl" share set "$other" --weight 8 >/dev/null &&
	"$ctl" save -f "$state" && json "[(p['profile'], p['start_eighth'], p['policy']) for p in d['gpus'][0]['partitions']][0] == ('3g', 4, 'qos')" save
ktap_result save $?
[[ $("$ctl" apply -f "$state") == "nothing is to be changed" ]]
ktap_result apply_of_what_is $? "$("$ctl" apply -f "$state" --dry-run)"
"$ctl" share set "$uuid" --weight 1 >/dev/null && "$ctl" share set "$other" --weight 2 >/dev/null &&
	"$ctl" sched set --partition "$one" --policy fixed_share >/dev/null &&
	"$ctl" apply -f "$state" >/dev/null && json "{v['uuid']: v['weight'] for v in d} == {'$uuid': 7, '$other': 8}" share show &&
	json "d[0]['policy'] == 'qos'" sched show --partition "$one"
ktap_result apply_sets_each_partition $?
"$ctl" remove "$uuid" && "$ctl" remove "$other" && "$ctl" partition remove "$one" && "$ctl" partition remove "$two" &&
	"$ctl" partition mode off && before=$(<"$state") &&
	json 'd["gpus"][0]["divide"] and [(p["profile"], p["partition"], p["create"]) for p in d["gpus"][0]["partitions"]] == [("3g", None, True), ("2g", None, True)] and len(d["vgpus"]) == 2' apply -f "$state" --dry-run &&
	[[ -z $("$ctl" partition list) ]] && "$ctl" apply -f "$state" >/dev/null && "$ctl" save -f "$state" && [[ $(<"$state") == "$before" ]]
ktap_result apply_brings_all_back $? "$("$ctl" partition list)"
echo '{"version": 1, "gpus": [{"address": "'"$("$ctl" gpus --noheadings -o address)"'", "partitions": [{"profile": "4g", "start_eighth": 0}, {"profile": "9g"}]}]}' >"$state"
fails 1 'gpus\[0\].partitions\[0\]: 4g at 0: .*eighth [0-3] is in partition' apply -f "$state" &&
	fails 1 'gpus\[0\].partitions\[1\].profile: there is no profile 9g' apply -f "$state"
ktap_result apply_says_what_is_wrong $?
one=$("$ctl" partition list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["partition"])')
two=$("$ctl" partition list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[1]["partition"])')
"$ctl" sched set --policy qos --linger 50us --partition "$one" >/dev/null
"$ctl" remove "$uuid" && "$ctl" remove "$other" && json "d['partition'] == $one" partition remove "$one" &&
	[[ -z $("$ctl" partition remove "$two") ]] && json 'not d["divided"]' partition mode off
ktap_result remove $?
log=$("$ctl" log)
[[ $log == *"partition: mode on"*"partition $one, 3g: created"*"sched of partition $one: policy, linger"*"partition $two, 2g: removed"*"partition: mode off"* ]]
ktap_result log_tells_it $? "$log"
while read -r line; do
	echo "$line" >"$state"
done < <("$ctl" log --json | grep '"change"')
python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert (d["type"], d["change"], d["partition"]) == ("partition", "off", 0), d' "$state"
ktap_result log_json $?

# After the log was looked at: this makes more events than it keeps.
gpu='"address": "'$("$ctl" gpus --noheadings -o address)'"'
echo '{"version": 1, "gpus": [{'"$gpu"', "partitions": [{"profile": "1g", "start_eighth": 1}, {"profile": "1g", "start_eighth": 1, "slice_ns": 30000000}]}]}' >"$state"
fails 1 'gpus\[0\].partitions\[1\]: 1g at 1: eighth 1 is in gpus\[0\].partitions\[0\]; what fits: ' apply -f "$state" &&
	fails 1 'gpus\[0\].partitions\[1\].slice_ns: a window of 100000000 ns has less than 10 slices' apply -f "$state" --dry-run
ktap_result apply_names_partitions $?

# state_of: which vGPU is in which partition, with its guarantee and the partition's policy
state_of() {
	"$ctl" save | python3 -c '
import json, sys
d = json.load(sys.stdin)
policy = {p["start_eighth"]: p["policy"] for p in d["gpus"][0]["partitions"]}
print(sorted((v["uuid"], v["partition_start_eighth"], v["guarantee_permille"],
              policy[v["partition_start_eighth"]]) for v in d["vgpus"]))'
}
# wipe: no vGPU, no partition
wipe() {
	local id
	for id in $("$ctl" list --noheadings -o uuid); do
		"$ctl" remove "$id" || return
	done
	clean_up
}
# back: what is saved now comes back as it is after all is gone
back() {
	local before after
	before=$(state_of)
	"$ctl" save -f "$state" && wipe && "$ctl" apply -f "$state" >/dev/null && after=$(state_of) &&
		[[ $after == "$before" ]] && [[ $("$ctl" apply -f "$state") == "nothing is to be changed" ]]
}
id_of() { echo "${uuid%??}$1"; }
new() { "$ctl" create --type "${type%-*}-$1C" --uuid "$(id_of "$2")" >/dev/null; }
# parts of the GPU's framebuffer, in GiB
fb=$("$ctl" gpus --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["fb_bytes"] >> 30)')
half=$((fb / 2)) quarter=$((fb / 4))
divide() { wipe && "$ctl" partition mode on && "$ctl" partition create 3g --start "$1" >/dev/null &&
	"$ctl" partition create 3g --start "$2" >/dev/null; }
divide 0 4 && new $quarter 11 && "$ctl" share set "$(id_of 11)" --guarantee 1000 >/dev/null &&
	new $quarter 12 && new $quarter 13 && back
ktap_result guarantees_come_back $? "$(state_of)"
divide 4 0 && "$ctl" sched set --policy qos --partition "$("$ctl" partition list --noheadings -o number | tail -n 1 | xargs)" >/dev/null &&
	new $half 11 && new $half 12 && "$ctl" remove "$(id_of 11)" && new $half 11 && back &&
	"$ctl" remove "$(id_of 11)" && back
ktap_result policies_come_back $? "$(state_of)"
divide 0 4 && new $quarter 11 && new $quarter 12 && new $quarter 13 && "$ctl" remove "$(id_of 12)" && back
ktap_result half_full_partitions_come_back $? "$(state_of)"
divide 0 4 && echo '{"version": 1, "vgpus": [{"uuid": "'"$(id_of 11)"'", '"$gpu"', "type": "'"${type%-*}-${half}C"'", "partition_start_eighth": 4}]}' >"$state" &&
	"$ctl" apply -f "$state" --dry-run 2>&1 >/dev/null | grep -q 'vgpus\[0\].partition_start_eighth: the driver would put it into the partition at eighth 0, not at 4$' &&
	json "[(v['partition_start_eighth'], v['elsewhere']) for v in d['vgpus']] == [(0, True)]" apply -f "$state" 2>/dev/null &&
	[[ $(state_of) == *"11', 0, 1000, "* ]]
ktap_result apply_says_what_is_elsewhere $? "$(state_of)"
wipe
echo "1..$ktap_number"
ktap_end
