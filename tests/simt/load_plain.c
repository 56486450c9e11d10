// SPDX-License-Identifier: GPL-2.0
/*
 * Loads of work-items that wait for each other by loads and stores only: the program has no atomic
 * instruction and no fence.
 */
#include "load.h"

static volatile u64 *words(const struct load_args *args)
{
	return (u64 *)load_shared(args);
}

/* From the last work-item of a group to its first, as all lanes of a warp wait at first. */
LOAD(plain_chain)
{
	u32 id = load_csr(LOAD_ID), lid = load_csr(LOAD_LOCAL_ID), n = load_csr(LOAD_LOCAL_SIZE);
	volatile u64 *w = words(args);

	if (lid + 1 < n)
		while (!w[id + 1])
			load_relax();
	w[id] = lid + 1 < n ? w[id + 1] * 3 + 1 : 1;
}

/* One word that tells whose turn it is, round after round. */
LOAD(plain_turns)
{
	u32 lid = load_csr(LOAD_LOCAL_ID), n = load_csr(LOAD_LOCAL_SIZE), k;
	volatile u64 *w = words(args) + 8 * load_csr(LOAD_GROUP_ID);

	for (k = 0; k < 2; k++) {
		while (w[1] != k * n + n - 1 - lid)
			load_relax();
		w[2] += lid;
		w[1] = w[1] + 1;
	}
}

/* All wait in one loop, for the last one: in all warps but its own no lanes part before it ends. */
LOAD(plain_gate)
{
	u32 id = load_csr(LOAD_ID), lid = load_csr(LOAD_LOCAL_ID), n = load_csr(LOAD_LOCAL_SIZE);
	volatile u64 *w = words(args), *gate = w + 8192;
	volatile u64 *opens = lid + 1 == n ? &w[id] : gate;

	w[id] = lid + 1 == n;
	while (!*opens)
		load_relax();
	*gate = 1;
	w[0] = n;
}
