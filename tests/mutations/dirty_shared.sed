# SPDX-License-Identifier: GPL-2.0
# what: dirty pages: a pass goes on when another one has begun
# file: dirty.c
# lane: debug
# tests: dirty
s/pass->number != instance->dirty_pass/!pass->number/
