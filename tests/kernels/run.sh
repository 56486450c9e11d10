#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh SUITE [TEST...]: tests of the guest's driver (of tests/e2e/drm) in a guest that has the
# newest kernel of that Debian suite, such as trixie-backports. TAP.
set -euo pipefail
cd "$(dirname "$0")/../.."
suite=${1:-}
if [[ ! $suite || $suite == -* ]]; then
	sed -n '3,4s/^# //p' tests/kernels/run.sh
	[[ $suite == --help ]]
	exit
fi
tests=("${@:2}")
(( ${#tests[@]} )) || tests=(query vm bo copy bind bind_async sync ring interrupts fault timeout
	channels files_apart fdinfo exec_unmap reload)
# shellcheck source=scripts/lab.d/common.sh
. scripts/lab.d/common.sh
# shellcheck source=scripts/lab.d/headers.sh
. scripts/lab.d/headers.sh
need_root
need_package "$suite" linux-image image_download

out=build/kernels/run-$suite
mkdir -p "$out"
scripts/guest-image drm
scripts/build-modules --out "$PWD/$out/modules" "headers-$suite" VGPU_SIDE=guest
scripts/build-modules uml VGPU_SIDE=host
scripts/lab chroot make -s -C tools O="$PWD/build/lab-tools"

# The initramfs of guest-drm, with the driver's and the kernel's own modules in the order in which
# they are to be loaded.
# shellcheck disable=SC2016 # the shell in the image expands it
enter LAB_BIND="$CHECKOUT" LAB_BIND_RO="$K_DIR" LAB_CWD="$CHECKOUT" -- bash -euc '
	packages=$1 out=$2 dir=/tmp/root
	rel=$(basename "$(find "$packages" -type d -path "*/lib/modules/*" -prune)")
	from=$(find "$packages" -type d -path "*/lib/modules/$rel" -prune)
	to=/tmp/modules/lib/modules/$rel
	mkdir -p "$to/kernel/drivers" /tmp/modules/usr "$dir"
	ln -s ../lib /tmp/modules/usr/lib
	# sid leaves these to depmod.
	find "$from" -maxdepth 1 -name "modules.*" -exec cp -t "$to" {} +
	cp -r "$from/kernel/drivers/gpu" "$to/kernel/drivers/"
	depmod -b /tmp/modules "$rel"
	(cd "$dir" && cpio --quiet -id) <build/guest/drm.initramfs
	rm -f "$dir"/modules/*
	cp "$out/modules/vgpu_guest.ko" "$dir/modules/900-vgpu_guest.ko"
	# shellcheck disable=SC2046 # names
	scripts/lab.d/pack-modules -d /tmp/modules "$rel" "$dir/modules" \
		$(modinfo -F depends "$out/modules/vgpu_guest.ko" | tr "," " ")
	(cd "$dir" && find . | cpio --quiet -o -H newc -R 0:0) >"$out/initramfs"
	scripts/lab.d/unwrap "$(find "$packages" -type f -name "vmlinuz*")" "$out/kernel"
	echo "# a guest with $rel"
' bash "$K_DIR" "$out"

scripts/lab run --kernel uml --timeout 3000 -- env DRIVER_TESTS="${tests[*]}" \
	DRIVER_KERNEL="$out/kernel" DRIVER_INITRAMFS="$out/initramfs" tests/e2e/run.sh driver
