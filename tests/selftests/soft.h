/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Engines of the software GPU as debugfs shows them: measurements, and hangs on request;
 * used by the selftests and the bench. Functions return 0 or a negative errno.
 */
#ifndef SOFT_H
#define SOFT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The path of the file @name of @engine ("gr"), of the first GPU or, with @gpu, of the one at
 * that PCI address. Mounts debugfs if nobody has yet.
 */
int soft_path(const char *gpu, const char *engine, const char *name, char *path, size_t room);

/* The number in such a file. */
int soft_counter(const char *gpu, const char *engine, const char *name, uint64_t *value);

/* The next packet of @type (enum vgpu_hw_packet_type) that the engine takes will never end. */
int soft_hang(const char *gpu, const char *engine, unsigned int type);

#endif /* SOFT_H */
