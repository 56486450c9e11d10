# shellcheck shell=bash
# Tests of the guest's driver, vgpu_guest.ko; tests/e2e/run.sh sources this file. The guest's first
# process loads it and does the tests itself (tests/e2e/drm).

# driver_start NAME UUID [TEST...]: starts a guest with the vGPU that does these tests, or all.
driver_start() {
	local GUEST_KERNEL=build/lab/guest-drm/bzImage GUEST_INITRAMFS=build/guest/drm.initramfs
	local GUEST_MIB=512
	guest_start "$@"
}

# DRIVER_TESTS names some of the tests, in place of all.
test_driver() {
	local tests=()
	read -ra tests <<<"${DRIVER_TESTS:-}"
	mdev_create "$A" SG16-1Q
	driver_start a "$A" "${tests[@]}"
	passes a 600
	guest_log a
	# Jobs fault by the dozen in these tests: a process cannot stop others by that.
	vgpuctl show "$A" --json | jq -e '.quarantines == 0'
	is_free "$A"
}

# What the host shows of the driver, and of an ordinary user's process that has a queue.
test_driver_label() {
	local pid
	mdev_create "$A" SG16-1Q
	driver_start a "$A" label
	guest_says a '^guest: working as process [0-9]+' $((120 * SLOW)) || fail "guest a does not work"
	guest_answer a "working as process"
	pid=$ANSWER
	vgpuctl process --json | tee "$GUEST_DIR/process.json"
	jq -e --argjson pid "$pid" '[.. | objects | select(has("driver_name"))] | length == 1 and
		(.[0] | .driver_name == "vgpu_guest" and .driver_version == "1.0" and
		(.processes | length == 1 and (.[0] | .pid == $pid and .uid == 1000 and
		.command == "drawer" and .client > 0 and (.engines | length == 1))))' \
		"$GUEST_DIR/process.json"
	guest_tell a seen
	passes a 60
	is_free "$A"
}

# decoded: prints how many programs the GPU has decoded.
decoded() {
	mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
	cat /sys/kernel/debug/vgpu_soft/programs_decoded
}

# A client that maps and unmaps data has no program decoded again; one that maps a program has.
test_driver_unmap() {
	local before data
	mdev_create "$A" SG16-1Q
	driver_start a "$A" unmap
	guest_says a '^guest: unmap begin' $((120 * SLOW)) || fail "guest a does not begin"
	before=$(decoded)
	guest_tell a go
	guest_says a '^guest: unmap data' $((120 * SLOW)) || fail "guest a does not unmap"
	data=$(decoded)
	guest_tell a go
	guest_says a '^guest: unmap text' $((120 * SLOW)) || fail "guest a does not end"
	guest_answer a "unmap text"
	echo "decoded: $((data - before)) for data, $(($(decoded) - data)) for $ANSWER programs"
	(( data == before && $(decoded) == data + ANSWER ))
	guest_tell a go
	passes a 60
	is_free "$A"
}
