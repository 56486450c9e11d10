# SPDX-License-Identifier: GPL-2.0
# what: policy: an entity that slept has saved up guarantee
# file: qos.c
# lane: unit
# tests: test_qos
/^static void qos_wake/,/^}/s/now_ns - kept_ns)/now_ns - kept_ns - 20 * rq->slice_ns)/
