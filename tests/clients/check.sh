#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [--keep-pictures]: runs unmodified clients of NVML, from Debian, in a lab machine with
# the stock kernel, and compares their figures with vgpuctl's. Leaves pictures of their screens in
# build/clients; --keep-pictures also makes the pictures in Documentation anew.
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../.."

if [[ ${1:-} == --help ]]; then
	sed -n '3,5s/^# //p' tests/clients/check.sh
	exit
fi
scripts/build-modules stock
make -s -C tools
make -s -C tests/selftests

out=build/clients status=0
mkdir -p "$out"
rm -f "$out"/*.{ansi,png}
scripts/lab run --kernel stock --timeout 1800 -- tests/clients/run.sh | tee "$out/clients.tap" ||
	status=$?
line=$(tail -n 1 "$out/clients.tap")
# A machine that died, or a report of its kernel, is a failure of its own.
if ((status)) && [[ ! $line =~ ,\ [1-9][0-9]*\ failed$ ]]; then
	echo "not ok - the machine ends with status $status"
	echo "$(grep -oE '^[0-9]+ passed' <<<"$line" || echo 0 passed), 1 failed"
	exit "$status"
fi
font=$(scripts/lab path source)/lib/fonts/font_8x16.c
for screen in "$out"/*.ansi; do
	[[ -e $screen ]] || continue
	picture=${screen%.ansi}.png
	tests/clients/picture.py "$font" "$screen" "$picture"
	[[ ${1:-} != --keep-pictures ]] || cp "$picture" "Documentation/nvml-${picture##*/}"
done
echo "$line"
exit "$status"
