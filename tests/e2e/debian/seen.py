#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""seen.py PROGRAM...: what a client of NVML sees where it runs, such as a container, while PROGRAM
works there: a line "NAME: VALUE" for each thing."""
import os
import subprocess
import sys

import pynvml


def main(program):
    pynvml.nvmlInit()
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
    print(f'nodes: {" ".join(sorted(os.listdir("/dev/dri")))}')
    print(f'driver: {pynvml.nvmlSystemGetDriverVersion()}')
    print(f'name: {pynvml.nvmlDeviceGetName(gpu)}')
    print(f'uuid: {pynvml.nvmlDeviceGetUUID(gpu)}')
    used, seen = 0, False
    with subprocess.Popen(program, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            used = max(used, pynvml.nvmlDeviceGetUtilizationRates(gpu).gpu)
            seen |= process.pid in [p.pid for p in
                                    pynvml.nvmlDeviceGetGraphicsRunningProcesses(gpu)]
    print(f'load: {used > 0}')
    print(f'process: {seen}')
    return process.returncode


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
