# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Packages of the host. scripts/check and scripts/demo source this file.

# apt_update: apt waits for the lock of packages, but not for that of their lists.
apt_update() {
	local i
	for ((i = 0; i < 12; i++)); do
		apt-get -qq update >/dev/null && return
		sleep 5
	done
	return 1
}

# need_packages NAME...: installs those that are missing if root runs it, else names them and fails
need_packages() {
	local missing=() p
	for p in "$@"; do
		dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null |
			grep -qx installed || missing+=("$p")
	done
	((${#missing[@]})) || return 0
	if [[ $(id -u) != 0 ]]; then
		echo "install first: ${missing[*]}" >&2
		return 1
	fi
	echo "# installing ${missing[*]}"
	apt_update &&
		DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 install -y \
			--no-install-recommends "${missing[@]}" >/dev/null
}
