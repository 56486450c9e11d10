#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# boot.sh DIRECTORY RELEASE: makes the stock kernel and its initramfs there.
# Runs in the image.
set -eu
dir=$1 release=$2
mkdir -p /tmp/i/modules /tmp/i/dev
for module in virtio_pci virtio_blk ext4 overlay 9p 9pnet_virtio; do
	modprobe -S "$release" --show-depends "$module"
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >/tmp/list
: >/tmp/i/modules/order
while read -r path; do
	name=${path##*/}
	name=${name%.xz}
	case $path in
	*.xz) xz -dc "$path" >"/tmp/i/modules/$name" ;;
	*) cp "$path" /tmp/i/modules/ ;;
	esac
	strip --strip-debug "/tmp/i/modules/$name"
	echo "$name" >>/tmp/i/modules/order
done </tmp/list
gcc -O2 -Wall -Wextra -static -s -o /tmp/i/init "${BASH_SOURCE[0]%/*}/boot.c"
cd /tmp/i
find . | cpio --quiet -o -H newc -R 0:0 | lz4 -q -l -9 >"$dir/initrd"
# The kernel without its wrapping starts 1 s earlier.
"${BASH_SOURCE[0]%/*}/unwrap" "/boot/vmlinuz-$release" "$dir/kernel"
