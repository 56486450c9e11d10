# SPDX-License-Identifier: GPL-2.0
# what: bounds: a PRESENT on the head behind the last one
# file: packet_types.c
# lane: unit
# tests: test_packet
s/op->head >= limits->num_heads/op->head > limits->num_heads/
