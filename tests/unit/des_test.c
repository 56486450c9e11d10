// SPDX-License-Identifier: GPL-2.0
/* See des_test.h. */
#include "vgpu_test.h"

#include "des_test.h"

static bool check_failed;

/* A test that has failed does not free its records, so the leak checker is told to be quiet. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return check_failed;
}

/**
 * check_des() - all promises hold on a record, or the test fails and says why
 * @des: record
 */
void check_des(const struct des *des)
{
	struct des_config config;
	struct des_report report;
	unsigned int tries;
	struct des *less;
	int i;

	des_check(des, &report);
	if (!des_violations(&report))
		return;
	des_report_print(des, &report);
	for (i = 0; !report.violations[i]; i++)
		;
	des_config_copy(&config, des->config);
	tries = des_shrink(&config, i);
	less = des_run(&config);
	printf("# seed %#llx violates %s; the least that does, of %u tried:\n",
	       des->config->seed, des_promise_name(i), tries);
	des_check(less, &report);
	des_report_print(less, &report);
	des_config_print(&config);
	des_free(less);
	des_config_exit(&config);
	check_failed = true;
	fail();
}

/* A configuration with qos, in which all jobs are done in the end. */
void des_test_qos(struct des_config *config, unsigned int nr_clients)
{
	des_config_init(config, &vgpu_policy_qos, nr_clients);
	config->drain = true;
}

void des_test_share(struct des_config *config, unsigned int client, unsigned int guarantee,
		    unsigned int cap, unsigned int weight)
{
	config->client[client].share.guarantee = guarantee;
	config->client[client].share.cap = cap;
	config->client[client].share.weight = weight;
}

/* The same share for each client. */
void des_test_share_all(struct des_config *config, unsigned int guarantee, unsigned int cap,
			unsigned int weight)
{
	unsigned int i;

	for (i = 0; i < config->nr_clients; i++)
		des_test_share(config, i, guarantee, cap, weight);
}

/* Runs a simulation, in which all promises must hold. The caller ends it with des_test_end(). */
struct des *des_test_run(const struct des_config *config)
{
	struct des *des = des_run(config);

	check_des(des);
	return des;
}

/* Frees a record, and what its configuration holds. */
void des_test_end(struct des *des, struct des_config *config)
{
	des_free(des);
	des_config_exit(config);
}

/* The promises hold, and nothing else is looked at. Frees what the configuration holds. */
void des_test_once(struct des_config *config)
{
	des_test_end(des_test_run(config), config);
}

/* Service of a client on the first engine, per mille of all time. */
u64 des_test_per_mille(const struct des *des, unsigned int client)
{
	return des->client[client].track[0].busy_ns * 1000 / des->end_ns;
}
