#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# dkms.sh: installs and removes the package that scripts/guest-dkms makes, in the lab's image (which
# stays as it is), with dkms of Debian trixie; and has a Debian guest load what DKMS has built, and
# compute with it. Exits with 0 if all is as it should be.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/lab.d/common.sh
. scripts/lab.d/common.sh
# shellcheck source=scripts/lab.d/headers.sh
. scripts/lab.d/headers.sh
need_root
need_image
need_package trixie dkms
scripts/guest-dkms
out=build/kernels/dkms
rm -rf "$out"
mkdir -p "$out"

# shellcheck disable=SC2016 # the shell in the image expands it
enter LAB_BIND="$CHECKOUT" LAB_BIND_RO="$K_DIR" LAB_CWD="$CHECKOUT" -- bash -euxc '
	for dir in usr var etc; do
		mkdir -p "/tmp/$dir/upper" "/tmp/$dir/work"
		mount -t overlay -o "lowerdir=/$dir,upperdir=/tmp/$dir/upper,workdir=/tmp/$dir/work" \
			overlay "/$dir"
	done
	cp -a "$1"/. /
	mkdir -p /var/lib/dkms
	# A guest has one kernel.
	rm -rf /lib/modules/*-rt-*
	rel=$(basename /lib/modules/*-amd64)
	alias=pci:v00001AF4d000010F1sv00001AF4sd00001100bc03sc02i00

	dpkg --force-depends -i build/guest-dkms/*.deb
	dkms status | grep "^vgpu-guest/.* $rel, .*: installed"
	[[ $(modprobe -S "$rel" -R "$alias") == vgpu_guest ]]
	[[ $(modinfo -k "$rel" -F version vgpu_guest) == $(dpkg-query -W -f "\${Version}" vgpu-guest-dkms) ]]
	modprobe -S "$rel" --show-depends vgpu_guest | grep /gpu-sched.ko

	cp "$(modinfo -k "$rel" -n vgpu_guest)" "$2/"

	# Kernels that it is not for are no error.
	version=$(dpkg-query -W -f "\${Version}" vgpu-guest-dkms)
	if dkms build "vgpu-guest/$version" -k 6.11.9-amd64 --kernelsourcedir "/lib/modules/$rel/build"; then
		exit 1
	else
		[[ $? == 77 ]]
	fi

	dpkg -r vgpu-guest-dkms
	if modprobe -S "$rel" -R "$alias"; then
		exit 1
	fi
	[[ ! -e /var/lib/dkms/vgpu-guest && -z $(find /lib/modules -name "vgpu_guest*") ]]
' bash "$K_DIR" "$out"

scripts/guest-image debian
scripts/build-modules uml VGPU_SIDE=host
scripts/lab chroot make -s -C tools O="$PWD/build/lab-tools"
# The initramfs of Debian guests, with this module in place of ours, where DKMS puts it.
# shellcheck disable=SC2016 # the shell in the image expands it
scripts/lab chroot bash -euxc '
	dir=$(mktemp -d)
	(cd "$dir" && cpio --quiet -id) <build/guest/debian.initramfs
	modules=$(echo "$dir"/add/usr/lib/modules/*)
	rm "$modules/kernel/vgpu_guest.ko"
	mkdir -p "$modules/updates/dkms"
	cp "$1"/vgpu_guest.ko* "$modules/updates/dkms/"
	depmod -b "$dir/add" "${modules##*/}"
	(cd "$dir" && find . | cpio --quiet -o -H newc -R 0:0) >"$1/initramfs"
' bash "$out"
scripts/lab run --kernel uml --mem 2048 --timeout 3000 -- env DEBIAN_INITRAMFS="$out/initramfs" \
	DEBIAN_TESTS="dkms alias user samples" E2E_VERBOSE=1 tests/e2e/run.sh debian_guest
