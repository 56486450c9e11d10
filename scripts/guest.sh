# shellcheck shell=bash
# Guests: QEMU machines with a vGPU, started inside a lab machine. scripts/demo-inside and
# tests/e2e/run.sh source this file, from the checkout's root.
#
# A guest is judged by the end marker on its console, never by QEMU's status.

GUEST_KERNEL=build/lab/guest-small/bzImage
GUEST_INITRAMFS=build/guest/initramfs
GUEST_DIR=${GUEST_DIR:-/tmp/guests}
GUEST_MIB=128
# GUEST_DIR, which has QEMU's sockets and logs, is not in the checkout.
mkdir -p "$GUEST_DIR"
declare -A GUEST_PID=()
# Nothing is ever written there: to wait for it is to sleep, without a process.
[[ -p $GUEST_DIR/.nap ]] || mkfifo "$GUEST_DIR/.nap"
exec {GUEST_NAP}<>"$GUEST_DIR/.nap"

# guest_qemu NAME ARGUMENT...: starts a QEMU, GUEST_QEMU if it is set, with GUEST_CPUS processors.
# The guest's first serial port goes to NAME.log, its second one is for guest_tell.
guest_qemu() {
	local name=$1 file=$GUEST_DIR/$1
	shift
	: >"$file.log"
	rm -f "$file.qmp" "$file.tell"
	mkfifo "$file.tell"
	"${GUEST_QEMU:-qemu-system-x86_64}" -nodefaults -no-user-config -smp "${GUEST_CPUS:-1}" \
		-serial "file:$file.log" -serial "pipe:$file.tell" \
		-qmp "unix:$file.qmp,server=on,wait=off" \
		"$@" </dev/null >"$file.qemu" 2>&1 &
	GUEST_PID[$name]=$!
}

# On a busy host QEMU's timer may not tick for so long that a kernel gives up at its first look at
# it: guests are told not to look (no_timer_check).

# guest_start NAME UUID JOB [ARGUMENT...]: starts a guest that has the vGPU UUID and whose program
# does JOB. With GUEST_PLUG=port the vGPU is below a PCI Express port, with GUEST_PLUG=fixed it
# cannot be unplugged; with GUEST_IOMMU=iommufd QEMU takes it by its own device node and /dev/iommu
# instead of by its group and a container; GUEST_OPTIONS has more options of the device,
# GUEST_INCOMING where it waits for the state of another guest, GUEST_MEMORY a file that is its
# memory, GUEST_MACHINE a machine type, GUEST_BESIDE is a device in the slot before it, GUEST_DISK a
# file that the guest reads as its disk, GUEST_SWAP one that it may write, GUEST_SNAPSHOTS one for
# QEMU's snapshots, GUEST_APPEND more of the kernel's command line.
guest_start() {
	local name=$1 uuid=$2 machine=(-machine "${GUEST_MACHINE:-pc},accel=tcg") driver=vfio-pci bus=
	shift 2
	if [[ ${GUEST_IOMMU:-} == iommufd ]]; then
		machine+=(-object "iommufd,id=iommu")
		bus=,iommufd=iommu
	fi
	if [[ ${GUEST_PLUG:-} == port ]]; then
		machine=(-machine "q35,accel=tcg"
			-global "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"
			-device "pcie-root-port,id=slot1,chassis=1")
		bus+=,bus=slot1
	elif [[ ${GUEST_PLUG:-} == fixed ]]; then
		driver=vfio-pci-nohotplug
	fi
	if [[ ${GUEST_MEMORY:-} ]]; then
		machine+=(-object "memory-backend-file,id=memory,size=${GUEST_MIB}M,share=on,mem-path=$GUEST_MEMORY"
			-machine "memory-backend=memory")
	fi
	if [[ ${GUEST_INCOMING:-} ]]; then
		machine+=(-incoming "$GUEST_INCOMING")
	fi
	if [[ ${GUEST_DISK:-} ]]; then
		machine+=(-device "virtio-blk-pci,drive=disk"
			-drive "if=none,id=disk,file=$GUEST_DISK,format=raw,read-only=on,file.locking=off")
	fi
	if [[ ${GUEST_SWAP:-} ]]; then
		# What reads an image writes the guest's memory in any order. User Mode Linux has a
		# mapping of the host for each page then, if it has not found all of them before, in
		# order; and there are only so many (vm.max_map_count).
		machine+=(-mem-prealloc -device "virtio-blk-pci,drive=swap" -drive
			"if=none,id=swap,file=$GUEST_SWAP,format=raw,cache=unsafe,file.locking=off")
	fi
	if [[ ${GUEST_SNAPSHOTS:-} ]]; then
		machine+=(-drive "if=none,id=snapshots,file=$GUEST_SNAPSHOTS,format=qcow2")
	fi
	guest_qemu "$name" -display none -no-reboot "${machine[@]}" -m "$GUEST_MIB" \
		-kernel "$GUEST_KERNEL" -initrd "$GUEST_INITRAMFS" \
		-append "console=ttyS0 8250.nr_uarts=2 no_timer_check quiet panic=-1 reboot=t ${GUEST_APPEND:-} -- $*" \
		${GUEST_BESIDE:+-device "$GUEST_BESIDE"} \
		-device "$driver,id=vgpu,sysfsdev=/sys/bus/mdev/devices/$uuid$bus${GUEST_OPTIONS:-}"
}

# guest_tell NAME LINE: sends the guest's program a line. Opened for reading, too, as nobody else
# reads when QEMU has ended: to open the pipe would wait for ever.
guest_tell() {
	echo "$2" 1<>"$GUEST_DIR/$1.tell"
}

# guest_samples SECONDS NAME...: has guests whose job is compute --each MS repeat each sample at the
# same time, and prints how often in a second each guest could. No sample takes longer than SECONDS.
guest_samples() {
	local seconds=$1 sample name line
	shift
	for sample in mandelbrot sgemm blur sha256 reduce triad copy latency bandwidth; do
		for name; do
			guest_says "$name" "^guest: sample $sample: ready" "$seconds" || return
		done
		for name; do
			guest_tell "$name" begin
		done
		line=$(printf '%-10s' "$sample")
		for name; do
			guest_says "$name" "^guest: sample $sample: .*, right$" "$seconds" || return
			guest_answer "$name" "sample $sample:"
			[[ $ANSWER =~ \ ([0-9.]+)\ a\ second ]] || return
			line+=$(printf '  guest %s %8s a second' "$name" "${BASH_REMATCH[1]}")
		done
		echo "$line  right in each"
	done
}

# guest_qmp NAME ARGUMENT...: see scripts/guest-qmp.
guest_qmp() {
	scripts/guest-qmp "$GUEST_DIR/$1.qmp" "${@:2}"
}

# guest_nap: sleeps a bit, between two looks at a guest. Those who look often start no process: a
# kernel with KASAN takes as long for one as a guest for much of its work.
guest_nap() {
	read -rt 0.2 -u "$GUEST_NAP" || :
}

# guest_hear NAME: sets GUEST_SAID to the lines that the guest's program has said. QEMU writes them
# byte by byte: what has no end yet is no line, as a number in it may have more digits.
guest_hear() {
	local line lines
	GUEST_SAID=()
	mapfile lines <"$GUEST_DIR/$1.log"
	for line in "${lines[@]}"; do
		if [[ $line == *"guest: "*$'\n' ]]; then
			line=${line//[$'\r\n']/}
			GUEST_SAID+=("guest: ${line##*guest: }")
		fi
	done
}

# guest_heard NAME REGEX [TIMES]: succeeds if so many of these lines, at least one, match REGEX.
guest_heard() {
	local line nr=0
	guest_hear "$1"
	for line in "${GUEST_SAID[@]}"; do
		[[ ! $line =~ $2 ]] || nr=$((nr + 1))
	done
	(( nr >= ${3:-1} ))
}

# guest_log NAME: prints these lines.
guest_log() {
	guest_hear "$1"
	(( ! ${#GUEST_SAID[@]} )) || printf '%s\n' "${GUEST_SAID[@]}"
}

# guest_answer NAME WORD: sets ANSWER to what the guest has said last that begins with WORD.
guest_answer() {
	local line
	# shellcheck disable=SC2034 # the caller reads it
	ANSWER=
	guest_hear "$1"
	for line in "${GUEST_SAID[@]}"; do
		# shellcheck disable=SC2034
		[[ $line != "guest: $2 "* ]] || ANSWER=${line#"guest: $2 "}
	done
}

# guest_running NAME: succeeds while the guest's QEMU runs.
guest_running() {
	[[ -n ${GUEST_PID[$1]:-} ]] && kill -0 "${GUEST_PID[$1]}" 2>/dev/null
}

# guest_says NAME REGEX SECONDS: waits until the guest's program has said a line that matches REGEX.
guest_says() {
	local end=$((SECONDS + $3))
	until guest_heard "$1" "$2"; do
		if ! guest_running "$1" || (( SECONDS > end )); then
			guest_heard "$1" "$2"
			return
		fi
		guest_nap
	done
}

# guest_ended NAME SECONDS: waits until the guest's QEMU has ended; fails if it has not in that
# time.
guest_ended() {
	local end=$((SECONDS + $2))
	while guest_running "$1"; do
		(( SECONDS <= end )) || return 1
		guest_nap
	done
	wait "${GUEST_PID[$1]}" 2>/dev/null || :
	unset "GUEST_PID[$1]"
}

# guest_passed NAME SECONDS: waits for the guest's end; succeeds if its program says that all was
# well.
guest_passed() {
	guest_says "$1" '^guest: END ' "$2" || :
	guest_ended "$1" 20 || guest_kill "$1"
	guest_heard "$1" '^guest: END pass$'
}

# guest_kill NAME: ends the guest's QEMU if it runs.
guest_kill() {
	if [[ -n ${GUEST_PID[$1]:-} ]]; then
		kill -KILL "${GUEST_PID[$1]}" 2>/dev/null || :
		wait "${GUEST_PID[$1]}" 2>/dev/null || :
		unset "GUEST_PID[$1]"
	fi
}

# guest_where NAME: for a report of a guest that hangs: where its processor is (nm -n of
# build/lab/guest-small/vmlinux has the names), and where the threads of its QEMU are, if it runs.
guest_where() {
	local task
	guest_running "$1" || return 0
	for task in /proc/"${GUEST_PID[$1]}"/task/*; do
		echo "# $1 thread $(<"$task/comm"): $(sed 's/.*) //' "$task/stat" | cut -d ' ' -f 1,12,13)"
		sed "s/^/# $1 stack: /" "$task/stack" 2>/dev/null || :
	done
	for _ in 1 2 3 4 5; do
		timeout 60 scripts/guest-qmp "$GUEST_DIR/$1.qmp" \
			"do" human-monitor-command "command-line=info registers" |
			grep -oE '(RIP|RFL|HLT|RSP)=[^ \\]*' | tr '\n' ' ' | sed "s/^/# $1: /; s/\$/\n/" || :
		guest_nap
	done
}

# guest_dump NAME: prints what QEMU has said and the last lines of the console, for a report; and
# behind them what has failed, as that may be long before.
guest_dump() {
	guest_where "$1"
	sed "s/^/# $1 qemu: /" "$GUEST_DIR/$1.qemu"
	tr -d '\r' <"$GUEST_DIR/$1.log" | tail -n "${GUEST_TAIL:-25}" | sed "s/^/# $1: /"
	tr -d '\r' <"$GUEST_DIR/$1.log" | grep -aE '^guest: (not ok|FAILED|kernel: )' |
		tail -n 12 | sed "s/^/# $1: /" || :
}
