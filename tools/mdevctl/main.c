// SPDX-License-Identifier: GPL-2.0
/*
 * vgpu: the call-out by which mdevctl sees and sets the attributes of this driver's vGPUs.
 *
 * mdevctl runs it with "-t TYPE -e EVENT -a ACTION -s STATE -u UUID -p PARENT", most times with a
 * configuration on its standard input, before (pre), after (post) or instead of (get, live) what
 * mdevctl does itself. mdevctl shows what it says on standard error. Its exit status is 0, 1 for a
 * refusal, and 2 for other drivers' types.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/vgpu.h>

#include "attrs.h"
#include "config.h"
#include "ctl.h"
#include "device.h"
#include "json.h"
#include "message.h"
#include "quote.h"
#include "room.h"
#include "uuid.h"

#define EXIT_NOT_OURS	2
#define PROTOCOL	2	/* the newest version of mdevctl's protocol that is known here */
#define NODE		"/dev/vgpu"

/* mdevctl calls at once when it has failed: an older refusal was of another attempt. */
#define REFUSAL_NS	2000000000ull

/**
 * struct call - what mdevctl asks for
 * @type:   type id of the vGPU
 * @event:  when
 * @action: what
 * @state:  of an action that is over
 * @uuid:   of the vGPU, as sysfs writes it
 * @id:     the same in bytes
 * @parent: the GPU's directory in /sys/class/mdev_bus
 */
struct call {
	const char *type;
	const char *event;
	const char *action;
	const char *state;
	char uuid[UUID_STR_LEN];
	uint8_t id[VGPU_UUID_LEN];
	const char *parent;
};

/* Reads the configuration, which must be of this vGPU. */
static bool read_config(const struct call *call, struct config *config)
{
	char why[CONFIG_WHY], *text;
	size_t bytes;
	bool good;

	config->attr = NULL;
	text = config_read(stdin, &bytes, why);
	good = text && config_parse(text, bytes, call->uuid, config, why);
	free(text);
	if (good && strcmp(config->type, call->type)) {
		snprintf(why, sizeof(why), config->type[0] ?
			 "is of another type" : "names no type");
		good = false;
	}
	if (!good)
		fail("vGPU %s: its configuration %s", call->uuid, why);
	return good;
}

/* ---- get ---- */

static enum exit_code get_attributes(const struct call *call)
{
	const struct vgpu_setting *setting;
	char name[CONFIG_NAME], value[CONFIG_NAME], why[CONFIG_WHY];
	struct json json;

	if (!device_check(call->uuid, call->parent, call->type, why))
		return fail("vGPU %s: %s", call->uuid, why);
	json_init(&json, stdout, false);
	json_begin_array(&json, NULL);
	for (setting = vgpu_share_settings; setting->name; setting++) {
		snprintf(name, sizeof(name), ATTRS_GROUP "%s", setting->name);
		/* An older driver may not have it. */
		if (!device_read(call->uuid, name, value, sizeof(value)))
			continue;
		json_begin(&json, NULL);
		json_text(&json, name, value);
		json_end(&json);
	}
	json_end(&json);
	return EXIT_OK;
}

/* Words of the protocol, and the version since which they are known. */
struct word {
	const char *text;
	uint64_t since;
};

static const struct word events[] = {
	{ "pre", 1 }, { "post", 1 }, { "notify", 1 }, { "get", 1 }, { "live", 2 }, {},
};

static const struct word actions[] = {
	{ "start", 1 }, { "stop", 1 }, { "define", 1 }, { "undefine", 1 }, { "modify", 1 },
	{ "attributes", 1 }, { "capabilities", 2 }, {},
};

static void words_json(struct json *json, const char *key, const struct word *word,
		       uint64_t version)
{
	json_begin_array(json, key);
	for (; word->text; word++)
		if (word->since <= version)
			json_text(json, NULL, word->text);
	json_end(json);
}

static enum exit_code get_capabilities(const struct call *call)
{
	char why[CONFIG_WHY], *text;
	struct json json;
	uint64_t version;
	size_t bytes;
	bool good;

	text = config_read(stdin, &bytes, why);
	good = text && config_version(text, bytes, &version, why);
	free(text);
	if (!good)
		return fail("what mdevctl provides %s", why);
	if (version > PROTOCOL)
		version = PROTOCOL;
	json_init(&json, stdout, false);
	json_begin(&json, NULL);
	json_begin(&json, "supports");
	json_u64(&json, "version", version);
	words_json(&json, "actions", actions, version);
	words_json(&json, "events", events, version);
	json_end(&json);
	json_end(&json);
	return EXIT_OK;
}

/* ---- live ---- */

/*
 * Whether a change has its effect now. A VM that runs does not see a setting that counts when the
 * vGPU is opened: to show the new value as that of its vGPU would be wrong.
 */
static bool is_live(const struct call *call, const struct vgpu_ctl_share *change, char *why)
{
	const struct vgpu_setting *setting;
	char name[CONFIG_NAME], value[CONFIG_NAME];

	if (!device_read(call->uuid, ATTRS_GROUP "state", value, sizeof(value)) ||
	    strcmp(value, "started"))
		return true;
	for (setting = vgpu_share_settings; setting->name; setting++) {
		if (!setting->at_open || !(change->valid & setting->valid))
			continue;
		snprintf(name, sizeof(name), ATTRS_GROUP "%s", setting->name);
		if (device_read(call->uuid, name, value, sizeof(value)) &&
		    attrs_same(setting, value, change))
			continue;
		snprintf(why, CONFIG_WHY,
			 "%s: counts when the vGPU is opened, and it is in use: change it in the definition, or when nobody uses the vGPU",
			 name);
		return false;
	}
	return true;
}

static enum exit_code set_live(const struct call *call, struct vgpu_ctl_share *change)
{
	char reason[VGPU_TEXT_LEN + 1];
	uint8_t text[VGPU_TEXT_LEN];
	int fd, ret;

	fd = ctl_open();
	if (fd < 0)
		return EXIT_FAILED;
	memcpy(change->uuid, call->id, sizeof(change->uuid));
	ret = ctl_shares_set(fd, change, 1, text);
	close(fd);
	if (ret)
		return fail("vGPU %s: cannot be changed: %s", call->uuid,
			    message_refusal(text, ret, reason, sizeof(reason)));
	device_changed(call->uuid);
	return EXIT_OK;
}

static enum exit_code live_modify(const struct call *call)
{
	struct vgpu_ctl_share change;
	enum exit_code code;
	struct config config;
	char why[CONFIG_WHY];

	if (!read_config(call, &config))
		code = EXIT_FAILED;
	else if (!device_check(call->uuid, call->parent, call->type, why) ||
		 !attrs_change(&config, &change, why) || !is_live(call, &change, why))
		code = fail("vGPU %s: %s", call->uuid, why);
	else
		code = change.valid ? set_live(call, &change) : EXIT_OK;
	config_free(&config);
	return code;
}

/* ---- pre and post ---- */

static int read_part(const struct vgpu_ctl_partition *part, void *arg)
{
	struct room_gpu *gpu = arg;

	if (gpu->nr_parts < VGPU_PARTITION_EIGHTHS)
		gpu->part[gpu->nr_parts++] = *part;
	return 0;
}

static bool read_gpu(int fd, const char *address, struct room_gpu *gpu)
{
	struct vgpu_ctl_stats stats;
	uint32_t id, i;

	if (ctl_find_gpu(fd, address, &id) || ctl_gpu(fd, id, &gpu->gpu))
		return false;
	gpu->type = calloc(gpu->gpu.types, sizeof(*gpu->type));
	for (i = 0; gpu->type && i < gpu->gpu.types; i++)
		if (ctl_type(fd, id, i, &gpu->type[i]))
			return false;
	/* A driver without partitions does not know the call. */
	if (!gpu->type || (gpu->gpu.profiles && ctl_visit_partitions(fd, id, gpu, read_part)) ||
	    ctl_stats(fd, id, &stats, &gpu->inst))
		return false;
	gpu->nr_insts = stats.count;
	return true;
}

/* Finds where a vGPU is to be started, as far as the driver is there and knows its GPU. */
static bool find_room(const struct call *call, struct attrs_room *room)
{
	struct room_gpu gpu = {};
	bool found;
	int fd;

	if (access(NODE, F_OK))
		return false;
	fd = ctl_open();
	if (fd < 0)
		return false;
	found = read_gpu(fd, call->parent, &gpu) && room_find(&gpu, call->type, room);
	close(fd);
	free(gpu.inst);
	free(gpu.type);
	return found && room->region_gb;
}

static enum exit_code check(const struct call *call, bool start)
{
	enum exit_code code = EXIT_OK;
	struct attrs_room room;
	struct config config;
	char why[CONFIG_WHY];

	if (!read_config(call, &config))
		code = EXIT_FAILED;
	else if (!attrs_check(&config, find_room(call, &room) ? &room : NULL, start, why))
		code = fail("vGPU %s: %s", call->uuid, why);
	config_free(&config);
	return code;
}

static enum exit_code pre_define(const struct call *call)
{
	return check(call, false);
}

/* mdevctl itself refuses to start a vGPU that is there; it counts among those that are. */
static enum exit_code pre_start(const struct call *call)
{
	return check(call, !device_exists(call->uuid));
}

/* The kernel keeps a vGPU until whoever uses it lets go, and mdevctl waits for the kernel. */
static enum exit_code pre_stop(const struct call *call)
{
	struct vgpu_ctl_instance inst;
	char owner[CTL_OWNER_LEN];
	int fd;

	if (access(NODE, F_OK))
		return EXIT_OK;
	fd = ctl_open();
	if (fd < 0)
		return EXIT_OK;
	if (!ctl_instance(fd, call->id, &inst) && inst.state == VGPU_STATE_STARTED)
		fail("vGPU %s: in use by %s; waiting until it lets go", call->uuid,
		     ctl_owner_text(&inst, owner));
	close(fd);
	return EXIT_OK;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* What mdevctl could not do, it reports by the name of an errno. The driver knows the reason. */
static enum exit_code post_start(const struct call *call)
{
	struct vgpu_ctl_refusal refusal;
	int fd;

	if (strcmp(call->state, "failure") || device_exists(call->uuid) || access(NODE, F_OK))
		return EXIT_OK;
	fd = ctl_open();
	if (fd < 0)
		return EXIT_OK;
	if (!ctl_refusal(fd, call->id, &refusal) && refusal.time_ns + REFUSAL_NS > now_ns())
		fail("vGPU %s: refused by the driver: %.*s", call->uuid, TEXT(refusal.text));
	close(fd);
	return EXIT_OK;
}

/* ---- what is called ---- */

/* At all other times there is nothing to do. */
static const struct {
	const char *event;
	const char *action;
	enum exit_code (*run)(const struct call *call);
} handlers[] = {
	{ "get", "attributes", get_attributes },
	{ "get", "capabilities", get_capabilities },
	{ "live", "modify", live_modify },
	{ "pre", "define", pre_define },
	{ "pre", "modify", pre_define },
	{ "pre", "start", pre_start },
	{ "pre", "stop", pre_stop },
	{ "post", "start", post_start },
};

static bool known(const struct word *word, const char *text)
{
	for (; word->text; word++)
		if (!strcmp(word->text, text))
			return true;
	return false;
}

static enum exit_code run(const struct call *call)
{
	size_t i;

	for (i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++)
		if (!strcmp(handlers[i].event, call->event) &&
		    !strcmp(handlers[i].action, call->action))
			return handlers[i].run(call);
	return EXIT_OK;
}

static bool parse_options(int argc, char **argv, struct call *call, const char **uuid)
{
	int option;

	opterr = 0;
	while ((option = getopt(argc, argv, "t:e:a:s:u:p:")) != -1) {
		switch (option) {
		case 't':
			call->type = optarg;
			break;
		case 'e':
			call->event = optarg;
			break;
		case 'a':
			call->action = optarg;
			break;
		case 's':
			call->state = optarg;
			break;
		case 'u':
			*uuid = optarg;
			break;
		case 'p':
			call->parent = optarg;
			break;
		default:
			return false;
		}
	}
	return optind == argc && call->type && call->event && call->action && call->state &&
	       *uuid && call->parent;
}

int main(int argc, char **argv)
{
	struct call call = {};
	const char *uuid = NULL;
	enum exit_code code;
	char quoted[256];

	/* mdevctl puts the name of this program before what it says. */
	message_prefix = "";
	if (!parse_options(argc, argv, &call, &uuid))
		return fail("a call-out for mdevctl; usage: vgpu -t TYPE -e EVENT -a ACTION -s STATE -u UUID -p PARENT");
	if (!device_is_ours(call.type, call.parent))
		return EXIT_NOT_OURS;
	if (!device_is_name(call.type))
		return fail("%s: not the name of a type", quote(call.type, quoted, sizeof(quoted)));
	if (!device_is_name(call.parent))
		return fail("%s: not the name of a GPU",
			    quote(call.parent, quoted, sizeof(quoted)));
	if (uuid_parse(uuid, call.id))
		return fail("%s: not a UUID", quote(uuid, quoted, sizeof(quoted)));
	if (!known(events, call.event) || !known(actions, call.action))
		return fail("event %s, action %s: not known", call.event, call.action);
	uuid_format(call.id, call.uuid);
	code = run(&call);
	if (fflush(stdout) || ferror(stdout))
		return fail("standard output: cannot write");
	return code;
}
