# shellcheck shell=bash
# Tests of the guest's driver, vgpu_guest.ko; tests/e2e/run.sh sources this file. The guest's first
# process loads it and does the tests itself (tests/e2e/drm).

# driver_start NAME UUID [TEST...]: starts a guest with the vGPU that does these tests, or all. Its
# kernel is DRIVER_KERNEL, with DRIVER_INITRAMFS, instead of guest-drm, if these are set.
driver_start() {
	local GUEST_KERNEL=${DRIVER_KERNEL:-build/lab/guest-drm/bzImage}
	local GUEST_INITRAMFS=${DRIVER_INITRAMFS:-build/guest/drm.initramfs}
	local GUEST_MIB=${DRIVER_MIB:-512}
	guest_start "$@"
}

# DRIVER_TESTS names some of the tests, in place of all; then this is all of the group.
test_driver() {
	local tests=()
	read -ra tests <<<"${DRIVER_TESTS:-}"
	mdev_create "$A" SG16-1Q
	driver_start a "$A" "${tests[@]}"
	passes a 1200
	guest_log a
	vgpuctl show "$A" --json | jq -e '.quarantines == 0'
	is_free "$A"
}

# What users do on purpose. Jobs fault by the dozen: a process cannot stop others by that. At the
# end the guest's kernel looks for memory that nothing points to any more.
test_driver_attack() {
	local GUEST_APPEND=kmemleak=on
	mdev_create "$A" SG16-1Q
	driver_start a "$A" oracle fuzz exits:200 guess many many_full faults_apart fail_nth \
		fail_evict remove
	passes a 900
	guest_answer a "kmemleak:"
	[[ $ANSWER == "nothing is lost" ]]
	guest_log a
	vgpuctl show "$A" --json | jq -e '.quarantines == 0'
	is_free "$A"
}

# Five times as many ends of processes.
test_driver_exits() {
	mdev_create "$A" SG16-1Q
	driver_start a "$A" exits
	passes a 900
	guest_log a
	is_free "$A"
}

# driver_metric NAME LABELS: vgpuctl metrics has this of the vGPU's guest.
driver_metric() {
	grep "^vgpu_vgpu_guest_$1{.*uuid=\"$A\".*$2" "$GUEST_DIR/metrics"
}

# driver_shown PID VERSION
driver_shown() {
	vgpuctl process --json >"$GUEST_DIR/process.json"
	jq -e --argjson pid "$1" --arg version "$2" '[.. | objects | select(has("driver_name"))] |
		length == 1 and
		(.[0] | .driver_name == "vgpu_guest" and .driver_version == $version and
		(.processes | length == 1 and (.[0] | .pid == $pid and .uid == 1000 and
		.command == "drawer" and .client > 0 and (.engines | length == 1))))' \
		"$GUEST_DIR/process.json"
}

# What the host shows of the driver, and of an ordinary user's process that has a queue.
test_driver_label() {
	local pid version
	mdev_create "$A" SG16-1Q
	driver_start a "$A" label
	guest_says a '^guest: working as process [0-9]+' $((120 * SLOW)) || fail "guest a does not work"
	guest_answer a "working as process"
	pid=$ANSWER
	guest_answer a "module"
	version=$ANSWER
	# What a process has got is seen at a look at its channels.
	until_true 60 driver_shown "$pid" "$version"
	cat "$GUEST_DIR/process.json"
	vgpuctl metrics | grep '^vgpu_vgpu_guest' | tee "$GUEST_DIR/metrics"
	driver_metric driver_info "guest_driver=\"vgpu_guest\",guest_version=\"$version\""
	driver_metric busy_seconds \
		"guest_pid=\"$pid\",guest_uid=\"1000\",guest_command=\"drawer\""
	LD_LIBRARY_PATH=build/lab-tools/libnvml tests/e2e/label.py "$pid" drawer "$version"
	guest_answer a "kernel"
	vgpuctl show "$A" --json | jq -e --arg os "$ANSWER" --arg version "$version" '
		.guest_driver == {told_by: "guest", name: "vgpu_guest", version: $version, os: $os}'
	guest_tell a seen
	passes a 60
	is_free "$A"
}

# decoded: prints how many programs the GPU has decoded.
decoded() {
	mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
	cat /sys/kernel/debug/vgpu_soft/*/programs_decoded
}

# A client that maps and unmaps data has no program decoded again; one that maps a program has.
test_driver_unmap() {
	local before data
	mdev_create "$A" SG16-1Q
	driver_start a "$A" unmap
	guest_says a '^guest: unmap begin end$' $((120 * SLOW)) || fail "guest a does not begin"
	before=$(decoded)
	guest_tell a go
	guest_says a '^guest: unmap data .* end$' $((120 * SLOW)) || fail "guest a does not unmap"
	data=$(decoded)
	guest_tell a go
	guest_says a '^guest: unmap text .* end$' $((120 * SLOW)) || fail "guest a does not end"
	guest_answer a "unmap text"
	ANSWER=${ANSWER% end}
	echo "decoded: $((data - before)) for data, $(($(decoded) - data)) for $ANSWER programs"
	(( data == before && $(decoded) == data + ANSWER ))
	guest_tell a go
	passes a 60
	is_free "$A"
}

# An engine hangs, for which the vGPU loses all its work, until the host lifts its quarantine.
test_driver_quarantine() {
	local hang
	mdev_create "$A" SG16-1Q
	vgpuctl sched set --quarantine-faults 1 >/dev/null
	driver_start a "$A" quarantine
	guest_says a '^guest: ready to hang' $((120 * SLOW)) || fail "guest a does not work"
	mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
	hang=$(echo /sys/kernel/debug/vgpu_soft/*/ce0/hang)
	echo 1 >"$hang"
	guest_tell a hang
	guest_says a '^guest: in quarantine' $((120 * SLOW)) || fail "guest a is not in quarantine"
	vgpuctl release "$A"
	guest_tell a lifted
	passes a 60
	guest_log a
	is_free "$A"
	vgpuctl sched set --quarantine-faults 3 >/dev/null
}

# What the monitor shows is the same when the program and its buffer are gone, and somebody else has
# all of the framebuffer that is free.
test_driver_shown() {
	local nr
	mdev_create "$A" SG16-1Q
	GUEST_PLUG=fixed GUEST_OPTIONS=,display=on driver_start a "$A" shown_seen
	for nr in 1 2; do
		said a '^guest: shown' "$nr" 120
		guest_answer a shown
		look a vgpu "pattern=${ANSWER// /,}"
		guest_tell a seen
	done
	passes a 60
	is_free "$A"
}

guest_sleeps() {
	guest_qmp "$1" "do" query-status | grep -q '"suspended"'
}

# A guest is suspended to memory, which for QEMU is a reset of the vGPU, and goes on.
test_driver_suspend() {
	# Half of it is for the image of a hibernation.
	local DRIVER_MIB=1024
	mdev_create "$A" SG16-1Q
	driver_start a "$A" suspend_devices shown_asleep suspend
	guest_says a '^guest: going to sleep' $((300 * SLOW)) || fail "guest a does not get so far"
	until_true 120 guest_sleeps a
	guest_qmp a "do" system_wakeup
	passes a 120
	guest_log a
	is_free "$A"
}

# driver_used PID: what the guest has said of its process's time on ce, and what the host has
# measured, in ns.
driver_used() {
	guest_answer a "process $1 has used"
	SAID=${ANSWER%% *}
	MEASURED=$(jq --argjson pid "$1" '[.. | objects | select(has("processes")) | .processes[] |
		select(.pid == $pid) | .engines[].busy_ns] | add' "$GUEST_DIR/process.json")
	echo "process $1: the guest says $SAID ns, the host $MEASURED ns"
}

# driver_agrees PID...: the host shows the same, as soon as it has looked at their channels.
driver_agrees() {
	local pid
	vgpuctl process --json >"$GUEST_DIR/process.json"
	for pid; do
		driver_used "$pid"
		(( SAID > 10000000 && SAID <= MEASURED && MEASURED - SAID <= 2000000000 / 50 )) ||
			return
	done
}

# What fdinfo tells of two processes beside what the host shows of them: within 2 points of the time
# in which they worked. The vGPU is who the host says, and what it has used is their sum.
test_driver_usage() {
	local pids pid sum=0
	mdev_create "$A" SG16-1Q
	driver_start a "$A" usage_query usage_beside
	guest_says a '^guest: this is SG16-1Q$' $((120 * SLOW)) || fail "guest a has another type"
	guest_says a '^guest: process [0-9]+ has used [0-9]+ ns' $((60 * SLOW)) ||
		fail "no process has used anything"
	guest_nap
	until_true 60 driver_two_say
	mapfile -t pids < <(printf '%s\n' "${GUEST_SAID[@]}" |
		sed -nE 's/^guest: process ([0-9]+) has used .*/\1/p')
	until_true 60 driver_agrees "${pids[@]}"
	cat "$GUEST_DIR/process.json"
	for pid in "${pids[@]}"; do
		driver_used "$pid"
		(( sum += MEASURED ))
	done
	guest_tell a seen
	passes a 60
	guest_answer a "the vGPU has used"
	echo "the vGPU has used $ANSWER; its processes $sum ns"
	(( ${ANSWER%% *} >= sum && ${ANSWER%% *} - sum <= sum / 20 )) || fail "the sum"
	is_free "$A"
}

driver_two_say() {
	guest_hear a
	(( $(printf '%s\n' "${GUEST_SAID[@]}" | grep -cE '^guest: process [0-9]+ has used') == 2 ))
}
