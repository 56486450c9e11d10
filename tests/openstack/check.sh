#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [--hosts N]: make openstack. Runs OpenStack's control plane natively in an
# image of the lab, with two lab machines (or N) as its hosts, each with a software GPU.
# Servers with a vGPU fill the hosts, Nova refuses one more, moves one to the other host while its
# vGPU is at work, and all vGPUs come back.
# Prints the figures of each host's own tools beside Placement's, and the time. With --hosts 0
# the control plane is alone, and the first server is refused.
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../.."

packages=tests/openstack/packages
# shellcheck source=tests/openstack/config.sh
. tests/openstack/config.sh
dir=$PWD/build/openstack
hosts=(compute1 compute2)
case ${1:-} in
--help) sed -n '3,8s/^# //p' tests/openstack/check.sh; exit ;;
--hosts)
	[[ ${2:-} =~ ^[0-9]$ ]] || { echo "openstack: --hosts N, 0 to 9" >&2; exit 2; }
	hosts=()
	for (( i = 1; i <= $2; i++ )); do
		hosts+=("compute$i")
	done ;;
--inside) ;; # by this script itself, in a network namespace of its own
'') ;;
*) echo "openstack: no option '$1'" >&2; exit 2 ;;
esac

inside() {
	local host pids=() status=0 port forwards
	ip link set lo up
	date +%s >"$dir/start"
	for host in "${hosts[@]}"; do
		# Machines have no addresses of their own here, so servers move to one of them only.
		forwards=()
		for port in $MOVE_PORTS; do
			[[ $host != "$MOVE_TO" ]] || forwards+=(--forward "$port:$port")
		done
		scripts/lab run --kernel stock --packages "$packages" --hostname "$host" --net=host \
			"${forwards[@]}" --mem 2560 --timeout 3600 -- tests/openstack/compute.sh "$dir" \
			>"$dir/$host.run" 2>&1 &
		pids+=("$!")
	done
	scripts/lab chroot --packages "$packages" tests/openstack/control.sh "$dir" "${hosts[@]}" ||
		status=$?
	: >"$dir/stop"
	for host in "${!hosts[@]}"; do
		if ! wait "${pids[host]}"; then
			echo "openstack: ${hosts[host]} ended with an error:"
			tail -n 20 "$dir/${hosts[host]}.run"
			status=1
		fi
	done
	return "$status"
}

if [[ ${1:-} == --inside ]]; then
	shift
	hosts=("$@")
	inside
	exit
fi
rm -rf "$dir"
mkdir -p "$dir"
scripts/lab image --packages "$packages"
if (( ${#hosts[@]} )); then
	scripts/guest-image
	scripts/build-modules stock
	scripts/lab chroot make -s -C tools O="$PWD/build/lab-tools"
fi
# All of it talks over a loopback of its own, where no port is taken and nothing else is reached.
status=0
unshare --net tests/openstack/check.sh --inside "${hosts[@]}" || status=$?
if (( status )); then
	echo "openstack: failed ($status); logs: build/openstack"
else
	echo "openstack: passed"
fi
exit "$status"
