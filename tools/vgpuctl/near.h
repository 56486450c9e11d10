/* SPDX-License-Identifier: GPL-2.0 */
/* What was meant by a word that is not known: the nearest of those that are. */
#ifndef VGPUCTL_NEAR_H
#define VGPUCTL_NEAR_H

#include <stddef.h>

/**
 * struct near - the nearest word so far
 * @name:     what the word is of; NULL: none is like what was typed
 * @distance: how many letters differ
 */
struct near {
	const char *name;
	size_t distance;
};

/*
 * Keeps @name if its word, the first @length letters of @word, is like what was typed, and more so
 * than what has been tried before.
 */
void near_try(struct near *near, const char *typed, const char *word, size_t length,
	      const char *name);

#endif /* VGPUCTL_NEAR_H */
