# SPDX-License-Identifier: GPL-2.0
# what: dirty pages: what is read from guest memory is not marked
# file: dma.c
# lane: debug
# tests: dirty
/^static void soft_dma_ran/,/^}/s/^\t\tsoft_store_mark(.*$/\t\t;/
