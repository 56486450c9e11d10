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

# guest_qemu NAME ARGUMENT...: starts a QEMU. The guest's first serial port goes to NAME.log, its
# second one is for guest_tell.
guest_qemu() {
	local name=$1 file=$GUEST_DIR/$1
	shift
	: >"$file.log"
	rm -f "$file.qmp" "$file.tell"
	mkfifo "$file.tell"
	qemu-system-x86_64 -nodefaults -no-user-config -smp 1 \
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
# instead of by its group and a container; GUEST_OPTIONS has more options of the device.
guest_start() {
	local name=$1 uuid=$2 machine=(-machine "pc,accel=tcg") driver=vfio-pci bus=
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
	guest_qemu "$name" -display none -no-reboot "${machine[@]}" -m "$GUEST_MIB" \
		-kernel "$GUEST_KERNEL" -initrd "$GUEST_INITRAMFS" \
		-append "console=ttyS0 8250.nr_uarts=2 no_timer_check quiet panic=-1 reboot=t -- $*" \
		-device "$driver,id=vgpu,sysfsdev=/sys/bus/mdev/devices/$uuid$bus${GUEST_OPTIONS:-}"
}

# guest_tell NAME LINE: sends the guest's program a line.
guest_tell() {
	echo "$2" >"$GUEST_DIR/$1.tell"
}

# guest_qmp NAME ARGUMENT...: see scripts/guest-qmp.
guest_qmp() {
	scripts/guest-qmp "$GUEST_DIR/$1.qmp" "${@:2}"
}

# guest_log NAME: prints what the guest's program has said.
guest_log() {
	tr -d '\r' <"$GUEST_DIR/$1.log" | sed -n 's/^.*guest: /guest: /p'
}

# guest_running NAME: succeeds while the guest's QEMU runs.
guest_running() {
	[[ -n ${GUEST_PID[$1]:-} ]] && kill -0 "${GUEST_PID[$1]}" 2>/dev/null
}

# guest_says NAME REGEX SECONDS: waits until the guest's program has said a line that matches REGEX.
guest_says() {
	local end=$((SECONDS + $3))
	until guest_log "$1" | grep -E "$2" >/dev/null; do
		if ! guest_running "$1" || (( SECONDS > end )); then
			guest_log "$1" | grep -E "$2" >/dev/null
			return
		fi
		sleep 0.1
	done
}

# guest_ended NAME SECONDS: waits until the guest's QEMU has ended; fails if it has not in that
# time.
guest_ended() {
	local end=$((SECONDS + $2))
	while guest_running "$1"; do
		(( SECONDS <= end )) || return 1
		sleep 0.1
	done
	wait "${GUEST_PID[$1]}" 2>/dev/null || :
	unset "GUEST_PID[$1]"
}

# guest_passed NAME SECONDS: waits for the guest's end; succeeds if its program says that all was
# well.
guest_passed() {
	guest_says "$1" '^guest: END ' "$2" || :
	guest_ended "$1" 20 || guest_kill "$1"
	guest_log "$1" | grep -x "guest: END pass" >/dev/null
}

# guest_kill NAME: ends the guest's QEMU if it runs.
guest_kill() {
	if [[ -n ${GUEST_PID[$1]:-} ]]; then
		kill -KILL "${GUEST_PID[$1]}" 2>/dev/null || :
		wait "${GUEST_PID[$1]}" 2>/dev/null || :
		unset "GUEST_PID[$1]"
	fi
}

# guest_dump NAME: prints what QEMU has said and the last lines of the console, for a report.
guest_dump() {
	sed "s/^/# $1 qemu: /" "$GUEST_DIR/$1.qemu"
	tr -d '\r' <"$GUEST_DIR/$1.log" | tail -n 25 | sed "s/^/# $1: /"
}
