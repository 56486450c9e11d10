// SPDX-License-Identifier: GPL-2.0
/* Random numbers, files of sysfs, what the processes of a run share. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

struct fuzz_world fuzz;

/* splitmix64: any state is a good one. */
uint64_t fuzz_random(struct fuzz_rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

uint64_t fuzz_below(struct fuzz_rng *rng, uint64_t limit)
{
	return limit ? fuzz_random(rng) % limit : 0;
}

bool fuzz_chance(struct fuzz_rng *rng, unsigned int percent)
{
	return fuzz_below(rng, 100) < percent;
}

/* Values at which size and address checks go wrong, and some between. */
uint64_t fuzz_value(struct fuzz_rng *rng)
{
	static const uint64_t base[] = {
		0, 1, 4, 8, 64, 4096, 65536, 1ull << 20, 1ull << 30, 1ull << 31,
		1ull << 32, 1ull << 40, 1ull << 63, ~0ull, ~0ull - 4095, 0xffffffff,
	};
	uint64_t value = base[fuzz_below(rng, sizeof(base) / sizeof(base[0]))];

	switch (fuzz_below(rng, 4)) {
	case 0:
		return value;
	case 1:
		return value + fuzz_below(rng, 9) - 4;
	case 2:
		return value * fuzz_below(rng, 16);
	default:
		return fuzz_random(rng) >> fuzz_below(rng, 64);
	}
}

void fuzz_bytes(struct fuzz_rng *rng, void *buf, size_t count)
{
	uint8_t *bytes = buf;

	while (count--)
		*bytes++ = (uint8_t)fuzz_random(rng);
}

/* Changes a few bytes or words of what was right. */
void fuzz_mutate(struct fuzz_rng *rng, void *buf, size_t count)
{
	unsigned int times = 1 + (unsigned int)fuzz_below(rng, 3);
	uint8_t *bytes = buf;
	uint64_t value;
	size_t at;

	while (times--) {
		at = fuzz_below(rng, count);
		if (fuzz_chance(rng, 50)) {
			bytes[at] ^= (uint8_t)(1u << fuzz_below(rng, 8));
			continue;
		}
		value = fuzz_value(rng);
		at &= ~(size_t)7;
		memcpy(bytes + at, &value, count - at < 8 ? count - at : 8);
	}
}

void fuzz_count(enum fuzz_count what)
{
	__atomic_fetch_add(&fuzz.shared->count[what], 1, __ATOMIC_RELAXED);
}

/* Notes what is wrong, if it is the first, and ends the run. */
void fuzz_wrong(const char *fmt, ...)
{
	va_list args;

	if (__atomic_exchange_n(&fuzz.shared->failed, 1, __ATOMIC_SEQ_CST))
		return;
	va_start(args, fmt);
	vsnprintf(fuzz.shared->error, sizeof(fuzz.shared->error), fmt, args);
	va_end(args);
	__atomic_store_n(&fuzz.shared->stop, 1, __ATOMIC_SEQ_CST);
}

bool fuzz_over(void)
{
	return __atomic_load_n(&fuzz.shared->stop, __ATOMIC_RELAXED);
}

uint64_t fuzz_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void fuzz_sleep_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

int fuzz_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

void fuzz_uuid(struct fuzz_rng *rng, char uuid[37])
{
	uint64_t a = fuzz_random(rng), b = fuzz_random(rng);

	snprintf(uuid, 37, "%08x-%04x-4%03x-8%03x-%012llx", (uint32_t)a,
		 (uint32_t)(a >> 32) & 0xffff, (uint32_t)(a >> 48) & 0xfff,
		 (uint32_t)b & 0xfff, (unsigned long long)(b >> 16));
}

int fuzz_create(const struct fuzz_gpu *gpu, const char *type, const char *uuid)
{
	char path[320];

	snprintf(path, sizeof(path),
		 "/sys/class/mdev_bus/%s/mdev_supported_types/%s-%s/create",
		 gpu->address, gpu->prefix, type);
	return fuzz_write_file(path, uuid);
}

int fuzz_remove(const char *uuid)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/remove", uuid);
	return fuzz_write_file(path, "1");
}

/* What the driver counts for a vGPU; ~0 if it does not know that. */
uint64_t fuzz_faults(const char *uuid, uint32_t *status)
{
	struct vgpu_ctl_instance inst = { .size = sizeof(inst) };
	int fd = open("/dev/vgpu", O_RDONLY | O_CLOEXEC), ret;
	unsigned int i, at = 0, byte;

	for (i = 0; uuid[i] && at < VGPU_UUID_LEN; i++) {
		if (uuid[i] == '-' || sscanf(uuid + i, "%2x", &byte) != 1)
			continue;
		inst.uuid[at++] = (uint8_t)byte;
		i++;
	}
	ret = fd < 0 ? -1 : ioctl(fd, VGPU_IOC_INSTANCE, &inst);
	if (fd >= 0)
		close(fd);
	if (ret)
		return ~0ull;
	*status = inst.status;
	return inst.faults;
}
