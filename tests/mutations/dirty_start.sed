# SPDX-License-Identifier: GPL-2.0
# what: dirty pages: what was there before the start is not marked
# file: track.c
# lane: debug
# tests: dirty
s/^\t\tif (soft_store_peek(store, pgoff))$/\t\tif (0)/
