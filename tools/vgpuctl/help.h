/* SPDX-License-Identifier: GPL-2.0 */
/* What --help prints. */
#ifndef VGPUCTL_HELP_H
#define VGPUCTL_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "command.h"

void help_all(FILE *out);
bool help_group(FILE *out, const char *word);
void help_command(const struct command *command);

#endif /* VGPUCTL_HELP_H */
