# shellcheck shell=bash
# Tests in a Debian guest: containers of podman that have the node and our programs, and nothing
# else; job sources this file.

CONTAINER_TESTS=(podman podman_rootless)
BOX=/tmp/box.tar
# What runs in a container: which nodes there are, and a program for the device.
IN_BOX="busybox ls /dev/dri; vgpu-run /bin/probe.elf --kernel say --grid 1 --group 1 --arg 2"
IN_BOX_SAID=$'renderD128\nitem 0: 0.00 -1 100%\nitem 0: 0.50 -1 100%'

# box_make: a root with our programs, as a tar, from which podman makes its image.
box_make() {
	local dir=/tmp/box
	[[ ! -e $BOX ]] || return 0
	mkdir -p "$dir"/{bin,tmp,dev,proc,sys,etc}
	cp /usr/local/bin/vgpu-run /usr/local/bin/vgpu-samples /opt/vgpu/busybox "$PROBE" "$dir/bin/"
	tar -C "$dir" -cf "$BOX" .
}

# pod USER ARGUMENT...: the user's podman. Its storage goes with the guest.
pod() {
	local user=$1 dir
	dir=/run/user/$(id -u "$user")
	shift
	install -d -o "$user" -g "$user" -m 700 "$dir"
	as "$user" env XDG_RUNTIME_DIR="$dir" podman --root "$dir/storage" --runroot "$dir/run" \
		--storage-driver vfs --cgroup-manager cgroupfs --events-backend none "$@"
}

# in_box USER OPTION...: a program for the device, in a fresh container of the user.
in_box() {
	local user=$1
	shift
	pod "$user" run --rm --network none --log-driver none --cgroups disabled "$@" box \
		busybox sh -c "$IN_BOX" 2>&1
}

test_podman() {
	local out
	box_make
	pod root import -q "$BOX" box
	out=$(in_box root --device "$NODE")
	say "$out"
	[[ $out == "$IN_BOX_SAID" ]]
	# Without the node nothing is left but the function, which is the driver's.
	refused "the driver vgpu_guest has it" in_box root
}

# crun leaves the user its groups only if it is told so: without them the node is somebody else's.
test_podman_rootless() {
	local out
	box_make
	pod user import -q "$BOX" box
	out=$(in_box user --device "$NODE" --group-add keep-groups)
	say "$out"
	[[ $out == "$IN_BOX_SAID" ]]
	refused "are you in the group of the node, render?" in_box user --device "$NODE"
}
