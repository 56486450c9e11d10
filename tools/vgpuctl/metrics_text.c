// SPDX-License-Identifier: GPL-2.0
/* The text format of Prometheus, and OpenMetrics: descriptions, samples, labels. */
#include <inttypes.h>
#include <string.h>

#include "metrics_text.h"
#include "utf8.h"

#define NS_PER_SECOND	1000000000u

/* A name without its _total, as OpenMetrics calls a counter where it describes it. */
void metric_begin(const struct text *text, const char *name, const char *help)
{
	size_t length = strlen(name), total = strlen("_total");
	bool counter = length > total && !strcmp(name + length - total, "_total");

	if (counter && text->open)
		length -= total;
	fprintf(text->out, "# HELP %.*s %s.\n# TYPE %.*s %s\n", (int)length, name, help,
		(int)length, name, counter ? "counter" : "gauge");
}

void sample_begin(struct text *text, const char *name)
{
	fputs(name, text->out);
	text->any = false;
}

static void label_begin(struct text *text, const char *key)
{
	fprintf(text->out, "%c%s=\"", text->any ? ',' : '{', key);
	text->any = true;
}

/*
 * A label with a text in an array of @room bytes. Prometheus takes UTF-8 only, and would drop all
 * metrics for one process with another name. And who opens a vGPU has no say in what a terminal
 * does that shows the text.
 */
void label_bytes(struct text *text, const char *key, const void *value, size_t room)
{
	const unsigned char *s = value, *end = s + strnlen(value, room);
	size_t n;

	label_begin(text, key);
	while (s < end) {
		n = utf8_shown_length(s, (size_t)(end - s));
		if (*s == '\n')
			fputs("\\n", text->out);
		else if (!n)
			fputs(UTF8_REPLACEMENT, text->out);
		else if (*s == '"' || *s == '\\')
			fprintf(text->out, "\\%c", *s);
		else
			fwrite(s, 1, n, text->out);
		s += n ? n : 1;
	}
	putc('"', text->out);
}

void label_number(struct text *text, const char *key, int64_t value)
{
	label_begin(text, key);
	fprintf(text->out, "%" PRId64 "\"", value);
}

void sample_end(struct text *text, uint64_t value)
{
	fprintf(text->out, "%s %" PRIu64 "\n", text->any ? "}" : "", value);
}

void label_text(struct text *text, const char *key, const char *value)
{
	label_bytes(text, key, value, strlen(value));
}

/* Not by way of a double, which has no room for a year of nanoseconds. */
void sample_end_ns(struct text *text, uint64_t ns)
{
	fprintf(text->out, "} %" PRIu64 ".%09" PRIu64 "\n", ns / NS_PER_SECOND, ns % NS_PER_SECOND);
}
