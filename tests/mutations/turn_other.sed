# SPDX-License-Identifier: GPL-2.0
# what: turns: a turn's time is given to the channel that follows
# file: turn.c
# lane: debug
# tests: channel
s/soft_turn_give(turn->ch, service_ns/soft_turn_give(ch, service_ns/
