#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# source.sh TARBALL DIRECTORY PATCH...: unpacks the kernel's source for the lab's own
# kernels, without what they never need, and patches it. The hash of script
# and patches is in the name of the cached tree. Runs in the image.
set -eu
tar -C "$2" --strip-components=1 --no-same-owner -xJf "$1" \
	--exclude='linux-source-*/arch/[!ux]*/*.[chS]' \
	--exclude='linux-source-*/arch/[!ux]*/*.dts*' \
	--exclude='linux-source-*/Documentation/*.[rty][sxa][tm]*' \
	--exclude='linux-source-*/drivers/gpu/drm/amd/*.[ch]' \
	--exclude='linux-source-*/drivers/net/*/*/*.[ch]' \
	--exclude='linux-source-*/drivers/media/*/*/*.[ch]' \
	--exclude='linux-source-*/sound/*/*/*.[ch]'
cd "$2"
# VFIO on User Mode Linux: its type 1 IOMMU lacks one word in 6.12.
sed -i '/select VFIO_IOMMU_TYPE1 if MMU/s/(X86 /(X86 || UML /' drivers/vfio/Kconfig
grep -q 'VFIO_IOMMU_TYPE1 if MMU && (X86 || UML ' drivers/vfio/Kconfig
for patch in "${@:3}"; do
	patch -s -p1 <"$patch"
done
