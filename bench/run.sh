#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [ROW...]: figures of a vGPU beside those of the kernel's sample drivers,
# of memcpy and of an eventfd, those of the scheduler in virtual time
# (bench/sched/run.sh, row "sched"), those of programs on the engine in user space
# (bench/compute/run.sh, row "compute"), and the scoreboard (bench/score-inside,
# row "score", or some of its rows by name). Prints tables and merges rows by name
# into build/bench.json, each with how it was measured (bench/merge.py --help).
#
# Rows about speed run in the lab's stock machine, on the clock; so do compute_lab_*,
# samples of programs with each interpreter that the module can be loaded with, and
# units_*, samples on two units beside one, each on a processor of this host, and
# partition_space, a vGPU beside one that hogs another partition, in a machine with a
# processor for each of seven units, of which two are busy. The
# scoreboard, empty_packet, compute_dispatch and units_few run in one whose clock counts
# instructions (scripts/lab run --icount), so that other work on this host does not
# change them; with WALL=1 they run in the stock machine, too.
#
# guest_* are measured by a VM that has two vGPUs, one with the guest's driver and one
# that a program drives itself (bench/guest/drm), in a machine that counts instructions,
# too; with GUEST_LAB=uml on the clock of User Mode Linux, in some minutes.
#
# migrate_converge, with which migrate_downtime and migrate_bytes come, moves a vGPU of
# 1 GiB, or MIB=N MiB of it, from one device to another; with the other migrate_* it runs in
# machines that count instructions. migrate is all of them.
#
# PAIRS=N: interleaved pairs of a row of the samples (100; of attach, which takes
# seconds, 20 at most, of pollers 10, loads of compute_lab_* 6 and of units_* 10, of
# guest_* 20, of migrate_* 20, moves 3); at least 20 are for figures that are to be shown.
# SCORE_PAIRS=N: the same of the scoreboard's rows that compare (20; of is_009,
# whose ratios differ by 0.3 % only, 3).
# UNITS=N, CPUS=N: with so many units of gr, in machines of so many processors (the
# default, and 2); the scoreboard's clients have the last one, engines the others.
# switch_loss_units and switch_loss_compute_units are those rows with four units.
# TIMEOUT=SECONDS of this host that each machine may take (3600).
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/.."

if [[ ${1:-} == --help ]]; then
	sed -n '3,/^set/s/^#\( \|$\)//p' bench/run.sh
	exit
fi
(( $# )) || set -- sched compute region_read create_remove fb_first_touch copy_bandwidth \
	plane_query display_frames display_flips ctl_list nvml_list stats_cat ctl_pollers \
	nvml_pollers nvml_heap compute_lab_sgemm compute_lab_sha256 compute_lab_reduce \
	units_sgemm units_mandelbrot units_sha256 units_few units_hogged partition_space attach \
	empty_packet compute_dispatch guest_exec guest_clients guest_unmap guest_evict guest_cost \
	migrate score
board=(is_003 is_004 is_006 is_007 is_008 use_3_idle switch_loss switch_latency
	preempt_latency switch_loss_compute compute_stop_p50 compute_stop_p99
	error_detect error_recover hang_detect hang_recover pause_p99 compute_pause_p99
	state_reload)
board_units=(switch_loss switch_loss_compute)
wall=() attach=() space=() counted=() guest=() score=() fast=()
score_units=() compute=() moves=() noting=() sched=
for row in "$@"; do
	case $row in
	sched|pick_scaling|pick_set|qos_violations|qos_use|partition_apart) sched=1 ;;
	units_few) counted+=("$row") ;;
	compute_lab_*|units_*) wall+=("$row") ;;
	compute_dispatch) counted+=("$row") ;;
	compute_stop_p*|compute_pause_p99|pause_p99|state_reload) score+=("$row") ;;
	compute|compute_*) compute+=("$row") ;;
	score) score=("${board[@]}") fast=(is_009) score_units=("${board_units[@]}") ;;
	switch_*_units) score_units+=("${row%_units}") ;;
	is_009) fast=("$row") ;;
	is_*|use_3_idle|switch_*|preempt_latency|error_*|hang_*) score+=("$row") ;;
	attach) attach=("$row") ;;
	partition_space) space=("$row") ;;
	migrate)
		moves=(migrate_move)
		noting=(migrate_pause migrate_tracking migrate_tracking_copy) ;;
	migrate_converge|migrate_downtime|migrate_bytes) moves=(migrate_move) ;;
	migrate_*) noting+=("$row") ;;
	guest_time) [[ " ${guest[*]} " == *" guest_clients "* ]] || guest+=(guest_clients) ;;
	guest_*) guest+=("$row") ;;
	empty_packet) counted+=("$row") ;;
	*) wall+=("$row") ;;
	esac
done
if [[ -n $sched ]]; then
	bench/sched/run.sh
fi
if (( ${#compute[@]} )); then
	[[ " ${compute[*]} " != *" compute "* ]] || compute=()
	bench/compute/run.sh "${compute[@]}"
fi
others=("${wall[@]}" "${space[@]}" "${attach[@]}" "${counted[@]}" "${guest[@]}" "${moves[@]}"
	"${noting[@]}" "${score[@]}" "${fast[@]}" "${score_units[@]}")
(( ${#others[@]} )) || exit 0
scripts/lab image
scripts/build-modules stock
scripts/lab chroot make -s -C tools O="$PWD/build/lab-tools"
scripts/lab chroot make -s -C bench

commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
# What a client does between two jobs takes a part of its slice that depends on how
# fast its processor is. 500 million instructions per second is a slow one still.
icount=(--icount) icount_fast=(--icount=1)
[[ -z ${WALL:-} ]] || icount=() icount_fast=()

# in_lab TITLE LAB_OPTION... -- COMMAND...
in_lab() {
	local start=$SECONDS title=$1
	shift
	echo "bench: $title ..." >&2
	scripts/lab run --kernel stock --mem 3072 --timeout "${TIMEOUT:-3600}" \
		--cpus "${CPUS:-2}" ${UNITS:+--env "UNITS=$UNITS"} \
		--env "PAIRS=${PAIRS:-100}" --env "COMMIT=$commit" "$@"
	echo "bench: $title took $(( SECONDS - start )) s" >&2
}

if (( ${#wall[@]} + ${#attach[@]} )); then
	# The samples, from the distribution's source of the kernel, are built
	# where nothing of them gets into the repository.
	dir=build/bench/samples
	if [[ ! -e $dir/mbochs.ko ]]; then
		mkdir -p "$dir"
		cp "$(scripts/lab path source)"/samples/vfio-mdev/*.[ch] "$dir/"
		echo 'obj-m := mtty.o mbochs.o mdpy.o' >"$dir/Kbuild"
		scripts/lab chroot make -s -C "$(scripts/lab path stock/build)" M="$PWD/$dir" modules
	fi
fi
if (( ${#wall[@]} )); then
	# The image has no compiler for RISC-V.
	[[ " ${wall[*]}" != *" compute_lab_"* && " ${wall[*]}" != *" units_"* ]] ||
		make -s -C tools
	in_lab "rows on the clock (some 7 min)" -- bench/run-inside "${wall[@]}"
fi
if (( ${#space[@]} )); then
	# Of its eight processors two are busy: as many as this host has.
	CPUS=8 UNITS=7 in_lab "${space[*]} (some 2 min)" -- bench/run-inside "${space[@]}"
fi
if (( ${#attach[@]} )); then
	bench/guest/image
	in_lab "${attach[*]} (a quarter of an hour)" -- bench/run-inside "${attach[@]}"
fi
if (( ${#counted[@]} )); then
	in_lab "${counted[*]} (half a minute)" "${icount[@]}" -- bench/run-inside "${counted[@]}"
fi
if (( ${#noting[@]} )); then
	in_lab "${noting[*]} (a minute)" "${icount_fast[@]}" -- bench/run-inside "${noting[@]}"
fi
if (( ${#moves[@]} )); then
	# A slower one copies hardly faster than the guest writes.
	lab=(--icount=0)
	[[ -z ${WALL:-} ]] || lab=()
	in_lab "moves (some 6 min)" "${lab[@]}" ${MIB:+--env "MIB=$MIB"} -- \
		bench/run-inside "${moves[@]}"
fi
if (( ${#guest[@]} )); then
	bench/guest/image drm
	# The VM is emulated by a machine that is: with a faster one an engine is awake still
	# when the VM's next packet comes.
	lab=(--icount=0)
	[[ -z ${WALL:-} ]] || lab=()
	if [[ -n ${GUEST_LAB:-} ]]; then
		scripts/build-modules "$GUEST_LAB"
		lab=(--kernel "$GUEST_LAB")
	fi
	in_lab "${guest[*]}" "${lab[@]}" -- bench/guest/rows-inside "${guest[@]}"
fi
if (( ${#fast[@]} )); then
	in_lab "${fast[*]} (some 7 min)" "${icount_fast[@]}" -- \
		bench/score-inside --pairs "${SCORE_PAIRS:-3}" --only "${fast[*]}"
fi
if (( ${#score[@]} )); then
	in_lab "the scoreboard (some 8 min)" "${icount[@]}" -- \
		bench/score-inside --pairs "${SCORE_PAIRS:-20}" --only "${score[*]}"
fi
if (( ${#score_units[@]} )); then
	# A processor for each unit, and one for the clients.
	CPUS=5 UNITS=4 in_lab "the scoreboard with four units (some 5 min)" "${icount[@]}" \
		--env SUFFIX=_units -- bench/score-inside --only "${score_units[*]}"
fi
