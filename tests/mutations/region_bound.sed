# SPDX-License-Identifier: GPL-2.0
# what: bounds: an access of one byte more than the region has
# file: region.c
# lane: unit
# tests: test_region
/^int vgpu_region_decode/,/^}/s/count > size - from)/count > size - from + 1)/
