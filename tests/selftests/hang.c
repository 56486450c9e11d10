// SPDX-License-Identifier: GPL-2.0
#include <errno.h>

#include "hang.h"
#include "soft.h"

void hang_inject(uint32_t engine)
{
	struct vgpu_ctl_gpu gpu;
	int ret;

	fx_ctl_gpu(&gpu);
	ret = soft_hang(fx_gpu(), (char *)gpu.engine[engine].name, VGPU_HW_PKT_NOP);
	if (ret == -ENOENT)
		ktap_skip("debugfs has no file to make an engine hang");
	CHECK_EQ(ret, 0);
}

void hang_once(struct vgpu_chan *chan)
{
	struct vgpu_fault fault;
	uint64_t at = chan->put;

	hang_inject(chan->engine);
	FX_OK(chan->dev, vgpu_chan_nop(chan));
	FX_OK(chan->dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_RESET);
	CHECK_EQ(fault.pos, at);
}
