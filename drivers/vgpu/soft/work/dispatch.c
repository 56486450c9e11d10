// SPDX-License-Identifier: GPL-2.0
/*
 * Execution of DISPATCH: the interpreter (simt/) runs for some 50 us at a time, and between these
 * sections the engine looks whether it is to stop, as it does with all packets. A section ends
 * earlier at the run's deadline, and when the run is preempted. Whatever the program does, it is
 * left between two instructions, with all state in the channel's context.
 *
 * Units of the engine's team take part in the sections, each with groups of its own, once a
 * dispatch has not ended in its first section. Fewer units than groups in flight go on with each of
 * these in turn; more of them go on with dispatches of other channels (beside.h). Such a section
 * stays open while the engine need not be one thread: the leader still looks every 50 us whether it
 * is to stop, but does not wait for helpers then.
 *
 * The interpreter asks for the time when its budget of instructions is used up, and after a number
 * of accesses that may miss all caches, as the time that these take is unknown.
 *
 * While a group is executed vector registers are in use and preemption is off, so memory is not
 * allocated there: a program that writes to a page that was never touched is left.
 */
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>

#include "../memory/memory.h"
#include "../queue/dma.h"
#include "../queue/queues.h"
#include "beside.h"
#include "lanes.h"
#include "natives.h"
#include "packet_types.h"
#include "section.h"
#include "work.h"

/*
 * While other channels are ready the leader stays with a dispatch for so long. Each change costs
 * what the unit's TLB has, some 10 us. And so long a section stays open: what may wait until it is
 * closed, as numbers that are only shown, waits no longer.
 */
#define SOFT_LEAD_NS	NSEC_PER_MSEC

static_assert(SOFT_TEAM_PIECE_NS == SOFT_SECTION_NS);

/*
 * The guest may be changing the head: each word of it is read once. It lies in one page, as it is
 * aligned to its size.
 */
static enum soft_end soft_dispatch_load(struct soft_channel *ch, u64 va,
					struct vgpu_hw_program *raw, struct soft_fault *fault)
{
	u64 *to = (u64 *)raw;
	const u64 *from;
	struct page *page;
	enum soft_end end;
	unsigned int i;

	end = soft_dma_find_page(ch, va, VGPU_HW_PTE_R, &page, fault);
	if (end != SOFT_END_PACKET)
		return end;
	from = page ? page_address(page) + offset_in_page(va) : NULL;
	for (i = 0; i < sizeof(*raw) / 8; i++)
		to[i] = from ? READ_ONCE(from[i]) : 0;
	return SOFT_END_PACKET;
}

static enum soft_end soft_dispatch_read(struct soft_channel *ch, struct soft_fault *fault)
{
	const struct soft_limits limits = {
		.fb_bytes = ch->queues->info->fb_bytes,
		.virt = ch->space,
	};
	const struct soft_dispatch_operands *op = soft_dispatch_operands(&ch->exec.packet);
	struct vgpu_hw_program raw __aligned(8);
	enum soft_end end;

	end = soft_dispatch_load(ch, op->head, &raw, fault);
	if (end != SOFT_END_PACKET)
		return end;
	fault->code = soft_program_decode(&raw, &limits, op, soft_context_head(&ch->exec),
					  &fault->addr);
	return fault->code ? SOFT_END_FAULT : SOFT_END_PACKET;
}

/*
 * Begins the dispatch, or has the worker make what it takes. When the worker has, the channel comes
 * here once more, and reads the head again: what was read before, and the program that was made of
 * it, may have been invalidated meanwhile.
 */
static enum soft_end soft_dispatch_begin(struct soft_channel *ch, bool prepared,
					 struct soft_fault *fault)
{
	const struct soft_program_head *head = soft_context_head(&ch->exec);
	struct soft_program_key key = {};
	struct soft_program *program;
	enum soft_end end;
	bool ready;

	end = soft_dispatch_read(ch, fault);
	if (end != SOFT_END_PACKET)
		return end;
	key.root = ch->space;
	key.image = head->image;
	key.text_bytes = head->text_bytes;
	program = soft_programs_find(&soft_compute(ch)->programs, &key);
	ready = soft_context_ready(ch, prepared);
	if (!program || !ready)
		return soft_context_prepare(ch, &key, program);
	soft_context_begin(ch, program);
	return SOFT_END_PACKET;
}

/**
 * soft_dispatch_prepare() - begin a dispatch, or have the worker make what that takes
 * @ch: busy, with the packet
 * @dma: the request of soft_context_prepare(), if it has been completed and not cancelled, or NULL
 * @fault: set with SOFT_END_FAULT
 * Context: the engine's thread, during a run; does not wait for memory.
 * Return: SOFT_END_PACKET: the dispatch has begun; else see struct soft_packet_desc.
 */
enum soft_end soft_dispatch_prepare(struct soft_channel *ch, const struct vgpu_dma *dma,
				    struct soft_fault *fault)
{
	enum soft_end end = SOFT_END_PACKET;

	if (dma)
		end = soft_context_prepared(ch, dma, fault);
	return end == SOFT_END_PACKET ? soft_dispatch_begin(ch, dma, fault) : end;
}

/* What tells the unit to leave its section, see soft_lanes_section(). */
static const bool *soft_dispatch_leave(const struct soft_unit *unit)
{
	struct soft_engine *engine = unit->engine;

	return unit == &engine->lead ? &engine->preempt : &engine->team.leave;
}

/* Where there is somebody who waits for the unit, its section has no time left. */
static u64 soft_dispatch_until(const struct soft_flight *flight)
{
	return READ_ONCE(*soft_dispatch_leave(flight->unit)) ? 0 : flight->end_ns;
}

/*
 * struct simt_mem.map, in a section: does not allocate. SIMT_WAIT where @want has no bytes: it is
 * time to end the section.
 */
static enum simt_end soft_dispatch_map(struct simt_mem *mem, u64 va, bool write, void **page,
				       bool *keep, enum vgpu_hw_fault *code)
{
	struct soft_flight *flight = container_of(mem, struct soft_flight, mem);
	const struct soft_context *context = flight->context;
	struct soft_view *view = &flight->unit->view;
	struct soft_fault fault;
	struct soft_place place;
	struct page *found;

	flight->want.bytes = 0;
	if (soft_lanes_looked(&flight->looks, soft_dispatch_until(flight)))
		return SIMT_WAIT;
	if (va < VGPU_HW_VA_GLOBAL)
		va = va - VGPU_HW_VA_IMAGE + context->image;
	else if (!context->ch->space)
		va -= VGPU_HW_VA_GLOBAL;
	if (!soft_space_find(view, va, write ? VGPU_HW_PTE_W : VGPU_HW_PTE_R, &place, &fault)) {
		*code = fault.code;
		return SIMT_FAULT;
	}
	if (!soft_space_peek(view, &place, &found))
		return SIMT_WAIT;
	if (!found && write) {
		flight->want = place;
		return SIMT_WAIT;
	}
	/* It may be written until the TLB is flushed: the mark is good for so long, see dirty.h. */
	if (write)
		soft_store_mark_rcu(&view->mem->fb, place.addr >> PAGE_SHIFT);
	*keep = found;
	*page = page_address(found ?: ZERO_PAGE(0));
	return SIMT_DONE;
}

/* struct simt_mem.over, in a section. */
static bool soft_dispatch_over(struct simt_mem *mem)
{
	const struct soft_flight *flight = container_of(mem, struct soft_flight, mem);

	return ktime_get_ns() >= soft_dispatch_until(flight);
}

/*
 * When a section of the leader's that begins now is to end: at the run's deadline or with the
 * engine's slot, at the latest. A run that begins after its deadline has a whole one, so that
 * something is done however late runs begin. @goes_on: it is the next piece of one that is open,
 * which has none then: 0.
 *
 * Helpers may begin when the leader is nearly there, but not go on without it for ever: they have
 * one more, until @helpers_ns.
 */
static u64 soft_dispatch_end_ns(const struct soft_engine *engine, bool goes_on, u64 *helpers_ns)
{
	u64 now_ns = ktime_get_ns(), end_ns = now_ns + SOFT_SECTION_NS, stop_ns;

	stop_ns = min(vgpu_clock_real(&engine->clock, engine->run.deadline_ns),
		      vgpu_clock_stands_at(&engine->clock, now_ns));
	if (stop_ns <= now_ns) {
		if (goes_on)
			return 0;
		stop_ns = end_ns;
	}
	*helpers_ns = min(end_ns + SOFT_SECTION_NS, stop_ns);
	return min(end_ns, stop_ns);
}

/* Flushes what the unit's TLB has of other dispatches, and of other times. */
static void soft_dispatch_tlb(struct soft_unit *unit, const struct soft_context *context)
{
	struct soft_engine *engine = unit->engine;
	struct soft_section *section = unit->section;
	/* That of the tables' upper entries which the unit keeps: translations come of these. */
	u32 gen = unit->view.gen;

	if (section->serial == context->serial && section->run == engine->runs &&
	    section->gen == gen)
		return;
	simt_tlb_flush(&section->tlb);
	section->serial = context->serial;
	section->run = engine->runs;
	section->gen = gen;
}

static enum simt_end soft_dispatch_section(struct soft_unit *unit, struct soft_channel *ch,
					   struct soft_flight *flight, u64 end_ns)
{
	struct soft_context *context = soft_context(ch);
	struct simt_group *group = &flight->group;
	struct soft_section *section = unit->section;
	enum simt_end end;
	u64 took_ns;

	soft_dispatch_tlb(unit, context);
	flight->mem.map = soft_dispatch_map;
	flight->mem.over = soft_dispatch_over;
	flight->looks = 0;
	flight->end_ns = end_ns;
	group->isa = soft_lanes;
	group->tlb = &section->tlb;
	/* For the marks: a program may look for a page with each access. */
	rcu_read_lock();
	end = soft_lanes_section(group, &flight->piece, context->program->slow, flight->end_ns,
				 soft_dispatch_leave(unit), &took_ns);
	rcu_read_unlock();
	if (group->parted >= SOFT_NATIVE_HOT)
		WRITE_ONCE(context->program->hot, true);
	section->hist[min(fls64(took_ns / NSEC_PER_USEC), SOFT_HIST - 1)]++;
	return end;
}

/*
 * Goes on with the flight's group, or with the next one that is handed out. With @back gets a page
 * that is wanted, if that can be had at once.
 */
static enum simt_end soft_dispatch_fly(struct soft_unit *unit, struct soft_channel *ch,
				       struct soft_flight *flight, u64 end_ns, bool back)
{
	enum simt_end end;

	if (!flight->begun && !simt_dispatch_next(&soft_context(ch)->dispatch, &flight->group))
		return SIMT_DONE;
	flight->begun = true;
	end = soft_dispatch_section(unit, ch, flight, end_ns);
	if (end == SIMT_WAIT && flight->want.bytes && back &&
	    soft_space_back(&unit->view, &flight->want))
		flight->want.bytes = 0;
	return end;
}

/* Goes on with one of the groups in flight. Returns false if there is none for the unit. */
static bool soft_dispatch_group(struct soft_unit *unit, struct soft_channel *ch, u64 end_ns,
				bool back)
{
	struct soft_context *context = soft_context(ch);
	struct soft_flight *flight;
	enum simt_end end;

	raw_spin_lock(&context->lock);
	flight = soft_flights_take(&context->flights, &context->dispatch, unit);
	raw_spin_unlock(&context->lock);
	if (!flight)
		return false;
	end = soft_dispatch_fly(unit, ch, flight, end_ns, back);
	raw_spin_lock(&context->lock);
	soft_flights_give(&context->flights, flight, end);
	raw_spin_unlock(&context->lock);
	return true;
}

/* Likewise, with one after the other until the section's end. */
static bool soft_dispatch_groups(struct soft_unit *unit, struct soft_channel *ch, u64 end_ns,
				 bool back)
{
	const bool *leave = soft_dispatch_leave(unit);

	do {
		if (!soft_dispatch_group(unit, ch, end_ns, back))
			return false;
	} while (!READ_ONCE(*leave) && ktime_get_ns() < end_ns);
	return true;
}

/**
 * soft_dispatch_help() - struct soft_packet_desc.help of DISPATCH
 * @unit: helps the one that leads
 * @ch: its channel, or one beside it
 *
 * The page allocator of PREEMPT_RT takes locks that sleep: there the leader gets all pages.
 *
 * Context: the unit's thread, in a section of the leader's; preemption is off.
 */
void soft_dispatch_help(struct soft_unit *unit, struct soft_channel *ch)
{
	if (!READ_ONCE(*soft_dispatch_leave(unit)) && ktime_get_ns() < unit->until_ns)
		soft_dispatch_groups(unit, ch, unit->until_ns, !IS_ENABLED(CONFIG_PREEMPT_RT));
}

/*
 * How many helpers the next section has work for. Takes dispatches of other channels if there is
 * not enough of this one. @brief is set if the section after it may have work for more.
 */
static unsigned int soft_dispatch_others(struct soft_unit *unit, struct soft_channel *ch,
					 struct soft_beside *beside, bool *brief)
{
	struct soft_engine *engine = unit->engine;
	struct soft_context *context = soft_context(ch);
	unsigned int others, most;

	if (!engine->team.nr || !soft_context_executed(context))
		return 0;
	most = soft_team_ready(engine);
	if (!most)
		return 0;
	*brief = soft_context_grow(ch);
	others = soft_flights_ready(&context->flights, &context->dispatch) - 1;
	if (others < most)
		others += soft_beside_take(beside, engine, most - others);
	return min(others, most);
}

/*
 * Whether the leader is to go to another channel, although this one could go on: that channel needs
 * it, or has waited for long enough. So all channels' dispatches begin, and then go on side by side
 * where there are units for them; and each of them has its turns, see turn.h.
 */
static bool soft_dispatch_moves_on(const struct soft_unit *unit, u64 since_ns)
{
	const struct soft_team *team = &unit->engine->team;

	if (!team->nr)
		return false;
	return team->called ||
	       (unit->real_ns - since_ns >= SOFT_LEAD_NS && soft_beside_any(unit->engine));
}

/*
 * Whether the section in which there are helpers may stay open: nobody needs the engine to be one
 * thread, and what is done outside of sections only may wait.
 */
static bool soft_dispatch_stays(struct soft_unit *unit, struct soft_channel *ch,
				const struct soft_beside *beside, u64 since_ns)
{
	struct soft_context *context = soft_context(ch);

	return !soft_stop_in_section(unit, ch) && !soft_dispatch_moves_on(unit, since_ns) &&
	       soft_beside_stays(beside, unit->engine) &&
	       context->dispatch.native == soft_natives_get(&soft_compute(ch)->programs,
							    context->program);
}

/* A section of all units. */
static void soft_dispatch_together(struct soft_unit *unit, struct soft_channel *ch,
				   const struct soft_beside *beside, unsigned int others,
				   bool brief, u64 since_ns)
{
	struct soft_engine *engine = unit->engine;
	u64 open_ns = unit->real_ns, end_ns, helpers_ns;

	end_ns = soft_dispatch_end_ns(engine, false, &helpers_ns);
	soft_team_open(engine, beside->ch, beside->nr, others, helpers_ns);
	while (soft_dispatch_groups(unit, ch, end_ns, true) && !brief &&
	       soft_dispatch_stays(unit, ch, beside, since_ns) &&
	       unit->real_ns - open_ns < SOFT_LEAD_NS) {
		end_ns = soft_dispatch_end_ns(engine, true, &helpers_ns);
		if (!end_ns || !soft_team_extend(engine, helpers_ns))
			break;
	}
	soft_team_close(engine);
}

/* A section of the leader's, which has been with the channel since @since_ns. */
static void soft_dispatch_lead(struct soft_unit *unit, struct soft_channel *ch, u64 since_ns)
{
	struct soft_beside beside;
	unsigned int others;
	bool brief = false;
	u64 end_ns, unused;

	soft_beside_begin(&beside, ch);
	others = soft_dispatch_others(unit, ch, &beside, &brief);
	if (others) {
		soft_dispatch_together(unit, ch, &beside, others, brief, since_ns);
	} else {
		end_ns = soft_dispatch_end_ns(unit->engine, false, &unused);
		WARN_ON_ONCE(!soft_dispatch_group(unit, ch, end_ns, true));
	}
	soft_beside_give_back(&beside, unit);
}

/* Gets the pages that helpers have left to the leader. Returns false if one cannot be had now. */
static bool soft_dispatch_back(struct soft_unit *unit, struct soft_flights *flights)
{
	struct soft_flight *flight;

	if (soft_flights_wants(flights) && !IS_ENABLED(CONFIG_PREEMPT_RT))
		return false;
	while ((flight = soft_flights_wants(flights))) {
		if (!soft_space_back(&unit->view, &flight->want))
			return false;
		soft_flights_resume_one(flights, flight);
		if (soft_stop_told(unit->engine))
			break;	/* the others look again */
	}
	return true;
}

/*
 * Goes on with the groups in flight. Returns SIMT_DONE if the dispatch is complete, and SIMT_WAIT
 * if a flight wants a page that the worker must get.
 */
static enum simt_end soft_dispatch_step(struct soft_unit *unit, struct soft_channel *ch,
					u64 since_ns)
{
	struct soft_compute *compute = soft_compute(ch);
	struct soft_context *context = soft_context(ch);
	struct soft_flights *flights = &context->flights;
	u64 before = soft_flights_executed(flights);

	/* Helpers have ended it beside another channel's dispatch. */
	if (soft_flights_ended(flights, &context->dispatch))
		return flights->fault ? SIMT_FAULT : SIMT_DONE;
	context->dispatch.native = soft_natives_get(&compute->programs, context->program);
	soft_flights_resume(flights);
	soft_dispatch_lead(unit, ch, since_ns);
	/* However the section ends, the clock is read before another channel's is executed. */
	unit->view.work += SOFT_STOP_BYTES;
	WRITE_ONCE(compute->insns, compute->insns + soft_flights_executed(flights) - before);
	if (flights->fault)
		return SIMT_FAULT;
	if (soft_flights_done(flights, &context->dispatch))
		return SIMT_DONE;
	return soft_dispatch_back(unit, flights) ? SIMT_MORE : SIMT_WAIT;
}

static enum soft_end soft_dispatch_done(struct soft_channel *ch)
{
	const struct simt_dispatch *dispatch = &soft_context(ch)->dispatch;
	struct soft_compute *compute = soft_compute(ch);
	u64 groups = (u64)dispatch->groups[0] * dispatch->groups[1] * dispatch->groups[2];

	WRITE_ONCE(compute->dispatches, compute->dispatches + 1);
	WRITE_ONCE(compute->groups, compute->groups + groups);
	soft_context_end(ch);
	return SOFT_END_PACKET;
}

/**
 * soft_dispatch_fault() - the fault of a dispatch, which cannot go on
 * @ch: busy; its dispatch has ended with SIMT_FAULT, or with SIMT_WAIT for a page that the host has
 *      not got
 * @fault: set
 * Context: the engine's thread; does not sleep.
 * Return: SOFT_END_FAULT.
 */
enum soft_end soft_dispatch_fault(struct soft_channel *ch, struct soft_fault *fault)
{
	struct soft_flights *flights = &soft_context(ch)->flights;
	const struct soft_flight *flight = flights->fault ?: soft_flights_wants(flights);
	const struct simt_fault *why = &flight->group.fault;

	fault->code = why->code;
	fault->addr = why->addr;
	fault->pc = why->pc;
	memcpy(fault->id, why->id, sizeof(fault->id));
	return SOFT_END_FAULT;
}

/*
 * Whether the dispatch has begun. One that has not executed its first instruction begins anew, with
 * the head and the text as they are now, if these were invalidated while it waited for memory.
 */
static bool soft_dispatch_begun(struct soft_channel *ch)
{
	struct soft_programs *programs = &soft_compute(ch)->programs;
	struct soft_context *context = soft_context(ch);

	if (!context || !context->program)
		return false;
	if (soft_context_executed(context) || soft_programs_valid(programs, context->program))
		return true;
	soft_programs_put(programs, context->program);
	context->program = NULL;
	return false;
}

/**
 * soft_dispatch() - execute a DISPATCH, or a part of it
 * @unit: the unit that executes it
 * @ch: busy, with the packet
 * @fault: set with SOFT_END_FAULT
 * Context: the engine's thread, during a run; does not wait for memory.
 * Return: see struct soft_packet_desc.
 */
enum soft_end soft_dispatch(struct soft_unit *unit, struct soft_channel *ch,
			    struct soft_fault *fault)
{
	u64 since_ns = unit->real_ns;
	const struct soft_place *want;
	bool stop;

	unit->engine->team.called = false;
	do {
		if (!soft_dispatch_begun(ch))
			return SOFT_END_AGAIN;
		switch (soft_dispatch_step(unit, ch, since_ns)) {
		case SIMT_DONE:
			/* Its time counts, but it is too late to stop. */
			soft_stop_wanted(unit, ch, 0);
			return soft_dispatch_done(ch);
		case SIMT_FAULT:
			return soft_dispatch_fault(ch, fault);
		case SIMT_WAIT:
			want = &soft_flights_wants(&soft_context(ch)->flights)->want;
			return soft_dma_get_fb(ch, want, 1);
		case SIMT_MORE:
			break;
		}
		stop = soft_stop_wanted(unit, ch, 0);
	} while (!stop && !soft_dispatch_moves_on(unit, since_ns));
	return SOFT_END_STOPPED;
}
