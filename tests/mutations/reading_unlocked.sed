# SPDX-License-Identifier: GPL-2.0
# what: order: an invalidation returns while a program is read by the old page tables
# file: programs.c
# lane: unit
# tests: test_programs
/^void soft_programs_invalidate/,/^}/{
	/mutex_lock(/d
	/mutex_unlock(/d
}
