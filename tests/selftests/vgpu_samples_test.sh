#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vgpu-samples, on the host; started by run.sh with the modules loaded.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1
# shellcheck source=tests/selftests/ktap.sh
. tests/selftests/ktap.sh
run=build/tools/vgpu-samples
uuid=6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c13

ktap_begin "$run"
ktap_vgpu "$uuid"

# says STATUS TEXT COMMAND...: the command ends so, and says this on standard error
says() {
	local status=$1 text=$2 said
	shift 2
	said=$("$@" 2>&1 >/dev/null)
	[[ $? == "$status" && $said == *"$text"* ]] || { echo "$*: $said"; return 1; }
}

samples_are_listed() {
	local list
	list=$("$run" --list | cut -d ' ' -f 1 | paste -sd ' ')
	echo "$list"
	[[ $list == "mandelbrot sgemm blur sha256 reduce triad copy latency bandwidth" ]]
}

results_are_told() {
	"$run" -d "$uuid" copy sha256 >"$dir/said" || return
	cat "$dir/said"
	[[ $(wc -l <"$dir/said") == 2 ]] &&
		grep -qE '^copy +[0-9.]+ ms +[0-9.]+ [kMG]?bytes/s  CPU +[0-9.]+ ms  equal$' "$dir/said" &&
		grep -qE '^sha256 +[0-9.]+ ms +[0-9.]+ [kMG]?hashes/s ' "$dir/said"
}

results_as_json() {
	"$run" --json copy triad >"$dir/json" || return
	cat "$dir/json"
	jq -e 'map(.name) == ["copy", "triad"] and all(.[]; .runs == 1 and .time_ns > 0 and
		.cpu_time_ns > 0 and .work_per_run > 0 and (.unit | length) > 0)' "$dir/json"
}

# Repeated until the runs have taken so long, which a single one does where the machine is slow.
seconds() {
	local seconds
	for seconds in 0.3 1 3 10; do
		"$run" --json --seconds "$seconds" copy >"$dir/json" || return
		cat "$dir/json"
		jq -e --argjson s "$seconds" '.[0].time_ns >= $s * 1e9' "$dir/json" || return
		jq -e '.[0].runs > 1' "$dir/json" && break
	done
	jq -e '.[0].runs > 1' "$dir/json" || return
	for seconds in .3 1 3 10; do
		"$run" -s "$seconds" copy >"$dir/said" || return
		cat "$dir/said"
		grep -E 'equal  [0-9]+ runs, [0-9.]+/s$' "$dir/said" && return
	done
	return 1
}

# The picture in the file is the one that vgpu-run gets from the same kernel.
pictures() {
	mkdir "$dir/png"
	"$run" --png "$dir/png" mandelbrot blur copy || return
	ls "$dir/png"
	[[ $(ls "$dir/png") == $'blur.png\nmandelbrot.png' ]] || return
	build/tools/vgpu-run/vgpu-run build/tools/libvgpu/samples/mandelbrot.elf -k mandelbrot \
		-g 640,480 -a 1200K -o "$dir/pixels" -a 640 -a 64 -a -2.25 -a -1.125 -a 0.0046875 ||
		return
	python3 - "$dir/pixels" "$dir/png"/*.png <<-'END'
		import struct, sys, zlib

		def rows(path):
		    with open(path, 'rb') as f:
		        data = f.read()
		    assert data[:8] == b'\x89PNG\r\n\x1a\n'
		    at, chunks = 8, []
		    while at < len(data):
		        size, name = struct.unpack('>I4s', data[at:at + 8])
		        body = data[at + 8:at + 8 + size]
		        crc = struct.unpack('>I', data[at + 8 + size:at + 12 + size])[0]
		        assert zlib.crc32(name + body) == crc
		        chunks.append((name, body))
		        at += 12 + size
		    assert [name for name, _ in chunks] == [b'IHDR', b'IDAT', b'IEND']
		    assert chunks[0][1] == struct.pack('>IIBBBBB', 640, 480, 8, 2, 0, 0, 0)
		    raw = zlib.decompress(chunks[1][1])
		    assert len(raw) == 480 * (1 + 3 * 640) and not any(raw[::1 + 3 * 640])
		    return b''.join(raw[y * 1921 + 1:(y + 1) * 1921] for y in range(480))

		blur, mandelbrot = rows(sys.argv[2]), rows(sys.argv[3])
		with open(sys.argv[1], 'rb') as f:
		    pixels = f.read()
		# From blue, green, red, unused.
		rgb = (pixels[i // 3 * 4 + 2 - i % 3] for i in range(640 * 480 * 3))
		assert mandelbrot == bytes(rgb)
		assert len(set(blur)) > 100
	END
}

bad_command_lines() {
	local seconds
	for seconds in x "" 1x " 1" nan inf -1 0 1e10 0x; do
		says 2 "--seconds $seconds: more than 0" "$run" --seconds "$seconds" copy || return
	done
	says 2 "no sample none" "$run" copy none && says 2 "Usage: vgpu-samples" "$run" --nothing
}

failures() {
	says 1 "$dir/none: No such file" "$run" --png "$dir/none" mandelbrot &&
		says 1 "1-2" "$run" -d 1-2 copy &&
		says 1 "standard output: cannot write" sh -c '"$0" --list >/dev/full' "$run" || return
	mkdir -p "$dir/taken/mandelbrot.png"
	says 1 "mandelbrot.png: Is a directory" "$run" --png "$dir/taken" mandelbrot
}

# Each option is in the manual, and completion knows it.
options_are_documented() {
	local option manual known
	manual=$(<tools/libvgpu/samples/vgpu-samples.1)
	known=$("$run" --complete -)
	for option in $("$run" --help | grep -oE -- '--[a-z]+' | sort -u); do
		[[ $manual == *"Fl -${option#--}"* ]] || { echo "no $option in the manual"; return 1; }
		[[ $known == *"$option"* ]] || { echo "no $option completed"; return 1; }
	done
	"$run" --complete -d "" | grep -qx "$uuid" &&
		[[ $("$run" --complete "" | paste -sd ' ') == "mandelbrot sgemm blur "* ]]
}

for test in samples_are_listed results_are_told results_as_json seconds pictures \
	bad_command_lines failures options_are_documented; do
	ktap_run "$test" "$test"
done
echo "1..$ktap_number"
ktap_end
