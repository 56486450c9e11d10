# SPDX-License-Identifier: GPL-2.0
# what: order: an engine does not look at put again after it has said that it sleeps
# file: queue.c
# lane: lab
# tests: doorbell
/^static bool soft_queue_sleep/,/^}/s/le64_to_cpu(READ_ONCE(ch->hw->put)) == ch->get/true/
