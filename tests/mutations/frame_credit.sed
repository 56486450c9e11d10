# SPDX-License-Identifier: GPL-2.0
# what: policy: a guest that has shown nothing for long has saved up frames
# file: frl.c
# lane: unit
# tests: test_frl
s/frl->next_ns = max(frl->next_ns + period_ns, now_ns);/frl->next_ns += period_ns;/
