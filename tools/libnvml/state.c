// SPDX-License-Identifier: GPL-2.0
/* The library's state and its lock. */
#include <pthread.h>

#include "internal.h"

/* Protects nv, and each call from all others; nvmlEventSetWait() waits without it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct nv_state nv = { .fd = -1 };

/* Of the thread that has the lock: whether it can be cancelled when it has not. */
static int cancel_state;

/* A thread that is cancelled at an open() or a read() in here would keep the lock. */
void nv_lock(void)
{
	int old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	pthread_mutex_lock(&lock);
	cancel_state = old;
}

void nv_unlock(void)
{
	int old = cancel_state;

	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(old, NULL);
}

static void state_child(void)
{
	nv.fd_is_parents = nv.fd >= 0;
	nv_unlock();
}

/* A child of fork() has the state as it is between two calls, and goes on with it. */
__attribute__((constructor))
static void state_fork(void)
{
	pthread_atfork(nv_lock, nv_unlock, state_child);
}

nvmlReturn_t nv_enter(void)
{
	nv_lock();
	if (nv.refs)
		return NVML_SUCCESS;
	return nv_leave(NVML_ERROR_UNINITIALIZED);
}

nvmlReturn_t nv_leave(nvmlReturn_t ret)
{
	nv_unlock();
	return ret;
}

struct nvmlDevice_st *nv_device_at(nvmlDevice_t handle)
{
	unsigned int i;

	for (i = 0; i < nv.devices; i++)
		if (handle == &nv.device[i])
			return &nv.device[i];
	return NULL;
}

nvmlReturn_t nv_enter_host(void)
{
	nvmlReturn_t ret = nv_enter();

	return ret || nv.source->is_host ? ret : nv_leave(NVML_ERROR_NOT_SUPPORTED);
}
