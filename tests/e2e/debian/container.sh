# shellcheck shell=bash
# Tests in a Debian guest: containers of podman that have the node and our programs, and nothing
# else; job sources this file.

CONTAINER_TESTS=(podman podman_rootless podman_samples podman_nvml)
BOX=/tmp/box.tar
# What runs in a container: which nodes there are, and a program for the device.
IN_BOX="busybox ls /dev/dri; vgpu-run /bin/probe.elf --kernel say --grid 1 --group 1 --arg 2"
IN_BOX_SAID=$'renderD128\nitem 0: 0.00 -1 100%\nitem 0: 0.50 -1 100%'

# box_pack DIR: a root with our programs, as a tar, and with what leads to those of Debian where a
# container has the guest's /usr.
box_pack() {
	mkdir -p "$1"/{bin,tmp,dev,proc,sys,etc,usr}
	ln -s usr/lib "$1/lib"
	ln -s usr/lib64 "$1/lib64"
	cp /usr/local/bin/vgpu-run /usr/local/bin/vgpu-samples /opt/vgpu/{busybox,seen.py} "$PROBE" \
		"$1/bin/"
	tar -C "$1" -cf "$BOX" .
}

# box_make USER: the user's podman has the image box of that.
box_make() {
	! pod "$1" image exists box || return 0
	[[ -e $BOX ]] || box_pack /tmp/box
	pod "$1" import -q "$BOX" box >&2
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

# in_box USER COMMANDS OPTION...: what they say in a fresh container of the user.
in_box() {
	local user=$1 commands=$2
	shift 2
	pod "$user" run --rm --network none --log-driver none --cgroups disabled "$@" box \
		busybox sh -c "$commands" 2>&1
}

# user_box COMMANDS OPTION...: likewise, in one of the ordinary user's with the node. crun leaves
# him his groups only if it is told so: without them the node is somebody else's.
user_box() {
	box_make user
	in_box user "$1" --device "$NODE" --group-add keep-groups "${@:2}"
}

test_podman() {
	local out
	box_make root
	out=$(in_box root "$IN_BOX" --device "$NODE")
	say "$out"
	[[ $out == "$IN_BOX_SAID" ]]
	# Without the node nothing is left but the function, which is the driver's.
	refused "the driver vgpu_guest has it" in_box root "$IN_BOX"
}

test_podman_rootless() {
	local out
	out=$(user_box "$IN_BOX")
	say "$out"
	[[ $out == "$IN_BOX_SAID" ]]
	refused "are you in the group of the node, render?" in_box user "$IN_BOX" --device "$NODE"
}

test_podman_samples() {
	local out
	out=$(user_box vgpu-samples)
	say "$out"
	[[ $(grep -c ' equal' <<<"$out") == 9 ]]
}

# Clients of NVML, with Debian's programs and our library: who the vGPU is, its driver, its load,
# and a process in the same container.
test_podman_nvml() {
	local out version
	version=$(</sys/module/vgpu_guest/version)
	out=$(user_box "seen.py vgpu-samples && nvtop -s" -v /usr:/usr:ro \
		-e LD_LIBRARY_PATH=/usr/local/lib/vgpu -e PATH=/bin:/usr/bin -e LANG=C.UTF-8)
	say "$out"
	[[ $out == *"nodes: renderD128"$'\n'"driver: $version"$'\n'"name: SG16-1Q"$'\n'"uuid: GPU-"* ]]
	[[ $out == *"load: True"$'\n'"process: True"* && $out == *'"device_name": "SG16-1Q"'* ]]
}
