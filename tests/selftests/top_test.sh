#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vgpuctl top in a terminal of tmux; started by run.sh with the modules loaded and two GPUs or more.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1
# shellcheck source=tests/selftests/ktap.sh
. tests/selftests/ktap.sh
ctl=$PWD/build/tools/vgpuctl/vgpuctl
one=7a000000-0000-4000-8000-000000000001
two=7b000000-0000-4000-8000-000000000002

ktap_begin "$ctl" tmux
tmp=$(mktemp -d)
worker=
terminals=0

terminal() {
	tmux -S "$tmp/tmux$terminals" -f /dev/null "$@"
}

clean_up() {
	[[ ! $worker ]] || kill "$worker" 2>/dev/null
	terminal kill-server 2>/dev/null
	"$ctl" remove "$one" >/dev/null 2>&1
	"$ctl" remove "$two" >/dev/null 2>&1
	"$ctl" sched set --gpu "${gpus[0]}" --policy best_effort >/dev/null 2>&1
	rm -rf "$tmp"
}
trap clean_up EXIT

# open LOCALE [ARGUMENT...]: vgpuctl top in a new terminal of 80x24, and what it ends with
open() {
	terminal kill-server 2>/dev/null
	# With a socket of its own: who is told that the last server ends may still find it there.
	terminals=$((terminals + 1))
	terminal new-session -d -x 80 -y 24 \
		"LC_ALL=$1 '$ctl' top --watch=0.3 ${*:2}; echo \"ended \$?\"; stty -a; exec cat"
}

# sees PATTERN: the screen comes to match; it is left in $screen
sees() {
	local i
	for ((i = 0; i < 600; i++)); do
		screen=$(terminal capture-pane -p) && [[ $screen =~ $1 ]] && return
		sleep 0.1
	done
	return 1
}

# sees_not PATTERN: the screen comes to match no more
sees_not() {
	local i
	for ((i = 0; i < 600; i++)); do
		screen=$(terminal capture-pane -p) && [[ ! $screen =~ $1 ]] && return
		sleep 0.1
	done
	return 1
}

keys() {
	terminal send-keys "$@"
}

# result NAME STATUS: with the screen if it is wrong
result() {
	ktap_result "$1" "$2" "$screen"
}

screen=
mapfile -t gpus < <("$ctl" gpus --noheadings -o address | tr -d ' ')
type=$("$ctl" types --gpu "${gpus[0]}" --noheadings -o name | tr -d ' ' | head -n 1)
"$ctl" sched set --gpu "${gpus[0]}" --policy qos >/dev/null

open C.UTF-8
sees "${#gpus[@]} GPUs  0 vGPUs, 0 in use  sort busy .*${gpus[0]}.*gr   \[ .*${gpus[1]}.*UUID.*GUAR%.*q quit"
result no_vgpu $?
keys g
sees 'there is no vGPU'
result no_vgpu_to_set $?

for uuid in "$one" "$two"; do
	"$ctl" create --type "$type" --gpu "${gpus[0]}" --uuid "$uuid" >/dev/null
done
"$ctl" share set "$one" --guarantee 100 "$two" --guarantee 100 >/dev/null
build/selftests/busy "$one" >/dev/null &
worker=$!
sees "2 vGPUs, 1 in use.*7a000000 $type +open +10.0 100.0 .*█.*%.*7b000000 $type +- "
result vgpus_come $?
# The lines below may be drawn a moment after the table.
sees "$one .* fps .* faults  $worker busy"
result the_chosen_one $?
# A busy machine may let an interval pass without a run; a bar is there soon.
sees '  gr   \[█'
result bar_of_the_engine $?

keys s
sees 'sort wait'
result sorts $?
keys s s s
sees 'sort uuid '
keys r
sees 'sort uuid reversed.*7b000000.*7a000000'
result reverses $?
keys Up Up
sees "$two .*fps"
result chooses $?
keys Down
sees "$one .*fps"
result chooses_another $?
keys e
sees 'WAIT% ce0'
result next_engine $?

keys g
sees 'guarantee of 7a000000 \(per mille, or 25%\): _'
result asks_for_a_guarantee $?
keys '30%' Enter
sees 'guarantee is set.*'
[[ $("$ctl" share show "$one" --noheadings -o guarantee-%) =~ ^\ *30\.0$ ]]
result sets_a_guarantee $?
sees '7a000000 .* 30\.0 100\.0 '
result shows_the_guarantee $?
keys g '95%' Enter
sees "$one"'.*guarantee 950 per mille does not fit'
result shows_a_refusal $?
[[ $("$ctl" share show "$one" --noheadings -o guarantee-%) =~ ^\ *30\.0$ ]]
result refusal_changes_nothing $?
keys x
sees 'q quit'
keys w 0 Enter
sees '1 to 1000 is possible'
result says_what_is_possible $?
keys Escape
sees 'q quit'
result gives_up $?
keys c 40 BSpace 55 Enter
sees 'cap is set'
[[ $("$ctl" share show "$one" --noheadings -o cap-%) =~ ^\ *45\.5$ ]]
result sets_a_cap $?

terminal resize-window -x 120 -y 30
sees "UUID {33}TYPE.*$two .*$one "
result grows $?
terminal resize-window -x 30 -y 6
sees '^vgpuctl top [0-9:]{8}  [0-9]'
result shrinks $?
terminal resize-window -x 3 -y 1
sleep 1
terminal resize-window -x 80 -y 24
sees 'UUID     TYPE .*cap is set'
result is_as_before $?

"$ctl" remove "$two" >/dev/null
sees_not '7b000000'
result vgpu_goes $?
gone=${gpus[1]}
driver=$(readlink -f "/sys/bus/pci/devices/$gone/driver")
echo "$gone" >"$driver/unbind"
sees_not "$gone"
result gpu_goes $?
echo "$gone" >"$driver/bind"
sees "$gone"
result gpu_comes $?
keys ' '
sees 'PAUSED'
result stops $?
keys ' ' q
sees 'ended 0.* icanon.* echo '
result quits $?

open C
sees '7a000000 .*#.*%'
! grep -q '[^ -~]' <<<"$screen"
result ascii $?
pid=$(pgrep -f "^$ctl top --watch=0.3")
terminal kill-server
for ((i = 0; i < 600; i++)); do
	[[ -e /proc/$pid ]] || break
	sleep 0.1
done
[[ $pid && ! -e /proc/$pid ]]
result ends_with_its_terminal $?
open C "--gpu 99"
sees 'GPU 99: there is none'
result unknown_gpu $?

text=$(COLUMNS=80 LC_ALL=C "$ctl" top --once --watch=0.2)
[[ $text == "vgpuctl top "*"  gr   ["*"UUID "*"7a000000 $type"* ]] && (($(wc -L <<<"$text") <= 80))
ktap_result once $? "$text"
text=$("$ctl" top 2>&1 </dev/null)
(($? == 2)) && [[ $text == *"no terminal"*"--once"* ]]
ktap_result no_terminal $? "$text"
text=$(TERM=nonsense script -qec "$ctl top" /dev/null </dev/null)
[[ $text == *TERM* ]]
ktap_result unknown_terminal $? "$text"
echo "1..$ktap_number"
ktap_end
