# SPDX-License-Identifier: GPL-2.0
# what: helpers begin on any CPU
# file: team.c
# lane: lab
# tests: partition_cpus
/^static int soft_team_thread/,/^}/s/soft_unit_place(unit);/;/
