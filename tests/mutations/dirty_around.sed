# SPDX-License-Identifier: GPL-2.0
# what: dirty pages: a page fault maps other pages, too
# file: map.c
# lane: debug
# tests: dirty
s/^\tif (instance->tracked) {$/\tif (0) {/
