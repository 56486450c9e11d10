# SPDX-License-Identifier: GPL-2.0
# what: pause: waits without a limit for an access that cannot be cut short
# file: dma.c
# lane: debug
# tests: pause
s/^\tif (vgpu_dma_wait_idle(worker, VGPU_DMA_CUT_MS))$/\twhile (!vgpu_dma_wait_idle(worker, VGPU_DMA_CUT_MS))\n\t\t;\n\tif (worker)/
