# SPDX-License-Identifier: GPL-2.0
# what: refcounts: the worker has no reference of an access to guest memory
# file: dma.c
# lane: debug
# tests: submit
/^void vgpu_dma_submit/,/^}/s/kref_get(&dma->ref);/kref_read(\&dma->ref);/
