# SPDX-License-Identifier: GPL-2.0
# what: refcounts: the source of a vGPU goes with its last session, though the vGPU is there
# file: session_log.c
# lane: unit
# tests: test_session_log
s/if (source->users || source->nr_ended)/if (source->nr_ended)/
