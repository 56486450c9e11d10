# SPDX-License-Identifier: GPL-2.0
# what: dirty pages: what programs write is not marked
# file: dispatch.c
# lane: debug
# tests: dirty
s/^\t\tsoft_store_mark(.*$/\t\t;/
