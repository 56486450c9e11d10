/* SPDX-License-Identifier: GPL-2.0 */
/* Child processes of a test, and memory that the test shares with them. */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Starts a process that calls @run and exits, with status 0 unless a check failed in it. It
 * is killed when the test's process dies, and by child_cleanup().
 */
pid_t child_start(void (*run)(void *arg), void *arg);

/* Whether the child has ended in time; if so it is reaped, and @status is as of waitpid(). */
bool child_ends(pid_t pid, int timeout_ms, int *status);

/* SIGKILL; fails the test if the child outlives that for long. */
void child_kill(pid_t pid);

/* The state of a process or thread, of /proc/PID/stat: 'S' sleeps, 'D' where no signal wakes it. */
char child_state(pid_t pid);

/* What ps and the OOM killer see of a process, in bytes; @key: "VmRSS:", "RssShmem:". */
uint64_t child_resident(pid_t pid, const char *key);

/* Zeroed memory that children started later share with the test. child_cleanup() frees it. */
void *child_shared(size_t bytes);

void child_cleanup(void);

#endif /* CHILD_H */
