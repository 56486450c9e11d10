# SPDX-License-Identifier: GPL-2.0
# what: locks: the sampler takes the GPU's mutex within its spinlock
# file: sample.c
# lane: debug
# tests: sample
/^static void sample_work/,/^}/{
	s/mutex_lock(&gpu->lock);/spin_lock(\&sampler->lock);/
	t
	s/spin_lock(&sampler->lock);/mutex_lock(\&gpu->lock);/
}
