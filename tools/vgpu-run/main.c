// SPDX-License-Identifier: GPL-2.0
/* vgpu-run: runs a kernel of a program on a vGPU. */
#include <stdio.h>
#include <string.h>

#include "run.h"

static enum exit_code run_program(const struct options *options, const struct vgpu_elf *elf)
{
	struct run run = { .options = options, .elf = elf, .log = ~0ull };
	enum exit_code code;

	if (options->list)
		return show_kernels(options, elf);
	run.kernel = vgpu_elf_kernel(elf, options->kernel);
	if (!run.kernel)
		return fail("%s has no kernel %s (--list shows those it has)", options->program,
			    options->kernel);
	code = args_parse(&run);
	if (!code)
		code = run_kernel(&run);
	if (!code)
		show_run(&run);
	args_free(&run);
	return code;
}

int main(int argc, char **argv)
{
	struct options options;
	struct vgpu_elf elf;
	enum exit_code code;
	bool help = false;

	message_prefix = "vgpu-run: ";
	if (argc > 1 && !strcmp(argv[1], "--complete")) {
		complete_print(argc - 2, argv + 2);
		return EXIT_OK;
	}
	code = options_parse(&options, argc, argv, &help);
	if (code || help)
		return code;
	if (vgpu_elf_read(&elf, options.program))
		return fail("%s: %s", options.program, elf.error);
	code = run_program(&options, &elf);
	vgpu_elf_free(&elf);
	/* Without a flush, which waits for ever if nobody reads. */
	signals_die();
	if (fflush(stdout) || ferror(stdout))
		return fail("standard output: cannot write");
	return code;
}
