# shellcheck shell=bash
# A guest with Debian's kernel, udev and user space, which tests itself (tests/e2e/debian);
# tests/e2e/run.sh sources this file. What the guests said is left in build/debian.

# shellcheck source=scripts/guest-debian.sh
. scripts/guest-debian.sh

# debian_passes NAME SECONDS: the guest ends in time, and all its tests have passed.
debian_passes() {
	guest_says "$1" '^guest: END ' $(($2 * SLOW)) || :
	mkdir -p build/debian
	tr -d '\r' <"$GUEST_DIR/$1.log" >"build/debian/$TEST-$1.log"
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

# The host takes the vGPU away while programs work with Debian's kernel: it says that it can go, and
# has nothing else to say.
test_debian_unplug() {
	local GUEST_KERNEL=build/guest/debian.kernel GUEST_INITRAMFS=build/guest/hibernate.initramfs
	local GUEST_MIB=512 GUEST_APPEND="mitigations=off"
	mdev_create "$A" SG16-1Q
	GUEST_PLUG=port guest_start a "$A" taken_away
	working a
	mdev_remove "$A" &
	ends $!
	[[ ! -e /sys/bus/mdev/devices/$A ]]
	guest_running a || fail "QEMU has ended"
	guest_says a '^guest: taken away after' $((60 * SLOW)) || fail "the program does not end"
	guest_tell a seen
	passes a
	guest_log a
}

test_debian_igt() {
	mdev_create "$A" SG16-1Q
	debian_start a "$A" igt_core igt_syncobj igt_dmabuf igt_fdinfo igt_hotunplug
	debian_passes a 300
	is_free "$A"
}

# ---- what tools in the guest show beside what the host does ----

# usage_both SECONDS WORD: both guests do it.
usage_both() {
	usage_do $(($1 * SLOW)) "$2" a b || fail "the guests do not $2"
}

# usage_round: both guests measure, and the host does at the same time. If it stands still a tool
# shows what was before for longer than else, or a screen in two parts: then they measure again.
usage_round() {
	local tries right=
	for tries in 1 2 3 4 5; do
		ROUNDS=$((ROUNDS + 1))
		usage_tell a measure
		usage_tell b measure
		! tests/e2e/debian/beside.py "$ROUNDS" "$A=$GUEST_DIR/a.log" "$B=$GUEST_DIR/b.log" ||
			right=$tries
		usage_done $((60 * SLOW)) a b || fail "the guests do not measure"
		[[ ! $right ]] || return 0
	done
	fail "the tools and the host differ"
}

# usage_show: leaves the guests' screens in build/debian, to be looked at.
usage_show() {
	local name what
	usage_both 240 screens
	for name in a b; do
		for what in nvtop nvitop gpustat gputop; do
			usage_file "$name" "$what" "build/debian/$what-$name.ansi" ||
				fail "guest $name: $what shows nothing"
			grep -qF paint "build/debian/$what-$name.ansi" || fail "$what shows no program"
		done
		usage_file "$name" mandelbrot "build/debian/mandelbrot-$name.png" || fail "no picture"
		guest_qmp "$name" look $((60 * SLOW)) vgpu "build/debian/screen-$name.png" size=320,240 colours=20 \
			ink=f0f0f0,101820 "text=guest $name" "text=its due is " || fail "the screen is wrong"
	done
}

# Two guests in which an ordinary user's programs draw, and whose shares change meanwhile.
test_debian_usage() {
	local name ROUNDS=0
	local GUEST_OPTIONS=,display=on
	mkdir -p build/debian
	mdev_create "$A" SG16-4Q
	mdev_create "$B" SG16-2Q
	vgpuctl sched set --policy qos >/dev/null
	vgpuctl share set "$A" --cap 400 "$B" --cap 200 >/dev/null
	debian_start a "$A" usage
	debian_start b "$B" usage
	for name in a b; do
		guest_says "$name" '^guest: usage ready' $((240 * SLOW)) || fail "guest $name is not ready"
		usage_tell "$name" begin "guest $name"
	done
	usage_done $((120 * SLOW)) a b || fail "the programs do not draw"
	usage_both 30 watch
	usage_round
	vgpuctl share set "$A" --guarantee 100 --cap 200 "$B" --cap 400 >/dev/null
	usage_round
	usage_both 30 nvtop
	usage_show
	usage_both 60 end
	for name in a b; do
		debian_passes "$name" 120
	done
	vgpuctl sched set --policy best_effort >/dev/null
	is_free "$A"
	is_free "$B"
}
