#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""holder.py UUID [hears]: has a vGPU open, as the QEMU of a VM has, until a line comes in.

Prints "open" and, if it hears VFIO's request interrupt, "asked" when the kernel first asks for the
vGPU. It does not let go then: that is for the line on its standard input to say.
"""
import array
import fcntl
import os
import select
import struct
import sys

# linux/vfio.h
VFIO_SET_IOMMU = 0x3b66
VFIO_GROUP_SET_CONTAINER = 0x3b68
VFIO_GROUP_GET_DEVICE_FD = 0x3b6a
VFIO_DEVICE_SET_IRQS = 0x3b6e
VFIO_TYPE1v2_IOMMU = 3
VFIO_PCI_REQ_IRQ_INDEX = 4
VFIO_IRQ_SET_DATA_EVENTFD = 1 << 2
VFIO_IRQ_SET_ACTION_TRIGGER = 1 << 5


def open_device(name):
    """The files of a vGPU's container, group and device."""
    group_path = os.path.realpath(f'/sys/bus/mdev/devices/{name}/iommu_group')
    container = os.open('/dev/vfio/vfio', os.O_RDWR)
    group = os.open(f'/dev/vfio/{os.path.basename(group_path)}', os.O_RDWR)
    fcntl.ioctl(group, VFIO_GROUP_SET_CONTAINER, array.array('i', [container]))
    fcntl.ioctl(container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU)
    device = fcntl.ioctl(group, VFIO_GROUP_GET_DEVICE_FD, array.array('b', name.encode() + b'\0'))
    return container, group, device


def main(name, hears):
    _, _, device = open_device(name)
    waits = [sys.stdin]
    if hears:
        event = os.eventfd(0)
        fcntl.ioctl(device, VFIO_DEVICE_SET_IRQS, struct.pack(
            '=IIIIIi', 24, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
            VFIO_PCI_REQ_IRQ_INDEX, 0, 1, event))
        waits.append(event)
    print('open', flush=True)
    while True:
        ready, _, _ = select.select(waits, [], [])
        if hears and event in ready:
            print('asked', flush=True)
            waits.remove(event)
        if sys.stdin in ready:
            return


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:] == ['hears'])
