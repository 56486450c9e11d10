#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# compile.sh DIR: compiles programs for the device by the commands that Documentation/isa.rst gives,
# with each of its compilers and at each level of optimization, into DIR/COMPILER-LEVEL: its own
# example, the samples, and what is beside this file.
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../../.."
top=$PWD text=Documentation/isa.rst out=${1:?a directory}

# block PATTERN: the literal block after the line that matches
block() {
	awk -v pattern="$1" '$0 ~ pattern { on = 1; next }
		on && /^  / { print substr($0, 3); seen = 1; next }
		on && seen && NF { exit }
		on && seen { print "" }' "$text"
}

example=$(block '^In C, with ``vgpu_device.h``::$')
command=$(block '^The commands, for gcc .*::$')
gcc=${command%% *}
clang=$(tr '\n' ' ' <"$text" | grep -oE '``clang [^`]*``' | tr -d '`')
if [[ $example != *VGPU_KERNEL\(scale,* || $command != *" -O2 "*" -o scale.elf scale.c"* || ! $clang ]]
then
	echo "compile.sh: $text has no example, or no commands" >&2
	exit 1
fi

rm -rf "$out"
mkdir -p "$out/include"
ln -s "$top/tools/libvgpu/device" "$out/include/vgpu"
cp tests/selftests/isa/*.c "$out"
printf '%s\n' "$example" >"$out/scale.c"
cd "$out"
for compiler in "$gcc" "$clang"; do
	for level in O0 O1 O2 O3 Os; do
		to=$(basename "${compiler%% *}")-$level
		mkdir "$to"
		for source in *.c "$top"/tools/libvgpu/samples/*.c; do
			name=$(basename "$source" .c)
			line=${command/"$gcc"/"$compiler"}
			line=${line/ -O2 / -$level }
			line=${line/ scale.c/ "'$source'"}
			line=${line/ scale.elf/ "$to/$name.elf"}
			bash -euc "$line -Wall -Wextra -Werror" || {
				echo "compile.sh: $line" >&2
				exit 1
			}
		done
	done
done
