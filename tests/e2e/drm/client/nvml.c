// SPDX-License-Identifier: GPL-2.0
/*
 * nvml TYPE UUID VERSION WORKER [none]: a client of libnvidia-ml.so.1 in a guest whose vGPU, of
 * that type and UUID, is at work; VERSION is that of the driver's module. WORKER is the process
 * that works, as far as this user may know it: 0 if not; with "none" there is no /proc. Says "all
 * is right", or what is not.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvml.h"

#define PROCESSES	64
/* On a busy host no packet of the worker may have ended between two looks of the library. */
#define LOOKS		60
#define LOOK_US		500000
#define CHECK(cond)	check((cond), __LINE__, #cond)

typedef nvmlReturn_t (*call_t)(nvmlDevice_t device, void *a, void *b, void *c);

static nvmlDevice_t dev;

static void check(bool ok, int line, const char *text)
{
	if (ok)
		return;
	printf("nvml.c:%d: not true: %s\n", line, text);
	exit(1);
}

static void check_identity(const char *type, const char *uuid, const char *version)
{
	nvmlGpuVirtualizationMode_t mode;
	nvmlComputeMode_t compute;
	char text[96], wanted[96];
	nvmlDevice_t same;
	unsigned int nr;

	CHECK(!nvmlDeviceGetCount_v2(&nr) && nr == 1);
	CHECK(!nvmlDeviceGetName(dev, text, sizeof(text)) && !strcmp(text, type));
	snprintf(wanted, sizeof(wanted), "GPU-%s", uuid);
	CHECK(!nvmlDeviceGetUUID(dev, text, sizeof(text)) && !strcmp(text, wanted));
	CHECK(!nvmlDeviceGetHandleByUUID(text, &same) && same == dev);
	CHECK(!nvmlDeviceGetVirtualizationMode(dev, &mode) &&
	      mode == NVML_GPU_VIRTUALIZATION_MODE_VGPU);
	CHECK(!nvmlDeviceGetComputeMode(dev, &compute) && compute == NVML_COMPUTEMODE_PROHIBITED);
	CHECK(!nvmlDeviceGetVbiosVersion(dev, text, sizeof(text)) &&
	      !strcmp(text, "00.00.00.00.00"));
	CHECK(!nvmlSystemGetDriverVersion(text, sizeof(text)) && !strcmp(text, version));
	CHECK(!nvmlDeviceGetMinorNumber(dev, &nr) && nr == 128);
}

/* What a vGPU has not, and what only its host knows. */
static void check_unsupported(void)
{
	static const char * const names[] = {
		"nvmlDeviceGetSerial", "nvmlDeviceGetInforomVersion",
		"nvmlDeviceGetInforomImageVersion", "nvmlDeviceGetInforomConfigurationChecksum",
		"nvmlDeviceGetMaxPcieLinkGeneration", "nvmlDeviceGetMaxPcieLinkWidth",
		"nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetCurrPcieLinkWidth",
		"nvmlDeviceGetPcieThroughput", "nvmlDeviceGetPcieReplayCounter",
		"nvmlDeviceGetFanSpeed", "nvmlDeviceGetFanSpeed_v2", "nvmlDeviceGetClockInfo",
		"nvmlDeviceGetMaxClockInfo", "nvmlDeviceGetApplicationsClock",
		"nvmlDeviceGetTemperature", "nvmlDeviceGetTemperatureThreshold",
		"nvmlDeviceGetPowerState", "nvmlDeviceGetPowerUsage",
		"nvmlDeviceGetPowerManagementLimit", "nvmlDeviceGetEnforcedPowerLimit",
		"nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetEccMode",
		"nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetDetailedEccErrors",
		"nvmlDeviceGetRetiredPages", "nvmlDeviceGetMigMode",
		"nvmlDeviceGetSupportedVgpus", "nvmlDeviceGetCreatableVgpus",
		"nvmlDeviceGetActiveVgpus", "nvmlDeviceGetHostVgpuMode",
		"nvmlDeviceGetVgpuMetadata", "nvmlDeviceGetVgpuSchedulerCapabilities",
		"nvmlDeviceGetAccountingMode",
	};
	char buffer[4096];
	unsigned int i;
	call_t call;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		call = (call_t)dlsym(RTLD_DEFAULT, names[i]);
		CHECK(call);
		memset(buffer, 0, sizeof(buffer));
		if (call(dev, buffer, buffer, buffer) != NVML_ERROR_NOT_SUPPORTED) {
			printf("%s is not refused\n", names[i]);
			exit(1);
		}
	}
}

static void check_numbers(void)
{
	nvmlGpuDynamicPstatesInfo_t pstates;
	nvmlUtilization_t rates;
	nvmlMemory_t memory;
	unsigned int looks;

	CHECK(!nvmlDeviceGetMemoryInfo(dev, &memory));
	CHECK(memory.used && memory.free && memory.used + memory.free == memory.total);
	CHECK(!nvmlDeviceGetUtilizationRates(dev, &rates));
	for (looks = 1; !rates.gpu && looks < LOOKS; looks++) {
		usleep(LOOK_US);
		CHECK(!nvmlDeviceGetUtilizationRates(dev, &rates));
	}
	CHECK(rates.gpu >= 1 && rates.gpu <= 100 && rates.memory <= 100);
	CHECK(!nvmlDeviceGetDynamicPstatesInfo(dev, &pstates));
	CHECK(pstates.utilization[NVML_GPU_UTILIZATION_DOMAIN_GPU].bIsPresent);
	for (looks = 1; !pstates.utilization[NVML_GPU_UTILIZATION_DOMAIN_GPU].percentage &&
	     looks < LOOKS; looks++) {
		usleep(LOOK_US);
		CHECK(!nvmlDeviceGetDynamicPstatesInfo(dev, &pstates));
	}
	CHECK(pstates.utilization[NVML_GPU_UTILIZATION_DOMAIN_GPU].percentage >= 1);
	CHECK(pstates.utilization[NVML_GPU_UTILIZATION_DOMAIN_GPU].percentage <= 100);
	printf("gr %u %%, of its due %u %%, used %llu KiB\n", rates.gpu,
	       pstates.utilization[NVML_GPU_UTILIZATION_DOMAIN_GPU].percentage, memory.used >> 10);
}

static void check_processes(unsigned int worker)
{
	nvmlProcessUtilizationSample_t samples[PROCESSES];
	nvmlProcessInfo_t list[PROCESSES];
	unsigned int count = PROCESSES, looks;
	nvmlReturn_t ret;

	CHECK(!nvmlDeviceGetGraphicsRunningProcesses_v3(dev, &count, list));
	CHECK(count == (worker ? 1 : 0));
	if (worker)
		CHECK(list[0].pid == worker && list[0].usedGpuMemory >= 1 << 20);
	count = PROCESSES;
	ret = nvmlDeviceGetProcessUtilization(dev, samples, &count, 0);
	if (!worker) {
		CHECK(ret == NVML_ERROR_NOT_FOUND);
		return;
	}
	for (looks = 1; !ret && count == 1 && !samples[0].smUtil && looks < LOOKS; looks++) {
		usleep(LOOK_US);
		count = PROCESSES;
		ret = nvmlDeviceGetProcessUtilization(dev, samples, &count, 0);
	}
	CHECK(!ret && count == 1 && samples[0].pid == worker);
	CHECK(samples[0].smUtil >= 1 && samples[0].smUtil <= 100);
	printf("process %u: gr %u %%\n", worker, samples[0].smUtil);
}

static void check_no_proc(void)
{
	unsigned int count = 0;
	nvmlPciInfo_t pci;

	CHECK(nvmlDeviceGetGraphicsRunningProcesses_v3(dev, &count, NULL) ==
	      NVML_ERROR_NOT_SUPPORTED);
	CHECK(nvmlDeviceGetProcessUtilization(dev, NULL, &count, 0) == NVML_ERROR_NOT_SUPPORTED);
	CHECK(!nvmlDeviceGetPciInfo_v3(dev, &pci) && pci.pciDeviceId == 0x10f11af4);
}

int main(int argc, char **argv)
{
	CHECK(argc >= 5);
	CHECK(!nvmlInit_v2());
	CHECK(!nvmlDeviceGetHandleByIndex_v2(0, &dev));
	check_identity(argv[1], argv[2], argv[3]);
	check_unsupported();
	check_numbers();
	if (argc > 5)
		check_no_proc();
	else
		check_processes((unsigned int)atoi(argv[4]));
	CHECK(!nvmlShutdown());
	printf("all is right\n");
	return 0;
}
