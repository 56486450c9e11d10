// SPDX-License-Identifier: GPL-2.0
/* See des_check.h: makes a configuration that breaks a promise as small as can be. */
#include "des_check_impl.h"

static bool shrink_fails(const struct des_config *config,
			 enum des_promise promise, unsigned int *tries)
{
	struct des_report report;
	struct des *des = des_run(config);

	(*tries)++;
	des_check(des, &report);
	des_free(des);
	return report.violations[promise];
}

/* Replaces @config by @next if @next breaks the promise, too, and frees the other one. */
static bool shrink_take(struct des_config *config, struct des_config *next,
			enum des_promise promise, unsigned int *tries)
{
	bool fails = shrink_fails(next, promise, tries);

	if (fails) {
		des_config_exit(config);
		*config = *next;
	} else {
		des_config_exit(next);
	}
	return fails;
}

static bool shrink_length(struct des_config *config, enum des_promise promise,
			  unsigned int *tries)
{
	static const unsigned int parts[] = { 8, 12, 14, 15 };
	struct des_config next;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		des_config_copy(&next, config);
		next.length_ns = next.length_ns * parts[i] / 16;
		if (shrink_take(config, &next, promise, tries))
			return true;
	}
	return false;
}

static bool shrink_lists(struct des_config *config, enum des_promise promise, unsigned int *tries)
{
	struct des_config next;
	bool shrunk = false;
	unsigned int i;

	for (i = config->nr_actions; i--; ) {
		des_config_copy(&next, config);
		des_config_remove_action(&next, i);
		shrunk |= shrink_take(config, &next, promise, tries);
	}
	for (i = config->nr_clients; i-- && config->nr_clients > 1; ) {
		des_config_copy(&next, config);
		des_config_remove_client(&next, i);
		shrunk |= shrink_take(config, &next, promise, tries);
	}
	return shrunk;
}

/* Makes one thing of a client simpler, by its number. Return: false: it was simple already. */
static bool shrink_simplify(struct des_client_config *client, unsigned int what)
{
	struct des_load *load = &client->load;
	u64 *values[] = {
		&load->overrun_ns, &load->chunk_ns, &load->phase_ns,
		&load->jitter_ns, &load->off_ns, &load->think_max_ns,
		&load->stage[0].job_max_ns, &load->stall_every_ns,
		&load->stall_max_ns, &load->overrun_from_ns,
	};

	if (what < ARRAY_SIZE(values)) {
		if (!*values[what])
			return false;
		*values[what] = 0;
		return true;
	}
	switch (what - ARRAY_SIZE(values)) {
	case 0:
		if (load->kind == DES_BUSY)
			return false;
		load->kind = DES_BUSY;
		return true;
	case 1:
		if (client->share.cap == 1000)
			return false;
		client->share.cap = 1000;
		return true;
	case 2:
		if (client->share.weight == 1)
			return false;
		client->share.weight = 1;
		return true;
	default:
		if (!client->share.guarantee)
			return false;
		client->share.guarantee = 0;
		return true;
	}
}

#define SHRINK_SIMPLER	14

static bool shrink_clients(struct des_config *config, enum des_promise promise,
			   unsigned int *tries)
{
	struct des_config next;
	bool shrunk = false;
	unsigned int i, what;

	for (i = 0; i < config->nr_clients; i++)
		for (what = 0; what < SHRINK_SIMPLER; what++) {
			des_config_copy(&next, config);
			if (shrink_simplify(&next.client[i], what))
				shrunk |= shrink_take(config, &next, promise, tries);
			else
				des_config_exit(&next);
		}
	return shrunk;
}

static bool shrink_rest(struct des_config *config, enum des_promise promise, unsigned int *tries)
{
	struct des_config next;
	bool shrunk = false;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		u64 *value;

		des_config_copy(&next, config);
		value = i == 0 ? &next.switch_ns : i == 1 ? &next.save_ns :
			i == 2 ? &next.poll_ns : &next.kick_ns;
		if (*value) {
			*value = 0;
			shrunk |= shrink_take(config, &next, promise, tries);
		} else {
			des_config_exit(&next);
		}
	}
	return shrunk;
}

/**
 * des_shrink() - take all out of a configuration that is not needed to break a promise
 * @config:  configuration under which @promise is broken; changed
 * @promise: the promise
 *
 * Return: how many simulations that took.
 */
unsigned int des_shrink(struct des_config *config, enum des_promise promise)
{
	unsigned int tries = 0;
	bool shrunk;

	do {
		shrunk = shrink_lists(config, promise, &tries);
		shrunk |= shrink_length(config, promise, &tries);
		shrunk |= shrink_clients(config, promise, &tries);
		shrunk |= shrink_rest(config, promise, &tries);
	} while (shrunk && tries < 2000);
	return tries;
}
