# shellcheck shell=bash
# Tests of run.sh: guests that move to another QEMU with their vGPU while they work. Where the
# kernel has no log of the guest memory that a device writes, as Debian's has not, VFIO's container has one,
# which is exact for a vGPU; and QEMU wants to be told so, by enable-migration=on.
#
# A guest that TCG emulates may lose writes if its memory is copied while it runs: migration.rst.
# So both QEMUs share the memory, or the guest is stopped first.

MIGRATE_TESTS=(migrate_at_work migrate_to_a_file)
MIGRATE_LONG=(migrate_snapshot migrate_copies_memory migrate_cancelled migrate_killed)

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

# migration_active NAME: waits until the move has begun; fails if it is over.
migration_active() {
	until_true 60 eval "migration_is $1 active || migration_over $1"
	migration_is "$1" active || fail "the move is over: $(<"$GUEST_DIR/$1.migration")"
}

# runstate_is NAME STATUS
runstate_is() {
	[[ $(guest_qmp "$1" do query-status | jq -r .status) == "$2" ]]
}

# migrate_start NAME UUID JOB...: starts a guest that can move. Where the kernel has a log of the
# driver's own (IOMMUFD_DRIVER), QEMU finds that out; MIGRATE_OPTION is empty then.
migrate_start() {
	GUEST_OPTIONS=${MIGRATE_OPTION-,enable-migration=on} guest_start "$@"
}

# migrate_can NAME CAPABILITY
migrate_can() {
	guest_qmp "$1" do migrate-set-capabilities \
		"capabilities=[{\"capability\": \"$2\", \"state\": true}]"
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

# A move that is given up, twice; then one that is not.
test_migrate_cancelled() {
	local -x GUEST_MEMORY=$GUEST_DIR/memory
	mdev_create "$A" SG16-1Q
	mdev_create "$B" SG16-1Q
	migrate_start a "$A" load --seconds 0 --mib 16
	working a
	guest_qmp a do migrate-set-parameters max-bandwidth=1000000
	for _ in 1 2; do
		migrate_await b "$B" load --seconds 0 --mib 16
		migrate_begin a b
		migration_active a
		guest_qmp a do migrate_cancel
		until_true 60 migration_over a
		migration_is a cancelled || fail "no cancel: $(<"$GUEST_DIR/a.migration")"
		guest_kill b
		is_free "$B"
	done
	guest_qmp a do migrate-set-parameters max-bandwidth=1000000000
	migrate_await b "$B" load --seconds 0 --mib 16
	migrate_begin a b
	migrate_ends a
	guest_tell b enough
	passes b
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
	for nap in 0.0 0.3; do
		migrate_await b "$B" load --seconds 0 --mib 16
		migrate_begin a b
		sleep "$nap"
		guest_kill b
		until_true 60 migration_is a failed
		is_free "$B"
	done
	guest_heard a '^guest: FAILED' && fail "guest a has failed"
	GUEST_MEMORY='' migrate_await b "$B" load --seconds 0 --mib 16
	GUEST_MEMORY='' migrate_begin a b
	sleep 0.3
	guest_kill a
	guest_ended b $((60 * SLOW)) || fail "guest b does not end"
	is_free "$B"
	guest_start b "$B" scan
	passes b
}
