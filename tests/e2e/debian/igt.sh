# shellcheck shell=bash
# igt's tests in a Debian guest, compiled by scripts/guest-igt; job sources this file. How each is
# to end is in igt.expected, which Documentation/guest-driver.rst sums up.

IGT_TESTS=(igt_core igt_syncobj igt_dmabuf igt_fdinfo igt_hotunplug)
IGT=/opt/vgpu/igt
# These give all that a thread does in a slow guest 0.1 s or a few times that, and fail if it takes
# longer.
IGT_IN_TIME='-snapshot$|-delayed-|-during-'

# igt NAME: runs one of igt's programs, and says how each subtest has ended. Fails if one has
# failed, and says then all that the program has said. What is not as igt.expected says goes to
# IGT_OTHER.
igt() {
	local name=$1 out=/tmp/igt line failed=() results=() status=0 subtest state
	"$IGT/$name" >"$out" 2>&1 || status=$?
	while read -r line; do
		if [[ $line =~ ^(Dynamic\ s|S)ubtest\ ([^:]+):\ ([A-Z]+) ]]; then
			subtest=${BASH_REMATCH[2]} state=${BASH_REMATCH[3]}
			say "igt $name $subtest: $state"
			[[ $state == @(SUCCESS|SKIP) ]] || failed+=("$subtest")
			results+=("$name $subtest $state")
		elif [[ $line =~ ^(Test\ requirement:|No\ known\ gpu) ]]; then
			say "igt $name: $line"
		fi
	done <"$out"
	for subtest in "${failed[@]}"; do
		if [[ $subtest =~ $IGT_IN_TIME ]] && igt_in_time "$name" "$subtest"; then
			results=("${results[@]/#"$name $subtest "*/"$name $subtest SUCCESS"}")
			continue
		fi
		say "$(<"$out")"
		fail "igt $name $subtest"
	done
	say "igt $name ends with $status"
	# 77: all were skipped.
	((status == 0 || status == 77 || ${#failed[@]}))
	# One that has no subtests.
	((${#results[@]})) || results=("$name - $( ((status)) && echo SKIP || echo SUCCESS)")
	igt_compare "$name" "${results[@]}"
}

# igt_compare NAME RESULT...
igt_compare() {
	local other
	other=$(diff <(sed -n "s/ *#.*//; /^$1 /p" "$HERE/igt.expected" | sort) \
		<(printf '%s\n' "${@:2}" | sort) | grep '^[<>]') || return 0
	IGT_OTHER+=$other$'\n'
}

# igt_in_time NAME SUBTEST: the guest is quick enough for it at least once.
igt_in_time() {
	local i
	for ((i = 1; i <= 40; i++)); do
		if "$IGT/$1" --run-subtest "$2" >/tmp/igt.once 2>&1; then
			say "igt $1 $2: SUCCESS, try $i"
			return 0
		fi
	done
	return 1
}

# igt_all NAME...: fails if a subtest ends otherwise than expected, is new or is missing.
igt_all() {
	local name IGT_OTHER=''
	for name; do
		igt "$name"
	done
	[[ ! $IGT_OTHER ]] || fail "other results than igt.expected (<) has (>):
$IGT_OTHER"
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
