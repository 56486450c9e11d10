#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""run.py [CLIENT...]: the conformance checks, inside a lab machine.

Clients: kubevirt, kubevirt-gpu-device-plugin, proxmox, libvirt, mdevctl, nova; all of them if none
is named. Loads and unloads the modules. Each check plays one function of the client, and is named
after it; its controls show that it fails where sysfs is not as the client wants it. TAP, with a
last line "N passed, N failed".
"""
import os
import subprocess
import sys

# The checkout stays as it is.
sys.dont_write_bytecode = True

import harness          # noqa: E402
import kubevirt     # noqa: E402,F401  the checks register themselves
import moves        # noqa: E402,F401
import nova         # noqa: E402,F401
import partitions   # noqa: E402,F401
import plugins      # noqa: E402,F401
import proxmox      # noqa: E402,F401
import readers      # noqa: E402,F401

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def script(name, *args):
    subprocess.run([f'{TOP}/scripts/{name}', *args], check=True)


def online_nodes():
    """The NUMA nodes that are online; none on a kernel without NUMA."""
    try:
        with open('/sys/devices/system/node/online', encoding='utf-8') as file:
            text = file.read().strip()
    except FileNotFoundError:
        return []
    nodes = []
    for part in text.split(','):
        first, _, last = part.partition('-')
        nodes += range(int(first), int(last or first) + 1)
    return nodes


def rounds(nodes):
    """(parameters of vgpu_soft, the node of each GPU): without nodes, and with them."""
    yield ['gpus=2'], [None, None]
    if nodes:
        first, last = nodes[-1], nodes[0]
        yield ['gpus=2', f'numa_node={first},{last}'], [(first,), (last,)]


def main(clients):
    known = {one.name.split(' ')[0] for one in harness.CHECKS}
    for client in clients:
        if client not in known:
            print(f'run.py: no client {client!r}; there are {", ".join(sorted(known))}',
                  file=sys.stderr)
            return 2
    wanted = [one for one in harness.CHECKS if not clients or one.name.split(' ')[0] in clients]
    results = harness.Results()
    print('TAP version 13')
    for number, (parameters, nodes) in enumerate(rounds(online_nodes())):
        print(f'# vgpu_soft {" ".join(parameters)}', flush=True)
        script('load', *parameters)
        harness.NODES[:] = nodes
        for one in wanted:
            # What the parameters do not change is checked once.
            if number == 0 or one.shows_nodes:
                harness.run(one, results)
        script('unload')
    results.end()
    return 1 if results.failed else 0


if __name__ == '__main__':
    if sys.argv[1:] == ['--help']:
        print(__doc__.strip())
        sys.exit(0)
    sys.exit(main(sys.argv[1:]))
