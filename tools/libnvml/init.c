// SPDX-License-Identifier: GPL-2.0
/* nvmlInit() to nvmlShutdown(), and what clients ask about the library. */
#include <string.h>
#include <time.h>

#include "internal.h"

static void init_undo(void)
{
	nv.source->exit();
	memset(&nv, 0, sizeof(nv));
	nv.fd = -1;
}

/* A VM that has vGPUs of its own to give is a host. */
static nvmlReturn_t init_first(void)
{
	static const struct nv_source * const sources[] = { &nv_source_host, &nv_source_render };
	nvmlReturn_t ret = NVML_ERROR_DRIVER_NOT_LOADED;
	unsigned int i;

	for (i = 0; i < NV_ARRAY_SIZE(sources) && ret == NVML_ERROR_DRIVER_NOT_LOADED; i++) {
		nv.source = sources[i];
		/* Once, so that a time that a client gives back is the same again. */
		nv.epoch_ns = nv_clock_ns(CLOCK_REALTIME) - nv_clock_ns(CLOCK_MONOTONIC);
		ret = nv.source->init();
		if (ret)
			init_undo();
	}
	return ret;
}

nvmlReturn_t nvmlInitWithFlags(unsigned int flags)
{
	nvmlReturn_t ret = NVML_SUCCESS;

	if (flags & ~(NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH))
		return NVML_ERROR_INVALID_ARGUMENT;
	nv_lock();
	if (!nv.refs)
		ret = init_first();
	if (!ret)
		nv.refs++;
	return nv_leave(ret);
}

nvmlReturn_t nvmlInit_v2(void)
{
	return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlShutdown(void)
{
	nvmlReturn_t ret = nv_enter();

	if (ret)
		return ret;
	if (!--nv.refs)
		init_undo();
	return nv_leave(NVML_SUCCESS);
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
	nvmlReturn_t ret = nv_enter();

	return ret ? ret : nv_leave(nv_put_text(version, length, nv.driver_version));
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
	return nv_put_text(version, length, NV_VERSION);
}

/* There is none: no CUDA runs on these GPUs. */
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	nvmlReturn_t ret = nv_enter();

	if (ret)
		return ret;
	return nv_leave(version ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT);
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length)
{
	nvmlReturn_t ret = nv_enter();
	char text[NVML_VGPU_NAME_BUFFER_SIZE];

	if (ret)
		return ret;
	nv_process_name(pid, text, sizeof(text));
	if (!text[0])
		return nv_leave(NVML_ERROR_NOT_FOUND);
	return nv_leave(nv_put_text(name, length, text));
}
