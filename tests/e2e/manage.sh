# shellcheck shell=bash
# shellcheck disable=SC2154 # A and B are run.sh's
# Tests of mdevctl, without the call-out and with it. tests/e2e/run.sh sources this file.

# shellcheck disable=SC2034 # run.sh reads it
MANAGE_TESTS=(mdevctl mdevctl_partition mdevctl_attributes mdevctl_attribute_refused
	callout_attributes callout_live callout_live_in_use callout_refuses callout_input
	callout_partition callout_only_ours "${AUTOSTART_TESTS[@]}")

CALLOUT=/usr/lib/mdevctl/scripts.d/callouts/vgpu

# gpu_name: prints the name of the GPU, by which mdevctl knows it.
gpu_name() {
	local parent
	parent=$(mdev_parent)
	echo "${parent##*/}"
}

# attr UUID NAME: prints an attribute of a vGPU.
attr() {
	cat "/sys/bus/mdev/devices/$1/vgpu/$2"
}

# attrs_of UUID: prints all attributes that can be set, as sysfs has them: "vgpu/NAME=VALUE" a line.
attrs_of() {
	local file
	for file in "/sys/bus/mdev/devices/$1/vgpu"/*; do
		[[ ! $(stat -c %A "$file") =~ w ]] || echo "vgpu/${file##*/}=$(<"$file")"
	done | sort
}

# json_attrs: reads a configuration, as mdevctl prints it, and prints its attributes likewise.
json_attrs() {
	jq -r '.attrs[] | to_entries[] | "\(.key)=\(.value)"' | sort
}

# config TYPE [NAME=VALUE...]: prints a configuration with these attributes of vgpu/.
config() {
	local type=$1 word list=
	shift
	for word; do
		list+=${list:+,}$(jq -nc --arg k "vgpu/${word%%=*}" --arg v "${word#*=}" '{($k): $v}')
	done
	jq -n --arg t "vgpu_soft-$type" --argjson a "[$list]" '{mdev_type: $t, start: "manual", attrs: $a}'
}

# refused TEXT COMMAND...: COMMAND fails, and what it says has TEXT in it.
refused() {
	local text=$1
	shift
	if "$@" >"$GUEST_DIR/said" 2>&1; then
		cat "$GUEST_DIR/said"
		fail "not refused: $*"
	fi
	cat "$GUEST_DIR/said"
	grep -F -- "$text" "$GUEST_DIR/said" || fail "refused without '$text': $*"
}

# tools_install, tools_remove: what make install makes of the call-out and the rules of udev.
tools_install() {
	if cmp -s "$CALLOUT" build/lab-tools/mdevctl/vgpu && [[ -e /lib/udev/vgpu-autostart ]]; then
		return
	fi
	make -s -C tools O="$PWD/build/lab-tools" install
	[[ -x $CALLOUT ]]
	[[ ! -S /run/udev/control ]] || udevadm control --reload
}

tools_remove() {
	rm -f "$CALLOUT" /lib/udev/rules.d/60-vgpu.rules /lib/udev/vgpu-autostart
	[[ ! -S /run/udev/control ]] || udevadm control --reload
}

# undefine UUID...: mdevctl forgets these vGPUs, if it knows them.
undefine() {
	local uuid
	for uuid; do
		rm -f /etc/mdevctl.d/*/"$uuid"
	done
}

test_mdevctl() {
	local parent
	parent=$(mdev_parent)
	parent=${parent##*/}
	mdevctl types
	mdevctl types --dumpjson | jq -e '[.[][][] | to_entries[] | select(.key == "vgpu_soft-SG16-4Q")
		| .value | (.device_api == "vfio-pci" and .available_instances == 4)] == [true]'
	mdevctl start -u "$A" -p "$parent" -t vgpu_soft-SG16-4Q
	mdevctl list | grep -F "$A $parent vgpu_soft-SG16-4Q"
	[[ $(vgpu_field "$A" type) == SG16-4Q ]]
	mdevctl define -u "$A"
	mdevctl list -d | grep -F "$A"
	mdevctl stop -u "$A"
	[[ ! -e /sys/bus/mdev/devices/$A ]]
	mdevctl start -u "$A" -p "$parent"
	[[ $(vgpu_field "$A" type) == SG16-4Q ]]
	mdevctl stop -u "$A"
	mdevctl undefine -u "$A"
	# The GPU is full: mdevctl fails.
	mdevctl start -u "$A" -p "$parent" -t vgpu_soft-SG16-16Q
	if mdevctl start -u "$B" -p "$parent" -t vgpu_soft-SG16-16Q; then
		fail "two that need the whole GPU"
	fi
	mdevctl stop -u "$A"
}

# divide PROFILE...: the GPU has these partitions until the test ends.
divide() {
	local profile
	DIVIDED=1
	vgpuctl partition mode on
	for profile; do
		vgpuctl partition create "$profile"
	done
}

# undivide: the GPU is whole again. There are no vGPUs.
undivide() {
	local number
	for number in $(vgpuctl partition list --noheadings -o number); do
		vgpuctl partition remove "$number" || :
	done
	vgpuctl partition mode off
}

# mdevctl_available TYPE: prints how many more mdevctl says that there can be.
mdevctl_available() {
	mdevctl types --dumpjson |
		jq ".[][][] | .\"vgpu_soft-$1\" | select(.) | .available_instances"
}

# Types of partitions are types like others, while there are such partitions.
test_mdevctl_partition() {
	local parent
	parent=$(gpu_name)
	[[ $(mdevctl_available SG16-1-2C) == 0 && $(mdevctl_available SG16-4Q) == 4 ]]
	divide 1g 2g
	[[ $(mdevctl_available SG16-1-2C) == 1 && $(mdevctl_available SG16-2-4C) == 1 ]]
	[[ $(mdevctl_available SG16-3-8C) == 0 && $(mdevctl_available SG16-4Q) == 0 ]]
	mdevctl define -u "$A" -p "$parent" -t vgpu_soft-SG16-1-2C
	mdevctl start -u "$A"
	mdevctl list | grep -F "$A $parent vgpu_soft-SG16-1-2C"
	[[ $(vgpu_field "$A" type) == SG16-1-2C && $(mdevctl_available SG16-1-2C) == 0 ]]
	if mdevctl start -u "$B" -p "$parent" -t vgpu_soft-SG16-1-2C; then
		fail "two in a partition for one"
	fi
	mdevctl stop -u "$A"
	[[ ! -e /sys/bus/mdev/devices/$A && $(mdevctl_available SG16-1-2C) == 1 ]]
	mdevctl undefine -u "$A"
}

# Shares that are defined with the mdev are set before anybody opens the vGPU.
test_mdevctl_attributes() {
	local parent
	parent=$(mdev_parent)
	parent=${parent##*/}
	mdevctl define -u "$A" -p "$parent" -t vgpu_soft-SG16-4Q
	mdevctl modify -u "$A" --addattr=vgpu/guarantee --value=600
	mdevctl modify -u "$A" --addattr=vgpu/cap --value=800
	mdevctl modify -u "$A" --addattr=vgpu/weight --value=7
	mdevctl list -d -u "$A" --dumpjson
	for _ in 1 2; do
		mdevctl start -u "$A"
		[[ $(<"/sys/bus/mdev/devices/$A/vgpu/guarantee") == 600 ]]
		[[ $(<"/sys/bus/mdev/devices/$A/vgpu/cap") == 800 ]]
		[[ $(<"/sys/bus/mdev/devices/$A/vgpu/weight") == 7 ]]
		vgpuctl share show "$A"
		mdevctl stop -u "$A"
	done
	# A guarantee of more than is left: the vGPU is not started, and no mdev stays behind.
	mdev_create "$B" SG16-8Q
	if mdevctl start -u "$A"; then
		fail "guarantees of 500 and 600"
	fi
	[[ ! -e /sys/bus/mdev/devices/$A ]]
	mdev_remove "$B"
	mdevctl undefine -u "$A"
}

# sees_events: whoever writes the file events sees that a vGPU comes, or that it goes.
sees_events() {
	mdev_create "$B" SG16-1Q
	mdev_remove "$B"
	[[ -s $GUEST_DIR/events ]]
}

# mdevctl prints the name of an errno; the driver's reason is in the kernel's log and in events.
test_mdevctl_attribute_refused() {
	local why='weight 2000: must be 1..1000'
	tools_remove
	undefine "$A"
	config SG16-4Q weight=2000 >"$GUEST_DIR/config"
	vgpuctl events >"$GUEST_DIR/events" &
	WATCHER=$!
	until_true 60 sees_events
	refused 'Invalid argument' mdevctl start -u "$A" -p "$(gpu_name)" --jsonfile "$GUEST_DIR/config"
	[[ ! -e /sys/bus/mdev/devices/$A ]]
	until_true 60 grep -E "$A.*$why" "$GUEST_DIR/events"
	kill "$WATCHER"
	WATCHER=
	kernel_said "$A" "$why"
	vgpuctl log "$A" | grep -F 'refused: weight 2000: must be 1..1000'
	# The call-out tells it, before there is a vGPU.
	tools_install
	refused 'weight 2000: must be 1..1000' \
		mdevctl start -u "$A" -p "$(gpu_name)" --jsonfile "$GUEST_DIR/config"
	[[ ! -e /sys/bus/mdev/devices/$A ]]
	if grep -F 'refused by the driver' "$GUEST_DIR/said"; then
		fail "the driver was asked"
	fi
	# What the driver refuses all the same, is told when mdevctl has failed.
	refused 'refused by the driver: weight 2000: must be 1..1000' \
		mdevctl start --force -u "$A" -p "$(gpu_name)" --jsonfile "$GUEST_DIR/config"
	[[ ! -e /sys/bus/mdev/devices/$A ]]
}

# What mdevctl shows is all that can be set, and what a vGPU has is stored when it is defined.
test_callout_attributes() {
	tools_install
	undefine "$A"
	config SG16-4Q guarantee=600 cap=800 weight=7 frl=30 >"$GUEST_DIR/config"
	mdevctl define -u "$A" -p "$(gpu_name)" --jsonfile "$GUEST_DIR/config"
	mdevctl start -u "$A"
	attrs_of "$A" | tee "$GUEST_DIR/sysfs"
	(( $(wc -l <"$GUEST_DIR/sysfs") >= 4 ))
	grep -x vgpu/guarantee=600 "$GUEST_DIR/sysfs"
	mdevctl list --dumpjson -u "$A" | tee "$GUEST_DIR/json"
	diff "$GUEST_DIR/sysfs" <(json_attrs <"$GUEST_DIR/json")
	mdevctl list -v | tee "$GUEST_DIR/list"
	grep -F '{"vgpu/guarantee":"600"}' "$GUEST_DIR/list"
	grep -F '{"vgpu/frl":"30"}' "$GUEST_DIR/list"
	# A transient one, whose attributes were set by others.
	mdevctl undefine -u "$A"
	vgpuctl share set "$A" --guarantee 100 --cap 200
	mdevctl define -u "$A"
	mdevctl stop -u "$A"
	mdevctl start -u "$A"
	attrs_of "$A"
	[[ $(attr "$A" guarantee) == 100 && $(attr "$A" cap) == 200 && $(attr "$A" weight) == 7 ]]
	mdevctl stop -u "$A"
	undefine "$A"
}

# live_set WORD...: mdevctl gives the vGPU A these attributes while it is active.
live_set() {
	config SG16-4Q "$@" >"$GUEST_DIR/live"
	mdevctl modify --live -u "$A" --jsonfile "$GUEST_DIR/live"
}

# Several attributes are set at once: in any order, all or none.
test_callout_live() {
	tools_install
	undefine "$A"
	config SG16-4Q >"$GUEST_DIR/config"
	mdevctl start -u "$A" -p "$(gpu_name)" --jsonfile "$GUEST_DIR/config"
	live_set cap=100 guarantee=50
	[[ $(attr "$A" cap) == 100 && $(attr "$A" guarantee) == 50 ]]
	live_set guarantee=600 cap=700 frl=0x1e
	[[ $(attr "$A" cap) == 700 && $(attr "$A" guarantee) == 600 && $(attr "$A" frl) == 30 ]]
	live_set frl=default vga=1
	[[ $(attr "$A" frl) == default && $(attr "$A" cap) == 700 && $(attr "$A" vga) == 1 ]]
	live_set
	attrs_of "$A" >"$GUEST_DIR/before"
	refused 'weight 2000: must be 1..1000' live_set guarantee=100 weight=2000
	refused 'guarantee 800 per mille is above the cap, 700' live_set weight=3 guarantee=800
	refused 'no such attribute' live_set weight=3 colour=red
	mdev_create "$B" SG16-4Q
	refused 'per mille does not fit' live_set weight=3 guarantee=900 cap=1000
	mdev_remove "$B"
	jq '.mdev_type = "vgpu_soft-SG16-8Q"' "$GUEST_DIR/config" >"$GUEST_DIR/other"
	refused "cannot be changed" mdevctl modify --live -u "$A" --jsonfile "$GUEST_DIR/other"
	diff "$GUEST_DIR/before" <(attrs_of "$A")
	# The definition follows, but not if the vGPU could not.
	mdevctl define -u "$A"
	config SG16-4Q guarantee=300 >"$GUEST_DIR/live"
	mdevctl modify --live --defined -u "$A" --jsonfile "$GUEST_DIR/live"
	[[ $(attr "$A" guarantee) == 300 ]]
	mdevctl list -d -u "$A" --dumpjson | json_attrs | tee "$GUEST_DIR/defined"
	[[ $(<"$GUEST_DIR/defined") == vgpu/guarantee=300 ]]
	config SG16-4Q guarantee=2000 >"$GUEST_DIR/live"
	refused 'must be 0..1000' mdevctl modify --live --defined -u "$A" --jsonfile "$GUEST_DIR/live"
	diff "$GUEST_DIR/defined" <(mdevctl list -d -u "$A" --dumpjson | json_attrs)
	mdevctl stop -u "$A"
	undefine "$A"
}

# A guest works on while its share is changed. To stop its vGPU says who is waited for.
test_callout_live_in_use() {
	tools_install
	mdev_create "$A" SG16-4Q
	guest_start a "$A" load --seconds 600 --mib 4
	working a
	live_set guarantee=100 cap=500
	[[ $(attr "$A" guarantee) == 100 && $(attr "$A" cap) == 500 ]]
	# What counts when the vGPU is opened cannot be changed now, but given as it is.
	refused 'vgpu/vga: counts when the vGPU is opened' live_set cap=600 vga=1
	live_set cap=550 vga=0
	[[ $(attr "$A" vga) == 0 && $(attr "$A" cap) == 550 ]]
	mdevctl stop -u "$A" >"$GUEST_DIR/stop" 2>&1 &
	until_true 60 grep -E "$A: in use by process [0-9]+; waiting" "$GUEST_DIR/stop"
	vgpu_is "$A" started
	guest_kill a
	ends $!
	[[ ! -e /sys/bus/mdev/devices/$A ]]
}

# Definitions are checked when they are made, and again when they are to be used.
test_callout_refuses() {
	local gpu
	gpu=$(gpu_name)
	tools_install
	undefine "$A" "$B"
	mdevctl define -u "$A" -p "$gpu" -t vgpu_soft-SG16-4Q
	refused 'weight 2000: must be 1..1000' \
		mdevctl modify -u "$A" --addattr=vgpu/weight --value=2000
	refused '"vgpu/colour": a vGPU has no such attribute' \
		mdevctl modify -u "$A" --addattr=vgpu/colour --value=red
	refused '"vgpu/../../../../sys/power/state": a vGPU has no such' \
		mdevctl modify -u "$A" --addattr=vgpu/../../../../sys/power/state --value=mem
	refused '"remove": a vGPU has no such' mdevctl modify -u "$A" --addattr=remove --value=1
	refused '"1\x0a2" is not what it can be' \
		mdevctl modify -u "$A" --addattr=vgpu/weight --value=$'1\n2'
	# Its guarantee is 250 at first.
	refused 'guarantee 250 per mille is above the cap, 100' \
		mdevctl modify -u "$A" --addattr=vgpu/cap --value=100
	mdevctl modify -u "$A" --addattr=vgpu/guarantee --value=100
	mdevctl modify -u "$A" --addattr=vgpu/cap --value=100
	refused 'give them in another order' \
		mdevctl modify -u "$A" --addattr=vgpu/cap --value=90 --index=0
	mdevctl list -d -u "$A" --dumpjson | json_attrs | tee "$GUEST_DIR/defined"
	[[ $(tr '\n' ' ' <"$GUEST_DIR/defined") == 'vgpu/cap=100 vgpu/guarantee=100 ' ]]
	config SG16-4Q weight=0 >"$GUEST_DIR/config"
	refused 'weight 0: must be 1..1000' mdevctl define -u "$B" -p "$gpu" --jsonfile "$GUEST_DIR/config"
	[[ ! -e /etc/mdevctl.d/$gpu/$B ]]
	# A guarantee that does not fit beside the others: the vGPU is not even created.
	config SG16-2Q guarantee=700 >"$GUEST_DIR/config"
	mdevctl define -u "$B" -p "$gpu" --jsonfile "$GUEST_DIR/config"
	mdevctl start -u "$A"
	vgpuctl share set "$A" --cap 1000 --guarantee 400
	refused 'guarantee 700 per mille does not fit: 400 of 1000 are given to others' \
		mdevctl start -u "$B"
	vgpuctl share set "$A" --guarantee 300
	mdevctl start -u "$B"
	# mdevctl's own refusals are not commented.
	refused 'Device already exists' mdevctl start -u "$B"
	if grep -F 'refused by the driver' "$GUEST_DIR/said"; then
		fail "an old refusal"
	fi
	mdevctl stop -u "$A"
	mdevctl stop -u "$B"
	undefine "$A" "$B"
}

# What a vGPU begins with, and what fits beside it, is by its partition.
test_callout_partition() {
	local gpu c=${A//1/3}
	gpu=$(gpu_name)
	tools_install
	undefine "$A" "$B" "$c"
	# It has all of its partition, also of one that is not there yet.
	config SG16-2-4C cap=500 >"$GUEST_DIR/config"
	refused 'guarantee 1000 per mille is above the cap, 500' \
		mdevctl define -u "$A" -p "$gpu" --jsonfile "$GUEST_DIR/config"
	config SG16-2-4C guarantee=100 cap=500 >"$GUEST_DIR/config"
	mdevctl define -u "$A" -p "$gpu" --jsonfile "$GUEST_DIR/config"
	refused "there is no 2g on $gpu" mdevctl start -u "$A"
	divide 2g 3g
	refused "$gpu is divided, only types of partitions fit" \
		mdevctl start -u "$B" -p "$gpu" -t vgpu_soft-SG16-4Q
	mdevctl start -u "$A"
	[[ $(attr "$A" guarantee) == 100 && $(attr "$A" cap) == 500 ]]
	refused "0 of 4 GiB are free on $gpu." mdevctl start -u "$B" -p "$gpu" -t vgpu_soft-SG16-2-4C
	# Its neighbour in the other partition has all of that.
	mdevctl start -u "$B" -p "$gpu" -t vgpu_soft-SG16-3-4C
	vgpuctl share set "$B" --guarantee 1000
	refused 'guarantee 500 per mille does not fit: 1000 of 1000 are given to others' \
		mdevctl start -u "$c" -p "$gpu" -t vgpu_soft-SG16-3-4C
	vgpuctl share set "$B" --guarantee 400
	config SG16-3-4C guarantee=700 >"$GUEST_DIR/config"
	refused 'guarantee 700 per mille does not fit: 400 of 1000 are given to others' \
		mdevctl start -u "$c" -p "$gpu" --jsonfile "$GUEST_DIR/config"
	config SG16-3-4C guarantee=600 >"$GUEST_DIR/config"
	mdevctl start -u "$c" -p "$gpu" --jsonfile "$GUEST_DIR/config"
	[[ $(attr "$c" guarantee) == 600 ]]
	undefine "$A"
}

# callout EVENT ACTION UUID GPU [TYPE]: runs the call-out as mdevctl does.
callout() {
	"$CALLOUT" -t "${5-vgpu_soft-SG16-4Q}" -e "$1" -a "$2" -s none -u "$3" -p "$4"
}

# Whatever the call-out is given, it refuses, and changes nothing.
test_callout_input() {
	local gpu text event
	gpu=$(gpu_name)
	tools_install
	mdev_create "$A" SG16-4Q
	mdev_create "$B" SG16-4Q
	{ attrs_of "$A"; attrs_of "$B"; } >"$GUEST_DIR/before"
	for event in 'live modify' 'pre start'; do
		# shellcheck disable=SC2086
		while IFS= read -r text; do
			echo "$event: $text"
			refused 'its configuration ' callout $event "$A" "$gpu" <<<"$text"
		done <<-EOF

			no JSON
			[]
			{"mdev_type":"vgpu_soft-SG16-4Q","attrs":[{"vgpu/cap":"300"}]
			{"mdev_type":"vgpu_soft-SG16-4Q","attrs":[{"vgpu/cap":300}]}
			{"mdev_type":"vgpu_soft-SG16-4Q","attrs":[{"vgpu/cap":"300","vgpu/weight":"3"}]}
			{"mdev_type":"vgpu_soft-SG16-8Q","attrs":[{"vgpu/cap":"300"}]}
			{"attrs":[{"vgpu/cap":"300"}]}
			{"$B":{"mdev_type":"vgpu_soft-SG16-4Q","attrs":[{"vgpu/cap":"300"}]}}
		EOF
		# shellcheck disable=SC2086
		while IFS= read -r text; do
			echo "$event: $text"
			refused vgpu/ callout $event "$A" "$gpu" <<-EOF
				{"mdev_type":"vgpu_soft-SG16-4Q","attrs":[{"vgpu/weight":"3"},$text]}
			EOF
		done <<-EOF
			{"vgpu/cap\\n":"300"}
			{"vgpu/cap":"300\\n"}
			{"vgpu/cap":"300\\u000a1"}
			{"vgpu/cap":" 300"}
			{"vgpu/cap":"-1"}
			{"vgpu/cap":""}
			{"vgpu/cap":"99999999999999999999"}
			{"vgpu/./cap":"300"}
			{"vgpu/../vgpu/cap":"300"}
			{"../$B/vgpu/cap":"300"}
			{"/sys/bus/mdev/devices/$B/vgpu/cap":"300"}
			{"vgpu/":"300"}
			{"vgpu/state":"started"}
		EOF
	done
	config SG16-4Q cap=300 >"$GUEST_DIR/good"
	for text in '' x ../"$A" "$A/" "${A%?}" "${A}0" "${A%?}g" "{$A}" "$A"$'\n'; do
		refused 'not a UUID' callout live modify "$text" "$gpu" <"$GUEST_DIR/good"
		refused 'not a UUID' callout get attributes "$text" "$gpu" </dev/null
	done
	for text in '' . .. / "../$gpu" "$gpu/" "$gpu/../$gpu" "$gpu"$'\n'; do
		refused 'not the name of a GPU' callout live modify "$A" "$text" <"$GUEST_DIR/good"
		refused 'not the name of a GPU' callout get attributes "$A" "$text" </dev/null
	done
	refused 'not the name of a type' callout get attributes "$A" "$gpu" vgpu_soft-/../x </dev/null
	refused "is on $gpu, not on 0000:00:1f.7" callout live modify "$A" 0000:00:1f.7 <"$GUEST_DIR/good"
	refused 'is not a vgpu_soft-SG16-8Q' callout get attributes "$A" "$gpu" vgpu_soft-SG16-8Q </dev/null
	refused 'there is none' callout live modify "33${A#11}" "$gpu" <"$GUEST_DIR/good"
	refused 'not known' callout eat attributes "$A" "$gpu" <"$GUEST_DIR/good"
	refused usage "$CALLOUT"
	refused usage "$CALLOUT" -x
	diff "$GUEST_DIR/before" <(attrs_of "$A"; attrs_of "$B")
	[[ ! -s $GUEST_DIR/said ]] || cat "$GUEST_DIR/said"
	# The same with good input is done.
	callout live modify "$A" "$gpu" <"$GUEST_DIR/good"
	[[ $(attr "$A" cap) == 300 && $(attr "$B" cap) == 1000 ]]
}

# Types of others are not ours, whatever the driver of the GPU is.
test_callout_only_ours() {
	local gpu type status
	gpu=$(gpu_name)
	tools_install
	for type in mtty-1 nvidia-222 vgpu-SG16-4Q SG16-4Q vgpu_soft '' .. ../vgpu_soft-SG16-4Q; do
		status=0
		callout get attributes "$A" "$gpu" "$type" </dev/null || status=$?
		(( status == 2 )) || fail "$type: status $status"
	done
	callout get capabilities "$A" "$gpu" <<<'{"provides":{"version":1}}' |
		jq -e '.supports | .version == 1 and (.events | index("live") == null)'
	callout get capabilities "$A" "$gpu" <<<'{"provides":{"version":7}}' |
		jq -e '.supports | .version == 2 and (.events | index("live") != null)'
	refused 'what mdevctl provides' callout get capabilities "$A" "$gpu" <<<'{"provides":'
	# Without the driver definitions can be made and checked.
	undefine "$A"
	scripts/unload
	mdevctl define -u "$A" -p "$gpu" -t vgpu_soft-SG16-4Q
	refused 'weight 2000: must be' mdevctl modify -u "$A" --addattr=vgpu/weight --value=2000
	mdevctl modify -u "$A" --addattr=vgpu/weight --value=200
	scripts/load
	mdevctl start -u "$A"
	[[ $(attr "$A" weight) == 200 ]]
	mdevctl stop -u "$A"
	undefine "$A"
}
