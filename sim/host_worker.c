// SPDX-License-Identifier: GPL-2.0
/*
 * See host.h: the kernel's workers, one for each engine. A worker sleeps during a reset while all
 * else goes on, so it has a stack of its own. It is called from the loop, on whichever stack the
 * loop is, and switches back to it.
 */
#include "host.h"

#define WORKER_STACK_SIZE	(256 * 1024)

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(...)	((void)0)
#define __sanitizer_finish_switch_fiber(...)	((void)0)
#endif

/* The loop's host, for a worker that starts: makecontext() passes no pointers. */
static struct host *worker_host;

static void worker_main(void)
{
	struct host *host = worker_host;
	struct host_engine *engine = host->at_work;

	__sanitizer_finish_switch_fiber(NULL, &host->loop.stack, &host->loop.size);
	engine->tl.reset_work.func(&engine->tl.reset_work);
	engine->worker.busy = false;
	__sanitizer_start_switch_fiber(NULL, host->loop.stack, host->loop.size);
	swapcontext(&engine->worker.context, &host->loop.context);
}

/**
 * host_worker_event() - let a worker begin what was queued, or go on
 * @engine: the engine whose worker it is
 */
void host_worker_event(struct host_engine *engine)
{
	struct host *host = engine->host;
	struct host_worker *worker = &engine->worker;

	host_due_at(host, host_worker_source(host, engine->index), HOST_NEVER);
	BUG_ON(host->at_work);
	host->at_work = engine;
	worker_host = host;
	if (!worker->busy) {
		worker->busy = true;
		worker->fake = NULL;
		if (!worker->stack)
			worker->stack = host_alloc(1, WORKER_STACK_SIZE);
		getcontext(&worker->context);
		worker->context.uc_stack.ss_sp = worker->stack;
		worker->context.uc_stack.ss_size = WORKER_STACK_SIZE;
		makecontext(&worker->context, worker_main, 0);
	}
	__sanitizer_start_switch_fiber(&host->loop.fake, worker->stack, WORKER_STACK_SIZE);
	swapcontext(&host->loop.context, &worker->context);
	__sanitizer_finish_switch_fiber(host->loop.fake, NULL, NULL);
	host->at_work = NULL;
}

/**
 * host_worker_sleep() - the worker that runs sleeps
 * @host: the host
 * @ns:   for so long
 */
void host_worker_sleep(struct host *host, u64 ns)
{
	struct host_engine *engine = host->at_work;

	host_due_at(host, host_worker_source(host, engine->index), host->now_ns + ns);
	__sanitizer_start_switch_fiber(&engine->worker.fake, host->loop.stack, host->loop.size);
	swapcontext(&engine->worker.context, &host->loop.context);
	__sanitizer_finish_switch_fiber(engine->worker.fake, &host->loop.stack, &host->loop.size);
}
