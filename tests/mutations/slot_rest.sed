# SPDX-License-Identifier: GPL-2.0
# what: partitions: an engine works on when its slot is over
# file: stop.c
# lane: unit
# tests: test_engine_clock
s/^\tunit->rests = vgpu_clock_stands_at.*/\tunit->rests = !clock;/
