# shellcheck shell=bash
# Lab machines: the commands run and shell of scripts/lab, which sources this file.

# Patterns of the lines in a kernel's log that make a run fail.
REPORTS='BUG:|BUG kmalloc|kernel BUG at|Oops|Kernel panic|WARNING:|cut here \]|general protection fault'
REPORTS+='|KASAN|UBSAN|KCSAN|refcount_t|ODEBUG|unreferenced object|[1-9][0-9]* new suspected memory leaks'
REPORTS+='|possible (recursive|circular|irq lock inversion)|inconsistent lock state|suspicious RCU|DEBUG_LOCKS_WARN_ON'
REPORTS+='|trying to register non-static key|lock held when returning|sleeping function called|scheduling while atomic'
REPORTS+='|rcu.*(detected stall|self-detected stall|stalls on)|soft lockup|hard LOCKUP|blocked for more than'
REPORTS+='|list_(add|del) corruption|Bad page (state|map)|page dumped because|Segfault with no mm|Kernel mode fault'
REPORTS+='|unable to handle|stack-protector|double fault|nobody cared|Objects remaining in|still has objects'

usage_run() {
	cat <<-'EOF'
	Usage: scripts/lab run [OPTION...] [--] COMMAND [ARGUMENT...]
	       scripts/lab shell [OPTION...] [--] [COMMAND [ARGUMENT...]]

	Boots a fresh machine and runs COMMAND in it as root, in this directory.
	Only files in the checkout persist. No module of this project is loaded.

	  --kernel NAME        stock (default), stock-rt, sid, uml, uml-debug or uml-kobject
	  --timeout SECONDS    end the machine after that time (default 600; shell: none)
	  --cpus N             processors (default 2; uml has one)
	  --mem MIB            memory (default 2048)
	  --packages FILE      the image has the Debian packages that FILE lists, too; made
	                       once per list
	  --net[=host]         a network interface, eth0 at 10.0.2.15, from which nothing can
	                       be reached; with =host all that this host reaches, and the
	                       host's own ports on 127.0.0.1 at 10.0.2.2 (not uml)
	  --forward PORT:PORT  the host's 127.0.0.1:PORT leads to the second PORT of the
	                       machine (with --net; may be repeated)
	  --icount[=SHIFT]     time in the machine counts its instructions, 2^SHIFT ns each
	                       (3: 8 ns): a busy host changes no figure (stock only; such
	                       a second takes 2 to 10 s of this host, with a smaller
	                       SHIFT more: give a longer --timeout)
	  --hostname NAME      the machine's host name (default lab)
	  --iommu              with an IOMMU, and the kernel uses it: /sys/class/iommu has
	                       it, PCI devices have groups (stock and stock-rt only)
	  --append ARGUMENTS   added to the kernel's command line (may be repeated)
	  --env NAME[=VALUE]   set in COMMAND's environment (may be repeated)
	  --kmemleak           scan for leaks at the end (uml-debug; 7 s; or LAB_KMEMLEAK=1)
	  --allow-reports      reports of the kernel do not make the run fail
	  --verbose            say where the logs are

	Exit status: COMMAND's own; 99 if the kernel reported a bug (whatever COMMAND
	said), 98 if the machine died before COMMAND ended, 124 if time ran out, 97 if
	the lab itself failed.
	EOF
}

lab_run() {
	local interactive=$1 kernel=stock timeout=600 cpus=2 mem=2048 append=() envs=() verbose=''
	local icount='' allow='' kmemleak=${LAB_KMEMLEAK:-} hostname=lab iommu='' net='' forwards=()
	local console rc pid name fd died='' reports start late rows columns ended
	shift
	[[ -z $interactive ]] || timeout=
	while (( $# )); do
		case $1 in
		--kernel) kernel=${2:?} ;;
		--timeout) timeout=${2:?} ;;
		--cpus) cpus=${2:?} ;;
		--mem) mem=${2:?} ;;
		--append) append+=("${2:?}") ;;
		--env) envs+=("${2:?}") ;;
		--hostname) hostname=${2:?} ;;
		--iommu) iommu=1; shift; continue ;;
		--packages) packages_from "${2:?}" ;;
		--forward) forwards+=("${2:?}") ;;
		--net) net=none; shift; continue ;;
		--net=*) net=${1#*=}; shift; continue ;;
		--kmemleak) kmemleak=1; shift; continue ;;
		--icount) icount=3; shift; continue ;;
		--icount=*) icount=${1#*=}; shift; continue ;;
		--allow-reports) allow=1; shift; continue ;;
		--verbose) verbose=1; shift; continue ;;
		--kernel=*|--timeout=*|--cpus=*|--mem=*|--append=*|--env=*|--hostname=*|\
		--packages=*|--forward=*)
			name=$1
			shift
			set -- "${name%%=*}" "${name#*=}" "$@"
			continue ;;
		-h|--help) usage_run; return 0 ;;
		--) shift; break ;;
		-*) die "no option '$1'; see scripts/lab run --help" ;;
		*) break ;;
		esac
		shift 2
	done
	if (( ! $# )); then
		[[ -n $interactive ]] || die "no command; see scripts/lab run --help"
		set -- bash -i
	fi
	[[ $timeout =~ ^[0-9]*$ && $cpus =~ ^[0-9]+$ && $mem =~ ^[0-9]+$ ]] || die "not a number"
	case $kernel in
	stock|stock-rt|sid|uml|uml-debug|uml-kobject) ;;
	*) die "no machine '$kernel'; there are stock, stock-rt, sid, uml, uml-debug and uml-kobject" ;;
	esac
	[[ $icount =~ ^[0-9]?$ ]] || die "--icount=$icount: 0 to 9"
	[[ -z $icount || $kernel != uml* ]] ||
		die "--icount: instructions are counted in emulated machines (stock); $kernel runs natively"
	[[ -z $iommu || $kernel != uml* ]] ||
		die "--iommu: an emulated machine (stock) can have one; $kernel has no hardware at all"
	[[ $hostname =~ ^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$ ]] ||
		die "--hostname $hostname: must be 1 to 63 letters, digits and inner hyphens"
	check_net
	need_root
	need_kernel "$kernel"

	# The run's directory, by which this script and the machine exchange files.
	mkdir -p "$CHECKOUT/build/lab-logs"
	RUN=$(mktemp -d "$CHECKOUT/build/lab-logs/$(date +%m%d-%H%M%S)-$kernel-XXXX") || die "cannot write to build/"
	chmod 755 "$RUN"
	case $PWD/ in
	"$CHECKOUT"/*) name=$PWD ;;
	*) name=$CHECKOUT ;;
	esac
	{
		for fd in "${envs[@]}" CI TERM COLUMNS LINES; do
			if [[ $fd == *=* ]]; then
				printf 'export %s=%q\n' "${fd%%=*}" "${fd#*=}"
			elif [[ -v $fd ]]; then
				printf 'export %s=%q\n' "$fd" "${!fd}"
			fi
		done
		printf 'export LAB_KERNEL=%q LAB_ICOUNT=%q LAB_CHECKOUT=%q\n' "$kernel" "$icount" "$CHECKOUT"
		if [[ -n $interactive && -t 0 ]]; then
			read -r rows columns < <(stty size)
			printf 'stty sane rows %d cols %d\n' "$rows" "$columns"
		fi
		printf 'cd -- %q || exit 97\nexec' "$name"
		printf ' %q' "$@"
		echo
	} >"$RUN/job"
	[[ ! /proc/self/fd/1 -ef /proc/self/fd/2 ]] || : >"$RUN/merge"
	[[ -z $interactive ]] || : >"$RUN/interactive"
	[[ -z $kmemleak ]] || : >"$RUN/kmemleak.wanted"
	[[ -z $timeout ]] || echo "$timeout" >"$RUN/timeout"
	echo "$hostname" >"$RUN/hostname"
	[[ -z $net ]] || echo "$net" >"$RUN/net"
	: >"$RUN/stdout"
	: >"$RUN/stderr"
	console=$RUN/console.log

	machine_start
	if ! machine_boots; then
		if kill -0 "$pid" 2>/dev/null; then
			say "the machine ($kernel) has not come to its command in $BOOT_S s; it is started once more"
			kill -KILL "$pid" 2>/dev/null
			wait "$pid" 2>/dev/null
		else
			wait "$pid" 2>/dev/null
			say "the machine ($kernel) died with status $? before it came to its command; it is started once more"
			tail -qn 20 "$RUN/qemu.log" "$console" >&2 2>/dev/null
		fi
		CHILDREN=()
		[[ ! -e $console ]] || mv "$console" "$console.first"
		machine_start
	fi
	if [[ -z $interactive ]]; then
		tail --pid="$pid" -s 0.02 -c +1 -f "$RUN/stdout" & TAILS=($!)
		tail --pid="$pid" -s 0.02 -c +1 -f "$RUN/stderr" >&2 & TAILS+=($!)
		CHILDREN+=("${TAILS[@]}")
	fi

	# The last thing that the machine writes is the job's status. The exit status of QEMU or
	# User Mode Linux says nothing about it.
	start=$EPOCHSECONDS late=''
	exec {fd}<> <(:)
	while [[ ! -s $RUN/status ]]; do
		if ! kill -0 "$pid" 2>/dev/null; then
			[[ -s $RUN/status ]] || died=1
			break
		fi
		if [[ -n $timeout ]] && (( EPOCHSECONDS - start >= timeout )); then
			late=1
			break
		fi
		read -r -t 0.02 -u "$fd"
	done
	exec {fd}>&-
	[[ -z ${LAB_SPENT:-} ]] || machine_spent >>"$LAB_SPENT"
	kill -KILL "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	ended=$?
	[[ -n $interactive ]] || wait "${TAILS[@]}" 2>/dev/null
	CHILDREN=()
	tty_back

	reports=$(print_reports 1)
	reports+=$(head -n 1 "$RUN/kmemleak" 2>/dev/null)
	rc=0
	if [[ -n $died$late ]]; then
		rc=98
		[[ -z $late ]] || rc=124
	else
		rc=$(<"$RUN/status")
	fi
	if [[ -n $reports && -z $allow ]]; then
		say "the kernel ($kernel) reported:"
		print_reports 100 >&2
		[[ -n $died ]] && say "the machine died before the command ended"
		[[ -n $late ]] && say "time ran out after $timeout s"
		[[ -n $died$late ]] || say "the command's own status was $rc"
		rc=99
	elif [[ -n $died ]]; then
		say "the machine ($kernel) died with status $ended before the command ended; its last words:"
		tail -qn 20 "$RUN/qemu.log" "$console" >&2 2>/dev/null
	elif [[ -n $late ]]; then
		say "time ran out after $timeout s; the kernel's last words:"
		tail -n 40 "$console" >&2
	fi
	if [[ $rc != 0 || -n $verbose ]]; then
		say "status $rc; logs: ${RUN#"$CHECKOUT"/}"
	fi
	logs_prune
	return "$rc"
}

# check_net: judges --net and --forward.
check_net() {
	local forward from to
	case $net in
	''|none|host) ;;
	*) die "--net=$net: --net alone, or --net=host" ;;
	esac
	[[ -z $net || $kernel != uml* ]] ||
		die "--net: $kernel has no IP, and User Mode Linux's network (vector) needs a tap device, a raw socket or a helper on this host; take stock, stock-rt or sid"
	[[ -n $net || ${#forwards[@]} == 0 ]] || die "--forward needs --net"
	for forward in "${forwards[@]}"; do
		from=${forward%:*} to=${forward#*:}
		[[ $forward =~ ^[1-9][0-9]{0,4}:[1-9][0-9]{0,4}$ ]] &&
			(( from < 65536 && to < 65536 )) ||
			die "--forward $forward: two ports, PORT:PORT, each from 1 to 65535"
	done
}

# A kernel that QEMU emulates on a busy host can lose a processor's timer for ever while it boots
# (its console says that rcu_preempt starves on an idle processor). Booting takes some 10 s.
BOOT_S=150

# Starts the machine; sets pid.
machine_start() {
	case $kernel in
	stock|stock-rt|sid) machine_stock ;;
	*) machine_uml ;;
	esac
	pid=$!
	CHILDREN+=("$pid")
}

# Waits for the command's start. Returns false if it is too late, or the machine has died before.
machine_boots() {
	local start=$EPOCHSECONDS
	while [[ ! -e $RUN/started ]]; do
		kill -0 "$pid" 2>/dev/null || { [[ -e $RUN/started ]]; return; }
		(( EPOCHSECONDS - start < BOOT_S )) || return
		sleep 0.05
	done
}

# Prints how many seconds of processor time the machine has taken so far, for LAB_SPENT: it is
# killed with its namespace, so no parent gets to know.
machine_spent() {
	cat /proc/[0-9]*/stat 2>/dev/null | awk -v root="$pid" -v hz="$(getconf CLK_TCK)" '
		{ id = $1; sub(/^.*\) /, ""); parent[id] = $2; ticks[id] = $12 + $13 + $14 + $15 }
		END {
			for (id in ticks) {
				for (up = id; up > 1 && up != root; up = parent[up])
					;
				if (up == root)
					n += ticks[id]
			}
			printf "%.1f\n", n / hz
		}'
}

# Patterns of lines that look like reports and are none.
NOT_REPORTS='FAULT_INJECTION|unable to open an initial console'

# print_reports LINES: prints at most LINES lines of the kernel's log from the first report on that
# came after the job's start. The log is that which the machine has written at its end or, if the
# machine died, its console.
print_reports() {
	local log
	for log in "$RUN/dmesg" "$console"; do
		[[ -s $log ]] || continue
		tr -d '\r\0' <"$log" | awk -v re="$REPORTS" -v no="$NOT_REPORTS" -v max="$1" '
			/lab: the job starts/ { n = on = 0; split("", line); next }
			!on && $0 ~ re && $0 !~ no { on = 1 }
			on && n < max { line[n++] = $0 }
			END { for (i = 0; i < n; i++) print line[i]; exit !n }' && break
	done
	if (( $1 > 1 )) && [[ -s $RUN/kmemleak ]]; then
		head -n 200 "$RUN/kmemleak"
	fi
}

# Removes the directories of all runs but the newest 100.
logs_prune() {
	local old
	find "$CHECKOUT/build/lab-logs" -mindepth 1 -maxdepth 1 -type d -printf '%T@ %p\n' |
		sort -rn | tail -n +101 | while read -r _ old; do
		rm -rf "$old"
	done
}

# Sets CPU to a processor that no other machine is pinned to, or to any if there is none. Pinned to
# one processor, User Mode Linux is 4 times faster.
pick_cpu() {
	local cpu list=() part fd
	IFS=, read -ra part <<<"$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)"
	for cpu in "${part[@]}"; do
		for (( ; ${cpu%-*} <= ${cpu#*-}; )); do
			list=("${cpu%-*}" "${list[@]}")
			cpu=$((${cpu%-*} + 1))-${cpu#*-}
		done
	done
	mkdir -p "$CACHE/lock"
	for cpu in "${list[@]}"; do
		exec {fd}>"$CACHE/lock/cpu$cpu"
		if flock -n "$fd"; then
			CPU=$cpu
			return
		fi
		exec {fd}>&-
	done
	CPU=${list[RANDOM % ${#list[@]}]}
}

machine_uml() {
	local args con=('con=null' 'con0=null,fd:2' 'console=tty0')
	pick_cpu
	# Nobody asks for leaks, so no allocation is to be kept in mind.
	[[ $kernel == uml || -n $kmemleak ]] || append+=('kmemleak=off')
	if [[ -n $interactive ]]; then
		con+=('con1=fd:0,fd:1')
	fi
	args=("$K_IMAGE" "mem=${mem}M" root=none rootfstype=hostfs rootflags=/ ro quiet panic=-1
		"umid=lab$$" uml_dir=/tmp/ "${con[@]}" "${append[@]}"
		"init=/bin/bash" -- "$LAB_D/init" "$RUN")
	take_input "$interactive"
	enter_exec LAB_BIND="$CHECKOUT" LAB_BIND_RO="$K_DIR" LAB_MODULES="$K_MODULES" LAB_CWD=/ -- \
		taskset -c "$CPU" "${args[@]}" <&"$IN" 2>>"$console" >&1 &
}

# Prints the directory in the cache of what a stock machine boots: its kernel, and an initramfs that
# has a program (boot.c) and the modules to mount the image's disk and the checkout.
boot_dir() {
	echo "$CACHE/boot-$(cat "$LAB_D"/{boot.sh,boot.c,unwrap} - <<<"$IMAGE $K_REL" | hash_of)"
}

boot_make() {
	local tmp=$CACHE/tmp.boot.$BASHPID
	[[ -e $BOOT/initrd ]] && return
	rm -rf "$CACHE"/tmp.boot.*
	mkdir -p "$tmp"
	step "initramfs" "$CACHE/log/boot.log" \
		enter LAB_BIND="$tmp" LAB_BIND_RO="$LAB_D" -- bash "$LAB_D/boot.sh" "$tmp" "$K_REL" || return
	mv "$tmp" "$BOOT"
}

machine_stock() {
	local args accel con=() unit=() nic=() netdev forward
	# A model that is faster than "max" under TCG, without the features that TCG does not have.
	accel=(-accel 'tcg,thread=multi'
		-cpu 'EPYC,-fxsr-opt,-misalignsse,-osvw,-topoext,-nrip-save,-xsavec')
	BOOT=$(boot_dir)
	[[ -e $BOOT/initrd ]] || with_lock boot boot_make || exit 97
	# QEMU executes all processors in turns in one thread, and clocks count instructions:
	# whatever else this host does, a figure that is measured in the machine stays the same.
	if [[ -n $icount ]]; then
		accel=(-accel tcg -icount "shift=$icount,sleep=off"
			-rtc 'base=2026-01-01,clock=vm' "${accel[@]:2}")
	# /dev/kvm can also be there without a KVM that runs a stock kernel; the module shows that
	# it does.
	elif [[ -w /dev/kvm ]] && grep -qE '^kvm_(intel|amd) ' /proc/modules 2>/dev/null; then
		accel=(-accel kvm -cpu host)
	fi
	if [[ -n $interactive ]]; then
		con=(-chardev 'stdio,id=tty,signal=off' -device 'virtconsole,chardev=tty')
	fi
	# The IOMMU comes before the devices it is for.
	if [[ -n $iommu ]]; then
		unit=(-device intel-iommu)
		append+=('intel_iommu=on')
	fi
	if [[ -n $net ]]; then
		# The interface keeps its name when udev starts.
		append+=(net.ifnames=0)
		netdev=user,id=net
		[[ $net == host ]] || netdev+=,restrict=on
		for forward in "${forwards[@]}"; do
			netdev+=,hostfwd=tcp:127.0.0.1:${forward%:*}-:${forward#*:}
		done
		nic=(-netdev "$netdev" -device 'virtio-net-pci,netdev=net,romfile=')
	fi
	# shellcheck disable=SC2054 # QEMU's commas
	args=(qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot
		-machine q35 "${accel[@]}" "${unit[@]}" -smp "$cpus" -m "$mem"
		-kernel "$BOOT/kernel" -initrd "$BOOT/initrd"
		-append "console=ttyS0 quiet mitigations=off no_timer_check panic=-1 oops=panic lab.run=$RUN lab.checkout=$CHECKOUT ${append[*]}"
		-serial "file:$console"
		-drive "if=none,id=disk,file=$IMAGE/disk.ext4,format=raw,read-only=on,file.locking=off,cache=unsafe"
		-device virtio-blk-pci,drive=disk
		-fsdev "local,id=checkout,path=$CHECKOUT,security_model=none,multidevs=remap"
		-device virtio-9p-pci,fsdev=checkout,mount_tag=checkout
		-fsdev "local,id=run,path=$RUN,security_model=none"
		-device virtio-9p-pci,fsdev=run,mount_tag=run
		-device virtio-serial-pci "${con[@]}"
		"${nic[@]}"
		-object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng)
	take_input "$interactive"
	enter_exec LAB_BIND="$CHECKOUT" LAB_BIND_RO="$IMAGE"$'\n'"$BOOT" \
		LAB_RESOLV="$([[ $net != host ]] || readlink -f /etc/resolv.conf)" -- \
		"${args[@]}" <&"$IN" 2>>"$RUN/qemu.log" &
}
