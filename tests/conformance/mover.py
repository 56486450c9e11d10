#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mover.py UUID UUID: the first vGPU's state goes to the second one, as two QEMUs move it.

Prints "moved", or which end refuses, and why.
"""
import fcntl
import os
import struct
import sys

from holder import open_device

# linux/vfio.h
VFIO_DEVICE_FEATURE = 0x3b75
VFIO_DEVICE_FEATURE_SET = 1 << 17
VFIO_DEVICE_FEATURE_MIG_DEVICE_STATE = 2
STOP, RUNNING, STOP_COPY, RESUMING = 1, 2, 3, 4


def enter(device, state):
    """Leads a device into a state; returns the file of its stream, or -1."""
    feature = bytearray(struct.pack(
        '=IIIi', 16, VFIO_DEVICE_FEATURE_SET | VFIO_DEVICE_FEATURE_MIG_DEVICE_STATE, state, -1))
    fcntl.ioctl(device, VFIO_DEVICE_FEATURE, feature)
    return struct.unpack('=IIIi', feature)[3]


def save(device):
    stream = enter(device, STOP_COPY)
    parts = []
    while parts[-1:] != [b'']:
        parts.append(os.read(stream, 1 << 20))
    return b''.join(parts)


def load(device, data):
    stream = enter(device, RESUMING)
    while data:
        data = data[os.write(stream, data):]
    enter(device, STOP)
    enter(device, RUNNING)


def main(source, target):
    end = 'source'
    try:
        data = save(open_device(source)[2])
        end = 'destination'
        load(open_device(target)[2], data)
    except OSError as error:
        print(f'the {end} refuses: {error.strerror}')
    else:
        print('moved')


if __name__ == '__main__':
    main(*sys.argv[1:])
