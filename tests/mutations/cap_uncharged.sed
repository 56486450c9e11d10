# SPDX-License-Identifier: GPL-2.0
# what: policy: what an entity runs does not count against its cap
# file: qos.c
# lane: unit
# tests: test_qos
/^static void qos_charge/,/^}/s/q->limit_ns += vgpu_qos_span(ran_ns, share->cap);/q->limit_ns += 0;/
