# shellcheck shell=bash
# What tools in a Debian guest show of programs that are at work, for the host to compare; job
# sources this file. What they draw goes to the host by the console, in base64.

USAGE_LIBRARY=/usr/local/lib/vgpu
USAGE_DIR=/tmp/usage
USAGE_SOCKET=/run/vgpu-screen
USAGE_TMUX=(tmux -L usage)
USAGE_PIDS=()

# usage_file NAME FILE: not as what the host hears, where a long line takes it seconds.
usage_file() {
	echo "file $1 $(base64 -w0 "$2")"
}

# with_library COMMAND...: as the user, and with our NVML.
with_library() {
	as user env HOME="$USAGE_DIR" LANG=C.UTF-8 LD_LIBRARY_PATH="$USAGE_LIBRARY" "$@"
}

# usage_begin TITLE: two programs of an ordinary user draw, and what one of them draws is seen on
# the monitor. A picture in a file is there before.
usage_begin() {
	local i
	install -d -o user -g user "$USAGE_DIR"
	(cd "$USAGE_DIR" && as user vgpu-samples --png "$USAGE_DIR" mandelbrot)
	usage_file mandelbrot "$USAGE_DIR/mandelbrot.png"
	"$HERE/presenter" "$USAGE_SOCKET" "$(stat -c %g "$NODE")" &
	USAGE_PIDS=($!)
	for ((i = 0; i < 800; i++)); do
		[[ ! -S $USAGE_SOCKET ]] || break
		sleep 0.1
	done
	refused "$USAGE_SOCKET: Permission denied" as stranger "$HERE/paint" "$1" "$USAGE_SOCKET"
	for i in "$USAGE_SOCKET" ""; do
		# The shell that is put in the background becomes the program.
		(as_user_exec "$HERE/paint" "$1" ${i:+"$i"}) >"$USAGE_DIR/said${#USAGE_PIDS[@]}" 2>&1 &
		USAGE_PIDS+=($!)
	done
	for ((i = 0; i < 4000; i++)); do
		usage_alive
		[[ $(grep -l 'pictures after' "$USAGE_DIR"/said? || :) != *said1*said2 ]] || return 0
		sleep 0.1
	done
	fail "nothing is drawn"
}

as_user_exec() {
	exec setpriv --reuid=user --regid=user --init-groups --reset-env -- "$@"
}

# usage_count: how many pictures each program has drawn until when, by the guest's clock.
usage_count() {
	local i said
	usage_alive
	for i in 1 2; do
		said=$(tail -n 1 "$USAGE_DIR/said$i")
		[[ $said == *" pictures after "* ]] || fail "paint: $said"
		say "usage counted $said"
	done
}

usage_alive() {
	local pid
	for pid in "${USAGE_PIDS[@]}"; do
		kill -0 "$pid" || fail "$(tail -n 3 "$USAGE_DIR"/said*)"
	done
}

usage_measure() {
	with_library python3 "$HERE/measure.py" "$USAGE_DIR/gputop"
	usage_alive
}

# nvtop goes on, so that its chart shows what changes.
usage_watch() {
	with_library "${USAGE_TMUX[@]}" -f /dev/null new-session -d -x 120 -y 30 nvtop
}

usage_nvtop() {
	usage_alive
	with_library "${USAGE_TMUX[@]}" capture-pane -e -p >"$USAGE_DIR/nvtop"
	usage_file nvtop "$USAGE_DIR/nvtop"
}

# The screens of the others that draw one.
usage_screens() {
	# Wide enough for a program's whole path.
	with_library env COLUMNS=100 python3 -m nvitop -1 --colorful >"$USAGE_DIR/nvitop" 2>&1 || :
	with_library gpustat --force-color -c -u -p >"$USAGE_DIR/gpustat" 2>&1 || :
	usage_file nvitop "$USAGE_DIR/nvitop"
	usage_file gpustat "$USAGE_DIR/gpustat"
	usage_file gputop "$USAGE_DIR/gputop"
}

# All end well when they are told to.
usage_end() {
	local pid
	usage_alive
	with_library "${USAGE_TMUX[@]}" kill-server || :
	# The presenter goes last: until then one of the others hands it pictures.
	kill "${USAGE_PIDS[@]:1}"
	for pid in "${USAGE_PIDS[@]:1}"; do
		wait "$pid" || fail "$(tail -n 3 "$USAGE_DIR"/said*)"
	done
	kill "${USAGE_PIDS[0]}"
	say "$(head -n 1 "$USAGE_DIR/said1")"
}

# Does what the host tells, line by line, and says what it has done.
test_usage() {
	local word rest told nr=0
	until_node
	exec {told}</dev/ttyS1
	stty -F /dev/ttyS1 raw -echo clocal
	say "usage ready"
	while [[ ${word:-} != end ]]; do
		read -r -t 2400 word rest <&"$told" || fail "nobody tells the guest to go on"
		"usage_$word" "$rest"
		nr=$((nr + 1))
		say "usage done $nr"
	done
}
