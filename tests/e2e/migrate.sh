# shellcheck shell=bash
# Tests of run.sh: guests that move to another QEMU with their vGPU while they work. Where the kernel
# tells nobody which guest memory a device writes, as Debian's does not, VFIO's container knows it,
# exactly for a vGPU; and QEMU wants to be told so, by enable-migration=on.

MIGRATE_TESTS=(migrate_plain migrate_plain migrate_plain migrate_plain migrate_plain migrate_plain migrate_plain migrate_plain migrate_plain migrate_plain migrate_plain migrate_plain migrate_plain migrate_plain migrate_plain migrate_plain)

# migration_is NAME STATUS
migration_is() {
	guest_qmp "$1" do query-migrate >"$GUEST_DIR/$1.migration"
	[[ $(jq -r .status "$GUEST_DIR/$1.migration") == "$2" ]]
}

# migrate_start NAME UUID JOB...: starts a guest that can move.
migrate_start() {
	GUEST_OPTIONS=,enable-migration=on guest_start "$@"
}

# migrate FROM TO UUID JOB...: starts the guest TO, which has the vGPU UUID, and moves FROM there.
migrate() {
	local from=$1 to=$2
	shift
	GUEST_INCOMING=unix:$GUEST_DIR/$to.move migrate_start "$@"
	until_true 60 test -S "$GUEST_DIR/$to.move"
	guest_qmp "$from" do migrate "uri=unix:$GUEST_DIR/$to.move"
	until_true 120 migration_is "$from" completed
	cat "$GUEST_DIR/$from.migration"
	guest_qmp "$from" do quit
	guest_ended "$from" $((60 * SLOW)) || fail "guest $from has moved, and does not end"
}

test_migrate_at_work() {
	mdev_create "$A" SG16-1Q
	mdev_create "$B" SG16-1Q
	migrate_start a "$A" load --seconds 0 --mib 4
	working a
	migrate a b "$B" load --seconds 0 --mib 4
	guest_tell b enough
	passes b
	guest_log a
	guest_log b
}

test_migrate_hold() {
	mdev_create "$A" SG16-1Q
	mdev_create "$B" SG16-1Q
	migrate_start a "$A" hold --seconds 0 --seed 5
	working a
	migrate a b "$B" hold --seconds 0 --seed 5
	guest_tell b enough
	passes b
	guest_log a
	guest_log b
}

plain() {
	local name=$1; shift
	guest_qemu "$name" -display none -no-reboot -machine pc,accel=tcg -m 128 \
		-kernel "$GUEST_KERNEL" -initrd "$GUEST_INITRAMFS" \
		-append "console=ttyS0 8250.nr_uarts=2 no_timer_check quiet panic=-1 reboot=t -- memory --seconds 0 --mib 16" "$@"
}

test_migrate_plain() {
	plain a
	working a
	sleep 2
	plain b -incoming "unix:$GUEST_DIR/b.move"
	until_true 60 test -S "$GUEST_DIR/b.move"
	guest_qmp a do migrate "uri=unix:$GUEST_DIR/b.move"
	until_true 120 migration_is a completed
	cat "$GUEST_DIR/a.migration"
	guest_qmp a do quit
	sleep 2
	guest_tell b enough
	passes b
}
