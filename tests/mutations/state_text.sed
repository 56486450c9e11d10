# SPDX-License-Identifier: GPL-2.0
# what: states: a dispatch is loaded with a program that is shorter than its head says
# file: context_state.c
# lane: unit
# tests: test_vgpu_state
s/program->text.nr != head->text_bytes \/ 4/!program->text.nr/
