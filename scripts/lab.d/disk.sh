# shellcheck shell=bash
# The disk of Debian guests, which are virtual machines inside the lab's; scripts/lab sources this
# file.

# disk_setup: sets DISK, the directory in the cache for the disk.
disk_setup() {
	DISK=$CACHE/guest-$( { words "$LAB_D/guest-packages"; cat "$LAB_D/disk.sh"; } | hash_of)
}

# What mmdebstrap does at its end, with the tree as $1: two ordinary users, one of them in the
# group of render nodes; nothing that a first boot would have to do.
# shellcheck disable=SC2016 # variables of the hook
DISK_HOOK='
	set -eu
	chroot "$1" useradd -m -s /bin/bash -G render user
	chroot "$1" useradd -m -s /bin/bash stranger
	chroot "$1" passwd -q -d root
	rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/var/log/*
	echo guest >"$1/etc/hostname"
	printf "127.0.0.1 localhost guest\n" >"$1/etc/hosts"
	echo 0123456789abcdef0123456789abcdef >"$1/etc/machine-id"
	for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer \
		fstrim.timer podman.service podman.socket podman-restart.service \
		podman-auto-update.timer podman-clean-transient.service getty.target \
		systemd-pcrphase.service systemd-hibernate-clear.service; do
		ln -sf /dev/null "$1/etc/systemd/system/$unit"
	done
	touch "$1/etc/.updated" "$1/var/.updated"
'

disk_make() {
	local tmp=$CACHE/tmp.guest.$BASHPID uri frozen='' packages unpacked
	[[ -e $DISK/disk.ext4 ]] && return
	need_tools
	rm -rf --one-file-system "$CACHE"/tmp.guest.*
	mkdir -p "$tmp"
	uri=$(mirror)
	[[ $(apt-config dump --format '%v' Acquire::Check-Valid-Until 2>/dev/null) != false ]] ||
		frozen=1
	packages=$(words "$LAB_D/guest-packages")
	unpacked=$(sed -n 's,^contrib/,,p' <<<"$packages" | tr '\n' ' ')
	step "guests' disk: Debian with $(wc -w <<<"$packages") packages" "$CACHE/log/guest-disk.log" \
		"${OWN_NAMESPACE[@]}" --mount-proc mmdebstrap --mode=root --variant=apt --architectures=amd64 \
		--aptopt='APT::Install-Recommends "false"' \
		${frozen:+--aptopt='Acquire::Check-Valid-Until "false"'} \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' --components=main,contrib \
		--include="$(grep -v '^contrib/' <<<"$packages" | tr '\n' ',')" \
		--customize-hook="$(unpack_hook "$unpacked")" --customize-hook="$DISK_HOOK" \
		trixie "$tmp/root" ${uri:+"$uri"} || { rm -rf --one-file-system "$tmp"; return 97; }
	truncate -s 1G "$tmp/disk.ext4"
	step "guests' disk: file system" "$CACHE/log/guest-disk-ext4.log" \
		mkfs.ext4 -q -F -O ^has_journal -m 0 -E lazy_itable_init=1 -d "$tmp/root" \
		"$tmp/disk.ext4" || { rm -rf --one-file-system "$tmp"; return 97; }
	rm -rf --one-file-system "$tmp/root" "$DISK"
	mv "$tmp" "$DISK"
}

# A lab machine sees the checkout, but not the cache: the disk, which guests only read, is copied
# into the checkout.
lab_disk() {
	local out=$CHECKOUT/build/lab/guest-debian
	if (( $# )); then
		echo "Usage: scripts/lab disk: makes the disk of Debian guests (once)"
		[[ $1 == -h || $1 == --help ]]
		return
	fi
	need_root
	disk_setup
	[[ -e $DISK/disk.ext4 ]] || with_lock guest-disk disk_make || exit 97
	if [[ $(cat "$out/key" 2>/dev/null) != "$DISK" ]]; then
		rm -rf "$out"
		mkdir -p "$out"
		cp --sparse=always --reflink=auto "$DISK/disk.ext4" "$out/"
		echo "$DISK" >"$out/key"
	fi
}
