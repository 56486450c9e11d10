# SPDX-License-Identifier: GPL-2.0
# what: refcounts: a channel takes no reference of its page, and drops it
# file: channel.c
# lane: debug
# tests: submit
/^static struct page \*soft_channel_page/,/^}/s/get_page(page);/page_count(page);/
