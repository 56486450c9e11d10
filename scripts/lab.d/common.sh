# shellcheck shell=bash
# Shared by scripts/lab and its helpers; sourced, never run.

LAB_D=$(cd -- "${BASH_SOURCE[0]%/*}" && pwd -P)
CHECKOUT=$(cd -- "$LAB_D/../.." && pwd -P)
CACHE=${VGPU_LAB_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/vgpu-lab}

say()  { printf 'lab: %s\n' "$*" >&2; }
die()  { say "$*"; exit "${LAB_EXIT:-97}"; }
hash_of() { sha256sum | cut -c1-12; }

case $CHECKOUT$CACHE in
*[[:space:]\'\"\\,:]*)
	die "the paths of the checkout and the cache must be without blanks, quotes, commas and colons" ;;
esac
case $CHECKOUT in
/usr/*|/etc/*|/var/*|/boot/*|/dev/*|/run/*) die "the checkout cannot be in $CHECKOUT; /home, /srv or /tmp are well" ;;
esac

# step TEXT LOG COMMAND...: runs COMMAND with its output in LOG, and says every now and then that
# TEXT goes on.
step() {
	local text=$1 log=$2 start=$SECONDS pid rc=0 next=2
	shift 2
	mkdir -p "${log%/*}"
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	CHILDREN+=("$pid")
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.1
		if (( SECONDS - start >= next )); then
			say "$text ... $((SECONDS - start)) s"
			next=$((SECONDS - start + (SECONDS - start < 20 ? 8 : 30)))
		fi
	done
	wait "$pid" || rc=$?
	if (( rc )); then
		tail -n 30 "$log" >&2
		say "$text failed ($rc) after $((SECONDS - start)) s; all of its output: $log"
		return "$rc"
	fi
	if (( SECONDS - start >= 2 )); then
		say "$text: done in $((SECONDS - start)) s"
	fi
}

# with_lock NAME COMMAND...: runs COMMAND while no other command with the same NAME runs on this
# host.
with_lock() {
	local name=$1 fd start=$SECONDS
	shift
	mkdir -p "$CACHE/lock"
	exec {fd}>"$CACHE/lock/$name"
	if ! flock -n "$fd"; then
		say "waiting for another lab command to make $name"
		until flock -w 30 "$fd"; do
			say "waiting for $name ... $((SECONDS - start)) s"
		done
	fi
	"$@" || { local rc=$?; exec {fd}>&-; return "$rc"; }
	exec {fd}>&-
}

need_root() {
	(( EUID == 0 )) || die "must run as root (it makes mount namespaces); try: sudo $0"
}

# need_tools: installs the programs that the lab needs on the host, with apt, if they are missing.
need_tools() {
	local tool pkg missing=()
	while read -r tool pkg; do
		if ! command -v "$tool" >/dev/null; then
			missing+=("$pkg")
		fi
	done <<-'EOF'
		mmdebstrap mmdebstrap
		mkfs.ext4 e2fsprogs
		xz xz-utils
		unshare util-linux
		setpriv util-linux
		mount mount
		perl perl-base
	EOF
	if [[ ! -e /usr/share/keyrings/debian-archive-trixie-stable.gpg ]]; then
		missing+=(debian-archive-keyring)
	fi
	(( ${#missing[@]} )) || return 0
	if (( EUID )) || ! command -v apt-get >/dev/null; then
		die "missing packages: ${missing[*]}"
	fi
	step "install ${missing[*]}" "$CACHE/log/apt.log" apt_install "${missing[@]}" || exit 97
}

apt_install() {
	export DEBIAN_FRONTEND=noninteractive
	apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" && return
	apt-get -o DPkg::Lock::Timeout=300 update &&
		apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
}

# ---- the image ----

# words FILE: prints the words of FILE, without comments, one per line.
words() {
	sed 's/#.*//' "$1" | tr -s ' \t\n' '\n' | sed '/^$/d' | LC_ALL=C sort -u
}

# image_use [SUITE [FILE]]: sets IMAGE, where the image of Debian's SUITE (trixie) is or will be,
# and ROOT, its tree; SUITE and PACKAGES are what it is made of. FILE lists packages that it has
# besides those of lab.d/packages.
image_use() {
	local extra=()
	SUITE=${1:-trixie}
	PACKAGES=$(words "$LAB_D/packages")
	if [[ -n ${2:-} ]]; then
		mapfile -t extra < <(words "$2" | LC_ALL=C comm -13 <(echo "$PACKAGES") -)
	fi
	if [[ $SUITE != trixie ]] || (( ${#extra[@]} )); then
		# The first image alone makes the lab's own kernels.
		PACKAGES=$(grep -v '^linux-source-' <<<"$PACKAGES")
	fi
	if [[ $SUITE != trixie ]]; then
		PACKAGES=$(grep -v -e '-rt-amd64$' -e '^contrib/' <<<"$PACKAGES")
	fi
	if (( ${#extra[@]} )); then
		PACKAGES=$(printf '%s\n' "$PACKAGES" "${extra[@]}" | LC_ALL=C sort -u)
	fi
	IMAGE=$CACHE/image-$( { echo "recipe 2${SUITE#trixie}"; echo "$PACKAGES"; } | hash_of)
	ROOT=$IMAGE/root
}
image_use
# The image whose tools make the lab's own kernels, whatever image a machine has.
BASE_IMAGE=$IMAGE

# mirror: prints the Debian mirror to use: VGPU_LAB_MIRROR, else that of the host if it is a Debian,
# else nothing, so that mmdebstrap takes its default.
mirror() {
	if [[ -n ${VGPU_LAB_MIRROR:-} ]]; then
		echo "$VGPU_LAB_MIRROR"
		return
	fi
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(CODENAME)' 'Created-By: Packages' 2>/dev/null |
		awk '$2 == "Debian" && $3 !~ /security|updates|backports/ { print $1; exit }'
}

# unpack_hook NAMES: prints the shell command with which mmdebstrap unpacks the packages NAMES in
# the tree $1. apt would want what they depend on.
unpack_hook() {
	# shellcheck disable=SC2016 # variables of the hook
	printf 'cd "$1/var/cache/apt" && APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get download %s &&
		for deb in *.deb; do dpkg-deb -x "$deb" "$1" || exit; done' "$1"
}

image_make() {
	local tmp uri frozen='' unpacked
	[[ -e $IMAGE/disk.ext4 ]] && return
	need_tools
	tmp=$CACHE/tmp.${IMAGE##*/}.$BASHPID
	rm -rf --one-file-system "$CACHE/tmp.${IMAGE##*/}".*
	mkdir -p "$tmp"
	chmod 755 "$tmp"
	uri=$(mirror)
	# What a mirror of a past day says has expired. Who has such a one told the host's apt so.
	[[ $(apt-config dump --format '%v' Acquire::Check-Valid-Until 2>/dev/null) != false ]] ||
		frozen=1
	unpacked=$(sed -n 's,^contrib/,,p' <<<"$PACKAGES" | tr '\n' ' ')
	step "image: Debian $SUITE with $(wc -w <<<"$PACKAGES") packages" "$CACHE/log/${IMAGE##*/}.log" \
		"${OWN_NAMESPACE[@]}" --mount-proc mmdebstrap --mode=root --variant=minbase --architectures=amd64 \
		--aptopt='APT::Install-Recommends "false"' \
		${frozen:+--aptopt='Acquire::Check-Valid-Until "false"'} \
		--dpkgopt='path-exclude=/etc/kernel/postinst.d/initramfs-tools' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--include="$(grep -v '^contrib/' <<<"$PACKAGES" | tr '\n' ',')" \
		${unpacked:+--components=main,contrib --customize-hook="$(unpack_hook "$unpacked")"} \
		"$SUITE" "$tmp/root" ${uri:+"$uri"} || { rm -rf --one-file-system "$tmp"; exit 97; }
	# The machines' disk has no room for the kernel's source.
	[[ $IMAGE != "$BASE_IMAGE" ]] || mv "$tmp"/root/usr/src/linux-source-*.tar.xz "$tmp/"
	rm -rf "$tmp"/root/var/cache/apt/*
	echo lab >"$tmp/root/etc/hostname"
	printf '127.0.0.1 localhost lab\n::1 localhost\n' >"$tmp/root/etc/hosts"
	: >"$tmp/root/etc/resolv.conf"
	: >"$tmp/root/etc/machine-id"
	mkdir -p "$tmp/root/.lab"
	truncate -s 6G "$tmp/disk.tmp"
	step "image: disk" "$CACHE/log/disk.log" \
		mkfs.ext4 -q -F -O ^has_journal -m 0 -E lazy_itable_init=1 -d "$tmp/root" "$tmp/disk.tmp" ||
		{ rm -rf --one-file-system "$tmp"; exit 97; }
	mv "$tmp/disk.tmp" "$tmp/disk.ext4"
	rm -rf --one-file-system "$IMAGE"
	mv "$tmp" "$IMAGE"
}

need_image() {
	[[ -e $IMAGE/disk.ext4 ]] || with_lock "${IMAGE##*/}" image_make
}

# stock_release NAME: prints the release of Debian's kernel that the lab calls NAME.
stock_release() {
	local dir name
	[[ -e $IMAGE/disk.ext4 ]] || die "no image yet for $1; make it with: scripts/lab image --kernel $1"
	for dir in "$ROOT"/usr/lib/modules/*; do
		name=stock
		[[ $SUITE == trixie ]] || name=$SUITE
		[[ $dir != *-rt-* ]] || name+=-rt
		if [[ $name == "$1" && -d $dir/kernel ]]; then
			echo "${dir##*/}"
			return
		fi
	done
	die "the image has no kernel for $1"
}

# enter [NAME=VALUE...] -- COMMAND...: runs COMMAND in the image, in namespaces of its own;
# lab.d/enter says what the variables mean. All processes in there are killed when this shell ends.
enter() {
	(enter_exec "$@")
}

enter_exec() {
	local vars=()
	while [[ $1 != -- ]]; do
		vars+=("$1")
		shift
	done
	shift
	exec env LAB_ROOT="$ROOT" "${vars[@]}" "${OWN_NAMESPACE[@]}" bash "$LAB_D/enter" "$@"
}
OWN_NAMESPACE=(setpriv --pdeathsig KILL unshare --mount --propagation private
	--pid --fork --kill-child=KILL)

# The processes to kill when this shell ends.
CHILDREN=()
cleanup() {
	local pid
	for pid in "${CHILDREN[@]}"; do
		kill -KILL "$pid" 2>/dev/null || :
	done
	wait 2>/dev/null || :
	tty_back
}

# shellcheck disable=SC2034 # the caller reads IN
# take_input INTERACTIVE: sets IN to the descriptor that a machine has as its standard input: that
# of /dev/null if INTERACTIVE is empty, else this shell's own, whose terminal becomes raw.
take_input() {
	if [[ -z $1 ]]; then
		exec {IN}</dev/null
		return
	fi
	exec {IN}<&0
	if [[ -t 0 ]]; then
		TTY_STATE=$(stty -g)
		stty raw -echo
	fi
}

tty_back() {
	[[ -z ${TTY_STATE:-} ]] || stty "$TTY_STATE"
	TTY_STATE=
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
