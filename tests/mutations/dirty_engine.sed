# SPDX-License-Identifier: GPL-2.0
# what: dirty pages: what FILL, COPY and SIGNAL write is not marked
# file: space.c
# lane: debug
# tests: dirty
/^struct page \*soft_space_back/,/^}/s/^\tsoft_store_mark(.*$/\t;/
