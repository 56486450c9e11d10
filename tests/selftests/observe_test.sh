#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# debugfs and tracepoints; started by run.sh with the modules loaded. Programs of other
# tests do the work that is to be seen there.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1
# shellcheck source=tests/selftests/ktap.sh
. tests/selftests/ktap.sh
bin=build/selftests
trace=/sys/kernel/tracing
uuid=0b5e7e00-0000-4000-8000-000000000001

shopt -s nullglob
debug=(/sys/kernel/debug/vgpu/*)
parent=(/sys/class/mdev_bus/*)
if ((${#debug[@]} != 1 || ${#parent[@]} != 1)); then
	echo "1..0 # SKIP not one GPU"
	exit 4
fi
type=$(ktap_smallest_type)

one_directory_per_gpu() {
	[[ $(basename "${debug[0]}") == $(basename "${parent[0]}") ]]
}

placement() {
	grep -q 'instances: 0 of 32$' "${debug[0]}/placement" || return
	echo $uuid >"$type/create" || return
	cat "${debug[0]}/placement"
	grep -Eq "^$uuid .*-1Q +0 +1024 +0$" "${debug[0]}/placement" &&
		grep -q 'instances: 1 of 32$' "${debug[0]}/placement"
}

channels() {
	cat "${debug[0]}/channels"
	grep -Eq "^$uuid 0\.\.[0-9]+$" "${debug[0]}/channels"
}

timelines() {
	cat "${debug[0]}/timelines"
	[[ $(grep -c '^policy: best_effort$' "${debug[0]}/timelines") == 3 ]] &&
		[[ $(grep -cE '^(gr|ce0|ce1):$' "${debug[0]}/timelines") == 3 ]]
}

instances() {
	cat "${debug[0]}/instances"
	grep -q "^$uuid .*-1Q created$" "${debug[0]}/instances" || return
	echo 1 >"/sys/bus/mdev/devices/$uuid/remove" || return
	[[ ! -s ${debug[0]}/instances ]]
}

# A program holds a channel for a while: debugfs shows its state.
enabled_channel() {
	local pid found=1
	"$bin/preempt_test" >/dev/null 2>&1 &
	pid=$!
	while ((found)) && kill -0 "$pid" 2>/dev/null; do
		grep -Eq '^  0: gr, (awake|sleeping).*, ring at 0x[0-9a-f]+ in own memory, get [0-9]+, fault 0$' \
			"${debug[0]}/channels" && found=0
		sleep 0.02
	done
	wait "$pid"
	return $found
}

# tracepoints PROGRAM EVENT...: each has been hit by what PROGRAM does
tracepoints() {
	local program=$1 event
	shift
	echo 0 >"$trace/tracing_on"
	echo >"$trace/trace"
	for event; do
		echo 1 >"$trace/events/vgpu/$event/enable" || return
	done
	echo 1 >"$trace/tracing_on"
	"$bin/$program" >/dev/null 2>&1
	echo 0 >"$trace/tracing_on"
	echo 0 >"$trace/events/vgpu/enable"
	for event; do
		if ! grep -q " $event: " "$trace/trace"; then
			echo "$event was not hit by $program"
			return 1
		fi
	done
}

# traced_names EVENT: whose engines it told of
traced_names() {
	sed -n "s/.* $1: \([^ ]*\) engine=.*/\1/p" "$trace/trace" | sort -u
}

# Runs in two partitions: each event names the one that it is of.
trace_partitions() {
	local event names
	VGPU_TEST_ONLY=vgpus_in_partitions tracepoints partition_test vgpu_sched_pick vgpu_switch \
		vgpu_run_end || return
	names=$(traced_names vgpu_sched_pick)
	echo "$names"
	[[ $(grep -cxE "${parent[0]##*/}\.[1-9][0-9]*" <<<"$names") == 2 ]] || return
	for event in vgpu_switch vgpu_run_end; do
		if [[ $(traced_names "$event") != "$names" ]]; then
			echo "$event: $(traced_names "$event")"
			return 1
		fi
	done
}

echo "KTAP version 1"
ktap_run one_directory_per_gpu one_directory_per_gpu
ktap_run placement placement
ktap_run channels channels
ktap_run timelines timelines
ktap_run instances instances
ktap_run enabled_channel enabled_channel
if [[ -d $trace/events/vgpu ]]; then
	ktap_run trace_work tracepoints submit_test vgpu_switch vgpu_run_end vgpu_submit \
		vgpu_complete
	ktap_run trace_fault tracepoints fault_test vgpu_fault
	ktap_run trace_preempt tracepoints preempt_test vgpu_preempt
	ktap_run trace_move tracepoints compat_test vgpu_move
	ktap_run trace_partitions trace_partitions
else
	ktap_result "trace # SKIP no tracing" 0
fi
echo "1..$ktap_number"
ktap_end
