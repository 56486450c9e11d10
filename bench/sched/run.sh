#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sched/run.sh [OPTION]...: the policies compared in virtual time, in a minute.
# Prints the tables, writes build/bench-sched.json and build/bench-sched.svg, and
# merges its rows into build/bench.json. OPTION: see bench_sched --help; with
# --scenario or --policy nothing is merged.
# sched/run.sh attack [OPTION]...: the adversarial search alone, see bench_attack
# --help; with --policy or --replay nothing is merged.
# sched/run.sh --doc: writes the tables and the chart into Documentation/.
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
	exec bench/merge.py "$attacks"
fi
for arg in "$@"; do
	case $arg in
	--help|--list|--scenario*|--policy*) exec "$bench" "$@" ;;
	esac
done
rows=build/bench/sched/rows.json
if [[ ${1:-} == --doc ]]; then
	doc=Documentation/scheduler-bench
	tables=$("$bench" --rst --json build/bench-sched.json --svg "$doc.svg" --rows "$rows")
	{
		printf '.. SPDX-License-Identifier: GPL-2.0\n\n'
		printf '=====================\nPolicies in the bench\n=====================\n\n'
		printf 'Made by ``bench/sched/run.sh --doc``; `scheduler.rst <scheduler.rst>`_ says what the policies are.\n\n'
		printf '%s\n\n' "${tables%%$'\n'row  *}"
		"$attack" --rst
	} >"$doc.rst"
	exit
fi
"$bench" --json build/bench-sched.json --svg build/bench-sched.svg --rows "$rows" "$@"
"$attack" --rows "$attacks"
bench/merge.py --measured 'pick_*=wall' --measured "virtual time" "$rows" "$attacks"
echo
echo "build/bench-sched.json has all of it, build/bench-sched.svg shows it"
