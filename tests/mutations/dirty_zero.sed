# SPDX-License-Identifier: GPL-2.0
# what: dirty pages: what a COPY of zeros writes is not marked
# file: move.c
# lane: debug
# tests: dirty
s/^\t\tsoft_store_mark(.*$/\t\t;/
