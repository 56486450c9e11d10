/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _DMA_SHIM_LINUX_BVEC_H
#define _DMA_SHIM_LINUX_BVEC_H

struct page;

struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len;
	unsigned int bv_offset;
};

#endif /* _DMA_SHIM_LINUX_BVEC_H */
