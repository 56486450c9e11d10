#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [TEST...]: runs the selftests, inside a lab machine (see
# scripts/lab), after: make -C tests/selftests, make -C tools and
# scripts/build-modules KERNEL.
# Loads and unloads the modules. Environment: VGPU_TEST_SEED, _ROUNDS,
# _HANDSHAKES, _FILL_MB; VGPU_TEST_ONLY: one test of a program;
# VGPU_TEST_TIMEOUT: seconds per program (1500).
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1

if [[ ${1:-} == --help ]]; then
	sed -n '3,8s/^# //p' tests/selftests/run.sh
	exit
fi
bin=build/selftests
timeout=${VGPU_TEST_TIMEOUT:-1500}
wanted=("$@")
passed=0 failed=0 skipped=0 found=''
output=$(mktemp)
trap 'rm -f "$output"' EXIT

bad='BUG:|WARNING:|Oops|general protection|Call Trace|INFO: task|UBSAN|KASAN|lockdep|refcount_t|list_(add|del) corruption|unregister_netdevice|kernel panic|memory leak'

# Tests that skip for these reasons run in another round, with other parameters, or on
# another kernel.
may_skip='vgpu(_soft)? is loaded with|quarantine_backoff_ms is too|sizes are powers of two|a null GPU has no|no log of written memory|framebuffer of [0-9]+ GiB|units meet on two processors|there is one unit, or one processor'
[[ ${LAB_KERNEL:-} != uml* ]] || may_skip+='|no tracer of functions'
[[ ${LAB_KERNEL:-} == *-debug ]] || may_skip+='|no fault injection in this kernel'

# Looks for reports of the kernel since the last call. Marks how far it has looked, as the
# number of lines says nothing: the log drops old ones.
mark='run.sh: looked at the log until here'
echo "$mark" >/dev/kmsg
check_dmesg() {
	local new
	mapfile -t new < <(dmesg | awk -v mark="$mark" -v bad="$bad" '
		index($0, mark) { n = 0; next }
		$0 ~ bad { line[n++] = $0 }
		END { for (i = 0; i < n; i++) print line[i] }')
	echo "$mark" >/dev/kmsg
	((${#new[@]})) || return
	echo "not ok $1: the kernel reported"
	printf '# %s\n' "${new[@]}"
	failed=$((failed + 1))
}

# What the tools say, do and document: shell scripts that start a process for each line that they
# judge, for which a kernel with KASAN takes a tenth of a second, and the C tests ask all of the
# driver that these do.
tools=(vgpuctl_test vgpuctl_partition_test observe_test vgpu_run_test vgpu_samples_test
	isa_test top_test refused_test)
# A client that is in Debian's contrib: where the image has it.
[[ ! -e /usr/lib/python3/dist-packages/pynvml.py ]] || tools+=(pynvml_test)
# What vGPUs get, for minutes: the same on each kernel. switch_test has all policies at work, too.
shares=(share_test dispatch_share_test)
# Not on a kernel for debugging, unless they are named: make check-more names them.
left_out=()
[[ ${LAB_KERNEL:-} != *-debug ]] || left_out=("${tools[@]}" "${shares[@]}")

is_wanted() {
	local name
	if ((!${#wanted[@]})); then
		[[ " ${left_out[*]} " != *" $1 "* ]]
		return
	fi
	for name in "${wanted[@]}"; do
		[[ $name == "$1" || $name == "${1%_test}" ]] && return
	done
	return 1
}

# count NAME STATUS: counts what a program has said in $output. Starts no process: a kernel with
# KASAN takes a tenth of a second for one, and there are many programs.
count() {
	local line lines ended='' said_failed='' unexpected=''
	mapfile -t lines <"$output"
	for line in "${lines[@]}"; do
		case $line in
		'ok '*'# SKIP'*) ;;
		'ok '*) passed=$((passed + 1)) ;;
		'not ok '*) failed=$((failed + 1)) said_failed=1 ;;
		'# Totals'* | '1..0'*) ended=1 ;;
		esac
		if [[ $line == *'# SKIP'* ]]; then
			skipped=$((skipped + 1))
			[[ $line =~ $may_skip ]] || unexpected=1
		fi
	done
	# A program has also failed if it ends without its last line, or with a status
	# that does not fit its output.
	if [[ ! $ended || ($2 != 0 && $2 != 4 && ! $said_failed) ]]; then
		echo "not ok $1: ended with status $2"
		failed=$((failed + 1))
	fi
	# The lab's machines have all that tests ask for. A test that is skipped there
	# for another reason runs nowhere.
	if [[ ${LAB_KERNEL:-} && $unexpected ]]; then
		echo "not ok $1: skipped in the lab"
		failed=$((failed + 1))
	fi
}

# settings: sets $found to the settings of all GPUs. Starts no process.
settings() {
	local file
	found=
	for file in /sys/class/mdev_bus/*/vgpu/{policy,slice_ns,window_ms,preempt_timeout_us} \
		/sys/class/mdev_bus/*/vgpu/{linger_us,quarantine_faults,quarantine_backoff_ms}; do
		[[ ! -r $file ]] || found+="${file##*/} $(<"$file"), "
	done
}

# check_settings NAME: the program has left them as they were, for the next one.
check_settings() {
	local before=$found
	settings
	if [[ $found != "$before" ]]; then
		echo "not ok $1: leaves $found which was $before"
		failed=$((failed + 1))
	fi
}

# run NAME [VARIABLE=VALUE...]: runs the program if it is wanted
run() {
	local name=$1 status program start=$SECONDS
	shift
	is_wanted "$name" || return
	echo "# $name $*"
	program=$bin/$name
	[[ -x $program ]] || program=tests/selftests/$name.sh
	env "$@" timeout -k 10 "$timeout" "$program" 2>&1 | tee "$output"
	status=${PIPESTATUS[0]}
	echo "# $name: $((SECONDS - start)) s"
	count "$name" "$status"
	check_settings "$name"
	check_dmesg "$name"
}

load() {
	if ! scripts/load "$@"; then
		echo "not ok load $*"
		failed=$((failed + 1))
		return 1
	fi
	settings
}

unload() {
	if ! scripts/unload; then
		echo "not ok unload"
		failed=$((failed + 1))
	fi
	check_dmesg unload
	settings
}

any_wanted() {
	local name
	for name; do
		is_wanted "$name" && return
	done
	return 1
}

if [[ ! -x $bin/sysfs_test ]]; then
	echo "run.sh: no programs in $bin: make -C tests/selftests" >&2
	exit 1
fi

plain=(sysfs_test config_test region_test submit_test space_test space_fault_test
	space_sync_test space_storm_test invalidate_test fault_test irq_test watcher_test
	cgroup_test reset_test preempt_test isolation_test close_test pause_test dirty_test
	reload_test migrate_test kept_test migrate_memory_test peer_test hops_test written_test
	compat_test stall_test handover_test channel_test usage_test label_test uaccess_test
	control_test event_test event_storm_test stats_test sample_test session_test reader_test
	throttle_test nvml_test nvml_mig_test pollers_test engines_test schedlog_test
	doorbell_test frl_test contain_test partition_test partition_call_test
	vgpuctl_test vgpuctl_partition_test observe_test display_test picture_test frame_test
	edid_test vga_test storm_test registers_test
	dispatch_test dispatch_fault_test dispatch_bounds_test dispatch_stop_test
	dispatch_limit_test dispatch_sync_test dispatch_storm_test native_test
	dispatch_share_test samples_test
	vgpu_run_test vgpu_samples_test isa_test)
[[ ! " ${tools[*]} " == *" pynvml_test "* ]] || plain+=(pynvml_test)
if any_wanted "${plain[@]}" && load vgpu.quarantine_faults=0; then
	for name in "${plain[@]}"; do
		run "$name"
	done
	unload
fi
# Programs on each interpreter that the processor can run. An emulated one takes the scalar one by
# itself, as vectors are slow there: of the others, the one with the most state is enough.
interpreters=(scalar sse2 avx2)
if [[ ${LAB_KERNEL:-} && $LAB_KERNEL != uml* ]]; then
	interpreters=(avx2)
	grep -qw avx2 /proc/cpuinfo || interpreters=(sse2)
fi
if any_wanted dispatch_test samples_test; then
	for simt in "${interpreters[@]}"; do
		if [[ $simt != scalar ]] && ! grep -qw "$simt" /proc/cpuinfo; then
			echo "# simt=$simt: not on this processor"
			continue
		fi
		if load "simt=$simt" vgpu.quarantine_faults=0; then
			echo "# simt=$simt"
			run dispatch_test VGPU_TEST_PROGRAMS=1500
			run samples_test VGPU_TEST_ONLY=all_in_one_place
			unload
		fi
	done
fi
# Several units: some more than there are processors.
units=(units_test units_idle_test units_fence_test dispatch_test dispatch_fault_test
	dispatch_stop_test dispatch_limit_test dispatch_sync_test dispatch_storm_test
	partition_time_test rcu_tasks_test)
if any_wanted "${units[@]}" inject_gpu_test && load units=4 vgpu.quarantine_faults=0; then
	echo "# units=4"
	for name in "${units[@]}"; do
		run "$name" VGPU_TEST_PROGRAMS=1500
	done
	# What has more to allocate then: flights, and what helpers need.
	for name in programs partition bind_gpu; do
		run inject_gpu_test "VGPU_TEST_ONLY=$name"
	done
	unload
fi
if any_wanted share_test switch_test nvml_load_test && load; then
	# A kernel for debugging is slow, but switches as often as the clock says.
	seconds=4
	[[ ${LAB_KERNEL:-} != *-debug ]] || seconds=2
	for name in share_test switch_test nvml_load_test; do
		run "$name" VGPU_TEST_SECONDS="${VGPU_TEST_SECONDS:-$seconds}"
	done
	unload
fi
# The last three unbind a GPU, which gets another number when it is bound again.
two=(refused_test settings_test vgpu_settings_test migrate_storm_test migrate_gone_test attr_test
	top_test)
if any_wanted "${two[@]}" && load gpus=2; then
	for name in "${two[@]}"; do
		run "$name"
	done
	unload
fi
if any_wanted linger_test && load engine_cpus=0; then
	run linger_test
	unload
fi
if any_wanted hang_test; then
	for backoff_ms in 60000 1000; do
		if load "vgpu.quarantine_backoff_ms=$backoff_ms"; then
			run hang_test
			unload
		fi
	done
fi
# Sizes that are no powers of two, and the other placement.
if any_wanted sysfs_test region_test submit_test; then
	if load fb_mb=24576 channels=240 vgpu.quarantine_faults=0; then
		run sysfs_test
		run region_test VGPU_TEST_TYPE=3Q
		run submit_test VGPU_TEST_TYPE=3Q VGPU_TEST_ROUNDS=5
		unload
	fi
	if load fb_mb=49152 placement=homogeneous; then
		run sysfs_test
		unload
	fi
fi
memory=(memory_test resident_test holder_test promise_test fuse_test pool_test inject_test
	inject_gpu_test inject_state_test inject_migrate_test)
if any_wanted "${memory[@]}" && load vgpu.quarantine_faults=0; then
	for name in "${memory[@]}"; do
		run "$name"
	done
	unload
fi
if any_wanted promise_test && load fb_reserve=1; then
	run promise_test
	unload
fi
# What needs no execution, with vgpu_null for a back end. "run.sh null" runs this round alone.
null=(sysfs_test config_test region_test submit_test irq_test reset_test control_test compat_test
	engines_test)
if any_wanted null "${null[@]}" && load --null vgpu.quarantine_faults=0; then
	! is_wanted null || wanted=()
	for name in "${null[@]}"; do
		run "$name" VGPU_TEST_TYPE=1Q
	done
	wanted=("$@")
	unload
fi
run module_test
for file in tests/selftests/*_test.{c,sh}; do
	name=${file##*/}
	grep -qw "${name%.*}" tests/selftests/run.sh && continue
	echo "not ok ${name%.*}: is in no round of run.sh"
	failed=$((failed + 1))
done
# Names that no test has; oom_test and partition_cpus_test have machines of their own, see check.sh.
if ((passed + failed + skipped == 0)) && ! any_wanted oom_test partition_cpus_test; then
	echo "not ok run.sh: no test is called ${wanted[*]}"
	failed=1
fi
((skipped == 0)) || echo "# $skipped skipped"
echo "$passed passed, $failed failed"
((failed == 0))
