/* SPDX-License-Identifier: GPL-2.0 */
/* Programs that a test in a guest starts, and what they say. */
#ifndef E2E_PROCESS_H
#define E2E_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/wait.h>

#define PROCESS_ROOM	2048	/* for what one says */

/*
 * Starts a program, with @before (or NULL) called in its process; what it prints, on standard error
 * as well, is to be read from @said. Returns -1 if it could not.
 */
pid_t process_start(char *const argv[], void (*before)(void), int *said);

/* Waits for its end. What it has said goes to @all, of PROCESS_ROOM bytes. Returns how it ended. */
int process_hear(pid_t pid, int said, char *all);

/* Its end must be with @want, as wait() has it, and after it has said @text. */
bool process_ends(pid_t pid, int said, int want, const char *text);

/* Starts it, and waits for its end, with that exit status. */
bool process_runs(char *const argv[], void (*before)(void), int code, const char *text);

#endif /* E2E_PROCESS_H */
