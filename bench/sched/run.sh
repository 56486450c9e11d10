#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sched/run.sh [OPTION]...: the policies compared in virtual time.
# Prints the tables, writes build/bench-sched.json and build/bench-sched.svg, and
# merges its rows into build/bench.json. OPTION: see bench_sched --help; with
# --scenario or --policy nothing is merged.
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../.."

make -s -C bench/sched
bench=build/bench/sched/bench_sched
COMMIT=$(git describe --always --dirty 2>/dev/null || echo unknown)
export COMMIT
for arg in "$@"; do
	case $arg in
	--help|--list|--scenario*|--policy*) exec "$bench" "$@" ;;
	esac
done
rows=build/bench/sched/rows.json
"$bench" --json build/bench-sched.json --svg build/bench-sched.svg --rows "$rows" "$@"
bench/merge.py --measured 'pick_*=wall' --measured "virtual time" "$rows"
echo
echo "build/bench-sched.json has all of it, build/bench-sched.svg shows it"
