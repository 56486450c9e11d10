#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""beside.py ROUND UUID=LOG...: what tools in guests show, beside what the host has measured.

Runs on the host while the guests do "measure" for the ROUNDth time (usage.sh). Each guest says when
a look began, by the device's clock, and vgpuctl is asked all the time, so both sides are compared
over the same interval: they have to be within 2 points. The device's clock is the host's but for a
constant, which the line tells that came soonest. gputop divides what it has counted by the period
that was asked for, however long that was, so the host's time is divided by the same.
"""
import json
import subprocess
import sys
import threading
import time

POINTS = 2
OLD_NS = 1_500_000_000  # nvtop shows a load of a second, for a second
LIMIT = 1200        # seconds
EVERY = 0.1         # seconds between looks at vgpuctl


class Failed(Exception):
    """What a tool shows, and what it should."""


class Guest(threading.Thread):
    """A guest: what it has said since the round began."""

    def __init__(self, uuid, path, nr):
        super().__init__(daemon=True)
        self.uuid, self.path = uuid, path
        self.skip, self.said, self.offset = nr - 1, [], None
        self.start()

    def run(self):
        rest = ''
        with open(self.path, encoding='utf-8', errors='replace') as file:
            while not self.is_over():
                *lines, rest = (rest + file.read()).split('\n')
                self.take(lines)
                time.sleep(0.02)

    def take(self, lines):
        now = time.monotonic_ns()
        for line in lines:
            _, found, text = line.rstrip('\r').partition('guest: usage ')
            if found and self.skip:
                self.skip -= text.startswith('nvml ') and text[5].isdigit()
            elif found:
                text, _, stamp = text.partition(' at ')
                if stamp:
                    late = now - int(stamp)
                    self.offset = late if self.offset is None else min(late, self.offset)
                self.said.append((text, int(stamp or 0)))

    def when(self, text):
        """By the host's clock."""
        return next(when for said, when in self.said if said == text) + self.offset

    def values(self, name):
        return [said.split()[1:] for said, when in self.said
                if said.startswith(f'{name} ') and not when]

    def is_over(self):
        return bool(self.values('nvml'))


class Host:
    """By vGPU and pid, pairs of time and of the work on gr till then, in ns."""

    def __init__(self):
        self.points = {}

    def look(self):
        out = subprocess.run(['vgpuctl', 'process', '--json'], capture_output=True, check=True)
        for vgpu in json.loads(out.stdout):
            guest, total = vgpu['guest'], 0
            for process in guest['processes']:
                busy = sum(engine['busy_ns'] for engine in process['engines']
                           if engine['name'].startswith('gr'))
                total += busy
                if process['pid']:
                    self.points.setdefault((vgpu['uuid'], process['pid']), []).append(
                        (guest['now_ns'], busy))
            self.points.setdefault((vgpu['uuid'], None), []).append((guest['now_ns'], total))

    def busy(self, uuid, pid, when):
        """Until then, on the line between the points beside."""
        points = self.points[uuid, pid]
        after = next((i for i, point in enumerate(points) if point[0] >= when), len(points) - 1)
        (t0, b0), (t1, b1) = points[max(after - 1, 0)], points[after]
        return b1 if t1 == t0 else b0 + (b1 - b0) * (when - t0) / (t1 - t0)

    def between(self, uuid, pid, begin, end):
        return self.busy(uuid, pid, end) - self.busy(uuid, pid, begin)


def near(what, shown, measured):
    print(f'{what}: {shown:.1f} %, the host {measured:.1f} %')
    if abs(shown - measured) > POINTS or measured < 1:
        raise Failed(f'{what}: {shown:.1f} % beside {measured:.1f} %')


def compare(host, guest):
    # "looks 3 of 10 s"
    scans, _, period, _ = guest.values('looks')[0]
    scans, period_ns = int(scans), int(period) * 10 ** 9
    begin, end = guest.when('scan 1'), guest.when(f'scan {scans}')
    print(f'{guest.uuid}: {scans} looks of gputop in {(end - begin) / 1e9:.1f} s')
    loads = guest.values('gputop')
    if len(loads) != 2:
        raise Failed(f'gputop shows {len(loads)} processes')
    for pid, shown in loads:
        near(f'process {pid}, gputop', float(shown),
             100 * host.between(guest.uuid, int(pid), begin, end) / (scans - 1) / period_ns)
    begin, end = (guest.when(f'nvtop {what}') - OLD_NS for what in ('begin', 'end'))
    loads = guest.values('nvtop')
    if sorted(pid == 'gpu' for pid, _ in loads) != [False, False, True]:
        raise Failed(f'nvtop shows {loads}')
    for pid, shown in loads:
        near(f'{pid}, nvtop', float(shown),
             100 * host.between(guest.uuid, None if pid == 'gpu' else int(pid), begin, end) /
             (end - begin))
    begin, end = guest.when('nvml begin'), guest.when('nvml end')
    near('NVML', float(guest.values('nvml')[0][0]),
         100 * host.between(guest.uuid, None, begin, end) / (end - begin))


def main(nr, *pairs):
    host = Host()
    guests = [Guest(*pair.split('=', 1), int(nr)) for pair in pairs]
    end = time.monotonic() + LIMIT
    while not all(guest.is_over() for guest in guests):
        if time.monotonic() > end:
            print('the guests have not measured in time')
            return 1
        host.look()
        time.sleep(EVERY)
    host.look()
    try:
        for guest in guests:
            compare(host, guest)
    except Failed as failed:
        print(f'WRONG: {failed}')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
