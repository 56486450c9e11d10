# SPDX-License-Identifier: GPL-2.0
# what: policy: the excess goes to all alike, whatever their weight
# file: qos.c
# lane: unit
# tests: test_qos
/^static void qos_charge/,/^}/s/vgpu_qos_span(ran_ns, share->weight)/vgpu_qos_span(ran_ns, 500)/
