# shellcheck shell=bash
# Guests with Debian's kernel, udev and user space, and what programs of an ordinary user and tools
# do there (tests/e2e/debian/usage.sh); scripts/demo-debian and tests/e2e/debian.sh source this
# file, after scripts/guest.sh.

declare -A USAGE_NR=()

# debian_start NAME UUID [systemd] [TEST...]: starts a guest with the vGPU that does these tests, or
# those of tests/e2e/debian/job. DEBIAN_INITRAMFS is another one than scripts/guest-image makes.
debian_start() {
	local GUEST_KERNEL=build/guest/debian.kernel
	local GUEST_INITRAMFS=${DEBIAN_INITRAMFS:-build/guest/debian.initramfs}
	local GUEST_MIB=768 GUEST_DISK=build/lab/guest-debian/disk.ext4
	local GUEST_APPEND="mitigations=off systemd.show_status=0"
	guest_start "$@"
}

# usage_tell NAME WORD...: tells a guest that does the test usage what to do next.
usage_tell() {
	local name=$1
	shift
	USAGE_NR[$name]=$((${USAGE_NR[$name]:-0} + 1))
	guest_tell "$name" "$*"
}

# usage_done SECONDS NAME...: waits until these guests have done it.
usage_done() {
	local seconds=$1 name
	shift
	for name; do
		guest_says "$name" "^guest: usage done ${USAGE_NR[$name]}\$" "$seconds" || return
	done
}

# usage_do SECONDS WORD NAME...: both, with the same word for all.
usage_do() {
	local seconds=$1 word=$2 name
	shift 2
	for name; do
		usage_tell "$name" "$word"
	done
	usage_done "$seconds" "$@"
}

# usage_file NAME WHAT FILE: writes what the guest has sent last under that name.
usage_file() {
	tr -d '\r' <"$GUEST_DIR/$1.log" | sed -n "s/^file $2 //p" | tail -n 1 | base64 -d >"$3"
	[[ -s $3 ]]
}
