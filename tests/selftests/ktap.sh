# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Results of tests in KTAP, for the selftests that are shell scripts.

ktap_number=0 ktap_failed=0

ktap_note() {
	printf '# %s\n' "$@"
}

# ktap_result NAME STATUS [TEXT...]: a test has ended; TEXT is printed if STATUS is not 0
ktap_result() {
	local name=$1 status=$2
	shift 2
	ktap_number=$((ktap_number + 1))
	if ((status == 0)); then
		echo "ok $ktap_number $name"
		return
	fi
	echo "not ok $ktap_number $name"
	ktap_failed=$((ktap_failed + 1))
	(($# == 0)) || printf '%s\n' "$@" | sed 's/^\(# \)*/# /'
}

# ktap_run NAME COMMAND...: a test, which fails by the status of the command
ktap_run() {
	local name=$1 text
	shift
	text=$("$@" 2>&1)
	ktap_result "$name" $? "$text"
}

# ktap_end: the last line; fails if a test has failed
ktap_end() {
	echo "# Totals: pass:$((ktap_number - ktap_failed)) fail:$ktap_failed skip:0"
	((ktap_failed == 0))
}
