/* SPDX-License-Identifier: GPL-2.0 */
/* What tests of tools/libnvml in a guest have in common. */
#ifndef NVML_GUEST_H
#define NVML_GUEST_H

#include "nvml_fake.h"
#include "nvml_node.h"
#include "nvml_rows.h"

#define OK(call)		assert_int_equal(call, NVML_SUCCESS)
#define UNSUPPORTED(call)	assert_int_equal(call, NVML_ERROR_NOT_SUPPORTED)
#define IN_GUEST(test)		\
	cmocka_unit_test_setup_teardown(test, nvml_guest_begin, nvml_guest_end)

/* A guest, in which the library is not initialized; and nothing is left of it at the end. */
int nvml_guest_begin(void **state);
int nvml_guest_end(void **state);

/* Allocations at the beginning. */
extern int nvml_guest_allocations;

/* Initializes the library; dev is the first GPU. */
void nvml_guest_init(void);

/* Checks the rates of the GPU. */
void nvml_guest_rates(unsigned int gpu, unsigned int memory);

#endif /* NVML_GUEST_H */
