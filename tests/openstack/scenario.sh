# shellcheck shell=bash
# What make openstack does with its two hosts; sourced by control.sh.

# compute METHOD PATH [BODY]: asks Nova's API, as an administrator; prints what it answers.
compute() {
	curl -sS --fail-with-body -X "$1" "http://127.0.0.1:8774/v2.1$2" -H 'X-Auth-Token: admin' \
		-H 'X-User-Id: admin' -H 'X-Project-Id: admin' -H 'X-Roles: admin,member,reader' \
		-H 'OpenStack-API-Version: compute 2.90' -H 'Content-Type: application/json' \
		${3:+-d "$3"}
}

# placed PATH: asks Placement.
placed() {
	curl -sS --fail-with-body "http://127.0.0.1:8778$1" -H 'X-Auth-Token: admin' \
		-H 'OpenStack-API-Version: placement 1.36'
}

# image NAME FILE PROPERTIES: uploads FILE, and prints the image's id. PROPERTIES are the inside of
# a JSON object.
image() {
	local id
	id=$(curl -sS --fail-with-body http://127.0.0.1:9292/v2/images -H 'Content-Type: application/json' \
		-d "{\"name\": \"$1\", $3}" | jq -er .id)
	curl -sS --fail-with-body -X PUT "http://127.0.0.1:9292/v2/images/$id/file" \
		-H 'Content-Type: application/octet-stream' --data-binary "@$2"
	echo "$id"
}

# providers: prints a line "NAME TOTAL USED" for each GPU of which Placement knows: its resource
# provider, how many vGPUs it has and how many of these are taken.
providers() {
	local id name total used
	placed /resource_providers | jq -r '.resource_providers[] | "\(.uuid) \(.name)"' |
		while read -r id name; do
		total=$(placed "/resource_providers/$id/inventories" | jq '.inventories.VGPU.total // empty')
		[[ -n $total ]] || continue
		used=$(placed "/resource_providers/$id/usages" | jq '.usages.VGPU // 0')
		echo "$name $total $used"
	done | sort
}

# candidates: prints how many GPUs Placement would give one vGPU of.
candidates() {
	placed '/allocation_candidates?resources=VGPU:1' | jq '.allocation_requests | length'
}

gpus_known() { [[ $(providers | wc -l) == "$1" ]]; }

# hosts_up N: whether N hosts are up, and in Nova's cell.
hosts_up() {
	[[ $(compute GET /os-hypervisors | jq '[.hypervisors[] | select(.state == "up")] | length') == "$1" ]]
}

# server NAME: asks for a virtual machine, and prints its id.
server() {
	compute POST /servers "{\"server\": {\"name\": \"$1\", \"imageRef\": \"$IMAGE_ID\",
		\"flavorRef\": \"$FLAVOR_ID\", \"networks\": \"none\"}}" | jq -er .server.id
}

# states: prints a line "NAME STATUS HOST" for each server.
states() {
	compute GET /servers/detail |
		jq -r '.servers[] | "\(.name) \(.status) \(."OS-EXT-SRV-ATTR:host" // "-")"' | sort
}

# settled N: N servers are ACTIVE or in ERROR.
settled() {
	local now
	now=$(states)
	if [[ $now != "${SEEN:-}" ]]; then
		SEEN=$now
		note "$(tr '\n' ';' <<<"$now")" >&3
	fi
	(( $(grep -cE ' (ACTIVE|ERROR) ' <<<"$now") == $1 ))
}

gone() { [[ -z $(states) ]]; }

fail() {
	echo "openstack: $*; logs: $DIR"
	exit 1
}

# ask HOST...: asks each HOST for another view of itself; VIEW is its number.
VIEW=0
ask() {
	local host
	VIEW=$((VIEW + 1))
	: >"$DIR/view.$VIEW"
	for host; do
		until_done 600 "view of $host" test -e "$DIR/$host.view.$VIEW"
	done
}

# working N HOST...: asks until N guests on HOSTs say on their consoles that they work with their
# vGPUs.
working() {
	local n=$1 end=$((SECONDS + 1800)) now=0
	shift
	while (( now != n )); do
		(( SECONDS < end )) || fail "only $now of $n guests work with their vGPUs"
		sleep 5
		ask "$@"
		now=$(cat "$DIR"/*.view."$VIEW" | grep -c '^console .*: 1$' || :)
	done
}

# compare HOST...: shows the newest views, and Placement's beside them. What a host's libvirt, its
# driver and Placement count must be one number.
compare() {
	local host name total used what
	for host; do
		echo "--- $host"
		sed 's/^/    /' "$DIR/$host.view.$VIEW"
	done
	echo "--- Placement: GPU, vGPUs, of these taken"
	providers | sed 's/^/    /'
	while read -r name total used; do
		host=${name%%_*}
		for what in running started; do
			[[ $(sed -n "s/^$what //p" "$DIR/$host.view.$VIEW") == "$used" ]] ||
				fail "Placement has $used of $total on $name, but of its own $host says: $(grep "^$what" "$DIR/$host.view.$VIEW")"
		done
	done < <(providers)
}

# act ID ACTION: has Nova do ACTION, the inside of a JSON object, to the server.
act() { compute POST "/servers/$1/action" "{$2}"; }

# server_on HOST: prints the id of a server on HOST.
server_on() {
	compute GET /servers/detail | jq -er --arg host "$1" \
		'[.servers[] | select(."OS-EXT-SRV-ATTR:host" == $host)][0].id'
}

# server_is ID STATUS HOST: whether the server has STATUS, and is on HOST.
server_is() {
	[[ $(compute GET "/servers/$1" | jq -r '.server | "\(.status) \(."OS-EXT-SRV-ATTR:host")
		\(."OS-EXT-STS:task_state")"' | xargs) == "$2 $3 null" ]]
}

# migration ID: prints how the newest migration of the server stands.
migration() {
	compute GET "/os-migrations?instance_uuid=$1" | jq -r '.migrations | max_by(.id) | .status'
}

migration_ended() { [[ $(migration "$1") =~ ^(completed|error|failed|cancelled)$ ]]; }

# said HOST WHAT: prints what HOST's newest view says of WHAT.
said() { sed -n "s/^$2 //p" "$DIR/$1.view.$VIEW"; }

gone_from() { ! compute GET "/servers/$1"; }

# all_at_work HOST: whether each vGPU that is in use there does packets.
all_at_work() {
	ask "$1"
	(( $(said "$1" 'at work') == $(said "$1" started) ))
}

# move HOST...: a place for a vGPU on MOVE_TO becomes free, and a server of another host moves
# there. It is paused on the way: an emulated processor may lose what it writes while its memory is
# copied (migration.rst). Its vGPU has work under way, and goes on with that.
move() {
	local host id began
	for host; do
		[[ $host == "$MOVE_TO" ]] || break
	done
	id=$(server_on "$MOVE_TO")
	compute DELETE "/servers/$id"
	until_done 300 "deletion of a server" gone_from "$id"
	id=$(server_on "$host")
	until_done 900 "work on $host" all_at_work "$host"
	act "$id" '"pause": null'
	until_done 300 "server that is paused" server_is "$id" PAUSED "$host"
	began=$EPOCHSECONDS
	act "$id" '"os-migrateLive": {"host": null, "block_migration": "auto"}'
	until_done 900 "end of the move from $host to $MOVE_TO" migration_ended "$id"
	[[ $(migration "$id") == completed ]] || fail "the server did not move: $(migration "$id"), see nova-compute's logs"
	until_done 300 "server of $host on $MOVE_TO" server_is "$id" PAUSED "$MOVE_TO"
	note "a server has moved from $host to $MOVE_TO in $((EPOCHSECONDS - began)) s"
	compute GET "/os-migrations?instance_uuid=$id" | jq '.migrations | max_by(.id)'
	act "$id" '"unpause": null'
	until_done 300 "server that runs again" server_is "$id" ACTIVE "$MOVE_TO"
	until_done 900 "work of the vGPU that has moved" all_at_work "$MOVE_TO"
	ask "$@"
	compare "$@"
}

# scenario HOST...: two servers for each HOST, one too many, and none.
scenario() {
	local hosts=("$@") kernel ramdisk id n wanted=$(( 2 * $# )) ids=() began booted line
	local -r working_guest='load --seconds 3600 --load 5 --mib 4'

	kernel=$(image kernel build/lab/guest-small/bzImage '"disk_format": "aki", "container_format": "aki"')
	ramdisk=$(image ramdisk build/guest/initramfs '"disk_format": "ari", "container_format": "ari"')
	truncate -s 1M /tmp/disk
	IMAGE_ID=$(image guest /tmp/disk "\"disk_format\": \"raw\", \"container_format\": \"bare\",
		\"kernel_id\": \"$kernel\", \"ramdisk_id\": \"$ramdisk\", \"os_command_line\":
		\"console=ttyS0 no_timer_check quiet panic=-1 reboot=t -- $working_guest\"")
	FLAVOR_ID=$(compute POST /flavors '{"flavor": {"name": "vgpu", "ram": 192, "vcpus": 1,
		"disk": 0}}' | jq -er .flavor.id)
	compute POST "/flavors/$FLAVOR_ID/os-extra_specs" '{"extra_specs": {"resources:VGPU": "1"}}' \
		>/dev/null

	until_done 1500 "${hosts[*]} up" hosts_up $#
	until_done 300 "inventory of VGPU of each host" gpus_known $#
	booted=$(( EPOCHSECONDS - $(<"$DIR/start") ))
	note "Nova has $# hosts, each with a GPU:"
	providers | sed 's/^/    /'
	[[ $(providers | awk '{ total += $2 } END { print total + 0 }') == "$wanted" ]] ||
		fail "the inventories of $TYPE are not $wanted in all"

	began=$EPOCHSECONDS
	for (( n = 1; n <= wanted; n++ )); do
		ids+=("$(server "vm$n")")
	done
	exec 3>&1
	until_done 1500 "$wanted servers" settled "$wanted"
	[[ $(states | grep -c ' ACTIVE ') == "$wanted" ]] || fail "not all are ACTIVE: $(states)"
	line="seconds from boot to $wanted ACTIVE: $(( EPOCHSECONDS - $(<"$DIR/start") )) ($booted until all hosts were known, $(( EPOCHSECONDS - began )) for the $wanted servers)"
	note "$line"
	jq -n --argjson boot "$(( EPOCHSECONDS - $(<"$DIR/start") ))" --argjson hosts "$booted" \
		--argjson servers "$(( EPOCHSECONDS - began ))" \
		'{boot_to_active_s: $boot, boot_to_hosts_s: $hosts, servers_s: $servers}' >"$DIR/result.json"

	# The fifth finds all taken.
	[[ $(candidates) == 0 ]] || fail "all are taken, and Placement has $(candidates) candidates"
	id=$(server vm_too_many)
	ids+=("$id")
	until_done 300 "answer to one server too many" settled $((wanted + 1))
	compute GET "/servers/$id" | jq -r '.server | "\(.status): \(.fault.message)"' | tee "$DIR/fault"
	grep -qi '^ERROR: no valid host' "$DIR/fault" || fail "one server too many was not refused"
	grep -qi 'no allocation candidates' "$LOGS/nova-scheduler.log" ||
		fail "the scheduler does not say that there were no candidates"
	note "one server more is refused: Placement has no candidates"

	working "$wanted" "${hosts[@]}"
	note "each of the $wanted guests works with its vGPU"
	compare "${hosts[@]}"
	(( $# < 2 )) || move "${hosts[@]}"
	for id in $(compute GET /servers/detail | jq -r '.servers[].id'); do
		compute DELETE "/servers/$id"
	done
	until_done 600 "deletion of all servers" gone
	[[ $(providers | awk '{ used += $3 } END { print used + 0 }') == 0 ]] ||
		fail "Placement still counts vGPUs as taken: $(providers)"
	[[ $(candidates) == "$#" ]] || fail "after deletion Placement has $(candidates) candidates"
	note "all servers are deleted, and Placement has all vGPUs back"
	ask "${hosts[@]}"
	compare "${hosts[@]}"
	echo "$line"
}
