# SPDX-License-Identifier: GPL-2.0
# what: channels that are idle keep the room of flights that others need for units
# file: context.c
# lane: lab
# tests: units_idle
/^void soft_context_fill_up/,/^}/s/== -EBUSY/> 0/
