// SPDX-License-Identifier: GPL-2.0
/* Arguments: what the user gives becomes what the kernel has declared. */
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "run.h"

#define LOCAL_ALIGN	16

static enum exit_code fail_arg(const struct vgpu_arg *arg, const char *text, const char *want)
{
	return fail_usage("--arg %s: %s is %s: %s is needed", text, arg->name,
			  vgpu_arg_type_name(arg->type), want);
}

static enum exit_code parse_unsigned(const struct vgpu_arg *arg, const char *text,
				     const char *number, struct run_value *value)
{
	uint64_t max = arg->type == VGPU_ARG_U32 ? UINT32_MAX : UINT64_MAX;
	char *end;

	errno = 0;
	value->value = strtoull(number, &end, 0);
	if (!isdigit((unsigned char)*number) || *end || errno || value->value > max)
		return fail_arg(arg, text, max == UINT32_MAX ? "a number from 0 to 4294967295" :
				"a number from 0 to 18446744073709551615");
	return EXIT_OK;
}

static enum exit_code parse_signed(const struct vgpu_arg *arg, const char *text,
				   const char *number, struct run_value *value)
{
	long long parsed;
	char *end;

	errno = 0;
	parsed = strtoll(number, &end, 0);
	if (!isdigit((unsigned char)number[*number == '-']) || *end || errno ||
	    (arg->type == VGPU_ARG_I32 && parsed != (int32_t)parsed))
		return fail_arg(arg, text, arg->type == VGPU_ARG_I32 ?
				"a number from -2147483648 to 2147483647" :
				"a number from -9223372036854775808 to 9223372036854775807");
	value->value = (uint64_t)parsed;
	return EXIT_OK;
}

static enum exit_code parse_float(const struct vgpu_arg *arg, const char *text,
				  const char *number, struct run_value *value)
{
	double wide;
	float narrow;
	char *end;

	errno = 0;
	narrow = strtof(number, &end);
	wide = strtod(number, &end);
	if (end == number || *end || isspace((unsigned char)*number))
		return fail_arg(arg, text, "a number");
	if (errno == ERANGE && isinf(arg->type == VGPU_ARG_F32 ? narrow : wide))
		return fail_arg(arg, text, "a number of that size, or inf,");
	if (arg->type == VGPU_ARG_F32)
		memcpy(&value->value, &narrow, sizeof(narrow));
	else
		memcpy(&value->value, &wide, sizeof(wide));
	return EXIT_OK;
}

/* "SIZE[=FILE][>FILE]"; the size may be left out before a file. */
static enum exit_code parse_buffer(const struct vgpu_arg *arg, const char *text,
				   const char *form, struct run_value *value)
{
	char *words, *in, *out;
	struct stat st;

	words = strdup(form);
	need_memory(words);
	out = strchr(words, '>');
	if (out)
		*out++ = 0;
	in = strchr(words, '=');
	if (in)
		*in++ = 0;
	if (in) {
		value->in = strdup(in);
		need_memory(value->in);
	}
	if (out && value->out) {
		free(words);
		return fail_usage("--out %s: --arg %s names a file for that buffer already",
				  value->out, text);
	}
	if (out) {
		value->out = strdup(out);
		need_memory(value->out);
		value->named = "arg";
		value->by = text;
	}
	if ((*words ? !parse_bytes(words, &value->bytes) : !in) || (in && !*in) || (out && !*out)) {
		free(words);
		return fail_arg(arg, text, "SIZE[=FILE][>FILE], with a SIZE as 100, 64K, 2M or 1G,");
	}
	if (!*words && stat(in, &st)) {
		fail("%s: %s", in, strerror(errno));
		free(words);
		return EXIT_FAILED;
	}
	if (!*words)
		value->bytes = (uint64_t)st.st_size;
	free(words);
	return value->bytes ? EXIT_OK : fail_arg(arg, text, "a buffer of at least a byte");
}

static enum exit_code parse_local(struct run *run, const struct vgpu_arg *arg, const char *text,
				  const char *size, struct run_value *value)
{
	uint64_t at = (run->launch.local_bytes + LOCAL_ALIGN - 1) & ~(uint64_t)(LOCAL_ALIGN - 1);

	if (!parse_bytes(size, &value->bytes) || !value->bytes ||
	    value->bytes > VGPU_HW_LOCAL_MAX - at)
		return fail_arg(arg, text, "a size, all in all up to 64K,");
	value->value = at;
	run->launch.local_bytes = (uint32_t)(at + value->bytes);
	return EXIT_OK;
}

/* What is behind "TYPE:". Sets @right to false if that is not the type of @arg. */
static const char *skip_type(const struct vgpu_arg *arg, const char *text, bool *right)
{
	const char *name = vgpu_arg_type_name(arg->type);
	size_t n = strcspn(text, ":");
	int type;

	*right = true;
	if (!text[n])
		return text;
	if (strlen(name) == n && !strncmp(text, name, n))
		return text + n + 1;
	for (type = 0; type <= VGPU_ARG_LOG; type++) {
		name = vgpu_arg_type_name((enum vgpu_arg_type)type);
		if (strlen(name) == n && !strncmp(text, name, n))
			*right = false;
	}
	return text;
}

static enum exit_code parse_value(struct run *run, const struct vgpu_arg *arg,
				  const struct run_arg *given, struct run_value *value)
{
	const char *text;
	bool right;

	text = skip_type(arg, given->text, &right);
	if (!right)
		return fail_arg(arg, given->text, "a value of that type");
	if (given->out && arg->type != VGPU_ARG_BUF)
		return fail_usage("--out %s: %s is %s, not a buffer", given->out, arg->name,
				  vgpu_arg_type_name(arg->type));
	if (given->out) {
		value->out = strdup(given->out);
		need_memory(value->out);
		value->named = "out";
		value->by = given->out;
	}
	switch (arg->type) {
	case VGPU_ARG_U32:
	case VGPU_ARG_U64:
		return parse_unsigned(arg, given->text, text, value);
	case VGPU_ARG_I32:
	case VGPU_ARG_I64:
		return parse_signed(arg, given->text, text, value);
	case VGPU_ARG_F32:
	case VGPU_ARG_F64:
		return parse_float(arg, given->text, text, value);
	case VGPU_ARG_BUF:
		return parse_buffer(arg, given->text, text, value);
	case VGPU_ARG_LOCAL:
		return parse_local(run, arg, given->text, text, value);
	case VGPU_ARG_LOG:
		break; /* has no value */
	}
	return EXIT_OK;
}

static enum exit_code fail_number(const struct run *run, unsigned int wanted)
{
	return fail_usage("kernel %s has %u arguments, --arg is given %u times (--list shows them)",
			  run->kernel->name, wanted, run->options->nr_args);
}

enum exit_code args_parse(struct run *run)
{
	const struct options *options = run->options;
	unsigned int i, wanted = 0, next = 0;
	enum exit_code code = EXIT_OK;

	run->launch.local_bytes = options->local_bytes;
	for (i = 0; i < run->kernel->nr_args; i++)
		wanted += run->kernel->arg[i].type != VGPU_ARG_LOG;
	if (wanted != options->nr_args)
		return fail_number(run, wanted);
	for (i = 0; i < run->kernel->nr_args && !code; i++)
		if (run->kernel->arg[i].type != VGPU_ARG_LOG)
			code = parse_value(run, &run->kernel->arg[i], &options->arg[next++],
					   &run->value[i]);
	return code;
}

void args_free(struct run *run)
{
	unsigned int i;

	for (i = 0; i < VGPU_KERNEL_ARGS; i++) {
		if (run->value[i].file)
			fclose(run->value[i].file);
		free(run->value[i].in);
		free(run->value[i].out);
	}
}

/* Writes the argument block, of run->kernel->args_bytes. */
void args_block(const struct run *run, uint8_t *block)
{
	const struct vgpu_arg *arg;
	unsigned int i;
	uint64_t value;

	for (i = 0; i < run->kernel->nr_args; i++) {
		arg = &run->kernel->arg[i];
		value = run->value[i].value;
		if (arg->type == VGPU_ARG_BUF || arg->type == VGPU_ARG_LOG)
			value = vgpu_global_address(value);
		else if (arg->type == VGPU_ARG_LOCAL)
			value = vgpu_local_address(run->elf, (uint32_t)value);
		value = htole64(value);
		memcpy(block + arg->offset, &value, vgpu_arg_type_bytes(arg->type));
	}
}
