# shellcheck shell=bash
# igt's tests in a Debian guest, compiled by scripts/guest-igt; job sources this file.
# Documentation/guest-driver.rst says why some are skipped.

IGT_TESTS=(igt_core igt_syncobj igt_dmabuf igt_fdinfo igt_hotunplug)
IGT=/opt/vgpu/igt
# These give all that a thread does in a slow guest 0.1 s, and fail if it takes longer.
IGT_IN_TIME='-snapshot$'

# igt NAME: runs one of igt's programs, and says how each subtest has ended. Fails if one has
# failed, and says then all that the program has said.
igt() {
	local name=$1 out=/tmp/igt line failed=() status=0 subtest state
	"$IGT/$name" >"$out" 2>&1 || status=$?
	while read -r line; do
		if [[ $line =~ ^(Dynamic\ s|S)ubtest\ ([^:]+):\ ([A-Z]+) ]]; then
			subtest=${BASH_REMATCH[2]} state=${BASH_REMATCH[3]}
			say "igt $name $subtest: $state"
			[[ $state == @(SUCCESS|SKIP) ]] || failed+=("$subtest")
		elif [[ $line =~ ^(Test\ requirement:|No\ known\ gpu) ]]; then
			say "igt $name: $line"
		fi
	done <"$out"
	for subtest in "${failed[@]}"; do
		[[ $subtest =~ $IGT_IN_TIME ]] && igt_in_time "$name" "$subtest" && continue
		say "$(<"$out")"
		fail "igt $name $subtest"
	done
	say "igt $name ends with $status"
	# 77: all were skipped.
	((status == 0 || status == 77 || ${#failed[@]}))
}

# igt_in_time NAME SUBTEST: the guest is quick enough for it at least once.
igt_in_time() {
	local i
	for ((i = 1; i <= 10; i++)); do
		if "$IGT/$1" --run-subtest "$2" >/tmp/igt.once 2>&1; then
			say "igt $1 $2: SUCCESS, try $i"
			return 0
		fi
	done
	return 1
}

# igt_all NAME...
igt_all() {
	local name
	for name; do
		igt "$name"
	done
}

test_igt_core() {
	until_node
	igt_all core_auth core_getclient core_getstats core_getversion core_setmaster \
		core_setmaster_vs_auth
}

test_igt_syncobj() {
	until_node
	igt_debugfs
	modprobe sw_sync
	igt_all syncobj_basic syncobj_eventfd syncobj_wait syncobj_timeline
}

igt_debugfs() {
	mountpoint -q /sys/kernel/debug || mount -t debugfs debug /sys/kernel/debug
}

# Their buffers are vgem's.
test_igt_dmabuf() {
	igt_debugfs
	modprobe -a sw_sync vgem
	igt_all dmabuf dmabuf_sync_file prime_vgem
	rmmod vgem
}

test_igt_fdinfo() {
	igt_all drm_fdinfo
}

# The device of the first node: vgem has none.
test_igt_hotunplug() {
	until_node
	igt_all device_reset core_hotunplug
	until_node
	test_user
}
