# shellcheck shell=bash
# Tests of the guest's driver, vgpu_guest.ko; tests/e2e/run.sh sources this file. The guest's first
# process loads it and does the tests itself (tests/e2e/drm).

# driver_start NAME UUID [TEST...]: starts a guest with the vGPU that does these tests, or all.
driver_start() {
	local GUEST_KERNEL=build/lab/guest-drm/bzImage GUEST_INITRAMFS=build/guest/drm.initramfs
	local GUEST_MIB=768
	guest_start "$@"
}

# DRIVER_TESTS names some of the tests, in place of all.
test_driver() {
	local tests=()
	read -ra tests <<<"${DRIVER_TESTS:-}"
	mdev_create "$A" SG16-1Q
	# More jobs fault, on purpose, than a vGPU may have.
	vgpuctl sched set --quarantine-faults 0
	driver_start a "$A" "${tests[@]}"
	passes a 600
	guest_log a
	is_free "$A"
	vgpuctl sched set --quarantine-faults 3
}
