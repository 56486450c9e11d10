/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * ABI of the guest's driver (vgpu_guest.ko): the render node of a vGPU in its VM. Packets, programs
 * and faults are those of the hardware, see linux/vgpu_hw.h.
 *
 * Rules, as in other DRM drivers:
 *
 * - What is named pad must be 0, and so must flags where no flag is named (EINVAL). A later version
 *   may give them a meaning, for which 0 stands for what was before. Structures grow at their end;
 *   the missing end of an older program's counts as 0.
 * - Layouts are the same for 32 and 64 bits, and hold no hidden padding. Pointers travel as __u64.
 * - Ids and handles are per open file, and never 0.
 * - Each addition raises the minor version (DRM_IOCTL_VERSION); the major one does not change. With
 *   the patch level, which other changes of the driver raise, they are the module's version.
 *
 * Errors that each call may return, and that are not repeated below: EFAULT, a pointer is bad;
 * EINVAL, what must be 0 is not; ENOMEM, the kernel has no memory; ENODEV, the device is gone (it
 * was unplugged, or the driver is being unbound); EINTR, a signal came while the call waited: it is
 * to be made again, as drmIoctl() does. A call that fails has changed nothing.
 *
 * All sizes, offsets and addresses are in bytes.
 *
 * dma-bufs (DRM_IOCTL_PRIME_*) go between clients of one device, whatever they are. Another device
 * can use a buffer of DRM_VGPU_PLACEMENT_SYSTEM, but none of the framebuffer (EOPNOTSUPP, from the
 * other device's import). A dma-buf of others is a buffer of DRM_VGPU_PLACEMENT_SYSTEM, which is
 * mapped for the CPU by its own file only (EINVAL of mmap()). ENOMEM: also, it is larger than
 * system_free of &struct drm_vgpu_dev_info. Jobs wait for no fence that is in it.
 */
#ifndef _UAPI_DRM_VGPU_DRM_H
#define _UAPI_DRM_VGPU_DRM_H

#include <drm/drm.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define DRM_VGPU_DEV_QUERY		0x00
#define DRM_VGPU_VM_CREATE		0x01
#define DRM_VGPU_VM_DESTROY		0x02
#define DRM_VGPU_VM_BIND		0x03
#define DRM_VGPU_BO_CREATE		0x04
#define DRM_VGPU_BO_MMAP_OFFSET		0x05
#define DRM_VGPU_QUEUE_CREATE		0x06
#define DRM_VGPU_QUEUE_DESTROY		0x07
#define DRM_VGPU_QUEUE_QUERY		0x08
#define DRM_VGPU_EXEC			0x09
#define DRM_VGPU_USAGE_QUERY		0x0a

/**
 * struct drm_vgpu_array - an array that a structure points to
 * @stride:  bytes per element: at least those of the element's first version, at most 256 (else
 *           EINVAL). Bytes that the driver does not know must be 0 (E2BIG)
 * @count:   elements; 0: none, and the rest is ignored
 * @pointer: to the first one
 */
struct drm_vgpu_array {
	__u32 stride;
	__u32 count;
	__u64 pointer;
};

/* struct drm_vgpu_sync.flags */
#define DRM_VGPU_SYNC_SIGNAL		0x1	/* signalled at the end; else waited for before */
#define DRM_VGPU_SYNC_TIMELINE		0x2	/* a point of a timeline */

/**
 * struct drm_vgpu_sync - a syncobj to wait for, or to signal
 * @handle: of the syncobj
 * @flags:  DRM_VGPU_SYNC_*
 * @point:  with DRM_VGPU_SYNC_TIMELINE the point, not 0; else 0
 *
 * Errors where an array of these is given: ENOENT, no such syncobj; EINVAL, what is waited for has
 * no fence yet, or unknown flags; E2BIG, more than DRM_VGPU_SYNCS_MAX.
 */
struct drm_vgpu_sync {
	__u32 handle;
	__u32 flags;
	__u64 point;
};

#define DRM_VGPU_SYNCS_MAX		256

#define DRM_VGPU_ENGINES_MAX		32

/**
 * struct drm_vgpu_dev_info - what the device is, as DEV_QUERY tells
 * @hw_version:  VGPU_HW_VERSION
 * @page_size:   bytes; unit of buffer sizes and mappings
 * @va_bits:     a VM has the addresses from 0 to 2^@va_bits - 1; the rest is the driver's
 * @channels:    queues that can work at one time, of all clients together; more take turns
 * @nr_engines:  elements of @engine that count
 * @pad:         0
 * @fb_bytes:    framebuffer
 * @fb_free:     of these, bytes that nobody has at the moment. A job may get more: buffers that no
 *               job uses are evicted for it
 * @engine:      of each engine, its class << 8 | its instance; enum vgpu_hw_engine_class
 * @uuid:        since 1.1: of the vGPU, in the order of the bytes of its text; 0: the host does not
 *               tell
 * @type:        since 1.1: name of the vGPU's type, ended by 0; empty: the host does not tell
 * @system_bytes: memory of the guest that new buffers may have, of all clients together; since 1.1
 * @system_free: of these, bytes that none has, also none that was evicted; since 1.1
 */
struct drm_vgpu_dev_info {
	__u32 hw_version;
	__u32 page_size;
	__u32 va_bits;
	__u32 channels;
	__u32 nr_engines;
	__u32 pad;
	__u64 fb_bytes;
	__u64 fb_free;
	__u32 engine[DRM_VGPU_ENGINES_MAX];
	__u8 uuid[16];
	__u8 type[32];
	__u64 system_bytes;
	__u64 system_free;
};

/**
 * struct drm_vgpu_dev_query - DRM_IOCTL_VGPU_DEV_QUERY
 * @size:    in: room at @pointer; out: bytes of struct drm_vgpu_dev_info that this driver has
 * @pad:     0
 * @pointer: where to put the structure; as much is written as there is room for. 0: nowhere, only
 *           @size is told
 */
struct drm_vgpu_dev_query {
	__u32 size;
	__u32 pad;
	__u64 pointer;
};

/**
 * struct drm_vgpu_vm_create - DRM_IOCTL_VGPU_VM_CREATE: an address space
 * @flags: 0
 * @id:    out
 *
 * Errors: ENOSPC, there is no framebuffer for its page tables, or the file has too many. Tables and
 * rings of all clients together have at most half of the framebuffer.
 */
struct drm_vgpu_vm_create {
	__u32 flags;
	__u32 id;
};

/**
 * struct drm_vgpu_vm_destroy - DRM_IOCTL_VGPU_VM_DESTROY
 * @id:  of the VM; free when this returns. Its mappings go when the last queue that works in it has
 *       gone
 * @pad: 0
 *
 * Errors: ENOENT, no such VM.
 */
struct drm_vgpu_vm_destroy {
	__u32 id;
	__u32 pad;
};

enum drm_vgpu_placement {
	/*
	 * Framebuffer: what all packets and programs reach. The buffer is there whenever a job uses
	 * it; else it may be evicted into memory of the guest, with what is in it. The CPU finds it
	 * in either.
	 */
	DRM_VGPU_PLACEMENT_FRAMEBUFFER = 0,
	/* Memory of the guest: only FILL and COPY reach it. */
	DRM_VGPU_PLACEMENT_SYSTEM = 1,
};

/*
 * struct drm_vgpu_bo_create.flags. Since 1.2: whenever a job uses the buffer, it lies in one piece
 * of the framebuffer, as what PRESENT shows has to. Only of DRM_VGPU_PLACEMENT_FRAMEBUFFER.
 */
#define DRM_VGPU_BO_CONTIGUOUS		0x1

/**
 * struct drm_vgpu_bo_create - DRM_IOCTL_VGPU_BO_CREATE: a buffer, which reads 0
 * @size:      bytes, a multiple of the page size, not 0
 * @placement: enum drm_vgpu_placement
 * @vm_id:     0, or the only VM in which it will be mapped: then it cannot be exported
 *             (DRM_IOCTL_PRIME_HANDLE_TO_FD, and DRM_IOCTL_GEM_OPEN of its name by another
 *             file: EPERM), and an EXEC has less to lock
 * @handle:    out: GEM handle, closed by DRM_IOCTL_GEM_CLOSE
 * @flags:     DRM_VGPU_BO_*, or 0
 *
 * No other buffer is evicted for a new one. If the framebuffer has no room, it begins in memory of
 * the guest, until a job uses it.
 *
 * Errors: EINVAL, size, placement or flags; ENOENT, no such VM; ENOSPC, of the framebuffer: it has
 * no room for the buffer, and neither has the memory of the guest (how much they have, fb_free and
 * system_free of &struct drm_vgpu_dev_info say), or the buffer is larger than the framebuffer (with
 * DRM_VGPU_BO_CONTIGUOUS: than the largest power of two in it); ENOMEM, also: of the guest's
 * memory: system_free is less than @size.
 */
struct drm_vgpu_bo_create {
	__u64 size;
	__u32 placement;
	__u32 vm_id;
	__u32 handle;
	__u32 flags;
};

/**
 * struct drm_vgpu_bo_mmap_offset - DRM_IOCTL_VGPU_BO_MMAP_OFFSET
 * @handle: of the buffer
 * @pad:    0
 * @offset: out: of the buffer's beginning, for mmap() of the node with MAP_SHARED
 *
 * Errors: ENOENT, no such buffer. An access to a mapping raises SIGBUS when the device is gone.
 */
struct drm_vgpu_bo_mmap_offset {
	__u32 handle;
	__u32 pad;
	__u64 offset;
};

enum drm_vgpu_bind_type {
	DRM_VGPU_BIND_MAP = 0,
	DRM_VGPU_BIND_UNMAP = 1,
};

/* struct drm_vgpu_bind_op.flags, of DRM_VGPU_BIND_MAP: what is mapped can be read, and */
#define DRM_VGPU_BIND_WRITE		0x1
#define DRM_VGPU_BIND_EXEC		0x2	/* framebuffer only */

/**
 * struct drm_vgpu_bind_op - a change of an address space
 * @type:   enum drm_vgpu_bind_type
 * @flags:  DRM_VGPU_BIND_*
 * @handle: MAP: of the buffer; else 0
 * @pad:    0
 * @offset: MAP: in the buffer; else 0
 * @va:     address
 * @size:   bytes, not 0
 *
 * @offset, @va and @size are multiples of the page size. MAP replaces what is mapped in the range.
 * UNMAP leaves nothing there, and may be of a range where nothing or not all is mapped. A mapping
 * keeps its buffer alive.
 *
 * The device decodes a program when it is first executed, and goes on with that until its mapping
 * changes: whoever writes over the text of a program maps it again after that.
 */
struct drm_vgpu_bind_op {
	__u32 type;
	__u32 flags;
	__u32 handle;
	__u32 pad;
	__u64 offset;
	__u64 va;
	__u64 size;
};

#define DRM_VGPU_BIND_OPS_MAX		1024

/* struct drm_vgpu_vm_bind.flags */
#define DRM_VGPU_VM_BIND_ASYNC		0x1	/* returns before it is done */

/**
 * struct drm_vgpu_vm_bind - DRM_IOCTL_VGPU_VM_BIND
 * @vm_id: of the VM
 * @flags: DRM_VGPU_VM_BIND_ASYNC or 0
 * @ops:   of struct drm_vgpu_bind_op, at most DRM_VGPU_BIND_OPS_MAX; done in order
 * @syncs: of struct drm_vgpu_sync; only with DRM_VGPU_VM_BIND_ASYNC
 *
 * When the operations are done, the device uses nothing any more of what they replaced. They do not
 * wait for jobs that are under way: a job that uses what is unmapped faults.
 *
 * With DRM_VGPU_VM_BIND_ASYNC they are done when what @syncs wait for is, after all asynchronous
 * ones before them; @ops may be empty then. One without waits for none of the asynchronous ones.
 * Either way, memory that they need is there when the call returns, so they do not fail later
 * (but for the device's end: the syncobj's fence has the error ENODEV).
 *
 * Errors: ENOENT, no such VM or buffer; EINVAL, a bad operation, a buffer of another VM, or syncs
 * without DRM_VGPU_VM_BIND_ASYNC; E2BIG, too many operations; ENOSPC, no framebuffer for page
 * tables.
 */
struct drm_vgpu_vm_bind {
	__u32 vm_id;
	__u32 flags;
	struct drm_vgpu_array ops;
	struct drm_vgpu_array syncs;
};

enum drm_vgpu_priority {
	DRM_VGPU_PRIORITY_LOW = -1,
	DRM_VGPU_PRIORITY_NORMAL = 0,
	DRM_VGPU_PRIORITY_HIGH = 1,
};

/**
 * struct drm_vgpu_queue_create - DRM_IOCTL_VGPU_QUEUE_CREATE: jobs that are done in order
 * @vm_id:      in whose addresses the packets are
 * @engine:     index of the engine in &struct drm_vgpu_dev_info.engine
 * @ring_order: log2 of the packets that can be under way, VGPU_HW_RING_ORDER_MIN to
 *              VGPU_HW_RING_ORDER_MAX; a job has no more
 * @flags:      0
 * @id:         out
 * @priority:   since 1.1: enum drm_vgpu_priority
 *
 * The priority decides who is next where queues wait, because more of them have jobs than the
 * device has channels. It is one of the process whose queues work with the fewest channels; and of
 * these that of the longest wait, where a queue of normal priority counts as having come 250 ms
 * later, and one of low priority 1 s later, than it did: so none waits for ever. Whose a queue is,
 * is who has created it. Queues that have a channel share their engine alike.
 *
 * Errors: ENOENT, no such VM; EINVAL, engine, ring_order or priority; EPERM, high priority needs
 * CAP_SYS_NICE; ENOSPC, no framebuffer for the ring, or the file has too many.
 */
struct drm_vgpu_queue_create {
	__u32 vm_id;
	__u32 engine;
	__u32 ring_order;
	__u32 flags;
	__u32 id;
	__s32 priority;
};

/**
 * struct drm_vgpu_queue_destroy - DRM_IOCTL_VGPU_QUEUE_DESTROY
 * @id:  of the queue; when this returns, the device does none of its jobs any more. The fences of
 *       those that were not done are signalled with ECANCELED, if they were in the ring, else with
 *       ESRCH: at once, or when the job's last dependency is
 * @pad: 0
 *
 * Errors: ENOENT, no such queue.
 */
struct drm_vgpu_queue_destroy {
	__u32 id;
	__u32 pad;
};

enum drm_vgpu_queue_state {
	DRM_VGPU_QUEUE_OK = 0,
	/* A job has faulted: fault_* of the query say how. */
	DRM_VGPU_QUEUE_FAULT = 1,
	/*
	 * A packet took longer than the driver's parameter job_timeout_ms: of its engine's time, if
	 * the host tells that (hardware 1.3). Or for ten times that long the engine has not been at
	 * it at all.
	 */
	DRM_VGPU_QUEUE_TIMEOUT = 2,
	/*
	 * The device was reset by the host, or is gone, or does not keep to its manual. A reset
	 * costs all queues, and what was in the framebuffer, which reads 0 after that. Address
	 * spaces stay, and new queues work in them.
	 */
	DRM_VGPU_QUEUE_DEVICE = 3,
	/*
	 * Since 1.1: it had jobs while the host kept the vGPU in quarantine, where nothing works.
	 * New queues work when that is over.
	 */
	DRM_VGPU_QUEUE_QUARANTINE = 4,
};

/**
 * struct drm_vgpu_queue_query - DRM_IOCTL_VGPU_QUEUE_QUERY
 * @id:           of the queue
 * @state:        out: enum drm_vgpu_queue_state; all but OK is for ever: the queue is lost
 * @submitted:    out: packets that were put into the ring since the queue was created
 * @completed:    out: of these, packets that are done
 * @fault_code:   out: enum vgpu_hw_fault of a queue that a fault or timeout has ended; else 0
 * @fault_id:     out: global id of the work-item that has faulted, or 0
 * @fault_packet: out: index of the packet, counted as @completed
 * @fault_addr:   out: address that failed, or 0
 * @fault_pc:     out: instruction of the program, or 0
 *
 * A job without packets counts as one packet.
 *
 * Errors: ENOENT, no such queue.
 */
struct drm_vgpu_queue_query {
	__u32 id;
	__u32 state;
	__u64 submitted;
	__u64 completed;
	__u32 fault_code;
	__u32 fault_id[3];
	__u64 fault_packet;
	__u64 fault_addr;
	__u64 fault_pc;
};

/**
 * struct drm_vgpu_exec - DRM_IOCTL_VGPU_EXEC: a job
 * @queue_id: of the queue
 * @flags:    0
 * @count:    packets, at most those of the ring; 0: the job is done when those before it are, and
 *            what @syncs wait for
 * @pad:      0
 * @packets:  to @count of struct vgpu_hw_packet, which are copied
 * @syncs:    of struct drm_vgpu_sync
 *
 * Of a packet the driver checks only what concerns others: the type must be one that the engine
 * has, flags may be VGPU_HW_PKT_BARRIER and VGPU_HW_PKT_SIGNAL, and vector and op_flags are 0. A
 * FENCE must have VGPU_HW_PKT_SIGNAL. A PRESENT changes what the VM's monitor shows, and needs
 * CAP_SYS_ADMIN. What else may be wrong is found by the device: the job faults, and its queue is
 * lost, with this and all later jobs. Their fences get EIO.
 *
 * What a PRESENT shows has to lie in one piece of the framebuffer: a buffer with
 * DRM_VGPU_BO_CONTIGUOUS does, others may or may not. If it does not, the job faults, with
 * VGPU_HW_FAULT_PAGE, and the address of the first page that does not follow. The host reads it
 * from there until the next PRESENT for the same head is done, or the device is reset, as for a
 * suspend. So long the place is nobody else's: its buffer is not evicted, and if it is freed, the
 * picture stays. That is so for the buffers that are mapped there at EXEC, or will be by a VM_BIND
 * that has returned. An address that is no client's (&struct drm_vgpu_dev_info.va_bits) is EINVAL.
 *
 * All buffers of the framebuffer that the VM maps, or will map by a VM_BIND that has returned, are
 * brought there for the job, and stay until it is done. Others that no job uses are evicted for
 * that; the call waits for jobs of others that use them, and where there is no room for 30 turns of
 * a second, which it shares with all calls that wait for the same. A job does not find a mapping
 * that was asked for after its EXEC, if its buffer was evicted then.
 *
 * Errors: ENOENT, no such queue; EINVAL, a packet; EPERM, a PRESENT; E2BIG, more packets than the
 * ring has; EIO, the queue is lost, see DRM_IOCTL_VGPU_QUEUE_QUERY; ENOSPC, the buffers that the VM
 * maps do not fit into the framebuffer together: at once if they never will, else after that time
 * (also: there is no piece that is large enough for one with DRM_VGPU_BO_CONTIGUOUS; at once if
 * what is not evicted leaves none).
 */
struct drm_vgpu_exec {
	__u32 queue_id;
	__u32 flags;
	__u32 count;
	__u32 pad;
	__u64 packets;
	struct drm_vgpu_array syncs;
};

/**
 * struct drm_vgpu_engine_usage - what a vGPU uses of an engine, and what it may
 * @service_ns:   ns that the engine has worked for the vGPU since it was reset
 * @due_permille: what the vGPU would get of the engine if it always had work: by the host's policy,
 *                and by what other vGPUs have used of late
 * @pad:          0
 */
struct drm_vgpu_engine_usage {
	__u64 service_ns;
	__u32 due_permille;
	__u32 pad;
};

/**
 * struct drm_vgpu_usage - what a vGPU uses, as USAGE_QUERY tells. It is the host that measures it
 * @time_ns:    ns of the clock by which the engines' time is measured. It begins anew when the
 *              device is reset, or the VM comes to another host
 * @nr_engines: elements of @engine that count
 * @pad:        0
 * @engine:     in the order of &struct drm_vgpu_dev_info.engine
 *
 * Two of these tell how much of an engine the whole vGPU has used between them. What a process has
 * used, fdinfo of its open file says.
 */
struct drm_vgpu_usage {
	__u64 time_ns;
	__u32 nr_engines;
	__u32 pad;
	struct drm_vgpu_engine_usage engine[DRM_VGPU_ENGINES_MAX];
};

/**
 * struct drm_vgpu_usage_query - DRM_IOCTL_VGPU_USAGE_QUERY, since 1.1
 * @size:    in: room at @pointer; out: bytes of struct drm_vgpu_usage that this driver has
 * @pad:     0
 * @pointer: where to put the structure; as much is written as there is room for. 0: nowhere, only
 *           @size is told
 *
 * Errors: EOPNOTSUPP, the host does not tell (&struct drm_vgpu_dev_info.hw_version is below 1.3).
 */
struct drm_vgpu_usage_query {
	__u32 size;
	__u32 pad;
	__u64 pointer;
};

#define DRM_IOCTL_VGPU_DEV_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VGPU_DEV_QUERY, struct drm_vgpu_dev_query)
#define DRM_IOCTL_VGPU_VM_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VGPU_VM_CREATE, struct drm_vgpu_vm_create)
#define DRM_IOCTL_VGPU_VM_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_VGPU_VM_DESTROY, struct drm_vgpu_vm_destroy)
#define DRM_IOCTL_VGPU_VM_BIND \
	DRM_IOW(DRM_COMMAND_BASE + DRM_VGPU_VM_BIND, struct drm_vgpu_vm_bind)
#define DRM_IOCTL_VGPU_BO_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VGPU_BO_CREATE, struct drm_vgpu_bo_create)
#define DRM_IOCTL_VGPU_BO_MMAP_OFFSET \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VGPU_BO_MMAP_OFFSET, struct drm_vgpu_bo_mmap_offset)
#define DRM_IOCTL_VGPU_QUEUE_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VGPU_QUEUE_CREATE, struct drm_vgpu_queue_create)
#define DRM_IOCTL_VGPU_QUEUE_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_VGPU_QUEUE_DESTROY, struct drm_vgpu_queue_destroy)
#define DRM_IOCTL_VGPU_QUEUE_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VGPU_QUEUE_QUERY, struct drm_vgpu_queue_query)
#define DRM_IOCTL_VGPU_EXEC \
	DRM_IOW(DRM_COMMAND_BASE + DRM_VGPU_EXEC, struct drm_vgpu_exec)
#define DRM_IOCTL_VGPU_USAGE_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VGPU_USAGE_QUERY, struct drm_vgpu_usage_query)

#if defined(__cplusplus)
}
#endif

#endif /* _UAPI_DRM_VGPU_DRM_H */
