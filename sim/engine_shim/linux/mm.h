/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ENGINE_SHIM_LINUX_MM_H
#define _ENGINE_SHIM_LINUX_MM_H

#include <asm/byteorder.h>
#include <linux/kernel.h>
#include <linux/math64.h>

#define offset_in_page(at)	((unsigned int)((unsigned long)(at) & ~PAGE_MASK))
#define ZERO_PAGE(at)		(&engine_zero_page)

/* Nobody counts who has a page: all are there until the test ends. */
struct page {
	u8 bytes[PAGE_SIZE] __aligned(8);
};

extern struct page engine_zero_page;

static inline void *page_address(struct page *page)
{
	return page->bytes;
}

static inline void get_page(struct page *page)
{
}

static inline void put_page(struct page *page)
{
}

void *memset32(u32 *at, u32 value, size_t words);

#endif /* _ENGINE_SHIM_LINUX_MM_H */
