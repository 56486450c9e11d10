# SPDX-License-Identifier: GPL-2.0
"""What the conformance checks share: the view of sysfs, faults in it, checks and their controls.

A check plays a client (KubeVirt, Proxmox VE, ...) on the live driver, and fails if the client
would. A control runs the same check on a view of sysfs with one fault put in, and passes if the
check fails for this fault: so a check that cannot fail is found.
"""
import errno
import os
import re
import select
import subprocess
import sys
import time
import uuid


class Failed(Exception):
    """What a client would stumble over."""


class Skipped(Exception):
    """Why a check cannot run on this machine."""


def expect(condition, message):
    if not condition:
        raise Failed(message)


def is_equal(got, wanted, what):
    expect(got == wanted, f'{what}: {got!r}, not {wanted!r}')


class Sysfs:
    """The file operations of the clients, with their errors as OSError."""

    def read(self, path):
        with open(path, encoding='utf-8', newline='') as file:
            return file.read()

    def names(self, path):
        return sorted(os.listdir(path))

    def link(self, path):
        return os.readlink(path)

    def exists(self, path):
        return os.path.exists(path)

    def is_dir(self, path):
        return os.path.isdir(path)

    def write(self, path, text):
        """Writes by one system call to a file that is not created."""
        fd = os.open(path, os.O_WRONLY)
        try:
            os.write(fd, text.encode())
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from error
        finally:
            os.close(fd)

    def through(self, _operation, _path, call):
        """Where faults come in."""
        return call()


class Fault:
    """Makes one operation on paths that match a pattern answer differently.

    The answer is a function of the right one, or an errno. A path that does not exist stays so,
    unless the fault invents it.
    """

    def __init__(self, operation, pattern, answer, invents=False):
        self.operation = operation
        self.pattern = re.compile(pattern)
        self.answer = answer
        self.invents = invents
        self.hits = 0

    def apply(self, operation, path, call):
        if operation != self.operation or not self.pattern.search(path):
            return call()
        self.hits += 1
        if isinstance(self.answer, int):
            raise OSError(self.answer, os.strerror(self.answer), path)
        return self.answer(None if self.invents else call())


class Doctored(Sysfs):
    """The live sysfs with faults in it."""

    def __init__(self, *faults):
        self.faults = faults

    def through(self, operation, path, call):
        for fault in self.faults:
            call = (lambda fault, call: lambda: fault.apply(operation, path, call))(fault, call)
        return call()

    def read(self, path):
        return self.through('read', path, lambda: super(Doctored, self).read(path))

    def names(self, path):
        return self.through('names', path, lambda: super(Doctored, self).names(path))

    def link(self, path):
        return self.through('link', path, lambda: super(Doctored, self).link(path))

    def exists(self, path):
        return self.through('exists', path, lambda: super(Doctored, self).exists(path))

    def is_dir(self, path):
        return self.through('is_dir', path, lambda: super(Doctored, self).is_dir(path))

    def write(self, path, text):
        return self.through('write', path, lambda: super(Doctored, self).write(path, text))


def fails(operation, pattern, error=errno.EIO):
    """A fault: the operation fails."""
    return Fault(operation, pattern, error)


def says(pattern, text):
    """A fault: files have another content, text or a function of their content."""
    return Fault('read', pattern, text if callable(text) else lambda _: text)


def ignores(pattern):
    """A fault: what is written has no effect, and no error says so."""
    return Fault('write', pattern, lambda _: None, invents=True)


class Check:
    """A check and its controls; it runs once more with NUMA nodes if it shows_nodes."""

    def __init__(self, client, function, what, run, shows_nodes):
        self.name = f'{client} {function}: {what}'
        self.run = run
        self.shows_nodes = shows_nodes
        self.controls = []


CHECKS = []


def check(client, function, what, shows_nodes=False):
    """Makes a check of run(host), named after the client and the function of it that is played."""
    def register(run):
        CHECKS.append(Check(client, function, what, run, shows_nodes))
        return run
    return register


def control(run, what, pattern, *faults, **options):
    """Adds a control to the check: with the faults it must fail, by a message like pattern."""
    owner = next(one for one in CHECKS if one.run is run)
    owner.controls.append((what, pattern, faults, options))


# ---- the driver under test ----

MDEVS = '/sys/bus/mdev/devices'
PARENTS = '/sys/class/mdev_bus'
PCI = '/sys/bus/pci/devices'

PATIENCE = 240      # seconds until what must come is given up, on the slowest machine

# By GPU, the tuple of the NUMA node that it was told to show, or None.
NODES = [None, None]


def in_time(act, what):
    """Does something in a child, which is left behind if that takes longer than PATIENCE."""
    ours, its = os.pipe()
    child = os.fork()
    if not child:
        said = b'failed'
        null = os.open(os.devnull, os.O_RDWR)
        for fd in 0, 1, 2:      # Nobody is to wait for the end of its output.
            os.dup2(null, fd)
        try:
            act()
            said = b'done'
        except OSError as error:
            said = f'{error.filename}: {error.strerror}'.encode()
        finally:
            os.write(its, said)
            os._exit(0)
    os.close(its)
    with open(ours, 'rb', buffering=0) as pipe:
        ready, _, _ = select.select([pipe], [], [], PATIENCE)
        expect(ready, f'{what}: not within {PATIENCE} s')
        said = pipe.read(4096)
    os.waitpid(child, 0)
    expect(said == b'done', f'{what}: no: {said.decode()}')


class Host:
    """The machine as a check sees it: sysfs (perhaps doctored), and the truth beside it."""

    def __init__(self, sysfs=None, **options):
        self.sysfs = sysfs or Sysfs()
        self.options = options
        self.real = Sysfs()
        self.nodes = NODES
        self.parents = [name for name in self.real.names(PARENTS)
                        if self.real.link(f'{PCI}/{name}/driver').endswith('/vgpu_soft')]

    def types(self, parent):
        """Name (such as SG16-4Q) by type id, in the order of names, as the driver means it."""
        path = f'{PARENTS}/{parent}/mdev_supported_types'
        ids = {id_: self.real.read(f'{path}/{id_}/name').strip() for id_ in self.real.names(path)}
        return dict(sorted(ids.items(), key=lambda pair: pair[1]))

    @staticmethod
    def of_partition(name):
        """Whether a type is for partitions (SG16-2-4C); only partitions.py makes some."""
        return name.count('-') > 1

    def type_id(self, size):
        """The id of the type whose name ends like -4Q."""
        return next(id_ for id_, name in self.types(self.parents[0]).items()
                    if name.endswith(f'-{size}'))

    def type_name(self, size):
        return self.types(self.parents[0])[self.type_id(size)]

    def available(self, parent, type_id):
        path = f'{PARENTS}/{parent}/mdev_supported_types/{type_id}/available_instances'
        return int(self.real.read(path))

    def create(self, parent, size):
        name = str(uuid.uuid4())
        path = f'{PARENTS}/{parent}/mdev_supported_types/{self.type_id(size)}/create'
        self.real.write(path, name)
        return name

    def mdevs(self):
        """Type id by UUID of all vGPUs there are."""
        return {name: os.path.basename(self.real.link(f'{MDEVS}/{name}/mdev_type'))
                for name in self.real.names(MDEVS)}

    def of_type(self, type_id):
        return [name for name, its in self.mdevs().items() if its == type_id]

    def parent_of(self, name):
        return os.path.realpath(f'{MDEVS}/{name}').split('/')[-2]

    def group_of(self, name):
        return os.path.basename(os.path.realpath(f'{MDEVS}/{name}/iommu_group'))

    def clean(self):
        """Removes all vGPUs, by a process of its own: a removal may wait for ever for its user, and
        cannot be ended then."""
        paths = [f'{MDEVS}/{name}/remove' for name in self.real.names(MDEVS)]
        if paths:
            in_time(lambda: [self.real.write(path, '1') for path in paths], 'the vGPUs are removed')


HOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'holder.py')


class Holder:
    """A process that has a vGPU open, as a VM has, until it is told to let go."""

    def __init__(self, name, hears=True):
        self.process = subprocess.Popen([sys.executable, HOLDER, name] + ['hears'] * hears,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            self.wait_for('open')
        except BaseException:
            self.__exit__()
            raise

    def wait_for(self, word, patience=PATIENCE):
        ready, _, _ = select.select([self.process.stdout], [], [], patience)
        said = repr(self.process.stdout.readline().strip()) if ready else 'nothing'
        expect(said == repr(word), f'the user of the vGPU says {said}, not {word!r}')

    def let_go(self):
        self.process.communicate('close\n', timeout=PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


# ---- running ----

class Results:
    """TAP on standard output."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def print(self, ok, name, begun, why=''):
        number = self.passed + self.failed + self.skipped + 1
        took = round(1000 * (time.monotonic() - begun))
        if ok:
            self.passed += 1
        else:
            self.failed += 1
        print(f'{"ok" if ok else "not ok"} {number} - {name} # {took} ms', flush=True)
        for line in why.splitlines():
            print(f'# {line}', flush=True)

    def skip(self, name, why):
        number = self.passed + self.failed + self.skipped + 1
        self.skipped += 1
        print(f'ok {number} - {name} # SKIP {why}', flush=True)

    def end(self):
        print(f'1..{self.passed + self.failed + self.skipped}')
        if self.skipped:
            print(f'# {self.skipped} skipped')
        print(f'{self.passed} passed, {self.failed} failed')


def reason_of(act):
    """Why it fails, or None."""
    try:
        act()
    except Failed as failure:
        return str(failure)
    except OSError as failure:
        return f'{failure.filename}: {failure.strerror}'
    return None


def attempt(one, host):
    """Runs a check once, on a machine without vGPUs; returns None, or what it failed by."""
    why = reason_of(host.clean)
    if why is not None:
        return why
    try:
        why = reason_of(lambda: one.run(host))
    finally:
        left = reason_of(host.clean)
    if left is None:
        return why
    # No control is to find its failure in what comes before that.
    if why is not None:
        print(f'# before that: {why}', flush=True)
    return left


def run(one, results):
    """Runs a check and, if it passes, its controls."""
    begun = time.monotonic()
    try:
        why = attempt(one, Host())
    except Skipped as reason:
        results.skip(one.name, reason)
        return
    results.print(why is None, one.name, begun, why or '')
    if why is not None:
        return
    for what, pattern, faults, options in one.controls:
        begun = time.monotonic()
        for fault in faults:
            fault.hits = 0
        why = attempt(one, Host(Doctored(*faults), **options))
        name = f'control: {one.name.split(": ")[0]} fails where {what}'
        missed = [fault.pattern.pattern for fault in faults if not fault.hits]
        if missed:
            results.print(False, name, begun, f'the check never met {", ".join(missed)}: '
                          f'{why or "it passes"}')
        elif why is None:
            results.print(False, name, begun, 'the check passes')
        elif not re.search(pattern, why):
            results.print(False, name, begun,
                          f'fails by another reason than {pattern}: {why}')
        else:
            results.print(True, name, begun)
