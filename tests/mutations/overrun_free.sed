# SPDX-License-Identifier: GPL-2.0
# what: policy: no more than a slice is charged for a run that overran it
# file: best_effort.c
# lane: unit
# tests: test_best_effort
/^static void drr_charge/,/^}/s|(u64)S64_MAX / 4)|max(rq->slice_ns, VGPU_DRR_MIN_NS))|
