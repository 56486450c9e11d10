#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""measure.py: what gputop, nvtop and NVML show in a Debian guest, for the host to compare.

Says when each look begins ("guest: usage scan 1 at NS"), by the clock by which the host measures
engines, and which the driver tells. nvtop is at work already, in a terminal of tmux. gputop takes
its period to be as long as it has asked for; that it was longer in a slow guest is for the host to
take into account.
"""
import ctypes
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import threading
import time

import pynvml

PERIOD = 10
SCANS = 3
NAME = 'paint'
NODE = '/dev/dri/renderD128'
USAGE_QUERY = 3 << 30 | 16 << 16 | ord('d') << 8 | 0x4a     # DRM_IOCTL_VGPU_USAGE_QUERY
SCREEN = ['tmux', '-L', 'usage', 'capture-pane', '-p']
LIMIT = 800         # seconds


def say(text):
    print(f'guest: usage {text}', flush=True)


class Clock:
    """The device's time, in ns: it differs from the host's clock by a constant."""

    def __init__(self):
        self.node = os.open(NODE, os.O_RDWR | os.O_CLOEXEC)
        self.time_ns = ctypes.c_uint64()
        self.query = struct.pack('IIQ', 8, 0, ctypes.addressof(self.time_ns))

    def say(self, text):
        fcntl.ioctl(self.node, USAGE_QUERY, bytearray(self.query))
        say(f'{text} at {self.time_ns.value}')


class Nvml(threading.Thread):
    """The load of the whole vGPU, as the mean of the loads since the call before."""

    def __init__(self, clock):
        super().__init__(daemon=True)
        self.clock = clock
        pynvml.nvmlInit()
        self.device = pynvml.nvmlDeviceGetHandleByIndex(0)
        self.over = threading.Event()
        self.mean = None
        self.look()
        time.sleep(1.2)

    def look(self):
        return pynvml.nvmlDeviceGetUtilizationRates(self.device).gpu, time.monotonic()

    def run(self):
        total, (_, start) = 0, self.look()
        self.clock.say('nvml begin')
        last = start
        while not self.over.is_set():
            time.sleep(1.1)
            percent, now = self.look()
            total += percent * (now - last)
            last = now
            self.clock.say('nvml look')
        self.clock.say('nvml end')
        self.mean = total / (last - start)


class Nvtop(threading.Thread):
    """What nvtop shows, as the mean over time: of the whole vGPU (None), and by process."""

    def __init__(self, clock):
        super().__init__(daemon=True)
        self.clock = clock
        self.over = threading.Event()
        self.loads = {}

    @staticmethod
    def look():
        screen = subprocess.run(SCREEN, check=True, capture_output=True, text=True).stdout
        gpu = re.search(r'GPU\[\|* *(\d+)%', screen)
        if gpu:
            yield None, int(gpu[1])
        for row in re.finditer(rf'^ *(\d+) .*Graphic +(\d+)% .*\b{NAME}\b', screen, re.MULTILINE):
            yield int(row[1]), int(row[2])

    def run(self):
        # What it shows then is no older than the look that began this.
        time.sleep(3)
        self.clock.say('nvtop begin')
        last = time.monotonic()
        while not self.over.is_set():
            time.sleep(0.5)
            shown, now = list(self.look()), time.monotonic()
            for pid, percent in shown:
                total, seconds = self.loads.get(pid, (0, 0))
                self.loads[pid] = total + percent * (now - last), seconds + now - last
            last = now
        self.clock.say('nvtop end')

    def say(self):
        for pid, (total, seconds) in self.loads.items():
            say(f'nvtop {pid or "gpu"} {total / seconds:.2f}')


def screens(command, clock):
    """What a program draws, screen by screen; says when each one begins to come."""
    pid, master = pty.fork()
    if not pid:
        subprocess.run(['stty', 'cols', '160', 'rows', '40'], check=True)
        os.execvp(command[0], command)
    drawn, nr, end = b'', 0, time.monotonic() + LIMIT
    while time.monotonic() < end:
        if select.select([master], [], [], 0.5)[0]:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not drawn:
                nr += 1
                clock.say(f'scan {nr}')
            drawn += part
        elif drawn:
            yield drawn.decode(errors='replace')
            drawn = b''
    if drawn:
        yield drawn.decode(errors='replace')
    os.waitpid(pid, 0)


def loads_of(screen):
    """Pairs of pid and per cent: the first engine is gr."""
    for line in re.sub(r'\x1b\[[0-9;?]*[A-Za-z]', '', screen).splitlines():
        percent = re.search(r'([0-9.]+)%', line)
        if percent and re.search(rf'\b{NAME}\b', line):
            yield int(line.split()[0]), float(percent[1])


def main(last):
    clock = Clock()
    nvml, nvtop, loads, nr = Nvml(clock), Nvtop(clock), {}, 0
    for screen in screens(['gputop', '-d', str(PERIOD), '-n', str(SCANS)], clock):
        nr += 1
        if nr == 1:
            nvml.start()
            nvtop.start()
        else:
            for pid, percent in loads_of(screen):
                loads.setdefault(pid, []).append(percent)
        with open(last, 'w', encoding='utf-8') as file:
            file.write(re.sub(r'\x1b\[[HJ]', '', screen).replace('\r', ''))
        if nr == SCANS:
            break
    for thread in (nvml, nvtop):
        thread.over.set()
        thread.join()
    say(f'looks {nr} of {PERIOD} s')
    for pid, percents in loads.items():
        say(f'gputop {pid} {sum(percents) / len(percents):.2f}')
    nvtop.say()
    say(f'nvml {nvml.mean:.2f}')
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
