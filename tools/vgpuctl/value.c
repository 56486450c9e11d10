// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <string.h>

#include <linux/vgpu.h>

#include "value.h"

/**
 * struct decimal - a number as it was typed: digits, with or without a fraction
 * @whole:    the digits before the point
 * @fraction: the digits after the point, as a whole number
 * @scale:    10 to the power of the number of digits in @fraction
 */
struct decimal {
	uint64_t whole;
	uint64_t fraction;
	uint64_t scale;
};

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool append_digit(uint64_t *number, char c)
{
	return !__builtin_mul_overflow(*number, 10, number) &&
		!__builtin_add_overflow(*number, (uint64_t)(c - '0'), number);
}

/*
 * Reads the number that @text begins with. Returns the text behind the number, or NULL if there is
 * no number or if it does not fit.
 */
static const char *decimal_parse(const char *text, struct decimal *number)
{
	memset(number, 0, sizeof(*number));
	number->scale = 1;
	if (!digit(*text))
		return NULL;
	for (; digit(*text); text++)
		if (!append_digit(&number->whole, *text))
			return NULL;
	if (*text != '.')
		return text;
	if (!digit(*++text))
		return NULL;
	for (; digit(*text); text++)
		if (!append_digit(&number->fraction, *text) ||
		    __builtin_mul_overflow(number->scale, 10, &number->scale))
			return NULL;
	return text;
}

/* Multiplies @number by @unit. Returns false if the product is no whole number or does not fit. */
static bool decimal_times(const struct decimal *number, uint64_t unit,
			  uint64_t *product)
{
	uint64_t part;

	if (__builtin_mul_overflow(number->fraction, unit, &part) ||
	    part % number->scale ||
	    __builtin_mul_overflow(number->whole, unit, product))
		return false;
	return !__builtin_add_overflow(*product, part / number->scale, product);
}

bool value_is_number(const char *text, uint32_t min, uint32_t max, uint32_t *value)
{
	struct decimal number;
	const char *end;

	end = decimal_parse(text, &number);
	if (!end || *end || number.scale != 1 || number.whole < min ||
	    number.whole > max)
		return false;
	*value = (uint32_t)number.whole;
	return true;
}

enum exit_code value_number(const char *option, const char *text, uint32_t min,
			    uint32_t max, uint32_t *value)
{
	if (value_is_number(text, min, max, value))
		return EXIT_OK;
	return fail_usage("--%s %s: %u to %u is possible", option, text, min, max);
}

enum exit_code value_permille(const char *option, const char *text,
			      uint32_t min, uint32_t *permille)
{
	struct decimal number;
	uint64_t value = 0;
	const char *end;
	bool right;

	end = decimal_parse(text, &number);
	right = end && (!*end || !strcmp(end, "%")) &&
		decimal_times(&number, *end ? 10 : 1, &value);
	if (!right || value < min || value > 1000)
		return fail_usage("--%s %s: %u to 1000 (per mille of an engine), or %s%% to 100%%, is possible",
				  option, text, min, min ? "0.1" : "0");
	*permille = (uint32_t)value;
	return EXIT_OK;
}

enum exit_code value_time(const char *option, const char *text,
			  uint64_t unit_ns, uint64_t max, uint64_t *units)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} known[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 },
	};
	const size_t nr = sizeof(known) / sizeof(known[0]);
	struct decimal number;
	const char *end;
	uint64_t ns;
	size_t i;

	end = decimal_parse(text, &number);
	if (end && !*end)
		return fail_usage("--%s %s: of what? A time needs its unit: ns, us, ms or s",
				  option, text);
	for (i = 0; end && i < nr && strcmp(end, known[i].name); i++)
		;
	if (!end || i == nr)
		return fail_usage("--%s %s: not a time; 500us, 2ms or 1.5s would be (units: ns, us, ms, s)",
				  option, text);
	if (!decimal_times(&number, known[i].ns, &ns))
		return fail_usage("--%s %s: not a whole number of nanoseconds, or too long",
				  option, text);
	if (ns % unit_ns)
		return fail_usage("--%s %s: a whole number of %s is needed",
				  option, text,
				  unit_ns == 1000 ? "microseconds" : "milliseconds");
	if (ns / unit_ns > max)
		return fail_usage("--%s %s: too long", option, text);
	*units = ns / unit_ns;
	return EXIT_OK;
}

enum exit_code value_frequency(const char *option, const char *text,
			       uint32_t *hz)
{
	struct decimal number;
	const char *end;

	end = decimal_parse(text, &number);
	if (!end || (*end && strcmp(end, "Hz")) || number.scale != 1 ||
	    !number.whole || number.whole > UINT32_MAX)
		return fail_usage("--%s %s: not a whole number of Hz", option,
				  text);
	*hz = (uint32_t)number.whole;
	return EXIT_OK;
}

enum exit_code value_frl(const char *option, const char *text, uint32_t *fps)
{
	struct decimal number;
	const char *end;

	if (!strcmp(text, "default")) {
		*fps = VGPU_FRL_DEFAULT;
		return EXIT_OK;
	}
	if (!strcmp(text, "off")) {
		*fps = 0;
		return EXIT_OK;
	}
	end = decimal_parse(text, &number);
	if (!end || *end || number.scale != 1 || number.whole > VGPU_FRL_MAX)
		return fail_usage("--%s %s: 1 to %u (frames per second), off or default is possible",
				  option, text, VGPU_FRL_MAX);
	*fps = (uint32_t)number.whole;
	return EXIT_OK;
}

bool value_is_switch(const char *text, uint32_t *on)
{
	*on = !strcmp(text, "on") || !strcmp(text, "1");
	return *on || !strcmp(text, "off") || !strcmp(text, "0");
}

enum exit_code value_switch(const char *option, const char *text, uint32_t *on)
{
	if (value_is_switch(text, on))
		return EXIT_OK;
	return fail_usage("--%s %s: on or off is possible", option, text);
}
