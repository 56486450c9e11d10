/* SPDX-License-Identifier: GPL-2.0 */
/* The only program in a guest that runs a distribution's kernel and shows what it is told to. */
#ifndef E2E_DISPLAY_H
#define E2E_DISPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "say.h"

/* Functions that return false have said what is wrong. @pci is an address like 0000:00:05.0. */

/* node.c: devices and their files */
void node_path(char *path, size_t len, const char *pci, const char *file);
/* Name of the only entry of the directory @dir of the function in sysfs that begins with @name. */
bool node_find(char *entry, size_t len, const char *pci, const char *dir, const char *name);
bool node_write(const char *path, const char *text);
/* Maps the BAR @bar; *@bytes is its size, at most @max. */
void *node_map(const char *pci, unsigned int bar, size_t max, size_t *bytes);

/* kms.c: pictures by the kernel's mode setting */
bool kms_modes(const char *pci);
/* Sets a mode and draws a picture into a buffer whose rows are @pad pixels longer. */
bool kms_draw(const char *pci, uint32_t width, uint32_t height, uint32_t seed, uint32_t pad);
/* Flips @nr times between buffers; the last one shown has the picture @seed. */
bool kms_flip(const char *pci, uint32_t nr, uint32_t seed);
/* Switches the screen off, so that it is dark. */
bool kms_off(const char *pci);
/* Gives the card back, so that the console is shown again. */
bool kms_close(const char *pci);

/* text.c: the console */
bool text_show(const char *word);
/* Says size and checksums of the console's framebuffer, as the kernel has it. */
bool text_report(const char *pci);

/* storm.c: without a driver */
/* Writes all kinds of modes to the registers for some seconds, at last a good one. */
bool storm_run(const char *pci, uint32_t seconds, uint32_t seed);

#endif /* E2E_DISPLAY_H */
