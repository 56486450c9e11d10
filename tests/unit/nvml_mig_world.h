/* SPDX-License-Identifier: GPL-2.0 */
/* What tests of tools/libnvml with GPUs that are divided have in common. */
#ifndef NVML_MIG_WORLD_H
#define NVML_MIG_WORLD_H

#include "nvml_part.h"
#include "nvml_rows.h"

#define OK(call)		assert_int_equal(call, NVML_SUCCESS)
#define UNSUPPORTED(call)	assert_int_equal(call, NVML_ERROR_NOT_SUPPORTED)
#define INVALID(call)		assert_int_equal(call, NVML_ERROR_INVALID_ARGUMENT)

/*
 * The library is initialized; dev is the first GPU. MIG is on; off; or there is none. Nothing is
 * left at the end.
 */
int mig_begin(void **state);
int mig_begin_off(void **state);
int mig_begin_whole(void **state);
int mig_end(void **state);

#endif /* NVML_MIG_WORLD_H */
