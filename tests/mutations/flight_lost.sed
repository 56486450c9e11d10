# SPDX-License-Identifier: GPL-2.0
# what: flights for which there was no memory count as if they were there
# file: flight.c
# lane: debug
# tests: inject_gpu
/^err_bytes:/,/^}/s/atomic64_sub.*;/;/
