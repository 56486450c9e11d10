# shellcheck shell=bash
# shellcheck disable=SC2154 # A and B are run.sh's
# Tests of vGPUs that start by themselves, by mdevctl. tests/e2e/run.sh sources this file before
# manage.sh, which has more functions for mdevctl.

# shellcheck disable=SC2034 # manage.sh reads it
AUTOSTART_TESTS=(autostart_as_shipped autostart_repaired autostart_without_mdevctl
	autostart_partition)

RULES=/usr/lib/udev/rules.d/60-mdevctl.rules

# rule_restore: mdevctl's own rule of udev is as Debian ships it.
rule_restore() {
	[[ -e $GUEST_DIR.rules ]] || cp "$RULES" "$GUEST_DIR.rules"
	cp "$GUEST_DIR.rules" "$RULES"
}

# autostart_setup: A and B are defined with a share, A to be started by itself. Records what
# vgpu-autostart, whose PATH begins with /usr/local, asks of mdevctl.
autostart_setup() {
	local gpu
	gpu=$(gpu_name)
	rule_restore
	tools_install
	lab-udev
	undefine "$A" "$B"
	config SG16-4Q guarantee=600 cap=800 weight=7 >"$GUEST_DIR/config"
	mdevctl define -u "$A" -p "$gpu" --jsonfile "$GUEST_DIR/config"
	mdevctl modify -u "$A" --auto
	mdevctl define -u "$B" -p "$gpu" -t vgpu_soft-SG16-2Q
	cat >/usr/local/bin/mdevctl <<-EOF
		#!/bin/sh
		echo "\$1" >>"$GUEST_DIR/asked"
		exec /usr/bin/mdevctl "\$@"
	EOF
	chmod 755 /usr/local/bin/mdevctl
}

# autostart_reload: loads the modules anew, and waits for udev.
autostart_reload() {
	scripts/unload
	: >"$GUEST_DIR/asked"
	scripts/load
	udevadm settle --timeout=180
	echo "asked of mdevctl: $(tr "\\n" " " <"$GUEST_DIR/asked")"
}

autostart_check() {
	[[ -e /sys/bus/mdev/devices/$A ]] || fail "not started"
	[[ $(attr "$A" guarantee) == 600 && $(attr "$A" cap) == 800 && $(attr "$A" weight) == 7 ]]
	[[ ! -e /sys/bus/mdev/devices/$B ]]
}

autostart_end() {
	rm -f /usr/local/bin/mdevctl /usr/sbin/mdevctl
	rule_restore
	undefine "$A" "$B"
	udevadm control --reload
}

# Debian's rule runs /usr/sbin/mdevctl, which is not there. Ours starts the vGPU, once.
test_autostart_as_shipped() {
	grep -F 'RUN+="/bin/sh -c' "$RULES" | grep -F /usr/sbin/mdevctl
	[[ ! -e /usr/sbin/mdevctl && -x /usr/bin/mdevctl ]]
	autostart_setup
	autostart_reload
	autostart_check
	[[ $(grep -cx start "$GUEST_DIR/asked") == 1 ]]
	# udev looks at the GPU again: it is there, and so is the vGPU.
	: >"$GUEST_DIR/asked"
	udevadm trigger --action=add "$(mdev_parent)"
	udevadm settle --timeout=180
	autostart_check
	# Our rule may run several times, and only looks.
	[[ $(sort -u "$GUEST_DIR/asked") == list ]]
	# udev comes later than the GPU.
	mdev_remove "$A"
	udevadm trigger --action=add "$(mdev_parent)"
	udevadm settle --timeout=180
	autostart_check
	autostart_end
}

# A distribution's rule that works starts the vGPU; ours sees that, and does nothing.
test_autostart_repaired() {
	local how
	for how in rule link; do
		autostart_setup
		if [[ $how == rule ]]; then
			sed -i 's|/usr/sbin/mdevctl|/usr/bin/mdevctl|' "$RULES"
		else
			ln -s ../bin/mdevctl /usr/sbin/mdevctl
		fi
		udevadm control --reload
		autostart_reload
		autostart_check
		[[ $(sort -u "$GUEST_DIR/asked") == list ]] ||
			fail "$how: started by our rule"
		mdev_remove "$A"
		autostart_end
	done
	# And without our rule, so that it is known that theirs did it.
	autostart_setup
	ln -s ../bin/mdevctl /usr/sbin/mdevctl
	tools_remove
	autostart_reload
	autostart_check
	[[ ! -s $GUEST_DIR/asked ]]
	autostart_end
}

test_autostart_without_mdevctl() {
	autostart_setup
	rm /usr/local/bin/mdevctl
	mv /usr/bin/mdevctl /usr/bin/mdevctl.away
	autostart_reload
	[[ ! -e /sys/bus/mdev/devices/$A ]]
	/lib/udev/vgpu-autostart "$(gpu_name)"
	mv /usr/bin/mdevctl.away /usr/bin/mdevctl
	/lib/udev/vgpu-autostart "$(gpu_name)"
	autostart_check
	autostart_end
}

# unit_run: does what vgpu-restore.service does.
unit_run() {
	local line
	sed -n 's/^ExecStart\(Post\)\?=-\?//p' /lib/systemd/system/vgpu-restore.service >"$GUEST_DIR/unit"
	[[ $(wc -l <"$GUEST_DIR/unit") == 2 ]]
	while read -r line <&3; do
		$line
	done 3<"$GUEST_DIR/unit"
}

# A vGPU in a partition starts when the declared state has divided the GPU.
test_autostart_partition() {
	local start='.[] | select(.profile == "2g") | .partition'
	autostart_setup
	undefine "$A"
	divide 1g 2g
	mkdir -p /etc/vgpu
	vgpuctl save -f /etc/vgpu/state.json
	undivide
	config SG16-2-4C guarantee=600 cap=800 weight=7 >"$GUEST_DIR/config"
	mdevctl define -u "$A" -p "$(gpu_name)" --jsonfile "$GUEST_DIR/config"
	mdevctl modify -u "$A" --auto
	autostart_reload
	[[ ! -e /sys/bus/mdev/devices/$A ]] || fail "started without a partition"
	unit_run
	autostart_check
	[[ $(vgpuctl show "$A" --json | jq .partition) == "$(vgpuctl partition list --json | jq "$start")" ]]
	# Again: all is there.
	: >"$GUEST_DIR/asked"
	unit_run
	[[ $(sort -u "$GUEST_DIR/asked") == list ]]
	rm -r /etc/vgpu
	autostart_end
}
