/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs in guests print, line by line, and the host reads. */
#ifndef E2E_SAY_H
#define E2E_SAY_H

#include <stdbool.h>

/* Prints a line; failed() prints what is wrong and returns false. */
__attribute__((format(printf, 1, 2)))
void say(const char *fmt, ...);
__attribute__((format(printf, 1, 2)))
bool failed(const char *fmt, ...);

#endif /* E2E_SAY_H */
