// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "reader.h"

/* More than any configuration needs, and few enough for reader_skip() to call itself. */
#define DEPTH_MAX	32

void reader_init(struct reader *reader, const char *text, size_t bytes)
{
	*reader = (struct reader){ .start = text, .at = text, .end = text + bytes };
}

static void fail_at(struct reader *reader, const char *error)
{
	if (!reader->error)
		reader->error = error;
}

/* Goes to the next byte that is no blank, and returns it; 0 at the end and after an error. */
static char peek(struct reader *reader)
{
	if (reader->error)
		return 0;
	while (reader->at < reader->end && *reader->at && strchr(" \t\r\n", *reader->at))
		reader->at++;
	return reader->at < reader->end ? *reader->at : 0;
}

static bool take(struct reader *reader, char c)
{
	if (peek(reader) != c || reader->at == reader->end || reader->error)
		return false;
	reader->at++;
	return true;
}

void reader_open(struct reader *reader, char bracket)
{
	if (!take(reader, bracket))
		fail_at(reader, bracket == '{' ? "an object is expected" : "an array is expected");
	else if (reader->depth == DEPTH_MAX)
		fail_at(reader, "too deep");
	reader->depth++;
	reader->first = true;
}

/* Is there another element before the end of the innermost object or array? */
static bool more(struct reader *reader, char bracket)
{
	bool first = reader->first;

	if (reader->error)
		return false;
	reader->first = false;
	if (take(reader, bracket)) {
		reader->depth--;
		return false;
	}
	if (!first && !take(reader, ','))
		fail_at(reader, "a comma or the end is expected");
	return !reader->error;
}

bool reader_element(struct reader *reader)
{
	return more(reader, ']');
}

bool reader_member(struct reader *reader, char *name, size_t room)
{
	if (!more(reader, '}'))
		return false;
	reader_string(reader, name, room);
	if (!reader->error && !take(reader, ':'))
		fail_at(reader, "a colon is expected");
	return !reader->error;
}

/* Reads the four digits of \uXXXX. */
static uint32_t hex4(struct reader *reader)
{
	uint32_t value = 0;
	unsigned int i;
	char c;

	for (i = 0; i < 4; i++, reader->at++) {
		c = reader->at < reader->end ? *reader->at : 0;
		if (c >= '0' && c <= '9')
			value = value << 4 | (uint32_t)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			value = value << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
		else
			fail_at(reader, "bad \\u in a string");
		if (reader->error)
			return 0;
	}
	return value;
}

/* Reads what follows "\u": a character, perhaps as two surrogates. */
static uint32_t escaped(struct reader *reader)
{
	uint32_t high = hex4(reader), low;

	if (high < 0xd800 || high > 0xdfff)
		return high;
	if (high < 0xdc00 && reader->end - reader->at >= 2 && reader->at[0] == '\\' &&
	    reader->at[1] == 'u') {
		reader->at += 2;
		low = hex4(reader);
		if (low >= 0xdc00 && low <= 0xdfff)
			return 0x10000 + ((high & 0x3ff) << 10 | (low & 0x3ff));
	}
	fail_at(reader, "half a character in a string");
	return 0;
}

/* Writes a character as UTF-8 to @bytes, and returns the number of bytes. */
static size_t utf8(uint32_t c, char *bytes)
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;

	if (n == 1) {
		bytes[0] = (char)c;
		return 1;
	}
	for (i = n - 1; i; i--, c >>= 6)
		bytes[i] = (char)(0x80 | (c & 0x3f));
	bytes[0] = (char)((0xf00 >> n & 0xf0) | c);
	return n;
}

/* Reads one character of a string, and returns how many bytes of UTF-8 it has. */
static size_t character(struct reader *reader, char *bytes)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found;
	uint32_t c;

	bytes[0] = *reader->at++;
	if ((unsigned char)bytes[0] < 0x20)
		fail_at(reader, "a control character in a string");
	if (bytes[0] != '\\')
		return 1;
	if (reader->at == reader->end)
		return 0;
	bytes[0] = *reader->at++;
	if (bytes[0] == 'u') {
		c = escaped(reader);
		if (!c)
			fail_at(reader, "a 0 in a string");
		return utf8(c, bytes);
	}
	found = bytes[0] ? strchr(from, bytes[0]) : NULL;
	if (found)
		bytes[0] = to[found - from];
	else
		fail_at(reader, "bad escape in a string");
	return 1;
}

void reader_string(struct reader *reader, char *text, size_t room)
{
	size_t length = 0, n;
	char bytes[4];

	text[0] = 0;
	if (!take(reader, '"')) {
		fail_at(reader, "a string is expected");
		return;
	}
	while (reader->at < reader->end && *reader->at != '"' && !reader->error) {
		n = character(reader, bytes);
		if (length + n >= room) {
			fail_at(reader, "too long");
			return;
		}
		memcpy(text + length, bytes, n);
		length += n;
	}
	text[length] = 0;
	if (!take(reader, '"'))
		fail_at(reader, "a string without its end");
}

void reader_number(struct reader *reader, uint64_t *number)
{
	const char *first;
	uint64_t value = 0;

	peek(reader);
	first = reader->at;
	while (!reader->error && reader->at < reader->end && *reader->at >= '0' &&
	       *reader->at <= '9') {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*reader->at - '0'), &value))
			fail_at(reader, "too large a number");
		reader->at++;
	}
	if (reader->at == first || (*first == '0' && reader->at - first > 1) ||
	    (reader->at < reader->end && *reader->at && strchr(".eE", *reader->at)))
		fail_at(reader, "a whole number is expected");
	*number = value;
}

static void skip_string(struct reader *reader)
{
	char bytes[4];

	take(reader, '"');
	while (reader->at < reader->end && *reader->at != '"' && !reader->error)
		character(reader, bytes);
	if (!take(reader, '"'))
		fail_at(reader, "a string without its end");
}

/* Skips at least one digit. */
static void skip_digits(struct reader *reader)
{
	const char *first = reader->at;

	while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
		reader->at++;
	if (reader->at == first)
		fail_at(reader, "a number is expected");
}

static void skip_number(struct reader *reader)
{
	if (reader->at < reader->end && *reader->at == '-')
		reader->at++;
	if (reader->end - reader->at > 1 && reader->at[0] == '0' && reader->at[1] >= '0' &&
	    reader->at[1] <= '9')
		fail_at(reader, "a number that begins with 0");
	skip_digits(reader);
	if (reader->at < reader->end && *reader->at == '.') {
		reader->at++;
		skip_digits(reader);
	}
	if (reader->at < reader->end && (*reader->at | 0x20) == 'e') {
		reader->at++;
		if (reader->at < reader->end && (*reader->at == '+' || *reader->at == '-'))
			reader->at++;
		skip_digits(reader);
	}
}

static void skip_word(struct reader *reader)
{
	static const char * const words[] = { "true", "false", "null" };
	size_t i, length, left = (size_t)(reader->end - reader->at);

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		length = strlen(words[i]);
		if (left >= length && !memcmp(reader->at, words[i], length)) {
			reader->at += length;
			return;
		}
	}
	fail_at(reader, "a value is expected");
}

/* Depth is limited by reader_open(). */
static void skip_all(struct reader *reader, char bracket)
{
	reader_open(reader, bracket);
	while (more(reader, bracket == '{' ? '}' : ']')) {
		if (bracket == '{') {
			if (peek(reader) != '"')
				fail_at(reader, "a string is expected");
			skip_string(reader);
			if (!take(reader, ':'))
				fail_at(reader, "a colon is expected");
		}
		reader_skip(reader);
	}
}

void reader_skip(struct reader *reader)
{
	char c = peek(reader);

	if (reader->error)
		return;
	if (c == '{' || c == '[')
		skip_all(reader, c);
	else if (c == '"')
		skip_string(reader);
	else if (c == '-' || (c >= '0' && c <= '9'))
		skip_number(reader);
	else
		skip_word(reader);
}

bool reader_end(struct reader *reader)
{
	peek(reader);
	if (!reader->error && reader->at != reader->end)
		fail_at(reader, "more than one value");
	return !reader->error;
}

size_t reader_position(const struct reader *reader)
{
	return (size_t)(reader->at - reader->start);
}
