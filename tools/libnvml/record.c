// SPDX-License-Identifier: GPL-2.0
/*
 * Records of processes in guests, for accounting: who was seen at a look (guest.c), and what the
 * host has measured for it from one look to the next. The driver of /dev/vgpu keeps no such thing,
 * so a record begins with the first look of this process's library, and misses what a channel got
 * between the last look and its end.
 *
 * A process without a channel has ended, or is idle, and the guest's driver has given its channel
 * to another one: if it is seen again, its record goes on.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define RECORDS_KEPT	1000	/* of a vGPU, of processes without a channel */

static struct nv_record *record_find(const struct nv_records *records,
				     const struct nv_record *wanted)
{
	unsigned int i;

	for (i = records->nr; i; i--)
		if (records->record[i - 1].vgpu == wanted->vgpu &&
		    records->record[i - 1].session == wanted->session &&
		    records->record[i - 1].pid == wanted->pid)
			return &records->record[i - 1];
	return NULL;
}

/* Of a vGPU, so that no guest pushes out those of another: those that came first. */
static void record_forget(struct nv_records *records, nvmlVgpuInstance_t vgpu)
{
	unsigned int i, ended = 0, nr = 0;

	for (i = 0; i < records->nr; i++)
		ended += records->record[i].vgpu == vgpu && !records->record[i].runs;
	for (i = 0; i < records->nr; i++) {
		if (ended > RECORDS_KEPT && records->record[i].vgpu == vgpu &&
		    !records->record[i].runs)
			ended--;
		else
			records->record[nr++] = records->record[i];
	}
	records->nr = nr;
}

static struct nv_record *record_new(struct nv_records *records, const struct nv_record *seen)
{
	struct nv_record *record = &records->record[records->nr++];

	*record = *seen;
	memset(record->busy, 0, sizeof(record->busy));
	return record;
}

void nv_record_see(struct nv_records *records, const struct nv_record *seen)
{
	struct nv_record *record = record_find(records, seen);
	unsigned int i;

	if (!record)
		record = record_new(records, seen);
	if (seen->start_ns < record->start_ns)
		record->start_ns = seen->start_ns;
	record->last_ns = seen->last_ns;
	record->runs = true;
	for (i = 0; i < VGPU_MAX_ENGINES; i++)
		record->busy[i].busy_ns += seen->busy[i].busy_ns;
}

static bool record_is_of(const struct nv_record *record, const struct nv_vgpus *vgpus)
{
	unsigned int i;

	for (i = 0; i < vgpus->nr; i++)
		if (nv_vgpu_id(&vgpus->inst[i]) == record->vgpu)
			return true;
	return false;
}

nvmlReturn_t nv_record_look(struct nv_records *records, const struct nv_vgpus *vgpus,
			    unsigned int channels)
{
	struct nv_record *record = records->record;
	unsigned int i, nr = 0;

	for (i = 0; i < vgpus->nr; i++)
		record_forget(records, nv_vgpu_id(&vgpus->inst[i]));
	if (channels)
		record = realloc(record, (records->nr + channels) * sizeof(*record));
	if (channels && !record)
		return NVML_ERROR_MEMORY;
	records->record = record;
	for (i = 0; i < records->nr; i++) {
		if (!record_is_of(&records->record[i], vgpus))
			continue;
		records->record[nr] = records->record[i];
		records->record[nr++].runs = false;
	}
	records->nr = nr;
	return NVML_SUCCESS;
}

void nv_records_free(struct nv_records *records)
{
	free(records->record);
	memset(records, 0, sizeof(*records));
}
