# SPDX-License-Identifier: GPL-2.0
# what: owners: who makes a call on the file comes before who has the vGPU mapped
# file: owner.c
# lane: debug
# tests: holder
/^static unsigned int vgpu_owner_value/,/^}/s/2 \* !!holder->maps/2 * holder->called/
