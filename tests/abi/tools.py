#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tools.py TREE TOOLS ABI: TREE's vgpuctl and NVML library, of ABI TOOLS, with a driver of ABI.

Runs inside a lab machine with the driver loaded. Where the major versions are the same, what needs
a later ABI than the driver's has to say so, and all else has to work. Where they are not, each
command says so in a line, and nothing changes. TAP, with a last line "N passed, N failed".
"""
import ctypes
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

TREE = sys.argv[1]
TOOLS, DRIVER = (tuple(int(part) for part in text.split('.')) for text in sys.argv[2:4])
CTL = TREE + '/build/tools/vgpuctl/vgpuctl'
NVML = TREE + '/build/tools/libnvml/libnvidia-ml.so.1'
UUID = 'ab100000-0000-4000-8000-000000000001'
OTHER = 'ab100000-0000-4000-8000-000000000002'

# Commands that do not work with earlier drivers, of the same major version.
NEEDS = {'migration show': (2, 3), 'migration check': (2, 3), 'partition list': (2, 4),
         'partition profiles': (2, 4), 'partition show': (2, 4), 'partition create': (2, 4),
         'partition remove': (2, 4), 'partition mode': (2, 4)}

NOT_FOUND, VERSION_MISMATCH = 6, 18

passed, failed = 0, 0


def check(right, name, why=''):
    global passed, failed
    passed, failed = passed + bool(right), failed + (not right)
    print('ok' if right else 'not ok', passed + failed, '-', name)
    if not right:
        print('#', ' '.join(str(why).split()))


def values(part, key):
    """All values of that key, however deep."""
    if isinstance(part, list):
        return [v for one in part for v in values(one, key)]
    if not isinstance(part, dict):
        return []
    found = [part[key]] if key in part else []
    return found + values(list(part.values()), key)


def run(*args, **more):
    return subprocess.run([CTL, *args], text=True, capture_output=True, timeout=240, **more)


def lacks(done):
    """Does it say that this driver cannot do that, and which version the driver has?"""
    text = 'the driver of /dev/vgpu, .* with ABI %d.%d, cannot do that$' % DRIVER
    return done.returncode == 1 and re.search(text, done.stderr.strip())


def command(args, right=None, status=0):
    """A command, and with @right also as JSON, of which that has to be true."""
    name = args[0] if args[0] not in ('sched', 'share', 'migration', 'partition') else ' '.join(args[:2])
    covered.add(name)
    if name not in known:
        return
    for form in ([], ['--json'])[:2 if right else 1]:
        done = run(*args, *form)
        if NEEDS.get(name, DRIVER) > DRIVER:
            check(lacks(done), ' '.join([*args, *form]), done)
            continue
        good = done.returncode == status and bool(done.stdout) == (status == 0)
        if good and form:
            lines = done.stdout.splitlines() if name == 'log' else [done.stdout]
            try:
                good = right([json.loads(line) for line in lines])
            except ValueError:
                good = False
        check(good, ' '.join([*args, *form]), done)


def read_commands(pid):
    command(['overview'], lambda d: values(d, 'board') == ['SG16'] and UUID in values(d, 'uuid'))
    command(['gpus'], lambda d: values(d, 'board') == ['SG16'])
    command(['types'], lambda d: 'SG16-1Q' in values(d, 'name'))
    command(['creatable'], lambda d: 'SG16-1Q' in values(d, 'name'))
    command(['list'], lambda d: values(d, 'uuid') == [UUID] and values(d, 'state') == ['started'])
    command(['placement'], lambda d: UUID in values(d, 'uuid'))
    # Once as the process of the host, and once by the label that it gives its channels.
    command(['process'], lambda d: values(d, 'pid') == [pid] * 2 and
            values(d, 'command') == ['busy'] * 2)
    command(['sessions'], lambda d: values(d, 'pid') == [pid])
    command(['caps'], lambda d: 'gr' in values(d, 'name'))
    command(['show', UUID], lambda d: UUID in values(d, 'uuid'))
    command(['stats'], lambda d: max(values(d, 'busy_ns')) > 0)
    command(['log'], lambda d: values(d, 'type')[:3] == ['gpu_added', 'created', 'started'])
    command(['sched', 'show'], lambda d: values(d, 'policy') == ['best_effort'])
    command(['sched', 'log'], lambda d: UUID in values(d, 'uuid'))
    command(['share', 'show'], lambda d: values(d, 'uuid') == [UUID])
    command(['hist', UUID], lambda d: max(values(d, 'count')) > 0)
    command(['migration', 'show', UUID], lambda d: 'SG16' in values(d, 'board'))
    with tempfile.NamedTemporaryFile('w') as about:
        about.write(run('migration', 'show', UUID, '--json').stdout or '{"about": "00"}')
        about.flush()
        command(['migration', 'check', '-f', about.name, UUID],
                lambda d: values(d, 'fits') == [True])
    command(['partition', 'list'], lambda d: d == [[]])
    command(['partition', 'profiles'], lambda d: values(d, 'slices') == [1, 2, 3, 4, 7])
    command(['partition', 'show', '1'], status=1)
    command(['top', '--once'])
    command(['metrics'])
    if 'metrics' in known:
        text = run('metrics').stdout
        check('abi="%d.%d"' % DRIVER in text and UUID in text, 'metrics name driver and vGPU', text)


def change_commands():
    # A refusal of the driver, and its reason.
    done = run('create', '--type', 'SG16-16Q', '--uuid', OTHER)
    check(done.returncode == 1 and 'framebuffer' in done.stderr, 'create: a refusal', done)
    if 'log' in known:
        done = run('log', OTHER)
        check('refused: ' in done.stdout and 'framebuffer' in done.stdout, 'log: its reason', done)
    command(['create', '--type', 'SG16-1B', '--uuid', OTHER])
    # A GPU that has a vGPU is not divided.
    command(['partition', 'mode', 'on'], status=1)
    command(['partition', 'create', '1g'], status=1)
    command(['partition', 'remove', '1'], status=1)
    covered.add('remove')
    done = run('remove', OTHER)
    check(done.returncode == 0, 'remove', done)
    command(['release', UUID], status=1)
    command(['sched', 'set', '--slice', '3ms'], lambda d: 3000000 in values(d, 'slice_ns'))
    command(['share', 'set', UUID, '--weight', '5'], lambda d: values(d, 'weight') == [5])
    command(['save'])
    covered.add('apply')
    if 'apply' in known:
        with tempfile.NamedTemporaryFile('w') as state:
            state.write(run('save').stdout)
            state.flush()
            command(['apply', '-f', state.name])
            run('share', 'set', UUID, '--weight', '6')
            command(['apply', '-f', state.name])
        check(values(json.loads(run('share', 'show', '--json').stdout), 'weight') == [5],
              'apply has set the weight')
    covered.add('events')
    with subprocess.Popen([CTL, 'events', '--json', '--count', '1'], text=True,
                          stdout=subprocess.PIPE) as events:
        # It sees what happens after it has opened the driver's file.
        while not any(os.path.realpath(link.path) == '/dev/vgpu'
                      for link in os.scandir('/proc/%d/fd' % events.pid)):
            pass
        run('share', 'set', UUID, '--weight', '7')
        line = events.communicate(timeout=240)[0]
    check('"share"' in line, 'events', line)


class Nvml:
    """The library; each call returns its result."""
    def __init__(self):
        self.library = ctypes.CDLL(os.path.abspath(NVML))
        self.gpu = ctypes.c_void_p()

    def __call__(self, name, *args):
        return getattr(self.library, 'nvml' + name)(*args)

    def is_right(self, wanted, name, *args):
        ret = self(name, *args)
        check(ret == wanted, '%s returns %d' % (name, wanted), ret)

    def active(self):
        """The numbers of the vGPUs that are open."""
        count, ids = ctypes.c_uint(32), (ctypes.c_uint * 32)()
        self.is_right(0, 'DeviceGetActiveVgpus', self.gpu, ctypes.byref(count), ids)
        return ids[:count.value]


def nvml_vgpu(nvml, pid):
    """What the library tells of the vGPU, and of processes."""
    number, size = ctypes.c_uint(), ctypes.c_ulonglong()
    text = ctypes.create_string_buffer(96)
    vgpus = nvml.active()
    check(len(vgpus) == 1, 'one vGPU is active', vgpus)
    nvml.is_right(0, 'VgpuInstanceGetUUID', vgpus[0], text, 96)
    check(text.value.decode() == UUID, 'its UUID', text.value)
    nvml.is_right(0, 'VgpuInstanceGetVmID', vgpus[0], text, 96, ctypes.byref(number))
    check(text.value.decode() == str(pid), 'its process', text.value)
    nvml.is_right(0, 'VgpuInstanceGetType', vgpus[0], ctypes.byref(number))
    nvml.is_right(0, 'VgpuInstanceGetFbUsage', vgpus[0], ctypes.byref(size))
    check(size.value > 0, 'memory in use', size)
    return vgpus[0]


def nvml_load(nvml):
    """Utilization, samples and accounting."""
    rates, pids = (ctypes.c_uint * 2)(), (ctypes.c_uint * 64)()
    kind, count = ctypes.c_uint(), ctypes.c_uint(4096)
    samples = ctypes.create_string_buffer(4096 * 64)
    nvml.is_right(0, 'DeviceGetUtilizationRates', nvml.gpu, rates)
    nvml.is_right(0, 'DeviceGetVgpuUtilization', nvml.gpu, ctypes.c_ulonglong(0),
                  ctypes.byref(kind), ctypes.byref(count), samples)
    count.value = 64
    nvml.is_right(0, 'DeviceGetAccountingPids', nvml.gpu, ctypes.byref(count), pids)


def nvml_calls(busy):
    nvml = Nvml()
    nvml.is_right(0, 'Init_v2')
    nvml.is_right(0, 'DeviceGetHandleByIndex_v2', 0, ctypes.byref(nvml.gpu))
    vgpu = nvml_vgpu(nvml, busy.pid)
    nvml_load(nvml)
    busy.kill()
    busy.wait()
    check(not nvml.active(), 'none is active when it is closed')
    run('remove', UUID)
    nvml.is_right(NOT_FOUND, 'VgpuInstanceGetUUID', vgpu, ctypes.create_string_buffer(96), 96)
    nvml.is_right(0, 'Shutdown')


def state():
    """The vGPUs and all settings, from sysfs."""
    found = {}
    for path in (glob.glob('/sys/bus/mdev/devices/*/vgpu/*') +
                 glob.glob('/sys/class/mdev_bus/*/vgpu/*')):
        if os.path.isfile(path) and os.access(path, os.R_OK):
            with open(path) as file:
                try:
                    found[path] = file.read()
                except OSError as error:
                    found[path] = error.errno
    return found


# Of each command a form that would do something.
FORMS = {
    'show': ['show', UUID], 'hist': ['hist', UUID], 'release': ['release', UUID],
    'remove': ['remove', UUID], 'create': ['create', '--type', 'SG16-1Q', '--uuid', OTHER],
    'top': ['top', '--once'], 'events': ['events', '--count', '1'],
    'sched show': ['sched', 'show'], 'sched log': ['sched', 'log'],
    'sched set': ['sched', 'set', '--slice', '3ms'], 'share show': ['share', 'show'],
    'share set': ['share', 'set', UUID, '--weight', '5'],
    'migration show': ['migration', 'show', UUID],
    'partition show': ['partition', 'show', '1'],
    'partition create': ['partition', 'create', '1g'],
    'partition remove': ['partition', 'remove', '1'],
    'partition mode': ['partition', 'mode', 'on'],
    'migration check': ['migration', 'check', '-f', '/dev/null', UUID],
}


def refused_command(name, before):
    """It names both versions in one line, and does nothing."""
    with tempfile.NamedTemporaryFile('w') as file:
        json.dump({'version': 1, 'gpus': [], 'vgpus': []}, file)
        file.flush()
        args = FORMS.get(name, [name])
        done = run(*(args if name != 'apply' else ['apply', '-f', file.name]))
    said = done.stderr.splitlines()
    # That of 1.x had a hint in a second line.
    if name == 'overview' and TOOLS[0] == 1:
        said = said[:1]
    versions = 'driver [0-9.]+ speaks ABI %d\\.%d, this tool.* %d\\.%d$' % (*DRIVER, *TOOLS)
    check(done.returncode == 1 and len(said) == 1 and re.search(versions, said[0]),
          name + ' names both versions', done)
    if name == 'metrics':
        check(re.findall('^[^#].*', done.stdout, re.M) == ['vgpu_up 0'], 'metrics: it is down', done)
    else:
        check(not done.stdout, name + ' tells nothing else', done)
    now = state()
    check(now == before, name + ' changes nothing', set(now.items()) ^ set(before.items()))


def refuse():
    """The tools and the driver are of different major versions."""
    create = glob.glob('/sys/class/mdev_bus/*/mdev_supported_types/*SG16-1Q/create')[0]
    with open(create, 'w') as file:
        file.write(UUID)
    before = state()
    check(any(UUID in path for path in before), 'there is a vGPU', before)
    check(len(known) >= 20, 'commands', known)
    for name in sorted(known):
        refused_command(name, before)
    nvml = Nvml()
    nvml.is_right(VERSION_MISMATCH, 'Init_v2')
    nvml.is_right(VERSION_MISMATCH, 'InitWithFlags', 0)
    with open('/sys/bus/mdev/devices/%s/remove' % UUID, 'w') as file:
        file.write('1')


def work():
    run('create', '--type', 'SG16-1Q', '--uuid', UUID)
    busy = subprocess.Popen(['build/selftests/busy', UUID], text=True, stdout=subprocess.PIPE)
    try:
        check(busy.stdout.readline() == 'busy\n', 'the vGPU has work')
        read_commands(busy.pid)
        change_commands()
        check(known <= covered, 'all commands were run', known - covered)
        if os.path.exists(NVML):
            nvml_calls(busy)
    finally:
        busy.kill()
        busy.wait()
        run('remove', UUID)


def main():
    if TOOLS[0] == DRIVER[0]:
        work()
    else:
        refuse()
    print('%d passed, %d failed' % (passed, failed))
    return bool(failed)


covered = set()
known = set(re.findall('^  ((?:sched |share |migration |partition )?[a-z]+)  ', run('help').stdout, re.M))
sys.exit(main())
