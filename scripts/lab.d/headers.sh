# shellcheck shell=bash
# Kernels of other Debian suites, to build modules for them, not to boot: only their headers are
# fetched. Sourced by scripts/lab and scripts/build-modules.
# shellcheck disable=SC2034 # the script that sources this file reads K_*

HEADERS="headers-bookworm-backports headers-trixie-backports headers-sid"

# fetch SUITE DIRECTORY COMMAND...: runs COMMAND where apt knows that suite only, from the host's
# mirror, in a state of its own, and unpacks in DIRECTORY the packages that COMMAND has downloaded.
fetch() {
	local suite=$1 dir=$2 apt=$2/apt uri deb keys=/usr/share/keyrings/debian-archive-keyring.gpg
	shift 2
	uri=$(mirror)
	[[ -n $uri ]] || die "no Debian mirror is set up here: VGPU_LAB_MIRROR=URI names one"
	mkdir -p "$apt/lists/partial" "$apt/archives/partial"
	: >"$apt/status"
	echo "deb [arch=amd64 signed-by=$keys] $uri $suite main" \
		>"$apt/sources.list"
	cat >"$apt/conf" <<-EOF
		APT::Architecture "amd64";
		APT::Architectures "amd64";
		APT::Sandbox::User "root";
		Dir::State "$apt";
		Dir::State::status "$apt/status";
		Dir::Cache "$apt";
		Dir::Etc::SourceList "$apt/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::Etc::Preferences "/dev/null";
		Dir::Etc::PreferencesParts "/dev/null";
	EOF
	(cd "$apt" && export APT_CONFIG=$apt/conf && apt-get update && "$@") || return
	for deb in "$apt"/*.deb; do
		dpkg-deb -x "$deb" "$dir" || return
	done
	rm -rf "$apt"
}

headers_download() {
	local rel
	rel=$(apt-cache depends linux-headers-amd64 |
		sed -n 's/^ *Depends: linux-headers-\([0-9].*\)-amd64$/\1/p')
	[[ $rel ]] || { echo "there is no linux-headers-amd64"; return 1; }
	apt-get download "linux-headers-$rel-amd64" "linux-headers-$rel-common" "linux-kbuild-$rel" &&
		echo "$rel-amd64" >../release
}

# headers_dir NAME: prints where the headers are or will be.
headers_dir() {
	echo "$CACHE/$1-$(sed '/^#/d' "$LAB_D/headers.sh" | hash_of)"
}

headers_make() {
	local tmp=$CACHE/tmp.${K_DIR##*/}.$BASHPID
	[[ -e $K_DIR/release ]] && return
	rm -rf "$CACHE/tmp.${K_DIR##*/}".*
	mkdir -p "$tmp"
	step "kernel headers of Debian ${1#headers-}" "$CACHE/log/$1.log" \
		fetch "${1#headers-}" "$tmp" headers_download || { rm -rf "$tmp"; return 97; }
	# They are not where the package's Makefile believes.
	sed -i "s,/usr/src/,$K_DIR/usr/src/," "$tmp"/usr/src/linux-headers-*-amd64/Makefile
	mv "$tmp" "$K_DIR"
}

# need_headers NAME: sets K_DIR, where the packages are unpacked, K_SRC, K_KDIR, to build modules
# against, and K_REL. They are built with the compiler of the first image, whatever they want.
need_headers() {
	image_use
	need_image
	K_ARCH=x86_64
	K_DIR=$(headers_dir "$1")
	K_SRC=$K_DIR
	if [[ ! -e $K_DIR/release ]]; then
		need_tools
		with_lock "${K_DIR##*/}" headers_make "$1" || exit 97
	fi
	K_REL=$(<"$K_DIR/release")
	K_KDIR=$K_DIR/usr/src/linux-headers-$K_REL
}

# image_download: the newest kernel of the suite, with its modules.
image_download() {
	local rel names
	rel=$(apt-cache depends linux-image-amd64 |
		sed -n 's/^ *Depends: linux-image-\([0-9].*-amd64\)$/\1/p')
	[[ $rel ]] || { echo "there is no linux-image-amd64"; return 1; }
	# Some have their files in packages that they depend on.
	names=$(apt-cache depends "linux-image-$rel" |
		sed -n 's/^ *Depends: \(linux-\(binary\|modules\)-[0-9].*\)$/\1/p')
	# shellcheck disable=SC2086 # names they are
	apt-get download "linux-image-$rel" $names
}

# need_package SUITE NAME [COMMAND]: sets K_DIR, where that package is unpacked, or what COMMAND
# downloads.
need_package() {
	K_DIR=$CACHE/headers-$2-$1-$(sed '/^#/d' "$LAB_D/headers.sh" | hash_of)
	if [[ ! -d $K_DIR ]]; then
		need_tools
		with_lock "${K_DIR##*/}" package_make "$@" || exit 97
	fi
}

package_make() {
	local tmp=$CACHE/tmp.${K_DIR##*/}.$BASHPID
	[[ -d $K_DIR ]] && return
	rm -rf "$CACHE/tmp.${K_DIR##*/}".*
	mkdir -p "$tmp"
	step "package $2 of Debian $1" "$CACHE/log/${K_DIR##*/}.log" \
		fetch "$1" "$tmp" ${3:-apt-get download "$2"} || { rm -rf "$tmp"; return 97; }
	mv "$tmp" "$K_DIR"
}
