#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""seen.py PROGRAM...: what a client of NVML sees where it runs, such as a container, while PROGRAM
works there: a line "NAME: VALUE" for each thing."""
import os
import subprocess
import sys

import pynvml


TRIES = 20          # the program is soon over, and may be so between two looks


def works(gpu, program):
    """Runs it once: whether a load was seen, and the process."""
    used, seen = 0, False
    with subprocess.Popen(program, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            used = max(used, pynvml.nvmlDeviceGetUtilizationRates(gpu).gpu)
            seen |= process.pid in [p.pid for p in
                                    pynvml.nvmlDeviceGetGraphicsRunningProcesses(gpu)]
    if process.returncode:
        sys.exit(process.returncode)
    return used > 0, seen


def main(program):
    pynvml.nvmlInit()
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
    print(f'nodes: {" ".join(sorted(os.listdir("/dev/dri")))}')
    print(f'driver: {pynvml.nvmlSystemGetDriverVersion()}')
    print(f'name: {pynvml.nvmlDeviceGetName(gpu)}')
    print(f'uuid: {pynvml.nvmlDeviceGetUUID(gpu)}')
    load = process = False
    for _ in range(TRIES):
        if not (load and process):
            used, seen = works(gpu, program)
            load, process = load or used, process or seen
    print(f'load: {load}')
    print(f'process: {process}')


if __name__ == '__main__':
    main(sys.argv[1:])
