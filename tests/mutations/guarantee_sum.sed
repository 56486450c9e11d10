# SPDX-License-Identifier: GPL-2.0
# what: policy: guarantees may be one more than the engine
# file: share_rules.c
# lane: unit
# tests: test_share
/^int vgpu_share_admit/,/^}/s/others + guarantee <= VGPU_PER_MILLE)/others + guarantee < 1002)/
