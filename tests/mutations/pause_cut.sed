# SPDX-License-Identifier: GPL-2.0
# what: pause: an access that was cut short is not done again
# file: dma.c
# lane: debug
# tests: pause
s/(\*ret == -EAGAIN || (\*ret && worker->cut))/*ret == -EAGAIN/
