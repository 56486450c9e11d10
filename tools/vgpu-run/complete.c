// SPDX-License-Identifier: GPL-2.0
/* Words for the completion of shells. */
#include <stdio.h>
#include <string.h>

#include "devices.h"
#include "run.h"

/* The kernels of the first word that is a program. */
static void print_kernels(int argc, char **argv)
{
	struct vgpu_elf elf;
	unsigned int k;
	int i;

	for (i = 0; i < argc; i++) {
		if (vgpu_elf_read(&elf, argv[i]))
			continue;
		for (k = 0; k < elf.nr_kernels; k++)
			puts(elf.kernel[k].name);
		vgpu_elf_free(&elf);
		return;
	}
}

void complete_print(int argc, char **argv)
{
	const char *before = argc > 1 ? argv[argc - 2] : "";

	if (!strcmp(before, "-k") || !strcmp(before, "--kernel")) {
		print_kernels(argc - 2, argv);
	} else if (!strcmp(before, "-d") || !strcmp(before, "--device")) {
		complete_devices();
	} else if (argc && argv[argc - 1][0] == '-') {
		puts("--kernel\n--grid\n--group\n--local\n--arg\n--out\n--device\n--timeout\n--time\n"
		     "--json\n--list\n--help");
	}
}
