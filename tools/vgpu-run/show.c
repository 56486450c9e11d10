// SPDX-License-Identifier: GPL-2.0
/* What is printed: kernels and results. */
#include <stdio.h>

#include "json.h"
#include "run.h"

static void json_kernel(struct json *json, const struct vgpu_kernel *kernel)
{
	unsigned int i;

	json_begin(json, NULL);
	json_text(json, "name", kernel->name);
	json_u64(json, "private_bytes", kernel->private_bytes);
	json_begin_array(json, "args");
	for (i = 0; i < kernel->nr_args; i++) {
		json_begin(json, NULL);
		json_text(json, "name", kernel->arg[i].name);
		json_text(json, "type", vgpu_arg_type_name(kernel->arg[i].type));
		json_u64(json, "offset", kernel->arg[i].offset);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

static void json_kernels(const struct options *options, const struct vgpu_elf *elf)
{
	struct json json;
	unsigned int i;

	json_init(&json, stdout, false);
	json_begin(&json, NULL);
	json_text(&json, "program", options->program);
	json_u64(&json, "image_bytes", elf->image_bytes);
	json_u64(&json, "text_bytes", elf->text_bytes);
	json_u64(&json, "local_bytes", elf->local_bytes);
	json_begin_array(&json, "kernels");
	for (i = 0; i < elf->nr_kernels; i++)
		json_kernel(&json, &elf->kernel[i]);
	json_end(&json);
	json_end(&json);
}

enum exit_code show_kernels(const struct options *options, const struct vgpu_elf *elf)
{
	const struct vgpu_kernel *kernel;
	unsigned int i, k;

	if (options->json) {
		json_kernels(options, elf);
		return EXIT_OK;
	}
	for (i = 0; i < elf->nr_kernels; i++) {
		kernel = &elf->kernel[i];
		printf("%s(", kernel->name);
		for (k = 0; k < kernel->nr_args; k++)
			printf("%s%s %s", k ? ", " : "", vgpu_arg_type_name(kernel->arg[k].type),
			       kernel->arg[k].name);
		puts(")");
	}
	return EXIT_OK;
}

static void json_shape(struct json *json, const char *key, const uint32_t *shape)
{
	unsigned int i;

	json_begin_array(json, key);
	for (i = 0; i < 3; i++)
		json_u64(json, NULL, shape[i]);
	json_end(json);
}

static void json_run(const struct run *run)
{
	struct json json;
	unsigned int i;

	json_init(&json, stdout, false);
	json_begin(&json, NULL);
	json_text(&json, "program", run->options->program);
	json_text(&json, "kernel", run->kernel->name);
	json_text(&json, "device", run->device);
	json_shape(&json, "grid", run->launch.grid);
	json_shape(&json, "group", run->launch.group);
	json_u64(&json, "time_ns", run->ns);
	json_u64(&json, "log_lost", run->lost);
	json_begin_array(&json, "buffers");
	for (i = 0; i < run->kernel->nr_args; i++) {
		if (run->kernel->arg[i].type != VGPU_ARG_BUF)
			continue;
		json_begin(&json, NULL);
		json_text(&json, "name", run->kernel->arg[i].name);
		json_u64(&json, "bytes", run->value[i].bytes);
		if (run->value[i].out)
			json_text(&json, "file", run->value[i].out);
		else
			json_null(&json, "file");
		json_end(&json);
	}
	json_end(&json);
	json_end(&json);
}

void show_run(const struct run *run)
{
	if (run->options->json)
		json_run(run);
	else if (run->options->time)
		printf("%s: %.3f ms\n", run->kernel->name, (double)run->ns / 1e6);
}
