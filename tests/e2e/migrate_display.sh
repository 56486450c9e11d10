# shellcheck shell=bash
# Tests of run.sh: what the screen shows of a guest that moves, and what the guest sees of the
# monitor. QEMU writes no EDID to a vGPU, whose display it reads as a region, so all vGPUs have the
# same one here; edid_test has another one move.

MIGRATE_DISPLAY_TESTS=(migrate_display)
MIGRATE_DISPLAY_LONG=(migrate_display_mode)

# dump NAME: takes QEMU's picture of the vGPU, as NAME.ppm.
dump() {
	guest_qmp "$1" "do" screendump "filename=$GUEST_DIR/$1.ppm" device=vgpu
}

# drawing NAME UUID [WAITS]: starts a guest that draws, or what waits for it.
drawing() {
	local GUEST_OPTIONS=,display=on,enable-migration=on
	GUEST_INCOMING=${3:-} guest_start "$1" "$2" draw --title '"a guest that moves"'
	migrate_can "$1" x-ignore-shared
}

# drawn NAME: sets DRAWN to the number of the picture that is in NAME.ppm, and MONITOR to what it
# says of that.
drawn() {
	local text
	text=$(scripts/guest-qmp "$GUEST_DIR/$1.ppm" read f0f0f0,101820)
	echo "$text"
	grep -q '^ *a guest that moves$' <<<"$text"
	DRAWN=$(sed -nE 's/^ *picture ([0-9]+)$/\1/p' <<<"$text")
	MONITOR=$(sed -nE 's/^ *monitor [0-9]+ x [0-9]+, EDID ([0-9a-f]+)$/\1/p' <<<"$text")
	[[ $DRAWN && $MONITOR ]]
}

# By PRESENT: moved while it draws, and back while it does not.
test_migrate_display() {
	local at edid
	local -x GUEST_MEMORY=$GUEST_DIR/memory
	vga_create "$A"
	vga_create "$B"
	drawing a "$A"
	said a '^guest: picture' 1 60
	drawing b "$B" defer
	guest_qmp b "do" migrate-incoming "uri=unix:$GUEST_DIR/b.move"
	migrate_begin a b
	until_true 60 migration_over a
	migration_is a completed
	# The first QEMU has the vGPU still, with the picture at which the guest has left it.
	dump a
	drawn a
	at=$DRAWN edid=$MONITOR
	guest_qmp a "do" quit
	guest_ended a $((60 * SLOW)) || fail "guest a has moved, and does not end"
	is_free "$A"
	# The first one may be of the picture with which it came.
	said b '^guest: picture' 2 60
	guest_tell b "stand still"
	said b '^guest: still, .* EDID [0-9a-f]{8}$' 1 60
	guest_answer b "still, picture"
	dump b
	drawn b
	[[ $ANSWER == "$DRAWN, EDID $edid" && $MONITOR == "$edid" ]]
	(( DRAWN > at ))
	drawing c "$A" defer
	guest_qmp c "do" migrate-incoming "uri=unix:$GUEST_DIR/c.move"
	migrate_begin b c
	migrate_ends b
	dump c
	cmp "$GUEST_DIR/b.ppm" "$GUEST_DIR/c.ppm"
	guest_tell c "go on"
	said c '^guest: picture' 1 60
	dump c
	! cmp -s "$GUEST_DIR/b.ppm" "$GUEST_DIR/c.ppm" || fail "the screen stands still"
	guest_tell c enough
	passes c
	guest_log c
	guest_answer c drawn:
	(( ${ANSWER%% *} > DRAWN ))
	[[ $ANSWER == *", EDID $edid" ]]
}

# vga_moves NAME UUID [INCOMING]: a guest that draws what it is told. QEMU reads or writes all of
# its memory, see GUEST_SWAP in scripts/guest.sh.
vga_moves() {
	GUEST_INCOMING=${3:-} display_start "$1" -display none -mem-prealloc \
		-device "$(vga_device "$2" vgpu "$FIRST" ,enable-migration=on)"
}

# By a mode in the registers of a VGA card, which the guest's kernel sets: the picture, and what the
# kernel says of the monitor, are the same, and it can set another mode.
test_migrate_display_mode() {
	local modes
	vga_create "$A"
	vga_create "$B"
	vga_moves a "$A"
	tell a modes "$FIRST"
	guest_answer a modes
	modes=$ANSWER
	echo "$modes"
	# Rows longer than the picture.
	shows_drawing a vgpu "$FIRST" 800 600 40
	vga_moves b "$B" "unix:$GUEST_DIR/b.move"
	migrate_stop a
	dump a
	migrate_begin a b
	migrate_ends a
	until_true 60 runstate_is b paused
	# Until it runs the vGPU has not taken the state over, and shows nothing.
	guest_qmp b "do" cont
	dump b
	cmp "$GUEST_DIR/a.ppm" "$GUEST_DIR/b.ppm"
	TOLD[b]=${TOLD[a]}
	tell b modes "$FIRST"
	guest_answer b modes
	[[ $ANSWER == "$modes" ]] || fail "the monitor is another one: $ANSWER"
	shows_drawing b vgpu "$FIRST" 1024 768
	shows_flips b vgpu "$FIRST" 3
	[[ $(vgpuctl show "$B" --json | jq .faults) == 0 ]]
}
