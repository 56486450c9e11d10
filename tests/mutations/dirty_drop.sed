# SPDX-License-Identifier: GPL-2.0
# what: dirty pages: a reset is not said
# file: store.c
# lane: debug
# tests: dirty
s/^\t\tstore->dropped = true;$/\t\t;/
