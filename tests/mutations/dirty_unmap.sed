# SPDX-License-Identifier: GPL-2.0
# what: dirty pages: a pass leaves pages mapped
# file: dirty.c
# lane: debug
# tests: dirty
s/^\t\tinstance->front->unmap(.*$/\t\t;/
