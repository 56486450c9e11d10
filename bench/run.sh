#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [ROW...]: figures of a vGPU beside those of the kernel's sample drivers
# and of memcpy, in one machine of the lab with the stock kernel, and before
# that those of the scheduler in virtual time (bench/sched/run.sh, row "sched"),
# after it the scoreboard in another (bench/score-inside, row "score"). Prints
# tables and merges rows by name into build/bench.json. PAIRS=N: interleaved
# pairs (100); at least 20 are for figures that are to be shown.
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/.."

if [[ ${1:-} == --help ]]; then
	sed -n '3,8s/^# //p' bench/run.sh
	exit
fi
rows=() sched=$(( $# == 0 )) score=$(( $# == 0 )) samples=$(( $# == 0 ))
for row in "$@"; do
	case $row in
	sched|pick_scaling|qos_violations|qos_use) sched=1 ;;
	score) score=1 ;;
	*) rows+=("$row") samples=1 ;;
	esac
done
if (( sched )); then
	bench/sched/run.sh
	(( score || samples )) || exit 0
fi
scripts/lab image
scripts/build-modules stock
scripts/lab chroot make -s -C tools O="$PWD/build/lab-tools"
scripts/lab chroot make -s -C bench

commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
in_lab() {
	scripts/lab run --kernel stock --mem 3072 --timeout 590 \
		--env "PAIRS=${PAIRS:-100}" --env "COMMIT=$commit" -- "$@"
}

if (( samples )); then
	# The samples, from the distribution's source of the kernel, are built
	# where nothing of them gets into the repository.
	dir=build/bench/samples
	if [[ ! -e $dir/mbochs.ko ]]; then
		mkdir -p "$dir"
		cp "$(scripts/lab path source)"/samples/vfio-mdev/*.[ch] "$dir/"
		echo 'obj-m := mtty.o mbochs.o mdpy.o' >"$dir/Kbuild"
		scripts/lab chroot make -s -C "$(scripts/lab path stock/build)" M="$PWD/$dir" modules
	fi
	in_lab bench/run-inside "${rows[@]}"
fi
if (( score )); then
	in_lab bench/score-inside
fi
