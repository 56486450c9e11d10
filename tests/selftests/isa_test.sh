#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the commands of Documentation/isa.rst have made of programs (isa/compile.sh) computes the
# same with all compilers and at all levels of optimization; started by run.sh with the modules
# loaded.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1
# shellcheck source=tests/selftests/ktap.sh
. tests/selftests/ktap.sh
run=build/tools/vgpu-run/vgpu-run
programs=build/selftests/isa
uuid=6fdd2a74-2c0e-4b2e-8a0f-3b1f0a8d5c12

ktap_begin "$run"
ktap_vgpu "$uuid"
head -c 65536 "$run" >"$dir/in"

# on PROGRAM ARGUMENT...: runs the kernel of the program's name, made in $programs/$made
on() {
	"$run" -d "$uuid" "$programs/$made/$1.elf" -k "$1" "${@:2}"
}

# The example: 1000 floats 1.0, and 24 more that it leaves alone.
scale() {
	printf '\0\0\x80\x3f%.0s' {1..1024} >"$dir/floats"
	on scale -g 1000 -a "=$dir/floats" -o "$dir/out" -a 2.5 || return
	[[ $(od -An -v -t f4 -w4 "$dir/out" | sort -g | uniq -c | xargs) == "24 1 1000 2.5" ]]
}

calls() {
	local said
	said=$(on calls -g 40 -a 6K -a "640>$dir/out") || return
	echo "$said"
	[[ $said =~ ^item\ 3:\ 0x1[0-9a-f]{8}\ -7\ x\ 2\.5\ -1$ ]] || return
	# All comparisons were right, and what was cleared is 0.
	[[ $(od -An -v -t d4 -w16 "$dir/out" | awk '{ print $2, $4 }' | sort -u) == "15 0" ]]
}

# As in the first directory, whatever it was made by.
same() {
	if [[ $made == "$first" ]]; then
		mv "$dir/out" "$dir/$1.first"
	else
		cmp "$dir/out" "$dir/$1.first"
	fi
}

all_programs() {
	scale && calls && same calls || return
	on sha256 -g 100 -a "=$dir/in" -a "3200>$dir/out" && same sha256 || return
	on blur -g 40,30 -a "=$dir/in" -a "4800>$dir/out" -a 40 -a 30 && same blur || return
	on mandelbrot -g 40,30 -a "4800>$dir/out" -a 40 -a 50 -a -2.25 -a -1.125 -a 0.075 &&
		same mandelbrot || return
	on reduce -g 256 -a "=$dir/in" -a "4>$dir/out" && same reduce || return
	on sgemm -g 20,20 -a 2K -a 2K -a "1600>$dir/out" -a 20
}

first=
for made in "$programs"/*-O*; do
	made=${made##*/}
	first=${first:-$made}
	ktap_run "programs_by_$made" all_programs
done
((ktap_number == 10))
ktap_result all_compilers_and_levels $? "$programs has not what two compilers make at five levels"
echo "1..$ktap_number"
ktap_end
