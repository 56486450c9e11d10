# SPDX-License-Identifier: GPL-2.0
# what: bounds: a PRESENT on the head behind the last one
# file: packet.c
# lane: unit
# tests: test_packet
s/packet->head >= limits->num_heads/packet->head > limits->num_heads/
