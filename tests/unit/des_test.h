/* SPDX-License-Identifier: GPL-2.0 */
/* What tests on the simulator of des.h share. */
#ifndef _VGPU_DES_TEST_H
#define _VGPU_DES_TEST_H

#include "des_check.h"

void check_des(const struct des *des);

void des_test_qos(struct des_config *config, unsigned int nr_clients);
void des_test_share(struct des_config *config, unsigned int client, unsigned int guarantee,
		    unsigned int cap, unsigned int weight);
void des_test_share_all(struct des_config *config, unsigned int guarantee, unsigned int cap,
			unsigned int weight);
struct des *des_test_run(const struct des_config *config);
void des_test_end(struct des *des, struct des_config *config);
void des_test_once(struct des_config *config);
u64 des_test_per_mille(const struct des *des, unsigned int client);

#endif /* _VGPU_DES_TEST_H */
