// SPDX-License-Identifier: GPL-2.0
/* A unit's sections of programs: what is kept from one to the next. */
#include <linux/slab.h>

#include "section.h"

/* The sections of a unit that executes programs; NULL: no memory. Sleeps. */
struct soft_section *soft_section_alloc(void)
{
	return kvzalloc(sizeof(struct soft_section), GFP_KERNEL);
}

/* No section begins any more. @section: or NULL. Sleeps. */
void soft_section_free(struct soft_section *section)
{
	kvfree(section);
}

/* Makes the file "section_hist" of a unit. @section: or NULL. */
void soft_section_debugfs(struct soft_section *section, struct dentry *dir)
{
	if (!section)
		return;
	section->array.array = section->hist;
	section->array.n_elements = SOFT_HIST;
	debugfs_create_u32_array("section_hist", 0400, dir, &section->array);
}
