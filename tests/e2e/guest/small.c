// SPDX-License-Identifier: GPL-2.0
/*
 * The samples once more, with a sixteenth of the memory: in a machine that is emulated within an
 * emulated one, processor and engines are slow.
 */
#define SAMPLES_HALVED		2
#define sample_mandelbrot	small_mandelbrot
#define sample_blur		small_blur
#define sample_sgemm		small_sgemm
#define sample_sha256		small_sha256
#define sample_reduce		small_reduce
#define sample_triad		small_triad
#define sample_copy		small_copy
#define sample_latency		small_latency
#define sample_bandwidth	small_bandwidth

#include <numbers.c>
#include <pictures.c>
#include <probes.c>

#include "guest.h"

static const struct sample * const all[] = {
	&small_mandelbrot, &small_sgemm, &small_blur, &small_sha256, &small_reduce, &small_triad,
	&small_copy, &small_latency, &small_bandwidth,
};

const struct sample *small_at(size_t i)
{
	return i < sizeof(all) / sizeof(all[0]) ? all[i] : NULL;
}
