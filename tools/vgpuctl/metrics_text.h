/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The text that metrics are written as. A sample is begun, has its labels, and is ended with its
 * value.
 */
#ifndef VGPUCTL_METRICS_TEXT_H
#define VGPUCTL_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct text - the text in the making
 * @out:  where it is written to
 * @open: OpenMetrics
 * @any:  the sample that is being written has a label
 */
struct text {
	FILE *out;
	bool open;
	bool any;
};

/* Describes a metric, ahead of its samples. */
void metric_begin(const struct text *text, const char *name, const char *help);

void sample_begin(struct text *text, const char *name);
void sample_end(struct text *text, uint64_t value);

/* As seconds; the sample has labels. */
void sample_end_ns(struct text *text, uint64_t ns);

void label_bytes(struct text *text, const char *key, const void *value, size_t room);
void label_text(struct text *text, const char *key, const char *value);
void label_number(struct text *text, const char *key, int64_t value);

#endif /* VGPUCTL_METRICS_TEXT_H */
