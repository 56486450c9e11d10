// SPDX-License-Identifier: GPL-2.0
/* The log of a program, which is not trusted: records of formats and arguments become text. */
#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include "device/vgpu_device_abi.h"
#include "internal.h"
#include "libvgpu_log.h"

#define FLAGS_MAX	5
#define FIELD_MAX	999	/* of a width or precision */

/* What is printed at most of a format, and of a text: a program may have made them any length. */
#define TEXT_MAX	1024

/* Records that are printed at once, so that the caller may look at what else there is. */
#define RECORDS_MAX	256

/**
 * struct spec - a conversion in a format
 * @flags:     as printf() has them
 * @width:     at least so many characters
 * @precision: likewise; -1: none is given
 * @words:     arguments that it takes: its value, after those of its stars
 * @bits:      of its value, if that is an integer
 * @as:        the letter
 */
struct spec {
	char flags[FLAGS_MAX + 1];
	int width;
	int precision;
	unsigned int words;
	unsigned int bits;
	char as;
};

/* A width or precision: digits, or a star, for which there is an argument. */
static bool take_field(const char **at, struct spec *spec, const uint64_t *arg, unsigned int nr,
		       int *value)
{
	const char *digit = *at;

	*value = 0;
	if (*digit == '*') {
		*value = spec->words < nr ? (int32_t)arg[spec->words] : 0;
		*value = *value < -FIELD_MAX ? -FIELD_MAX : *value;
		*value = *value > FIELD_MAX ? FIELD_MAX : *value;
		spec->words++;
		*at = digit + 1;
		return true;
	}
	for (; *digit >= '0' && *digit <= '9' && *value <= FIELD_MAX; digit++)
		*value = 10 * *value + *digit - '0';
	*at = digit;
	return *value <= FIELD_MAX;
}

/* The length of an integer; without one it has 32 bits. */
static const char *take_length(const char *at, struct spec *spec)
{
	spec->bits = 32;
	if (*at == 'h') {
		spec->bits = at[1] == 'h' ? 8 : 16;
		return at + (at[1] == 'h' ? 2 : 1);
	}
	if (*at && strchr("ljzt", *at)) {
		spec->bits = 64;
		return at + (*at == 'l' && at[1] == 'l' ? 2 : 1);
	}
	return at;
}

/*
 * Takes apart what is behind a %, with those of the @nr arguments that are for its stars. Returns
 * what follows it, or NULL if it is none that is known: never one that would write.
 */
static const char *spec_parse(const char *at, struct spec *spec, const uint64_t *arg,
			      unsigned int nr)
{
	size_t flags = strspn(at, "-+ #0");
	const char *letter;

	if (flags > FLAGS_MAX)
		return NULL;
	*spec = (struct spec) { .precision = -1 };
	memcpy(spec->flags, at, flags);
	at += flags;
	if (!take_field(&at, spec, arg, nr, &spec->width))
		return NULL;
	if (*at == '.') {
		at++;
		if (!take_field(&at, spec, arg, nr, &spec->precision))
			return NULL;
	}
	letter = take_length(at, spec);
	spec->as = *letter;
	spec->words++;
	if (!spec->as)
		return NULL;
	if (strchr("diuxXo", spec->as) || (strchr("fFeEgGaA", spec->as) && spec->bits >= 32) ||
	    (strchr("csp", spec->as) && letter == at))
		return letter + 1;
	return NULL;
}

/* A text of the program, or @other if it has none there; @room has TEXT_MAX bytes. */
static const char *log_text(const struct vgpu_elf *elf, uint64_t address, const char *other,
			    char *room)
{
	const char *text = vgpu_elf_text(elf, address);

	snprintf(room, TEXT_MAX, "%s", text ? text : other);
	return room;
}

static void spec_print(const struct vgpu_elf *elf, const struct spec *spec, uint64_t value,
		       FILE *out)
{
	const unsigned int above = 64 - spec->bits;
	char form[FLAGS_MAX + 8], room[TEXT_MAX];
	double number;

	snprintf(form, sizeof(form), "%%%s*.*%s%c", spec->flags,
		 strchr("diuxXo", spec->as) ? "ll" : "", spec->as);
	if (strchr("di", spec->as)) {
		fprintf(out, form, spec->width, spec->precision,
			(long long)(value << above) >> above);
	} else if (strchr("uxXo", spec->as)) {
		fprintf(out, form, spec->width, spec->precision,
			(unsigned long long)(value << above >> above));
	} else if (spec->as == 'c') {
		fprintf(out, form, spec->width, spec->precision, (int)(unsigned char)value);
	} else if (spec->as == 's') {
		fprintf(out, form, spec->width, spec->precision,
			log_text(elf, value, "(no constant)", room));
	} else if (spec->as == 'p') {
		fprintf(out, form, spec->width, spec->precision, (void *)(uintptr_t)value);
	} else {
		memcpy(&number, &value, sizeof(number));
		fprintf(out, form, spec->width, spec->precision, number);
	}
}

/* Says that the conversion behind a % is not printed, and why. Returns what follows it. */
static const char *spec_refuse(const char *at, const char *why, FILE *out)
{
	size_t n = strspn(at, "-+ #0123456789.*'$hlLqjzt");

	n = n > TEXT_MAX ? TEXT_MAX : n;
	n += at[n] != 0;
	fprintf(out, "(%%%.*s: %s)", (int)n, at, why);
	return at + n;
}

void vgpu_log_format(const struct vgpu_elf *elf, const char *format, const uint64_t *arg,
		     unsigned int nr, FILE *out)
{
	const char *percent, *next;
	struct spec spec;

	while ((percent = strchr(format, '%'))) {
		fwrite(format, 1, (size_t)(percent - format), out);
		format = percent + 1;
		if (*format == '%') {
			putc(*format++, out);
			continue;
		}
		next = spec_parse(format, &spec, arg, nr);
		if (!next) {
			format = spec_refuse(format, "not known here", out);
			/* It has been given an argument, as far as can be told. */
			spec.words = 1;
		} else if (spec.words > nr) {
			format = spec_refuse(format, "no argument", out);
		} else {
			spec_print(elf, &spec, arg[spec.words - 1], out);
			format = next;
		}
		spec.words = spec.words < nr ? spec.words : nr;
		arg += spec.words;
		nr -= spec.words;
	}
	fputs(format, out);
}

int vgpu_log_alloc(struct vgpu_dev *dev, uint64_t *offset)
{
	struct vgpu_device_log log = { .words = htole64(VGPU_LOG_WORDS) };
	int ret;

	_Static_assert(sizeof(log) + VGPU_LOG_WORDS * sizeof(uint64_t) == VGPU_LOG_BYTES,
		       "the log has another size");
	ret = vgpu_fb_alloc(dev, VGPU_LOG_BYTES, VGPU_HW_PAGE_SIZE, offset);
	if (ret)
		return ret;
	memset(dev->fb + *offset, 0, VGPU_LOG_BYTES);
	memcpy(dev->fb + *offset, &log, sizeof(log));
	return 0;
}

unsigned int vgpu_log_print(struct vgpu_dev *dev, uint64_t offset, const struct vgpu_elf *elf,
			    FILE *out, uint64_t *lost)
{
	struct vgpu_device_log *log = (void *)(dev->fb + offset);
	uint64_t tail = le64toh(log->tail), arg[VGPU_DEVICE_LOG_ARGS_MAX], head, *word;
	unsigned int nr, i, records = 0;
	char room[TEXT_MAX];

	while (records < RECORDS_MAX) {
		word = &log->word[tail & (VGPU_LOG_WORDS - 1)];
		head = le64toh(__atomic_load_n(word, __ATOMIC_ACQUIRE));
		if (!(head & VGPU_DEVICE_LOG_VALID))
			break;
		nr = (uint8_t)(head >> VGPU_DEVICE_LOG_ARGS_SHIFT);
		if (nr > VGPU_DEVICE_LOG_ARGS_MAX)
			nr = VGPU_DEVICE_LOG_ARGS_MAX;
		*word = 0;
		for (i = 0; i < nr; i++) {
			word = &log->word[(tail + 1 + i) & (VGPU_LOG_WORDS - 1)];
			arg[i] = le64toh(*word);
			*word = 0;
		}
		tail += 1 + nr;
		__atomic_store_n(&log->tail, htole64(tail), __ATOMIC_RELEASE);
		vgpu_log_format(elf, log_text(elf, head >> VGPU_DEVICE_LOG_FORMAT_SHIFT,
					      "(no format)\n", room), arg, nr, out);
		records++;
	}
	*lost = le64toh(__atomic_load_n(&log->lost, __ATOMIC_RELAXED));
	return records;
}
