# SPDX-License-Identifier: GPL-2.0
# what: refcounts: eventfds that are replaced are never put
# file: irq.c
# lane: debug
# tests: irq
/^static int irq_set_msix_eventfds/,/^}/s/^\t\t\teventfd_ctx_put(ctx\[i\]);/\t\t\tctx[i] = NULL;/
