/* SPDX-License-Identifier: GPL-2.0 */
/* Of node_kernel.h: what its files share, from those that a program opens to jobs. */
#ifndef NODE_KERNEL_FILE_H
#define NODE_KERNEL_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* The name of the driver of the node that is open. */
const char *node_file_driver(void);

/* Maps the file of the node for the kernel of the test. */
uint8_t *node_file_map(int fd, uint64_t bytes);

void node_file_opened(int fd);
void node_file_closed(void);

/* An ioctl of the node; these return a negative errno, or 0. */
int node_file_ioctl(unsigned long request, void *arg);
int node_file_may_map(uint64_t bytes, int prot, int flags, uint64_t offset);

/* The error with which the test wants that request to end. */
int node_file_fails(unsigned long request);

/* Of VMs, for queues: where the byte is that the device is to access, or NULL. */
bool node_vm_exists(uint32_t id);
uint8_t *node_vm_reach(uint32_t vm, uint64_t addr, uint32_t access);

/* Of queues and syncobjs. */
int node_jobs_ioctl(unsigned long request, void *arg);
void node_jobs_reset(void);

#endif /* NODE_KERNEL_FILE_H */
