/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A random load of everything that the driver does, and a model that says what comes of it. What a
 * load asks for is put in order by syncobjs where it would matter, and by nothing else; so what
 * each byte must be follows from the order of the calls, and jobs can be deep in queues.
 */
#ifndef E2E_DRM_ORACLE_H
#define E2E_DRM_ORACLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "node.h"
#include "rng.h"

#define ORACLE_QUEUES	4
#define ORACLE_BIND	ORACLE_QUEUES	/* the line of asynchronous binds */
#define ORACLE_LINES	(ORACLE_QUEUES + 1)
#define ORACLE_BUFS	7
#define ORACLE_PAGES	4096		/* of the VM, that are mapped at random */
#define ORACLE_ONCE	8		/* binary syncobjs */
#define ORACLE_RUNS	64		/* programs under way */
#define ORACLE_ITEMS	4		/* of a program */
#define ORACLE_LOST	4		/* lost queues that were not looked at yet */
#define ORACLE_PACKETS	6		/* of a job */
#define ORACLE_MORE	2		/* syncs of a job */
#define ORACLE_SHARED_BYTES	(9 * PAGE)
#define ORACLE_TOUCHES	(2 * ORACLE_PACKETS)

/* What is done at random, as counted in &struct oracle.ops. */
enum oracle_op {
	ORACLE_JOB, ORACLE_MAP, ORACLE_CHECK, ORACLE_STORE, ORACLE_REPLACE, ORACLE_FAULT,
	ORACLE_DESTROY, ORACLE_BAD, ORACLE_SHARE, ORACLE_OPS,
};

/* Points of lines that must come first; 0: none. */
struct oracle_need {
	uint32_t point[ORACLE_LINES];
};

/**
 * struct oracle_line - the jobs of a queue, or a VM's asynchronous binds
 * @sync:  timeline
 * @last:  the last point that will be signalled
 * @seen:  the last one that was waited for
 * @base:  those after it are of the queue that there is now, and so in order without any syncobj
 */
struct oracle_line {
	uint32_t sync;
	uint32_t last;
	uint32_t seen;
	uint32_t base;
};

/**
 * struct oracle_queue - a queue
 * @id:        of it
 * @engine:    index
 * @order:     of its ring
 * @packets:   that were pushed
 * @completed: the most that a query has told
 */
struct oracle_queue {
	uint32_t id;
	uint32_t engine;
	uint32_t order;
	uint64_t packets;
	uint64_t completed;
};

/**
 * struct oracle_lost - a queue with a job that faults
 * @id:      of the queue
 * @point:   after which all its jobs are over
 * @line:    of the point
 * @packet:  that faults
 * @addr:    at which it does
 */
struct oracle_lost {
	uint32_t id;
	uint32_t line;
	uint32_t point;
	uint64_t packet;
	uint64_t addr;
};

/**
 * struct oracle_buf - a buffer
 * @handle:    0: there is none
 * @placement: of it
 * @alone:     it is for one VM
 * @pages:     its size
 * @ptr:       mapping
 * @model:     what must be in it
 * @read:      for each page, by what it is read
 * @write:     and written
 * @stamp:     for each page: the packet that touches it, and by which page of the VM
 */
struct oracle_buf {
	uint32_t handle;
	uint32_t placement;
	bool alone;
	uint32_t pages;
	uint8_t *ptr;
	uint8_t *model;
	struct oracle_need *read;
	struct oracle_need *write;
	uint64_t *stamp;
};

/**
 * struct oracle_page - a page of the VM
 * @buf:   index of the buffer, or -1
 * @page:  of the buffer
 * @flags: DRM_VGPU_BIND_*
 * @bound: point of the bind that has made this
 * @used:  by which jobs
 */
struct oracle_page {
	int buf;
	uint32_t page;
	uint32_t flags;
	uint32_t bound;
	struct oracle_need used;
};

/* Bytes that a job reads or writes. */
struct oracle_touch {
	uint64_t at;
	uint64_t bytes;
	bool write;
};

/**
 * struct oracle_job - a job that is being made
 * @queue:  index
 * @nr:     packets
 * @packet: the packets
 * @nr_touch: elements of @touch
 * @touch:  what it touches
 * @need:   what must come before it
 * @nr_more: elements of @more
 * @more:   other syncs
 */
struct oracle_job {
	uint32_t queue;
	uint32_t nr;
	struct vgpu_hw_packet packet[ORACLE_PACKETS];
	uint32_t nr_touch;
	struct oracle_touch touch[ORACLE_TOUCHES];
	struct oracle_need need;
	uint32_t nr_more;
	struct drm_vgpu_sync more[ORACLE_MORE];
};

/**
 * struct oracle_run - a program under way
 * @line: of its queue; @point: 0: there is none
 * @sum:  what each work-item must find
 */
struct oracle_run {
	uint32_t line;
	uint32_t point;
	uint32_t sum[ORACLE_ITEMS];
};

/**
 * struct oracle_share - what processes share
 * @lock:   held while one asks for jobs, and where what is here changes
 * @sync:   timeline; a file
 * @point:  its last one
 * @dmabuf: buffers, by placement
 * @ptr:    their mappings in the process that has made this
 * @model:  what must be in them
 */
struct oracle_share {
	pthread_mutex_t lock;
	int sync;
	uint32_t point;
	int dmabuf[2];
	void *ptr[2];
	uint8_t model[2][ORACLE_SHARED_BYTES];
};

/**
 * struct oracle_file - what the loads of a process share
 * @fd:      of the node
 * @lock:    held while handles come and go
 * @bytes:   of buffers, by placement
 * @other_vm: a VM that maps nothing
 * @share:   what it shares with other processes, or NULL
 * @share_sync: its timeline
 * @shared:  its buffers
 * @ptr:     their mappings
 */
struct oracle_file {
	int fd;
	pthread_mutex_t lock;
	uint64_t bytes[2];
	uint32_t other_vm;
	struct oracle_share *share;
	uint32_t share_sync;
	uint32_t shared[2];
	void *ptr[2];
};

/**
 * struct oracle - a load: a thread with a VM
 * @rng:    its dice
 * @file:   its file
 * @fd:     the same as in @file
 * @vm:     id
 * @line:   lines
 * @queue:  queues
 * @once:   binary syncobjs; the line, point, and line's base that each stands for
 * @buf:    buffers
 * @page:   the VM
 * @text:   program
 * @args:   its arguments
 * @out:    its results
 * @run:    programs under way
 * @lost:   queues that are lost
 * @scratch: pages for jobs whose queue is destroyed
 * @stamp:  of the packet that was made last
 * @ops:    what was done, by kind
 */
struct oracle {
	struct rng rng;
	struct oracle_file *file;
	int fd;
	uint32_t vm;
	struct oracle_line line[ORACLE_LINES];
	struct oracle_queue queue[ORACLE_QUEUES];
	struct {
		uint32_t sync;
		uint32_t line;
		uint32_t point;
		uint32_t base;
	} once[ORACLE_ONCE];
	struct oracle_buf buf[ORACLE_BUFS];
	struct oracle_page page[ORACLE_PAGES];
	struct buf text;
	struct buf args;
	struct buf out;
	struct oracle_run run[ORACLE_RUNS];
	struct oracle_lost lost[ORACLE_LOST];
	struct buf scratch;
	uint64_t stamp;
	uint64_t ops[ORACLE_OPS];
};

#define ORACLE_SCRATCH	8	/* pages */
#define ORACLE_AT	VA_DATA
#define ORACLE_TEXT	VA_MORE
#define ORACLE_ARGS	(VA_MORE + MIB)
#define ORACLE_OUT	(VA_MORE + 2 * MIB)
#define ORACLE_FREE	(VA_MORE + 3 * MIB)	/* that of the scratch pages */
#define ORACLE_SHARED	(VA_MORE + 4 * MIB)

static inline uint32_t oracle_below(struct oracle *o, uint32_t limit)
{
	return rng_below(&o->rng, limit);
}

static inline bool oracle_one_in(struct oracle *o, uint32_t many)
{
	return !oracle_below(o, many);
}

/* The model. */
static inline void oracle_after(struct oracle_need *need, uint32_t line, uint32_t point)
{
	if (need->point[line] < point)
		need->point[line] = point;
}

void oracle_merge(struct oracle_need *need, const struct oracle_need *with);

/* What a job has to wait for that touches these bytes of the VM. */
void oracle_need_of(struct oracle *o, struct oracle_need *need, const struct oracle_touch *touch);

/* It touches them from now on. */
void oracle_mark(struct oracle *o, const struct oracle_touch *touch, uint32_t line, uint32_t point);

/* What the model says is at an address; the buffer's page is mapped there. */
uint8_t *oracle_model(struct oracle *o, uint64_t at);

/*
 * A range of up to @most pages that are all mapped with these flags: its first page, and how many
 * there are; or 0 pages. @fb: of the framebuffer only.
 */
uint32_t oracle_range(struct oracle *o, uint32_t flags, bool fb, uint32_t most, uint32_t *first);

/* The CPU waits. */
void oracle_wait(struct oracle *o, const struct oracle_need *need);

/* All that was asked for is done, and all is as the model says. */
void oracle_settle(struct oracle *o);

/* A buffer's pages are what the model says; those who write them are over. */
void oracle_compare(struct oracle *o, const struct oracle_buf *buf, uint32_t first, uint32_t nr);

/* Looks at queues that are lost; keeps @keep. */
void oracle_see_lost(struct oracle *o, uint32_t keep);

/* A program's results are right; it is over. */
void oracle_see_run(struct oracle *o, uint32_t i);

/* Objects. */
void oracle_begin(struct oracle *o, struct oracle_file *file, uint64_t seed);
void oracle_end(struct oracle *o);
void oracle_queue_make(struct oracle *o, uint32_t i);
void oracle_buf_make(struct oracle *o, uint32_t i);
void oracle_buf_end(struct oracle *o, uint32_t i);

/* Loads the program. */
void oracle_text(struct oracle *o);

/* The device was reset while nothing was under way: buffers of it read 0, or are as they were. */
void oracle_reset(struct oracle *o);

/* Pushes a job, or tries to. */
int oracle_push(struct oracle *o, struct oracle_job *job);

/* Syncs that wait for @need, and signal the next point of @line. */
uint32_t oracle_syncs(struct oracle *o, const struct oracle_need *need, uint32_t line,
		      struct drm_vgpu_sync *sync);

/* The next point of a line is also that of a binary syncobj, or (ORACLE_ONCE) of none. */
uint32_t oracle_once(struct oracle *o, struct drm_vgpu_sync *sync, uint32_t *nr);

/* What was asked for has been taken: returns its point. */
uint32_t oracle_next(struct oracle *o, uint32_t line, uint32_t once);

/* Does something; changes mappings; lets another buffer take the place of one. */
void oracle_step(struct oracle *o);
void oracle_map(struct oracle *o);
void oracle_replace(struct oracle *o);

/*
 * What processes share: made before them, opened by each, mapped by each load. After a reset it is
 * as oracle_reset() says, while nobody works.
 */
struct oracle_share *oracle_share_make(int fd);
void oracle_share_open(struct oracle_file *file, struct oracle_share *share);
void oracle_share_map(struct oracle *o);
void oracle_share_work(struct oracle *o);
void oracle_share_reset(struct oracle_share *share);

#endif /* E2E_DRM_ORACLE_H */
