/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work of the vGPU of space.h that is moved while it runs, however that is done: it goes on with
 * the registers, the memory and the program that it had.
 */
#ifndef MOVING_H
#define MOVING_H

#include <stdbool.h>

/**
 * struct moving - a way to move the vGPU
 * @step:   moves it; leaves it running, unless @pause was called before. Returns whether a dispatch
 *          was running
 * @pause:  makes it stand still
 * @resume: undoes @pause after @step
 */
struct moving {
	bool (*step)(void);
	void (*pause)(void);
	void (*resume)(void);
};

/* Each of them moves the vGPU while a dispatch runs, so many times at least. */
void moving_barriers(const struct moving *how, unsigned int least);
void moving_channels(const struct moving *how, unsigned int least);

/* With text that the guest overwrites meanwhile. */
void moving_text(const struct moving *how);

/* With so many signals in guest memory, one at a time. */
void moving_signals(const struct moving *how, unsigned int signals);

#endif /* MOVING_H */
