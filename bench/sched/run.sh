#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sched/run.sh [OPTION]...: the policies compared in virtual time, and the adversarial search.
# Prints the tables, writes build/bench-sched.json and build/bench-sched.svg, and
# merges its rows into build/bench.json. OPTION: see bench_sched --help; with
# --scenario or --policy nothing is merged.
# sched/run.sh attack [OPTION]...: the adversarial search alone, see bench_attack
# --help; with --policy or --replay nothing is merged.
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../.."

make -s -C bench/sched
bench=build/bench/sched/bench_sched
attack=build/bench/sched/bench_attack
COMMIT=$(git describe --always --dirty 2>/dev/null || echo unknown)
export COMMIT
attacks=build/bench/sched/attacks.json
if [[ ${1:-} == attack ]]; then
	shift
	for arg in "$@"; do
		case $arg in
		--help|--policy*|--replay*) exec "$attack" "$@" ;;
		esac
	done
	"$attack" --rows "$attacks" "$@"
	exec bench/merge.py --measured "virtual time" "$attacks"
fi
for arg in "$@"; do
	case $arg in
	--help|--list|--scenario*|--policy*) exec "$bench" "$@" ;;
	esac
done
rows=build/bench/sched/rows.json
rst=()
[[ " $* " == *" --rst "* ]] && rst=(--rst)
"$bench" --json build/bench-sched.json --svg build/bench-sched.svg --rows "$rows" "$@"
"$attack" --rows "$attacks" "${rst[@]}"
bench/merge.py --measured 'pick_*=wall' --measured "virtual time" "$rows" "$attacks"
echo
echo "build/bench-sched.json has all of it, build/bench-sched.svg shows it"
