# shellcheck shell=bash
# Tests in a Debian guest of what udev makes of the driver, and of ordinary users; job sources this
# file.

DRIVER_TESTS=(alias node user stranger samples)
PROBE=/opt/vgpu/probe.elf

# Nobody has asked for the module: udev has found it by the device's alias.
test_alias() {
	local device alias
	until_node
	for device in /sys/bus/pci/devices/*; do
		[[ $(<"$device/vendor")$(<"$device/device") != 0x1af40x10f1 ]] || break
	done
	alias=$(<"$device/modalias")
	say "$alias: $(modprobe --resolve-alias "$alias")"
	[[ $(modprobe --resolve-alias "$alias") == vgpu_guest ]]
	[[ $(basename "$(readlink "$device/driver")") == vgpu_guest ]]
	! grep -rs vgpu_guest /etc/modules /etc/modules-load.d /usr/lib/modules-load.d /etc/udev
}

# The module is the one that DKMS has built, if the host has put that here: no other is there.
test_dkms() {
	local file
	until_node
	file=$(modinfo -n vgpu_guest)
	say "$file, version $(</sys/module/vgpu_guest/version)"
	[[ $file == */updates/dkms/vgpu_guest.ko* ]]
	[[ $(find /usr/lib/modules -name 'vgpu_guest.ko*' | wc -l) == 1 ]]
	[[ $(modinfo -F srcversion vgpu_guest) == "$(</sys/module/vgpu_guest/srcversion)" ]]
}

test_node() {
	local device
	until_node
	say "$NODE: $(stat -c '%A %U %G' "$NODE")"
	[[ $(stat -c '%a %U %G' "$NODE") == "660 root render" ]]
	device=$(readlink -f "/sys/class/drm/${NODE##*/}/device")
	[[ /dev/dri/by-path/pci-${device##*/}-render -ef $NODE ]]
	[[ $(udevadm info -q property --property=DRIVER --value "$device") == vgpu_guest ]]
}

# udev may still be at it.
until_node() {
	local i
	udevadm settle -t 240
	for ((i = 0; i < 400; i++)); do
		[[ ! -c $NODE ]] || return 0
		sleep 0.1
	done
	fail "there is no $NODE"
}

test_user() {
	local out
	as user vgpu-run "$PROBE" --kernel poke --grid 1 --arg "8>/tmp/poke" --arg 4 --arg 0
	[[ $(od -An -tx4 /tmp/poke | tr -d ' \n') == 0000000000000001 ]]
	out=$(as user vgpu-run "$PROBE" --kernel say --grid 1 --group 1 --arg 2 --json)
	say "$out"
	[[ $out == *"\"$NODE\""* ]]
}

test_stranger() {
	refused "$NODE: Permission denied" \
		as stranger vgpu-run "$PROBE" --kernel say --grid 1 --group 1 --arg 2
	refused "are you in the group of the node, render?" as stranger vgpu-samples --device renderD128
}

test_samples() {
	local out
	out=$(as user vgpu-samples)
	say "$out"
	[[ $(grep -c ' equal' <<<"$out") == 9 ]]
}
