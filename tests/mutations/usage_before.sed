# SPDX-License-Identifier: GPL-2.0
# what: usage registers: a reset keeps the service
# file: usage.c
# lane: debug
# tests: usage
s/ - before_ns;$/ - 0 * before_ns;/
