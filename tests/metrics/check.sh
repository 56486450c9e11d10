#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [KERNEL]: make check-metrics. promtool, and a Prometheus that scrapes node_exporter, read
# what vgpuctl metrics writes, and the queries of the Grafana dashboard are asked. Runs in a machine
# of the lab (stock: uml has no network) whose image has the packages of tests/metrics/packages.
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../.."

if [[ ${1:-} == --help ]]; then
	sed -n '3,5s/^# //p' tests/metrics/check.sh
	exit
fi
kernel=${1:-stock}
packages=tests/metrics/packages
scripts/lab image --packages "$packages"
scripts/build-modules "$kernel"
make -s -C tools
make -s -C tests/selftests
scripts/lab run --kernel "$kernel" --packages "$packages" --mem 1536 --timeout 3600 -- \
	tests/metrics/run.sh
