#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh: tests the units of systemd; check.sh starts it in a lab machine. systemd is the first
# process of a PID namespace, with mounts and cgroups of its own, and brings up multi-user.target as
# on a host: it loads the modules, starts udev, and mdevctl by udev's rules.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1
# shellcheck source=tests/selftests/ktap.sh
. tests/selftests/ktap.sh
A=6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c01 B=6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c02
MDEVCTLS=6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c03
figures=/var/lib/prometheus/node-exporter/vgpu.prom state=/etc/vgpu/state.json
log=$(mktemp)
outer='' first=''

# inside COMMAND...: runs it where systemd runs.
inside() {
	nsenter --target "$first" --mount --pid --cgroup "$@"
}

# soon SECONDS COMMAND...: waits until the command succeeds.
soon() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < end)) || return
		sleep 0.5
	done
}

# up: boots, and waits until all has been started.
up() {
	mkdir -p /sys/fs/cgroup/host
	# shellcheck disable=SC2016 # for the inner shell
	(echo "$BASHPID" >/sys/fs/cgroup/host/cgroup.procs
	exec unshare --mount --propagation slave --pid --cgroup --fork --kill-child sh -c '
		mount -t proc proc /proc && umount -l /sys/fs/cgroup &&
		mount -t cgroup2 cgroup /sys/fs/cgroup && mount -t tmpfs -o mode=755 run /run &&
		exec env -i container=lab PATH="$PATH" /lib/systemd/systemd --unit=multi-user.target
	') >"$log" 2>&1 </dev/null &
	outer=$!
	soon 30 pgrep -P "$outer" >/dev/null || return
	first=$(pgrep -P "$outer")
	soon 120 inside test -S /run/systemd/private || return
	inside systemctl is-system-running --wait >/dev/null
}

down() {
	[[ $outer ]] || return
	inside systemctl poweroff
	wait "$outer"
	outer=''
}

remove_all() {
	local mdev
	for mdev in /sys/bus/mdev/devices/*; do
		[[ ! -e $mdev/remove ]] || echo 1 >"$mdev/remove"
	done
}

clean_up() {
	[[ ! $outer ]] || kill -KILL "$first"
	remove_all
	scripts/unload
	rm -f "$log"
}
trap clean_up EXIT

# result_is UNIT RESULT: how the unit's last run has ended
result_is() {
	[[ $(inside systemctl show -P Result "$1") == "$2" ]]
}

active() {
	inside systemctl -q is-active "$1"
}

# said UNIT PATTERN: the unit has said so
said() {
	inside journalctl --no-pager -o cat -u "$1" | grep -Eq -- "$2"
}

up_is() {
	grep -qsx "vgpu_up $1" "$figures"
}

ids() {
	vgpuctl list --noheadings -o uuid | sort
}

echo "TAP version 13"
make -s -C tools O="$PWD/build/tools" PREFIX=/usr install || exit
extra=/lib/modules/$(uname -r)/updates
mkdir -p "$extra" "${figures%/*}"
find "build/modules/$(uname -r)" -name 'vgpu*.ko' -exec cp {} "$extra" \;
depmod
echo vgpu_soft >/etc/modules-load.d/vgpu.conf
# The machine has less memory than its vGPUs have framebuffer.
echo options vgpu_soft fb_overcommit=0 >/etc/modprobe.d/vgpu.conf
# Those of the lab's machines are mounted already, and this has nothing to do with the first boot of
# a system.
: >/etc/fstab
touch /etc/.updated /var/.updated
[[ -s /etc/machine-id ]] || tr -d - </proc/sys/kernel/random/uuid >/etc/machine-id
systemctl -q mask getty.target libvirt-guests libvirtd.service libvirtd.socket virtlockd.socket \
	virtlogd.socket
systemctl -q enable vgpu-restore.service vgpu-metrics.timer

ktap_run verify systemd-analyze verify --man=no /lib/systemd/system/vgpu-{restore,metrics}.service \
	/lib/systemd/system/vgpu-metrics.timer

up
ktap_result boots $? "$(<"$log")" "$(inside systemctl --no-pager --failed)"
[[ $(inside systemctl show -P ConditionResult vgpu-restore) == no ]] && [[ -z $(ids) ]]
ktap_result nothing_declared_nothing_done $? "$(inside systemctl --no-pager status vgpu-restore)"
soon 60 up_is 1 && soon 10 result_is vgpu-metrics success
ktap_result timer_writes_figures $? "$(inside systemctl --no-pager status vgpu-metrics)"

vgpuctl create --type SG16-2Q --uuid "$A" >/dev/null
vgpuctl create --type SG16-1B --uuid "$B" >/dev/null
vgpuctl create --type SG16-1Q --uuid "$MDEVCTLS" >/dev/null
vgpuctl sched set --policy qos --slice 2ms >/dev/null
vgpuctl share set "$A" --guarantee 40% --frl 30 "$B" --weight 7 "$MDEVCTLS" --weight 5 >/dev/null
mkdir -p "${state%/*}"
vgpuctl save -f "$state"
ktap_run save_has_all grep -q "$MDEVCTLS" "$state"
# From now on mdevctl has one of them, which gets another type and starts by itself.
vgpuctl remove "$MDEVCTLS" >/dev/null
inside mdevctl define --uuid "$MDEVCTLS" --auto --type vgpu_soft-SG16-2Q \
	--parent "$(vgpuctl gpus --noheadings -o address)"
down
remove_all
scripts/unload

up
ktap_result boots_again $? "$(<"$log")" "$(inside systemctl --no-pager --failed)"
active vgpu-restore && [[ $(vgpuctl show "$A") == *SG16-2Q*"40.0 %"*"30 fps"* ]] &&
	[[ $(vgpuctl share show "$B" --noheadings -o type,weight) =~ ^SG16-1B\ +7$ ]] &&
	[[ $(vgpuctl sched show) == *qos*"2.000 ms"* ]]
ktap_result state_is_back $? "$(inside journalctl --no-pager -u vgpu-restore)" "$(vgpuctl sched show)"
soon 30 test -e "/sys/bus/mdev/devices/$MDEVCTLS" && said vgpu-restore "$MDEVCTLS: left to mdevctl" &&
	[[ $(vgpuctl share show "$MDEVCTLS" --noheadings -o type,weight) =~ ^SG16-2Q\ +125$ ]]
ktap_result mdevctl_has_its_own $? "$(inside journalctl --no-pager -n 60)" "$(vgpuctl share show)"
inside systemctl restart vgpu-restore && said vgpu-restore 'nothing is to be changed'
ktap_result again_changes_nothing $?

# The driver goes, and comes back later than the unit is started.
before=$(ids)
remove_all
scripts/unload
soon 60 up_is 0
ktap_result figures_say_that_the_driver_is_gone $?
result_is vgpu-metrics exit-code
ktap_result and_the_unit_fails $?
! inside systemctl restart vgpu-restore 2>/dev/null && said vgpu-restore 'no driver of a GPU is loaded'
ktap_result without_a_driver_it_fails $?
inside modprobe vgpu_soft
soon 60 active vgpu-restore && soon 30 test -e "/sys/bus/mdev/devices/$MDEVCTLS" &&
	[[ $(ids) == "$before" ]]
ktap_result the_driver_comes_later $? "$(inside journalctl --no-pager -n 60 -u vgpu-restore)"
soon 60 up_is 1
ktap_result figures_are_back $?

# A state that cannot be is tried some times, and then no more.
sed -i 's/SG16-1B/SG16-1X/' "$state"
remove_all
! inside systemctl restart vgpu-restore 2>/dev/null &&
	soon 90 inside systemctl -q is-failed vgpu-restore &&
	said vgpu-restore 'vgpus\[[0-9]\]\.type: .* has no type SG16-1X' && ! ids | grep -q "$A"
ktap_result a_state_that_cannot_be $? "$(inside journalctl --no-pager -n 60 -u vgpu-restore)" \
	"$(inside systemctl --no-pager status vgpu-restore)"

# The state divides the GPU: mdevctl's vGPU in a partition starts when that is done, and the state's
# has its place first.
remove_all
inside mdevctl undefine --uuid "$MDEVCTLS"
vgpuctl partition mode on && vgpuctl partition create 3g --start 0 >/dev/null &&
	vgpuctl create --type SG16-3-4C --uuid "$A" >/dev/null && vgpuctl save -f "$state"
inside mdevctl define --uuid "$MDEVCTLS" --auto --type vgpu_soft-SG16-3-4C \
	--parent "$(vgpuctl gpus --noheadings -o address)"
down
remove_all
scripts/unload

up
active vgpu-restore && vgpuctl list --json | jq -e --arg a "$A" --arg m "$MDEVCTLS" \
	'[.[] | [.uuid, .type, .placement_gib]] | sort == [[$a, "SG16-3-4C", 0], [$m, "SG16-3-4C", 4]]'
ktap_result mdevctl_has_its_own_in_a_partition $? "$(vgpuctl list)" "$(vgpuctl partition list)" \
	"$(inside journalctl --no-pager -n 60)"
down
ktap_end >/dev/null
echo "1..$ktap_number"
echo "$((ktap_number - ktap_failed)) passed, $ktap_failed failed"
((ktap_failed == 0))
