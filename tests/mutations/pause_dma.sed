# SPDX-License-Identifier: GPL-2.0
# what: pause: the worker goes on with guest memory
# file: pause.c
# lane: debug
# tests: pause
s/= vgpu_dma_pause(instance->dma);$/= 0;/
