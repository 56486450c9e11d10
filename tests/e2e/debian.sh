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
test_debian() {
	local tests=()
	read -ra tests <<<"${DEBIAN_TESTS:-}"
	mdev_create "$A" SG16-1Q
	debian_start a "$A" "${tests[@]}"
	debian_passes a 400
	is_free "$A"
}
