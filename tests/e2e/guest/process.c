// SPDX-License-Identifier: GPL-2.0
/* Programs that a test in a guest starts: see process.h. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "process.h"
#include "say.h"

pid_t process_start(char *const argv[], void (*before)(void), int *said)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		if (before)
			before();
		execv(argv[0], argv);
		_exit(127);
	}
	close(ends[1]);
	*said = ends[0];
	return pid;
}

int process_hear(pid_t pid, int said, char *all)
{
	int status = -1;
	size_t have = 0;
	ssize_t n;

	while ((n = read(said, all + have, PROCESS_ROOM - 1 - have)) > 0)
		have += (size_t)n;
	all[have] = 0;
	close(said);
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

bool process_ends(pid_t pid, int said, int want, const char *text)
{
	char all[PROCESS_ROOM];
	int status = process_hear(pid, said, all);

	if (status != want || !strstr(all, text))
		return failed("a program: status %#x, and said: %s", (unsigned int)status, all);
	return true;
}

bool process_runs(char *const argv[], void (*before)(void), int code, const char *text)
{
	int said;
	pid_t pid = process_start(argv, before, &said);

	if (pid < 0)
		return failed("fork: %s", strerror(errno));
	return process_ends(pid, said, W_EXITCODE(code, 0), text);
}
