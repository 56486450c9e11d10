#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [guest]: builds the modules with W=1 for the newest kernels of other Debian suites, whose
# headers the lab has fetched, and installs the DKMS package of the guest's driver in the lab's
# image; a guest loads what that has built. With guest only that driver is built, for sid, and no
# package. TAP.
set -u
cd "$(dirname "$0")/../.." || exit
top=$PWD
side=${1:-}
[[ -z $side || $side == guest ]] || { sed -n '3,6s/^# //p' tests/kernels/check.sh; exit 2; }
modules=(vgpu_guest) kernels=(headers-sid)
[[ $side ]] || {
	modules+=(vgpu vgpu_soft vgpu_null)
	kernels+=(headers-trixie-backports headers-bookworm-backports)
}
passed=0 failed=0
log=$(mktemp) || exit
trap 'rm -f "$log"' EXIT

result() { # STATUS NAME
	if (($1 == 0)); then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) $2"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) $2"
		tail -n 40 "$log" | sed 's/^/# /'
	fi
}

# build KERNEL [MAKE ARGUMENT...]: all objects are compiled again.
build() {
	rm -rf "$top/build/kernels/$1"
	scripts/build-modules --out "$top/build/kernels/$1" "$@" ${side:+"VGPU_SIDE=$side"} >"$log" 2>&1
}

built() { # KERNEL
	local module
	for module in "${modules[@]}"; do
		[[ -e build/kernels/$1/$module.ko ]] || { echo "no $module.ko" >>"$log"; return 1; }
	done
}

echo "TAP version 13"
for kernel in "${kernels[@]}"; do
	build "$kernel"
	status=$?
	# That the compiler is another one is no news.
	! grep -vE '^warning: (the compiler|pahole version) differs' "$log" |
		grep -qE 'warning:|error:|WARNING' && built "$kernel" || status=1
	result "$status" "${modules[*]} of $kernel without a warning"
done

# lacks NAME TEXT MAKE-ARGUMENT...: the driver is left out, and make says so with TEXT.
lacks() {
	local name=$1 text=$2 status
	shift 2
	scripts/build-modules --out "$top/build/kernels/lacks" headers-sid VGPU_SIDE=guest \
		"$@" >"$log" 2>&1
	(($? != 0)) && grep -qF "vgpu_guest.ko is left out: $text" "$log"
	status=$?
	[[ ! -e build/kernels/lacks/vgpu_guest.ko ]] || status=1
	result "$status" "$name"
}
rm -rf build/kernels/lacks
lacks "a kernel without a helper" "this kernel has no CONFIG_DRM_GPUVM" CONFIG_DRM_GPUVM=
lacks "a kernel newer than those tried" "it was not tried with a kernel newer than 6.12" \
	guest-newest=6.12

newest=$(sed -n 's/^guest-newest := //p' drivers/vgpu/guest/Kbuild)
pattern=$(sed -n 's/^BUILD_EXCLUSIVE_KERNEL="\(.*\)"$/\1/p' drivers/vgpu/guest/dkms.conf)
[[ $newest.4+deb13-amd64 =~ $pattern && 6.12.95+deb12-amd64 =~ $pattern &&
	! 6.11.9-amd64 =~ $pattern && ! ${newest%.*}.$((${newest#*.} + 1)).0-amd64 =~ $pattern ]]
result $? "dkms.conf and Kbuild name the same kernels"

if [[ ! $side ]]; then
	tests/kernels/dkms.sh >"$log" 2>&1
	result $? "the DKMS package is built, loaded by a guest, works there, and is removed"
fi
echo "1..$((passed + failed))"
echo "$passed passed, $failed failed"
((failed == 0))
