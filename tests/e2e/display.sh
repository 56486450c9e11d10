# shellcheck shell=bash
# Tests of what QEMU shows of vGPUs; tests/e2e/run.sh sources this file. The guests boot Debian's
# kernel, whose own driver finds a standard VGA, and draw what they are told (tests/e2e/display).
# Pictures that were compared are left in build/display.

PICTURES=build/display
C=33333333-3333-4333-8333-333333333333
# Where the guests find their vGPUs: two on the root bus, one below a port.
FIRST=0000:00:05.0 SECOND=0000:00:06.0
ASCII=$(printf '%b' "$(printf '\\x%x' {32..126})")
declare -A TOLD=()

# ---- guests that show what they are told ----

# vga_create UUID [TYPE]: creates a vGPU that a driver for a standard VGA drives.
vga_create() {
	mdev_create "$1" "${2:-SG16-1Q}"
	echo 1 >"/sys/bus/mdev/devices/$1/vgpu/vga"
}

# vga_device UUID ID PCI [OPTIONS]: prints QEMU's argument for a vGPU that stays where it is.
vga_device() {
	local slot=${3%.0} mdev=/sys/bus/mdev/devices/$1
	echo "vfio-pci-nohotplug,id=$2,addr=${slot##*:},sysfsdev=$mdev,display=on${4:-}"
}

# display_start NAME ARGUMENT...: starts a guest with these arguments for QEMU, and waits for it; if
# it is to come from elsewhere (GUEST_INCOMING), does not.
display_start() {
	local name=$1 faster="mitigations=off $GUEST_PATIENT"
	shift
	[[ ! ${GUEST_INCOMING:-} ]] || set -- "$@" -incoming "$GUEST_INCOMING"
	guest_qemu "$name" -machine q35,accel=tcg -m 256 \
		-kernel build/guest/display.kernel -initrd build/guest/display.initramfs \
		-append "console=ttyS0 console=tty0 fbcon=font:VGA8x16 quiet panic=-1 $faster" "$@"
	TOLD[$name]=0
	[[ ${GUEST_INCOMING:-} ]] || display_ready "$name" 1
}

# said NAME REGEX NUMBER SECONDS: waits until the guest has said so many lines that match.
said() {
	local end=$((SECONDS + $4 * SLOW))
	until guest_heard "$1" "$2" "$3"; do
		! guest_heard "$1" '^guest: FAILED' || fail "guest $1 fails"
		(( SECONDS <= end )) || fail "guest $1 has not said $3 times: $2"
		guest_running "$1" || fail "QEMU of $1 has ended"
		guest_nap
	done
}

# display_ready NAME NUMBER: waits until the guest has booted that many times.
display_ready() {
	said "$1" '^guest: ready' "$2" 120
}

# tell NAME COMMAND...: has the guest execute a command of tests/e2e/display/main.c.
tell() {
	local name=$1 nr=$((TOLD[$1] += 1))
	shift
	guest_tell "$name" "$nr $*"
	guest_says "$name" "^guest: (not )?done $nr\$" $((60 * SLOW)) ||
		fail "guest $name does not answer to: $*"
	guest_heard "$name" "^guest: done $nr\$" || fail "guest $name cannot: $*"
}

# look NAME DEVICE CHECK...: QEMU's picture of the device passes these checks of guest-qmp, at
# least after some seconds: a kernel shows text on its console a bit after it is written.
look() {
	local name=$1 device=$2 file=$PICTURES/$TEST-$1-$2.png
	shift 2
	mkdir -p "$PICTURES"
	guest_qmp "$name" look $((60 * SLOW)) "$device" "$file" "$@" ||
		fail "the screen of $name is wrong"
}

# shows_console NAME DEVICE PCI: text that the guest writes now is on the screen: what the guest's
# kernel has in its framebuffer, and known letters in the kernel's font.
shows_console() {
	local name=$1 device=$2 pci=$3 word=$RANDOM$RANDOM screen
	tell "$name" text "$pci" "$word"
	guest_answer "$name" screen
	screen=$ANSWER
	look "$name" "$device" "screen=${screen// /,}" "text=This guest's word is $word." \
		"text=$ASCII" "text=The word, once more and further right: $word"
}

# shows_drawing NAME DEVICE PCI WIDTH HEIGHT [PAD]: so is a drawing, pixel by pixel.
shows_drawing() {
	local name=$1 device=$2 pci=$3 width=$4 height=$5 pad=${6:-0} seed
	seed=$((RANDOM * 512 + RANDOM))
	tell "$name" draw "$pci" "$width" "$height" "$seed" "$pad"
	look "$name" "$device" "pattern=$width,$height,$seed"
}

# shows_flips NAME DEVICE PCI TIMES: and the drawing in the buffer that was flipped to last.
shows_flips() {
	local name=$1 device=$2 pci=$3 seed shown
	seed=$((RANDOM * 512 + RANDOM))
	tell "$name" flip "$pci" "$4" "$seed"
	guest_answer "$name" flipped
	shown=${ANSWER%,*}
	[[ $shown == *" $seed" ]]
	look "$name" "$device" "pattern=${shown// /,}"
}

# survives_resets NAME: the display works after the machine's reset, after one that the guest wants,
# and after a reset of the function alone.
survives_resets() {
	guest_qmp "$1" "do" system_reset
	display_ready "$1" 2
	shows_console "$1" vgpu "$FIRST"
	guest_tell "$1" "0 reboot"
	display_ready "$1" 3
	shows_console "$1" vgpu "$FIRST"
	shows_drawing "$1" vgpu "$FIRST" 1024 768
	tell "$1" reset "$FIRST"
	look "$1" vgpu dark
	# The driver has not noticed, so it has to switch off before it switches on.
	tell "$1" dark "$FIRST"
	shows_drawing "$1" vgpu "$FIRST" 1280 720
}

# ---- the tests ----

# A default KubeVirt machine: display=on, ramfb=on. It has a second vGPU with a display.
test_display_modes() {
	vga_create "$A"
	vga_create "$B"
	display_start a -display none -device "$(vga_device "$A" vgpu "$FIRST" ,ramfb=on)" \
		-device "$(vga_device "$B" other "$SECOND")"
	shows_console a vgpu "$FIRST"
	tell a modes "$FIRST"
	guest_answer a modes
	echo "$ANSWER"
	[[ " $ANSWER " =~ \ 1024x768\*?\  ]]
	shows_drawing a other "$SECOND" 800 600
	shows_console a vgpu "$FIRST"
	shows_drawing a vgpu "$FIRST" 1024 768
	shows_flips a other "$SECOND" 3
	shows_flips a vgpu "$FIRST" 1
	shows_flips a vgpu "$FIRST" 20
	# Rows longer than the picture, a size of no standard, and where no page begins.
	shows_drawing a vgpu "$FIRST" 800 600 40
	shows_flips a vgpu "$FIRST" 3
	shows_drawing a vgpu "$FIRST" 1000 700
	shows_flips a vgpu "$FIRST" 1
	shows_drawing a vgpu "$FIRST" 640 480
	shows_drawing a vgpu "$FIRST" 1920 1080
	tell a dark "$FIRST"
	look a vgpu size=1920,1080 dark
	tell a close "$FIRST"
	shows_console a vgpu "$FIRST"
}

# Two guests with a display each. One writes modes to its registers as fast as it can, most of them
# bad ones, while the host takes pictures. That harms no other guest: not one that draws, and not
# one that uses the engines. Then the other one is reset in every way.
test_display_storm_and_resets() {
	local last seed=$RANDOM
	vga_create "$A"
	vga_create "$B"
	mdev_create "$C" SG16-1Q
	display_start a -display none -device "$(vga_device "$A" vgpu "$FIRST")"
	display_start b -vnc "unix:$GUEST_DIR/b.vnc" -device "$(vga_device "$B" vgpu "$FIRST")"
	shows_console a vgpu "$FIRST"
	shows_console b vgpu "$FIRST"
	guest_start c "$C" load --seconds 0 --mib 4
	working c
	guest_tell a "$((TOLD[a] += 1)) storm $FIRST 8 $seed"
	guest_says a '^guest: storm: begins' $((60 * SLOW))
	guest_qmp a watch 3 vgpu
	guest_tell c enough
	shows_drawing b vgpu "$FIRST" 1024 768
	shows_flips b vgpu "$FIRST" 3
	passes c
	guest_says a "^guest: done ${TOLD[a]}\$" $((60 * SLOW))
	guest_answer a storm:
	echo "$ANSWER"
	guest_answer a drawn
	last=$ANSWER
	look a vgpu "pattern=${last// /,}"
	[[ $last == *" $seed" ]]
	# The driver of the guest finds the vGPU in order, too.
	tell a probe "$FIRST"
	shows_console a vgpu "$FIRST"
	[[ $(vgpuctl show "$A" --json | jq .faults) == 0 ]]
	guest_kill a
	survives_resets b
}

# A guest with a driver for our hardware shows surfaces by PRESENT. Before the first of them QEMU
# shows its ramfb: "Booting from ROM...", which SeaBIOS has left there, in a font of which some
# letters are the kernel's. (A kernel with a decompressor would clear it.) A reset ends the
# picture; QEMU, which does not go back to ramfb, shows its place, which is dark.
test_display_present() {
	local nr GUEST_KERNEL=build/lab/guest-small/vmlinux
	mdev_create "$A" SG16-1Q
	GUEST_PLUG=fixed GUEST_OPTIONS=,display=on,ramfb=on guest_start a "$A" present --seed $RANDOM
	working a
	look a vgpu "text=Boot"
	guest_tell a "the first"
	for nr in 1 2 3 4 5 6; do
		said a '^guest: shown' "$nr" 30
		guest_answer a shown
		look a vgpu "pattern=${ANSWER// /,}"
		guest_tell a "the next"
	done
	guest_says a '^guest: reset' $((60 * SLOW))
	look a vgpu size=1920,1080 dark
	guest_tell a "that is all"
	passes a
	[[ $(vgpuctl show "$A" --json | jq .faults) == 0 ]]
}

# takes_picture NAME CHECK...: QEMU's picture of its first console passes these checks.
takes_picture() {
	local name=$1 file=$PICTURES/$TEST-$1.ppm
	shift
	guest_qmp "$name" "do" screendump "filename=$file"
	scripts/guest-qmp "$file" check "$@"
}

# A vGPU with a display is unplugged. QEMU 10.0 holds on to the device by its console: the VM goes
# on with the last picture, and the host's removal waits until the VM ends. QEMU 11.1 lets go, and
# its console says that there is no display. Either way the VM lives, has a screen, and at the end
# the vGPU is gone.
test_display_unplug() {
	local removal
	mdev_create "$A" SG16-1Q
	GUEST_PLUG=port GUEST_OPTIONS=,display=on \
		guest_start a "$A" eject --seconds 3600 --seed $RANDOM
	working a
	guest_answer a shown
	look a vgpu "pattern=${ANSWER// /,}"
	mdev_remove "$A" &
	removal=$!
	said a '^guest: slot switched off' 1 60
	if timeout "$SLOW" tail --pid=$removal -s 0.1 -f /dev/null; then
		echo "QEMU lets go of a vGPU with a display"
		takes_picture a size=640,480
		guest_running a || fail "QEMU has ended"
	else
		takes_picture a "pattern=${ANSWER// /,}"
		guest_running a || fail "QEMU has ended"
		[[ $(vgpu_field "$A" state) == started ]]
		guest_kill a
	fi
	ends $removal
	[[ ! -e /sys/bus/mdev/devices/$A ]]
}

# OVMF, with its own driver for a standard VGA, shows its logo, and then its shell.
test_display_firmware() {
	local dir=/usr/share/OVMF
	# Types of the B series are standard VGAs unless they are set not to be.
	mdev_create "$A" SG16-1B
	cp "$dir/OVMF_VARS_4M.fd" "$GUEST_DIR/vars"
	guest_qemu a -display none -machine q35,accel=tcg -m 256 \
		-drive "if=pflash,unit=0,format=raw,readonly=on,file=$dir/OVMF_CODE_4M.fd" \
		-drive "if=pflash,unit=1,format=raw,file=$GUEST_DIR/vars" \
		-device "$(vga_device "$A" vgpu "$FIRST")"
	look a vgpu colours=4
}
