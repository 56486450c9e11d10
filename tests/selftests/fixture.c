// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/pci_regs.h>

#include "child.h"
#include "event.h"
#include "fixture.h"
#include "rng.h"
#include "uuid.h"

#define FX_TRIES	10	/* for what a machine may be too slow for once */

#define MDEV_BUS	"/sys/class/mdev_bus"
#define GPUS_MAX	16

static char gpu_name[64];	/* PCI address; empty: not yet looked for */
static char gpu_board[64];	/* its types' names begin so: driver-board */
static struct fx_vgpu *vgpus;
static int control_fd = -1;

int fx_control(void)
{
	if (control_fd < 0) {
		control_fd = open("/dev/vgpu", O_RDWR | O_CLOEXEC);
		if (control_fd < 0)
			FAIL("/dev/vgpu: %s", strerror(errno));
	}
	return control_fd;
}

static void find_gpu(void)
{
	const char *wanted = getenv("VGPU_TEST_GPU");
	struct vgpu_ctl_gpu gpu;
	uint32_t id, count = 1;
	int ret;

	if (access("/dev/vgpu", F_OK))
		ktap_skip_all("no /dev/vgpu: the module vgpu is not loaded");
	if (geteuid())
		ktap_skip_all("not root");
	if (node_gpus(fx_control(), &id, &count) || !count)
		ktap_skip_all("no GPU: is vgpu_soft loaded?");
	ret = node_gpu(fx_control(), id, &gpu);
	if (ret)
		ktap_skip_all("GPU %u: %s", id, strerror(-ret));
	snprintf(gpu_name, sizeof(gpu_name), "%.32s", wanted ? wanted : (char *)gpu.address);
	snprintf(gpu_board, sizeof(gpu_board), "%.30s-%.30s", gpu.driver, gpu.board);
}

const char *fx_gpu(void)
{
	if (!gpu_name[0])
		find_gpu();
	return gpu_name;
}

int fx_debugfs(const struct fx_vgpu *vgpu, const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/debug/vgpu/%s/%s", fx_gpu(), file);
	return file_write(path, vgpu->uuid);
}

/* By the address: a GPU that was unbound and bound again has another number. */
void fx_ctl_gpu(struct vgpu_ctl_gpu *gpu)
{
	uint32_t ids[GPUS_MAX], count = GPUS_MAX, i;
	int ret;

	ret = node_gpus(fx_control(), ids, &count);
	CHECK(!ret, "VGPU_IOC_GPUS: %s", strerror(-ret));
	for (i = 0; i < count && i < GPUS_MAX; i++) {
		ret = node_gpu(fx_control(), ids[i], gpu);
		CHECK(!ret, "GPU %u: %s", ids[i], strerror(-ret));
		if (!strcmp((char *)gpu->address, fx_gpu()))
			return;
	}
	FAIL("GPU %s is not listed", fx_gpu());
}

uint32_t fx_gpu_id(void)
{
	struct vgpu_ctl_gpu gpu;

	fx_ctl_gpu(&gpu);
	return gpu.gpu;
}

void fx_type_path(const char *suffix, const char *file, char *path, size_t room)
{
	fx_gpu();
	snprintf(path, room, MDEV_BUS "/%s/mdev_supported_types/%s-%s/%s",
		 gpu_name, gpu_board, suffix, file);
}

const char *fx_default_type(void)
{
	const char *type = getenv("VGPU_TEST_TYPE");

	return type ? type : "1Q";
}

int fx_try_create(struct fx_vgpu *v, const char *suffix)
{
	struct fx_vgpu *known;
	char path[256];
	int ret;

	if (!v->uuid[0])
		fx_new_uuid(v);
	fx_type_path(suffix, "create", path, sizeof(path));
	ret = file_write(path, v->uuid);
	if (ret)
		return ret;
	v->suffix = suffix;
	v->created = true;
	for (known = vgpus; known; known = known->next)
		if (known == v)
			return 0;
	v->next = vgpus;
	vgpus = v;
	return 0;
}

/* Takes @v out of the list of what fx_cleanup() removes, if it is there. */
static void fx_forget(struct fx_vgpu *v)
{
	struct fx_vgpu **at;

	for (at = &vgpus; *at; at = &(*at)->next) {
		if (*at == v) {
			*at = v->next;
			return;
		}
	}
}

void fx_create(struct fx_vgpu *v, const char *suffix)
{
	int ret;

	/* A vGPU of another @v may follow it in the list. */
	fx_forget(v);
	memset(v, 0, sizeof(*v));
	ret = fx_try_create(v, suffix);
	if (ret)
		FAIL("create a %s: %s", suffix, strerror(-ret));
}

int fx_try_remove(struct fx_vgpu *v)
{
	char path[128];
	int ret;

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/remove", v->uuid);
	ret = file_write(path, "1");
	if (!ret)
		v->created = false;
	return ret;
}

void fx_remove(struct fx_vgpu *v)
{
	int ret = fx_try_remove(v);

	if (ret)
		FAIL("remove %s: %s", v->uuid, strerror(-ret));
}

void fx_open(struct fx_vgpu *v)
{
	int ret = vgpu_dev_open_vfio(&v->dev, v->uuid);

	if (ret)
		FAIL("open: %s", vgpu_dev_error(NULL));
}

void fx_close(struct fx_vgpu *v)
{
	vgpu_dev_close(v->dev);
	v->dev = NULL;
}

void fx_create_open(struct fx_vgpu *v, const char *suffix)
{
	fx_create(v, suffix);
	fx_open(v);
}

void fx_new_uuid(struct fx_vgpu *v)
{
	uuid_generate_random(v->id);
	uuid_format(v->id, v->uuid);
}

unsigned int fx_available(const char *suffix)
{
	char path[256];
	uint64_t nr;

	fx_type_path(suffix, "available_instances", path, sizeof(path));
	CHECK(!file_number(path, NULL, &nr), "%s", path);
	return (unsigned int)nr;
}

void fx_cleanup(void)
{
	struct fx_vgpu *v;
	int ret;

	event_cleanup();
	child_cleanup();
	while (vgpus) {
		v = vgpus;
		vgpus = v->next;
		v->next = NULL;
		fx_close(v);
		if (!v->created)
			continue;
		ret = fx_try_remove(v);
		if (ret)
			ktap_note("cleanup: remove %s: %s", v->uuid, strerror(-ret));
		v->created = false;
	}
}

void fx_instance(const struct fx_vgpu *v, struct vgpu_ctl_instance *inst)
{
	int ret = node_instance(fx_control(), v->id, inst);

	if (ret)
		FAIL("VGPU_IOC_INSTANCE %s: %s", v->uuid, strerror(-ret));
}

uint64_t fx_faults(const struct fx_vgpu *v)
{
	struct vgpu_ctl_instance inst;

	fx_instance(v, &inst);
	return inst.faults;
}

uint64_t fx_runs_ended(uint32_t engine)
{
	struct vgpu_ctl_switch last;
	uint32_t count = 1;
	uint64_t total;
	int ret = node_sched_log(fx_control(), fx_gpu_id(), engine, &last, &count, &total);

	CHECK(!ret, "VGPU_IOC_SCHED_LOG: %s", strerror(-ret));
	return total;
}

void fx_try_again(bool (*once)(void), void (*cleanup)(void), const char *what)
{
	unsigned int tries;

	for (tries = 1; !once(); tries++) {
		CHECK(tries < FX_TRIES, "%s", what);
		cleanup();
	}
}

uint64_t fx_backed_bytes(const struct fx_vgpu *v)
{
	struct vgpu_ctl_instance inst;

	fx_instance(v, &inst);
	return inst.fb_backed_bytes;
}

bool fx_quarantined(const struct fx_vgpu *v)
{
	struct vgpu_ctl_instance inst;

	fx_instance(v, &inst);
	return inst.status & VGPU_INSTANCE_QUARANTINED;
}

void fx_check_refusal(const struct fx_vgpu *v, int error, const char *part)
{
	struct vgpu_ctl_refusal refusal;
	int ret = node_refusal(fx_control(), v->id, &refusal);

	CHECK(!ret, "VGPU_IOC_REFUSAL: %s", strerror(-ret));
	CHECK_EQ(refusal.error, error);
	CHECK(memchr(refusal.text, 0, sizeof(refusal.text)), "not terminated");
	ktap_note("refusal: %s", (char *)refusal.text);
	CHECK(strstr((char *)refusal.text, part), "does not say '%s'", part);
}

void fx_release(const struct fx_vgpu *v)
{
	int ret = node_release(fx_control(), v->id);

	if (ret && ret != -EINVAL)
		FAIL("VGPU_IOC_RELEASE: %s", strerror(-ret));
}

void fx_need_no_quarantine(void)
{
	uint64_t faults;

	if (!file_number("/sys/module/vgpu/parameters/quarantine_faults", NULL, &faults) && faults)
		ktap_skip("vgpu is loaded with quarantine_faults=%llu", (unsigned long long)faults);
}

bool fx_executes(void)
{
	struct vgpu_ctl_gpu gpu;

	fx_ctl_gpu(&gpu);
	return strncmp((char *)gpu.board, "NULL", 4);
}

void fx_need(const char *what)
{
	if (!fx_executes())
		ktap_skip("a null GPU has no %s", what);
}

void fx_need_reserve(bool wanted)
{
	char text[8];
	bool is;

	fx_gpu();
	is = file_read("/sys/module/vgpu_soft/parameters/fb_reserve", text, sizeof(text)) > 0 &&
	     text[0] == 'Y';
	if (is != wanted)
		ktap_skip("vgpu_soft is loaded with fb_reserve=%d", is);
}

unsigned int fx_find_cap(struct fx_vgpu *v, unsigned int id)
{
	uint8_t at, cap[2], steps, found = 0;
	uint16_t status;

	FX_OK(v->dev, vgpu_config_read(v->dev, PCI_STATUS, &status, 2));
	CHECK(le16toh(status) & PCI_STATUS_CAP_LIST, "no list");
	FX_OK(v->dev, vgpu_config_read(v->dev, PCI_CAPABILITY_LIST, &at, 1));
	for (steps = 0; at; steps++) {
		CHECK(at >= 0x40 && at <= 0xfc && !(at & 3), "at %#x", at);
		CHECK(steps < 48, "the list does not end");
		FX_OK(v->dev, vgpu_config_read(v->dev, at, cap, 2));
		if (cap[PCI_CAP_LIST_ID] == id)
			found = at;
		at = cap[PCI_CAP_LIST_NEXT];
	}
	return found;
}

uint64_t fx_env(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

uint64_t fx_memory_bytes(void)
{
	uint64_t kib = 0;

	file_number("/proc/meminfo", "MemAvailable:", &kib);
	return kib << 10;
}

static struct rng *fx_rng(void)
{
	static struct rng rng;

	if (!rng.state) {
		rng.state = fx_env("VGPU_TEST_SEED", (clk_ms() << 16 ^ (uint64_t)getpid()) | 1);
		ktap_note("VGPU_TEST_SEED=%llu", (unsigned long long)rng.state);
	}
	return &rng;
}

uint64_t fx_random(void)
{
	return rng_next(fx_rng());
}

uint64_t fx_random_below(uint64_t limit)
{
	return rng_below(fx_rng(), limit);
}

bool fx_is_zero(const void *bytes, size_t count)
{
	const unsigned char *p = bytes;

	return !count || (!p[0] && !memcmp(p, p + 1, count - 1));
}
