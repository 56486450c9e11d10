# shellcheck shell=bash
# vGPUs through sysfs, inside a lab machine. Sourced by scripts/demo-inside and
# tests/e2e/run.sh, from the checkout's root.

PATH=$PWD/build/lab-tools/vgpuctl:$PATH
# shellcheck disable=SC2034 # for who sources this
MDEV_UUID_1=11111111-1111-4111-8111-111111111111
# shellcheck disable=SC2034
MDEV_UUID_2=22222222-2222-4222-8222-222222222222

# mdev_parent: the directory of the GPU.
mdev_parent() {
	local parent
	for parent in /sys/class/mdev_bus/*; do
		if [[ -e $parent/mdev_supported_types && $(readlink "$parent/driver") == */vgpu_soft ]]; then
			readlink -f "$parent"
			return
		fi
	done
	echo "no mdev parent of vgpu_soft" >&2
	return 1
}

# mdev_create UUID TYPE
mdev_create() {
	echo "$1" >"$(mdev_parent)/mdev_supported_types/vgpu_soft-$2/create"
}

# mdev_remove UUID: waits until its user has let go of it.
mdev_remove() {
	echo 1 >"/sys/bus/mdev/devices/$1/remove"
}

# mdev_available TYPE
mdev_available() {
	cat "$(mdev_parent)/mdev_supported_types/vgpu_soft-$1/available_instances"
}

# vgpu_field UUID FIELD: from vgpuctl list
vgpu_field() {
	vgpuctl list --json | jq -er --arg uuid "$1" ".[] | select(.uuid == \$uuid) | .$2"
}

# gpu_field FIELD: from vgpuctl gpus
gpu_field() {
	vgpuctl gpus --json | jq -er ".[0].$1"
}
