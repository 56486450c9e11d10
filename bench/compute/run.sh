#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# compute/run.sh [ROW...]: the engine that executes programs, in user space on this CPU, on the
# samples, beside the same C compiled for the CPU: rows compute_*; the same of programs in which
# lanes part: compute_native; the interpreter that the module would choose beside the fastest:
# compute_choice; how long programs take to stop: compute_stop; on several units: compute_units,
# compute_units_stop; beside another engine: compute_apart.
# Prints a table and merges the rows into build/bench.json. PAIRS=N: interleaved pairs (20). Needs
# gcc-riscv64-linux-gnu.
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../.."

if [[ ${1:-} == --help ]]; then
	sed -n '3,9s/^# //p' bench/compute/run.sh
	exit
fi
make -s -C bench/compute
rows=build/bench/compute/rows.json
build/bench/compute/bench_compute "${PAIRS:-20}" "$@" >"$rows"
COMMIT=$(git describe --always --dirty 2>/dev/null || echo unknown)
cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
bench/merge.py --commit "$COMMIT" --measured wall --machine "user space, $cpu" "$rows"
