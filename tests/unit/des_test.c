// SPDX-License-Identifier: GPL-2.0
/* See des_test.h. */
#include "vgpu_test.h"

#include "des_test.h"

static bool check_failed;

/* Where a test has failed, what it would have freed is no news. */
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
