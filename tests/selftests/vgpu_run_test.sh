#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vgpu-run, on the host; started by run.sh with the modules loaded.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1
# shellcheck source=tests/selftests/ktap.sh
. tests/selftests/ktap.sh
run=build/tools/vgpu-run/vgpu-run
ctl=build/tools/vgpuctl/vgpuctl
probe=build/selftests/device/probe.elf
samples=build/tools/libvgpu/samples
uuid=6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c11

ktap_begin "$run"
ktap_vgpu "$uuid"

# on ARGUMENT...: vgpu-run on the vGPU
on() {
	"$run" --device "$uuid" "$@"
}

# says STATUS TEXT COMMAND...: the command ends so, and says this on standard error
says() {
	local status=$1 text=$2 said
	shift 2
	said=$("$@" 2>&1 >/dev/null)
	[[ $? == "$status" && $said == *"$text"* ]] || { echo "$*: $said"; return 1; }
}

words() {
	od -An -v -t d8 -w8 "$1" | tr -d ' ' | paste -sd ' '
}

# ended: how many packets of the vGPU have ended, by completion or fault
ended() {
	"$ctl" show "$uuid" --json | jq '.engines | map(.packets + .faults) | add'
}

# read_late BEFORE: reads only when more packets have ended than that
read_late() {
	local tries
	for ((tries = 0; tries < 300; tries++)); do
		(($(ended) == $1)) || break
		sleep 0.2
	done
	cat
}

kernels_are_listed() {
	local list
	[[ $("$run" "$samples/copy.elf" --list) == "copy(buf to, buf from)" ]] || return
	list=$("$run" "$probe" --list --json | jq -c '[.local_bytes, ([.kernels[].name] | sort),
		(.kernels[] | select(.name == "types").args | map([.name, .type, .offset])[-1])]')
	echo "$list"
	[[ $list == '[16,["control","fail","forever","poke","say","types"],["two","local",56]]' ]]
}

# How the kernel sees values of all types, given with their types and without.
arguments_of_all_types() {
	on "$probe" -k types -g 1 -a buf:64 -o "$dir/a" -a 0xfffffffe -a -5 -a f32:1.5 \
		-a 18446744073709551614 -a i64:-7 -a 2.25 -a local:24 -a 1K || return
	words "$dir/a"
	[[ $(words "$dir/a") == "4294967294 -5 1500 -2 -7 2250 321 32" ]]
}

buffers_are_files() {
	head -c 100000 "$run" >"$dir/in"
	on "$samples/copy.elf" -k copy -g 12500 -a "100000>$dir/out" -a "buf:=$dir/in" || return
	cmp "$dir/in" "$dir/out" || return
	# The rest of a buffer is zero, whatever was there.
	head -c 8 "$dir/in" >"$dir/short"
	on "$samples/copy.elf" -k copy -g 4 -a 32 --out "$dir/out" -a "32=$dir/short" || return
	cat "$dir/short" - <<<"" | head -c 8 >"$dir/want"
	head -c 24 /dev/zero >>"$dir/want"
	cmp "$dir/want" "$dir/out"
}

result_as_json() {
	on "$samples/copy.elf" -k copy -g 5,3 -a 4K -a 1M --json >"$dir/json" || return
	cat "$dir/json"
	jq -e --arg uuid "$uuid" '.kernel == "copy" and .device == $uuid and .grid == [5, 3, 1] and
		.group == [5, 1, 1] and .time_ns > 0 and .log_lost == 0 and
		.buffers == [{name: "to", bytes: 4096, file: null},
			{name: "from", bytes: 1048576, file: null}]' "$dir/json"
}

time_is_told() {
	[[ $(on "$samples/copy.elf" -k copy -g 1 -a 8 -a 8 --time) =~ ^copy:\ [0-9]+\.[0-9]{3}\ ms$ ]]
}

# Groups of one are executed in order.
items_print() {
	on "$probe" -k say -g 2 --group 1 -a 3 >"$dir/said" || return
	diff "$dir/said" - <<-'END'
	item 0: 0.00 -1 100%
	item 0: 0.50 -1 100%
	item 0: 1.00 -1 100%
	item 1: 0.00 -1 100%
	item 1: 0.50 -1 100%
	item 1: 1.00 -1 100%
	END
}

# A terminal does not obey the program; what is no terminal gets what the program prints.
terminals_are_safe() {
	local command="$run -d $uuid $probe -k control -g 1"
	printf '\\x1b[31m\\x0d\\x7f\\xc2\\x9b\\x07\t\xc2\xb5\\x9b\r\n' >"$dir/shown"
	printf '\x1b[31m\r\x7f\xc2\x9b\x07\t\xc2\xb5\x9b\n' >"$dir/raw"
	$command >"$dir/said" && cmp "$dir/said" "$dir/raw" || return
	script -qefc "$command" /dev/null </dev/null >"$dir/said" || return
	cat -A "$dir/said"
	cmp "$dir/said" "$dir/shown" || return
	# The log is on standard error then.
	script -qefc "$command --json >$dir/json" /dev/null </dev/null >"$dir/said" &&
		cmp "$dir/said" "$dir/shown" &&
		says 1 "standard output: No space left" sh -c "$command >/dev/full"
}

# More than the log holds: each text is printed, or counted as lost, as some are while nobody reads
# what is printed.
long_log() {
	local lines lost before
	before=$(ended)
	on "$probe" -k say -g 64 -a 1000 2>"$dir/lost" | read_late "$before" >"$dir/said"
	((PIPESTATUS[0] == 0)) || return
	lines=$(grep -c '^item [0-9]*: [0-9.]* -1 100%$' "$dir/said")
	lost=$(sed -n 's/^vgpu-run: \([0-9]*\) texts were lost.*/\1/p' "$dir/lost")
	echo "$lines lines, ${lost:-0} lost, of 64000"
	((lines >= 13000 && lost > 0 && lines + lost == 64000 && lines == $(wc -l <"$dir/said")))
}

fault_is_explained() {
	says 1 "kernel poke: page fault in poke+0x" \
		on "$probe" -k poke -g 64 -a 64 -a 0x7f00000000 -a 33 &&
		says 1 ", work-item 33,0,0" on "$probe" -k poke -g 64 -a 64 -a 0x7f00000000 -a 33 &&
		on "$probe" -k poke -g 64 -a 64 -a 0 -a 33
}

# A program finds its buffers, and nothing else of the framebuffer: neither what is behind them nor
# what is before, where its image is.
only_its_own_memory() {
	on "$probe" -k poke -g 1 -a 64K -a 65532 -a 0 || return
	local offset
	for offset in 0x100000 0x10000 -4096 -0x100000 0x40000000; do
		says 1 "page fault in poke" \
			on "$probe" -k poke -g 1 -a 64K -a "$(printf %u "$offset")" -a 0 || return
	done
}

# What a kernel has printed, or could not, before it failed.
log_of_a_fault() {
	local before
	says 1 "page fault in fail+0x" on "$probe" -k fail -g 1 -a 2 || return
	on "$probe" -k fail -g 1 -a 2 2>"$dir/err" | diff - <(printf '   %d|-1|0x100000000\n' 0 1) &&
		! grep "were lost" "$dir/err" || return
	before=$(ended)
	on "$probe" -k fail -g 256 -a 2000 2>"$dir/err" | read_late "$before" >/dev/null
	cat "$dir/err"
	grep -qx 'vgpu-run: [1-9][0-9]* texts were lost: the log was full' "$dir/err" &&
		grep -q 'page fault in fail' "$dir/err"
}

endless_kernel_is_left() {
	says 1 "kernel forever: not complete after 0.300 s" \
		on "$probe" -k forever -g 100 -a 4 --timeout 0.3 &&
		on "$samples/copy.elf" -k copy -g 1 -a 8 -a 8
}

# runs PID: waits until the program has the vGPU, so it has set up its signals
runs() {
	until [[ $("$ctl" list --json | jq -r '.[0].state') == started ]]; do
		kill -0 "$1" || return
	done
}

# dies_of SIGNAL: an endless kernel's vgpu-run that gets it, in the background, where a shell has
# some of them ignored
dies_of() {
	local pid status
	env --default-signal="$1" "$run" -d "$uuid" "$probe" -k forever -g 1 -a 4 2>"$dir/err" &
	pid=$!
	runs "$pid" || return
	sleep 0.5
	says 1 "$uuid: another program has it open" on "$probe" -k say -g 1 -a 1 || return
	kill -s "$1" "$pid" || return
	wait "$pid"
	status=$?
	echo "$1: $status, $(<"$dir/err")"
	[[ $status == $((128 + $(kill -l "$1"))) ]]
}

interrupted() {
	local signal
	for signal in TERM INT HUP QUIT; do
		dies_of "$signal" && [[ $(<"$dir/err") == "vgpu-run: interrupted" ]] || return
	done
}

# By who reads what it prints: it has much to say, and then would go on for ever.
reader_leaves() {
	dies_of PIPE && [[ ! -s $dir/err ]] || return
	env --default-signal=PIPE "$run" -d "$uuid" "$probe" -k say -g 64 -a 1000000 \
		2>"$dir/err" | head -n 1
	local status=${PIPESTATUS[0]}
	echo "$status, $(<"$dir/err")"
	[[ $status == 141 ]] && ! grep -v "were lost" "$dir/err"
}

# Nobody reads what it would print, and it may not wait for that.
reader_sleeps() {
	local pid status
	mkfifo "$dir/pipe"
	exec {pipe}<>"$dir/pipe"
	"$run" -d "$uuid" "$probe" -k say -g 64 -a 1000000 >"$dir/pipe" 2>"$dir/err" &
	pid=$!
	runs "$pid" || return
	sleep 1
	kill -TERM "$pid"
	timeout 60 tail --pid="$pid" -f /dev/null || kill -KILL "$pid"
	wait "$pid"
	status=$?
	exec {pipe}>&-
	echo "$status, $(<"$dir/err")"
	[[ $status == 143 ]]
}

ignored_signals_stay_so() {
	local pid status
	env --ignore-signal=HUP "$run" -d "$uuid" "$probe" -k forever -g 1 -a 4 --timeout 20 \
		2>"$dir/err" &
	pid=$!
	runs "$pid" || return
	sleep 0.5
	kill -HUP "$pid" || return
	wait "$pid"
	status=$?
	cat "$dir/err"
	[[ $status == 1 && $(<"$dir/err") == *"not complete after 20.000 s" ]]
}

only_device_needs_no_name() {
	"$run" "$samples/copy.elf" -k copy -g 1 -a 8 -a 8
}

bad_command_lines() {
	says 2 "which program?" "$run" &&
		says 2 "--kernel NAME is needed" on "$probe" -g 1 &&
		says 2 "--grid X[,Y[,Z]] is needed" on "$probe" -k say &&
		says 2 "--grid 0: one to three numbers" on "$probe" -k say -g 0 &&
		says 2 "--grid 1,2,3,4: one to three" on "$probe" -k say -g 1,2,3,4 &&
		says 2 "--grid 4294967296: one" on "$probe" -k say -g 4294967296 &&
		says 2 "--grid  -1: one" on "$probe" -k say -g " -1" &&
		says 2 "--grid 1,+1: one" on "$probe" -k say -g 1,+1 &&
		says 2 "--local 64K1" on "$probe" -k say -g 1 --local 64K1 &&
		says 2 "--local  -0" on "$probe" -k say -g 1 --local " -0" &&
		says 2 "--timeout 0" on "$probe" -k say -g 1 --timeout 0 &&
		says 2 "--timeout  1" on "$probe" -k say -g 1 --timeout " 1" &&
		says 2 "Its --arg comes first" on "$probe" -k say -g 1 -o x -a 1 &&
		says 2 "unexpected argument x" on "$probe" x -k say -g 1 &&
		says 2 "Usage: vgpu-run PROGRAM" "$run" --nothing
}

bad_arguments() {
	says 2 "has 1 arguments, --arg is given 0 times" on "$probe" -k say -g 1 &&
		says 2 "times is u32: a number from 0" on "$probe" -k say -g 1 -a -1 &&
		says 2 "times is u32: a number from 0" on "$probe" -k say -g 1 -a " -1" &&
		says 2 "times is u32: a number from 0" on "$probe" -k say -g 1 -a +1 &&
		says 2 "times is u32: a value of that type" on "$probe" -k say -g 1 -a f32:1 &&
		says 2 "is u32, not a buffer" on "$probe" -k say -g 1 -a 1 -o x &&
		says 2 "at is buf: SIZE" on "$probe" -k poke -g 1 -a x -a 1 -a 1 &&
		says 2 "at is buf: SIZE" on "$probe" -k poke -g 1 -a " -1" -a 1 -a 1 &&
		says 2 "at is buf: SIZE" on "$probe" -k poke -g 1 -a 4= -a 1 -a 1 &&
		says 2 "at is buf: SIZE" on "$probe" -k poke -g 1 -a "4>" -a 1 -a 1 &&
		says 2 "--out b: --arg 64>a names a file for that buffer already" \
			on "$probe" -k poke -g 1 -a "64>a" -o b -a 1 -a 1 &&
		says 2 "--out b: that buffer goes to a already" \
			on "$probe" -k poke -g 1 -a 64 -o a -o b -a 1 -a 1 &&
		says 2 "i is i32: a number from -2147483648" on "$probe" -k types -g 1 -a 64 \
			-a 1 -a " -1" -a 1 -a 1 -a 1 -a 1 -a 8 -a 8 &&
		says 2 "f is f32: a number is needed" on "$probe" -k types -g 1 -a 64 -a 1 -a -1 \
			-a " 1" -a 1 -a 1 -a 1 -a 8 -a 8 &&
		says 2 "f is f32: a number of that size" on "$probe" -k types -g 1 -a 64 -a 1 -a 1 \
			-a 1e39 -a 1 -a 1 -a 1 -a 8 -a 8 &&
		says 2 "at least a byte" on "$probe" -k poke -g 1 -a 0 -a 1 -a 1 &&
		says 1 "No such file" on "$probe" -k poke -g 1 -a "=$dir/none" -a 1 -a 1 &&
		says 1 "has more than the 4 bytes" on "$probe" -k poke -g 1 -a 4=/bin/true -a 0 -a 1 &&
		says 1 "framebuffer: " on "$probe" -k poke -g 1 -a 1000G -a 0 -a 1
}

# What cannot be written is told before the program runs; what there was stays until then.
results_are_opened_before() {
	says 1 "$dir: Is a directory" on "$probe" -k forever -g 1 -a "4>$dir" &&
		says 1 "$dir/none/out: No such file" on "$probe" -k forever -g 1 -a 4 \
			-o "$dir/none/out" || return
	head -c 64 "$run" >"$dir/both"
	cp "$dir/both" "$dir/same"
	says 1 "page fault" on "$probe" -k poke -g 1 -a "=$dir/both" -o "$dir/both" \
		-a 0x7f00000000 -a 0
	cmp "$dir/both" "$dir/same" || return
	# A buffer that goes back to its file, and one that is shorter than its file was.
	on "$probe" -k poke -g 1 -a "=$dir/both" -o "$dir/both" -a 0 -a 0 || return
	[[ $(od -An -t d4 -N 4 "$dir/both") -eq 1 ]] || return
	cmp -i 4 "$dir/both" "$dir/same" || return
	on "$probe" -k poke -g 1 -a "16>$dir/both" -a 0 -a 0 && [[ $(stat -c %s "$dir/both") == 16 ]] &&
		says 1 "/dev/full: No space left" on "$probe" -k poke -g 1 -a "16>/dev/full" -a 0 -a 0 &&
		on "$probe" -k poke -g 1 -a "16>/dev/null" -a 0 -a 0 &&
		says 1 "standard output: cannot write" \
			sh -c '"$0" "$1" --list >/dev/full' "$run" "$probe"
}

# Two buffers in one file, whatever it is called; what is no regular file may take several.
results_have_their_own_files() {
	local copy=("$samples/copy.elf" -k copy -g 1)
	head -c 8 "$run" >"$dir/one"
	cp "$dir/one" "$dir/same"
	ln "$dir/one" "$dir/two"
	says 2 "--out $dir/one and --out $dir/one: two buffers would go to the same file" \
		on "${copy[@]}" -a 8 -o "$dir/one" -a 8 -o "$dir/one" &&
		says 2 "--arg 8>$dir/one and --out $dir/two: two buffers" \
			on "${copy[@]}" -a "8>$dir/one" -a 8 -o "$dir/two" &&
		says 2 "--out $dir/new and --arg buf:8>$dir/../${dir##*/}/new: two buffers" \
			on "${copy[@]}" -a 8 -o "$dir/new" -a "buf:8>$dir/../${dir##*/}/new" &&
		cmp "$dir/one" "$dir/same" &&
		on "${copy[@]}" -a "8>/dev/null" -a 8 -o /dev/null &&
		on "${copy[@]}" -a "8>$dir/new" -a "=$dir/one" -o "$dir/two" && cmp "$dir/new" "$dir/same"
}

bad_shapes() {
	says 1 "at most 1024 are possible" on "$probe" -k say -g 1 --group 32,33 -a 1 &&
		says 1 "65552 bytes of memory of the work-group" \
			on "$probe" -k say -g 1 --local 64K -a 1 &&
		says 2 "all in all up to 64K" on "$probe" -k types -g 1 --local 64K -a 64 -a 1 -a 1 \
			-a 1 -a 1 -a 1 -a 1 -a 8 -a 8
}

bad_programs() {
	head -c 1000 "$probe" >"$dir/cut"
	says 1 "$probe has no kernel none" on "$probe" -k none -g 1 &&
		says 1 "/bin/true: is not for RISC-V" on /bin/true -k say -g 1 &&
		says 1 "cut: ends" on "$dir/cut" -k say -g 1 &&
		says 1 "none: No such file" on "$dir/none" -k say -g 1 &&
		says 1 "is no regular file" on /dev/null -k say -g 1
}

no_such_device() {
	says 1 "1-2: no mdev has this UUID" \
		"$run" -d 1-2 "$probe" -k say -g 1 -a 1 &&
		says 1 "0000:00:00.0 is no vGPU" "$run" -d 0000:00:00.0 "$probe" -k say -g 1 -a 1
}

# Each option is in the manual, and completion knows it.
options_are_documented() {
	local option manual known
	manual=$(<tools/vgpu-run/vgpu-run.1)
	known=$("$run" --complete -)
	for option in $("$run" --help | grep -oE -- '--[a-z]+' | sort -u); do
		[[ $manual == *"Fl -${option#--}"* ]] || { echo "no $option in the manual"; return 1; }
		[[ $known == *"$option"* ]] || { echo "no $option completed"; return 1; }
	done
}

words_are_completed() {
	[[ $("$run" --complete "$probe" -k "" | sort | paste -sd ' ') == "control fail forever poke say types" ]] &&
		[[ $("$run" --complete --device "") == "$uuid" ]] &&
		[[ -z $("$run" --complete x) ]]
}

for test in kernels_are_listed arguments_of_all_types buffers_are_files result_as_json \
	time_is_told items_print terminals_are_safe long_log fault_is_explained \
	only_its_own_memory log_of_a_fault endless_kernel_is_left interrupted reader_leaves \
	reader_sleeps ignored_signals_stay_so only_device_needs_no_name bad_command_lines \
	bad_arguments results_are_opened_before results_have_their_own_files bad_shapes \
	bad_programs no_such_device options_are_documented words_are_completed; do
	ktap_run "$test" "$test"
done
echo "1..$ktap_number"
ktap_end
