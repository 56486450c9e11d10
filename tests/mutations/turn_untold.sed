# SPDX-License-Identifier: GPL-2.0
# what: turns: the guest is not told of what a channel is charged later
# file: turn.c
# lane: unit
# tests: test_turn
s/^\tsoft_turn_show(turn, 0);$//
