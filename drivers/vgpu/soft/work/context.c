// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts: the state of a channel's dispatch, and what it takes to begin one.
 *
 * A dispatch needs a decoded program and a context. If the program exists, and the context of
 * the channel's last dispatch is large enough, the engine begins at once. Else the vGPU's worker
 * makes what is missing, charged to the vGPU's user, and the channel waits.
 *
 * Both are bounded per vGPU. A dispatch gets all that it needs or nothing, and what has faulted or
 * is complete holds nothing: so those that have something come to their ends without those that
 * wait, which try again until there is room. A context that is idle is kept for the channel's next
 * dispatch while all contexts together take no more than half of the bound, until another one needs
 * its room; those that the worker is yet to free count for the bound only.
 *
 * Where the engine has several units, the worker makes flights for them, too, as far as there is
 * memory and room for these. They stay with the context, until another one needs the room and this
 * one has been idle for long.
 */
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "../queue/dma.h"
#include "../queue/queues.h"
#include "../memory/memory.h"
#include "context.h"
#include "flight.h"
#include "natives.h"
#include "packet_types.h"
#include "text.h"
#include "work.h"

/* What the contexts of a vGPU may take together; one takes 12 MiB at most. */
#define SOFT_CONTEXTS_BYTES	0x4000000
#define SOFT_CONTEXTS_KEEP	(SOFT_CONTEXTS_BYTES / 2)

/**
 * struct soft_prepare - what a dispatch needs before it can begin
 * @compute: of the vGPU
 * @key:     of the program
 * @size:    of the context
 * @flights: how many it is to have
 * @program: the program, in use; NULL: it is to be made
 * @context: a context, idle; NULL: it is to be made
 * @fault:   why there is no program, with -EFAULT
 *
 * Belongs to the channel's request, not to the channel, which the worker must not touch: a request
 * that was forgotten may outlast what the channel was doing.
 */
struct soft_prepare {
	struct soft_compute *compute;
	struct soft_program_key key;
	struct soft_context_size size;
	unsigned int flights;
	struct soft_program *program;
	struct soft_context *context;
	struct soft_fault fault;
};

/* Sets up what a new vGPU has of programs, which is zeroed. Sleeps. Returns 0 or -ENOMEM. */
int soft_compute_init(struct soft_compute *compute, struct soft_memory *mem, u32 nr_channels,
		      atomic_t *decoded)
{
	compute->channel = kvcalloc(nr_channels, sizeof(*compute->channel), GFP_KERNEL_ACCOUNT);
	if (!compute->channel)
		return -ENOMEM;
	compute->mem = mem;
	compute->decoded = decoded;
	compute->nr_channels = nr_channels;
	soft_programs_init(&compute->programs);
	soft_natives_begin(&compute->programs);
	raw_spin_lock_init(&compute->kept_lock);
	INIT_LIST_HEAD(&compute->kept);
	return 0;
}

/* The vGPU has no channel that is enabled. */
void soft_compute_exit(struct soft_compute *compute)
{
	soft_natives_stop(&compute->programs);
	kvfree(compute->channel);
}

/* What a context needs for the channel's packet, whose head has been read. Context: any. */
struct soft_context_size soft_context_size(struct soft_exec *exec)
{
	const struct soft_dispatch_operands *op = soft_dispatch_operands(&exec->packet);
	u32 private_bytes = soft_context_head(exec)->private_bytes;

	return soft_flight_size(op->group, private_bytes, op->local_bytes);
}

static size_t soft_context_bytes(const struct soft_context *context)
{
	return soft_flight_bytes(&context->own.size);
}

static bool soft_context_has(const struct soft_context *context,
			     const struct soft_context_size *size)
{
	return context && context->own.size.warps >= size->warps &&
	       context->own.size.data >= size->data;
}

/* Takes a context that is idle from its channel. */
static void soft_context_unkeep(struct soft_compute *compute, struct soft_context *context)
{
	lockdep_assert_held(&compute->kept_lock);
	list_del(&context->link);
	soft_contexts(context->ch)->kept = NULL;
}

/* Returns what the channel keeps, if it does, and belongs to the caller now; or NULL. */
static struct soft_context *soft_context_kept(struct soft_channel *ch)
{
	struct soft_compute *compute = soft_compute(ch);
	struct soft_context *context;

	raw_spin_lock(&compute->kept_lock);
	context = soft_contexts(ch)->kept;
	if (context)
		soft_context_unkeep(compute, context);
	raw_spin_unlock(&compute->kept_lock);
	return context;
}

/**
 * soft_context_ready() - look whether a channel has what it takes to begin a dispatch
 * @ch: busy, with the packet and its head
 * @prepared: the worker has made what it could, however long ago
 * Context: the engine's thread; does not sleep.
 * Return: whether it has a context that is large enough, and has the flights that could be made.
 */
bool soft_context_ready(struct soft_channel *ch, bool prepared)
{
	struct soft_context_size size = soft_context_size(&ch->exec);
	struct soft_contexts *contexts = soft_contexts(ch);

	if (!contexts->used)
		contexts->used = soft_context_kept(ch);
	return soft_context_has(contexts->used, &size) &&
	       (prepared || !soft_context_lacks(contexts->used, soft_context_flights(ch)));
}

static void soft_context_count(struct soft_compute *compute, struct soft_program *program)
{
	if (program->ran)
		WRITE_ONCE(compute->hits, compute->hits + 1);
	else
		WRITE_ONCE(compute->misses, compute->misses + 1);
	program->ran = true;
}

/**
 * soft_context_set() - give a dispatch its program and its operands
 * @ch: owned by the caller, with the packet and its head; its context is idle, and large enough
 * @program: the packet's program; the context takes over the caller's use
 * Context: any; does not sleep.
 */
void soft_context_set(struct soft_channel *ch, struct soft_program *program)
{
	const struct soft_program_head *head = soft_context_head(&ch->exec);
	const struct soft_dispatch_operands *op = soft_dispatch_operands(&ch->exec.packet);
	struct soft_context *context = soft_context(ch);
	struct simt_dispatch *dispatch = &context->dispatch;

	context->program = program;
	context->ch = ch;
	context->image = head->image;
	context->serial = ++soft_compute(ch)->serial;
	memset(dispatch, 0, sizeof(*dispatch));
	dispatch->program = &program->text;
	dispatch->entry = head->entry / 4;
	dispatch->image_bytes = head->image_bytes;
	dispatch->args = op->args + (ch->space ? 0 : VGPU_HW_VA_GLOBAL);
	memcpy(dispatch->grid, op->grid, sizeof(dispatch->grid));
	memcpy(dispatch->group, op->group, sizeof(dispatch->group));
	dispatch->private_bytes = head->private_bytes;
	dispatch->local_bytes = op->local_bytes;
}

/**
 * soft_context_begin() - begin a dispatch
 * @ch: busy, and else as above
 * @program: likewise
 * Context: the engine's thread; does not sleep.
 */
void soft_context_begin(struct soft_channel *ch, struct soft_program *program)
{
	struct soft_context *context = soft_context(ch);

	soft_context_count(soft_compute(ch), program);
	soft_context_set(ch, program);
	simt_dispatch_begin(&context->dispatch);
	/* One that begins anew has flights, if it was loaded. */
	soft_context_idle(context);
	soft_context_add(context, &context->own);
}

/* Frees a context that belongs to the caller; or NULL. May sleep. */
static void soft_context_free(struct soft_context *context)
{
	struct soft_compute *compute;

	if (!context)
		return;
	compute = context->compute;
	if (context->program)
		soft_programs_put(&compute->programs, context->program);
	soft_context_free_flights(context);
	soft_flight_drop(&context->own);
	atomic64_sub(soft_context_bytes(context), &compute->context_bytes);
	kfree(context);
}

/**
 * soft_context_exit() - free the contexts of a channel
 * @ch: a channel on which no engine works
 * Context: may sleep.
 */
void soft_context_exit(struct soft_channel *ch)
{
	soft_context_free(soft_contexts(ch)->used);
	soft_contexts(ch)->used = NULL;
	soft_context_free(soft_context_kept(ch));
}

/* struct vgpu_dma.release: a request that was cancelled has a context still. */
static void soft_context_dispose_release(struct vgpu_dma *dma)
{
	struct soft_context *context = dma->data;
	struct soft_compute *compute;
	size_t bytes;

	if (!context)
		return;
	dma->data = NULL;
	compute = context->compute;
	bytes = soft_context_bytes(context);
	soft_context_free(context);
	atomic64_sub(bytes, &compute->context_going);
}

/* struct vgpu_dma.work: not left to the release, which may be the engine's. */
static int soft_context_dispose_work(struct vgpu_dma *dma)
{
	soft_context_dispose_release(dma);
	return 0;
}

/*
 * Has the worker free a context. Freeing 12 MiB takes hundreds of us: if the engine did it, the
 * next vGPU's run would begin late by as much.
 */
static void soft_context_dispose(struct soft_context *context)
{
	struct soft_compute *compute = context->compute;
	struct vgpu_dma *dma;

	dma = vgpu_dma_alloc(compute->mem->vgpu, GFP_NOWAIT | __GFP_NOWARN);
	if (!dma) {
		soft_context_free(context);
		return;
	}
	atomic64_add(soft_context_bytes(context), &compute->context_going);
	dma->work = soft_context_dispose_work;
	dma->data = context;
	dma->release = soft_context_dispose_release;
	vgpu_dma_submit(dma);
	vgpu_dma_put(dma);
}

/* Keeps a context that is idle now for the channel, if there is room. */
static bool soft_context_keep(struct soft_channel *ch, struct soft_context *context)
{
	struct soft_compute *compute = context->compute;
	s64 going = atomic64_read(&compute->context_going);

	if ((!list_empty(&context->spare) &&
	     atomic64_read(&compute->flight_bytes) > SOFT_FLIGHTS_BYTES / 2) ||
	    atomic64_read(&compute->context_bytes) - going > SOFT_CONTEXTS_KEEP)
		return false;
	raw_spin_lock(&compute->kept_lock);
	list_add_tail(&context->link, &compute->kept);
	context->kept_at = jiffies;
	context->ch = ch;
	soft_contexts(ch)->kept = context;
	raw_spin_unlock(&compute->kept_lock);
	return true;
}

/**
 * soft_context_end() - end a dispatch, which is complete or has faulted
 * @ch: busy; with or without a dispatch, which need not have begun
 * Context: the engine's thread; may sleep.
 */
void soft_context_end(struct soft_channel *ch)
{
	struct soft_context *context = soft_context(ch);

	if (!context)
		return;
	/*
	 * Frees a program that was invalidated meanwhile: up to 3 MiB in 25 us, which is half of a
	 * section. A guest cannot have that often, as the worker takes ms to make such a program.
	 */
	if (context->program)
		soft_programs_put(&soft_compute(ch)->programs, context->program);
	context->program = NULL;
	soft_context_idle(context);
	soft_contexts(ch)->used = NULL;
	if (!soft_context_keep(ch, context))
		soft_context_dispose(context);
}

/* Returns the context that has been idle for longest, which belongs to the caller now; or NULL. */
static struct soft_context *soft_context_oldest(struct soft_compute *compute)
{
	struct soft_context *context;

	raw_spin_lock(&compute->kept_lock);
	context = list_first_entry_or_null(&compute->kept, struct soft_context, link);
	if (context)
		soft_context_unkeep(compute, context);
	raw_spin_unlock(&compute->kept_lock);
	return context;
}

/* Frees the context that has been idle for longest. Returns false if there is none. */
static bool soft_context_evict(struct soft_compute *compute)
{
	struct soft_context *idle = soft_context_oldest(compute);

	soft_context_free(idle);
	return idle;
}

/*
 * Returns the context that has been idle for longest of those that have spare flights and may not
 * be wanted at once; it belongs to the caller now. NULL: there is none, or all of them together do
 * not leave room for @bytes.
 */
static struct soft_context *soft_context_oldest_spare(struct soft_compute *compute, size_t bytes)
{
	s64 over = atomic64_read(&compute->flight_bytes) + bytes - SOFT_FLIGHTS_BYTES / 2;
	struct soft_context *context, *found = NULL;

	raw_spin_lock(&compute->kept_lock);
	list_for_each_entry(context, &compute->kept, link) {
		if ((found && over <= 0) ||
		    time_before(jiffies, context->kept_at + SOFT_LACKS_JIFFIES))
			break;
		if (list_empty(&context->spare))
			continue;
		found = found ?: context;
		over -= (context->made - 1) * soft_flight_bytes(&context->own.size);
	}
	if (over > 0)
		found = NULL;
	if (found)
		soft_context_unkeep(compute, found);
	raw_spin_unlock(&compute->kept_lock);
	return found;
}

/**
 * soft_context_fill_up() - make flights for a context, if need be in place of those of idle ones
 * @context: belongs to the caller
 * @nr: how many it should have, its own with them; fewer will do, if there is no memory or room
 * Context: sleeps; not in an engine's thread.
 */
void soft_context_fill_up(struct soft_context *context, unsigned int nr)
{
	struct soft_context *idle;

	while (soft_context_fill(context, nr) == -EBUSY) {
		idle = soft_context_oldest_spare(context->compute,
						 soft_flight_bytes(&context->own.size));
		if (!idle)
			return;
		soft_context_free(idle);
		context->lacks = false;
	}
}

/* Counts the memory of a context that is to be made; frees idle contexts to make room for it. */
static bool soft_context_take(struct soft_compute *compute, size_t bytes)
{
	while (atomic64_add_return(bytes, &compute->context_bytes) > SOFT_CONTEXTS_BYTES) {
		atomic64_sub(bytes, &compute->context_bytes);
		if (!soft_context_evict(compute))
			return false;
	}
	return true;
}

/**
 * soft_context_alloc() - make a context
 * @compute: of the vGPU
 * @size: what the context is to have room for
 * @ret: set to 0, -ENOMEM, or -EBUSY: the contexts that are in use leave no room for it
 * Context: sleeps; not in an engine's thread.
 * Return: the context, idle; or NULL.
 */
struct soft_context *soft_context_alloc(struct soft_compute *compute,
					const struct soft_context_size *size, int *ret)
{
	size_t bytes = soft_flight_bytes(size);
	struct soft_context *context;
	struct mem_cgroup *old;

	*ret = -EBUSY;
	if (!soft_context_take(compute, bytes))
		return NULL;
	*ret = -ENOMEM;
	old = set_active_memcg(compute->mem->fb.memcg);
	context = kzalloc(sizeof(*context), SOFT_GFP);
	set_active_memcg(old);
	if (!context)
		goto err_bytes;
	context->compute = compute;
	soft_flights_init(&context->flights);
	raw_spin_lock_init(&context->lock);
	INIT_LIST_HEAD(&context->spare);
	context->made = 1;
	*ret = soft_flight_make(compute, &context->own, size, SOFT_GFP);
	if (!*ret)
		return context;
	kfree(context);
err_bytes:
	atomic64_sub(bytes, &compute->context_bytes);
	return NULL;
}

static int soft_context_try(struct soft_prepare *prepare)
{
	struct soft_compute *compute = prepare->compute;
	int ret = 0;

	if (!prepare->program)
		prepare->program = soft_programs_find(&compute->programs, &prepare->key);
	if (!prepare->program) {
		ret = soft_text_load(&compute->programs, compute->mem, &prepare->key,
				     &prepare->program, &prepare->fault);
		if (!ret)
			atomic_inc(compute->decoded);
	}
	if (ret)
		return ret;
	if (prepare->context && !soft_context_has(prepare->context, &prepare->size)) {
		soft_context_free(prepare->context);
		prepare->context = NULL;
	}
	if (!prepare->context)
		prepare->context = soft_context_alloc(compute, &prepare->size, &ret);
	if (prepare->context)
		soft_context_fill_up(prepare->context, prepare->flights);
	return ret;
}

/* Frees all contexts that are idle. Returns false if there was none. */
static bool soft_context_evict_all(struct soft_compute *compute)
{
	bool any = false;

	while (soft_context_evict(compute))
		any = true;
	return any;
}

/* Memory is short: waits, if no idle context can go. Returns false if waiting is of no use. */
static bool soft_context_again(struct soft_compute *compute, unsigned long *since)
{
	if (fatal_signal_pending(current))	/* the request is being cancelled */
		return false;
	return soft_context_evict_all(compute) || vgpu_short_pause(since);
}

/* struct vgpu_dma.work: makes what is missing. */
static int soft_context_work(struct vgpu_dma *dma)
{
	struct soft_prepare *prepare = dma->data;
	unsigned long since = 0;
	int ret;

	do {
		ret = soft_context_try(prepare);
	} while (ret == -ENOMEM && soft_context_again(prepare->compute, &since));
	if (ret) {	/* no engine will take the context over, or has time to free it */
		soft_context_free(prepare->context);
		prepare->context = NULL;
	}
	return ret;
}

/* struct vgpu_dma.release */
static void soft_context_release(struct vgpu_dma *dma)
{
	struct soft_prepare *prepare = dma->data;

	if (prepare->program)
		soft_programs_put(&prepare->compute->programs, prepare->program);
	soft_context_free(prepare->context);
	kfree(prepare);
}

/**
 * soft_context_prepare() - have the worker make what a dispatch needs
 * @ch: busy, with the packet and its head; its context, if it has one, is idle
 * @key: the packet's program
 * @program: the program, if it is there; taken over from the caller
 * Context: the engine's thread; does not wait for memory.
 * Return: SOFT_END_WAIT, or SOFT_END_PACED if there is no memory for the request.
 */
enum soft_end soft_context_prepare(struct soft_channel *ch, const struct soft_program_key *key,
				   struct soft_program *program)
{
	u64 head = soft_dispatch_operands(&ch->exec.packet)->head;
	const struct soft_place place = soft_space_plain(ch->view, head, false);
	struct soft_contexts *contexts = soft_contexts(ch);
	struct soft_prepare *prepare;
	struct vgpu_dma *dma;

	dma = soft_dma_alloc(ch, &place, false);
	prepare = kzalloc(sizeof(*prepare), GFP_NOWAIT | __GFP_NOWARN);
	if (!dma || !prepare)
		goto err_free;
	prepare->compute = soft_compute(ch);
	prepare->key = *key;
	prepare->size = soft_context_size(&ch->exec);
	prepare->flights = soft_context_flights(ch);
	prepare->program = program;
	prepare->context = contexts->used;
	contexts->used = NULL;
	dma->len = sizeof(struct vgpu_hw_program);
	dma->work = soft_context_work;
	dma->data = prepare;
	dma->release = soft_context_release;
	return soft_dma_submit(ch, dma);

err_free:
	kfree(prepare);
	if (dma)
		vgpu_dma_put(dma);
	if (program)
		soft_programs_put(&soft_compute(ch)->programs, program);
	return soft_dma_later(ch);
}

/**
 * soft_context_prepared() - the worker has ended what soft_context_prepare() asked for
 * @ch: busy, with the packet; takes the context over
 * @dma: the request, which has been completed and not cancelled. It uses the program, which so
 *       stays where it is found until the caller gives @dma back
 * @fault: set with SOFT_END_FAULT
 * Context: the engine's thread; does not wait for memory.
 * Return: SOFT_END_PACKET: the dispatch can begin, if nothing has changed; SOFT_END_PACED: there is
 * no room for it now; SOFT_END_FAULT.
 */
enum soft_end soft_context_prepared(struct soft_channel *ch, const struct vgpu_dma *dma,
				    struct soft_fault *fault)
{
	struct soft_prepare *prepare = dma->data;

	switch (dma->result) {
	case 0:
		soft_contexts(ch)->used = prepare->context;
		prepare->context = NULL;
		return SOFT_END_PACKET;
	case -EBUSY:
		return soft_dma_later(ch);
	case -EFAULT:
		*fault = prepare->fault;
		return SOFT_END_FAULT;
	default:
		fault->code = VGPU_HW_FAULT_MEMORY;
		fault->addr = ch->exec.va;
		return SOFT_END_FAULT;
	}
}

/* Prints a line on a vGPU's programs, for debugfs. */
void soft_context_show(struct soft_compute *compute, struct seq_file *m)
{
	struct soft_programs *programs = &compute->programs;
	size_t bytes;

	raw_spin_lock(&programs->lock);
	bytes = programs->bytes;
	raw_spin_unlock(&programs->lock);
	seq_printf(m, "  compute: dispatches %llu, groups %llu, instructions %llu, program_bytes %zu, program_hits %llu, program_misses %llu, context_bytes %lld, flight_bytes %lld\n",
		   READ_ONCE(compute->dispatches), READ_ONCE(compute->groups),
		   READ_ONCE(compute->insns), bytes, READ_ONCE(compute->hits),
		   READ_ONCE(compute->misses), (s64)atomic64_read(&compute->context_bytes),
		   (s64)atomic64_read(&compute->flight_bytes));
}
