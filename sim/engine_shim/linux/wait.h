/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ENGINE_SHIM_LINUX_WAIT_H
#define _ENGINE_SHIM_LINUX_WAIT_H

#include_next <linux/wait.h>

#define wq_has_sleeper(head)	waitqueue_active(head)

#endif /* _ENGINE_SHIM_LINUX_WAIT_H */
