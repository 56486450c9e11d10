/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ENGINE_SHIM_LINUX_BVEC_H
#define _ENGINE_SHIM_LINUX_BVEC_H

struct page;

struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len;
	unsigned int bv_offset;
};

static inline void bvec_set_page(struct bio_vec *bv, struct page *page, unsigned int len,
				 unsigned int offset)
{
	*bv = (struct bio_vec) { page, len, offset };
}

#endif /* _ENGINE_SHIM_LINUX_BVEC_H */
