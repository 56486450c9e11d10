# SPDX-License-Identifier: GPL-2.0
# what: locks: a doorbell queues its channel without the lock of the queues
# file: channel.c
# lane: debug
# tests: submit
/^void soft_channel_doorbell/,/^}/{
	/^\traw_spin_lock(/d
	/^\traw_spin_unlock(/d
}
