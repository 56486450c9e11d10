# SPDX-License-Identifier: GPL-2.0
# what: turns: a turn's time is given to the channel that follows
# file: turn.c
# lane: debug
# tests: channel
s/turns->over = turns->now;/turns->over = turn;/
