# shellcheck shell=bash
# What tools in a Debian guest show of programs that are at work, for the host to compare; job
# sources this file. What they draw goes to the host by the console, in base64.

USAGE_LIBRARY=/usr/local/lib/vgpu
USAGE_DIR=/tmp/usage

# usage_word: sets WORD to the next line that the host tells.
usage_word() {
	read -r -t 600 WORD <&"$TOLD" || fail "nobody tells the guest to go on"
}

# usage_file NAME FILE: not as what the host hears, where a long line takes it seconds.
usage_file() {
	echo "file $1 $(base64 -w0 "$2")"
}

# with_library COMMAND...: as the user, and with our NVML.
with_library() {
	as user env HOME="$USAGE_DIR" LANG=C.UTF-8 LD_LIBRARY_PATH="$USAGE_LIBRARY" "$@"
}

# An ordinary user's programs draw; one picture of them goes to the host.
usage_work() {
	local i
	install -d -o user -g user "$USAGE_DIR"
	(cd "$USAGE_DIR" && as user vgpu-samples --png "$USAGE_DIR" mandelbrot)
	usage_file mandelbrot "$USAGE_DIR/mandelbrot.png"
	for i in 1 2; do
		as user vgpu-samples --seconds 3600 mandelbrot >"$USAGE_DIR/said$i" 2>&1 &
		USAGE_PIDS[i]=$!
	done
	sleep 8
}

# Percent of gr, of each process by gputop and of the vGPU by NVML, over the same 20 s. gputop takes
# its period to be as long as it has asked for: with a long one it is not far wrong in a slow guest.
usage_measure() {
	local out=$USAGE_DIR/gputop nvml
	say "usage begin"
	with_library python3 - >"$USAGE_DIR/nvml" <<-'END' &
		import time
		import pynvml as n
		n.nvmlInit()
		device = n.nvmlDeviceGetHandleByIndex(0)
		values = []
		for i in range(20):
		    values.append(n.nvmlDeviceGetUtilizationRates(device).gpu)
		    time.sleep(1)
		print(sum(values) / len(values))
	END
	nvml=$!
	script -qec "stty cols 160 rows 40; exec gputop -d 10 -n 3" /dev/null >"$out"
	wait "$nvml"
	sed 's/\x1b\[[0-9;]*[A-Za-z]//g' "$out" | tr -d '\r' | awk '/vgpu-samples/ && match($0, /[0-9.]+%/) {
			at = substr($0, RSTART, RLENGTH - 1)
			if (nr[$1]++) sum[$1] += at
		}
		END { for (pid in nr) if (nr[pid] > 1) print pid, sum[pid] / (nr[pid] - 1) }' |
		while read -r pid percent; do
			say "usage gputop $pid $percent"
		done
	say "usage nvml $(<"$USAGE_DIR/nvml")"
	say "usage end"
}

# The screens of those that draw one.
usage_screens() {
	local tmux=(tmux -L usage)
	with_library "${tmux[@]}" new-session -d -x 120 -y 36 nvtop
	sleep 12
	with_library "${tmux[@]}" capture-pane -e -p >"$USAGE_DIR/nvtop"
	with_library "${tmux[@]}" kill-server
	with_library python3 -m nvitop -1 --colorful >"$USAGE_DIR/nvitop" 2>&1 || :
	with_library gpustat >"$USAGE_DIR/gpustat" 2>&1 || :
	sed 's/\x1b\[[HJ]//g' "$USAGE_DIR/gputop" | tail -n 8 >"$USAGE_DIR/gputop.last"
	usage_file nvtop "$USAGE_DIR/nvtop"
	usage_file nvitop "$USAGE_DIR/nvitop"
	usage_file gpustat "$USAGE_DIR/gpustat"
	usage_file gputop "$USAGE_DIR/gputop.last"
	say "usage shown"
}

# Does what the host tells: measure, screens, end.
test_usage() {
	USAGE_PIDS=()
	until_node
	exec {TOLD}</dev/ttyS1
	stty -F /dev/ttyS1 raw clocal
	usage_work
	say "usage ready"
	while usage_word && [[ $WORD != end ]]; do
		"usage_$WORD"
	done
	kill "${USAGE_PIDS[@]}"
	wait "${USAGE_PIDS[@]}" || :
}
