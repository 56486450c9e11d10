#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# compute.sh DIRECTORY: a host of make openstack, inside a lab machine: our GPU,
# libvirt and nova-compute. DIRECTORY is how it and control.sh speak: there
# "ready" means that the control plane is up, "view.N" asks for a view of this
# host, which goes to HOSTNAME.view.N, and "stop" ends it.
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../.."
# shellcheck source=tests/openstack/config.sh
. tests/openstack/config.sh
# shellcheck source=scripts/mdev.sh
. scripts/mdev.sh
dir=$1 host=$(hostname)

# packets: how many packets engines have done for each vGPU.
packets() {
	vgpuctl stats --json | jq -c '[.vgpus[] | {(.uuid): ([.engines[].packets] | add)}] | add'
}

# started: how many vGPUs are in use.
started() {
	vgpuctl list --json | jq '[.[] | select(.state == "started")] | length'
}

# at_work: how many vGPUs had packets done within half a minute; a round of a guest may take ten
# seconds, as all of this is emulated.
at_work() {
	local before now=0 end=$((SECONDS + 30))
	before=$(packets)
	while (( SECONDS < end )); do
		sleep 1
		now=$(packets | jq --argjson before "$before" \
			'[(. // {}) | to_entries[] | select(.value > $before[.key])] | length')
		(( now < $(started) )) || break
	done
	echo "$now"
}

# view: what this host's own tools say of it.
view() {
	local log name
	echo "virsh list:"
	virsh -q list --all
	echo "virsh nodedev-list --cap mdev:"
	virsh -q nodedev-list --cap mdev
	vgpuctl list
	for log in /var/lib/nova/instances/*/console.log; do
		[[ -e $log ]] || continue
		name=${log%/*}
		echo "console ${name##*/}: $(tr -d '\r' <"$log" | grep -c '^guest: working')"
		tail -n 2 "$log" | tr -d '\r' | sed 's/^/    /'
	done
	echo "running $(virsh -q list --state-running --name | grep -c . || :)"
	echo "at work $(at_work)"
	echo "started $(started)"
}

# can_move: servers may come by TCP from whoever asks (there is nobody else in this network), and
# QEMU is told that vGPUs can move: Debian's kernel has no CONFIG_IOMMUFD_DRIVER (managers.rst).
can_move() {
	printf '%s\n' 'listen_tls = 0' 'listen_tcp = 1' 'auth_tcp = "none"' >>/etc/libvirt/libvirtd.conf
	cat >/usr/local/bin/qemu-system-x86_64 <<-'SH'
		#!/bin/sh
		exec /usr/bin/qemu-system-x86_64 -global vfio-pci.enable-migration=on "$@"
	SH
	chmod 755 /usr/local/bin/qemu-system-x86_64
}

exec > >(tee "$dir/$host.log") 2>&1
scripts/load
can_move
lab-libvirtd --listen
nova_conf "$HOST_SEEN_FROM_MACHINE"
echo "$host: libvirt has the GPU: $(virsh -q nodedev-list --cap mdev_types)"
until [[ -e $dir/ready ]]; do
	sleep 1
done
nova-compute --config-file /etc/nova/nova.conf </dev/null >"$dir/$host.nova" 2>&1 &
nova=$!
n=1
while [[ ! -e $dir/stop ]]; do
	if ! kill -0 "$nova" 2>/dev/null; then
		echo "$host: nova-compute has ended"
		exit 1
	fi
	if [[ -e $dir/view.$n ]]; then
		view >"$dir/$host.tmp" 2>&1 || echo "the view failed" >>"$dir/$host.tmp"
		mv "$dir/$host.tmp" "$dir/$host.view.$n"
		n=$((n + 1))
	fi
	sleep 1
done
kill "$nova"
wait "$nova" || :
# Nova leaves the mdevs of deleted servers for the next ones.
for mdev in /sys/bus/mdev/devices/*; do
	[[ ! -e $mdev/remove ]] || echo 1 >"$mdev/remove"
done
scripts/unload
