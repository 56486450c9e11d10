// SPDX-License-Identifier: GPL-2.0
/* The log of a program, which is not trusted: records of formats and arguments become text. */
#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include "device/vgpu_device_abi.h"
#include "internal.h"
#include "libvgpu_log.h"

#define DIGITS		3	/* of a width or precision */
#define SPEC_ROOM	32

/* What is printed at most of a format, and of a text: a program may have made them any length. */
#define TEXT_MAX	1024

/* Records that are printed at once, so that the caller may look at what else there is. */
#define RECORDS_MAX	256

/**
 * struct spec - a conversion in a format
 * @text: for printf(), without length and letter
 * @wide: the argument has 64 bits, else 32
 * @as:   the letter
 */
struct spec {
	char text[SPEC_ROOM];
	bool wide;
	char as;
};

/* Takes apart what is behind a %. Returns what follows it, or NULL if it is none that is known. */
static const char *spec_parse(const char *at, struct spec *spec)
{
	size_t flags = strspn(at, "-+ #0"), width = strspn(at + flags, "0123456789");
	size_t head = flags + width, length, digits;

	if (at[head] == '.') {
		digits = strspn(at + head + 1, "0123456789");
		head += 1 + digits;
		if (digits > DIGITS)
			return NULL;
	}
	if (flags > 5 || width > DIGITS)
		return NULL;
	length = strspn(at + head, "hlzjt");
	spec->wide = memchr(at + head, 'l', length) || memchr(at + head, 'z', length) ||
		memchr(at + head, 'j', length) || memchr(at + head, 't', length);
	spec->as = at[head + length];
	if (!spec->as || !strchr("diuxXocspfFeEgGaA", spec->as))
		return NULL;
	snprintf(spec->text, sizeof(spec->text), "%%%.*s", (int)head, at);
	return at + head + length + 1;
}

/* A text of the program, or @other if it has none there; @room has TEXT_MAX bytes. */
static const char *log_text(const struct vgpu_elf *elf, uint64_t address, const char *other,
			    char *room)
{
	const char *text = vgpu_elf_text(elf, address);

	snprintf(room, TEXT_MAX, "%s", text ? text : other);
	return room;
}

static void spec_print(const struct vgpu_elf *elf, const struct spec *spec, uint64_t arg,
		       FILE *out)
{
	char form[SPEC_ROOM + 4], room[TEXT_MAX];
	double number;

	snprintf(form, sizeof(form), "%s%s%c", spec->text,
		 strchr("diuxXo", spec->as) ? "ll" : "", spec->as);
	if (strchr("di", spec->as)) {
		fprintf(out, form, spec->wide ? (long long)arg : (long long)(int32_t)arg);
	} else if (strchr("uxXo", spec->as)) {
		fprintf(out, form, spec->wide ? (unsigned long long)arg :
			(unsigned long long)(uint32_t)arg);
	} else if (spec->as == 'c') {
		fprintf(out, form, (int)(unsigned char)arg);
	} else if (spec->as == 's') {
		fprintf(out, form, log_text(elf, arg, "(no constant)", room));
	} else if (spec->as == 'p') {
		fprintf(out, form, (void *)(uintptr_t)arg);
	} else {
		memcpy(&number, &arg, sizeof(number));
		fprintf(out, form, number);
	}
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
		next = spec_parse(format, &spec);
		if (!next || !nr) {
			putc('%', out);
			continue;
		}
		spec_print(elf, &spec, *arg++, out);
		nr--;
		format = next;
	}
	fputs(format, out);
}

int vgpu_log_alloc(struct vgpu_dev *dev, uint64_t *offset)
{
	struct vgpu_device_log log = { .words = htole64(VGPU_LOG_WORDS) };
	uint64_t bytes = sizeof(log) + VGPU_LOG_WORDS * sizeof(uint64_t);
	int ret;

	ret = vgpu_fb_alloc(dev, bytes, VGPU_HW_PAGE_SIZE, offset);
	if (ret)
		return ret;
	memset(dev->fb + *offset, 0, bytes);
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
