# SPDX-License-Identifier: GPL-2.0
# what: dirty pages: a page that somebody holds is not in each pass
# file: track.c
# lane: debug
# tests: dirty
s/^\t\tif (soft_track_held(page))$/\t\tif (0)/
