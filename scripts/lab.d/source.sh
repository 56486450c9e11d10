#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# source.sh TARBALL DIRECTORY: unpacks the kernel's source for the lab's own
# kernels, without what they never need, and patches it. Its hash is in the
# name of the cached tree.
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

# User Mode Linux on hosts whose XSAVE area is larger than 2696 bytes (AMX: 11008). Linux
# takes no other length than its own in PTRACE_SETREGSET, so UML uses the one that
# PTRACE_GETREGSET told at start; later kernels find it at run time, too.
sed -i 's/DEFINE_LONGS(HOST_FP_SIZE, 2696)/DEFINE_LONGS(HOST_FP_SIZE, 12288)/' arch/x86/um/user-offsets.c
grep -q 'HOST_FP_SIZE, 12288' arch/x86/um/user-offsets.c
sed -i -e 's/^static int have_xstate_support;/&\nstatic unsigned long xstate_bytes = FP_SIZE * sizeof(unsigned long);/' \
	-e 's/iov\.iov_len = FP_SIZE \* sizeof(unsigned long);/iov.iov_len = xstate_bytes;/' \
	-e 's/^\t\thave_xstate_support = 1;/\t{\n\t\thave_xstate_support = 1;\n\t\txstate_bytes = iov.iov_len;\n\t}/' \
	arch/x86/um/os-Linux/registers.c
test "$(grep -c 'xstate_bytes' arch/x86/um/os-Linux/registers.c)" = 5
# User Mode Linux, when pages of a process are zapped on behalf of another one (a device reset does
# that to who has mapped a BAR): 6.12 walks the process's areas without a lock, and loses ranges to be
# brought up to date if it is preempted between looking at them and clearing them.
perl -0pi -e 's/\tstruct vm_area_struct \*vma;\n\tVMA_ITERATOR\(vmi, mm, 0\);\n\n\tfor_each_vma\(vmi, vma\)\n\t\tum_tlb_mark_sync\(mm, vma->vm_start, vma->vm_end\);/\tum_tlb_mark_sync(mm, 0, TASK_SIZE);/;
	s/(\n\tint ret = 0;\n)(\n\tif \(mm->context\.sync_tlb_range_to == 0\))/$1\n\tguard(preempt)();\n\taddr = mm->context.sync_tlb_range_from;$2/' arch/um/kernel/tlb.c
perl -0pi -e 's/#include <asm\/fixmap\.h>\n/#include <linux\/preempt.h>\n$&/;
	s/(unsigned long end\)\n\{\n)(\tif \(!mm->context\.sync_tlb_range_to\))/$1\tguard(preempt)();\n$2/' arch/um/include/asm/pgtable.h
grep -q 'um_tlb_mark_sync(mm, 0, TASK_SIZE)' arch/um/kernel/tlb.c
test "$(cat arch/um/kernel/tlb.c arch/um/include/asm/pgtable.h | grep -c 'guard(preempt)()')" = 2
