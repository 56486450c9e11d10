# SPDX-License-Identifier: GPL-2.0
# what: dirty pages: a pass leaves engines their translations
# file: dirty.c
# lane: lab
# tests: dirty
s/^\t\tret = ops->dirty_sync(.*$/\t\t;/
