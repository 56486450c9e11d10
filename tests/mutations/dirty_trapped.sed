# SPDX-License-Identifier: GPL-2.0
# what: dirty pages: trapped writes are not marked
# file: store.c
# lane: debug
# tests: dirty
/^int soft_store_rw/,/^}/s/soft_store_mark(store, pgoff);/;/
