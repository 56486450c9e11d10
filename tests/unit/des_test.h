/* SPDX-License-Identifier: GPL-2.0 */
/* What tests on the simulator share. */
#ifndef _VGPU_DES_TEST_H
#define _VGPU_DES_TEST_H

#include "des_check.h"

void check_des(const struct des *des);

#endif /* _VGPU_DES_TEST_H */
