/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_SEQ_FILE_H
#define _SHIM_LINUX_SEQ_FILE_H

#include <stdio.h>

struct seq_file {
	FILE *file;
};

#define seq_printf(m, ...)	fprintf((m)->file, __VA_ARGS__)
#define seq_puts(m, s)		fputs(s, (m)->file)
#define seq_putc(m, c)		fputc(c, (m)->file)

#endif /* _SHIM_LINUX_SEQ_FILE_H */
