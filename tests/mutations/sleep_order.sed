# SPDX-License-Identifier: GPL-2.0
# what: order: an engine looks at put for the last time before it says that it sleeps
# file: queue.c
# lane: lab
# tests: doorbell
/^static bool soft_queue_sleep/,/^}/{
	s/if (le64_to_cpu(READ_ONCE(ch->hw->put)) == ch->get)/if (empty)/
	/VGPU_HW_STATE_SLEEPING/i\
	bool empty = le64_to_cpu(READ_ONCE(ch->hw->put)) == ch->get;\

}
