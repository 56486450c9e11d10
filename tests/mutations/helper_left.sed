# SPDX-License-Identifier: GPL-2.0
# what: threads of helpers stay when one of them cannot be made
# file: team.c
# lane: debug
# tests: inject_gpu
/^int soft_team_init/,/^}/s/while (i--)/while (false)/
