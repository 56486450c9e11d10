#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [OPTION]...: looks for client behaviour that gets more of an engine than the scheduling
# policies promise, in virtual time. OPTION: see --help.
set -euo pipefail
cd -- "${BASH_SOURCE[0]%/*}/../../.."

make -s -C tests/fuzz/sched
exec build/fuzz/sched/fuzz_sched "$@"
