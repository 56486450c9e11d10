/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A reader of JSON (RFC 8259) that its user drives: the user says which value it expects, and the
 * first value that is another one, or text that is no JSON, is an error that stays. So a user can
 * read on without checks and ask once, at the end.
 */
#ifndef VGPU_MDEVCTL_READER_H
#define VGPU_MDEVCTL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct reader - a document that is being read
 * @start: its first byte
 * @at:    the next byte
 * @end:   behind its last byte
 * @depth: number of objects and arrays that are open
 * @first: nothing has been read of the innermost of these yet
 * @error: what is wrong with it, or NULL; after an error all functions do nothing
 */
struct reader {
	const char *start;
	const char *at;
	const char *end;
	unsigned int depth;
	bool first;
	const char *error;
};

void reader_init(struct reader *reader, const char *text, size_t bytes);

/* Begins an object or an array, as @bracket says: '{' or '['. */
void reader_open(struct reader *reader, char bracket);

/* Goes to the next element of an array. At its end, or after an error, returns false. */
bool reader_element(struct reader *reader);

/* The same for an object; reads the member's name. The names of @room bytes or more are errors. */
bool reader_member(struct reader *reader, char *name, size_t room);

/* Reads a string as UTF-8 with a 0 at its end, or fails. No string can have a 0 in it. */
void reader_string(struct reader *reader, char *text, size_t room);

/* Reads a whole number that is not negative. */
void reader_number(struct reader *reader, uint64_t *number);

/* Reads a value of any kind, and forgets it. */
void reader_skip(struct reader *reader);

/* The document ends here. Returns whether all of it was as it was expected. */
bool reader_end(struct reader *reader);

/* Where the first error is, in bytes from the start. */
size_t reader_position(const struct reader *reader);

#endif /* VGPU_MDEVCTL_READER_H */
