// SPDX-License-Identifier: GPL-2.0
/* A running DISPATCH of a paused vGPU: saved as records, and built from records. */
#include "packet_types.h"
#include "work.h"

/**
 * soft_context_begun() - struct soft_packet_desc.begun of DISPATCH
 * @ch: of a paused vGPU, with the packet
 * Context: any.
 * Return: whether the dispatch has executed an instruction. One that has not begins anew, with the
 * head and the text as they are then, which it would do if it had waited until then.
 */
bool soft_context_begun(const struct soft_channel *ch)
{
	const struct soft_context *context = soft_context(ch);

	return context && context->program && context->dispatch.executed;
}
