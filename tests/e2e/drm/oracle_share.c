// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers that all processes have: each job on them waits for the one before it, of whichever
 * process, by a timeline that they share, too.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm/drm.h>

#include "oracle.h"

static int to_fd(int fd, uint32_t handle)
{
	struct drm_prime_handle args = { .handle = handle, .flags = O_CLOEXEC | O_RDWR };

	CHECK_RET(node_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &args), 0);
	return args.fd;
}

struct oracle_share *oracle_share_make(int fd)
{
	struct drm_syncobj_handle sync = {};
	struct oracle_share *share;
	pthread_mutexattr_t attr;
	uint32_t handle, i;

	share = mmap(NULL, sizeof(*share), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	CHECK(share != MAP_FAILED);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&share->lock, &attr);
	CHECK_RET(sync_make(fd, &sync.handle), 0);
	CHECK_RET(node_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &sync), 0);
	share->sync = sync.fd;
	for (i = 0; i < 2; i++) {
		CHECK_RET(bo_make(fd, ORACLE_SHARED_BYTES, i, 0, &handle), 0);
		share->dmabuf[i] = to_fd(fd, handle);
		CHECK_RET(bo_map(fd, handle, ORACLE_SHARED_BYTES, &share->ptr[i]), 0);
	}
	return share;
}

void oracle_share_reset(struct oracle_share *share)
{
	const uint8_t *byte = share->ptr[0];

	if (!byte[0] && !memcmp(byte, byte + 1, ORACLE_SHARED_BYTES - 1))
		memset(share->model[0], 0, ORACLE_SHARED_BYTES);
}

void oracle_share_open(struct oracle_file *file, struct oracle_share *share)
{
	struct drm_syncobj_handle sync = { .fd = share->sync };
	struct drm_prime_handle args = {};
	uint32_t i;

	file->share = share;
	CHECK_RET(node_ioctl(file->fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &sync), 0);
	file->share_sync = sync.handle;
	for (i = 0; i < 2; i++) {
		args.fd = share->dmabuf[i];
		CHECK_RET(node_ioctl(file->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &args), 0);
		file->shared[i] = args.handle;
		file->bytes[i] += ORACLE_SHARED_BYTES;
		CHECK_RET(bo_map(file->fd, args.handle, ORACLE_SHARED_BYTES, &file->ptr[i]), 0);
	}
}

static uint64_t va_of(uint32_t i)
{
	return ORACLE_SHARED + i * 2 * ORACLE_SHARED_BYTES;
}

void oracle_share_map(struct oracle *o)
{
	uint32_t i;

	for (i = 0; o->file->share && i < 2; i++)
		CHECK_RET(bind_map(o->fd, o->vm, o->file->shared[i], 0, va_of(i),
				   ORACLE_SHARED_BYTES, DRM_VGPU_BIND_WRITE), 0);
}

static uint32_t some_bytes(struct oracle *o, uint32_t most, uint32_t *at)
{
	uint32_t bytes = 4 + oracle_below(o, most / 4) * 4;

	*at = oracle_below(o, (ORACLE_SHARED_BYTES - bytes) / 4 + 1) * 4;
	return bytes;
}

static void add_packet(struct oracle *o, struct oracle_job *job)
{
	struct oracle_share *share = o->file->share;
	uint32_t to = oracle_below(o, 2), from = oracle_below(o, 2), at, src, bytes, value, i;

	bytes = some_bytes(o, ORACLE_SHARED_BYTES / 2, &at);
	src = oracle_below(o, ORACLE_SHARED_BYTES - bytes + 1);
	if (oracle_one_in(o, 2) || (from == to && src < at + bytes && at < src + bytes)) {
		value = rng_next(&o->rng);
		job->packet[job->nr++] = packet_fill(va_of(to) + at, bytes, value);
		for (i = 0; i < bytes; i += 4)
			memcpy(share->model[to] + at + i, &value, 4);
	} else {
		job->packet[job->nr++] = packet_copy(va_of(to) + at, va_of(from) + src, bytes);
		memcpy(share->model[to] + at, share->model[from] + src, bytes);
	}
}

static void share_job(struct oracle *o)
{
	struct oracle_job job = { .queue = oracle_below(o, ORACLE_QUEUES) };
	struct oracle_share *share = o->file->share;
	uint32_t nr = 1 + oracle_below(o, 3);

	while (nr--)
		add_packet(o, &job);
	if (share->point)
		job.more[job.nr_more++] = (struct drm_vgpu_sync){
			.handle = o->file->share_sync,
			.flags = DRM_VGPU_SYNC_TIMELINE,
			.point = share->point,
		};
	job.more[job.nr_more++] = (struct drm_vgpu_sync){
		.handle = o->file->share_sync,
		.flags = DRM_VGPU_SYNC_TIMELINE | DRM_VGPU_SYNC_SIGNAL,
		.point = ++share->point,
	};
	CHECK_RET(oracle_push(o, &job), 0);
}

static void share_check(struct oracle *o)
{
	struct oracle_share *share = o->file->share;
	uint32_t i;

	if (share->point)
		CHECK_RET(sync_wait_point(o->fd, o->file->share_sync, share->point, WAIT_MS), 0);
	for (i = 0; i < 2; i++)
		CHECK(!memcmp(o->file->ptr[i], share->model[i], ORACLE_SHARED_BYTES));
}

void oracle_share_work(struct oracle *o)
{
	uint32_t nr = 1 + oracle_below(o, 6);

	if (!o->file->share)
		return;
	pthread_mutex_lock(&o->file->share->lock);
	while (nr--)
		share_job(o);
	if (oracle_one_in(o, 4))
		share_check(o);
	pthread_mutex_unlock(&o->file->share->lock);
}
