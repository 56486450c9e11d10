# SPDX-License-Identifier: GPL-2.0
# what: policy: the cycle does not learn of an entity that starts
# file: equal_share.c
# lane: unit
# tests: test_slots test_slots_load test_slots_naive
/^static void equal_start/,/^}/s/slots->dirty = true;/slots->dirty |= false;/
