#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Loading, unloading, binding and hotplug of the modules; started by run.sh with no
# module loaded, leaves none loaded. VGPU_TEST_CYCLES: how often load_cycles loads
# them (20; 5 on a kernel for debugging, which is slow; 1 on uml-kobject, where a GPU's
# end takes 10 s).
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1
# shellcheck source=tests/selftests/ktap.sh
. tests/selftests/ktap.sh
driver=/sys/bus/pci/drivers/vgpu_soft
devices=/sys/bus/pci/devices
parents=/sys/class/mdev_bus
hold=build/selftests/hold
quick='' late='' cycles=20 most_gpus=16
case ${LAB_KERNEL:-} in
*-debug) quick=1 cycles=5 ;;
*-kobject) late=1 cycles=1 most_gpus=3 ;;
esac
cycles=${VGPU_TEST_CYCLES:-$cycles}
gpus=()
work=$(mktemp -d)
marks=0
# Nothing is ever written there: to wait for it is to sleep, without a process.
mkfifo "$work/nap"
exec {nap}<>"$work/nap"

if [[ -d /sys/module/vgpu || ! -x $hold ]]; then
	echo "1..0 # SKIP vgpu is loaded, or there is no $hold"
	exit 4
fi

# The modules are loaded a hundred times: without what scripts/load does besides, which
# is done here once.
find_modules() {
	scripts/load && scripts/unload || return
	vgpu=$(find "build/modules/$(uname -r)" -name vgpu.ko -print -quit)
	vgpu_soft=$(find "build/modules/$(uname -r)" -name vgpu_soft.ko -print -quit)
}

# load [PARAMETER...]: of vgpu_soft; vgpu.NAME=VALUE is a parameter of vgpu
load() {
	local parameter core=() soft=(fb_overcommit=0)
	for parameter; do
		case $parameter in
		vgpu.*) core+=("${parameter#vgpu.}") ;;
		*) soft+=("$parameter") ;;
		esac
	done
	# refused leaves vgpu loaded.
	[[ ! -d /sys/module/vgpu ]] || rmmod vgpu || return
	insmod "$vgpu" "${core[@]}" && insmod "$vgpu_soft" "${soft[@]}"
}

unload() {
	local module
	for module in vgpu_soft vgpu; do
		[[ ! -d /sys/module/$module ]] || rmmod "$module" || return
	done
}

# Removes what a test that has failed leaves behind.
reset_all() {
	local pid dir
	for pid in $(jobs -p); do
		kill "$pid" 2>/dev/null
	done
	wait
	for dir in /sys/bus/mdev/devices/*/remove; do
		[[ ! -e $dir ]] || echo 1 >"$dir"
	done 2>/dev/null
	unload
}
trap 'reset_all >/dev/null 2>&1; rm -rf "$work"' EXIT

# check FUNCTION: a test, which fails by its status and says why on stdout
check() {
	local start=$SECONDS
	"$1" >"$work/said" 2>&1
	ktap_result "$1" $? "$(<"$work/said")"
	reset_all >/dev/null 2>&1
	((SECONDS - start < 2)) || ktap_note "$1 took $((SECONDS - start)) s"
}

# names PATH...: sets found to the base names of those that there are
names() {
	local path
	found=()
	for path; do
		[[ ! -e $path ]] || found+=("${path##*/}")
	done
}

list_gpus() {
	names "$parents"/*
	gpus=("${found[@]}")
}

# with_gpus NUMBER [PARAMETER...]: loads the modules; sets gpus to the GPUs, so many
with_gpus() {
	local wanted=$1
	shift
	load "gpus=$wanted" "$@" || return
	list_gpus
	((${#gpus[@]} == wanted)) && return
	ktap_note "${#gpus[@]} GPUs, not $wanted: ${gpus[*]:-}"
	return 1
}

# gpu_listed: the PCI bus has a GPU
gpu_listed() {
	local dir vendor device
	for dir in "$devices"/*; do
		{ read -r vendor <"$dir/vendor" && read -r device <"$dir/device"; } 2>/dev/null || continue
		[[ $vendor:$device != 0x1af4:0x10f0 ]] || return 0
	done
	return 1
}

# thread_left: a thread of ours runs
thread_left() {
	local file name
	for file in /proc/[0-9]*/comm; do
		{ read -r name <"$file"; } 2>/dev/null || continue
		[[ ! $name =~ ^vgpu[-/] ]] || return 0
	done
	return 1
}

# What is asked for often, after each of a hundred loads, starts no process: a kernel with KASAN
# takes a tenth of a second for one.
nothing_is_left() {
	names /sys/module/{vgpu,vgpu_soft} /dev/vgpu /sys/kernel/debug/{vgpu,vgpu_soft} \
		"$parents"/* /sys/bus/mdev/devices/* "$driver"
	if ((${#found[@]})) || gpu_listed || thread_left; then
		ktap_note "left: ${found[*]:-a device or a thread}"
		return 1
	fi
}

end() {
	unload && nothing_is_left
}

type_dir() {
	echo "$parents/$1/mdev_supported_types"/*-"$2"
}

# available GPU TYPE: sets nr
available() {
	nr=
	{ read -r nr <"$(type_dir "$1" "$2")/available_instances"; } 2>/dev/null
}

has_available() {
	local nr
	available "$1" "$2"
	((${nr:--1} == $3)) && return
	ktap_note "$1: $2: ${nr:-no such type} available, not $3"
	return 1
}

new_uuid() {
	echo "$(</proc/sys/kernel/random/uuid)"
}

create() {
	echo "$3" >"$(type_dir "$1" "$2")/create"
}

remove() {
	echo 1 >"/sys/bus/mdev/devices/$1/remove"
}

# has_types GPU: all of it is available, so its types are there and no vGPU is
has_types() {
	has_available "$1" 1Q 16
}

# ends PID SECONDS: the process ends in time
ends() {
	local state until=$((SECONDS + $2 + 1))
	while ((SECONDS < until)); do
		{ read -r _ _ state _ <"/proc/$1/stat"; } 2>/dev/null || return 0
		[[ $state != [ZX] ]] || return 0
		read -rt 0.02 -u "$nap"
	done
	return 1
}

# within SECONDS PATH TEXT: writing TEXT to PATH succeeds in time
within() {
	local pid start=$EPOCHREALTIME
	bash -c 'echo "$1" >"$0"' "$2" "$3" &
	pid=$!
	if ! ends "$pid" "$1"; then
		ktap_note "echo $3 >$2: still there after $1 s" "$(cat "/proc/$pid/stack" 2>/dev/null)"
		return 1
	fi
	wait "$pid" || { ktap_note "echo $3 >$2: fails"; return 1; }
	ktap_note "echo $3 >$2: from $start to $EPOCHREALTIME"
}

# start_holder UUID [polite]: sets holder
start_holder() {
	local until=$((SECONDS + 60))
	"$hold" "$@" >"$work/holder" 2>&1 &
	holder=$!
	while ((SECONDS < until)); do
		! grep -qx open "$work/holder" || return 0
		read -rt 0.05 -u "$nap"
	done
	ktap_note "the holder did not open: $(<"$work/holder")"
	return 1
}

let_go() {
	kill "$holder"
}

lspci_lists_both() {
	local listed pattern='^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.0$' gpu
	with_gpus 2 || return
	[[ ${LAB_KERNEL:-} == uml* ]] || pattern='^[1-9a-f][0-9a-f]{3}:00:0[01]\.0$'
	listed=$(lspci -D -n -d 1af4:10f0 | cut -d' ' -f1 | sort | xargs)
	ktap_note "$listed"
	[[ $listed == "${gpus[*]}" ]] || { ktap_note "parents are ${gpus[*]}"; return 1; }
	for gpu in "${gpus[@]}"; do
		[[ $gpu =~ $pattern ]] || { ktap_note "$gpu does not match $pattern"; return 1; }
		[[ $(lspci -D -n -s "$gpu") == *" 0302: 1af4:10f0"* ]] || return
		[[ $(readlink -f "$devices/$gpu/driver") == "$driver" ]] || return
		has_types "$gpu" || return
	done
	end
}

addresses_are_stable() {
	local first i
	with_gpus 2 || return
	first=${gpus[*]}
	for ((i = 0; i < (late ? 1 : 3); i++)); do
		end && with_gpus 2 || return
		[[ ${gpus[*]} == "$first" ]] || { ktap_note "${gpus[*]}, before: $first"; return 1; }
	done
	end && with_gpus "$most_gpus" || return
	[[ "${gpus[*]:0:2}" == "$first" ]] || { ktap_note "of $most_gpus: ${gpus[*]:0:2}"; return 1; }
	end
}

load_cycles() {
	local i
	for ((i = 0; i < cycles; i++)); do
		with_gpus $((i % 3 + 1)) && has_types "${gpus[0]}" && end || { ktap_note "cycle $i"; return 1; }
	done
}

# Unbind waits for the user of a vGPU, and hotplug does not wait for unbind.
unbind_waits_for_the_user() {
	local uuid unbind
	uuid=$(new_uuid)
	with_gpus 2 && create "${gpus[0]}" 1Q "$uuid" && start_holder "$uuid" || return
	bash -c 'echo "$1" >"$0"' "$driver/unbind" "${gpus[0]}" &
	unbind=$!
	! ends "$unbind" 1 || { ktap_note "unbind did not wait"; return 1; }
	within 60 /sys/bus/pci/rescan 1 || return
	within 60 "$devices/${gpus[1]}/remove" 1 || return
	[[ ! -e $devices/${gpus[1]} ]] || { ktap_note "${gpus[1]} is still there"; return 1; }
	within 60 /sys/bus/pci/rescan 1 && has_types "${gpus[1]}" || return
	within 60 "$driver/unbind" "${gpus[1]}" && within 60 "$driver/bind" "${gpus[1]}" || return
	! create "${gpus[0]}" 1Q "$(new_uuid)" 2>/dev/null || { ktap_note "created on a GPU that goes"; return 1; }
	! rmmod vgpu_soft 2>/dev/null || { ktap_note "rmmod in use"; return 1; }
	[[ -d /proc/$unbind && -d /proc/$holder ]] || { ktap_note "unbind or the holder is gone"; return 1; }
	let_go
	ends "$holder" 60 && ends "$unbind" 60 || { ktap_note "does not end"; return 1; }
	wait "$unbind" || { ktap_note "unbind failed"; return 1; }
	[[ ! -e /sys/bus/mdev/devices/$uuid ]] || { ktap_note "the vGPU is still there"; return 1; }
	within 60 "$driver/bind" "${gpus[0]}" && has_types "${gpus[0]}" || return
	create "${gpus[0]}" 1Q "$uuid" || return
	end
}

unbind_asks_the_user() {
	local uuid
	uuid=$(new_uuid)
	with_gpus 1 && create "${gpus[0]}" 1Q "$uuid" && start_holder "$uuid" polite || return
	within 60 "$driver/unbind" "${gpus[0]}" || return
	ends "$holder" 60 && grep -qx asked "$work/holder" || { ktap_note "the holder was not asked: $(<"$work/holder")"; return 1; }
	within 60 "$driver/bind" "${gpus[0]}" && has_types "${gpus[0]}" || return
	end
}

remove_asks_the_user() {
	local uuid
	uuid=$(new_uuid)
	with_gpus 1 && create "${gpus[0]}" 1Q "$uuid" && start_holder "$uuid" polite || return
	within 60 "/sys/bus/mdev/devices/$uuid/remove" 1 || return
	ends "$holder" 60 && grep -qx asked "$work/holder" || { ktap_note "the holder was not asked: $(<"$work/holder")"; return 1; }
	has_types "${gpus[0]}" && end
}

# delete_module NAME: the system call refuses; rmmod would look at the counters before it
delete_module() {
	python3 - "$1" <<'EOT'
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
ret = libc.syscall(176, sys.argv[1].encode(), os.O_NONBLOCK)
error = ctypes.get_errno()
print("delete_module:", ret, os.strerror(error))
sys.exit(0 if ret and error in (errno.EBUSY, errno.EAGAIN) else 1)
EOT
}

# is_busy NAME: the module cannot be unloaded
is_busy() {
	local text
	text=$(rmmod "$1" 2>&1) && { ktap_note "rmmod $1 succeeds"; return 1; }
	[[ $text == *"in use"* ]] || { ktap_note "$text"; return 1; }
	delete_module "$1"
}

modules_in_use_stay() {
	local uuid
	uuid=$(new_uuid)
	with_gpus 1 && is_busy vgpu || return
	create "${gpus[0]}" 1Q "$uuid" && is_busy vgpu || return
	start_holder "$uuid" && is_busy vgpu && is_busy vgpu_soft || return
	has_types "${gpus[0]}" >/dev/null && { ktap_note "the vGPU is gone"; return 1; }
	let_go
	ends "$holder" 60 || return
	end
}

# after STEPS NUMBER: unloads with that many vGPUs, after uN: unbind, bN: bind, dN: remove
# the N-th GPU, s: rescan
after() {
	local steps=$1 nr=$2 i step gpu
	with_gpus 2 || return
	for ((i = 0; i < nr; i++)); do
		create "${gpus[i % 2]}" $((i + 1))Q "$(new_uuid)" || return
	done
	for step in $steps; do
		case $step in
		u*) gpu=${gpus[${step:1}]} && within 60 "$driver/unbind" "$gpu" ;;
		b*) gpu=${gpus[${step:1}]} && within 60 "$driver/bind" "$gpu" && has_types "$gpu" ;;
		d*) gpu=${gpus[${step:1}]} && within 60 "$devices/$gpu/remove" 1 ;;
		s) within 60 /sys/bus/pci/rescan 1 && has_types "${gpus[0]}" ;;
		esac || { ktap_note "$steps with $nr vGPUs: $step"; return 1; }
	done
	end || { ktap_note "$steps with $nr vGPUs: unload"; return 1; }
}

unload_in_every_order() {
	local steps nr orders=('' u0 u1 'u0 u1' 'u1 u0' 'u0 b0' 'u0 u1 b1' 'u0 u1 b1 b0' 'u1 b1 u0')
	[[ ! $late ]] || { after 'u0 b0' 2 && after 'u0 u1 b1' 2; return; }
	for steps in "${orders[@]}"; do
		for nr in 0 1 2; do
			[[ $quick && ($nr == 0 || $steps == u1) ]] || after "$steps" "$nr" || return
		done
	done
}

unload_after_pci_remove() {
	local steps nr
	[[ ! $late ]] || { after 'd1 d0 s' 2; return; }
	for steps in d0 d1 'd0 d1' 'd0 s' 'd1 d0 s' 'u0 d0 s' 'd0 s d0'; do
		for nr in 0 2; do
			[[ $quick && $nr == 0 ]] || after "$steps" "$nr" || return
		done
	done
}

# refused TEXT PARAMETER: does not load, and says TEXT. One of vgpu_soft leaves vgpu loaded, for
# the next: on a kernel with KASAN each step costs.
refused() {
	local said
	# A mark, as the number of lines says nothing: the log drops old ones.
	marks=$((marks + 1))
	echo "module_test: mark $marks." >/dev/kmsg
	if [[ $2 == vgpu.* ]]; then
		! load "$2" 2>"$work/load"
	else
		{ [[ -d /sys/module/vgpu ]] || insmod "$vgpu"; } &&
			! insmod "$vgpu_soft" fb_overcommit=0 "$2" 2>"$work/load"
	fi || { ktap_note "$2 is taken"; return 1; }
	said=$(dmesg | sed -n "/module_test: mark $marks\./,\$p")
	if [[ ! $said =~ $1 ]]; then
		ktap_note "$2: nothing says '$1':" "$said" "$(<"$work/load")"
		return 1
	fi
	[[ ! -d /sys/module/vgpu_soft ]] || { ktap_note "$2: vgpu_soft is loaded"; return 1; }
	[[ $2 != vgpu.* || ! -d /sys/module/vgpu ]] || { ktap_note "$2: vgpu is loaded"; return 1; }
	list_gpus
	((${#gpus[@]} == 0)) && ! gpu_listed || { ktap_note "$2: a GPU is left"; return 1; }
}

bad_parameters_are_refused() {
	local policies
	with_gpus 1 && policies=$(<"$parents/${gpus[0]}/vgpu/policies") && end || return
	policies=${policies// /, }
	refused 'fb_mb=1000: must be 1024\.\.65536' fb_mb=1000 &&
	refused 'fb_mb=0: must be 1024\.\.65536' fb_mb=0 &&
	refused 'fb_mb=66560: must be 1024\.\.65536' fb_mb=66560 &&
	refused 'fb_mb=1500: must be a multiple of 1024' fb_mb=1500 &&
	refused 'gpus=0: must be 1\.\.16' gpus=0 &&
	refused 'gpus=17: must be 1\.\.16' gpus=17 &&
	refused 'channels=8: must be 16\.\.1024' channels=8 &&
	refused 'channels=1025: must be 16\.\.1024' channels=1025 &&
	refused 'placement=x: must be mixed or homogeneous' placement=x &&
	refused 'engine_cpus=99999: not a list of CPUs.*beyond CPU [0-9]+' engine_cpus=99999 &&
	refused 'engine_cpus=abc: not a list of CPUs' engine_cpus=abc &&
	refused 'engine_cpus=999: ' engine_cpus=999 &&
	refused 'poll_us=1001: must be 0\.\.1000' poll_us=1001 &&
	refused 'units=17: must be 0\.\.16' units=17 &&
	refused 'simt=x: must be auto, scalar, sse2 or avx2' simt=x &&
	refused 'vendor_id=0: must be 1\.\.65534' vendor_id=0 &&
	refused 'device_id=65536: must be 0\.\.65535' device_id=65536 &&
	refused 'numa_node: 3 nodes for 1 GPUs; must be one for all' numa_node=0,0,0 &&
	refused 'slice_us=5: must be 1000\.\.30000' vgpu.slice_us=5 &&
	refused 'slice_us=30001: must be 1000\.\.30000' vgpu.slice_us=30001 &&
	refused 'preempt_timeout_us=1: must be 1000\.\.1000000' vgpu.preempt_timeout_us=1 &&
	refused 'quarantine_faults=17: must be 0\.\.16' vgpu.quarantine_faults=17 &&
	refused 'quarantine_backoff_ms=0: must be 1\.\.3600000' vgpu.quarantine_backoff_ms=0 &&
	refused "policy=x: must be ${policies%, *} or ${policies##*, }" vgpu.policy=x &&
	refused 'window_ms=9: must be 10\.\.1000, or 0' vgpu.window_ms=9 &&
	refused 'linger_us=1001: must be 0\.\.1000' vgpu.linger_us=1001 &&
	with_gpus 1 engine_cpus=0 poll_us=0 vgpu.slice_us=30000 vgpu.preempt_timeout_us=1000 && end
}

# IDs by which tools and drivers take the GPU for another device are taken only if meant.
foreign_ids_are_refused() {
	local free='1af4:10f0\.\.10ff are free to use, and foreign_ids=1 takes any'
	refused "vendor_id=0x10de device_id=0x10f0: .*$free" vendor_id=0x10de &&
	refused "vendor_id=0x1002 .*$free" vendor_id=0x1002 &&
	refused "vendor_id=0x8086 .*$free" vendor_id=0x8086 &&
	refused "vendor_id=0x1234 .*$free" vendor_id=0x1234 &&
	refused "vendor_id=0x1af4 device_id=0x10ef: .*$free" device_id=0x10ef &&
	refused "vendor_id=0x1af4 device_id=0x1100: .*$free" device_id=0x1100 || return
	with_gpus 1 device_id=0x10ff && [[ $(lspci -D -n -d 1af4:10ff) == "${gpus[0]} "* ]] &&
		has_types "${gpus[0]}" && end || return
	with_gpus 1 foreign_ids=1 vendor_id=0x10de device_id=0x1eb8 &&
		[[ $(lspci -D -n -d 10de:1eb8) == "${gpus[0]} "* ]] && has_types "${gpus[0]}" && end
}

# has_helpers NUMBER: the GPU has so many units beside the one that leads
has_helpers() {
	local dir=/sys/kernel/debug file threads
	mountpoint -q "$dir" || mount -t debugfs none "$dir" || return
	threads=$(pgrep -c '^vgpu-gr\.')
	file=$dir/vgpu_soft/${gpus[0]}/gr/helpers
	[[ $(<"$file") == "$1" && $threads == "$1" ]] && return
	ktap_note "$(<"$file") helpers and $threads threads, not $1"
	return 1
}

# One processor is left to others, if there are several; more units than there are may be had.
units_are_as_many_as_asked_for() {
	local cpus
	cpus=$(nproc)
	((cpus <= 17)) || cpus=17
	with_gpus 1 && has_helpers $((cpus > 2 ? cpus - 2 : 0)) && end &&
		with_gpus 1 engine_cpus=0 units=0 && has_helpers 0 && end &&
		with_gpus 1 engine_cpus=0 units=1 && has_helpers 0 && end &&
		with_gpus 1 units=16 && has_helpers 15 && end
}

# shows_nodes NODE...: the GPUs show these NUMA nodes
shows_nodes() {
	local gpu shown=()
	for gpu in "${gpus[@]}"; do
		shown+=("$(<"$devices/$gpu/numa_node")") || return
	done
	[[ ${shown[*]} == "$*" ]] && return
	ktap_note "the GPUs show the nodes ${shown[*]}, not $*"
	return 1
}

# A node is shown by GPUs that have been removed and found again, too.
numa_nodes_are_shown() {
	local node online
	if [[ ! -e /sys/devices/system/node/online ]]; then
		refused 'numa_node=0: this kernel has no NUMA nodes; must be -1' numa_node=0 &&
			with_gpus 1 numa_node=-1 && end
		return
	fi
	online=$(</sys/devices/system/node/online)
	for node in -2 1023 4096; do
		refused "numa_node=$node: must be -1 or a node that is online, these are: $online" \
			"numa_node=$node" || return
	done
	with_gpus 2 && shows_nodes -1 -1 && end &&
		with_gpus 2 numa_node=0 && shows_nodes 0 0 && end &&
		with_gpus 2 numa_node=-1,0 && shows_nodes -1 0 || return
	within 60 "$devices/${gpus[1]}/remove" 1 && within 60 /sys/bus/pci/rescan 1 &&
		has_types "${gpus[1]}" && shows_nodes -1 0 && end
}

# is_set GPU ATTRIBUTE VALUE
is_set() {
	local value
	value=$(<"$parents/$1/vgpu/$2") && [[ $value == "$3" ]] && return
	ktap_note "$2 is $value, not $3"
	return 1
}

# Each GPU begins with the settings that the module was loaded with.
parameters_are_initial_settings() {
	local gpu
	with_gpus 2 vgpu.policy=qos vgpu.slice_us=5000 vgpu.window_ms=50 vgpu.linger_us=0 \
		vgpu.preempt_timeout_us=3000 vgpu.quarantine_faults=5 \
		vgpu.quarantine_backoff_ms=7 || return
	echo equal_share >"$parents/${gpus[0]}/vgpu/policy" || return
	is_set "${gpus[0]}" policy equal_share && is_set "${gpus[1]}" policy qos || return
	for gpu in "${gpus[@]}"; do
		is_set "$gpu" slice_ns 5000000 && is_set "$gpu" frequency_hz 200 &&
			is_set "$gpu" window_ms 50 && is_set "$gpu" preempt_timeout_us 3000 &&
			is_set "$gpu" linger_us 0 && is_set "$gpu" quarantine_faults 5 &&
			is_set "$gpu" quarantine_backoff_ms 7 || return
	done
	end || return
	# Each of the two is possible alone. Both together are not, so there is no GPU.
	load vgpu.slice_us=30000 vgpu.window_ms=10 || return
	list_gpus
	((${#gpus[@]} == 0)) || { ktap_note "a window of less than 10 slices is taken"; return 1; }
	end || return
	with_gpus 1 vgpu.slice_us=30000 && is_set "${gpus[0]}" window_ms 300 && end
}

# The kernel refuses a value that is none, before the module runs.
malformed_parameters_are_refused() {
	local parameter
	for parameter in gpus=two fb_mb=-1 fb_reserve=maybe fb_overcommit=10001 vgpu.slice_us=x \
		numa_node=x foreign_ids=maybe; do
		! load "$parameter" 2>/dev/null || { ktap_note "$parameter is taken"; return 1; }
		end || return
	done
}

# By default all GPUs together promise no more framebuffer than the host has memory.
host_memory_limits_all_gpus() {
	local first second gib kib uuids=() i
	insmod "$vgpu" && insmod "$vgpu_soft" gpus=2 || return
	list_gpus
	first=${gpus[0]} second=${gpus[1]}
	read -r i </sys/module/vgpu_soft/parameters/fb_overcommit
	((i == 100)) || { ktap_note "fb_overcommit is $i"; return 1; }
	read -r _ kib _ </proc/meminfo
	gib=$((kib >> 20))
	has_available "$first" 1Q "$gib" && has_available "$second" 1Q "$gib" || return
	# So that there is room for three of 1 GiB, however large the machine is.
	i=$((3 * 1048576 * 100 / kib + 1))
	echo "$i" >/sys/module/vgpu_soft/parameters/fb_overcommit || return
	for i in 1 2 3; do
		uuids+=("$(new_uuid)")
	done
	has_available "$first" 1Q 3 && has_available "$first" 2Q 1 && has_available "$first" 4Q 0 || return
	create "$first" 1Q "${uuids[0]}" && create "$second" 1Q "${uuids[1]}" || return
	has_available "$first" 1Q 1 && has_available "$second" 1Q 1 && has_available "$second" 2Q 0 || return
	! create "$second" 2Q "${uuids[2]}" 2>/dev/null || { ktap_note "2Q is created"; return 1; }
	create "$second" 1Q "${uuids[2]}" || return
	has_available "$first" 1Q 0 && has_available "$second" 1Q 0 || return
	# A limit below what there is: the vGPUs stay.
	echo 1 >/sys/module/vgpu_soft/parameters/fb_overcommit || return
	has_available "$first" 1Q 0 || return
	echo 0 >/sys/module/vgpu_soft/parameters/fb_overcommit || return
	has_available "$first" 1Q 15 && has_available "$second" 1Q 14 || return
	for i in "${uuids[@]}"; do
		remove "$i" || return
	done
	echo 100 >/sys/module/vgpu_soft/parameters/fb_overcommit || return
	has_available "$first" 1Q "$gib" && end
}

homogeneous_placement_takes_one_size() {
	local uuid gpu size
	uuid=$(new_uuid)
	with_gpus 1 placement=homogeneous || return
	gpu=${gpus[0]}
	create "$gpu" 2Q "$uuid" || return
	for size in 1 4 8 16; do
		has_available "$gpu" "${size}Q" 0 || return
		! create "$gpu" "${size}Q" "$(new_uuid)" 2>/dev/null || { ktap_note "${size}Q is created"; return 1; }
	done
	has_available "$gpu" 2Q 7 && remove "$uuid" && has_types "$gpu" && create "$gpu" 1Q "$uuid" || return
	has_available "$gpu" 1Q 15 && has_available "$gpu" 2Q 0 && end
}

vgpuctl_says_what_to_load() {
	local said
	! said=$(build/tools/vgpuctl/vgpuctl list 2>&1) || return
	[[ $said == *"/dev/vgpu: not there"*"modprobe vgpu_soft"* ]] && return
	ktap_note "$said"
	return 1
}

tests=(vgpuctl_says_what_to_load
	lspci_lists_both addresses_are_stable load_cycles unbind_waits_for_the_user
	unbind_asks_the_user remove_asks_the_user modules_in_use_stay unload_in_every_order
	unload_after_pci_remove)
# What parameters mean has nothing to do with how late kobjects are released.
[[ $late ]] || tests+=(bad_parameters_are_refused foreign_ids_are_refused
	units_are_as_many_as_asked_for numa_nodes_are_shown parameters_are_initial_settings
	malformed_parameters_are_refused host_memory_limits_all_gpus
	homogeneous_placement_takes_one_size)
if ! find_modules; then
	echo "Bail out! the modules do not load"
	exit 1
fi
echo "KTAP version 1"
echo "1..${#tests[@]}"
for test in "${tests[@]}"; do
	check "$test"
done
ktap_end
