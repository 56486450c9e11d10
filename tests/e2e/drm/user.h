/* SPDX-License-Identifier: GPL-2.0 */
/* An ordinary user, of the group of the node, and the root directory that he has. */
#ifndef E2E_DRM_USER_H
#define E2E_DRM_USER_H

#include <stdbool.h>

#define USER_BOX	"/box"

/* Makes the directory, unless it is there: programs, /tmp and the node. */
bool user_box(void);

/* This process becomes the user, in there. */
void user_become(void);

#endif /* E2E_DRM_USER_H */
