# shellcheck shell=bash
# Tests of run.sh: guests that move to another QEMU with their vGPU while they work. Where the
# kernel has no log of the guest memory that a device writes, as Debian's has not, VFIO's container
# has one, which is exact for a vGPU; and QEMU wants to be told so, by enable-migration=on.
#
# A guest that TCG emulates may lose writes if its memory is copied while it runs: migration.rst.
# So both QEMUs share the memory, or the guest is stopped first.

MIGRATE_TESTS=(migrate_at_work migrate_to_a_file)
MIGRATE_LONG=(migrate_two_devices migrate_snapshot migrate_copies_memory migrate_cancelled
	migrate_killed)
MIGRATE_MORE=(migrate_driver migrate_many migrate_sid)

# migration_is NAME STATUS
migration_is() {
	guest_qmp "$1" do query-migrate >"$GUEST_DIR/$1.migration"
	[[ $(jq -r .status "$GUEST_DIR/$1.migration") == "$2" ]]
}

# migration_over NAME
migration_over() {
	guest_qmp "$1" do query-migrate >"$GUEST_DIR/$1.migration"
	[[ $(jq -r .status "$GUEST_DIR/$1.migration") =~ ^(completed|failed|cancelled)$ ]]
}

# migration_begun NAME: the move is under way, or waits for leave to end.
migration_begun() {
	migration_is "$1" active || migration_is "$1" pre-switchover
}

# migration_connected NAME: the move is under way or over.
migration_connected() {
	migration_begun "$1" || migration_over "$1"
}

# migration_stopped NAME: all that is left is what needs a guest that stands still.
migration_stopped() {
	migration_is "$1" pre-switchover
}

# runstate_is NAME STATUS
runstate_is() {
	[[ $(guest_qmp "$1" do query-status | jq -r .status) == "$2" ]]
}

# uml-kobject has IOMMUFD_DRIVER, so that the driver has a log: QEMU finds that out.
MIGRATE_OPTION=,enable-migration=on
[[ ${LAB_KERNEL:-} != uml-kobject ]] || MIGRATE_OPTION=

# migrate_start NAME UUID JOB...: starts a guest that can move.
migrate_start() {
	GUEST_OPTIONS=$MIGRATE_OPTION${GUEST_OPTIONS:-} guest_start "$@"
}

# migrate_can NAME CAPABILITY [false]
migrate_can() {
	guest_qmp "$1" do migrate-set-capabilities \
		"capabilities=[{\"capability\": \"$2\", \"state\": ${3:-true}}]"
}

# migrate_await NAME UUID JOB...: starts the guest's QEMU, which waits for another one.
migrate_await() {
	GUEST_INCOMING=defer migrate_start "$@"
	[[ ! ${GUEST_MEMORY:-} ]] || migrate_can "$1" x-ignore-shared
	guest_qmp "$1" do migrate-incoming "uri=unix:$GUEST_DIR/$1.move"
}

# migrate_begin FROM TO
migrate_begin() {
	[[ ! ${GUEST_MEMORY:-} ]] || migrate_can "$1" x-ignore-shared
	guest_qmp "$1" do migrate "uri=unix:$GUEST_DIR/$2.move"
}

# migrate_ends FROM: the move ends well, and then the QEMU that the guest has left.
migrate_ends() {
	until_true 60 migration_over "$1"
	cat "$GUEST_DIR/$1.migration"
	migration_is "$1" completed
	guest_qmp "$1" do quit
	guest_ended "$1" $((60 * SLOW)) || fail "guest $1 has moved, and does not end"
}

# migrate_stop NAME: stops a guest that is to be moved. Of a device that stands still nothing is
# copied ahead, and QEMU ends the move only when what is left fits into its limit of downtime, at
# the rate of what it has copied last, which may be little.
migrate_stop() {
	guest_qmp "$1" do stop
	guest_qmp "$1" do migrate-set-parameters downtime-limit=60000
}

# There and on to a third vGPU, in one memory.
test_migrate_at_work() {
	local c=${A//1/3} job=(load --seconds 0 --mib 4)
	local -x GUEST_MEMORY=$GUEST_DIR/memory
	mdev_create "$A" SG16-1Q
	mdev_create "$B" SG16-1Q
	mdev_create "$c" SG16-1Q
	migrate_start a "$A" "${job[@]}"
	working a
	guest_qmp a do stop
	guest_qmp a do cont
	migrate_await b "$B" "${job[@]}"
	migrate_begin a b
	migrate_ends a
	is_free "$A"
	migrate_await c "$c" "${job[@]}"
	migrate_begin b c
	migrate_ends b
	sleep 1
	guest_tell c enough
	passes c
	guest_log c
}

# second_device UUID: prints what gives a guest that vGPU beside its first one.
second_device() {
	echo "vfio-pci,id=second,sysfsdev=/sys/bus/mdev/devices/$1$MIGRATE_OPTION"
}

# A VM with two vGPUs, of which one is at work. Both are paused before either is saved (P2P).
test_migrate_two_devices() {
	local c=${A//1/3} d=${A//1/4} job=(load --seconds 0 --mib 4)
	local -x GUEST_MEMORY=$GUEST_DIR/memory
	mdev_create "$A" SG16-1Q
	mdev_create "$B" SG16-1Q
	mdev_create "$c" SG16-2Q
	mdev_create "$d" SG16-2Q
	GUEST_BESIDE=$(second_device "$c") migrate_start a "$A" "${job[@]}"
	working a
	GUEST_BESIDE=$(second_device "$d") migrate_await b "$B" "${job[@]}"
	migrate_begin a b
	migrate_ends a
	is_free "$A"
	is_free "$c"
	vgpu_is "$d" started
	sleep 1
	guest_tell b enough
	passes b
	guest_log b
}

# Also the guest's memory is copied; the guest stands still meanwhile.
test_migrate_copies_memory() {
	mdev_create "$A" SG16-1Q
	mdev_create "$B" SG16-1Q
	migrate_start a "$A" load --seconds 0 --mib 4
	working a
	migrate_await b "$B" load --seconds 0 --mib 4
	migrate_stop a
	migrate_begin a b
	migrate_ends a
	until_true 60 runstate_is b paused
	guest_qmp b do cont
	sleep 1
	guest_tell b enough
	passes b
	guest_log b
}

# As virsh save does it: QEMU ends, and another one goes on with what is in the file.
test_migrate_to_a_file() {
	mdev_create "$A" SG16-1Q
	migrate_start a "$A" load --seconds 0 --mib 4
	working a
	migrate_stop a
	guest_qmp a do migrate "uri=exec:cat >$GUEST_DIR/saved"
	migrate_ends a
	is_free "$A"
	GUEST_INCOMING="exec:cat $GUEST_DIR/saved" migrate_start b "$A" load --seconds 0 --mib 4
	until_true 60 runstate_is b paused
	guest_qmp b do cont
	sleep 1
	guest_tell b enough
	passes b
	guest_log b
}

# migrate_monitor NAME COMMAND: a command of QEMU's monitor, which says nothing if all is well.
migrate_monitor() {
	guest_qmp "$1" do human-monitor-command "command-line=$2" >"$GUEST_DIR/monitor"
	[[ ! $(<"$GUEST_DIR/monitor") ]] || fail "$2: $(<"$GUEST_DIR/monitor")"
}

# A guest at work goes back to what it was before, twice, with its vGPU.
test_migrate_snapshot() {
	local -x GUEST_SNAPSHOTS=$GUEST_DIR/snapshots
	qemu-img create -q -f qcow2 "$GUEST_SNAPSHOTS" 1M
	mdev_create "$A" SG16-1Q
	migrate_start a "$A" load --seconds 0 --mib 4
	working a
	migrate_monitor a 'savevm before'
	for _ in 1 2; do
		sleep 1
		migrate_monitor a 'loadvm before'
		runstate_is a running
	done
	sleep 1
	guest_tell a enough
	passes a
	guest_log a
}

# A move that is given up, as soon as it is seen, and when its guest has been stopped; then one that
# is not.
test_migrate_cancelled() {
	local state
	local -x GUEST_MEMORY=$GUEST_DIR/memory
	mdev_create "$A" SG16-1Q
	mdev_create "$B" SG16-1Q
	migrate_start a "$A" load --seconds 0 --mib 16
	working a
	migrate_can a pause-before-switchover
	for state in migration_begun migration_stopped; do
		migrate_await b "$B" load --seconds 0 --mib 16
		migrate_begin a b
		until_true 60 "$state" a
		guest_qmp a do migrate_cancel
		until_true 60 migration_over a
		migration_is a cancelled || fail "no cancel: $(<"$GUEST_DIR/a.migration")"
		guest_kill b
		is_free "$B"
	done
	runstate_is a running
	migrate_can a pause-before-switchover false
	migrate_await b "$B" load --seconds 0 --mib 16
	migrate_begin a b
	migrate_ends a
	guest_tell b enough
	passes b
}

# migration_fails NAME: one that waits for leave to end does not see that nobody is there any more.
migration_fails() {
	! migration_is "$1" failed || return 0
	! migration_is "$1" pre-switchover ||
		guest_qmp "$1" do migrate-continue state=pre-switchover || :
	return 1
}

# The other end dies at any moment: the guest works on. Then the guest's QEMU dies: what is left of
# it at the other end is nothing.
test_migrate_killed() {
	local nap
	local -x GUEST_MEMORY=$GUEST_DIR/memory
	mdev_create "$A" SG16-1Q
	mdev_create "$B" SG16-1Q
	migrate_start a "$A" load --seconds 0 --mib 16
	working a
	migrate_can a pause-before-switchover
	for nap in 0.0 0.3; do
		migrate_await b "$B" load --seconds 0 --mib 16
		migrate_begin a b
		sleep "$nap"
		guest_kill b
		until_true 60 migration_fails a
		is_free "$B"
	done
	guest_heard a '^guest: FAILED' && fail "guest a has failed"
	GUEST_MEMORY='' migrate_await b "$B" load --seconds 0 --mib 16
	GUEST_MEMORY='' migrate_begin a b
	# Before that nobody may have come to b, who waits then.
	until_true 60 migration_begun a
	sleep 0.3
	guest_kill a
	guest_ended b $((60 * SLOW)) || fail "guest b does not end"
	is_free "$B"
	guest_start b "$B" scan
	passes b
}

# Programs of ordinary users compute and draw by the guest's driver while the guest moves, again and
# again: vgpu-samples, one that shows pictures, and, as root, the random load of "oracle", whose
# buffers go in and out of the framebuffer. None has anything wrong, and the guest's kernel has
# nothing to say; the picture is on the screen, and the driver can be loaded again.
test_migrate_driver() {
	local GUEST_KERNEL=build/lab/guest-drm/bzImage GUEST_INITRAMFS=build/guest/drm.initramfs
	local GUEST_MIB=512 GUEST_PLUG=fixed GUEST_OPTIONS=,display=on uuid=("$A" "$B") name nr
	local -x GUEST_MEMORY=$GUEST_DIR/memory
	mdev_create "$A" SG16-1Q
	mdev_create "$B" SG16-1Q
	migrate_start at0 "$A" moved ${MIGRATE_SEED:+"seed:$MIGRATE_SEED"}
	at_work at0 "$A"
	for ((nr = 1; nr <= ${MIGRATE_MOVES:-5}; nr++)); do
		name=at$nr
		migrate_await "$name" "${uuid[nr % 2]}" moved
		migrate_begin "at$((nr - 1))" "$name"
		migrate_ends "at$((nr - 1))"
		is_free "${uuid[(nr + 1) % 2]}"
		at_work "$name" "${uuid[nr % 2]}"
		until_true 60 migrate_shown
	done
	guest_tell "$name" enough
	guest_says "$name" '^guest: shown' $((120 * SLOW)) || fail "the guest does not end its work"
	guest_answer "$name" shown
	look "$name" vgpu "pattern=${ANSWER// /,}"
	guest_tell "$name" seen
	passes "$name" 120
	guest_log "$name"
	vgpuctl show "$A" --json | jq -e '.quarantines == 0'
	vgpuctl show "$B" --json | jq -e '.quarantines == 0'
}

# migrate_shown: the host shows one guest, and its processes.
migrate_shown() {
	vgpuctl process --json | jq -e '[.. | objects | select(has("driver_name"))] |
		length == 1 and .[0].driver_name == "vgpu_guest" and
		(.[0].processes | length >= 3)'
}

# at_work NAME UUID: waits until all programs of the guest have done something, here, between two
# lines, and its driver knows which vGPU this is.
at_work() {
	said "$1" "^guest: at work on $2: " 2 120
}

# packets_of UUID: prints how many packets engines have done for the vGPU.
packets_of() {
	vgpuctl stats --json | jq --arg uuid "$1" \
		'[.vgpus[] | select(.uuid == $uuid) | .engines[].packets] | add'
}

# has_done_more UUID PACKETS
has_done_more() {
	(( $(packets_of "$1") > $2 ))
}

# goes_on NAME UUID: the guest works on there, and has found nothing wrong.
goes_on() {
	until_true 60 has_done_more "$2" "$(packets_of "$2")"
	! guest_heard "$1" '^guest: FAILED' || fail "guest $1 has failed"
}

# Of test_migrate_many: MANY is the guest, AT says on which vGPU of MANY_UUID it is, TO on which it
# would be next, and NEXT is who would have it then.
MANY_JOB=(load --seconds 0 --mib 8)
MANY_FATES=(cancelled killed_to killed_from)
# Bytes a second, until QEMU stops the guest: so the points at which it does differ.
MANY_RATES=(3000000 20000000 1000000000)

# many_fresh NAME: a new guest.
many_fresh() {
	MANY=$1
	rm -f "$GUEST_MEMORY"
	migrate_start "$MANY" "${MANY_UUID[AT]}" "${MANY_JOB[@]}"
	working "$MANY"
}

# many_stays: the guest has not moved, and who waited for it has nothing.
many_stays() {
	is_free "${MANY_UUID[TO]}"
	goes_on "$MANY" "${MANY_UUID[AT]}"
	SEEN="stays"
}

many_moved() {
	MANY=$NEXT AT=$TO
	goes_on "$MANY" "${MANY_UUID[AT]}"
	SEEN="has moved"
}

# The other end dies, or this one gives up, unless the guest has just moved.
many_killed_to() {
	guest_kill "$NEXT"
	until_true 60 migration_over "$MANY"
	if ! migration_is "$MANY" completed; then
		many_stays
		return
	fi
	guest_kill "$MANY"
	is_free "${MANY_UUID[AT]}"
	is_free "${MANY_UUID[TO]}"
	many_fresh "$NEXT-fresh"
	SEEN="has moved before"
}

many_cancelled() {
	guest_qmp "$MANY" do migrate_cancel
	until_true 60 migration_over "$MANY"
	if migration_is "$MANY" cancelled; then
		guest_ended "$NEXT" $((60 * SLOW)) || fail "guest $NEXT waits, and $MANY does not come"
		many_stays
	else
		migrate_ends "$MANY"
		many_moved
		SEEN="has moved before"
	fi
}

# many_is_over PACKETS: who waited has ended, or goes on.
many_is_over() {
	! guest_running "$NEXT" || has_done_more "${MANY_UUID[TO]}" "$1"
}

# The guest's QEMU dies: the other one has all, or ends, and what its vGPU has had is not there any
# more. To look for that takes as long as several moves.
many_killed_from() {
	local before
	before=$(packets_of "${MANY_UUID[TO]}")
	guest_kill "$MANY"
	is_free "${MANY_UUID[AT]}"
	until_true 60 many_is_over "$before"
	if guest_running "$NEXT"; then
		many_moved
		return
	fi
	guest_ended "$NEXT" 1
	AT=$TO
	is_free "${MANY_UUID[AT]}"
	if [[ ! ${SCANNED:-} ]]; then
		guest_start scan "${MANY_UUID[AT]}" scan
		passes scan
		is_free "${MANY_UUID[AT]}"
		SCANNED=1
	fi
	many_fresh "$NEXT-fresh"
	SEEN="is lost"
}

many_moves() {
	migrate_ends "$MANY"
	is_free "${MANY_UUID[AT]}"
	many_moved
}

# A guest at work moves to and fro, 20 times. Every third time something happens meanwhile, at any
# point: one end or the other is killed, or the move is given up. MIGRATE_SEED repeats the dice.
test_migrate_many() {
	local MANY NEXT AT=0 TO SEEN SCANNED MANY_UUID=("$A" "$B") fate nr delay rate first
	local -x GUEST_MEMORY=$GUEST_DIR/memory
	RANDOM=${MIGRATE_SEED:=$RANDOM}
	echo "MIGRATE_SEED=$MIGRATE_SEED"
	mdev_create "$A" SG16-1Q
	mdev_create "$B" SG16-1Q
	many_fresh at0
	first=$RANDOM
	for ((nr = 1; nr <= ${MIGRATE_MOVES:-20}; nr++)); do
		fate=moves rate=1000000000 delay=0
		(( nr % 3 )) || fate=${MANY_FATES[(first + nr / 3) % 3]}
		NEXT=at$nr TO=$((!AT))
		migrate_await "$NEXT" "${MANY_UUID[TO]}" "${MANY_JOB[@]}"
		if [[ $fate != moves ]]; then
			delay=$((RANDOM % 1500))
			rate=${MANY_RATES[RANDOM % ${#MANY_RATES[@]}]}
		fi
		guest_qmp "$MANY" do migrate-set-parameters "max-bandwidth=$rate"
		migrate_begin "$MANY" "$NEXT"
		# Until then nobody has come to who waits, and it waits on.
		until_true 60 migration_connected "$MANY"
		sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
		"many_$fate"
		echo "move $nr: $fate after $delay ms, at $rate bytes/s: the guest $SEEN"
	done
	guest_tell "$MANY" enough
	passes "$MANY"
	guest_log "$MANY"
}

# To Debian sid's QEMU and back: all have the older one's machine type. Then to sid's once more,
# with the guest's memory, and by a file to the image's QEMU.
test_migrate_sid() {
	local sid=build/guest/qemu-sid/qemu-system-x86_64 job=(load --seconds 0 --mib 4)
	local GUEST_MACHINE
	[[ -x $sid ]] || fail "no $sid: scripts/guest-qemu sid makes it"
	GUEST_MACHINE=$(qemu-system-x86_64 -machine help | sed -n 's/^pc .*(alias of \(.*\))$/\1/p')
	qemu-system-x86_64 --version | head -n 1
	"$sid" --version | head -n 1
	echo "machine: $GUEST_MACHINE"
	mdev_create "$A" SG16-1Q
	mdev_create "$B" SG16-1Q
	sid_at_work "${job[@]}"
	rm "$GUEST_DIR/memory"
	migrate_start a "$A" "${job[@]}"
	working a
	GUEST_QEMU=$sid migrate_await b "$B" "${job[@]}"
	migrate_stop a
	migrate_begin a b
	migrate_ends a
	until_true 60 runstate_is b paused
	guest_qmp b do cont
	goes_on b "$B"
	migrate_stop b
	guest_qmp b do migrate "uri=exec:cat >$GUEST_DIR/saved"
	migrate_ends b
	GUEST_INCOMING="exec:cat $GUEST_DIR/saved" migrate_start c "$A" "${job[@]}"
	until_true 60 runstate_is c paused
	guest_qmp c do cont
	goes_on c "$A"
	guest_tell c enough
	passes c
	guest_log c
}

# sid_at_work JOB...
sid_at_work() {
	local -x GUEST_MEMORY=$GUEST_DIR/memory
	migrate_start a "$A" "$@"
	working a
	GUEST_QEMU=$sid migrate_await b "$B" "$@"
	migrate_begin a b
	migrate_ends a
	goes_on b "$B"
	is_free "$A"
	migrate_await c "$A" "$@"
	migrate_begin b c
	migrate_ends b
	goes_on c "$A"
	guest_tell c enough
	passes c
	is_free "$A"
	is_free "$B"
}
