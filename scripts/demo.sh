# shellcheck shell=bash
# What scripts/demo and scripts/demo-migrate have in common; they source this file, from the
# checkout's root.

# Standard output and standard error are one stream, so that lines stay in order.
exec 2>&1
SECONDS=0
step() { printf '[%3ds] %s\n' "$SECONDS" "$*"; }

# plan WHAT...: says what has to be made first, once.
plan() {
	scripts/lab plan "$@" | while read -r what seconds; do
		step "once, some $seconds s on 2 idle cores: $what"
	done
}

# machine ARGUMENT...: a lab machine; what it prints is indented, but for its steps. While it is
# silent, that it is still at work is said.
machine() {
	local status=0
	scripts/lab run "$@" | indent || status=$?
	if (( status )); then
		step "the demo FAILED ($status)"
		exit 1
	fi
}

indent() {
	local line='' part=''
	while :; do
		if IFS= read -r -t 10 part; then
			line+=$part
			case $line in
			"@ "*) step "${line#@ }" ;;
			*) printf '       %s\n' "$line" ;;
			esac
			line=
		elif (( $? > 128 )); then
			line+=$part
			step "..."
		else
			return 0
		fi
	done
}
