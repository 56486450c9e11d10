# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Packages of the host. scripts/check and scripts/demo source this file.

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
	DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 update >/dev/null &&
		DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 install -y \
			--no-install-recommends "${missing[@]}" >/dev/null
}
