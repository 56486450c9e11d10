// SPDX-License-Identifier: GPL-2.0
/* The command apply. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "apply.h"
#include "command.h"
#include "ctl.h"
#include "plan.h"
#include "sched.h"
#include "share.h"
#include "sysfs.h"
#include "uuid.h"

/* Far more than a state of all vGPUs that a machine can have. */
#define FILE_BYTES	(16u << 20)
#define SHARES_MAX	256

#define LOCK_FILE	"/run/vgpuctl.lock"

/* ---- what is different ---- */

static void plan_json(const struct plan *plan)
{
	char uuid[UUID_STR_LEN];
	struct json json;
	size_t i;

	json_init(&json, stdout, false);
	json_begin(&json, NULL);
	json_begin_array(&json, "gpus");
	for (i = 0; i < plan->nr_gpus; i++) {
		const struct plan_gpu *gpu = &plan->gpu[i];

		if (!gpu->changed && !apply_parts_any(gpu))
			continue;
		json_begin(&json, NULL);
		json_text(&json, "address", gpu->want->address);
		apply_difference_json(&json, &sched_settings, gpu->changed, &gpu->want->set,
				      &gpu->is->sched);
		apply_parts_json(&json, gpu);
		json_end(&json);
	}
	json_end(&json);
	json_begin_array(&json, "vgpus");
	for (i = 0; i < plan->nr_vgpus; i++) {
		const struct plan_vgpu *vgpu = &plan->vgpu[i];

		if (vgpu->left || (vgpu->is && !vgpu->changed))
			continue;
		json_begin(&json, NULL);
		json_text(&json, "uuid", uuid_format(vgpu->want->set.uuid, uuid));
		json_text(&json, "address", vgpu->want->address);
		json_bytes(&json, "type", vgpu->type->name, sizeof(vgpu->type->name));
		if (vgpu->start == VGPU_PARTITION_ANYWHERE)
			json_null(&json, "partition_start_eighth");
		else
			json_u64(&json, "partition_start_eighth", vgpu->start);
		json_flag(&json, "elsewhere", vgpu->elsewhere);
		json_flag(&json, "create", !vgpu->is);
		apply_difference_json(&json, &share_settings, vgpu->changed, &vgpu->want->set,
				      vgpu->is);
		json_end(&json);
	}
	json_end(&json);
	json_begin_array(&json, "left");
	for (i = 0; i < plan->nr_vgpus; i++)
		if (plan->vgpu[i].left)
			json_text(&json, NULL, uuid_format(plan->vgpu[i].want->set.uuid, uuid));
	json_end(&json);
	json_end(&json);
}

static void create_text(const char *name, const struct plan_vgpu *vgpu)
{
	printf("%s: create a %.*s on GPU %s", name, TEXT(vgpu->type->name), vgpu->want->address);
	if (vgpu->start != VGPU_PARTITION_ANYWHERE)
		printf(", in the partition at eighth %u", vgpu->start);
	putchar('\n');
}

static void plan_text(const struct plan *plan)
{
	char name[64], uuid[UUID_STR_LEN];
	bool any = false;
	size_t i;

	for (i = 0; i < plan->nr_gpus; i++) {
		const struct plan_gpu *gpu = &plan->gpu[i];

		snprintf(name, sizeof(name), "GPU %s", gpu->want->address);
		setting_print_changes(&sched_settings, gpu->changed, name, &gpu->want->set,
				      gpu->changed ? &gpu->is->sched : NULL);
		apply_parts_text(gpu);
		any |= gpu->changed || apply_parts_any(gpu);
	}
	for (i = 0; i < plan->nr_vgpus; i++) {
		const struct plan_vgpu *vgpu = &plan->vgpu[i];

		snprintf(name, sizeof(name), "vGPU %s",
			 uuid_format(vgpu->want->set.uuid, uuid));
		if (vgpu->left) {
			printf("%s: left to mdevctl, which defines it\n", name);
			continue;
		}
		if (!vgpu->is)
			create_text(name, vgpu);
		setting_print_changes(&share_settings, vgpu->changed, name, &vgpu->want->set,
				      vgpu->is);
		any |= !vgpu->is || vgpu->changed;
	}
	if (!any)
		puts("nothing is to be changed");
}

/* ---- doing it, and undoing it ---- */

/**
 * struct apply - how far it is done
 * @fd:      file of /dev/vgpu
 * @plan:    what is to be done
 * @gpus:    how many GPUs of the plan are set
 * @parts:   partitions are being created and set
 * @steps:   how many steps are done by which vGPUs are created
 * @set:     vGPUs that were there are being set
 */
struct apply {
	int fd;
	struct plan *plan;
	size_t gpus;
	bool parts;
	size_t steps;
	bool set;
};

static enum exit_code set_gpus(struct apply *apply)
{
	char reason[VGPU_TEXT_LEN + 1];
	struct vgpu_ctl_sched sched;
	int ret;

	for (; apply->gpus < apply->plan->nr_gpus; apply->gpus++) {
		const struct plan_gpu *gpu = &apply->plan->gpu[apply->gpus];

		if (!gpu->changed)
			continue;
		sched = gpu->want->set;
		sched.gpu = gpu->is->gpu.gpu;
		sched.valid = gpu->changed;
		ret = ctl_sched_set(apply->fd, &sched);
		if (ret)
			return fail("GPU %s: %s", gpu->want->address,
				    message_refusal(sched.text, ret, reason, sizeof(reason)));
	}
	return EXIT_OK;
}

static enum exit_code set_shares(int fd, const struct vgpu_ctl_share *shares, uint32_t nr)
{
	char reason[VGPU_TEXT_LEN + 1];
	uint8_t text[VGPU_TEXT_LEN];
	int ret;

	ret = nr ? ctl_shares_set(fd, shares, nr, text) : 0;
	return ret ? fail("cannot set shares: %s",
			  message_refusal(text, ret, reason, sizeof(reason))) : EXIT_OK;
}

/* Which vGPUs are set when. */
enum pass {
	PASS_FIRST,	/* plan_first() */
	PASS_REST,	/* the others */
	PASS_RESTORE,	/* those that were there get what they had */
};

/* Is the vGPU set in this pass? Sets @share to what it gets. */
static bool share_of(const struct plan_vgpu *vgpu, enum pass pass, struct vgpu_ctl_share *share)
{
	if (!vgpu->changed && !vgpu->led)
		return false;
	if (pass != PASS_RESTORE) {
		*share = vgpu->want->set;
		share->valid = vgpu->changed;
		if (vgpu->led) {
			share->valid |= VGPU_SHARE_GUARANTEE;
			share->guarantee = vgpu->guarantee;
		}
		return plan_first(vgpu) == (pass == PASS_FIRST);
	}
	if (!vgpu->is)
		return false;
	setting_copy(&share_settings, vgpu->changed, share, vgpu->is);
	memcpy(share->uuid, vgpu->is->uuid, sizeof(vgpu->is->uuid));
	return true;
}

/* The partition that a vGPU lives in: of one that was created the driver has chosen it. */
static int partition_of(int fd, const struct plan_vgpu *vgpu, uint32_t *partition)
{
	struct vgpu_ctl_instance inst;
	int ret = 0;

	*partition = vgpu->is ? vgpu->is->partition : 0;
	if (!vgpu->is && vgpu->type->slices) {
		ret = ctl_instance(fd, vgpu->want->set.uuid, &inst);
		*partition = ret ? 0 : inst.partition;
	}
	return ret;
}

/*
 * Sets the vGPUs of a GPU that are set in this pass: those of one partition at once, as the driver
 * takes no others.
 */
static enum exit_code set_vgpus_of(const struct plan *plan, int fd, const struct world_gpu *gpu,
				   enum pass pass)
{
	uint32_t nr = 0, partition, now = 0, next = 0;
	struct vgpu_ctl_share shares[SHARES_MAX];
	enum exit_code code = EXIT_OK;
	size_t i;
	int ret;

	/* From the partition with the lowest number to the one with the highest. */
	for (;;) {
		for (i = 0, next = now, nr = 0; i < plan->nr_vgpus && nr < SHARES_MAX; i++) {
			const struct plan_vgpu *vgpu = &plan->vgpu[i];

			if (vgpu->gpu != gpu || !share_of(vgpu, pass, &shares[nr]))
				continue;
			ret = partition_of(fd, vgpu, &partition);
			if (ret)
				return ctl_fail_vgpu(vgpu->want->set.uuid, ret);
			if (partition == now)
				nr++;
			else if (partition > now && (next == now || partition < next))
				next = partition;
		}
		code = set_shares(fd, shares, nr);
		if ((code && pass != PASS_RESTORE) || next == now)
			return code;
		now = next;
	}
}

static enum exit_code set_vgpus(struct apply *apply, const struct world *world, enum pass pass)
{
	enum exit_code code = EXIT_OK;
	size_t i;

	apply->set = true;
	for (i = 0; i < world->nr_gpus && !code; i++)
		code = set_vgpus_of(apply->plan, apply->fd, &world->gpu[i], pass);
	return code;
}

static enum exit_code create_vgpu(int fd, const struct plan_vgpu *vgpu)
{
	struct vgpu_ctl_refusal refusal;
	char uuid[UUID_STR_LEN], type[VGPU_NAME_LEN + 1];
	int ret;

	uuid_format(vgpu->want->set.uuid, uuid);
	snprintf(type, sizeof(type), "%.*s", TEXT(vgpu->type->id));
	ret = sysfs_create((const char *)vgpu->gpu->gpu.address, type, uuid);
	if (!ret)
		return EXIT_OK;
	if (ctl_refusal(fd, vgpu->want->set.uuid, &refusal) ||
	    refusal.error != -ret || !refusal.text[0])
		return fail("vGPU %s: cannot create it: %s", uuid, strerror(-ret));
	return fail("vGPU %s: cannot create it: %.*s", uuid, TEXT(refusal.text));
}

static enum exit_code create_vgpus(struct apply *apply)
{
	const struct plan *plan = apply->plan;
	enum exit_code code = EXIT_OK;
	struct vgpu_ctl_share share;

	for (; apply->steps < plan->nr_steps; apply->steps++) {
		const struct plan_step *step = &plan->step[apply->steps];
		const struct plan_vgpu *vgpu = &plan->vgpu[step->vgpu];

		share = (struct vgpu_ctl_share){
			.valid = VGPU_SHARE_GUARANTEE,
			.guarantee = step->guarantee,
		};
		memcpy(share.uuid, vgpu->want->set.uuid, sizeof(share.uuid));
		code = step->create ? create_vgpu(apply->fd, vgpu) :
			set_shares(apply->fd, &share, 1);
		if (code)
			break;
	}
	return code;
}

/* Removes a vGPU again, but not if somebody has opened it meanwhile: its VM would lose it. */
static void undo_create(int fd, const uint8_t *id)
{
	struct vgpu_ctl_instance inst;
	char uuid[UUID_STR_LEN], owner[CTL_OWNER_LEN];

	uuid_format(id, uuid);
	if (!ctl_instance(fd, id, &inst) && inst.state == VGPU_STATE_STARTED)
		fail("vGPU %s: in use by %s already: it stays", uuid,
		     ctl_owner_text(&inst, owner));
	else if (sysfs_remove(uuid))
		fail("vGPU %s: cannot remove it", uuid);
}

/* Takes back what was done, in the reverse order. What cannot be is said. */
static void undo(struct apply *apply, const struct world *world)
{
	const struct plan *plan = apply->plan;
	struct vgpu_ctl_sched sched;
	const struct plan_step *step;
	size_t i;

	if (apply->gpus || apply->parts || apply->steps || apply->set)
		fail("taking back what was done");
	while (apply->steps--) {
		step = &plan->step[apply->steps];
		if (step->create)
			undo_create(apply->fd, plan->vgpu[step->vgpu].want->set.uuid);
	}
	for (i = 0; i < world->nr_gpus && apply->set; i++)
		set_vgpus_of(plan, apply->fd, &world->gpu[i], PASS_RESTORE);
	if (apply->parts)
		apply_parts_undo(apply->fd, apply->plan);
	while (apply->gpus--) {
		const struct plan_gpu *gpu = &plan->gpu[apply->gpus];

		if (!gpu->changed)
			continue;
		sched = gpu->is->sched;
		/* A frequency that is read need not be one that can be set. */
		sched.valid = gpu->changed & VGPU_SCHED_FREQUENCY ?
			(gpu->changed & ~VGPU_SCHED_FREQUENCY) | VGPU_SCHED_SLICE : gpu->changed;
		if (ctl_sched_set(apply->fd, &sched))
			fail("GPU %s: cannot set it back", gpu->want->address);
	}
}

static enum exit_code apply(int fd, struct plan *plan, const struct world *world)
{
	struct apply apply = { .fd = fd, .plan = plan };
	enum exit_code code;

	code = set_gpus(&apply);
	if (!code) {
		apply.parts = true;
		code = apply_parts(fd, plan);
	}
	if (!code)
		code = set_vgpus(&apply, world, PASS_FIRST);
	if (!code)
		code = create_vgpus(&apply);
	if (!code)
		code = set_vgpus(&apply, world, PASS_REST);
	if (code)
		undo(&apply, world);
	return code;
}

/* ---- the command ---- */

static enum exit_code apply_state(int fd, const struct options *options, const struct state *state,
				  struct faults *faults)
{
	enum exit_code code = EXIT_OK;
	struct world world;
	struct plan plan;
	int ret;

	ret = world_read(fd, &world);
	world.left = sysfs_mdevctl_defines;
	if (ret) {
		code = fail("cannot read the state: %s", ctl_error(ret));
		goto free_world;
	}
	plan_make(state, &world, &plan, faults);
	if (faults->nr) {
		code = EXIT_FAILED;
		goto free_plan;
	}
	if (!options->dry_run)
		code = apply(fd, &plan, &world);
	if (!code && options->json)
		plan_json(&plan);
	else if (!code)
		plan_text(&plan);
free_plan:
	plan_free(&plan);
free_world:
	world_free(&world);
	return code;
}

/* Reads the file, or standard input if it is called "-". Returns the text, or NULL. */
static char *read_file(const char *path, size_t *bytes)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *text = need_zeroed(FILE_BYTES, 1);
	bool good = false;

	if (file) {
		*bytes = fread(text, 1, FILE_BYTES, file);
		good = !ferror(file) && *bytes < FILE_BYTES;
	}
	if (!good && file && !ferror(file))
		fail("%s: longer than %u bytes", path, FILE_BYTES - 1);
	else if (!good)
		fail("%s: cannot read it: %s", path, strerror(errno));
	if (file && file != stdin)
		fclose(file);
	if (good)
		return text;
	free(text);
	return NULL;
}

/*
 * Two at once would take back what the other did. Waits until no other one is at it. Returns a file
 * that is open until the end of this one, or -1 without the permission to change anything.
 */
static enum exit_code wait_for_others(int *lock)
{
	*lock = open(LOCK_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*lock < 0 && errno != EACCES)
		return fail(LOCK_FILE ": cannot open it: %s", strerror(errno));
	if (*lock < 0 || !flock(*lock, LOCK_EX | LOCK_NB))
		return EXIT_OK;
	fail("waiting until another vgpuctl has applied its state");
	while (flock(*lock, LOCK_EX) && errno == EINTR)
		;
	return EXIT_OK;
}

static enum exit_code apply_alone(int fd, const struct options *options, const struct state *state,
				  struct faults *faults)
{
	enum exit_code code;
	int lock;

	if (options->dry_run)
		return apply_state(fd, options, state, faults);
	code = wait_for_others(&lock);
	if (!code)
		code = apply_state(fd, options, state, faults);
	if (lock >= 0)
		close(lock);
	return code;
}

enum exit_code cmd_apply(const struct options *options)
{
	struct faults faults = { .file = options->file, .out = stderr };
	enum exit_code code = EXIT_FAILED;
	struct state state;
	size_t bytes;
	char *text;
	int fd;

	if (!options->file)
		return fail_usage("apply: -f FILE is needed (vgpuctl save writes one)");
	text = read_file(options->file, &bytes);
	if (!text)
		return EXIT_FAILED;
	state_parse(text, bytes, &state, &faults);
	free(text);
	/* What the machine says of a file that is wrong is told, too, as far as it can be read. */
	fd = ctl_open();
	if (fd >= 0) {
		code = apply_alone(fd, options, &state, &faults);
		close(fd);
	}
	if (faults.nr)
		fail("%s: nothing is changed; faults: %u", options->file, faults.nr);
	state_free(&state);
	return code;
}
