// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include <libvgpu_names.h>

#include "about.h"
#include "ctl.h"
#include "table.h"

#define FRAME_HEAD	16	/* bytes of a frame's head in a stream */
#define FRAME_LENGTH	4	/* where it has the length of its data */
#define FRAME_BEGIN	1	/* its type, at 0, in the frame that is first */
#define FILE_BYTES	(4 * ABOUT_MAX)

/* Reads a file, but no more than FILE_BYTES. Returns what is allocated, or NULL. */
static uint8_t *read_begin(const char *path, size_t *nr)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	uint8_t *bytes = need_zeroed(FILE_BYTES, 1);
	bool good = false;

	if (file) {
		*nr = fread(bytes, 1, FILE_BYTES, file);
		good = !ferror(file);
	}
	if (!good)
		fail("%s: cannot read it: %s", path, strerror(errno));
	if (file && file != stdin)
		fclose(file);
	if (good)
		return bytes;
	free(bytes);
	return NULL;
}

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads the digits of a description. Returns false if they are none. */
static bool about_of_hex(const char *text, size_t length, struct about *about)
{
	size_t i;
	int high, low;

	if (!length || length % 2 || length / 2 > ABOUT_MAX)
		return false;
	about->bytes = need_zeroed(length / 2, 1);
	about->nr = length / 2;
	for (i = 0; i < about->nr; i++) {
		high = hex_digit(text[2 * i]);
		low = hex_digit(text[2 * i + 1]);
		if (high < 0 || low < 0) {
			about_free(about);
			return false;
		}
		about->bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static enum exit_code about_of_json(const char *path, const uint8_t *bytes, size_t nr,
				    struct about *about)
{
	struct json_object *document, *digits;
	enum exit_code code = EXIT_OK;
	char why[JSON_WHY];

	document = json_parse((const char *)bytes, nr, why);
	if (!document)
		return fail("%s: %s", path, why);
	if (!json_object_object_get_ex(document, "about", &digits) ||
	    !json_object_is_type(digits, json_type_string) ||
	    !about_of_hex(json_object_get_string(digits),
			  (size_t)json_object_get_string_len(digits), about))
		code = fail("%s: about: the hexadecimal digits of vgpuctl migration show --json are needed",
			    path);
	json_object_put(document);
	return code;
}

static uint32_t word_at(const uint8_t *bytes, size_t at)
{
	uint32_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return le32toh(word);
}

static enum exit_code about_of_stream(const char *path, const uint8_t *bytes, size_t nr,
				      struct about *about)
{
	size_t length;

	if (nr < FRAME_HEAD || (word_at(bytes, 0) & 0xffff) != FRAME_BEGIN)
		return fail("%s: neither the JSON of vgpuctl migration show nor the state of a vGPU",
			    path);
	length = word_at(bytes, FRAME_LENGTH);
	if (!length || length > ABOUT_MAX || length > nr - FRAME_HEAD)
		return fail("%s: the state of a vGPU is cut off, or damaged", path);
	about->bytes = need_zeroed(length, 1);
	memcpy(about->bytes, bytes + FRAME_HEAD, length);
	about->nr = length;
	return EXIT_OK;
}

enum exit_code about_read(const char *path, struct about *about)
{
	enum exit_code code;
	size_t nr, at = 0;
	uint8_t *bytes;

	bytes = read_begin(path, &nr);
	if (!bytes)
		return EXIT_FAILED;
	while (at < nr && isspace(bytes[at]))
		at++;
	if (at == nr)
		code = fail("%s: it is empty", path);
	else if (bytes[at] != '{')
		code = about_of_stream(path, bytes, nr, about);
	else if (nr == FILE_BYTES)
		code = fail("%s: longer than %u bytes", path, FILE_BYTES - 1);
	else
		code = about_of_json(path, bytes, nr, about);
	free(bytes);
	return code;
}

void about_free(struct about *about)
{
	free(about->bytes);
	about->bytes = NULL;
	about->nr = 0;
}

/* What this tool knows of it; the rest is 0. */
static struct vgpu_stream_about about_known(const struct about *about)
{
	struct vgpu_stream_about known = { .version = 0 };

	memcpy(&known, about->bytes, about->nr < sizeof(known) ? about->nr : sizeof(known));
	return known;
}

static uint32_t engines_of(const struct vgpu_stream_about *known)
{
	uint32_t engines = le32toh(known->engines);

	return engines < VGPU_STREAM_ENGINES ? engines : VGPU_STREAM_ENGINES;
}

static const char *hw_version(const struct vgpu_stream_about *known, char *text, size_t room)
{
	uint32_t version = le32toh(known->hw_version);

	snprintf(text, room, "%u.%u", version >> 16, version & 0xffff);
	return text;
}

void about_json(struct json *json, const struct about *about)
{
	const struct vgpu_stream_about known = about_known(about);
	char *digits = need_zeroed(2 * about->nr + 1, 1), text[32];
	uint32_t vga = le32toh(known.vga), engine, i;
	size_t k;

	json_bytes(json, "board", known.board, sizeof(known.board));
	json_text(json, "hw_version", hw_version(&known, text, sizeof(text)));
	json_u64(json, "fb_bytes", le64toh(known.fb_bytes));
	json_u64(json, "channels", le32toh(known.channels));
	json_u64(json, "heads", le32toh(known.heads));
	json_u64(json, "max_width", le32toh(known.max_width));
	json_u64(json, "max_height", le32toh(known.max_height));
	if (vga == VGPU_STREAM_VGA_ANY)
		json_null(json, "vga");
	else
		json_flag(json, "vga", vga);
	json_begin_array(json, "engines");
	for (i = 0; i < engines_of(&known); i++) {
		engine = le32toh(known.engine[i]);
		json_begin(json, NULL);
		json_text(json, "class", vgpu_engine_class_name(engine >> 8));
		json_u64(json, "instance", engine & 0xff);
		json_end(json);
	}
	json_end(json);
	for (k = 0; k < about->nr; k++)
		sprintf(digits + 2 * k, "%02x", about->bytes[k]);
	json_text(json, "about", digits);
	free(digits);
}

void about_print(int width, const struct about *about)
{
	const struct vgpu_stream_about known = about_known(about);
	uint32_t vga = le32toh(known.vga), engine, i;
	char text[32];

	printf("%-*s%.*s\n", width, "Board", TEXT(known.board));
	printf("%-*s%s\n", width, "Hardware version", hw_version(&known, text, sizeof(text)));
	printf("%-*s%s\n", width, "Framebuffer",
	       table_size(text, sizeof(text), le64toh(known.fb_bytes)));
	printf("%-*s%u\n", width, "Channels", le32toh(known.channels));
	printf("%-*s%u, up to %ux%u\n", width, "Heads", le32toh(known.heads),
	       le32toh(known.max_width), le32toh(known.max_height));
	printf("%-*s%s\n", width, "VGA card",
	       vga == VGPU_STREAM_VGA_ANY ? "as it is set" : vga ? "yes" : "no");
	printf("%-*s", width, "Engines");
	for (i = 0; i < engines_of(&known); i++) {
		engine = le32toh(known.engine[i]);
		printf("%s%s%u", i ? " " : "", vgpu_engine_class_name(engine >> 8), engine & 0xff);
	}
	putchar('\n');
}
