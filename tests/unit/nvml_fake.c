// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "core/objects/placement.h"
#include "core/objects/profile.h"
#include "core/objects/types.h"

#include "nvml_fake.h"
#include "nvml_move.h"
#include "nvml_node.h"
#include "nvml_part.h"

#define BOARD		"SG16"
#define CHANNELS	256
#define TYPES		128
#define SAMPLES		(40 * VGPU_SAMPLES_KEPT)
#define SESSIONS	4096
#define FILES		64

struct fake fake;

/* All below is protected by the lock: several threads of a test call the library. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vgpu_ctl_instance vgpus[FAKE_VGPUS];
static bool there[FAKE_VGPUS];
static struct vgpu_ctl_sample samples[SAMPLES];
static unsigned int sample_gpu[SAMPLES], nr_samples;
static struct vgpu_ctl_session sessions[SESSIONS];
static unsigned int session_gpu[SESSIONS], nr_sessions;
static struct vgpu_ctl_switch runs[VGPU_SCHED_LOG];
static unsigned int nr_runs;
static uint64_t clock_ns;
static struct vgpu_type types[TYPES];
static unsigned int nr_types;
static int pipes[FILES][2], nr_pipes, nr_files;
static unsigned long calls;

int __real_open(const char *path, int flags, ...);
int __real_close(int fd);
int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
int __wrap_ioctl(int fd, unsigned long request, void *arg);

static void must(bool right, const char *what)
{
	if (right)
		return;
	printf("Bail out! the library: %s\n", what);
	fflush(stdout);
	_exit(1);
}

int fake_files(void)
{
	return __atomic_load_n(&nr_files, __ATOMIC_RELAXED);
}

unsigned long fake_calls(void)
{
	return __atomic_load_n(&calls, __ATOMIC_RELAXED);
}

/* The node is a pipe, so that poll() works; what stands in other files is made up. */
static int open_node(int flags)
{
	int fd = -1;

	if (fake.open_error) {
		errno = fake.open_error;
		return -1;
	}
	pthread_mutex_lock(&lock);
	if (nr_pipes < FILES && !pipe2(pipes[nr_pipes], O_CLOEXEC | O_NONBLOCK)) {
		fd = pipes[nr_pipes++][0];
		nr_files++;
	}
	pthread_mutex_unlock(&lock);
	must(flags == (O_RDONLY | O_CLOEXEC | O_NONBLOCK), "flags of the node");
	return fd;
}

int __wrap_open(const char *path, int flags, ...)
{
	must(flags & O_CLOEXEC, "a file that is open in children");
	return strcmp(path, "/dev/vgpu") ? fake_node_open(path, flags) : open_node(flags);
}

int __wrap_close(int fd)
{
	int i;

	if (fake_node_is(fd))
		return fake_node_close(fd);
	pthread_mutex_lock(&lock);
	for (i = 0; i < nr_pipes; i++)
		if (pipes[i][0] == fd) {
			__real_close(pipes[i][1]);
			pipes[i][0] = pipes[nr_pipes - 1][0];
			pipes[i][1] = pipes[--nr_pipes][1];
			nr_files--;
			break;
		}
	pthread_mutex_unlock(&lock);
	return __real_close(fd);
}

/* Never the same twice, as nothing that is created is of the same time as something else. */
static uint64_t now_ns(void)
{
	struct timespec ts;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ns = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	clock_ns = ns > clock_ns ? ns : clock_ns + 1;
	return clock_ns;
}

void fake_load(void)
{
	struct vgpu_placement places;

	fake_part_reset();
	vgpu_placement_init(&places, fake.fb_gb, fake.homogeneous);
	nr_types = vgpu_types_build(BOARD, &places, CHANNELS, fake.divisible, types, TYPES);
	must(nr_types <= TYPES, "no room for types");
}

void fake_divisible(void)
{
	fake.divisible = true;
	fake_load();
}

void fake_reset(void)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	memset(&fake, 0, sizeof(fake));
	fake.abi_major = VGPU_ABI_MAJOR;
	fake.gpus = FAKE_GPUS;
	fake.engines = FAKE_ENGINES;
	fake.units = FAKE_UNITS;
	fake.fb_gb = FAKE_FB_GB;
	for (i = 0; i < FAKE_GPUS; i++) {
		strcpy((char *)fake.sched[i].policy, "best_effort");
		fake.sched[i].slice_ns = 1000000;
		fake.sched[i].window_ns = 100000000;
	}
	memset(there, 0, sizeof(there));
	nr_samples = 0;
	nr_sessions = 0;
	nr_runs = 0;
	fake_load();
	pthread_mutex_unlock(&lock);
}

/* With the lock. Who does not read has no room for all events, and has some left to read. */
static void tell_event(const struct vgpu_ctl_event *event)
{
	int i;

	for (i = 0; i < nr_pipes; i++)
		must(write(pipes[i][1], event, sizeof(*event)) > 0 || errno == EAGAIN, "no pipe");
}

static void tell(enum vgpu_ctl_event_type type, unsigned int gpu, uint32_t b)
{
	tell_event(&(struct vgpu_ctl_event){ .type = type, .gpu = gpu, .b = b });
}

void fake_create(unsigned int nr, unsigned int gpu, unsigned int type, unsigned int place_gb)
{
	struct vgpu_ctl_instance *inst = &vgpus[nr];

	pthread_mutex_lock(&lock);
	memset(inst, 0, sizeof(*inst));
	inst->uuid[0] = 0xfa;
	inst->uuid[15] = (uint8_t)nr;
	inst->gpu = gpu;
	inst->type_index = type;
	inst->placement_gb = place_gb;
	inst->fb_bytes = (uint64_t)types[type].size_gb << 30;
	inst->created_ns = now_ns();
	inst->engines = FAKE_ENGINES;
	inst->weight = 10 + nr;
	inst->frl_fps = types[type].frl_fps;
	strcpy((char *)inst->type_name, types[type].name);
	there[nr] = true;
	tell(VGPU_EVENT_CREATED, gpu, 0);
	pthread_mutex_unlock(&lock);
}

void fake_start(unsigned int nr, int pid)
{
	struct vgpu_ctl_instance *inst = &vgpus[nr];
	struct vgpu_ctl_session *s;

	pthread_mutex_lock(&lock);
	nr_sessions %= SESSIONS;
	s = &sessions[nr_sessions];
	inst->state = VGPU_STATE_STARTED;
	inst->started_ns = now_ns();
	inst->owner_pid = pid;
	inst->fb_backed_bytes = (uint64_t)pid << 20;
	snprintf((char *)inst->owner_comm, sizeof(inst->owner_comm), "vm%d", pid);
	if (fake.owner)
		strncpy((char *)inst->owner_comm, fake.owner, sizeof(inst->owner_comm));
	memset(s, 0, sizeof(*s));
	session_gpu[nr_sessions] = inst->gpu;
	s->id = ++nr_sessions;
	memcpy(s->uuid, inst->uuid, sizeof(s->uuid));
	s->pid = pid;
	memcpy(s->comm, inst->owner_comm, sizeof(s->comm));
	s->start_ns = inst->started_ns;
	s->max_fb_bytes = (uint64_t)pid << 21;
	inst->session = s->id;
	tell(VGPU_EVENT_STARTED, inst->gpu, 0);
	pthread_mutex_unlock(&lock);
}

/* As if it had run for a second, and the gr engine half of it. */
void fake_stop(unsigned int nr)
{
	struct vgpu_ctl_instance *inst = &vgpus[nr];
	struct vgpu_ctl_session *s = &sessions[inst->session - 1];

	pthread_mutex_lock(&lock);
	memset(&fake.guest[nr], 0, sizeof(fake.guest[nr]));
	s->end_ns = s->start_ns + 1000000000;
	s->engine[0].busy_ns = 500000000;
	inst->state = VGPU_STATE_CREATED;
	inst->started_ns = 0;
	inst->owner_pid = 0;
	inst->session = 0;
	tell(VGPU_EVENT_STOPPED, inst->gpu, 0);
	pthread_mutex_unlock(&lock);
}

void fake_remove(unsigned int nr)
{
	pthread_mutex_lock(&lock);
	there[nr] = false;
	tell(VGPU_EVENT_REMOVED, vgpus[nr].gpu, 0);
	pthread_mutex_unlock(&lock);
}

bool fake_vgpu(unsigned int nr, struct vgpu_ctl_instance *inst)
{
	*inst = vgpus[nr];
	return there[nr];
}

void fake_put(unsigned int nr, uint32_t partition, uint32_t guarantee)
{
	pthread_mutex_lock(&lock);
	vgpus[nr].partition = partition;
	vgpus[nr].guarantee = guarantee;
	tell(VGPU_EVENT_CREATED, vgpus[nr].gpu, 0);
	pthread_mutex_unlock(&lock);
}

void fake_sample(unsigned int gpu, int nr, unsigned int ago, const unsigned int *percent)
{
	struct vgpu_ctl_sample *s = &samples[nr_samples];
	unsigned int i;

	memset(s, 0, sizeof(*s));
	if (nr >= 0)
		memcpy(s->uuid, vgpus[nr].uuid, sizeof(s->uuid));
	if (!fake.now_ns)
		fake.now_ns = now_ns() / FAKE_PERIOD_NS * FAKE_PERIOD_NS;
	s->time_ns = fake.now_ns - ago * FAKE_PERIOD_NS;
	s->period_ns = FAKE_PERIOD_NS;
	for (i = 0; i < FAKE_ENGINES; i++)
		s->engine[i].busy_ns = percent[i] * FAKE_PERIOD_NS / 100;
	sample_gpu[nr_samples++] = gpu;
	/* Samples that are older than the vGPU are another one's. */
	if (nr >= 0 && vgpus[nr].created_ns >= s->time_ns) {
		vgpus[nr].created_ns = s->time_ns - FAKE_PERIOD_NS - nr;
		vgpus[nr].started_ns = vgpus[nr].created_ns;
		tell(VGPU_EVENT_CREATED, gpu, 0);
	}
}

void fake_run(unsigned int gpu, unsigned int nr, uint64_t time_ns, uint64_t ran_ns)
{
	struct vgpu_ctl_switch *run = &runs[nr_runs++];

	memset(run, 0, sizeof(*run));
	memcpy(run->uuid, vgpus[nr].uuid, sizeof(run->uuid));
	run->time_ns = time_ns;
	run->ran_ns = ran_ns;
	run->slice_ns = fake.sched[gpu].slice_ns;
	run->preempt_ns = 1000;
	vgpus[nr].engine[0].busy_ns += ran_ns;
	/* A run that is older than the vGPU is another one's. */
	if (vgpus[nr].created_ns > time_ns)
		vgpus[nr].created_ns = time_ns;
}

void fake_event(enum vgpu_ctl_event_type type, unsigned int gpu, uint32_t b)
{
	pthread_mutex_lock(&lock);
	tell(type, gpu, b);
	pthread_mutex_unlock(&lock);
}

void fake_fault(unsigned int nr)
{
	struct vgpu_ctl_event event = { .type = VGPU_EVENT_FAULT, .gpu = vgpus[nr].gpu, .b = 1 };

	memcpy(event.uuid, vgpus[nr].uuid, sizeof(event.uuid));
	pthread_mutex_lock(&lock);
	tell_event(&event);
	pthread_mutex_unlock(&lock);
}

bool fake_has_gpu(uint32_t gpu)
{
	return gpu < fake.gpus && !fake.gone[gpu];
}

static int call_gpus(struct vgpu_ctl_list *list)
{
	uint32_t *ids = (void *)(uintptr_t)list->ids;
	unsigned int i, nr = 0;

	for (i = 0; i < fake.gpus; i++)
		if (!fake.gone[i] && nr++ < list->count)
			ids[nr - 1] = i;
	list->count = nr;
	return 0;
}

static int call_gpu(struct vgpu_ctl_gpu *gpu)
{
	static const struct vgpu_ctl_engine engines[FAKE_ENGINES] = {
		{ .engine_class = VGPU_HW_ENGINE_GR, .name = "gr" },
		{ .engine_class = VGPU_HW_ENGINE_CE, .name = "ce0" },
		{ .engine_class = VGPU_HW_ENGINE_CE, .instance = 1, .name = "ce1" },
		{ .engine_class = VGPU_HW_ENGINE_ENC, .name = "enc" },
		{ .engine_class = VGPU_HW_ENGINE_DEC, .name = "dec" },
	};
	unsigned int i;

	if (!fake_has_gpu(gpu->gpu))
		return -ENODEV;
	gpu->types = nr_types;
	gpu->engines = fake.engines;
	memcpy(gpu->engine, engines, fake.engines * sizeof(engines[0]));
	for (i = 0; i < fake.engines; i++)
		gpu->engine[i].units = i ? 1 : fake.units;
	gpu->fb_bytes = (uint64_t)fake.fb_gb << 30;
	for (i = 0; i < FAKE_VGPUS; i++)
		if (there[i] && vgpus[i].gpu == gpu->gpu)
			gpu->fb_used_bytes += vgpus[i].fb_bytes;
	gpu->now_ns = fake.now_ns ?: now_ns();
	gpu->placement = fake.homogeneous;
	fake_part_gpu(gpu);
	snprintf((char *)gpu->address, sizeof(gpu->address), "f000:00:%02x.0", gpu->gpu);
	strcpy((char *)gpu->board, BOARD);
	strcpy((char *)gpu->driver, "vgpu_soft");
	return 0;
}

unsigned int fake_types(unsigned int gpu)
{
	return nr_types;
}

void fake_type(unsigned int gpu, unsigned int index, struct vgpu_ctl_type *type)
{
	const struct vgpu_type *t = &types[index];

	type->available = fake_part_room(gpu, t);
	type->max_instances = t->max_instances;
	type->num_heads = t->num_heads;
	type->max_width = t->max_width;
	type->max_height = t->max_height;
	type->frl_fps = t->frl_fps;
	type->placement_size_gb = t->size_gb;
	type->slices = t->profile ? t->profile->slices : 0;
	type->fb_bytes = (uint64_t)t->size_gb << 30;
	strcpy((char *)type->name, t->name);
	snprintf((char *)type->id, sizeof(type->id), "vgpu_soft-%s", t->name);
	strcpy((char *)type->edition, t->edition);
}

static int call_type(struct vgpu_ctl_type *type)
{
	if (!fake_has_gpu(type->gpu))
		return -ENODEV;
	if (type->index >= nr_types)
		return -ENOENT;
	fake_type(type->gpu, type->index, type);
	return 0;
}

/* The vGPU of that UUID, or FAKE_VGPUS if it is not there. */
static unsigned int vgpu_of(const uint8_t *uuid)
{
	unsigned int i;

	for (i = 0; i < FAKE_VGPUS; i++)
		if (there[i] && !memcmp(vgpus[i].uuid, uuid, VGPU_UUID_LEN))
			break;
	return i < FAKE_VGPUS && fake_has_gpu(vgpus[i].gpu) ? i : FAKE_VGPUS;
}

static int call_instance(struct vgpu_ctl_instance *inst)
{
	unsigned int i = vgpu_of(inst->uuid), size = inst->size;

	if (i == FAKE_VGPUS)
		return -ENODEV;
	*inst = vgpus[i];
	inst->size = size;
	return 0;
}

/* As the driver: it fills what there is of engines, and leaves the others as they are. */
static void put_entry(uint8_t *to, unsigned int i, size_t size, const void *from, size_t filled)
{
	must(size >= filled, "entries without room for all engines");
	memcpy(to + i * size, from, filled);
	memset(to + i * size + filled, 0xee, size - filled);
}

static int call_stats(struct vgpu_ctl_stats *stats)
{
	uint8_t *to = (void *)(uintptr_t)stats->entries;
	unsigned int i, nr = 0;

	if (!fake_has_gpu(stats->gpu))
		return -ENODEV;
	for (i = 0; i < FAKE_VGPUS; i++)
		if (there[i] && vgpus[i].gpu == stats->gpu && nr++ < stats->count)
			put_entry(to, nr - 1, stats->entry_size, &vgpus[i],
				  offsetof(struct vgpu_ctl_instance, engine[FAKE_ENGINES]));
	stats->count = nr;
	return 0;
}

/* Whole periods only, as the ABI promises. */
static int call_samples(struct vgpu_ctl_samples *call)
{
	uint8_t *to = (void *)(uintptr_t)call->entries;
	unsigned int i, k, nr = 0, room = call->count < 1024 ? call->count : 1024;

	if (!fake_has_gpu(call->gpu))
		return -ENODEV;
	must(room >= VGPU_SAMPLES_ROOM, "room for samples");
	call->engines = fake.engines;
	call->next_ns = call->since_ns;
	call->now_ns = fake.now_ns ?: now_ns();
	call->count = 0;
	for (i = 0; i < nr_samples; i = k) {
		for (k = i; k < nr_samples && samples[k].time_ns == samples[i].time_ns &&
		     sample_gpu[k] == sample_gpu[i]; k++)
			;
		if (sample_gpu[i] != call->gpu || samples[i].time_ns <= call->since_ns)
			continue;
		call->more = nr + (k - i) > room;
		if (call->more)
			break;
		call->next_ns = samples[i].time_ns;
		for (; i < k; i++)
			put_entry(to, nr++, call->entry_size, &samples[i],
				  offsetof(struct vgpu_ctl_sample, engine) +
				  fake.engines * sizeof(samples[i].engine[0]));
	}
	call->count = nr;
	return 0;
}

static int call_channels(struct vgpu_ctl_channels *call)
{
	struct vgpu_ctl_channel *to = (void *)(uintptr_t)call->entries;
	unsigned int room = call->count < 256 ? call->count : 256;
	unsigned int i, vgpu = vgpu_of(call->uuid);
	const struct fake_guest *guest = &fake.guest[vgpu];

	if (vgpu == FAKE_VGPUS)
		return -ENODEV;
	must(call->entry_size == sizeof(*to), "size of a channel");
	call->count = 0;
	call->next = call->first;
	call->now_ns = fake.now_ns ?: now_ns();
	for (i = call->first; i < guest->channels && call->count < room; i++) {
		to[call->count++] = guest->channel[i];
		call->next = i + 1;
	}
	if (guest->version)
		memcpy(call->driver_version, guest->version, sizeof(call->driver_version));
	return 0;
}

static int call_sessions(struct vgpu_ctl_sessions *call)
{
	uint8_t *to = (void *)(uintptr_t)call->entries;
	unsigned int i, nr = 0, room = call->count < 256 ? call->count : 256;

	if (!fake_has_gpu(call->gpu))
		return -ENODEV;
	call->engines = fake.engines;
	call->now_ns = now_ns();
	call->next_id = call->first_id;
	for (i = 0; i < nr_sessions && nr < room; i++)
		if (session_gpu[i] == call->gpu && sessions[i].id >= call->first_id) {
			put_entry(to, nr++, call->entry_size, &sessions[i],
				  offsetof(struct vgpu_ctl_session, engine) +
				  fake.engines * sizeof(sessions[i].engine[0]));
			call->next_id = sessions[i].id + 1;
		}
	call->count = nr;
	call->last_id = nr_sessions;
	return 0;
}

static int call_log(struct vgpu_ctl_sched_log *log)
{
	struct vgpu_ctl_switch *entry = (void *)(uintptr_t)log->entries;

	if (!fake_has_gpu(log->gpu))
		return -ENODEV;
	must(log->entry_size == sizeof(*entry) && log->count >= nr_runs, "room for runs");
	log->count = log->engine ? 0 : nr_runs;
	memcpy(entry, runs, log->count * sizeof(*entry));
	return 0;
}

static int call(unsigned long request, void *arg)
{
	const struct vgpu_ctl_migration *move = arg;

	switch (request) {
	case VGPU_IOC_VERSION: return fake_version(arg);
	case VGPU_IOC_GPUS: return call_gpus(arg);
	case VGPU_IOC_GPU: return call_gpu(arg);
	case VGPU_IOC_TYPE: return call_type(arg);
	case VGPU_IOC_INSTANCE: return call_instance(arg);
	case VGPU_IOC_STATS: return call_stats(arg);
	case VGPU_IOC_SAMPLES: return call_samples(arg);
	case VGPU_IOC_SESSIONS: return call_sessions(arg);
	case VGPU_IOC_CHANNELS: return call_channels(arg);
	case VGPU_IOC_SCHED: return fake_sched(arg);
	case VGPU_IOC_SCHED_SET: return fake_sched_set(arg);
	case VGPU_IOC_MIGRATION: return fake_migration(arg, vgpus, vgpu_of(move->uuid));
	case VGPU_IOC_SCHED_LOG: return call_log(arg);
	case VGPU_IOC_EVENTS: return 0;
	default: return fake_part_call(request, arg);
	}
}

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	struct vgpu_ctl_version *head = arg;
	unsigned int nr = _IOC_NR(request) - 0xb0;
	int ret;

	must(fd >= 0, "a call without the node");
	if (fake_node_is(fd))
		return fake_node_ioctl(fd, request, arg);
	must(head->size == _IOC_SIZE(request) && nr < 64 &&
	     !(head->flags & ~fake_flags(request)), "size, flags or number");
	pthread_mutex_lock(&lock);
	calls++;
	ret = fake.refuse[nr] ? -fake.refuse[nr] : call(request, arg);
	pthread_mutex_unlock(&lock);
	if (ret)
		errno = -ret;
	return ret ? -1 : 0;
}
