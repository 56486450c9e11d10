# SPDX-License-Identifier: GPL-2.0
# what: turns: looks at channels whose doorbells are rung for nothing belong to another channel
# file: turn.c
# lane: unit
# tests: test_turn
s/^\tif (!soft_turn_is(&turns->now, ch))$/\tif (!turns->now.ch)/
