#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""clients.py UUID:CAP:PID...: unmodified clients of NVML beside vgpuctl, inside a lab machine.

The vGPUs named always have work from the process PID, and are held to CAP per mille. What a client
shows of loads and of memory is to be within 2 points (per cent) of what vgpuctl says of the same
time. TAP, with a last line "N passed, N failed".
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

# The checkout stays as it is.
sys.dont_write_bytecode = True

import calls        # noqa: E402

CTL = 'build/tools/vgpuctl/vgpuctl'
OUT = 'build/clients'
POINTS = 2
MIB = 1 << 20
RATE = 1.0          # seconds that a GPU's rate is of
AGE = 2.5           # seconds of what a client shows that looks every second, at most
PATIENCE = 240      # seconds for a client to show what it should, on a busy machine


class Failed(Exception):
    """What a client shows, and what it should."""


def expect(condition, message):
    if not condition:
        raise Failed(message)


def ctl(*args):
    out = subprocess.run([CTL, *args, '--json'], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


class Meter(threading.Thread):
    """Reads vgpuctl stats all the time: by vGPU, pairs of time and of its work on gr till then."""

    def __init__(self):
        super().__init__(daemon=True)
        self.process = subprocess.Popen([CTL, 'stats', '--watch=0.1', '--json'],
                                        stdout=subprocess.PIPE, text=True)
        self.points = {}
        self.start()

    def run(self):
        for line in self.process.stdout:
            sample = json.loads(line)
            for vgpu in sample['vgpus']:
                busy_ns = next(e['busy_ns'] for e in vgpu['engines'] if e['name'] == 'gr')
                self.points.setdefault(vgpu['uuid'], []).append(
                    (sample['time_ns'] / 1e9, busy_ns / 1e9))

    def wait(self, when):
        """Until vgpuctl has seen that time."""
        while any(points[-1][0] < when for points in self.points.values()):
            time.sleep(0.02)

    def busy(self, uuid, when):
        """Seconds of work until then, on the line between the points beside."""
        points = self.points[uuid]
        after = next(i for i in range(len(points) - 1, -1, -1)
                     if i == 0 or points[i - 1][0] <= when)
        (t0, b0), (t1, b1) = points[max(after - 1, 0)], points[after]
        return b0 if t1 == t0 else b0 + (b1 - b0) * (when - t0) / (t1 - t0)

    def load(self, uuids, begin, end):
        """Their load together in per cent."""
        return 100 * sum(self.busy(u, end) - self.busy(u, begin) for u in uuids) / (end - begin)

    def span(self, uuids, length, begin, end):
        """The least and the most load of all periods of that length that end in the interval."""
        self.wait(end)
        steps = max(int((end - begin) / 0.02), 1)
        loads = [self.load(uuids, when - length, when)
                 for when in (begin + (end - begin) * i / steps for i in range(steps + 1))]
        return min(loads), max(loads)


class World:
    """The vGPUs, and what vgpuctl says of them."""

    def __init__(self, args):
        self.vgpus = {}
        for arg in args:
            uuid, cap, pid = arg.split(':')
            self.vgpus[uuid] = (int(cap) / 10, int(pid))
        self.meter = Meter()
        # From the monotonic clock to the one that NVML's times are of.
        self.offset = time.time() - time.monotonic()
        self.gpu = ctl('gpus')[0]
        self.backed = {vgpu['uuid']: vgpu['fb_backed_bytes'] for vgpu in ctl('list')}
        self.memory = 100 * self.gpu['fb_used_bytes'] / self.gpu['fb_bytes']
        while len(self.meter.points) < len(self.vgpus):
            time.sleep(0.1)
        self.meter.wait(time.monotonic() + 2)

    def gpu_is(self, shown, begin, end):
        """Somewhen in the interval that was the load of the second before."""
        low, high = self.meter.span(list(self.vgpus), RATE, begin, end)
        note(f'GPU: {shown} %; vgpuctl {low:.1f} to {high:.1f} %')
        expect(low - POINTS <= shown <= high + POINTS,
               f'GPU: {shown} %, but {low:.1f} to {high:.1f} % by vgpuctl')

    def samples(self, begin, end):
        """NVML's samples by vGPU; pynvml_loads compares them with vgpuctl."""
        return calls.samples(*((when + self.offset) * 1e6 for when in (begin, end)))

    def time_of(self, sample):
        return sample.timeStamp / 1e6 - self.offset

    def process_is(self, uuid, shown, begin, end):
        """A client shows the process of a vGPU by one sample, of 100 ms."""
        loads = [s.smUtil.uiVal for s in self.samples(begin, end)[uuid]]
        note(f'vGPU {uuid}: {shown} %; {len(loads)} samples')
        expect(any(abs(shown - load) <= POINTS for load in loads),
               f'vGPU {uuid}: {shown} %, no such sample')

    def memory_is(self, shown):
        note(f'memory: {shown} %; vgpuctl {self.memory:.1f} %')
        expect(abs(shown - self.memory) <= POINTS, f'memory: {shown} %, not {self.memory:.1f} %')


def note(text):
    print(f'# {text}', flush=True)


def known_load(world):
    """The caps hold: else nothing that is compared here is known."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        begin = time.monotonic()
        time.sleep(3)
        end = begin + 3
        world.meter.wait(end)
        loads = {uuid: world.meter.load([uuid], begin, end) for uuid in world.vgpus}
        note(', '.join(f'cap {cap:.0f} %: {loads[uuid]:.1f} %'
                       for uuid, (cap, _) in world.vgpus.items()))
        if all(abs(loads[uuid] - cap) <= POINTS for uuid, (cap, _) in world.vgpus.items()):
            return
    raise Failed('the vGPUs never got what their caps allow')


def has_opened(pid):
    """Whether a process has the library's node open."""
    try:
        return any(os.readlink(f'/proc/{pid}/fd/{fd}') == '/dev/vgpu'
                   for fd in os.listdir(f'/proc/{pid}/fd'))
    except OSError:
        return False


def shot(*command):
    """What a client prints, and the time in which it looked: Python takes long to get there."""
    with tempfile.TemporaryFile('w+') as out:
        begin, looks = time.monotonic(), False
        with subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as process:
            while process.poll() is None:
                if not looks:
                    looks, now = has_opened(process.pid), time.monotonic()
                    begin = begin if looks else now
                time.sleep(0.02)
        end = time.monotonic()
        out.seek(0)
        text = out.read()
    expect(process.returncode == 0, f'status {process.returncode}: {text}')
    note(f'{command[0]} looked within {end - begin:.1f} s')
    return text, begin, end


def nvtop_json(world):
    text, begin, end = shot('nvtop', '-s')
    gpu = json.loads(text)[0]
    expect(gpu['device_name'] == world.gpu['board'], f'another GPU: {gpu}')
    world.gpu_is(int(gpu['gpu_util'].rstrip('%')), begin, end)
    world.memory_is(int(gpu['mem_util'].rstrip('%')))


def gpustat(world):
    text, begin, end = shot('gpustat', '--json')
    gpu = json.loads(text)['gpus'][0]
    expect(gpu['name'] == world.gpu['board'], f'another GPU: {gpu}')
    world.gpu_is(gpu['utilization.gpu'], begin, end)
    world.memory_is(100 * gpu['memory.used'] / gpu['memory.total'])
    held = {p['pid']: p['gpu_memory_usage'] for p in gpu['processes']}
    mine = {pid: world.backed[uuid] // MIB for uuid, (_, pid) in world.vgpus.items()}
    expect(held == mine, f'processes have {held} MiB, by vgpuctl {mine}')


def nvitop(world):
    text, begin, end = shot('nvitop', '-1')
    gpu = re.search(r'(\d+)MiB */ *(\d+)MiB │ +(\d+)%', text)
    expect(gpu and world.gpu['board'] in text, f'no GPU: {text}')
    world.gpu_is(int(gpu[3]), begin, end)
    world.memory_is(100 * int(gpu[1]) / int(gpu[2]))
    for uuid, (_, pid) in world.vgpus.items():
        row = re.search(rf'│ +0 +{pid} G +\S+ +([\d.]+)MiB +(\d+) ', text)
        expect(row, f'no process {pid}: {text}')
        expect(abs(float(row[1]) - world.backed[uuid] / MIB) < 0.01, f'{row[1]} MiB')
        world.process_is(uuid, int(row[2]), begin, end)


def pynvml_loads(world):
    """The samples of some seconds, by vGPU, are what vgpuctl says of exactly that time."""
    pynvml = calls.pynvml
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
    memory = pynvml.nvmlDeviceGetMemoryInfo(gpu)
    expect((memory.used, memory.total) == (world.gpu['fb_used_bytes'], world.gpu['fb_bytes']),
           f'memory: {memory}')
    for vgpu in pynvml.nvmlDeviceGetActiveVgpus(gpu):
        uuid = pynvml.nvmlVgpuInstanceGetUUID(vgpu)
        used = pynvml.nvmlVgpuInstanceGetFbUsage(vgpu)
        expect(used == world.backed[uuid], f'{uuid}: {used} bytes')
    time.sleep(3)
    end = time.monotonic()
    samples = world.samples(end - 2.5, end)
    expect(set(samples) == set(world.vgpus), f'other vGPUs: {set(samples)}')
    for uuid, mine in samples.items():
        begin, end = (world.time_of(mine[i]) for i in (0, -1))
        shown = (sum(s.smUtil.uiVal * (s.timeStamp - last.timeStamp)
                     for last, s in zip(mine, mine[1:])) / (mine[-1].timeStamp - mine[0].timeStamp))
        world.meter.wait(end)
        known = world.meter.load([uuid], begin, end)
        note(f'{uuid}: {shown:.1f} % of {end - begin:.2f} s; vgpuctl {known:.1f} %')
        expect(abs(shown - known) <= POINTS, f'{uuid}: {shown:.1f} %, not {known:.1f} %')


def pynvml_processes(world):
    """The processes that guests name: here those that have the vGPUs open, which label themselves.

    A client asks again with the time of the last sample that it has got."""
    pynvml = calls.pynvml
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
    names = {vgpu: pynvml.nvmlVgpuInstanceGetUUID(vgpu)
             for vgpu in pynvml.nvmlDeviceGetActiveVgpus(gpu)}
    for read in (pynvml.nvmlDeviceGetVgpuProcessUtilization,
                 pynvml.nvmlDeviceGetVgpuProcessesUtilizationInfo):
        last = max(sample.timeStamp for sample in read(gpu, 0))
        time.sleep(3)
        samples = read(gpu, last)
        found = {(names[s.vgpuInstance], s.pid, s.processName) for s in samples}
        expect(len(samples) == len(world.vgpus) and
               found == {(uuid, pid, 'busy') for uuid, (_, pid) in world.vgpus.items()},
               f'{read.__name__}: other processes: {found}')
        for sample in samples:
            begin, end = last / 1e6 - world.offset, world.time_of(sample)
            world.meter.wait(end)
            known = world.meter.load([names[sample.vgpuInstance]], begin, end)
            note(f'process {sample.pid}: {sample.smUtil} %; vgpuctl {known:.1f} %')
            expect(abs(sample.smUtil - known) <= POINTS,
                   f'process {sample.pid}: {sample.smUtil} %, not {known:.1f} %')


def pynvml_calls(_world):
    """Every function of pynvml about vGPUs, and the GPU's virtualization and licences."""
    wrong = calls.run()
    expect(not wrong, '\n'.join(wrong))


def on_screen(name, command, judge):
    """Runs a client in a terminal of tmux until judge(screen, begin, end) finds nothing wrong."""
    tmux = ['tmux', '-L', name]
    subprocess.run([*tmux, '-f', '/dev/null', 'new-session', '-d', '-x', '100', '-y', '30', command],
                   check=True)
    give_up = time.monotonic() + PATIENCE
    try:
        while True:
            time.sleep(3)
            # What it shows is some second old, and older where clients wait for a processor.
            begin = time.monotonic() - AGE
            plain, coloured = (subprocess.run(
                [*tmux, 'capture-pane', '-p', *option, '-t', '0'], check=True,
                capture_output=True, text=True).stdout for option in ([], ['-e']))
            try:
                judge(plain, begin, time.monotonic())
                break
            except Failed:
                if time.monotonic() > give_up:
                    note('\n# '.join(plain.splitlines()))
                    raise
    finally:
        subprocess.run([*tmux, 'kill-server'], check=False)
    with open(f'{OUT}/{name}.ansi', 'w', encoding='utf-8') as file:
        file.write(coloured)


def nvtop_screen(world):
    def judge(screen, begin, end):
        gpu = re.search(r'GPU\[\|* *(\d+)%\] *MEM\[\|* *([\d.]+)Gi/([\d.]+)Gi\]', screen)
        expect(gpu and f'[{world.gpu["board"]}]' in screen, 'no GPU')
        world.gpu_is(int(gpu[1]), begin, end)
        world.memory_is(100 * float(gpu[2]) / float(gpu[3]))
        for uuid, (_, pid) in world.vgpus.items():
            row = re.search(rf'^ *{pid} .*Graphic +(\d+)% +(\d+)MiB', screen, re.MULTILINE)
            expect(row, f'no process {pid}')
            expect(int(row[2]) == world.backed[uuid] // MIB, f'{row[2]} MiB')
            world.process_is(uuid, int(row[1]), begin, end)
    on_screen('nvtop', 'nvtop -d 10', judge)


def btop_screen(world):
    def judge(screen, begin, end):
        gpu = re.search(r'GPU ■+ +(\d+)%', screen)
        memory = re.search(r'Total: .*│ +(\d+)%', screen)
        expect(gpu and memory and f'┐{world.gpu["board"]}┌' in screen, 'no GPU')
        world.gpu_is(int(gpu[1]), begin, end)
        world.memory_is(int(memory[1]))
    with tempfile.TemporaryDirectory() as home:
        os.makedirs(f'{home}/btop')
        with open(f'{home}/btop/btop.conf', 'w', encoding='utf-8') as file:
            file.write('shown_boxes = "gpu0"\nupdate_ms = 1000\n')
        on_screen('btop', f'XDG_CONFIG_HOME={home} btop --utf-force', judge)


TESTS = [known_load, nvtop_json, pynvml_loads, pynvml_processes, pynvml_calls, nvtop_screen,
         btop_screen, gpustat, nvitop]


def main(args):
    passed = failed = 0
    print('TAP version 13')
    calls.begin()
    world = World(args)
    for test in TESTS:
        begun, why = time.monotonic(), ''
        try:
            test(world)
        except (Failed, OSError, KeyError, ValueError, subprocess.SubprocessError,
                calls.Error) as failure:
            why = f'{type(failure).__name__}: {failure}'
        passed, failed = passed + (not why), failed + bool(why)
        print(f'{"not ok" if why else "ok"} {passed + failed} - {test.__name__} '
              f'# {1000 * (time.monotonic() - begun):.0f} ms', flush=True)
        for line in why.splitlines():
            note(line)
    world.meter.process.kill()
    calls.end()
    print(f'1..{passed + failed}\n{passed} passed, {failed} failed')
    return bool(failed)


if __name__ == '__main__':
    if len(sys.argv) < 2 or sys.argv[1] in ('-h', '--help'):
        print(__doc__.strip())
        sys.exit(len(sys.argv) < 2)
    sys.exit(main(sys.argv[1:]))
