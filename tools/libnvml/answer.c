// SPDX-License-Identifier: GPL-2.0
/* How functions answer: texts, arrays, the texts of errors. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../vgpuctl/utf8.h"
#include "internal.h"

nvmlReturn_t nv_put_text(char *to, unsigned int room, const char *text)
{
	size_t need = strlen(text) + 1;

	if (!to)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (room < need)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	memcpy(to, text, need);
	return NVML_SUCCESS;
}

nvmlReturn_t nv_put_text_size(char *to, unsigned int *room, const char *text)
{
	unsigned int need = (unsigned int)strlen(text) + 1;

	if (!room)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (!to || *room < need) {
		*room = need;
		return NVML_ERROR_INSUFFICIENT_SIZE;
	}
	memcpy(to, text, need);
	return NVML_SUCCESS;
}

nvmlReturn_t nv_put_count(const void *array, unsigned int *room, unsigned int needed)
{
	bool fits = !needed || (array && *room >= needed);

	*room = needed;
	return fits ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

/* Without sprintf(), which took half the time of a listing of vGPUs. */
void nv_uuid_text(const uint8_t *uuid, char *text)
{
	static const char digits[] = "0123456789abcdef";
	unsigned int i;

	for (i = 0; i < VGPU_UUID_LEN; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*text++ = '-';
		*text++ = digits[uuid[i] >> 4];
		*text++ = digits[uuid[i] & 0xf];
	}
	*text = 0;
}

/* FNV-1a twice; a UUID of version 8, whose content is the maker's own. */
void nv_uuid_of(const char *text, uint8_t uuid[VGPU_UUID_LEN])
{
	uint64_t half[2] = { 0xcbf29ce484222325ull, 0x9ae16a3b2f90404full };
	unsigned int i;

	for (; *text; text++)
		for (i = 0; i < 2; i++)
			half[i] = (half[i] ^ (uint8_t)*text) * 0x100000001b3ull;
	for (i = 0; i < VGPU_UUID_LEN; i++)
		uuid[i] = (uint8_t)(half[i / 8] >> (56 - i % 8 * 8));
	uuid[6] = (uuid[6] & 0x0f) | 0x80;
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

void nv_shown_text(char *to, const uint8_t *text, size_t bytes)
{
	const uint8_t *end = text + strnlen((const char *)text, bytes);
	size_t n;

	while (text < end) {
		n = utf8_shown_length(text, (size_t)(end - text));
		if (n)
			to = mempcpy(to, text, n);
		else
			*to++ = '?';
		text += n ? n : 1;
	}
	*to = 0;
}

void nv_process_name(unsigned int pid, char *name, size_t room)
{
	uint8_t comm[64];
	char path[32];
	ssize_t length = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		length = read(fd, comm, room - 1 < sizeof(comm) ? room - 1 : sizeof(comm));
		close(fd);
	}
	if (length < 0)
		length = 0;
	if (length && comm[length - 1] == '\n')
		length--;
	nv_shown_text(name, comm, (size_t)length);
}

const char *nvmlErrorString(nvmlReturn_t result)
{
	static const char * const texts[] = {
		[NVML_SUCCESS] = "Success",
		[NVML_ERROR_UNINITIALIZED] = "Uninitialized",
		[NVML_ERROR_INVALID_ARGUMENT] = "Invalid Argument",
		[NVML_ERROR_NOT_SUPPORTED] = "Not Supported",
		[NVML_ERROR_NO_PERMISSION] = "Insufficient Permissions",
		[NVML_ERROR_ALREADY_INITIALIZED] = "Already Initialized",
		[NVML_ERROR_NOT_FOUND] = "Not Found",
		[NVML_ERROR_INSUFFICIENT_SIZE] = "Insufficient Size",
		[NVML_ERROR_INSUFFICIENT_POWER] = "Insufficient External Power",
		[NVML_ERROR_DRIVER_NOT_LOADED] = "Driver Not Loaded",
		[NVML_ERROR_TIMEOUT] = "Timeout",
		[NVML_ERROR_IRQ_ISSUE] = "Interrupt Request Issue",
		[NVML_ERROR_LIBRARY_NOT_FOUND] = "Library Not Found",
		[NVML_ERROR_FUNCTION_NOT_FOUND] = "Function Not Found",
		[NVML_ERROR_CORRUPTED_INFOROM] = "Corrupted InfoROM",
		[NVML_ERROR_GPU_IS_LOST] = "GPU is lost",
		[NVML_ERROR_RESET_REQUIRED] = "GPU requires reset",
		[NVML_ERROR_OPERATING_SYSTEM] = "Blocked by the operating system",
		[NVML_ERROR_LIB_RM_VERSION_MISMATCH] = "Driver/library version mismatch",
		[NVML_ERROR_IN_USE] = "In use by another client",
		[NVML_ERROR_MEMORY] = "Out of memory",
		[NVML_ERROR_NO_DATA] = "No data",
		[NVML_ERROR_VGPU_ECC_NOT_SUPPORTED] = "vGPU with ECC is not supported",
		[NVML_ERROR_INSUFFICIENT_RESOURCES] = "Insufficient resources",
		[NVML_ERROR_FREQ_NOT_SUPPORTED] = "Frequency is not supported",
		[NVML_ERROR_ARGUMENT_VERSION_MISMATCH] = "Argument version mismatch",
		[NVML_ERROR_DEPRECATED] = "Deprecated",
		[NVML_ERROR_NOT_READY] = "Not ready",
		[NVML_ERROR_GPU_NOT_FOUND] = "GPU not found",
		[NVML_ERROR_INVALID_STATE] = "Invalid state",
		[NVML_ERROR_RESET_TYPE_NOT_SUPPORTED] = "Reset type is not supported",
	};

	return (unsigned int)result < NV_ARRAY_SIZE(texts) ? texts[result] : "Unknown Error";
}
