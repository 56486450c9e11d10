// SPDX-License-Identifier: GPL-2.0
/* Random values, sysfs, and what the processes of a run share. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "node.h"
#include "uuid.h"

struct fuzz_world fuzz;

bool fuzz_chance(struct rng *rng, unsigned int percent)
{
	return rng_below(rng, 100) < percent;
}

uint64_t fuzz_value(struct rng *rng)
{
	static const uint64_t base[] = {
		0, 1, 4, 8, 64, 4096, 65536, 1ull << 20, 1ull << 30, 1ull << 31,
		1ull << 32, 1ull << 40, 1ull << 63, ~0ull, ~0ull - 4095, 0xffffffff,
	};
	uint64_t value = base[rng_below(rng, sizeof(base) / sizeof(base[0]))];

	switch (rng_below(rng, 4)) {
	case 0:
		return value;
	case 1:
		return value + rng_below(rng, 9) - 4;
	case 2:
		return value * rng_below(rng, 16);
	default:
		return rng_next(rng) >> rng_below(rng, 64);
	}
}

void fuzz_bytes(struct rng *rng, void *buf, size_t count)
{
	uint8_t *bytes = buf;

	while (count--)
		*bytes++ = (uint8_t)rng_next(rng);
}

void fuzz_mutate(struct rng *rng, void *buf, size_t count)
{
	unsigned int times = 1 + (unsigned int)rng_below(rng, 3);
	uint8_t *bytes = buf;
	uint64_t value;
	size_t at;

	while (times--) {
		at = rng_below(rng, count);
		if (fuzz_chance(rng, 50)) {
			bytes[at] ^= (uint8_t)(1u << rng_below(rng, 8));
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

void fuzz_uuid(struct rng *rng, char uuid[37])
{
	uint8_t id[VGPU_UUID_LEN];

	fuzz_bytes(rng, id, sizeof(id));
	uuid_format(id, uuid);
}

int fuzz_create(const struct fuzz_gpu *gpu, const char *type, const char *uuid)
{
	char path[320];

	snprintf(path, sizeof(path), "/sys/class/mdev_bus/%s/mdev_supported_types/%s-%s/create",
		 gpu->address, gpu->prefix, type);
	return file_write(path, uuid);
}

int fuzz_remove(const char *uuid)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/remove", uuid);
	return file_write(path, "1");
}

uint64_t fuzz_faults(const char *uuid, uint32_t *status)
{
	int fd = open("/dev/vgpu", O_RDONLY | O_CLOEXEC), ret;
	struct vgpu_ctl_instance inst;
	uint8_t id[VGPU_UUID_LEN];

	ret = uuid_parse(uuid, id) ? -EINVAL : node_instance(fd, id, &inst);
	if (fd >= 0)
		close(fd);
	if (ret)
		return ~0ull;
	*status = inst.status;
	return inst.faults;
}
