# SPDX-License-Identifier: GPL-2.0
# what: locks: the sampler takes the GPU's mutex within its spinlock
# file: sample.c
# lane: debug
# tests: sample
/^static void sample_work/,/^}/{
	s/raw_spin_lock(&sampler->lock);/&\n\tmutex_lock(\&gpu->lock);/
	s/raw_spin_unlock(&sampler->lock);/mutex_unlock(\&gpu->lock);\n\t&/
}
