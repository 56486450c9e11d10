# shellcheck shell=bash
# The lab's own kernels; sourced by scripts/lab and scripts/build-modules.
# shellcheck disable=SC2034 # the scripts that source this file read K_*

KERNELS="stock stock-rt sid uml uml-debug uml-kobject guest-small guest-drm"

# What sed makes of a kernel's files: no comments, and lines that end in a backslash are joined.
K_WORDS=(-e '/^# [^C]/d' -e ':a' -e '/\\$/{N;s/\\\n//;ba}')

# Lists packages that the machine's image has besides the usual ones; --packages sets it.
EXTRA_PACKAGES=

# kernel_image NAME: sets IMAGE and ROOT to what a machine with this kernel has for its root.
kernel_image() {
	case $1 in
	sid) image_use sid "$EXTRA_PACKAGES" ;;
	*) image_use trixie "$EXTRA_PACKAGES" ;;
	esac
}

# packages_from FILE: from now on images have the packages that FILE lists, too.
packages_from() {
	[[ -f $1 && -r $1 ]] || die "--packages: no file $1"
	EXTRA_PACKAGES=$(readlink -f "$1")
	words "$1" | grep -vxE '[a-z0-9][a-z0-9+.:-]+' | while read -r word; do
		say "--packages: $1: '$word' is no name of a package"
		exit 1
	done || exit 97
}

# kernel_setup NAME: sets K_ARCH, K_SRC, K_DIR (in the cache; empty for Debian's kernels), K_IMAGE
# (what boots), K_KDIR (to build modules against) and K_MODULES. need_kernel sets K_REL, the
# release.
kernel_setup() {
	local frag=() extra
	K_NAME=$1 K_ARCH=x86_64 K_TARGET=bzImage
	case $1 in
	stock|stock-rt|sid)
		kernel_image "$1"
		K_REL=$(stock_release "$1") || exit
		K_DIR=
		K_KDIR=/lib/modules/$K_REL/build
		K_IMAGE=$ROOT/boot/vmlinuz-$K_REL
		K_MODULES=$ROOT/usr/lib/modules
		return ;;
	uml) K_ARCH=um; frag=(uml.config uml.add.config) ;;
	uml-debug) K_ARCH=um; frag=(uml.config uml-debug.add.config) ;;
	uml-kobject) K_ARCH=um; frag=(uml.config uml-debug.add.config uml-kobject.add.config) ;;
	guest-small) frag=(guest-small.config) ;;
	guest-drm) frag=(guest-small.config guest-drm.add.config) ;;
	*) die "no kernel named '$1'; there are: $KERNELS" ;;
	esac
	[[ $K_ARCH != um ]] || K_TARGET=linux
	K_FRAGS=("${frag[@]/#/$LAB_D/kernels/}")
	# A kernel may have options of its own, and an environment for make.
	K_EXTRA=()
	for extra in "$LAB_D/kernels/$1".{Kconfig,env}; do
		[[ ! -e $extra ]] || K_EXTRA+=("$extra")
	done
	source_setup
	K_DIR=$CACHE/kernel-$1-$( { echo "recipe 1 $K_SRC"; sed "${K_WORDS[@]}" "${K_FRAGS[@]}" "${K_EXTRA[@]}"; } | hash_of)
	K_KDIR=$K_DIR/build
	K_MODULES=$K_DIR/modules/lib/modules
	K_IMAGE=$K_DIR/${K_TARGET##*/}
}

# source_setup: sets K_SRC, the directory in the cache for the source of the lab's own kernels.
source_setup() {
	local version
	version=$(sed -n '/^Package: linux-source-6\.12$/,/^$/s/^Version: //p' "$BASE_IMAGE/root/var/lib/dpkg/status" | tr ':~+' '---')
	K_SRC=$CACHE/linux-$version-$(cat "$LAB_D"/source.sh "$LAB_D"/*.patch | sha256sum | cut -c1-8)
}

source_make() {
	local tmp=$CACHE/tmp.source.$$
	[[ -d $K_SRC ]] && return
	rm -rf "$CACHE"/tmp.source.*
	mkdir -p "$tmp"
	step "unpack the kernel's source" "$CACHE/log/source.log" \
		enter LAB_BIND="$tmp" LAB_BIND_RO="$BASE_IMAGE"$'\n'"$LAB_D" -- \
		bash "$LAB_D/source.sh" "$BASE_IMAGE"/linux-source-*.tar.xz "$tmp" "$LAB_D"/*.patch ||
		{ rm -rf "$tmp"; return 97; }
	mv "$tmp" "$K_SRC"
}

need_source() {
	image_use
	need_image
	source_setup
	[[ -d $K_SRC ]] || with_lock source source_make || exit 97
}

kernel_make() {
	local log=$CACHE/log/kernel-$K_NAME.log extra
	[[ -e $K_IMAGE ]] && return
	with_lock source source_make || return
	# The tree has its final name from the start, as it holds absolute paths;
	# the kernel's image, moved into place last, says that it is complete.
	rm -rf "$K_DIR"
	mkdir -p "$K_DIR/build"
	cat "${K_FRAGS[@]}" >"$K_DIR/fragment"
	for extra in "${K_EXTRA[@]}"; do
		case $extra in
		*.Kconfig) cat "$K_SRC/Kconfig" "$extra" >"$K_DIR/Kconfig" ;;
		*.env) sed "${K_WORDS[@]}" "$extra" >"$K_DIR/env" ;;
		esac
	done
	step "kernel $K_NAME" "$log" \
		enter LAB_BIND="$K_DIR" LAB_BIND_RO="$K_SRC" LAB_CWD="$K_SRC" -- \
		bash -c "$KERNEL_RECIPE" bash "$K_DIR" "$K_ARCH" "$K_TARGET" || { rm -rf "$K_DIR"; return 97; }
	cp "$log" "$K_DIR/build.log"
	mv "$K_DIR/image" "$K_IMAGE"
}

# Runs in the image, in the source's directory.
# shellcheck disable=SC2016
KERNEL_RECIPE='
set -eu
dir=$1 arch=$2 target=$3 O=$1/build
export KBUILD_BUILD_USER=lab KBUILD_BUILD_HOST=lab KBUILD_BUILD_TIMESTAMP=1970-01-01
mk() { make -s O="$O" ARCH="$arch" -j"$(nproc)" "$@"; }
[ ! -e "$dir/Kconfig" ] || export KBUILD_KCONFIG="$dir/Kconfig"
if [ -e "$dir/env" ]; then
	while read -r line; do
		export "$line"
	done <"$dir/env"
fi
mk KCONFIG_ALLCONFIG="$dir/fragment" allnoconfig
missing=$(grep -E "^CONFIG_[A-Z0-9_]+=[ym]$" "$dir/fragment" | sort -u | grep -vxFf "$O/.config" || :)
printf "%s\n" "$missing" >"$dir/missing"
mk "$target" modules
rm -rf "$dir/modules"
mk INSTALL_MOD_PATH="$dir/modules" INSTALL_MOD_STRIP=1 modules_install
mkdir -p "$dir/modules/lib/modules"
case $target in
linux) strip -g -o "$dir/image" "$O/linux" ;;
*) cp "$O/arch/x86/boot/bzImage" "$dir/image"
   strip -g -o "$dir/vmlinux" "$O/vmlinux" ;;
esac
make -s O="$O" ARCH="$arch" kernelrelease >"$dir/release"
# Modules are built against the tree later: keep what that needs.
find "$O" \( -name "*.o" -o -name "*.a" -o -name "*.ko" -o -name "*.cmd" -o -name "*.mod" -o -name "*.mod.c" \) \
	-not -path "$O/scripts/*" -not -path "$O/tools/*" -not -name "module-common.o" -not -name "module.lds*" -delete
rm -f "$O"/vmlinux* "$O"/.tmp_* "$O"/linux "$O"/System.map "$O"/arch/x86/boot/bzImage
'

need_kernel() {
	case $1 in
	stock|stock-rt|sid) ;;
	*)	# Made with the tools of the first image, whichever one the machine has.
		image_use
		need_image
		kernel_setup "$1"
		[[ -e $K_IMAGE ]] || with_lock "${K_DIR##*/}" kernel_make || exit 97 ;;
	esac
	kernel_image "$1"
	need_image
	kernel_setup "$1"
	[[ -z $K_DIR ]] || K_REL=$(<"$K_DIR/release")
}
