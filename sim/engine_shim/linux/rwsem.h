/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ENGINE_SHIM_LINUX_RWSEM_H
#define _ENGINE_SHIM_LINUX_RWSEM_H

struct rw_semaphore {
	int readers;
};

#define down_read(sem)	((void)(sem)->readers++)
#define up_read(sem)	((void)(sem)->readers--)

#endif /* _ENGINE_SHIM_LINUX_RWSEM_H */
