#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""label.py PID NAME VERSION: looks by pynvml, on the host, for that process of the only vGPU's
guest, whose driver has that version."""
import sys
import time

import pynvml

TRIES = 1000        # what a process has got is seen at a look at its channels


def seen(gpu, vgpu, pid, name):
    """Whether a sample, and the accounting, have the process."""
    try:
        samples = pynvml.nvmlDeviceGetVgpuProcessUtilization(gpu, 0)
    except pynvml.NVMLError as error:
        if error.value != pynvml.NVML_ERROR_NOT_FOUND:
            raise
        samples = []
    count, pids = pynvml.nvmlVgpuInstanceGetAccountingPids(vgpu)
    found = {(s.vgpuInstance, s.pid, s.processName) for s in samples}, list(pids)[:count.value]
    return found == ({(vgpu, pid, name)}, [pid]), found


def main():
    pid, name, version = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    pynvml.nvmlInit()
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
    vgpu, = pynvml.nvmlDeviceGetActiveVgpus(gpu)
    told = pynvml.nvmlVgpuInstanceGetVmDriverVersion(vgpu)
    assert told == version, told
    right = False
    for _ in range(TRIES):
        right, found = seen(gpu, vgpu, pid, name)
        if right:
            break
        time.sleep(0.1)
    print(f'version {told}, processes in samples {found[0]}, in accounting {found[1]}')
    assert right, found


main()
