// SPDX-License-Identifier: GPL-2.0
/*
 * vgpuctl apply, with a driver that is made up here and fails at one step or another: what was done
 * by then is taken back, but for a vGPU that somebody uses.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Before cmocka, which has a macro fail(). */
#include "vgpuctl/command.h"
#include "vgpuctl/ctl.h"
#include "vgpuctl/plan.h"
#include "vgpuctl/sysfs.h"
#include "vgpuctl/uuid.h"

#include "vgpu_test.h"

#define NR_VGPUS	4
#define STEPS		20

/* What the driver has. @steps: changes so far; @fail_at: the one that fails, from 1 on */
static struct driver {
	struct vgpu_ctl_sched sched;
	struct vgpu_ctl_instance inst[NR_VGPUS];
	bool there[NR_VGPUS];
	bool taken[NR_VGPUS];	/* is open as soon as it is there */
	pid_t owner;		/* process in which an open vGPU is shown; 0: none */
	bool divisible;		/* into two partitions at most */
	bool divided;
	bool part[2];
	char part_policy[2][VGPU_ADDR_LEN];
	unsigned int steps;
	unsigned int fail_at;
} driver;

static struct vgpu_ctl_type type;
static char path[] = "/tmp/vgpu-apply-XXXXXX", parts_path[] = "/tmp/vgpu-apply-XXXXXX";
static char *said;
static size_t said_bytes;

static int step(void)
{
	return ++driver.steps == driver.fail_at ? -ENOMEM : 0;
}

/* Only the last byte of their UUIDs differs. */
static unsigned int index_of(const uint8_t *uuid)
{
	assert_in_range(uuid[VGPU_UUID_LEN - 1], 0, NR_VGPUS - 1);
	return uuid[VGPU_UUID_LEN - 1];
}

/* ---- in the place of ctl.c, sysfs.c and world.c ---- */

int __wrap_ctl_partition_create(int fd, uint32_t gpu, uint32_t profile, uint32_t start,
				uint32_t *id, uint8_t *text);
int __wrap_ctl_partition_remove(int fd, uint32_t gpu, uint32_t id, uint8_t *text);
int __wrap_ctl_partition_mode(int fd, uint32_t gpu, uint32_t mode, uint8_t *text);
int __wrap_ctl_open(void);
int __wrap_ctl_sched_set(int fd, struct vgpu_ctl_sched *sched);
int __wrap_ctl_shares_set(int fd, const struct vgpu_ctl_share *shares, uint32_t count,
			  uint8_t *text);
int __wrap_ctl_instance(int fd, const uint8_t *uuid, struct vgpu_ctl_instance *inst);
int __wrap_ctl_refusal(int fd, const uint8_t *uuid, struct vgpu_ctl_refusal *refusal);
int __wrap_sysfs_create(const char *address, const char *type_id, const char *text);
int __wrap_sysfs_remove(const char *text);
bool __wrap_sysfs_mdevctl_defines(const uint8_t *uuid);
void __wrap_sysfs_policies(char *text, size_t room);

int __wrap_ctl_open(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int __wrap_ctl_sched_set(int fd, struct vgpu_ctl_sched *sched)
{
	int ret = step();

	if (sched->partition) {
		assert_in_range(sched->partition, 1, 2);
		assert_true(driver.part[sched->partition - 1]);
		if (!ret)
			memcpy(driver.part_policy[sched->partition - 1], sched->policy,
			       sizeof(sched->policy));
		return ret;
	}
	if (!ret && sched->valid & VGPU_SCHED_SLICE)
		driver.sched.slice_ns = sched->slice_ns;
	if (!ret && sched->valid & VGPU_SCHED_POLICY)
		memcpy(driver.sched.policy, sched->policy, sizeof(driver.sched.policy));
	return ret;
}

int __wrap_ctl_shares_set(int fd, const struct vgpu_ctl_share *shares, uint32_t count,
			  uint8_t *text)
{
	int ret = step();
	uint32_t i;

	text[0] = 0;
	for (i = 1; i < count; i++)
		assert_int_equal(driver.inst[index_of(shares[i].uuid)].partition,
				 driver.inst[index_of(shares[0].uuid)].partition);
	for (i = 0; !ret && i < count; i++) {
		struct vgpu_ctl_instance *inst = &driver.inst[index_of(shares[i].uuid)];

		assert_true(driver.there[index_of(shares[i].uuid)]);
		if (shares[i].valid & VGPU_SHARE_GUARANTEE)
			inst->guarantee = shares[i].guarantee;
		if (shares[i].valid & VGPU_SHARE_WEIGHT)
			inst->weight = shares[i].weight;
	}
	return ret;
}

/* The numbers of partitions are 1 and 2. */
int __wrap_ctl_partition_create(int fd, uint32_t gpu, uint32_t profile, uint32_t start,
				uint32_t *id, uint8_t *text)
{
	int ret = step();

	text[0] = 0;
	if (ret)
		return ret;
	assert_true(driver.divided);
	*id = driver.part[0] ? 2 : 1;
	assert_false(driver.part[*id - 1]);
	driver.part[*id - 1] = true;
	return 0;
}

int __wrap_ctl_partition_remove(int fd, uint32_t gpu, uint32_t id, uint8_t *text)
{
	unsigned int i;

	assert_in_range(id, 1, 2);
	assert_true(driver.part[id - 1]);
	for (i = 0; i < NR_VGPUS; i++)
		assert_false(driver.there[i] && driver.inst[i].partition == id);
	driver.part[id - 1] = false;
	return 0;
}

int __wrap_ctl_partition_mode(int fd, uint32_t gpu, uint32_t mode, uint8_t *text)
{
	int ret = mode == VGPU_PARTITION_MODE_ON ? step() : 0;

	text[0] = 0;
	assert_false(driver.part[0] || driver.part[1]);
	if (!ret)
		driver.divided = mode == VGPU_PARTITION_MODE_ON;
	return ret;
}

int __wrap_ctl_instance(int fd, const uint8_t *uuid, struct vgpu_ctl_instance *inst)
{
	*inst = driver.inst[index_of(uuid)];
	return driver.there[index_of(uuid)] ? 0 : -ENODEV;
}

int __wrap_ctl_refusal(int fd, const uint8_t *uuid, struct vgpu_ctl_refusal *refusal)
{
	return -ENOENT;
}

int __wrap_sysfs_create(const char *address, const char *type_id, const char *text)
{
	uint8_t uuid[VGPU_UUID_LEN];
	struct vgpu_ctl_instance *inst;
	int ret = step();
	unsigned int i;

	if (ret)
		return ret;
	assert_int_equal(uuid_parse(text, uuid), 0);
	i = index_of(uuid);
	assert_false(driver.there[i]);
	driver.there[i] = true;
	inst = &driver.inst[i];
	inst->guarantee = 63;
	inst->weight = 63;
	inst->partition = driver.divided ? 1 + i % 2 : 0;
	assert_true(!driver.divided || driver.part[i % 2]);
	inst->state = driver.taken[i] ? VGPU_STATE_STARTED : VGPU_STATE_CREATED;
	inst->owner_pid = driver.taken[i] ? driver.owner : 0;
	return 0;
}

int __wrap_sysfs_remove(const char *text)
{
	uint8_t uuid[VGPU_UUID_LEN];

	assert_int_equal(uuid_parse(text, uuid), 0);
	assert_true(driver.there[index_of(uuid)]);
	assert_int_equal(driver.inst[index_of(uuid)].state, VGPU_STATE_CREATED);
	driver.there[index_of(uuid)] = false;
	return 0;
}

bool __wrap_sysfs_mdevctl_defines(const uint8_t *uuid)
{
	return false;
}

void __wrap_sysfs_policies(char *text, size_t room)
{
	snprintf(text, room, "best_effort qos");
}

int world_read(int fd, struct world *world)
{
	struct world_gpu *gpu = calloc(1, sizeof(*gpu));
	unsigned int i;

	memset(world, 0, sizeof(*world));
	world->gpu = gpu;
	world->nr_gpus = 1;
	strcpy((char *)gpu->gpu.address, "f000:00:00.0");
	gpu->gpu.types = 1;
	gpu->gpu.profiles = driver.divisible ? 5 : 0;
	gpu->gpu.fb_bytes = 16ull << 30;
	gpu->type = &type;
	gpu->sched = driver.sched;
	__wrap_sysfs_policies(world->policies, sizeof(world->policies));
	world->inst = calloc(NR_VGPUS, sizeof(*world->inst));
	for (i = 0; i < NR_VGPUS; i++)
		if (driver.there[i])
			world->inst[world->nr_insts++] = driver.inst[i];
	return 0;
}

void world_free(struct world *world)
{
	free(world->gpu);
	free(world->inst);
}

/* ---- tests ---- */

/* Two vGPUs are there; the file wants them, and two more. */
static void reset(void)
{
	unsigned int i;

	memset(&driver, 0, sizeof(driver));
	strcpy((char *)driver.sched.policy, "best_effort");
	driver.sched.slice_ns = 1000000;
	driver.sched.window_ns = 100000000;
	for (i = 0; i < NR_VGPUS; i++) {
		struct vgpu_ctl_instance *inst = &driver.inst[i];

		memset(inst->uuid, 0x11, sizeof(inst->uuid));
		inst->uuid[VGPU_UUID_LEN - 1] = (uint8_t)i;
		inst->placement_gb = i;
		inst->guarantee = 100;
		inst->cap = 1000;
		inst->weight = 10;
		memcpy(inst->type_name, type.name, sizeof(inst->type_name));
		driver.there[i] = i < 2;
	}
}

static enum exit_code apply_file(const char *file)
{
	const struct options options = { .file = file };
	enum exit_code code;

	free(said);
	message_file = open_memstream(&said, &said_bytes);
	code = cmd_apply(&options);
	fclose(message_file);
	message_file = NULL;
	return code;
}

static enum exit_code apply(void)
{
	return apply_file(path);
}

static int begin(void **state)
{
	char uuid[UUID_STR_LEN];
	unsigned int i;
	FILE *file;

	strcpy((char *)type.name, "SG16-1Q");
	strcpy((char *)type.id, "vgpu_soft-SG16-1Q");
	type.placement_size_gb = 1;
	reset();
	file = fdopen(mkstemp(path), "w");
	fprintf(file, "{\"version\": 1, \"gpus\": [{\"address\": \"f000:00:00.0\",\n"
		"\"policy\": \"qos\", \"slice_ns\": 2000000}], \"vgpus\": [");
	for (i = 0; i < NR_VGPUS; i++)
		fprintf(file, "%s\n{\"uuid\": \"%s\", \"address\": \"f000:00:00.0\",\n"
			"\"type\": \"SG16-1Q\", \"guarantee_permille\": %u, \"weight\": 7}",
			i ? "," : "", uuid_format(driver.inst[i].uuid, uuid), i ? 200 : 50);
	fprintf(file, "]}\n");
	fclose(file);
	file = fdopen(mkstemp(parts_path), "w");
	fprintf(file, "{\"version\": 1, \"gpus\": [{\"address\": \"f000:00:00.0\",\n"
		"\"partitions\": [{\"profile\": \"1g\", \"start_eighth\": 0},\n"
		"{\"profile\": \"1g\", \"start_eighth\": 1, \"policy\": \"qos\"}]}],\n"
		"\"vgpus\": [");
	for (i = 0; i < NR_VGPUS; i++)
		fprintf(file, "%s\n{\"uuid\": \"%s\", \"address\": \"f000:00:00.0\",\n"
			"\"type\": \"SG16-1Q\", \"partition_start_eighth\": %u, \"weight\": 7}",
			i ? "," : "", uuid_format(driver.inst[i].uuid, uuid), i % 2);
	fprintf(file, "]}\n");
	return fclose(file);
}

static int end(void **state)
{
	free(said);
	unlink(parts_path);
	return unlink(path);
}

/* Whatever fails, all is as it was; and the next time it is done. */
static void test_taken_back(void **state)
{
	unsigned int fail_at, i;

	for (fail_at = 1; fail_at < STEPS; fail_at++) {
		reset();
		driver.fail_at = fail_at;
		if (!apply())
			break;
		assert_non_null(strstr(said, strerror(ENOMEM)));
		assert_string_equal(driver.sched.policy, "best_effort");
		assert_int_equal(driver.sched.slice_ns, 1000000);
		for (i = 0; i < NR_VGPUS; i++) {
			assert_int_equal(driver.there[i], i < 2);
			if (i >= 2)
				continue;
			assert_int_equal(driver.inst[i].guarantee, 100);
			assert_int_equal(driver.inst[i].weight, 10);
		}
	}
	/* The GPU, those that get less, two new ones, the others. */
	assert_int_equal(fail_at, 6);
	assert_string_equal(driver.sched.policy, "qos");
	for (i = 0; i < NR_VGPUS; i++) {
		assert_true(driver.there[i]);
		assert_int_equal(driver.inst[i].guarantee, i ? 200 : 50);
		assert_int_equal(driver.inst[i].weight, 7);
	}
}

/* The GPU has no vGPUs; the file divides it, and has two in each of two partitions. */
static void reset_whole(void)
{
	reset();
	driver.divisible = true;
	memset(driver.there, 0, sizeof(driver.there));
}

/* Likewise where the GPU is divided, and the partitions are set one by one. */
static void test_divided_taken_back(void **state)
{
	unsigned int fail_at, i;

	type.slices = 1;
	for (fail_at = 1; fail_at < STEPS; fail_at++) {
		reset_whole();
		driver.fail_at = fail_at;
		if (!apply_file(parts_path))
			break;
		assert_non_null(strstr(said, strerror(ENOMEM)));
		assert_false(driver.divided || driver.part[0] || driver.part[1]);
		for (i = 0; i < NR_VGPUS; i++)
			assert_false(driver.there[i]);
	}
	/*
	 * The mode, two partitions, one of them set, four vGPUs, two guarantees on the way, those
	 * of two partitions.
	 */
	assert_int_equal(fail_at, 13);
	assert_true(driver.divided && driver.part[0] && driver.part[1]);
	assert_string_equal(driver.part_policy[0], "");
	assert_string_equal(driver.part_policy[1], "qos");
	for (i = 0; i < NR_VGPUS; i++) {
		assert_true(driver.there[i]);
		assert_int_equal(driver.inst[i].weight, 7);
	}
	/* It had all, and nothing, while others were created, and has what a new one has. */
	assert_int_equal(driver.inst[0].guarantee, 500);
	type.slices = 0;
}

/* A VM has opened what was only just created: it keeps it. */
static void opened_while_applied(pid_t owner, const char *expected)
{
	reset();
	driver.taken[2] = true;
	driver.owner = owner;
	driver.fail_at = 5;
	assert_int_equal(apply(), EXIT_FAILED);
	assert_non_null(strstr(said, expected));
	assert_true(driver.there[2]);
	assert_false(driver.there[3]);
	assert_string_equal(driver.sched.policy, "best_effort");
	assert_int_equal(driver.inst[1].guarantee, 100);
}

static void test_in_use(void **state)
{
	opened_while_applied(4711, "in use by process 4711 already: it stays");
	opened_while_applied(0, "in use by an unknown process already: it stays");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken_back),
		cmocka_unit_test(test_in_use),
		cmocka_unit_test(test_divided_taken_back),
	};

	return cmocka_run_group_tests_name("apply", tests, begin, end);
}
