#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vgpuctl; started by run.sh with the modules loaded.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1
# shellcheck source=tests/selftests/ktap.sh
. tests/selftests/ktap.sh
ctl=build/tools/vgpuctl/vgpuctl
bin=build/selftests
uuid=6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c01
other=6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c02

ktap_begin "$ctl"

# Judges texts: reads the name of a command, an expression, the number of lines of a text, and these
# lines; says in a line that it is ok, or what is wrong. A text must be what the schema says of the
# command's output, and have no key besides. There is one for all: to start Python takes longer than
# to judge.
coproc JUDGE { python3 -u -c '
import json, sys
import jsonschema
def strict(part):
    if isinstance(part, dict):
        if "properties" in part:
            part.setdefault("additionalProperties", False)
        for value in part.values():
            strict(value)
    elif isinstance(part, list):
        for value in part:
            strict(value)
    return part
schema = strict(json.load(open("Documentation/vgpuctl.schema.json")))
validators = {name: jsonschema.Draft202012Validator(
    {**schema, "$ref": "#/$defs/" + name.replace(" ", "%20")}) for name in schema["$defs"]}
for name in sys.stdin:
    expression = sys.stdin.readline()
    text = "".join(sys.stdin.readline() for _ in range(int(sys.stdin.readline())))
    try:
        d = json.loads(text)
        validators[name.strip()].validate(d)
        right = eval(expression)
    except Exception as error:
        right, text = False, f"{error!r}: {text}"
    print("ok" if right else "# " + expression.strip() + ": " + " ".join(text.split()))'; }
exec {ask}>&"${JUDGE[1]}" {told}<&"${JUDGE[0]}"

# judge NAME EXPRESSION TEXT: TEXT is JSON as the command NAME writes it, and EXPRESSION of it (d)
# is true
judge() {
	local document answer
	mapfile -t document <<<"$3"
	printf '%s\n' "$1" "${2//$'\n'/ }" "${#document[@]}" "$3" >&"$ask"
	IFS= read -r answer <&"$told" || return
	[[ $answer == ok ]] || { echo "$answer"; return 1; }
}

# calls: how often each command asks the driver, whose ioctls are of type 0x67
calls() {
	local command
	for command in list placement process 'sched show' 'share show' stats; do
		# shellcheck disable=SC2086 # two words
		echo "$command: $(strace -qqe trace=ioctl "$ctl" $command 2>&1 >/dev/null | grep -c ' 0x67,')"
	done
}

# json EXPRESSION COMMAND...: the output is JSON and EXPRESSION of it (d) is true
json() {
	local expression=$1 text name
	shift
	text=$("$ctl" "$@" --json) || return
	name=$1
	[[ ! $1 =~ ^(partition|sched|share|migration)$ ]] || name+=" $2"
	judge "$name" "$expression" "$text"
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

workers=()
# Removes what is left when a test goes wrong, so that the next program finds nothing.
clean_up() {
	((${#workers[@]} == 0)) || kill -KILL "${workers[@]}" 2>/dev/null
	"$ctl" remove "$uuid" >/dev/null 2>&1
	"$ctl" remove "$other" >/dev/null 2>&1
	"$ctl" sched set --policy best_effort --slice "${slice_ns:-1000000}ns" >/dev/null 2>&1
}
trap clean_up EXIT

json 'd[0]["fb_bytes"] > 0 and d[0]["engines"][0]["name"] == "gr"' gpus
ktap_result gpus_json $?
json 'd[0]["available"] > 0 and d[0]["id"].endswith(d[0]["name"])' types
ktap_result types_json $?
json 'd == []' list
ktap_result list_of_nothing_json $?
json 'd == []' process
ktap_result process_of_nothing_json $?
[[ -z $("$ctl" process) ]]
ktap_result process_of_nothing $?
json 'd["gpus"] and d["vgpus"] == [] and d["engines"] == []' overview
ktap_result overview_of_nothing_json $?
# Whoever types no command sees what there is.
text=$("$ctl")
[[ $text == *GPU*BACKED*$'\n'*" idle"*"No vGPUs."*"vgpuctl create --type"* && $text == "$("$ctl" overview)" ]]
ktap_result overview_of_nothing $? "$text"
json 'len(d) == 1 and [(r["start_gib"], r["size_gib"] << 30, r["uuid"]) for r in d[0]["ranges"]] == [(0, d[0]["fb_bytes"], None)]' placement
ktap_result placement_of_nothing_json $?
json 'd["abi_major"] == d["tool_abi_major"] and d["policies"][0] == "best_effort" and "qos" in d["policies"] and d["gpu_limits"]["slice_ns"] == {"min": 1000000, "max": 30000000} and d["vgpu_limits"]["cap_permille"]["max"] == 1000 and d["gpus"][0]["max_instances"] > 1 and d["gpus"][0]["engines"][0].pop("units") >= 1 and d["gpus"][0]["engines"][0] == {"name": "gr", "class": "gr"}' caps
ktap_result caps_json $?
[[ $("$ctl" caps) == "Driver "*"ABI "*"Policies "*"best_effort"*"slice "*"1ms to 30ms"*"guarantee "*"BACK END"*"vgpu_"* ]]
ktap_result caps_text $? "$("$ctl" caps)"
[[ $("$ctl" caps --noheadings -o max-vgpus,back-end) =~ ^\ *[0-9]+\ \ vgpu_[a-z]+$ ]]
ktap_result caps_columns $? "$("$ctl" caps --noheadings -o max-vgpus,back-end)"
fails 1 'GPU 99: there is none' caps --gpu 99
ktap_result caps_unknown_gpu $?
[[ $("$ctl" types | head -n 1) == GPU*NAME*AVAILABLE* ]]
ktap_result types_table $?
read -r type id < <("$ctl" types --noheadings -o name,id)
before=$("$ctl" types | awk -v t="$type" '$2 == t { print $4 }')

events=$(mktemp)
"$ctl" events --json >"$events" &
reader=$!
# Events of before it has the device open are not for it.
for ((i = 0; i < 600; i++)); do
	[[ $(readlink "/proc/$reader/fd/"* 2>/dev/null) != */dev/vgpu* ]] || break
	sleep 0.1
done

[[ $("$ctl" create --type "$type" --uuid "$uuid") == "$uuid" ]]
ktap_result create_prints_the_uuid $?
json "len(d) == 1 and d[0]['uuid'] == '$uuid' and d[0]['type'] == '$type'" list
ktap_result list_json $?
json "[v['uuid'] for v in d['vgpus']] == ['$uuid'] and
	[(e['uuid'], e['engine'], e['window_percent']) for e in d['engines']][0] == ('$uuid', 'gr', 0)" overview
ktap_result overview_json $?
text=$("$ctl")
want='GPU.*ADDRESS.*USED.*BUSY.*UUID.*STATE.*BUSY.*'$'\n'"$uuid.* $type .*idle"
[[ $text =~ $want && $text != *"No vGPUs"* ]]
ktap_result overview $? "$text"
judge overview "len(d['gpus']) == 1" "$("$ctl" --json --gpu 0)"
ktap_result options_without_a_command $?
json "d['uuid'] == '$uuid' and d['state'] == 'created' and d['owner_pid'] is None" show "$uuid"
ktap_result show_json $?
json "d['uuid'] == '$uuid'" show "${uuid^^}"
ktap_result uuid_in_capitals $?
"$ctl" show "$uuid" | grep -q "^Type  *$type\$"
ktap_result show_text $?
json "d['uuid'] == '$uuid' and d['live'] and d['save'] and d['type'] == '$type'" migration show "$uuid"
ktap_result migration_show_json $?
about=$(mktemp)
"$ctl" migration show "$uuid" --json >"$about"
json "d['fits'] and d['reason'] is None" migration check -f "$about" "$uuid"
ktap_result migration_check_json $?
[[ $("$ctl" migration check -f - --type "$type" <"$about") == "type $type of GPU 0 can take it over" ]]
ktap_result migration_check_type $?
# Of all types only its own fits.
wrong=
while read -r name; do
	fails 1 "cannot take it over: type is $type there, $name here" migration check -f "$about" --type "$name" ||
		wrong+=" $name"
done < <("$ctl" types --noheadings -o name | grep -vx " *$type *" | sort -u)
[[ ! $wrong ]]
ktap_result migration_check_other_types $? "fit:$wrong"
fails 1 'not the state of a vGPU' migration check -f - "$uuid" <<<'{"about": "00"}'
ktap_result migration_check_of_something $?
rm "$about"
json "d['vgpus'][0]['engines'][0]['busy_percent'] == 0" stats
ktap_result stats_json $?
lines=$("$ctl" stats "$uuid" --watch=0.05 --count 3 --json | wc -l)
((lines == 3))
ktap_result stats_watch_is_json_lines $? "$lines lines"
[[ $("$ctl" stats "$uuid" | head -n 1) == UUID*ENGINE*BUSY* ]]
ktap_result stats_table $?
json 'all(t["available"] > 0 for t in d)' creatable
ktap_result creatable_json $?
[[ $("$ctl" creatable -o name,fit --noheadings | awk '{ print $1, $2 }') == \
	"$("$ctl" types -o name,available --noheadings | awk '$2 > 0 { print $1, $2 }')" ]]
ktap_result creatable_is_what_fits $? "$("$ctl" creatable)"
json "[r['uuid'] for r in d[0]['ranges'] if r['uuid']] == ['$uuid'] and sum(r['size_gib'] for r in d[0]['ranges']) << 30 == d[0]['fb_bytes'] and all(a['start_gib'] + a['size_gib'] == b['start_gib'] for a, b in zip(d[0]['ranges'], d[0]['ranges'][1:]))" placement
ktap_result placement_json $?
[[ $("$ctl" placement --noheadings -o mark,type,uuid | head -n 1) =~ ^A\ +"$type  $uuid"$ ]]
ktap_result placement_table $? "$("$ctl" placement)"
# On a terminal of 60 columns: 58 characters in which there is as much of the vGPU as it owns.
picture=$(script -qec "stty cols 60; $ctl placement" /dev/null </dev/null | tr -d '\r')
[[ $picture =~ ^[0-9a-f:.]+": "[0-9]+" GiB, sizes may be mixed"$'\n'"|"A+\.+"|"$'\n' ]]
ktap_result placement_picture $? "$picture"
[[ $("$ctl" list --noheadings -o pid,Type,uuid) =~ ^\ *-\ \ "$type  $uuid"$ ]]
ktap_result columns_chosen $? "$("$ctl" list --noheadings -o pid,Type,uuid)"
[[ $("$ctl" stats --output busy-ms,BUSY-%,engine | head -n 1) == "BUSY ms  BUSY %  ENGINE" ]]
ktap_result columns_with_blanks $? "$("$ctl" stats --output busy-ms,BUSY-%,engine | head -n 1)"
[[ $("$ctl" share show -o uuid,vga,frl-set-fps | tail -n 1) =~ ^"$uuid  "(on|off)" "+default$ ]]
ktap_result columns_of_settings $? "$("$ctl" share show -o uuid,vga,frl-set-fps)"
fails 2 '"frob"; there are:' list -o uuid,frob
ktap_result unknown_column_is_usage $?
fails 2 'there are:' list -o ''
ktap_result no_column_is_usage $?
fails 2 'column "Uuid" is named twice' list -o uuid,Uuid
ktap_result column_twice_is_usage $?
fails 2 'neither -o' list --json -o uuid
ktap_result json_of_columns_is_usage $?
fails 2 'unrecognized' show "$uuid" --noheadings
ktap_result no_table_no_headings $?
after=$("$ctl" types | awk -v t="$type" '$2 == t { print $4 }')
((after == before - 1))
ktap_result available_counts_down $? "$before, then $after"

fails 1 "$uuid.*exists" create --type "$type" --uuid "$uuid"
ktap_result duplicate_uuid $?
fails 1 'no GPU has it' create --type XX-1Q
ktap_result unknown_type $?
fails 1 'types there are:.*Q' create --type XX-1Q
ktap_result unknown_type_lists_types $?
fails 1 'GPU 99: there is none' create --type "$type" --gpu 99
ktap_result unknown_gpu $?
largest=$("$ctl" types --json | python3 -c 'import json, sys; print(max(json.load(sys.stdin), key=lambda t: t["fb_bytes"])["name"])')
fails 1 "cannot create a $largest: .*MiB" create --type "$largest"
ktap_result full_gpu_says_why $?
fails 1 'what fits there:.*\([0-9]+\)' create --type "$largest"
ktap_result full_gpu_says_what_fits $?
fails 1 'is not in quarantine' release "$uuid"
ktap_result release_without_quarantine $?
fails 2 'not a UUID' show 123
ktap_result bad_uuid_is_usage $?
fails 2 "unrecognized option" list --frob
ktap_result bad_option_is_usage $?
fails 2 'no command' frobnicate
ktap_result bad_command_is_usage $?
# meant LINES PATTERN COMMAND...: no more lines than these are said of a wrong command line
meant() {
	local lines=$1 pattern=$2
	shift 2
	text=$("$ctl" "$@" 2>&1)
	(($? == 2 && $(wc -l <<<"$text") == lines)) && [[ $text =~ $pattern ]]
}
meant 1 'no command lst; is list meant' lst && meant 1 'is create meant' cretae &&
	meant 1 'is sched set meant' sched st && meant 1 'is share set meant' shar set &&
	meant 1 'no command frobnicate; vgpuctl --help' frobnicate
ktap_result wrong_command_says_what_was_meant $? "$text"
meant 2 'is --gpu meant' list --gup=0 && meant 2 'is --json meant' --jsn &&
	meant 2 'is --weight meant' share set "$uuid" --wieght 1 &&
	meant 2 'Usage: vgpuctl list' list --frob && meant 2 "possibilities: '--count'" sched log --c
ktap_result wrong_option_says_what_was_meant $? "$text"
fails 2 '--type is needed' create
ktap_result missing_type_is_usage $?
fails 2 'at least 1' stats --count 0 && fails 2 'at least 1' stats --count ' -1' &&
	fails 2 '0.01 to 86400 seconds' stats --watch=' 1'
ktap_result bad_count_is_usage $?
! "$ctl" gpus >/dev/full 2>/dev/null
ktap_result full_disk_is_noticed $?

# ---- settings of the scheduler ----

# value KEY: of the first GPU in sched show
value() {
	"$ctl" sched show --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0][sys.argv[1]])' "$1"
}
slice_ns=$(value slice_ns)
json 'len(d) == 1 and d[0]["policy"] == "best_effort" and d[0]["window_ns"] > 0 and len(d[0]["vgpus"]) == 1' sched show
ktap_result sched_show_json $?
json "d[0]['vgpus'][0]['uuid'] == '$uuid' and d[0]['vgpus'][0]['due_percent'] == 0" sched show --gpu 0
ktap_result sched_show_nothing_is_due_when_closed $?
[[ $("$ctl" sched show) == GPU*Policy*best_effort*Slice*Hz*UUID*GUARANTEE*"$uuid"* ]]
ktap_result sched_show_text $?
[[ $("$ctl" sched) == "$("$ctl" sched show)" && $("$ctl" share) == "$("$ctl" share show)" ]]
ktap_result show_may_be_left_out $?
json 'd["policy"] == "qos" and d["slice_ns"] == 2500000 and d["frequency_hz"] == 400 and d["window_ns"] == 50000000 and d["preempt_timeout_us"] == 20000 and d["linger_us"] == 50 and d["quarantine_faults"] == 0 and d["quarantine_backoff_ms"] == 1500' \
	sched set --policy qos --slice 2.5ms --window 50ms --preempt-timeout 20ms --linger 50us \
	--quarantine-faults 0 --quarantine-backoff 1.5s
ktap_result sched_set_all $?
json 'd[0]["policy"] == "qos" and d[0]["slice_ns"] == 2500000' sched show
ktap_result sched_set_holds $?
json 'd["slice_ns"] == 1250000' sched set --frequency 800
ktap_result sched_set_frequency $?
[[ $("$ctl" sched set --slice 2000us --gpu 0) == *"Slice"*"2.000 ms, 500 Hz"* ]]
ktap_result sched_set_prints_what_holds $?
fails 1 'GPU 0: .*best_effort.*qos' sched set --policy fairest
ktap_result sched_set_unknown_policy $?
fails 1 'GPU 0: .*(slice|31)' sched set --slice 31ms
ktap_result sched_set_slice_too_long $?
fails 1 'GPU 0: .*(window|slice)' sched set --slice 20ms --window 100ms
ktap_result sched_set_window_too_short $?
json 'd[0]["slice_ns"] == 2000000 and d[0]["window_ns"] == 50000000' sched show
ktap_result sched_set_refused_changes_nothing $?
fails 2 'of what\?.*ns, us, ms or s' sched set --slice 2
ktap_result time_without_unit_is_usage $?
for text in 2m ms 1e3us -1ms 0x10us .5ms 2msx 99999999999999999999s; do
	fails 2 'not a time|of what' sched set --slice "$text"
	ktap_result "bad_time_is_usage_$text" $?
done
fails 2 'whole number of microseconds' sched set --linger 1500ns
ktap_result too_fine_time_is_usage $?
fails 2 'too long' sched set --preempt-timeout 5000s
ktap_result too_long_time_is_usage $?
fails 2 'Hz' sched set --frequency 1.5
ktap_result bad_frequency_is_usage $?
fails 2 'same thing' sched set --slice 2ms --frequency 500
ktap_result slice_and_frequency_is_usage $?
fails 2 'nothing is to be set' sched set --gpu 0
ktap_result sched_set_nothing_is_usage $?
fails 1 'GPU 99: there is none' sched set --policy qos --gpu 99
ktap_result sched_set_unknown_gpu $?
fails 2 'no command sched frob' sched frob
ktap_result bad_second_word_is_usage $?

# ---- shares ----

before=$(calls)
json "d['uuid'] == '$other' and d['type'] == '$type'" create --type "$type" --uuid "$other"
ktap_result create_json $?
json "len(d) == 2 and all(v['cap_permille'] == 1000 and v['frl_config_fps'] is None for v in d)" share show
ktap_result share_show_json $?
# However many vGPUs there are.
after=$(calls)
[[ $after == "$before" && $after == *"sched show: 5"* ]]
ktap_result one_read_of_all_vgpus $? "$before" "$after"
json "len(d) == 1 and d[0]['uuid'] == '$other'" share show "$other"
ktap_result share_show_one $?
"$ctl" share set "$uuid" --guarantee 50% --cap 100% --weight 3 --frl off \
	"$other" --guarantee 250 --cap 40.5% --frl 30 >/dev/null
ktap_result share_set_two $?
json "[(v['guarantee_permille'], v['cap_permille'], v['weight'], v['frl_config_fps']) for v in d if v['uuid'] == '$uuid'] == [(500, 1000, 3, 0)]" share show
ktap_result share_set_first $?
json "[(v['guarantee_permille'], v['cap_permille'], v['frl_config_fps'], v['frl_fps']) for v in d if v['uuid'] == '$other'] == [(250, 405, 30, 30)]" share show
ktap_result share_set_second $?
json "d['guarantee_permille'] == 500 and d['weight'] == 3 and d['frl_config_fps'] == 0" show "$uuid"
ktap_result share_in_show $?
json 'd[0]["guarantee_sum_permille"] == 750' gpus
ktap_result share_sum_in_gpus $?
json "d[0]['guarantee_permille'] == 600 and d[1]['guarantee_permille'] == 400" \
	share set "$uuid" --guarantee 600 "$other" --guarantee 400 --cap 1000
ktap_result share_set_prints_what_holds $?
fails 1 "cannot set shares: $other: .*(1000|per mille)" share set "$uuid" --weight 9 "$other" --guarantee 40.1%
ktap_result share_set_too_much $?
fails 1 "cannot set shares: $uuid: .*cap" share set "$other" --guarantee 0 "$uuid" --cap 1
ktap_result share_set_guarantee_above_cap $?
fails 1 'twice' share set "$uuid" --weight 9 "$uuid" --weight 8
ktap_result share_set_twice $?
fails 1 '00000000-0000-4000-8000-000000000000' share set "$uuid" --weight 9 00000000-0000-4000-8000-000000000000 --weight 9
ktap_result share_set_of_none $?
json "[v['weight'] for v in d if v['uuid'] == '$uuid'] == [3] and sum(v['guarantee_permille'] for v in d) == 1000" share show
ktap_result share_set_refused_changes_nothing $?
json "d[0]['frl_config_fps'] is None" share set "$other" --frl default
ktap_result share_set_frl_default $?
json "d[0]['vga'] is True" share set "$other" --vga on && json "d['vga'] is True" show "$other" &&
	"$ctl" show "$other" | grep -q '^VGA card  *on$'
ktap_result share_set_vga $?
json "d[0]['vga'] is False" share set "$other" --vga 0 && json "d[0]['vga'] is True" share set "$other" --vga 1 &&
	"$ctl" share set "$other" --vga off | grep -q ' VGA' && json "d[0]['vga'] is False" share show "$other"
ktap_result share_set_vga_words $?
fails 2 'Its UUID comes first' share set --guarantee 1 "$uuid"
ktap_result share_before_uuid_is_usage $?
fails 2 'what is it to get' share set "$uuid" --weight 1 "$other"
ktap_result share_of_nothing_is_usage $?
for text in 1001 101% -1 25.55% 2.5 x ''; do
	fails 2 '0 to 1000' share set "$uuid" --guarantee "$text"
	ktap_result "bad_guarantee_is_usage_$text" $?
done
fails 2 '1 to 1000' share set "$uuid" --cap 0
ktap_result bad_cap_is_usage $?
fails 2 '1 to 1000' share set "$uuid" --weight 0
ktap_result bad_weight_is_usage $?
fails 2 '1 to 1000.*off or default' share set "$uuid" --frl fast
ktap_result bad_frl_is_usage $?
fails 2 'on or off' share set "$uuid" --vga 2
ktap_result bad_vga_is_usage $?
fails 2 'not a UUID' share set "$uuid" --weight 1 2
ktap_result bad_share_uuid_is_usage $?

# ---- what vGPUs got ----

"$bin/busy" "$uuid" >"$events.busy" &
workers=($!)
"$bin/busy" "$other" >"$events.busy2" &
workers+=($!)
for ((i = 0; i < 600; i++)); do
	[[ -s $events.busy && -s $events.busy2 ]] && break
	sleep 0.1
done
[[ -s $events.busy && -s $events.busy2 ]]
ktap_result two_work $?
rm -f "$events.busy" "$events.busy2"
# Until some windows are over, and more runs than the log keeps.
for ((i = 0; i < 600; i++)); do
	json 'min(v["engines"][0]["window_ns"] for v in d[0]["vgpus"]) > 0' sched show >/dev/null 2>&1 &&
		(($("$ctl" sched log --engine gr | wc -l) == 201)) && break
	sleep 0.1
done
# Where a busy machine let one run go on for a whole window, that is how it was; another one is
# looked at.
for ((i = 0; i < 600; i++)); do
	shares=$(json 'sum(v["engines"][0]["window_percent"] for v in d[0]["vgpus"]) <= 100.02 and min(v["engines"][0]["window_percent"] for v in d[0]["vgpus"]) > 0' sched show 2>&1) && break
	sleep 0.1
done
((i < 600))
ktap_result sched_show_shares_of_the_window $? "$shares"
json "{v['uuid']: v['due_percent'] for v in d[0]['vgpus']} == {'$uuid': 60, '$other': 40}" sched show
ktap_result sched_show_due_under_qos $?
# A busy machine can keep a vGPU's client from work for a whole window.
for ((i = 0; i < 600; i++)); do
	shares=$(json 'min(e["window_percent"] for v in d["vgpus"] for e in v["engines"] if e["name"] == "gr") > 0' stats 2>&1) && break
	sleep 0.1
done
((i < 600))
ktap_result stats_window $? "$shares"
timeout 60 "$ctl" sched log --engine gr --follow --json --count 1 2>/dev/null | head -n 3 | python3 -c '
import json, sys
d = [json.loads(line) for line in sys.stdin]
assert len(d) > 1, len(d)
assert all(b["seq"] > a["seq"] for a, b in zip(d, d[1:]))'
ktap_result sched_log_follow $?
# settle: waits until the workers, which stand still, have no more jobs
settle() {
	local was=. now=
	while [[ $now != "$was" ]]; do
		was=$now
		now=$("$ctl" sched log --engine gr --count 1 --json)
		sleep 0.2
	done
}
# What they have left is to be seen without them, as they leave little of the processors. A busy
# machine may have kept one of them from work for as long as all the runs took that the log keeps.
for ((i = 0; i < 60; i++)); do
	kill -STOP "${workers[@]}"
	settle
	json "{r['uuid'] for r in d} == {'$uuid', '$other'}" sched log --engine gr >/dev/null 2>&1 && break
	kill -CONT "${workers[@]}"
	sleep 1
done
json "len(d) == 200 and {r['uuid'] for r in d} == {'$uuid', '$other'} and {r['engine'] for r in d} == {'gr'} and {r['end'] for r in d} <= {'idle', 'slice', 'preempted', 'stalled', 'changed'} and all(r['slice_ns'] > 0 and r['ran_ns'] > 0 for r in d) and all(b['seq'] == a['seq'] + 1 and b['time_ns'] >= a['time_ns'] + a['ran_ns'] for a, b in zip(d, d[1:]))" sched log --engine gr
ktap_result sched_log_json_is_in_order $?
json 'len([r for r in d if r["engine"] == "gr"]) == 3' sched log --count 3
ktap_result sched_log_count $?
[[ $("$ctl" sched log --count 1 --engine gr | head -n 1) == GPU*ENGINE*WAIT\ ms*RAN\ ms*END ]]
ktap_result sched_log_table $?
chart=$(COLUMNS=120 "$ctl" sched log --chart --engine gr)
[[ $chart == "GPU 0, gr: 200 runs"*"$uuid"*"|"*"$other"*"|" || $chart == "GPU 0, gr: 200 runs"*"$other"*"|"*"$uuid"*"|" ]] &&
	(($(wc -L <<<"$chart") == 120))
ktap_result sched_log_chart $? "$chart"
fails 1 'no engine enc9; there are: gr' sched log --engine enc9
ktap_result sched_log_unknown_engine $?
fails 2 'no more than 200' sched log --count 201
ktap_result sched_log_count_too_large_is_usage $?
fails 2 'for people' sched log --chart --follow
ktap_result sched_log_chart_and_follow_is_usage $?
json 'd["engines"][0]["wait"]["count"] > 0 and len(d["engines"][0]["wait"]["buckets"]) == 24 and sum(b["count"] for b in d["engines"][0]["wait"]["buckets"]) == d["engines"][0]["wait"]["count"]' hist "$uuid"
ktap_result hist_json $?
json 'd["engines"][0]["preempt"]["count"] > 0 and [e["name"] for e in d["engines"]] == ["gr"]' hist "$uuid" --engine gr
ktap_result hist_engine $?
[[ $("$ctl" hist "$uuid" --engine gr) == *"waited before a run: "*" times, p50 < "*"#"* ]]
ktap_result hist_text $?
fails 1 'no engine x' hist "$uuid" --engine x
ktap_result hist_unknown_engine $?
fails 1 'there is none' hist 00000000-0000-4000-8000-000000000000
ktap_result hist_of_none $?
json "{p['uuid']: (p['command'], p['engines'][0]['busy_ns'] > 0) for p in d} == {'$uuid': ('busy', True), '$other': ('busy', True)} and {p['pid'] for p in d} == {${workers[0]}, ${workers[1]}}" process
ktap_result process_json $?
json "all(p['uid'] == 0 and p['session'] > 0 and p['max_fb_bytes'] >= p['fb_backed_bytes'] > 0 for p in d)" process
ktap_result process_of_whom $?
# In their "guests" these are the same processes, who told it by the labels of their channels.
json "all(p['guest']['driver_name'] == 'libvgpu' and p['guest']['driver_version'] == '0.1.0' and [(g['told_by'], g['pid'], g['command'], g['uid']) for g in p['guest']['processes']] == [('guest', p['pid'], 'busy', 0)] for p in d)" process
ktap_result process_in_guest $?
json "all([(e['name'], e['channels']) for e in p['guest']['processes'][0]['engines']] == [('gr', 1)] and 0 < p['guest']['processes'][0]['engines'][0]['busy_ns'] <= p['guest']['processes'][0]['engines'][0]['total_busy_ns'] <= p['engines'][0]['busy_ns'] for p in d)" process
ktap_result process_in_guest_has_the_time $?
json "all([(c['engine'], c['command'], c['told_by'], c['state'] in ('awake', 'sleeping'), 0 < c['enabled_ns'] < p['guest']['now_ns']) for c in p['guest']['channels']] == [('gr', 'busy', 'guest', True, True)] for p in d)" process --channels
ktap_result process_channels_json $?
text=$("$ctl" process)
[[ $text == *"In the guests: "*"GUEST COMMAND"*"$uuid"*" busy "*" gr "* && $("$ctl" process --channels) == *STATE*"$uuid"*" ago "*" busy "* ]]
ktap_result process_in_guest_table $? "$text"
os=$(uname -sr)
os=${os:0:64}
os_pattern=$(sed 's/[.+]/\\&/g' <<<"$os")
json "d['guest_driver'] == {'told_by': 'guest', 'name': 'libvgpu', 'version': '0.1.0', 'os': '$os'}" show "$uuid" &&
	"$ctl" show "$uuid" | grep -qx "Guest driver  *libvgpu 0.1.0 (the guest's word)" &&
	"$ctl" show "$uuid" | grep -qxF "Guest OS              $os (the guest's word)"
ktap_result show_guest_driver $?
fails 2 '--channels goes with neither' process --channels -o pid
ktap_result process_channels_of_columns_is_usage $?
json "{(s['uuid'], s['pid'], s['command'], s['uid']) for s in d if s['ended_ns'] is None} == {('$uuid', ${workers[0]}, 'busy', 0), ('$other', ${workers[1]}, 'busy', 0)} and all(s['max_fb_bytes'] > 0 and s['engines'][0]['busy_ns'] > 0 and s['started_ns'] < s['now_ns'] for s in d if s['ended_ns'] is None)" sessions
ktap_result sessions_open $?
[[ $("$ctl" process -o pid,command,engine --noheadings | sort -u | grep -c ' busy *gr$') == 2 ]]
ktap_result process_table $? "$("$ctl" process)"
metrics=$("$ctl" metrics) documented=$(<Documentation/metrics.rst)
[[ $metrics == *$'\nvgpu_up 1\n'*"vgpu_vgpu_info{gpu=\""*"\",uuid=\"$uuid\",type=\"$type\"} 1"$'\n'* &&
	$metrics == *"uuid=\"$other\",pid=\"${workers[1]}\",uid=\"0\",command=\"busy\"} 1"* &&
	$metrics == *"vgpu_vgpu_guarantee_ratio{gpu=\""*"\",uuid=\"$uuid\"} 0.600"* &&
	$metrics =~ vgpu_engine_busy_seconds_total\{gpu=.*,engine=\"gr\"\}\ [0-9]+\.[0-9]{9} ]]
ktap_result metrics $? "$metrics"
grep -qE "^vgpu_vgpu_guest_driver_info\{.*,uuid=\"$uuid\",guest_driver=\"libvgpu\",guest_version=\"0.1.0\",guest_os=\"$os_pattern\"\} 1$" <<<"$metrics" &&
	grep -qE "^vgpu_vgpu_guest_busy_seconds\{.*,uuid=\"$other\",engine=\"gr\",process=\"named\",guest_pid=\"${workers[1]}\",guest_uid=\"0\",guest_command=\"busy\",guest_client=\"[0-9]+\"\} [0-9]+\.[0-9]{9}$" <<<"$metrics"
ktap_result metrics_of_guests $? "$(grep guest <<<"$metrics")"
lost=$(sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' <<<"$metrics" | while read -r name; do
	[[ $documented == *"\`\`$name\`\`"* ]] || echo "$name"
done)
[[ -z $lost ]]
ktap_result metrics_are_documented $? "$lost"
metrics=$(mktemp -d)
"$ctl" metrics --openmetrics -f "$metrics/a.prom" && cp "$metrics/a.prom" "$metrics/b"
# Whenever it is read it is whole.
for ((i = 0; i < 20; i++)); do
	"$ctl" metrics --openmetrics --file "$metrics/a.prom"
done &
while kill -0 $! 2>/dev/null && [[ $(tail -n 1 "$metrics/a.prom") == "# EOF" ]]; do
	:
done
! kill -0 $! 2>/dev/null && [[ $(ls "$metrics") == a.prom$'\n'b && $(stat -c %a "$metrics/a.prom") == 644 ]] &&
	[[ $(grep -c '^# TYPE' "$metrics/a.prom") == "$(grep -c '^# TYPE' "$metrics/b")" ]]
ktap_result metrics_file_is_replaced_at_once $? "$(ls -l "$metrics")"
rm -r "$metrics"
fails 1 '/proc/a.prom: cannot write it' metrics --file /proc/a.prom
ktap_result metrics_file_that_cannot_be $?
fails 2 'unrecognized' metrics --json
ktap_result metrics_are_no_json $?
# Who has it open does not let go until it is killed.
"$ctl" remove "$other" --json >"$events.removed" 2>/dev/null &
remover=$!
for ((i = 0; i < 600; i++)); do
	[[ -e /sys/bus/mdev/devices/$other/remove ]] || break
	sleep 0.1
done
fails 1 "$other: is being removed already" remove "$other"
ktap_result remove_while_another_waits $?
kill "${workers[@]}"
kill -CONT "${workers[@]}"
wait "${workers[@]}" 2>/dev/null
json "len(d) == 1 and (d[0]['uuid'], d[0]['pid'], d[0]['command']) == ('$other', ${workers[1]}, 'busy') and d[0]['started_ns'] < d[0]['ended_ns'] <= d[0]['now_ns'] and d[0]['engines'][0]['busy_ns'] > 0" sessions "$other"
ktap_result sessions_ended $?
workers=()
wait "$remover" && judge remove "d['removed'] is True" "$(<"$events.removed")"
ktap_result remove_second $?
rm "$events.removed"
[[ $("$ctl" sessions "${other^^}" --noheadings -o command,state,most,busy-ms) =~ \
	^busy\ \ ended\ +[0-9].*B\ \ gr\ [0-9]+$ ]]
ktap_result sessions_of_a_gone_vgpu $? "$("$ctl" sessions)"
[[ $("$ctl" sessions --count 1 --noheadings -o uuid,busy-ms) == \
	"$("$ctl" sessions --noheadings -o uuid,busy-ms | tail -n 1)" ]]
ktap_result sessions_count $?
fails 2 'not a UUID' sessions 12
ktap_result sessions_bad_uuid_is_usage $?
json 'd["policy"] == "best_effort"' sched set --policy best_effort --slice "${slice_ns}ns" \
	--window 100ms --preempt-timeout 10ms --linger 100us --quarantine-backoff 60s
ktap_result sched_set_back $?

json "d['removed'] is True" remove "$uuid"
ktap_result remove_json $?
fails 1 "$uuid.*there is none" remove "$uuid"
ktap_result remove_twice $?
for ((i = 0; i < 600; i++)); do
	grep -q "\"removed\".*$uuid" "$events" && break
	sleep 0.1
done
kill "$reader"
[[ $(python3 -c '
import json, sys
print(*[json.loads(line)["type"] for line in open(sys.argv[1])])' "$events") == "created"*"refused"*"sched"*"share"*"removed" ]]
ktap_result events_json_lines $? "$(<"$events")"
python3 -c '
import json, sys
d = [json.loads(line) for line in open(sys.argv[1])]
changed = [e["changed"] for e in d if e["type"] == "sched"]
assert changed[0] == ["policy", "slice", "window", "preempt_timeout", "linger", "quarantine_faults", "quarantine_backoff"], changed
assert changed[1] == ["frequency"], changed
changed = [(e["uuid"], e["changed"]) for e in d if e["type"] == "share"]
assert changed[0] == (sys.argv[2], ["guarantee", "cap", "weight", "frl"]), changed
assert changed[1] == (sys.argv[3], ["guarantee", "cap", "frl"]), changed' "$events" "$uuid" "$other"
ktap_result events_say_what_was_set $?
while IFS= read -r line; do
	judge events True "$line" || break
done <"$events"
ktap_result events_are_of_the_schema $? "$line"
rm -f "$events"
# What is over is in the log, that of one vGPU and that of all.
[[ $("$ctl" log "$uuid" --json | python3 -c '
import json, sys
print(*[json.loads(line)["type"] for line in sys.stdin])') == "created "*"share"*" removed" ]]
ktap_result log_of_one $? "$("$ctl" log "$uuid")"
judge log 'd["type"] == "removed"' "$("$ctl" log "$uuid" --count 1 --json)"
ktap_result log_json $?
[[ $("$ctl" log "$uuid" --count 1) == *" $uuid  removed" ]]
ktap_result log_of_the_newest $? "$("$ctl" log "$uuid" --count 1)"
said=$("$ctl" log)
grep -qE "  -  +sched: .*policy" <<<"$said" && grep -q "$other  removed" <<<"$said"
ktap_result log_of_all $? "$said"
fails 1 "nothing is known" log 99999999-9999-4999-8999-999999999999
ktap_result log_of_nobody $?
fails 2 "not a UUID" log "$uuid$uuid"
ktap_result log_of_no_uuid $?

mapfile -t commands < <("$ctl" --help | sed -nE 's/^  ([a-z]+( [a-z]+)?)  .*/\1/p')
((${#commands[@]} >= 20)) && [[ $("$ctl" --help) == *$'\n\n'"Create and remove vGPUs:"$'\n'"  create  "* ]]
ktap_result help_lists_commands $? "${commands[*]}"
# ---- declared state ----

state=$(mktemp) saved=$(mktemp)
address=$("$ctl" gpus --noheadings -o address)
# declare KEYS VGPUS: writes a state file
declare_state() {
	printf '{"version": 1,\n"gpus": [{"address": "%s"%s}],\n"vgpus": [%s]}\n' "$address" "$1" "$2" >"$state"
}
# vgpu UUID TYPE KEYS: an element of vgpus
vgpu() {
	printf '{"uuid": "%s", "address": "%s", "type": "%s"%s}' "$1" "$address" "$2" "$3"
}
# refused STATUS PATTERN: the file is refused, and nothing is changed
refused() {
	local before
	before=$("$ctl" save)
	fails "$1" "$2" apply -f "$state" && [[ $("$ctl" save) == "$before" ]]
}
keys=', "policy": "qos", "slice_ns": 2000000, "window_ns": 50000000'
both="$(vgpu "$uuid" "$type" ', "guarantee_permille": 600, "frl_config_fps": 0'),
$(vgpu "$other" "$id" ', "guarantee_permille": 400, "cap_permille": 500, "weight": 7, "vga": true')"
declare_state "$keys" "$both"
judge save True "$(<"$state")"
ktap_result state_is_of_the_schema $?
before=$("$ctl" save)
said=$("$ctl" apply -f "$state" --dry-run)
[[ $said == "GPU $address: policy best_effort -> qos"*"vGPU $uuid: create a $type on GPU $address"*"vGPU $other: weight 7"* ]]
ktap_result apply_dry_run $? "$said"
json "[g['set']['policy'] for g in d['gpus']] == ['qos'] and [(v['uuid'], v['create'], v['was']) for v in d['vgpus']] == [('$uuid', True, None), ('$other', True, None)]" apply -f "$state" --dry-run
ktap_result apply_dry_run_json $?
[[ $("$ctl" save) == "$before" ]]
ktap_result apply_dry_run_changes_nothing $?
[[ $("$ctl" apply -f "$state") == "$said" ]]
ktap_result apply_prints_what_it_does $?
json "d[0]['policy'] == 'qos' and d[0]['slice_ns'] == 2000000 and d[0]['window_ns'] == 50000000 and {v['uuid']: (v['type'], v['guarantee_permille'], v['cap_permille'], v['weight'], v['frl_config_fps'], v['vga']) for v in d[0]['vgpus']}['$other'] == ('$type', 400, 500, 7, None, True) and d[0]['guarantee_sum_permille'] == 1000" sched show
ktap_result apply_does_it $?
[[ $("$ctl" apply -f "$state") == "nothing is to be changed" ]] &&
	json "d == {'gpus': [], 'vgpus': [], 'left': []}" apply --file "$state"
ktap_result apply_twice_does_nothing $?
json "len(d['gpus']) == 1 and sorted(v['uuid'] for v in d['vgpus']) == ['$uuid', '$other'] and d['gpus'][0]['policy'] == 'qos'" save
ktap_result save_json $?
"$ctl" save -f "$saved" && cmp "$saved" <("$ctl" save) && [[ $("$ctl" apply -f - <"$saved") == "nothing is to be changed" ]]
ktap_result save_to_a_file $?
fails 1 '/nowhere/x: cannot write it' save -f /nowhere/x
ktap_result save_to_no_directory $?

declare_state '' "$(vgpu "$uuid" "$type" ', "guarantee_permille": 100')"
json "d['vgpus'] == [{'uuid': '$uuid', 'address': '$address', 'type': '$type', 'partition_start_eighth': None, 'elsewhere': False, 'create': False, 'set': {'guarantee_permille': 100}, 'was': {'guarantee_permille': 600}}]" apply -f "$state" --dry-run
ktap_result apply_changes_what_is_named $?

head -c 150 "$saved" >"$state"
refused 1 'line [0-9]+, column [0-9]+: .*cut off'
ktap_result apply_cut_off $?
: >"$state"
refused 1 'line 1, column 1: .*cut off'
ktap_result apply_empty $?
declare_state "$keys" "$(vgpu "$uuid" XX-1Q '')"
refused 1 'vgpus\[0\]\.type: GPU .* has no type XX-1Q'
ktap_result apply_unknown_type $?
declare_state "$keys" "$(vgpu "$uuid" "$type" ', "guarantee_permille": 601')"
refused 1 'vgpus\[0\]\.guarantee_permille: guarantee 601 .* 400 of 1000 are given'
ktap_result apply_too_much_beside_others $?
declare_state ', "polcy": "qos"' "$(vgpu "$uuid" "$type" ', "weigth": 1, "cap_permille": 0')"
refused 1 'gpus\[0\]\.polcy: no such key' && refused 1 'vgpus\[0\]\.weigth: no such key' &&
	refused 1 'vgpus\[0\]\.cap_permille: a number from 1 to 1000' && refused 1 'faults: 3$'
ktap_result apply_names_each_fault $?
declare_state ', "policy": "fairest"' "$both"
refused 1 'no policy fairest; there are: best_effort'
ktap_result apply_unknown_policy $?
declare_state "$keys" "$(vgpu 6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c03 "$largest" '')"
refused 1 "no room for a $largest"
ktap_result apply_no_room $?
fails 2 '-f FILE is needed' apply
ktap_result apply_nothing_is_usage $?
fails 1 '/nowhere: cannot read it' apply -f /nowhere
ktap_result apply_no_file $?

# Who may not change anything may look at the difference, if the node can be read.
chmod o+r /dev/vgpu
declare_state ', "policy": "equal_share"' "$(vgpu "$uuid" "$type" ', "weight": 5')"
chmod o+r "$state"
root=$ctl ctl=$(mktemp)
printf '#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups %q "$@"\n' "$root" >"$ctl"
chmod 755 "$ctl"
refused 1 'GPU .*: permission denied; needs CAP_SYS_ADMIN' &&
	json "len(d['gpus']) == 1" apply -f "$state" --dry-run
ktap_result apply_without_permission $?
rm "$ctl"
ctl=$root
chmod o-r /dev/vgpu

# What only the driver knows: the memory of the host. What was done by then is taken back.
overcommit=/sys/module/vgpu_soft/parameters/fb_overcommit
percent=$(<"$overcommit")
echo 1 >"$overcommit"
declare_state ', "policy": "equal_share", "slice_ns": 4000000' \
	"$(vgpu "$uuid" "$type" ', "guarantee_permille": 5'), $(vgpu 6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c03 SG16-1Q '')"
refused 1 'cannot create it: .*memory' && refused 1 'taking back'
ktap_result apply_is_taken_back $?
echo "$percent" >"$overcommit"

# After a reboot: nothing is there, and the unit's own command brings it back.
mkdir -p /etc/vgpu && cp "$saved" /etc/vgpu/state.json
"$ctl" remove "$uuid" && "$ctl" remove "$other" &&
	"$ctl" sched set --policy best_effort --slice 1ms --window 100ms >/dev/null
read -ra unit < <(sed -n 's,^ExecStart=@SBINDIR@/vgpuctl ,,p' tools/systemd/vgpu-restore.service.in)
"$ctl" "${unit[@]}" >/dev/null && cmp "$saved" <("$ctl" save)
ktap_result apply_restores $?
rm -r /etc/vgpu

# The service, and operators who think that it has not run: none takes back what another did.
together() {
	local i pids=() wrong=0
	"$ctl" remove "$uuid" && "$ctl" remove "$other" &&
		"$ctl" sched set --policy best_effort --slice 1ms --window 100ms >/dev/null || return
	for ((i = 0; i < 8; i++)); do
		"$ctl" apply -f "$saved" >/dev/null 2>>"$state" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || wrong=1
	done
	cmp "$saved" <("$ctl" save) && ((!wrong)) &&
		! grep -v '^vgpuctl: waiting until another vgpuctl has applied its state$' "$state"
}
: >"$state"
for ((round = 0; round < 8; round++)); do
	together || break
done
((round == 8))
ktap_result apply_all_at_once $?

# mdevctl's own are left to it.
mkdir -p "/etc/mdevctl.d/$address" && echo '{}' >"/etc/mdevctl.d/$address/$uuid"
json "[v['uuid'] for v in d['vgpus']] == ['$other']" save
ktap_result save_leaves_out_what_mdevctl_defines $?
"$ctl" remove "$uuid"
json "d['left'] == ['$uuid'] and d['vgpus'] == []" apply -f "$saved" &&
	"$ctl" apply -f "$saved" | grep -q "vGPU $uuid: left to mdevctl" && json 'len(d) == 1' list
ktap_result apply_leaves_what_mdevctl_defines $?
rm "/etc/mdevctl.d/$address/$uuid"
"$ctl" remove "$other"
"$ctl" sched set --policy best_effort --slice "${slice_ns}ns" --window 100ms >/dev/null
rm -f "$state" "$saved"

made=$("$ctl" create --type "$id" --gpu 0)
[[ $made =~ ^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$ ]]
ktap_result random_uuid_and_full_type_id $? "$made"
"$ctl" remove "$made"
ktap_result remove $?
declare -A help
for command in "${commands[@]}"; do
	# shellcheck disable=SC2086 # two words
	help[$command]=$("$ctl" $command --help)
	[[ ${help[$command]} == "Usage: vgpuctl $command"* ]]
	ktap_result "help_${command/ /_}" $?
done
# The completion and the man page know every option that the help lists. Starts few processes.
manual=$(<tools/vgpuctl/vgpuctl.8)
# shellcheck source=tools/vgpuctl/vgpuctl.bash
. tools/vgpuctl/vgpuctl.bash
completes() { # WORD...: what the completion offers for the last word
	COMP_WORDS=("$ctl" "$@") COMP_CWORD=$# COMPREPLY=()
	_vgpuctl
	echo " ${COMPREPLY[*]} "
}
for command in "${commands[@]}"; do
	# shellcheck disable=SC2086 # two words
	offered=$(completes $command --) missing=
	while IFS= read -r option; do
		[[ $option =~ ^"  "(--[a-z-]*) ]] || continue
		option=${BASH_REMATCH[1]}
		[[ $offered == *" $option "* ]] || missing+=" completion: $option"
		[[ $manual == *$'\n'".It Fl -${option#--}"[!a-z-]* ]] || missing+=" man page: $option"
	done <<<"${help[$command]}"
	[[ $offered == *" --json "* || $command =~ ^(metrics|top)$ ]] &&
		[[ $offered == *" --help "* && ! $missing ]]
	ktap_result "options_are_documented_${command/ /_}" $? "missing:$missing"
done
[[ $(completes share set "$uuid" --vga o) == " on off " ]]
ktap_result completion_of_a_switch $?
[[ $(completes apply -f tools/vgpuctl/vgpuctl.ba) == " tools/vgpuctl/vgpuctl.bash " && $(completes apply --dr) == " --dry-run " ]]
ktap_result completion_of_a_file $?
[[ $(completes list -o ST) == " STATE " && $(completes share show --output VG) == " VGA " ]]
ktap_result completion_of_columns $?
[[ $(completes sched set --policy q) == " qos " && $(completes sched s) == " show set " ]]
ktap_result completion_of_words $?
# All commands have a schema, and all their keys are in the man page.
missing=
schema=$(<Documentation/vgpuctl.schema.json)
for command in "${commands[@]}"; do
	[[ $schema == *$'\n'"    \"$command\": {"* || $command =~ ^(metrics|top)$ ]] || missing+=" $command"
done
[[ ! $missing ]]
ktap_result schema_of_each_command $? "missing:$missing"
missing=
for key in $(grep -oE '"[a-z0-9_]+": \{' Documentation/vgpuctl.schema.json | grep -oE '[a-z0-9_]{3,}' | sort -u); do
	[[ $key =~ ^(items|properties|placement_mode|vgpu_state|permille|histogram)$ ]] ||
		[[ $manual =~ [^a-z0-9_]"$key"[^a-z0-9_] ]] || missing+=" $key"
done
[[ ! $missing ]]
ktap_result keys_are_documented $? "missing:$missing"
# What Documentation/management.rst has in place of another tool's options can be typed.
missing=
while read -r _ words; do
	command=${words%% [-A-Z]*} option=
	[[ $words != *" --"* ]] || option=${words#* --} option=--${option%%[ =]*}
	# shellcheck disable=SC2086 # two words
	said=$("$ctl" $command --help 2>/dev/null) && [[ $said == *"Usage: vgpuctl $command"*$option* ]] ||
		missing+=" $words;"
done < <(sed -n '/^From /,/^NVML /p' Documentation/management.rst | tr '\n' ' ' | grep -oE '``vgpuctl [^`(]+' | tr -d '\`')
[[ ! $missing ]]
ktap_result other_options_lead_to_commands $? "missing:$missing"
"$ctl" sched --help | grep -q 'vgpuctl sched log'
ktap_result help_sched $?
"$ctl" --version | grep -q '^vgpuctl [0-9]'
ktap_result version $?
echo "1..$ktap_number"
ktap_end
