// SPDX-License-Identifier: GPL-2.0
/*
 * Signals that end a run. In a virtual machine nobody but this program stops its channel, so it
 * does that first; then it dies of the signal, which is what its parent asks for.
 */
#include <signal.h>

#include "run.h"

static const int ending[] = { SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM };

static volatile sig_atomic_t caught;

static void catch(int number)
{
	caught = number;
}

void signals_catch(void)
{
	struct sigaction action = { .sa_handler = catch }, was;
	size_t i;

	for (i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		/* What the parent has set to be ignored, as nohup does, stays so. */
		if (!sigaction(ending[i], NULL, &was) && was.sa_handler != SIG_IGN)
			sigaction(ending[i], &action, NULL);
	}
}

int signals_caught(void)
{
	return caught;
}

void signals_die(void)
{
	if (!caught)
		return;
	signal(caught, SIG_DFL);
	raise(caught);
}
