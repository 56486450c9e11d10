# shellcheck shell=bash
# A guest with Debian's kernel, udev and user space, which tests itself (tests/e2e/debian);
# tests/e2e/run.sh sources this file. What the guests said is left in build/debian.

# debian_start NAME UUID [systemd] [TEST...]: starts a guest with the vGPU that does these tests, or
# those of tests/e2e/debian/job.
debian_start() {
	local GUEST_KERNEL=build/guest/debian.kernel GUEST_INITRAMFS=build/guest/debian.initramfs
	local GUEST_MIB=768 GUEST_DISK=build/lab/guest-debian/disk.ext4
	local GUEST_APPEND="mitigations=off systemd.show_status=0"
	guest_start "$@"
}

# debian_passes NAME SECONDS: the guest ends in time, and all its tests have passed.
debian_passes() {
	guest_says "$1" '^guest: END ' $(($2 * SLOW)) || :
	mkdir -p build/debian
	tr -d '\r' <"$GUEST_DIR/$1.log" >"build/debian/$TEST.log"
	passes "$1" 20
	guest_log "$1"
}

# DEBIAN_TESTS names some of the tests, in place of all.
test_debian_guest() {
	local tests=()
	read -ra tests <<<"${DEBIAN_TESTS:-}"
	mdev_create "$A" SG16-1Q
	debian_start a "$A" "${tests[@]}"
	debian_passes a 300
	is_free "$A"
}

# The same with systemd as the first process, and nothing that asks for the module.
test_debian_systemd() {
	mdev_create "$A" SG16-1Q
	debian_start a "$A" systemd alias node user
	debian_passes a 300
	is_free "$A"
}

# A guest with Debian's kernel, and tests/e2e/drm, hibernates twice: the host's QEMU ends, and
# another one reads the image. The second time the guest's memory is full, and the kernel that reads
# the image has the driver. What refuses before that says why.
test_debian_hibernate() {
	local GUEST_KERNEL=build/guest/debian.kernel GUEST_INITRAMFS=build/guest/hibernate.initramfs
	local GUEST_MIB=512 GUEST_SWAP=$GUEST_DIR/swap
	local GUEST_APPEND="mitigations=off hibernate=nocompress"
	truncate -s 768M "$GUEST_SWAP"
	mkswap -q "$GUEST_SWAP"
	mdev_create "$A" SG16-1Q
	guest_start a "$A" hibernate
	hibernated a
	# A job that does not end (EBUSY), and too much for the guest's memory (ENOMEM).
	grep -a 'buffers cannot be saved: -16' "$GUEST_DIR/a.log"
	grep -a 'buffers cannot be saved: -12' "$GUEST_DIR/a.log"
	guest_start b "$A" bare
	hibernated b
	guest_start c "$A" awaken
	passes c 200
	guest_log c
	is_free "$A"
	rm -f "$GUEST_SWAP"
}

# hibernated NAME: the guest's QEMU ends, for it has switched itself off, and its test is not over.
hibernated() {
	guest_ended "$1" $((200 * SLOW)) || fail "guest $1 does not hibernate"
	guest_log "$1"
	! guest_heard "$1" '^guest: END ' || fail "guest $1 has ended instead"
	is_free "$A"
}

test_debian_igt() {
	mdev_create "$A" SG16-1Q
	debian_start a "$A" igt_core igt_syncobj igt_dmabuf igt_fdinfo igt_hotunplug
	debian_passes a 300
	is_free "$A"
}

# ---- what tools in the guest show beside what the host does ----

# usage_times: prints what the host has measured: of each process in a guest the vGPU's UUID, its
# pid, ms on gr, and the time in ms.
usage_times() {
	vgpuctl process --json | jq -r '.[] | .uuid as $uuid | .guest | .now_ns as $now |
		.processes[]? | [.engines[] | select(.name | startswith("gr")) | .busy_ns] as $ns |
		"\($uuid) \(.pid) \(($ns | add // 0) / 1000000) \($now / 1000000)"'
}

# usage_compare NAME UUID BEFORE AFTER: what the guest's gputop has said of each of its processes,
# and NVML of them all, is within 2 points of what the host has measured (two files of usage_times).
usage_compare() {
	local name=$1 uuid=$2 before=$3 after=$4 line sum=0 host said pid percent nr=0
	guest_hear "$name"
	for line in "${GUEST_SAID[@]}"; do
		[[ $line != "guest: usage begin" ]] || said=()
		[[ $line != "guest: usage "* ]] || said+=("${line#guest: usage }")
	done
	for line in "${said[@]}"; do
		[[ $line == gputop* ]] || continue
		read -r _ pid percent <<<"$line"
		host=$(awk -v pid="$pid" -v uuid="$uuid" '
			$1 == uuid && $2 == pid { busy = $3 - busy; time = $4 - time }
			END { printf "%.1f", time ? busy * 100 / time : 0 }' "$before" "$after")
		echo "guest $name, process $pid: gputop $percent %, the host $host %"
		usage_near "$percent" "$host"
		sum=$(awk "BEGIN { print $sum + $host }")
		nr=$((nr + 1))
	done
	(( nr == 2 )) || fail "gputop shows $nr processes"
	for line in "${said[@]}"; do
		[[ $line == nvml* ]] || continue
		echo "guest $name: NVML ${line#nvml } %, the host $sum %"
		usage_near "${line#nvml }" "$sum"
	done
}

usage_near() {
	awk "BEGIN { d = $1 - $2; exit !(d >= -2 && d <= 2 && $2 > 1) }" || fail "$1 % and $2 %"
}

# usage_round NUMBER: both guests measure, and the host does at the same time.
usage_round() {
	local name before=$GUEST_DIR/before after=$GUEST_DIR/after
	for name in a b; do
		guest_tell "$name" measure
	done
	for name in a b; do
		until_true 120 guest_heard "$name" '^guest: usage begin' "$1"
	done
	usage_times >"$before"
	for name in a b; do
		until_true 240 guest_heard "$name" '^guest: usage end' "$1"
	done
	usage_times >"$after"
	usage_compare a "$A" "$before" "$after"
	usage_compare b "$B" "$before" "$after"
}

# usage_file NAME WHAT FILE: writes what the guest has drawn.
usage_file() {
	tr -d '\r' <"$GUEST_DIR/$1.log" | sed -n "s/^file $2 //p" | tail -n 1 | base64 -d >"$3"
	[[ -s $3 ]] || fail "guest $1: $2 shows nothing"
}

# usage_show: leaves the guests' screens, and the host's, in build/debian, to be looked at.
usage_show() {
	local name what
	for name in a b; do
		guest_tell "$name" screens
	done
	for name in a b; do
		guest_says "$name" '^guest: usage shown' $((240 * SLOW)) || fail "$name shows no screens"
		for what in nvtop nvitop gpustat gputop; do
			usage_file "$name" "$what" "build/debian/$what-$name.ansi"
		done
		usage_file "$name" mandelbrot "build/debian/mandelbrot-$name.png"
		grep -F vgpu-samples "build/debian/nvtop-$name.ansi" || fail "nvtop shows no program"
	done
	COLUMNS=120 vgpuctl top --once >build/debian/top.ansi
	cat build/debian/top.ansi
}

# Two guests in which an ordinary user's programs draw, and whose shares change meanwhile.
test_debian_usage() {
	local name
	mkdir -p build/debian
	mdev_create "$A" SG16-4Q
	mdev_create "$B" SG16-2Q
	vgpuctl sched set --policy qos >/dev/null
	vgpuctl share set "$A" --cap 400 "$B" --cap 200 >/dev/null
	debian_start a "$A" usage
	debian_start b "$B" usage
	for name in a b; do
		guest_says "$name" '^guest: usage ready' $((240 * SLOW)) || fail "guest $name is not ready"
	done
	usage_round 1
	vgpuctl share set "$A" --cap 200 "$B" --cap 400 >/dev/null
	usage_round 2
	usage_show
	for name in a b; do
		guest_tell "$name" end
		debian_passes "$name" 120
	done
	vgpuctl sched set --policy best_effort >/dev/null
	is_free "$A"
	is_free "$B"
}
