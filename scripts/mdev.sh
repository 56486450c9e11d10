# shellcheck shell=bash
# vGPUs through sysfs, inside a lab machine. scripts/demo-inside and tests/e2e/run.sh source this
# file, from the checkout's root.

PATH=$PWD/build/lab-tools/vgpuctl:$PATH
# shellcheck disable=SC2034 # used by the scripts that source this file
MDEV_UUID_1=11111111-1111-4111-8111-111111111111
# shellcheck disable=SC2034
MDEV_UUID_2=22222222-2222-4222-8222-222222222222

# mdev_parent: prints the directory in sysfs of the software GPU.
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

# mdev_create UUID TYPE: creates a vGPU.
mdev_create() {
	echo "$1" >"$(mdev_parent)/mdev_supported_types/vgpu_soft-$2/create"
}

# mdev_remove UUID: removes a vGPU, after the process that has it open has closed it.
mdev_remove() {
	echo 1 >"/sys/bus/mdev/devices/$1/remove"
}

# mdev_available TYPE: prints how many more vGPUs of the type fit.
mdev_available() {
	cat "$(mdev_parent)/mdev_supported_types/vgpu_soft-$1/available_instances"
}

# vgpu_field UUID FIELD: prints a value that vgpuctl list has for the vGPU.
vgpu_field() {
	vgpuctl list --json | jq -er --arg uuid "$1" ".[] | select(.uuid == \$uuid) | .$2"
}

# gpu_field FIELD: prints a value that vgpuctl gpus has for the first GPU.
gpu_field() {
	vgpuctl gpus --json | jq -er ".[0].$1"
}
