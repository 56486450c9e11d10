# shellcheck shell=bash
# shellcheck disable=SC2154 # A, B and TEST are run.sh's, PICTURES is display.sh's
# Tests of libvirt: node devices and domains. tests/e2e/run.sh sources this file, after manage.sh.

IMAGES=/var/lib/libvirt/images

# node_name UUID: prints how libvirt calls a vGPU.
node_name() {
	local gpu
	gpu=$(gpu_name)
	tr ':.-' '___' <<<"mdev_${1}_$gpu"
}

# node_gpu: prints how libvirt calls the GPU.
node_gpu() {
	tr ':.' '__' <<<"pci_$(gpu_name)"
}

# node_xml UUID TYPE [NAME=VALUE...]: prints a node device with these attributes of vgpu/.
node_xml() {
	local uuid=$1 type=$2 word
	shift 2
	cat <<-XML
		<device>
		  <name>$(node_name "$uuid")</name>
		  <parent>$(node_gpu)</parent>
		  <capability type='mdev'>
		    <type id='vgpu_soft-$type'/>
		    <uuid>$uuid</uuid>
	XML
	for word; do
		echo "    <attr name='vgpu/${word%%=*}' value='${word#*=}'/>"
	done
	printf '  </capability>\n</device>\n'
}

# node_attrs NAME [OPTION]: prints the attributes that libvirt shows of a node device.
node_attrs() {
	virsh nodedev-dumpxml "$@" | sed -n "s/.*<attr name='\(.*\)' value='\(.*\)'.*/\1=\2/p" | sort
}

# shows NAME FILE [OPTION]: libvirt shows the attributes in FILE.
shows() {
	node_attrs "$1" "${@:3}" | cmp -s - "$2"
}

test_virsh() {
	local parent name
	lab-libvirtd --fresh
	parent=$(mdev_parent)
	parent=${parent##*/}
	name=pci_$(tr ':.' '__' <<<"$parent")
	virsh -q nodedev-list --cap mdev_types | tee "$GUEST_DIR/nodedev"
	grep -x "$name" "$GUEST_DIR/nodedev"
	virsh nodedev-dumpxml "$name" >"$GUEST_DIR/xml"
	grep -F "<type id='vgpu_soft-SG16-4Q'>" "$GUEST_DIR/xml"
	grep -F '<availableInstances>4</availableInstances>' "$GUEST_DIR/xml"
	cat >"$GUEST_DIR/mdev.xml" <<-XML
		<device>
		  <parent>$name</parent>
		  <capability type='mdev'>
		    <type id='vgpu_soft-SG16-4Q'/>
		    <uuid>$A</uuid>
		  </capability>
		</device>
	XML
	virsh nodedev-create "$GUEST_DIR/mdev.xml"
	[[ $(vgpu_field "$A" type) == SG16-4Q ]]
	virsh -q nodedev-list --cap mdev | tee "$GUEST_DIR/nodedev"
	name=$(grep -i "mdev_${A//-/_}" "$GUEST_DIR/nodedev")
	virsh nodedev-dumpxml "$name"
	virsh nodedev-destroy "$name"
	[[ ! -e /sys/bus/mdev/devices/$A ]]
}

# node_available TYPE=NUMBER...: libvirt says that there can be so many more of these.
node_available() {
	local pair number
	virsh nodedev-dumpxml "$(node_gpu)" >"$GUEST_DIR/xml"
	for pair; do
		number=$(sed -n "/<type id='vgpu_soft-${pair%=*}'>/,/<\/type>/{
			s/.*<availableInstances>\(.*\)<.*/\1/p
		}" "$GUEST_DIR/xml")
		[[ $number == "${pair#*=}" ]] || fail "$pair: libvirt says $number"
	done
}

# The GPU is divided while libvirt runs: it has types of partitions as it has others.
test_virsh_partition() {
	local name
	lab-libvirtd --fresh
	node_available SG16-1-2C=0 SG16-4Q=4
	divide 1g 2g
	virsh -q nodedev-list --cap mdev_types | grep -x "$(node_gpu)"
	node_available SG16-1-2C=1 SG16-2-4C=1 SG16-3-8C=0 SG16-4Q=0
	name=$(node_name "$A")
	node_xml "$A" SG16-1-2C >"$GUEST_DIR/mdev.xml"
	virsh nodedev-create "$GUEST_DIR/mdev.xml"
	[[ $(vgpu_field "$A" type) == SG16-1-2C ]]
	node_available SG16-1-2C=0 SG16-2-4C=1
	virsh nodedev-dumpxml "$name" | grep -F "<type id='vgpu_soft-SG16-1-2C'/>"
	virsh nodedev-destroy "$name"
	[[ ! -e /sys/bus/mdev/devices/$A ]]
	node_available SG16-1-2C=1
}

# A node device with attributes: defined, started, updated while it is active, started by itself.
test_virsh_nodedev() {
	local name
	rule_restore
	tools_install
	undefine "$A"
	lab-libvirtd --fresh
	name=$(node_name "$A")
	node_xml "$A" SG16-4Q guarantee=600 cap=800 weight=7 >"$GUEST_DIR/mdev.xml"
	virsh nodedev-define "$GUEST_DIR/mdev.xml"
	virsh nodedev-start "$name"
	[[ $(attr "$A" guarantee) == 600 && $(attr "$A" cap) == 800 && $(attr "$A" weight) == 7 ]]
	# The active one has all attributes, the inactive one those that were defined.
	attrs_of "$A" >"$GUEST_DIR/sysfs"
	until_true 60 shows "$name" "$GUEST_DIR/sysfs"
	virsh nodedev-dumpxml "$name"
	printf '%s\n' vgpu/cap=800 vgpu/guarantee=600 vgpu/weight=7 >"$GUEST_DIR/defined"
	until_true 60 shows "$name" "$GUEST_DIR/defined" --inactive
	# An update of both, in an order in which sysfs would not take the attributes one by one.
	node_xml "$A" SG16-4Q cap=300 guarantee=200 >"$GUEST_DIR/mdev.xml"
	virsh nodedev-update "$name" "$GUEST_DIR/mdev.xml" --live --config
	[[ $(attr "$A" guarantee) == 200 && $(attr "$A" cap) == 300 && $(attr "$A" weight) == 7 ]]
	attrs_of "$A" >"$GUEST_DIR/sysfs"
	until_true 60 shows "$name" "$GUEST_DIR/sysfs"
	printf '%s\n' vgpu/cap=300 vgpu/guarantee=200 >"$GUEST_DIR/defined"
	until_true 60 shows "$name" "$GUEST_DIR/defined" --inactive
	# What mdevctl changes, libvirt shows, too.
	live_set guarantee=250
	attrs_of "$A" >"$GUEST_DIR/sysfs"
	grep -x vgpu/guarantee=250 "$GUEST_DIR/sysfs"
	until_true 60 shows "$name" "$GUEST_DIR/sysfs"
	virsh nodedev-autostart "$name"
	until_true 60 node_autostarts "$name"
	scripts/unload
	scripts/load
	udevadm settle --timeout=180
	[[ $(attr "$A" guarantee) == 200 && $(attr "$A" cap) == 300 ]]
	until_true 60 node_active "$name"
	virsh nodedev-destroy "$name"
	[[ ! -e /sys/bus/mdev/devices/$A ]]
	virsh nodedev-undefine "$name"
	[[ ! -e /etc/mdevctl.d/$(gpu_name)/$A ]]
}

# libvirt lists devices in threads, of which one may have begun before the change.
node_autostarts() {
	virsh nodedev-info "$1" | grep -E 'Autostart: +yes'
}

node_active() {
	virsh nodedev-info "$1" | grep -E 'Active: +yes'
}

# A refusal reaches the user of virsh, and nothing is changed.
test_virsh_nodedev_refused() {
	local name
	tools_install
	undefine "$A"
	lab-libvirtd --fresh
	name=$(node_name "$A")
	node_xml "$A" SG16-4Q weight=2000 >"$GUEST_DIR/bad.xml"
	refused 'weight 2000: must be 1..1000' virsh nodedev-define "$GUEST_DIR/bad.xml"
	refused 'weight 2000: must be 1..1000' virsh nodedev-create "$GUEST_DIR/bad.xml"
	[[ ! -e /sys/bus/mdev/devices/$A ]]
	node_xml "$A" SG16-4Q weight=9 >"$GUEST_DIR/mdev.xml"
	virsh nodedev-define "$GUEST_DIR/mdev.xml"
	virsh nodedev-start "$name"
	attrs_of "$A" >"$GUEST_DIR/before"
	refused 'weight 2000: must be 1..1000' \
		virsh nodedev-update "$name" "$GUEST_DIR/bad.xml" --live --config
	node_xml "$A" SG16-4Q weight=3 colour=red >"$GUEST_DIR/bad.xml"
	refused 'no such attribute' virsh nodedev-update "$name" "$GUEST_DIR/bad.xml" --live
	diff "$GUEST_DIR/before" <(attrs_of "$A")
	[[ $(node_attrs "$name" --inactive) == vgpu/weight=9 ]]
	virsh nodedev-destroy "$name"
	virsh nodedev-undefine "$name"
}

# ---- domains ----

# Attributes of the hostdev; most tests ask for no display.
DISPLAY_ATTRS="display='off'"
DOMAIN_CMDLINE="console=ttyS0 8250.nr_uarts=2 $GUEST_PATIENT quiet panic=-1 reboot=t"

# hostdev UUID: prints the device of a domain.
hostdev() {
	cat <<-XML
		<hostdev mode='subsystem' type='mdev' model='vfio-pci' managed='no' $DISPLAY_ATTRS>
		  <source><address uuid='$1'/></source>
		</hostdev>
	XML
}

# can_move: prints what has libvirt tell QEMU that the vGPU can move, as migration.rst says.
can_move() {
	cat <<-XML
		<qemu:override>
		  <qemu:device alias='hostdev0'>
		    <qemu:frontend>
		      <qemu:property name='enable-migration' type='string' value='on'/>
		    </qemu:frontend>
		  </qemu:device>
		</qemu:override>
	XML
}

# domain NAME UUID JOB [ARGUMENT...]: defines a domain whose guest does JOB with the vGPU UUID. The
# vGPU is below a PCI Express port. With DOMAIN_MOVES the domain can be saved.
domain() {
	local name=$1 uuid=$2
	shift 2
	# libvirt changes the owner of what a domain reads.
	mkdir -p "$IMAGES" /var/log/libvirt/qemu
	cp "$GUEST_KERNEL" "$GUEST_INITRAMFS" "$IMAGES/"
	: >"$GUEST_DIR/$name.log"
	: >>"/var/log/libvirt/qemu/$name.log"
	ln -s "/var/log/libvirt/qemu/$name.log" "$GUEST_DIR/$name.qemu"
	mkfifo "$GUEST_DIR/$name.tell"
	cat >"$GUEST_DIR/$name.xml" <<-XML
		<domain type='qemu' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>
		  <name>$name</name>
		  <memory unit='MiB'>$GUEST_MIB</memory>
		  <vcpu>1</vcpu>
		  <os>
		    <type arch='x86_64' machine='q35'>hvm</type>
		    <kernel>$IMAGES/${GUEST_KERNEL##*/}</kernel>
		    <initrd>$IMAGES/${GUEST_INITRAMFS##*/}</initrd>
		    <cmdline>$DOMAIN_CMDLINE -- $*</cmdline>
		  </os>
		  <features><acpi/></features>
		  <devices>
		    <emulator>${DOMAIN_EMULATOR:-/usr/bin/qemu-system-x86_64}</emulator>
		    <controller type='usb' model='none'/>
		    <serial type='file'><source path='$GUEST_DIR/$name.log'/></serial>
		    <serial type='pipe'><source path='$GUEST_DIR/$name.tell'/></serial>
		    <graphics type='vnc' socket='/run/libvirt/qemu/$name.vnc'/>
		    <video><model type='none'/></video>
		    <memballoon model='none'/>
		    $(hostdev "$uuid")
		  </devices>
		  <qemu:commandline>
		    <qemu:arg value='-global'/>
		    <qemu:arg value='ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off'/>
		  </qemu:commandline>
		  $([[ ! ${DOMAIN_MOVES:-} ]] || can_move)
		</domain>
	XML
	virsh -q define "$GUEST_DIR/$name.xml"
}

# domain_is NAME STATE: succeeds while the domain is in this state.
domain_is() {
	[[ $(virsh -q domstate "$1") == "$2" ]]
}

# patient_virsh ARGUMENT...: runs virsh, but gives up when libvirtd does not answer.
patient_virsh() {
	timeout $((60 * SLOW)) virsh -q "$@"
}

# libvirtd outlives the tests; domains and what libvirt and mdevctl have stored do not.
libvirt_clean_up() {
	local name
	rm -f /etc/mdevctl.d/*/*-*
	[[ -S /run/libvirt/libvirt-sock ]] || return 0
	for name in $(patient_virsh list --name); do
		patient_virsh destroy "$name" || :
	done
	for name in $(patient_virsh list --all --name); do
		patient_virsh undefine "$name" --managed-save || :
	done
}

has_hostdev() {
	virsh dumpxml a | grep -F "<address uuid='$A'/>"
}

# screen NAME CHECK...: the picture that virsh takes of the domain passes these checks of guest-qmp.
screen() {
	local name=$1
	shift
	mkdir -p "$PICTURES"
	virsh -q screenshot "$name" "$PICTURES/$TEST-$name.png"
	scripts/guest-qmp "$PICTURES/$TEST-$name.png" check "$@"
}

# presents NAME UUID: the display that KubeVirt asks for: ramfb's size at first, then what the guest
# presents. A guest that reboots gets the same vGPU again, as it was at first, and shows more.
presents() {
	local name=$1 uuid=$2 nr
	until_true 120 guest_heard "$name" '^guest: working' 1
	until_true 60 screen "$name" size=1024,768
	for nr in 1 2 3 4 5 6 7; do
		if (( nr == 7 )); then
			guest_tell "$name" "that is all"
			until_true 60 guest_heard "$name" '^guest: reset' 1
			guest_tell "$name" "reboot"
			until_true 60 guest_heard "$name" '^guest: END pass' 1
			until_true 120 guest_heard "$name" '^guest: working' 2
			domain_is "$name" running
			vgpu_is "$uuid" started
		fi
		guest_tell "$name" "number $nr"
		until_true 60 guest_heard "$name" '^guest: shown' "$nr"
		# The larger ones are seen in display_present: a PNG takes long to read.
		(( nr < 4 || nr > 6 )) || continue
		guest_answer "$name" shown
		until_true 60 screen "$name" "pattern=${ANSWER// /,}"
	done
}

# What a running domain refuses and allows. Its vGPU is its own, also after a reset, until it is
# unplugged or the domain ends. Then another one gets it, with a display. (To start a domain takes
# half a minute on uml-debug, as libvirt asks QEMU hundreds of things: there are two starts.)
test_virsh_domains() {
	local name
	tools_install
	lab-libvirtd
	name=$(node_name "$A")
	mdev_create "$A" SG16-4Q
	domain a "$A" eject --seconds 3600
	DISPLAY_ATTRS="display='on' ramfb='on'" domain b "$A" present --seed $RANDOM
	virsh start a
	until_true 120 guest_heard a '^guest: working' 1
	vgpu_is "$A" started
	has_hostdev
	# The vGPU cannot be taken away, nor given to another domain.
	refused 'in use' virsh nodedev-destroy "$name"
	refused "$A is in use by driver QEMU, domain a" virsh start b
	domain_is b 'shut off'
	# Nobody asks QEMU to save the state of a vGPU: said at once, and the domain goes on.
	refused 'migrat' virsh managedsave a
	refused 'migrat' virsh save a "$GUEST_DIR/a.save"
	# Its share can be changed.
	node_xml "$A" SG16-4Q guarantee=100 cap=500 >"$GUEST_DIR/mdev.xml"
	virsh nodedev-update "$name" "$GUEST_DIR/mdev.xml" --live
	[[ $(attr "$A" guarantee) == 100 && $(attr "$A" cap) == 500 ]]
	domain_is a running
	vgpu_is "$A" started
	hostdev "$A" >"$GUEST_DIR/hostdev.xml"
	virsh detach-device a "$GUEST_DIR/hostdev.xml" --live
	until_true 120 guest_heard a '^guest: slot switched off' 1
	until_true 60 vgpu_is "$A" created
	until_true 60 eval '! has_hostdev'
	domain_is a running
	virsh attach-device a "$GUEST_DIR/hostdev.xml" --live
	has_hostdev
	vgpu_is "$A" started
	# This guest has no driver for slots: it finds the vGPU when it boots.
	virsh reset a
	until_true 120 guest_heard a '^guest: working' 2
	virsh destroy a
	# A thread of the kernel may hold what the process had a bit longer.
	until_true 60 vgpu_is "$A" created
	[[ $(attr "$A" guarantee) == 100 ]]
	virsh start b
	presents b "$A"
	virsh destroy b
	until_true 60 vgpu_is "$A" created
}

# host_restarts: of libvirt only what is on its disk is left, and of the driver nothing.
host_restarts() {
	local file pid
	for file in /run/libvirtd.pid /run/virtlogd.pid; do
		# Without a newline at its end.
		pid=$(<"$file")
		kill -KILL "$pid"
		until_true 60 test ! -d "/proc/$pid"
	done
	rm -rf /run/libvirt /run/libvirtd.pid /run/virtlogd.pid
	scripts/unload
	scripts/load
}

# A domain that is at work is saved and restored, with its vGPU; and once more as it is done when
# the host is to be started anew, after which the driver and the vGPU are new.
test_virsh_saves() {
	tools_install
	lab-libvirtd
	mdev_create "$A" SG16-1Q
	DOMAIN_MOVES=yes domain a "$A" load --seconds 0 --mib 4
	virsh start a
	until_true 120 guest_heard a '^guest: working' 1
	virsh save a "$GUEST_DIR/saved"
	until_true 60 vgpu_is "$A" created
	virsh restore "$GUEST_DIR/saved"
	domain_is a running
	vgpu_is "$A" started
	sleep 2
	virsh managedsave a
	domain_is a 'shut off'
	until_true 60 vgpu_is "$A" created
	mdev_remove "$A"
	host_restarts
	mdev_create "$A" SG16-1Q
	lab-libvirtd
	domain_is a 'shut off'
	virsh start a
	domain_is a running
	sleep 2
	guest_tell a enough
	until_true 120 guest_heard a '^guest: END pass' 1
	guest_log a
}

# other_host: starts what libvirt takes for another host: a libvirtd with files, a name and a UUID
# of its own. Ends with the test. Its socket is $OTHER/run/libvirt-sock.
OTHER=/run/other-host
other_host() {
	local dir
	rm -rf "$OTHER"
	for dir in run lib log etc cache; do
		mkdir -p "$OTHER/$dir"
	done
	cp -r /etc/libvirt/. "$OTHER/etc/"
	echo "host_uuid = \"$(</proc/sys/kernel/random/uuid)\"" >>"$OTHER/etc/libvirtd.conf"
	echo 'stdio_handler = "file"' >>"$OTHER/etc/qemu.conf"
	unshare --mount --uts bash -c '
		hostname other
		mount --bind "$1/run" /run/libvirt
		mount --bind "$1/lib" /var/lib/libvirt/qemu
		mount --bind "$1/log" /var/log/libvirt
		mount --bind "$1/cache" /var/cache/libvirt
		mount --bind "$1/etc" /etc/libvirt
		exec libvirtd --pid-file "$1/pid"' other "$OTHER" </dev/null >"$OTHER/libvirtd.log" 2>&1 &
	OTHER_PID=$!
	until_true 60 test -S "$OTHER/run/libvirt-sock"
}

# other_virsh ARGUMENT...: virsh of the other host.
other_virsh() {
	patient_virsh -c "$OTHER_URI" "$@"
}
OTHER_URI="qemu+unix:///system?socket=$OTHER/run/libvirt-sock"

# emulator_moves: makes what tells QEMU that vGPUs can move, whatever the domain says.
EMULATOR_MOVES=/usr/local/bin/qemu-system-x86_64
emulator_moves() {
	cat >"$EMULATOR_MOVES" <<-'SH'
		#!/bin/sh
		exec /usr/bin/qemu-system-x86_64 -global vfio-pci.enable-migration=on "$@"
	SH
	chmod 755 "$EMULATOR_MOVES"
}

# moved_to NAME UUID NEW-NAME NEW-UUID: prints the domain as it is to be on another host: with
# another vGPU and other files, which are made.
moved_to() {
	: >"$GUEST_DIR/$3.log"
	mkfifo "$GUEST_DIR/$3.tell"
	virsh dumpxml --migratable "$1" | sed "s/$2/$4/; s|$GUEST_DIR/$1\\.|$GUEST_DIR/$3.|
		s|qemu/$1\\.vnc|qemu/$3.vnc|"
}

# A domain moves to another host, where it gets another vGPU. A guest that TCG emulates
# is suspended first (migration.rst). A domain that does not fit there, stays here.
test_virsh_migrates() {
	local c=${A//1/3}
	tools_install
	lab-libvirtd
	other_host
	mdev_create "$A" SG16-1Q
	mdev_create "$B" SG16-1Q
	mdev_create "$c" SG16-2Q
	emulator_moves
	DOMAIN_EMULATOR=$EMULATOR_MOVES domain a "$A" load --seconds 0 --mib 4
	virsh start a
	until_true 120 guest_heard a '^guest: working' 1
	moved_to a "$A" c "$c" >"$GUEST_DIR/c.xml"
	moved_to a "$A" b "$B" >"$GUEST_DIR/b.xml"
	virsh suspend a
	refused 'Invalid argument' migrates a c
	kernel_said "$c" 'type is SG16-1Q there, SG16-2Q here'
	domain_is a paused
	is_free "$c"
	migrates a b
	is_free "$A"
	[[ $(other_virsh domstate b) == paused ]]
	other_virsh resume b
	sleep 2
	guest_tell b enough
	until_true 120 guest_heard b '^guest: END pass' 1
	guest_log b
	other_virsh destroy b || :
	kill "$OTHER_PID"
	ends "$OTHER_PID" || :
}

# migrates NAME NEW-NAME
migrates() {
	virsh migrate-setmaxdowntime "$1" 60000
	virsh migrate --live --persistent --undefinesource --xml "$GUEST_DIR/$2.xml" \
		--persistent-xml "$GUEST_DIR/$2.xml" --dname "$2" "$1" "$OTHER_URI" \
		--migrateuri "unix:$OTHER/lib/$2.move"
}
