// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <signal.h>

#include "bus.h"

static sigjmp_buf bus_return;
static struct sigaction bus_before;

static void bus_on_signal(int signal)
{
	siglongjmp(bus_return, signal);
}

void bus_catch(void)
{
	const struct sigaction action = { .sa_handler = bus_on_signal };

	sigaction(SIGBUS, &action, &bus_before);
}

void bus_release(void)
{
	sigaction(SIGBUS, &bus_before, NULL);
}

bool bus_write(volatile uint8_t *at, uint8_t value)
{
	if (sigsetjmp(bus_return, 1))
		return false;
	*at = value;
	return true;
}
