#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [--cpus N] SUITE [TEST...]: tests of the guest's driver (of tests/e2e/drm) in a guest that
# has the newest kernel of that Debian suite, such as trixie-backports, or that of the lab's image
# (stock), and N processors. TAP.
set -euo pipefail
cd "$(dirname "$0")/../.."
cpus=1
if [[ ${1:-} == --cpus ]]; then
	cpus=${2:-}
	shift 2
fi
suite=${1:-}
if [[ ! $suite || $suite == -* || ! $cpus =~ ^[1-9]$ ]]; then
	sed -n '3,5s/^# //p' tests/kernels/run.sh
	[[ $suite == --help ]]
	exit
fi
# Not here: what needs allocations that fail, and what is told by the host.
tests=("${@:2}")
(( ${#tests[@]} )) || tests=(query vm bo copy bind bind_async sync ring interrupts fault timeout
	channels files_apart fdinfo exec_unmap import export evict evict_bind present present_stays
	shown_freed reset_at_work suspend_devices unbind reload)
# shellcheck source=scripts/lab.d/common.sh
. scripts/lab.d/common.sh
# shellcheck source=scripts/lab.d/headers.sh
. scripts/lab.d/headers.sh
need_root
headers=stock K_DIR=
if [[ $suite == stock ]]; then
	need_image
else
	headers=headers-$suite
	need_package "$suite" linux-image image_download
fi

out=build/kernels/run-$suite
mkdir -p "$out"
scripts/guest-image drm
scripts/build-modules --out "$PWD/$out/modules" "$headers" VGPU_SIDE=guest
scripts/build-modules uml VGPU_SIDE=host
scripts/lab chroot make -s -C tools O="$PWD/build/lab-tools"

# The initramfs of guest-drm, with the driver's and the kernel's own modules in the order in which
# they are to be loaded.
# shellcheck disable=SC2016 # the shell in the image expands it
enter LAB_BIND="$CHECKOUT" LAB_BIND_RO="$K_DIR" LAB_CWD="$CHECKOUT" -- bash -euc '
	packages=$1 out=$2 dir=/tmp/root
	rel=$(modinfo -F vermagic "$out/modules/vgpu_guest.ko" | cut -d " " -f 1)
	from=$packages/usr/lib/modules/$rel image=$packages/boot/vmlinuz-$rel
	[[ -d $from ]] || from=$packages/lib/modules/$rel
	[[ -e $image ]] || image=$from/vmlinuz
	to=/tmp/modules/lib/modules/$rel
	mkdir -p "$to/kernel/drivers" /tmp/modules/usr "$dir"
	ln -s ../lib /tmp/modules/usr/lib
	# sid leaves these to depmod.
	find "$from" -maxdepth 1 -name "modules.*" -exec cp -t "$to" {} +
	cp -r "$from/kernel/drivers/gpu" "$to/kernel/drivers/"
	depmod -b /tmp/modules "$rel"
	(cd "$dir" && cpio --quiet -id) <build/guest/drm.initramfs
	rm -f "$dir"/modules/* "$dir/vgem.ko"
	cp "$out/modules/vgpu_guest.ko" "$dir/modules/900-vgpu_guest.ko"
	vgem=$(find "$to" -name "vgem.ko*")
	xz -dcf "$vgem" >"$dir/vgem.ko"
	# shellcheck disable=SC2046 # names
	scripts/lab.d/pack-modules -d /tmp/modules "$rel" "$dir/modules" \
		$(modinfo -F depends "$out/modules/vgpu_guest.ko" "$vgem" | tr "," " ")
	(cd "$dir" && find . | cpio --quiet -o -H newc -R 0:0) >"$out/initramfs"
	scripts/lab.d/unwrap "$image" "$out/kernel"
	echo "# a guest with $rel, processors: $3"
' bash "$K_DIR" "$out" "$cpus"

# Tests count objects in caches, and do with a BAR what its driver would not let them.
scripts/lab run --kernel uml --timeout 6000 -- env E2E_VERBOSE=1 \
	GUEST_APPEND="slab_nomerge iomem=relaxed" GUEST_CPUS="$cpus" DRIVER_MIB=1024 \
	DRIVER_TESTS="${tests[*]}" \
	DRIVER_KERNEL="$out/kernel" DRIVER_INITRAMFS="$out/initramfs" tests/e2e/run.sh driver
